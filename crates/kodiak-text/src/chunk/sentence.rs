//! Finds the ends of sentences by their punctuation.

/// The unit that the last characters may have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Nothing.
    Nothing,
    /// A sentence, if a space comes next.
    Sentence,
    /// A sentence, in a script without spaces.
    WideSentence,
    /// Part of a sentence, in such a script.
    WideClause,
}

impl End {
    /// Returns the unit that may have ended, given the first character of the text that
    /// follows, which is neither an ASCII letter nor a digit.
    pub(super) fn followed_by(self, text: &str) -> Self {
        let character = text.chars().next().unwrap_or_default();
        match character {
            '.' | '!' | '?' | '…' => Self::Sentence,
            '。' | '！' | '？' | '．' | '｡' | '।' | '॥' => Self::WideSentence,
            '，' | '、' | '；' | '：' => Self::WideClause,
            _ if self != Self::WideClause && is_closing(character) => self,
            _ => Self::Nothing,
        }
    }

    /// Reports whether the next character begins a new word even without a space before it.
    pub(super) fn needs_no_space(self) -> bool {
        matches!(self, Self::WideSentence | Self::WideClause)
    }

    /// Whether a word that starts so starts a sentence.
    pub(super) fn ends_sentence(self, next: char) -> bool {
        match self {
            Self::WideSentence => !is_closing(next),
            // What continues in lower case was only an abbreviation.
            Self::Sentence => !next.is_lowercase(),
            Self::WideClause | Self::Nothing => false,
        }
    }
}

/// Reports whether a character closes a quotation or brackets.
fn is_closing(character: char) -> bool {
    matches!(
        character,
        '"' | '\''
            | ')'
            | ']'
            | '*'
            | '_'
            | '`'
            | '”'
            | '’'
            | '»'
            | '」'
            | '』'
            | '）'
            | '》'
            | '】'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_end_sentences() {
        for (text, next, ends) in [
            ("word.", 'N', true),
            ("word.", 'n', false),
            ("word", 'N', false),
            ("word!", '1', true),
            ("word?\")", 'Ä', true),
            ("word,", 'N', false),
            ("**word.**", 'N', true),
            ("語。", '語', true),
            ("語。", '」', false),
            ("語。」", '語', true),
            ("語，", '語', false),
            ("है।", 'व', true),
        ] {
            let end = text
                .char_indices()
                .fold(End::Nothing, |end, (at, character)| {
                    if character.is_ascii_alphanumeric() {
                        End::Nothing
                    } else {
                        end.followed_by(&text[at..])
                    }
                });
            assert_eq!(end.ends_sentence(next), ends, "{text} {next}");
        }
    }
}
