//! From text to a model's tokens, with the tokenizer that came with it.
//!
//! This module truncates: a text, or both texts of a pair, fit the model's
//! limit. The length settings in the file are overridden: they were made for
//! batches of short sentences, truncated early and padded to one length.

use std::str::FromStr as _;

use tokenizers::models::bpe::BPE;
use tokenizers::models::wordpiece::WordPiece;
use tokenizers::{
    Decoder as _, DecoderWrapper, Encoding, NormalizerWrapper, PostProcessor, PostProcessorWrapper,
    PreTokenizerWrapper, Tokenizer, TokenizerImpl, TruncationParams, TruncationStrategy,
};

/// The number of characters that are read for each token a model sees. Words
/// have about four, and the text beyond would be tokenized only to be thrown
/// away.
const CHARACTERS_PER_TOKEN: usize = 40;

/// The type of most models' tokenizers, written out.
type WordPieceTokenizer = Typed<WordPiece>;
/// The type of the tokenizers of the other models, written out.
type BytePairTokenizer = Typed<BPE>;
type Typed<Model> = TokenizerImpl<
    Model,
    NormalizerWrapper,
    PreTokenizerWrapper,
    PostProcessorWrapper,
    DecoderWrapper,
>;

/// A text or pair of texts, encoded for one model.
#[derive(Clone, Debug)]
pub struct Tokens(Encoding);

impl Tokens {
    /// Returns the number of tokens, special tokens included.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Reports whether there are no tokens. A graph cannot run on none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a 1 for each token that counts and a 0 for each that does not.
    pub fn attention_mask(&self) -> &[u32] {
        self.0.get_attention_mask()
    }

    pub(crate) fn ids(&self) -> &[u32] {
        self.0.get_ids()
    }

    /// Returns for each token which text of a pair it is from: 0 or 1.
    pub(super) fn type_ids(&self) -> &[u32] {
        self.0.get_type_ids()
    }
}

/// A model's tokenizer with the model's limit.
pub(super) struct Encoder {
    tokenizer: Tokenizer,
    max_tokens: usize,
}

impl Encoder {
    /// Parses a `tokenizer.json`.
    pub(super) fn parse(file: &[u8], max_tokens: usize) -> Result<Self, String> {
        // Without a concrete type, the file is read into a tree first and its
        // words are copied out of that. With it, parsing takes half the time or
        // less, and a search waits for it.
        let mut tokenizer =
            if let Ok(tokenizer) = serde_json::from_slice::<WordPieceTokenizer>(file) {
                Tokenizer::from(tokenizer)
            } else if let Ok(tokenizer) = serde_json::from_slice::<BytePairTokenizer>(file) {
                Tokenizer::from(tokenizer)
            } else {
                // Unlike `from_bytes`, this is not compiled once more for our crate.
                let file = std::str::from_utf8(file).map_err(|error| error.to_string())?;
                Tokenizer::from_str(file).map_err(|error| error.to_string())?
            };
        let special = special_tokens(&tokenizer, false);
        if max_tokens <= special {
            return Err(format!(
                "its limit of {max_tokens} tokens leaves no room for text between {special} marks"
            ));
        }
        tokenizer
            .with_truncation(Some(TruncationParams {
                max_length: max_tokens,
                strategy: TruncationStrategy::LongestFirst,
                ..TruncationParams::default()
            }))
            .map_err(|error| error.to_string())?;
        tokenizer.with_padding(None);
        // A note that mentions a special token means the word, not the token.
        tokenizer.set_encode_special_tokens(true);
        Ok(Self {
            tokenizer,
            max_tokens,
        })
    }

    /// Encodes `prefix` and `text` together, as far as the model sees them.
    pub(super) fn encode(&self, prefix: &str, text: &str) -> Result<Tokens, String> {
        let whole = format!("{prefix}{}", self.seen(text));
        let tokens = self.tokenizer.encode_fast(whole, true);
        tokens.map(Tokens).map_err(|error| error.to_string())
    }

    /// Encodes a pair of texts, as far as the model sees them.
    pub(super) fn encode_pair(&self, left: &str, right: &str) -> Result<Tokens, String> {
        let special = special_tokens(&self.tokenizer, true);
        if self.max_tokens < special + 2 {
            return Err(format!(
                "its limit of {} tokens leaves no room for two texts between {special} marks",
                self.max_tokens
            ));
        }
        let pair = (self.seen(left), self.seen(right));
        let tokens = self.tokenizer.encode_fast(pair, true);
        tokens.map(Tokens).map_err(|error| error.to_string())
    }

    /// Returns the text of each token, without special tokens. A token of a vocabulary of
    /// words is spelt as it is there; one of bytes is decoded, since each byte is spelt as
    /// a distinct letter there.
    pub(super) fn pieces<'a>(&'a self, tokens: &'a Tokens) -> impl Iterator<Item = String> + 'a {
        let special = tokens.0.get_special_tokens_mask();
        let own = tokens.ids().iter().zip(special);
        let of_bytes = self.tokenizer.get_decoder();
        let of_bytes = of_bytes.filter(|one| matches!(one, DecoderWrapper::ByteLevel(_)));
        own.filter(|(_, special)| **special == 0)
            .filter_map(|(&id, _)| self.tokenizer.id_to_token(id))
            .map(move |token| match of_bytes {
                Some(decoder) => decoder.decode(vec![token]).unwrap_or_default(),
                None => token,
            })
    }

    /// Returns the part of a text that can be among the tokens the model sees.
    fn seen<'a>(&self, text: &'a str) -> &'a str {
        // Leading white space gives no tokens and must not use up the limit.
        let text = text.trim_start();
        beginning(text, self.max_tokens.saturating_mul(CHARACTERS_PER_TOKEN))
    }
}

/// Returns the number of special tokens put around one text or a pair.
fn special_tokens(tokenizer: &Tokenizer, pair: bool) -> usize {
    tokenizer
        .get_post_processor()
        .map_or(0, |processor| processor.added_tokens(pair))
}

/// Returns at most this many characters from the beginning of a text.
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
            let tokens = Encoder::parse(&file, limit).unwrap();
            assert_eq!(tokens.encode("", &words).unwrap().len(), limit);
            assert_eq!(tokens.encode("", "ramen").unwrap().len(), 3);
        }
    }

    #[test]
    fn a_limit_without_room_for_text_is_refused() {
        let file = tokenizer_file();
        for limit in 0..3 {
            let error = Encoder::parse(&file, limit).err().unwrap();
            assert!(error.contains("leaves no room"), "{error}");
        }
    }

    #[test]
    fn the_quick_way_of_reading_gives_the_same_tokens() {
        let file = tokenizer_file();
        let ours = Encoder::parse(&file, 64).unwrap();
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
            assert_eq!(ours.encode("", text).unwrap().ids(), theirs.get_ids());
        }
    }

    #[test]
    fn a_mark_in_a_text_is_text() {
        let tokens = Encoder::parse(&tokenizer_file(), 64).unwrap();
        let mark = tokens.tokenizer.token_to_id("[SEP]").unwrap();
        let marked = tokens.encode("", "ramen [SEP] broth").unwrap();
        let marks = marked.ids().iter().filter(|&&id| id == mark);
        assert_eq!(marks.count(), 1, "{:?}", marked.ids());
    }

    #[test]
    fn space_before_a_text_does_not_hide_it() {
        let tokens = Encoder::parse(&tokenizer_file(), 8).unwrap();
        let far = format!("{}ramen", "\n ".repeat(10_000));
        assert_eq!(
            tokens.encode("", &far).unwrap().ids(),
            tokens.encode("", "ramen").unwrap().ids()
        );
    }

    /// Returns how many tokens of each text are left, without special tokens.
    fn lengths(tokens: &Tokens) -> [usize; 2] {
        let special = tokens.0.get_special_tokens_mask();
        let of = |text| {
            let types = tokens.type_ids().iter().zip(special);
            types.filter(|&pair| pair == (&text, &0)).count()
        };
        [of(0), of(1)]
    }

    #[test]
    fn of_a_pair_the_longer_text_is_cut_first() {
        let file = tokenizer_file();
        let words = |count: usize| "ramen ".repeat(count);
        let cases = [
            (64, 2, 500, [2, 59]),
            (64, 500, 2, [59, 2]),
            (64, 500, 500, [30, 31]),
            (64, 10, 10, [10, 10]),
            (5, 500, 500, [1, 1]),
        ];
        for (limit, left, right, expected) in cases {
            let encoder = Encoder::parse(&file, limit).unwrap();
            let pair = encoder.encode_pair(&words(left), &words(right)).unwrap();
            assert_eq!(lengths(&pair), expected, "{limit}, {left}, {right}");
            assert!(pair.len() <= limit);
        }
    }

    /// Returns a tokenizer of bytes that knows one word.
    fn byte_pairs() -> Encoder {
        let pieces = [
            "m", "o", "n", "Ġ", "mo", "on", "moon", "Ġmoon", "à", "¸", "Ļ",
        ];
        let vocabulary = pieces.iter().zip(0..);
        let vocabulary: serde_json::Map<String, serde_json::Value> = vocabulary
            .map(|(piece, id)| ((*piece).to_owned(), serde_json::json!(id)))
            .collect();
        let level = serde_json::json!({
            "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true
        });
        let file = serde_json::json!({
            "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
            "normalizer": null, "pre_tokenizer": level, "post_processor": null, "decoder": level,
            "model": {
                "type": "BPE", "dropout": null, "unk_token": null, "fuse_unk": false,
                "continuing_subword_prefix": null, "end_of_word_suffix": null,
                "byte_fallback": false, "vocab": vocabulary,
                "merges": ["m o", "o n", "mo on", "Ġ moon"]
            }
        });
        Encoder::parse(file.to_string().as_bytes(), 64).unwrap()
    }

    #[test]
    fn a_token_of_bytes_is_told_as_text() {
        let encoder = byte_pairs();
        let pieces = |text: &str| {
            let tokens = encoder.encode("", text).unwrap();
            encoder.pieces(&tokens).collect::<Vec<_>>()
        };
        assert_eq!(pieces("moon moon"), ["moon", " moon"]);
        // A letter of another script in three bytes: none is a letter.
        let letters = pieces("น").concat();
        assert!(!letters.contains(char::is_alphanumeric), "{letters}");
    }

    #[test]
    fn a_limit_without_room_for_two_texts_is_an_error() {
        let encoder = Encoder::parse(&tokenizer_file(), 4).unwrap();
        assert_eq!(encoder.encode("", "ramen").unwrap().len(), 3);
        let error = encoder.encode_pair("ramen", "broth").unwrap_err();
        assert!(error.contains("no room for two texts"), "{error}");
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
            prop_assert!(Encoder::parse(&file, 64).is_err());
        }

        #[test]
        fn any_text_has_tokens_within_the_limit(text in any::<String>()) {
            let tokens = Encoder::parse(&tokenizer_file(), 12).unwrap();
            let count = tokens.encode("", &text).unwrap().len();
            prop_assert!((2..=12).contains(&count), "{count}");
        }

        #[test]
        fn of_any_pair_something_of_both_is_left(
            left in "ramen( broth){0,40}",
            right in "soup( noodles){0,40}",
            limit in 5_usize..70,
        ) {
            let encoder = Encoder::parse(&tokenizer_file(), limit).unwrap();
            let pair = encoder.encode_pair(&left, &right).unwrap();
            prop_assert!(pair.len() <= limit);
            prop_assert!(!lengths(&pair).contains(&0), "{pair:?}");
        }
    }
}
