//! Tests of the embedder with the tiny model, through tokenizer and runtime.

use proptest::prelude::*;
use rayon::prelude::*;
use tempfile::TempDir;
use tiny_model::{Output, Recipe};

use super::*;
use crate::embed::{Pooling, Settings};
use kodiak_rank::vector::dot;

const GTD: &str = "Getting Things Done: capture tasks in an inbox, then a weekly review.";
const RAMEN: &str = "Simmer the pork for a ramen broth; cook the noodles apart.";

/// A model with the temporary folder that holds it.
struct Installed {
    folder: TempDir,
    model: InstalledModel,
}

impl Installed {
    fn new(recipe: &Recipe) -> Self {
        let folder = tempfile::tempdir().unwrap();
        recipe.write(folder.path()).unwrap();
        let model = InstalledModel {
            identity: Identity {
                name: recipe.name.clone(),
                revision: "0123456789ab".to_owned(),
                dimensions: recipe.dimensions,
            },
            settings: Settings {
                dimensions: recipe.dimensions,
                pooling: Pooling::Mean,
                max_tokens: tiny_model::MAX_TOKENS,
                query_prefix: String::new(),
                document_prefix: String::new(),
                minimum_similarity: 0.2,
                shorter_dimensions: Vec::new(),
                layer_norm: false,
            },
            folder: folder.path().to_path_buf(),
        };
        Self { folder, model }
    }

    fn tiny() -> Self {
        Self::new(&Recipe::default())
    }

    fn embedder(&self) -> OnnxEmbedder {
        OnnxEmbedder::new(self.model.clone())
    }

    fn overwrite(&self, file: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.folder.path().join(file), content).unwrap();
    }
}

fn document(embedder: &OnnxEmbedder, text: &str) -> Vec<f32> {
    embedder.embed_one(text, Role::Document).unwrap()
}

fn assert_alike(left: &[f32], right: &[f32]) {
    assert!(dot(left, right) > 0.9999, "{left:?} and {right:?}");
}

/// Returns the file at fault and the complaint about it.
fn refused(embedder: &OnnxEmbedder) -> (String, String) {
    match embedder.prepare() {
        Err(Error::ModelFiles { path, detail }) => {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, detail)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn words_of_one_topic_are_closer_than_words_of_two() {
    let installed = Installed::tiny();
    let embedder = installed.embedder();
    let query = embedder.embed_one("task management", Role::Query).unwrap();
    let (gtd, ramen) = (document(&embedder, GTD), document(&embedder, RAMEN));
    let least = embedder.minimum_similarity();
    assert!(dot(&query, &gtd) > 0.8, "{}", dot(&query, &gtd));
    assert!(dot(&query, &ramen) < least, "{}", dot(&query, &ramen));
    for vector in [query, gtd, ramen] {
        assert_eq!(vector.len(), tiny_model::DIMENSIONS);
        assert!((dot(&vector, &vector) - 1.0).abs() < 1e-5);
    }
}

#[test]
fn a_query_and_a_document_of_the_same_words_have_one_vector() {
    let installed = Installed::tiny();
    let embedder = installed.embedder();
    let query = embedder.embed_one(GTD, Role::Query).unwrap();
    assert_alike(&query, &document(&embedder, GTD));
}

#[test]
fn variants_work_and_differ() {
    let tiny = Installed::tiny();
    for dimensions in [8, 16, 40] {
        let variant = Installed::new(&Recipe {
            seed: 2,
            dimensions,
            ..Recipe::default()
        });
        let embedder = variant.embedder();
        let (gtd, ramen) = (document(&embedder, GTD), document(&embedder, RAMEN));
        assert_eq!(gtd.len(), dimensions);
        assert!(dot(&gtd, &document(&embedder, "tasks")) > 0.8);
        assert!(dot(&gtd, &ramen) < 0.2);
        if dimensions == tiny_model::DIMENSIONS {
            assert!(dot(&gtd, &document(&tiny.embedder(), GTD)) < 0.9);
        }
    }
}

#[test]
fn what_the_graph_does_not_ask_for_is_not_given() {
    let with = Installed::tiny();
    let without = Installed::new(&Recipe {
        token_types: false,
        ..Recipe::default()
    });
    without.embedder().prepare().unwrap();
    assert_alike(
        &document(&with.embedder(), GTD),
        &document(&without.embedder(), GTD),
    );
}

#[test]
fn a_graph_that_pools_by_itself_is_taken_at_its_word() {
    let tokens = Installed::tiny();
    let text = Installed::new(&Recipe {
        output: Output::Text,
        ..Recipe::default()
    });
    assert_alike(
        &document(&tokens.embedder(), GTD),
        &document(&text.embedder(), GTD),
    );
}

#[test]
fn the_first_token_stands_for_the_text_where_the_settings_say_so() {
    let mut installed = Installed::new(&Recipe {
        marks: false,
        ..Recipe::default()
    });
    let ramen = document(&installed.embedder(), "ramen");
    let both = document(&installed.embedder(), "ramen budget");
    assert!(dot(&ramen, &both) < 0.9);
    installed.model.settings.pooling = Pooling::Cls;
    assert_alike(&ramen, &document(&installed.embedder(), "ramen budget"));
}

#[test]
fn prefixes_go_before_the_text_by_role() {
    let mut installed = Installed::tiny();
    installed.model.settings.query_prefix = "ramen: ".to_owned();
    installed.model.settings.document_prefix = "garden: ".to_owned();
    let prefixed = installed.embedder();
    let plain = Installed::tiny();
    let plain = plain.embedder();
    assert_alike(
        &prefixed.embed_one("budget", Role::Query).unwrap(),
        &document(&plain, "ramen: budget"),
    );
    assert_alike(
        &document(&prefixed, "budget"),
        &document(&plain, "garden: budget"),
    );
}

#[test]
fn text_beyond_the_limit_is_not_seen() {
    let mut installed = Installed::tiny();
    let embedder = installed.embedder();
    let words = |count: usize| "ramen ".repeat(count);
    let room = tiny_model::MAX_TOKENS - 2;
    let full = document(&embedder, &words(room));
    let more = document(&embedder, &format!("{}budget", words(room)));
    assert_eq!(full, more);
    let seen = document(&embedder, &format!("{}budget", words(room - 1)));
    assert!(dot(&full, &seen) < 0.9999);
    // The file's own limit is 16, which would hide this.
    installed.model.settings.max_tokens = 3;
    let first = document(&installed.embedder(), "ramen budget");
    assert_eq!(first, document(&installed.embedder(), "ramen"));
}

#[test]
fn odd_texts_are_embedded_like_any_other() {
    let installed = Installed::tiny();
    let bare = Installed::new(&Recipe {
        marks: false,
        ..Recipe::default()
    });
    let megabyte = "ramen broth and noodles, ".repeat(42_000);
    let unbroken = "x".repeat(1_000_000);
    let odd = [
        "",
        " \n\t ",
        "\0\u{1}\u{7f}\u{feff}",
        "🍜🍜🍜",
        "\u{301}\u{302}\u{300}",
        "क्षि กำ 한국어 ﷽",
        "[CLS] [SEP] [UNK] [PAD]",
        "unheardof",
        &"\u{301}".repeat(100_000),
        &"🏴󠁧󠁢󠁥󠁮󠁧󠁿".repeat(10_000),
        &unbroken,
        &megabyte,
    ];
    for embedder in [installed.embedder(), bare.embedder()] {
        for (text, role) in odd
            .iter()
            .flat_map(|text| [Role::Query, Role::Document].map(|role| (text, role)))
        {
            let vector = embedder.embed_one(text, role).unwrap();
            assert_eq!(vector.len(), tiny_model::DIMENSIONS);
            let length = dot(&vector, &vector);
            assert!(length == 0.0 || (length - 1.0).abs() < 1e-5, "{length}");
        }
        let nothing = document(&embedder, "unheardof words 🍜");
        assert_eq!(nothing, [0.0; tiny_model::DIMENSIONS]);
        assert!(
            dot(
                &document(&embedder, &megabyte),
                &document(&embedder, "broth")
            ) > 0.9
        );
    }
}

#[test]
fn eight_threads_get_what_one_gets() {
    let installed = Installed::tiny();
    let texts: Vec<String> = (0..200)
        .map(|number| format!("{} {number}", if number % 3 == 0 { GTD } else { RAMEN }))
        .collect();
    let alone = installed.embedder();
    let expected: Vec<Vec<f32>> = texts.iter().map(|text| document(&alone, text)).collect();
    // Not loaded yet, so that the threads compete for loading it.
    let shared = installed.embedder();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for (text, expected) in texts.iter().zip(&expected) {
                    assert_eq!(&document(&shared, text), expected);
                }
            });
        }
    });
}

#[test]
fn a_pools_workers_embed_one_text_each() {
    let installed = Installed::tiny();
    let embedder = installed.embedder();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .build()
        .unwrap();
    let vectors: Vec<Vec<f32>> = pool.install(|| {
        (0..200)
            .into_par_iter()
            .map(|number| document(&embedder, &format!("{GTD} {number}")))
            .collect()
    });
    assert_eq!(vectors.len(), 200);
    assert!(embedder.runtime().unwrap().most_runs_at_once() <= 2);
}

#[test]
fn files_that_are_no_model_are_named() {
    let cases: [(&str, &[u8], &str); 7] = [
        ("model.onnx", b"", "no graph"),
        ("model.onnx", b"no model at all, just words", ""),
        ("model.onnx", &[0xff; 5_000], ""),
        ("tokenizer.json", b"", "EOF"),
        ("tokenizer.json", b"{}", "Model missing"),
        ("tokenizer.json", b"[1, 2, 3]", ""),
        ("tokenizer.json", &[0xff; 100], ""),
    ];
    for (file, content, expected) in cases {
        let installed = Installed::tiny();
        installed.overwrite(file, content);
        let embedder = installed.embedder();
        let (blamed, detail) = refused(&embedder);
        assert_eq!(blamed, file, "{detail}");
        assert!(!detail.is_empty() && detail.contains(expected), "{detail}");
    }
}

#[test]
fn files_that_are_not_there_are_named() {
    for file in ["model.onnx", "tokenizer.json"] {
        let installed = Installed::tiny();
        std::fs::remove_file(installed.folder.path().join(file)).unwrap();
        assert_eq!(refused(&installed.embedder()).0, file);
    }
}

#[test]
fn a_failed_load_fails_the_same_way_again() {
    let installed = Installed::tiny();
    let whole = std::fs::read(installed.folder.path().join("model.onnx")).unwrap();
    installed.overwrite("model.onnx", &whole[..whole.len() / 2]);
    let embedder = installed.embedder();
    let first = embedder.embed_one("ramen", Role::Query).unwrap_err();
    installed.overwrite("model.onnx", whole);
    let second = embedder.embed_one("ramen", Role::Document).unwrap_err();
    assert_eq!(first, second);
    assert!(matches!(first, EmbedError::Broken { .. }), "{first:?}");
    installed.embedder().prepare().unwrap();
}

#[test]
fn another_dimension_than_described_is_refused() {
    let mut installed = Installed::tiny();
    installed.model.identity.dimensions = 384;
    installed.model.settings.dimensions = 384;
    let (blamed, detail) = refused(&installed.embedder());
    assert_eq!(blamed, "model.onnx");
    assert_eq!(detail, "its vectors have 16 numbers instead of 384");
}

#[test]
fn a_vector_is_cut_and_has_length_one_again() {
    let mut installed = Installed::tiny();
    let whole = document(&installed.embedder(), "ramen broth");
    installed.model.settings.shorter_dimensions = vec![6];
    installed.model = installed.model.shortened(6).unwrap();
    let short = document(&installed.embedder(), "ramen broth");
    assert_eq!(short.len(), 6);
    assert!((dot(&short, &short) - 1.0).abs() < 1e-5);
    let scale = dot(&whole[..6], &whole[..6]).sqrt();
    for (whole, short) in whole.iter().zip(&short) {
        assert!((whole - scale * short).abs() < 1e-5);
    }
    // With layer normalisation the mean over all components is taken off first.
    installed.model.settings.layer_norm = true;
    let centred = document(&installed.embedder(), "ramen broth");
    let mean = whole.iter().sum::<f32>() / whole.len() as f32;
    let off: Vec<f32> = whole[..6].iter().map(|one| one - mean).collect();
    let scale = dot(&off, &off).sqrt();
    for (off, centred) in off.iter().zip(&centred) {
        assert!((off - scale * centred).abs() < 1e-5);
    }
    assert_eq!(document(&installed.embedder(), "?!"), [0.0; 6]);
}

#[test]
fn tokens_the_graph_does_not_know_are_an_error_of_the_run() {
    let installed = Installed::tiny();
    let file = installed.folder.path().join("tokenizer.json");
    let content = std::fs::read_to_string(file).unwrap();
    let (before, after) = content.split_once("\"ramen\":").unwrap();
    let rest = after.trim_start_matches(|character: char| character.is_ascii_digit());
    installed.overwrite("tokenizer.json", format!("{before}\"ramen\":99999{rest}"));
    let embedder = installed.embedder();
    document(&embedder, "broth");
    match embedder.embed_one("ramen", Role::Document) {
        Err(EmbedError::Text { model, detail, .. }) => {
            assert_eq!(model, "tiny");
            assert!(!detail.is_empty());
        }
        other => panic!("{other:?}"),
    }
    // In a batch, the error has its position.
    match embedder.embed(&["broth", "soup", "ramen", "rice"], Role::Document) {
        Err(EmbedError::Text { index, .. }) => assert_eq!(index, 2),
        other => panic!("{other:?}"),
    }
    document(&embedder, "broth");
}

#[test]
fn debugging_does_not_load() {
    let installed = Installed::tiny();
    let embedder = installed.embedder();
    assert!(format!("{embedder:?}").contains("loaded: None"));
    embedder.prepare().unwrap();
    assert!(format!("{embedder:?}").contains("loaded: Some(true)"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_damaged_graph_is_an_error_and_no_panic(
        // The nodes come first, then the weights, which are most of the file.
        place in prop_oneof![0_usize..600, 0_usize..19_000],
        garbage in prop::collection::vec(any::<u8>(), 1..20),
    ) {
        let installed = Installed::tiny();
        let file = installed.folder.path().join("model.onnx");
        let mut content = std::fs::read(file).unwrap();
        for (offset, byte) in garbage.into_iter().enumerate() {
            content[place + offset] = byte;
        }
        installed.overwrite("model.onnx", content);
        let embedder = installed.embedder();
        // Damage among the weights gives other vectors, which is acceptable.
        if let Ok(vector) = embedder.embed_one("ramen broth", Role::Document) {
            prop_assert_eq!(vector.len(), tiny_model::DIMENSIONS);
            prop_assert!(vector.iter().all(|value| value.is_finite()));
        }
    }
}
