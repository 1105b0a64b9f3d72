use std::path::Path;

use proptest::prelude::*;
use serde_json::json;

use super::reference::{Network, Parts, dot};
use super::{Precision, convert};
use crate::runtime::{Cores, Options, Runtime};

const NETWORK: Network = Network {
    hidden: 32,
    layers: 3,
    heads: 4,
    intermediate: 48,
    vocabulary: 400,
    positions: 66,
    group: 16,
};
const TEXTS: [&str; 4] = [
    "ramen",
    "ramen broth with noodles, for two",
    "sourdough bread needs a starter and a hot oven",
    "plan the week: review tasks, deadlines, meetings and goals before the budget",
];

/// What a test changes in a pack.
type Change = fn(&mut Parts);

/// Returns a pack with the tokenizer of the tiny model.
fn pack() -> Parts {
    let folder = tempfile::tempdir().unwrap();
    tiny_model::write(folder.path()).unwrap();
    let tokenizer = std::fs::read(folder.path().join("tokenizer.json")).unwrap();
    NETWORK.pack(tokenizer)
}

/// Converts a pack and loads the result.
fn runtime(pack: &Parts, precision: Precision, folder: &Path) -> Runtime {
    let converted = convert(&pack.bytes(), precision).unwrap();
    let (graph, tokenizer) = (folder.join("model.onnx"), folder.join("tokenizer.json"));
    std::fs::write(&graph, converted.graph).unwrap();
    std::fs::write(&tokenizer, converted.tokenizer).unwrap();
    Runtime::load(Options {
        graph: &graph,
        tokenizer: &tokenizer,
        max_tokens: 64,
        outputs: &["sentence_embedding"],
    })
    .unwrap()
}

/// Returns the cosine between the vectors of the graph and of the reference, for
/// each text.
fn agreement(precision: Precision) -> Vec<f64> {
    let folder = tempfile::tempdir().unwrap();
    let pack = pack();
    let runtime = runtime(&pack, precision, folder.path());
    assert_eq!(runtime.output_width(), Some(NETWORK.hidden));
    let cosine = |text: &&str| {
        let tokens = runtime.encode("", text).unwrap();
        let output = runtime.run(&tokens, Cores::One).unwrap();
        assert_eq!(output.shape, [1, NETWORK.hidden]);
        let found: Vec<f64> = output.values.iter().map(|&it| f64::from(it)).collect();
        let expected = NETWORK.vector(&pack, tokens.ids());
        dot(&found, &expected) / (dot(&found, &found) * dot(&expected, &expected)).sqrt()
    };
    TEXTS.iter().map(cosine).collect()
}

#[test]
fn a_float_graph_computes_what_the_network_does() {
    for cosine in agreement(Precision::Float) {
        assert!(cosine > 0.999_999, "{cosine}");
    }
}

#[test]
fn an_integer_graph_computes_almost_the_same() {
    for cosine in agreement(Precision::Integer) {
        assert!((0.99..0.999_999).contains(&cosine), "{cosine}");
    }
}

#[test]
fn the_files_are_the_same_every_time() {
    let bytes = pack().bytes();
    for precision in [Precision::Float, Precision::Integer] {
        let (one, other) = (convert(&bytes, precision), convert(&bytes, precision));
        let (one, other) = (one.unwrap(), other.unwrap());
        assert_eq!(one.graph, other.graph);
        assert_eq!(one.tokenizer, pack().tokenizer);
    }
}

#[test]
fn what_is_wrong_with_a_pack_is_said() {
    let refused = |change: fn(&mut Parts)| {
        let mut pack = pack();
        change(&mut pack);
        convert(&pack.bytes(), Precision::Integer).unwrap_err()
    };
    let cases: [(&str, Change); 9] = [
        ("it is cut off", |pack| {
            pack.tensors.pop();
        }),
        ("1 bytes too many", |pack| pack.tensors.push(0)),
        ("its header cannot be read", |pack| pack.header = json!([])),
        ("its pooling is 'mean'", |pack| {
            pack.header["meta"]["pooling"] = json!("mean");
        }),
        ("no network has its sizes", |pack| {
            pack.header["arch"]["heads"] = json!(0);
        }),
        ("no network has its sizes", |pack| {
            pack.header["arch"]["hidden"] = json!(usize::MAX);
        }),
        ("its tensor word_emb has the shape", |pack| {
            pack.header["arch"]["vocab"] = json!(399);
        }),
        ("its tensor word_emb is not what its header says", |pack| {
            pack.header["tensors"][0]["dtype"] = json!("f16");
        }),
        ("it has no tensor l0.qkv.w", |pack| {
            pack.header["tensors"][5]["name"] = json!("l1.qkv.w");
        }),
    ];
    for (expected, change) in cases {
        let said = refused(change);
        assert!(said.contains(expected), "{said}");
    }
    let said = convert(b"PK\x03\x04 a wheel", Precision::Integer).unwrap_err();
    assert_eq!(said, "it does not begin as a pack does");
}

proptest! {
    #[test]
    fn a_damaged_pack_is_refused_or_converted(
        at in 0.0_f64..1.0,
        bytes in prop::collection::vec(any::<u8>(), 1..40),
    ) {
        let mut pack = pack().bytes();
        // The front is where the sizes are.
        let from = (at * at * at * (pack.len() - bytes.len()) as f64) as usize;
        pack[from..from + bytes.len()].copy_from_slice(&bytes);
        let _ = convert(&pack, Precision::Integer);
    }

    #[test]
    fn any_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut pack = b"HMSEMB01".to_vec();
        pack.extend(bytes);
        prop_assert!(convert(&pack, Precision::Float).is_err());
    }
}
