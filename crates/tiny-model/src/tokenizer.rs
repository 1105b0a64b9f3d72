//! Writes the `tokenizer.json` that belongs to the graph.

use serde_json::{Map, Value, json};

use crate::Recipe;

/// The special tokens, in the order of their ids. None of them has a meaning.
pub(crate) const MARKS: [&str; 4] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"];
const CLS: usize = 2;
const SEP: usize = 3;

/// Returns the content of `tokenizer.json` for tokens in the order of their ids.
/// As in the files of real models, its maximum length is not that of the model.
pub(crate) fn file(recipe: &Recipe, tokens: &[&str]) -> Value {
    let vocabulary: Map<String, Value> = tokens
        .iter()
        .enumerate()
        .map(|(number, &token)| (token.to_owned(), json!(number)))
        .collect();
    let added: Vec<Value> = MARKS
        .iter()
        .enumerate()
        .map(|(number, mark)| {
            json!({
                "id": number, "content": mark, "single_word": false, "lstrip": false,
                "rstrip": false, "normalized": false, "special": true
            })
        })
        .collect();
    json!({
        "version": "1.0",
        "truncation": {
            "direction": "Right", "max_length": 16, "strategy": "LongestFirst", "stride": 0
        },
        "padding": {
            "strategy": { "Fixed": 16 }, "direction": "Right", "pad_to_multiple_of": null,
            "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"
        },
        "added_tokens": added,
        "normalizer": {
            "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
            "strip_accents": null, "lowercase": true
        },
        "pre_tokenizer": { "type": "BertPreTokenizer" },
        "post_processor": if recipe.marks { around_a_text() } else { Value::Null },
        "decoder": { "type": "WordPiece", "prefix": "##", "cleanup": true },
        "model": {
            "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": vocabulary
        }
    })
}

/// Returns the template that puts a text between its special tokens.
fn around_a_text() -> Value {
    let mark = |number: usize| json!({ "SpecialToken": { "id": MARKS[number], "type_id": 0 } });
    let text = |name: &str, kind: u8| json!({ "Sequence": { "id": name, "type_id": kind } });
    let described =
        |number: usize| json!({ "id": MARKS[number], "ids": [number], "tokens": [MARKS[number]] });
    json!({
        "type": "TemplateProcessing",
        "single": [mark(CLS), text("A", 0), mark(SEP)],
        "pair": [mark(CLS), text("A", 0), mark(SEP), text("B", 1), mark(SEP)],
        "special_tokens": { "[CLS]": described(CLS), "[SEP]": described(SEP) }
    })
}
