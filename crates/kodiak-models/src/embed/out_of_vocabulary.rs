//! Detection of out-of-vocabulary texts, of which a model can make nothing.
//!
//! A word that a model has learned is one or two of its tokens. Text that it
//! has never seen, such as another script or random keystrokes, is spelt out
//! letter by letter or becomes the unknown token. The vector of such a text is
//! as good as random, and similar to all others of its kind.

/// The letters per token below which a text counts as spelt out. English has
/// between four and five, German between two and three.
const FEWEST_LETTERS: f32 = 1.75;
/// The minimum share of a text that its known tokens must cover.
const LEAST_COVERED: f32 = 0.08;
/// The letters that a token stands for at most. It limits how much of a
/// truncated text counts.
const MAX_LETTERS: usize = 6;
/// The names of the unknown token.
const UNKNOWN: [&str; 2] = ["[UNK]", "<unk>"];

/// Reports whether the tokens of a text, without special tokens, are words rather
/// than letters. Returns `false` for a text without letters and digits.
pub(super) fn is_in_vocabulary(text: &str, tokens: impl Iterator<Item = String>) -> bool {
    let (mut letters, mut pieces, mut all) = (0, 0, 0);
    for token in tokens {
        all += 1;
        if !UNKNOWN.contains(&token.as_str()) {
            let own = letters_in(&token);
            letters += own;
            pieces += usize::from(own > 0);
        }
    }
    let seen = letters_in(text).min(all * MAX_LETTERS);
    pieces > 0
        && letters as f32 >= FEWEST_LETTERS * pieces as f32
        && letters as f32 >= LEAST_COVERED * seen as f32
}

/// Reports whether most of a query is in tokens of more than one letter. If most
/// of it is in a script that the model spells out, the one name or number that
/// the model can read says nothing about the query.
pub(super) fn is_mostly_in_vocabulary(text: &str, tokens: impl Iterator<Item = String>) -> bool {
    let (mut read, mut all) = (0, 0);
    for token in tokens {
        all += 1;
        let own = letters_in(&token);
        if own > 1 && !UNKNOWN.contains(&token.as_str()) {
            read += own;
        }
    }
    2 * read >= letters_in(text).min(all * MAX_LETTERS)
}

fn letters_in(text: &str) -> usize {
    text.chars()
        .filter(|letter| letter.is_alphanumeric())
        .count()
}

#[cfg(test)]
mod tests {
    use super::{is_in_vocabulary, is_mostly_in_vocabulary};
    use crate::runtime::{Options, Runtime};

    /// Reports whether a text is in the vocabulary of the tiny English model.
    fn in_vocabulary(text: &str) -> bool {
        let folder = tempfile::tempdir().unwrap();
        tiny_model::write(folder.path()).unwrap();
        let runtime = Runtime::load(Options {
            graph: &folder.path().join("model.onnx"),
            tokenizer: &folder.path().join("tokenizer.json"),
            max_tokens: 64,
            outputs: &[],
        })
        .unwrap();
        let tokens = runtime.encode("", text).unwrap();
        is_in_vocabulary(text, runtime.pieces(&tokens))
    }

    #[test]
    fn words_are_familiar_and_strange_signs_are_not() {
        assert!(in_vocabulary("gtd"));
        assert!(in_vocabulary("ramen broth, for two!"));
        assert!(!in_vocabulary("นอน ไม่ หลับ"));
        assert!(!in_vocabulary("xyzzy"));
        assert!(!in_vocabulary("?!"));
        assert!(!in_vocabulary(""));
    }

    #[test]
    fn a_name_in_a_question_of_another_script_is_not_the_question() {
        let pieces = |pieces: &[&str]| {
            let pieces: Vec<String> = pieces.iter().map(|piece| (*piece).to_owned()).collect();
            pieces.into_iter()
        };
        assert!(is_mostly_in_vocabulary(
            "plan my week",
            pieces(&["plan", "my", "week"])
        ));
        let mixed = ["iris", "是", "[UNK]", "一", "年", "[UNK]", "出", "的"];
        assert!(!is_mostly_in_vocabulary(
            "iris是哪一年播出的",
            pieces(&mixed)
        ));
        assert!(is_mostly_in_vocabulary("", pieces(&[])));
    }
}
