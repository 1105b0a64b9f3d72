//! Tests of the runtime with another kind of model: a cross-encoder, which
//! scores a pair of texts.

use tempfile::TempDir;

use super::*;

/// A cross-encoder over the tiny model's words.
struct CrossEncoder {
    runtime: Runtime,
    folder: TempDir,
}

impl CrossEncoder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        tiny_model::write_cross_encoder(folder.path()).unwrap();
        let runtime = load(&folder, &["logits"]).unwrap();
        Self { runtime, folder }
    }

    fn score(&self, query: &str, text: &str, cores: Cores) -> f32 {
        let tokens = self.runtime.encode_pair(query, text).unwrap();
        let output = self.runtime.run(&tokens, cores).unwrap();
        assert_eq!((output.shape, output.values.len()), (vec![1, 1], 1));
        output.values[0]
    }
}

fn load(folder: &TempDir, outputs: &[&str]) -> Result<Runtime, RuntimeError> {
    Runtime::load(Options {
        graph: &folder.path().join("model.onnx"),
        tokenizer: &folder.path().join("tokenizer.json"),
        max_tokens: tiny_model::MAX_TOKENS,
        outputs,
    })
}

#[test]
fn a_cross_encoder_scores_the_related_pair_higher() {
    let model = CrossEncoder::new();
    assert_eq!(model.runtime.output_width(), Some(1));
    for cores in [Cores::One, Cores::All] {
        let score = |text| model.score("ramen and noodles", text, cores);
        let related = score("Simmer the pork for a broth.");
        let unrelated = score("The compiler knows the lifetime of a borrow.");
        assert!(related > unrelated + 0.5, "{related} and {unrelated}");
    }
}

#[test]
fn which_text_is_which_is_told_to_the_graph() {
    let model = CrossEncoder::new();
    // Encoded as one text, both halves would be of the first type.
    let single = model.runtime.encode("ramen ", "broth").unwrap();
    let output = model.runtime.run(&single, Cores::One).unwrap();
    assert_eq!(output.values, [0.0]);
    assert!(model.score("ramen", "broth", Cores::One) > 0.5);
}

#[test]
fn a_long_text_does_not_push_the_other_out() {
    let model = CrossEncoder::new();
    let long = "The airport and the hotel, ".repeat(500);
    let after = model.score("flight", &long, Cores::One);
    let before = model.score(&long, "flight", Cores::One);
    assert!(after > 0.5 && before > 0.5, "{after} and {before}");
    assert!(model.score("ramen", &long, Cores::One) < after);
}

#[test]
fn the_preferred_output_is_taken_and_else_the_first() {
    let model = CrossEncoder::new();
    let tokens = model.runtime.encode_pair("ramen", "broth").unwrap();
    let cases: [(&[&str], &[usize]); 4] = [
        (&["logits"], &[1, 1]),
        (&["left", "logits"], &[1, 1, tiny_model::DIMENSIONS]),
        (&["nothing of the kind", "logits"], &[1, 1]),
        (&["nothing of the kind"], &[1, 1]),
    ];
    for (outputs, shape) in cases {
        let runtime = load(&model.folder, outputs).unwrap();
        let output = runtime.run(&tokens, Cores::One).unwrap();
        assert_eq!(output.shape, shape, "{outputs:?}");
        assert_eq!(output.values.len(), shape.iter().product::<usize>());
    }
}

#[test]
fn a_file_that_cannot_be_loaded_is_named() {
    for name in ["model.onnx", "tokenizer.json"] {
        let folder = tempfile::tempdir().unwrap();
        tiny_model::write(folder.path()).unwrap();
        let file = folder.path().join(name);
        std::fs::write(&file, "nothing of the kind").unwrap();
        match load(&folder, &[]) {
            Err(RuntimeError::File { path, detail }) => {
                assert_eq!(path, file);
                assert!(!detail.is_empty());
            }
            other => panic!("{other:?}"),
        }
    }
}
