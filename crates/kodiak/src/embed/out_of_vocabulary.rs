//! Out-of-vocabulary texts: those a model can make nothing of.
//!
//! Words a model has learned are one or two of its tokens. What it has never
//! seen, another script or keys hit at random, is spelt out letter by letter or
//! becomes the token for the unknown; the vector of that is as good as random,
//! and near to all others of its kind.

/// Letters per token, below which a text is spelt out rather than read. English
/// has between four and five, German between two and three.
const FEWEST_LETTERS: f32 = 1.75;
/// How much of a text must be in tokens at all.
const LEAST_COVERED: f32 = 0.08;
/// How many letters a token stands for at most, where tokens end before the
/// text does.
const MAX_LETTERS: usize = 6;
/// What tokens for the unknown are called.
const UNKNOWN: [&str; 2] = ["[UNK]", "<unk>"];

/// Tells whether the tokens of a text, the model's own marks aside, are words more
/// than letters. A text without letters and digits is not understood either.
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

/// Returns whether most of a question is in tokens that are more than a letter.
/// Where it is mostly in a script that the model spells out, the one name or number
/// that it can read says nothing of what is asked.
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

    /// Pieces of words, as a small English vocabulary has them.
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
