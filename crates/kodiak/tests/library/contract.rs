//! What every embedder promises, asked of two that have nothing in common: a
//! local model, which takes a text at a time, and one that takes batches.

use std::sync::Arc;

use kodiak::embed::{Embedder, Role};
use kodiak::vector::dot;

use crate::embedders::{Scripted, tiny};

const TEXTS: [&str; 5] = [
    "Simmer the pork for a ramen broth.",
    "A weekly review of all tasks.",
    "",
    "unheardof",
    "The compiler and its lifetime.",
];

fn embedders() -> [Arc<dyn Embedder>; 2] {
    [tiny(), Scripted::before_calls(3, 2, |_, _| Ok(()))]
}

#[test]
fn there_are_as_many_vectors_as_texts_in_their_order() {
    for embedder in embedders() {
        for role in [Role::Query, Role::Document] {
            let vectors = embedder.embed(&TEXTS, role).unwrap();
            assert_eq!(vectors.len(), TEXTS.len());
            let turned: Vec<&str> = TEXTS.iter().rev().copied().collect();
            let mut turned = embedder.embed(&turned, role).unwrap();
            turned.reverse();
            assert_eq!(vectors, turned);
        }
    }
}

#[test]
fn vectors_are_as_long_as_the_identity_says_and_have_length_one_or_none() {
    for embedder in embedders() {
        for vector in embedder.embed(&TEXTS, Role::Document).unwrap() {
            assert_eq!(vector.len(), embedder.identity().dimensions);
            let square = dot(&vector, &vector);
            assert!(square == 0.0 || (square - 1.0).abs() < 1e-5, "{square}");
        }
    }
}

#[test]
fn an_empty_batch_is_an_empty_answer() {
    for embedder in embedders() {
        let nothing = embedder.embed(&[], Role::Document).unwrap();
        assert_eq!(nothing, [] as [Vec<f32>; 0]);
    }
}

#[test]
fn a_text_has_the_same_vector_alone_and_in_a_batch() {
    for embedder in embedders() {
        let together = embedder.embed(&TEXTS, Role::Document).unwrap();
        for (text, vector) in TEXTS.iter().zip(together) {
            assert_eq!(embedder.embed_one(text, Role::Document).unwrap(), vector);
        }
    }
}

#[test]
fn too_long_a_text_is_no_error() {
    for embedder in embedders() {
        let words = embedder.limits().max_tokens * 3;
        let long = "ramen ".repeat(words);
        let texts = ["broth", &long, "broth"];
        let vectors = embedder.embed(&texts, Role::Document).unwrap();
        assert!(dot(&vectors[0], &vectors[1]) > 0.8);
        assert_eq!(vectors[0], vectors[2]);
    }
}

#[test]
fn limits_leave_room_for_work() {
    for embedder in embedders() {
        let limits = embedder.limits();
        assert!(limits.max_tokens > 2 && limits.max_batch > 0 && limits.concurrency > 0);
    }
    assert_eq!(tiny().limits().max_batch, 1);
    assert_eq!(tiny().limits().max_tokens, tiny_model::MAX_TOKENS);
}
