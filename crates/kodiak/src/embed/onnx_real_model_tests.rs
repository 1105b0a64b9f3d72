//! Tests of the embedder with a real model: granite-embedding-30m-english, as it is
//! made of its pack with eight-bit weights.
//!
//! The model is too large for the repository. `KODIAK_TEST_MODEL` names a folder
//! with its `model.onnx` and `tokenizer.json`, and `--include-ignored` runs the tests.

use super::*;
use crate::model::known;
use crate::vector::dot;

/// Texts and the first four numbers of their vectors, as an implementation without
/// this library or its runtime computes them from the pack in double precision.
const RECORDED: [(&str, [f32; 4]); 3] = [
    ("task management", [-0.0799, 0.0066, -0.0175, 0.0198]),
    (
        "Getting Things Done: capture everything in an inbox, clarify the next action, \
         and review the lists weekly.",
        [-0.1007, -0.0185, -0.0305, 0.0334],
    ),
    (
        "Simmer pork bones for twelve hours to make a rich ramen broth.",
        [-0.0009, -0.0081, 0.0091, 0.0451],
    ),
];

fn real_model() -> OnnxEmbedder {
    let folder = std::env::var_os("KODIAK_TEST_MODEL").expect(
        "KODIAK_TEST_MODEL is not set. Install the model granite-embedding-30m-english and set it \
         to the model's folder, which has model.onnx and tokenizer.json",
    );
    let known = known("granite-embedding-30m-english").unwrap();
    OnnxEmbedder::new(InstalledModel {
        identity: Identity {
            name: known.name.clone(),
            revision: "0123456789ab".to_owned(),
            dimensions: known.settings.dimensions,
        },
        settings: known.settings.clone(),
        folder: folder.into(),
    })
}

#[test]
#[ignore = "needs KODIAK_TEST_MODEL"]
fn vectors_are_those_of_another_runtime() {
    let embedder = real_model();
    for (text, recorded) in RECORDED {
        for role in [Role::Query, Role::Document] {
            let vector = embedder.embed_one(text, role).unwrap();
            assert_eq!(vector.len(), 384);
            assert!((dot(&vector, &vector) - 1.0).abs() < 1e-4);
            for (found, expected) in vector.iter().zip(recorded) {
                assert!(
                    (found - expected).abs() < 0.01,
                    "{text}: {:?}",
                    &vector[..4]
                );
            }
        }
    }
}

#[test]
#[ignore = "needs KODIAK_TEST_MODEL"]
fn meanings_are_told_apart() {
    let embedder = real_model();
    let [query, gtd, ramen] =
        RECORDED.map(|(text, _)| embedder.embed_one(text, Role::Document).unwrap());
    let (close, far) = (dot(&query, &gtd), dot(&query, &ramen));
    assert!(close > embedder.minimum_similarity(), "{close}");
    assert!(far < embedder.minimum_similarity(), "{far}");
}

#[test]
#[ignore = "needs KODIAK_TEST_MODEL"]
fn the_limit_is_512_tokens() {
    let embedder = real_model();
    let embed = |text: &str| embedder.embed_one(text, Role::Document).unwrap();
    // One token each, and two special tokens.
    let words = |count: usize| "water ".repeat(count);
    let within = embed(&format!("{}music", words(509)));
    let beyond = embed(&format!("{}music", words(510)));
    assert_eq!(beyond, embed(&words(510)));
    assert_ne!(within, embed(&words(510)));
    assert_ne!(embed(&words(254)), embed(&words(400)));
}

#[test]
#[ignore = "needs KODIAK_TEST_MODEL"]
fn what_it_was_not_taught_to_read_has_no_direction() {
    let embedder = real_model();
    let length = |text: &str| {
        let vector = embedder.embed_one(text, Role::Document).unwrap();
        dot(&vector, &vector)
    };
    for text in [
        "",
        "\0\u{7f}",
        "🍜",
        "\u{301}\u{302}",
        "数据库",
        "สวัสดีครับ เพื่อน ๆ",
        "नमस्ते दुनिया कैसे हो",
        "привет мир",
        "a1b2c3d4",
    ] {
        assert!(length(text) == 0.0, "{text}");
    }
    let megabyte = "A line of notes, like many others.\n".repeat(30_000);
    for text in [
        "Pomodoro",
        "Umsatzsteuer für Freiberufler",
        "kubernetes 1.29",
        "let mut x = Vec::new();",
        "2025-11-03",
        &megabyte,
    ] {
        let end = text.len().min(40);
        assert!((length(text) - 1.0).abs() < 1e-4, "{}", &text[..end]);
    }
}
