//! From text to a model's tokens, with the tokenizer that came with it.
//!
//! What the file says about length is overruled: it was written for batches of
//! short sentences, cut early and filled up to one length.

use super::familiarity::is_familiar;
use tokenizers::models::wordpiece::WordPiece;
use tokenizers::{
    DecoderWrapper, Encoding, NormalizerWrapper, PostProcessor, PostProcessorWrapper,
    PreTokenizerWrapper, Tokenizer, TokenizerImpl, TruncationParams,
};

/// So many characters are looked at for each token a model sees. Words have
/// about four, and the text beyond would be tokenized only to be thrown away.
const CHARACTERS_PER_TOKEN: usize = 40;

/// What most models' tokenizers are made of, written out.
type WordPieceTokenizer = TokenizerImpl<
    WordPiece,
    NormalizerWrapper,
    PreTokenizerWrapper,
    PostProcessorWrapper,
    DecoderWrapper,
>;

/// A model's tokenizer with the model's limit.
pub(super) struct Tokens {
    tokenizer: Tokenizer,
    max_tokens: usize,
}

impl Tokens {
    /// Understands a `tokenizer.json`.
    pub(super) fn parse(file: &[u8], max_tokens: usize) -> Result<Self, String> {
        // A tokenizer whose kind is not known is read into a tree first and its
        // words are copied out of that. Asked for by its kind, it takes half the
        // time or less, and a search waits for it.
        let mut tokenizer = match serde_json::from_slice::<WordPieceTokenizer>(file) {
            Ok(tokenizer) => Tokenizer::from(tokenizer),
            Err(_) => Tokenizer::from_bytes(file).map_err(|error| error.to_string())?,
        };
        let marks = tokenizer
            .get_post_processor()
            .map_or(0, |processor| processor.added_tokens(false));
        if max_tokens <= marks {
            return Err(format!(
                "its limit of {max_tokens} tokens leaves no room for text between {marks} marks"
            ));
        }
        tokenizer
            .with_truncation(Some(TruncationParams {
                max_length: max_tokens,
                ..TruncationParams::default()
            }))
            .map_err(|error| error.to_string())?;
        tokenizer.with_padding(None);
        // A note that mentions a mark means the word, not the mark.
        tokenizer.set_encode_special_tokens(true);
        Ok(Self {
            tokenizer,
            max_tokens,
        })
    }

    /// The tokens of `prefix` and `text` together, as many as the model sees.
    pub(super) fn encode(&self, prefix: &str, text: &str) -> Result<Encoding, String> {
        // Space at the beginning is no token, and must not use up what is seen.
        let text = beginning(text.trim_start(), self.max_tokens * CHARACTERS_PER_TOKEN);
        let whole = format!("{prefix}{text}");
        self.tokenizer
            .encode_fast(whole, true)
            .map_err(|error| error.to_string())
    }
}

impl Tokens {
    /// Whether these tokens of `text` are words that were learned.
    pub(super) fn are_familiar(&self, text: &str, tokens: &Encoding) -> bool {
        let marks = tokens.get_special_tokens_mask();
        let own = tokens
            .get_ids()
            .iter()
            .zip(marks)
            .filter(|(_, mark)| **mark == 0);
        is_familiar(
            text,
            own.filter_map(|(&id, _)| self.tokenizer.id_to_token(id)),
        )
    }
}

/// At most so many characters from the beginning of a text.
fn beginning(text: &str, characters: usize) -> &str {
    match text.char_indices().nth(characters) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tokenizer_file() -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        tiny_model::write(folder.path()).unwrap();
        std::fs::read(folder.path().join("tokenizer.json")).unwrap()
    }

    #[test]
    fn the_limit_is_the_models_not_the_files() {
        let file = tokenizer_file();
        let words = "ramen ".repeat(500);
        for limit in [3, 64, 200] {
            let tokens = Tokens::parse(&file, limit).unwrap();
            assert_eq!(tokens.encode("", &words).unwrap().len(), limit);
            assert_eq!(tokens.encode("", "ramen").unwrap().len(), 3);
        }
    }

    #[test]
    fn a_limit_without_room_for_text_is_refused() {
        let file = tokenizer_file();
        for limit in 0..3 {
            let error = Tokens::parse(&file, limit).err().unwrap();
            assert!(error.contains("leaves no room"), "{error}");
        }
    }

    #[test]
    fn the_quick_way_of_reading_gives_the_same_tokens() {
        let file = tokenizer_file();
        let ours = Tokens::parse(&file, 64).unwrap();
        let mut theirs = Tokenizer::from_bytes(&file).unwrap();
        theirs.with_padding(None).with_truncation(None).unwrap();
        for text in [
            "",
            "Rámen broths",
            "gtd, tasks & pomodoro!",
            "unheardof",
            "日本",
        ] {
            let theirs = theirs.encode_fast(text, true).unwrap();
            assert_eq!(ours.encode("", text).unwrap().get_ids(), theirs.get_ids());
        }
    }

    #[test]
    fn a_mark_in_a_text_is_text() {
        let tokens = Tokens::parse(&tokenizer_file(), 64).unwrap();
        let mark = tokens.tokenizer.token_to_id("[SEP]").unwrap();
        let marked = tokens.encode("", "ramen [SEP] broth").unwrap();
        let marks = marked.get_ids().iter().filter(|&&id| id == mark);
        assert_eq!(marks.count(), 1, "{:?}", marked.get_ids());
    }

    #[test]
    fn space_before_a_text_does_not_hide_it() {
        let tokens = Tokens::parse(&tokenizer_file(), 8).unwrap();
        let far = format!("{}ramen", "\n ".repeat(10_000));
        assert_eq!(
            tokens.encode("", &far).unwrap().get_ids(),
            tokens.encode("", "ramen").unwrap().get_ids()
        );
    }

    proptest! {
        #[test]
        fn a_beginning_is_what_the_text_starts_with(text in "\\PC{0,60}", characters in 0_usize..80) {
            let cut = beginning(&text, characters);
            prop_assert!(text.starts_with(cut));
            prop_assert_eq!(cut.chars().count(), text.chars().count().min(characters));
        }

        #[test]
        fn rubbish_is_an_error_and_no_panic(file in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(Tokens::parse(&file, 64).is_err());
        }

        #[test]
        fn any_text_has_tokens_within_the_limit(text in any::<String>()) {
            let tokens = Tokens::parse(&tokenizer_file(), 12).unwrap();
            let count = tokens.encode("", &text).unwrap().len();
            prop_assert!((2..=12).contains(&count), "{count}");
        }
    }
}
