//! A turn of a conversation: whether the query names its speaker, and the share
//! of questions in it.
//!
//! Owns reading these off author and text. `rank::thread` decides how much they count.

use std::collections::HashSet;
use std::ops::ControlFlow;

use crate::rank::thread::Turn;
use crate::text::{Purpose, Tokenizer};

/// The length up to which a text is read, in bytes. A longer one counts as this
/// long.
pub(super) const MAX_BODY_BYTES: usize = 16 << 10;

/// The mean length of the documents of a thread up to which they are turns, in bytes.
/// Longer ones name their subject themselves and need no context: on whole sessions of 3
/// kB, the context of the sessions before and after cost .014 nDCG@10; on passages of 1 kB
/// it gains .15.
const MAX_MEAN_BYTES: usize = 2 << 10;

/// The characters that end a sentence.
const ENDS: [char; 6] = ['.', '!', '?', '。', '！', '？'];
/// The characters that end a question.
const ASKS: [char; 2] = ['?', '？'];

/// Reports whether `count` documents are turns on the whole. `lengths` are the lengths of
/// the documents that are short enough to be read.
pub(super) fn are_turns(count: usize, lengths: impl ExactSizeIterator<Item = usize>) -> bool {
    let unread = count.saturating_sub(lengths.len());
    let whole = unread * MAX_BODY_BYTES + lengths.sum::<usize>();
    whole <= count * MAX_MEAN_BYTES
}

/// Reads a turn by this author with this text, for a query with these terms.
pub(super) fn read(
    author: Option<&str>,
    text: &str,
    terms: &HashSet<&str>,
    tokenizer: &mut Tokenizer,
) -> Turn {
    let mut named = false;
    if let Some(name) = author {
        let _ = tokenizer.each_term(name, Purpose::Query, |term| {
            named |= terms.contains(term.text);
            ControlFlow::<()>::Continue(())
        });
    }
    Turn {
        named,
        question_share: question_share(text),
    }
}

/// Returns the share of sentences that are questions.
fn question_share(text: &str) -> f64 {
    let (mut sentences, mut questions) = (0, 0);
    let mut asks = |sentence: &str| {
        // The question mark of a quoted or bracketed question stands inside.
        let said = sentence.trim_end_matches(|sign: char| {
            sign.is_whitespace() || matches!(sign, '"' | '\'' | '”' | '’' | ')' | '*' | '_')
        });
        if said.chars().any(char::is_alphanumeric) {
            sentences += 1;
            questions += usize::from(said.ends_with(ASKS));
        }
    };
    let mut start = 0;
    let mut ended = false;
    for (at, sign) in text.char_indices() {
        if ended && sign.is_whitespace() {
            asks(&text[start..at]);
            start = at;
        }
        ended = ENDS.contains(&sign) || (ended && matches!(sign, '"' | '”' | ')' | '*' | '_'));
        // Scripts without spaces have none after a sentence either.
        if matches!(sign, '。' | '！' | '？') {
            let end = at + sign.len_utf8();
            asks(&text[start..end]);
            start = end;
            ended = false;
        }
    }
    asks(&text[start..]);
    f64::from(questions as u32) / f64::from(sentences.max(1) as u32)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_query_names_the_speaker_but_not_whoever_is_mentioned() {
        let terms = HashSet::from(["carolin", "paint"]);
        let turn = |author, text| read(author, text, &terms, &mut Tokenizer::default());
        assert!(turn(Some("Caroline"), "I paint.").named);
        assert!(!turn(Some("Mel"), "Caroline paints.").named);
        assert!(!turn(None, "Caroline painted a lake").named);
    }

    #[test]
    fn documents_are_turns_if_they_are_short_on_the_whole() {
        let are = |count, lengths: &[usize]| are_turns(count, lengths.iter().copied());
        assert!(are(3, &[100, 200, 5_000]));
        assert!(!are(3, &[3_000, 2_000, 2_000]));
        // One that was not read counts as long.
        assert!(!are(3, &[100, 200]) && are(30, &[100; 29]));
    }

    #[test]
    fn the_share_of_questions() {
        for (text, part) in [
            ("Mel: What did you paint?", 1.0),
            ("Nice! What did you paint?", 0.5),
            ("A lake. A sunrise, 3.5 feet wide.", 0.0),
            ("She said \"why?\" He laughed.", 0.5),
            ("Really?! Yes.", 0.0),
            ("你画了什么？一个湖。", 0.5),
            ("…", 0.0),
            ("", 0.0),
        ] {
            assert!(
                (question_share(text) - part).abs() < 1e-9,
                "{text} {}",
                question_share(text)
            );
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_turn(text in "\\PC{0,60}") {
            let turn = read(Some(&text), &text, &HashSet::new(), &mut Tokenizer::default());
            prop_assert!((0.0..=1.0).contains(&turn.question_share) && !turn.named);
        }
    }
}
