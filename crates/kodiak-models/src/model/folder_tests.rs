//! Tests of installing from folders as people have them.

use std::fs;

use super::*;
use crate::model::{Pooling, installed, verify};

/// A description for folders whose files are not read.
const DESCRIBED: &str = r#"{"name": "tiny", "dimensions": 16, "pooling": "mean",
    "max_tokens": 64, "query_prefix": "", "document_prefix": "", "minimum_similarity": 0.2}"#;

struct Desk {
    _root: tempfile::TempDir,
    folder: PathBuf,
    cache: PathBuf,
}

impl Desk {
    fn new(files: &[(&str, &str)]) -> Self {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("mine");
        fs::create_dir(&folder).unwrap();
        for (name, text) in files {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self {
            folder,
            cache: root.path().join("cache"),
            _root: root,
        }
    }

    /// Makes a desk with a model that works.
    fn tiny() -> Self {
        let desk = Self::new(&[]);
        tiny_model::write(&desk.folder).unwrap();
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn install(&self, name: Option<&str>) -> Result<InstalledModel> {
        install_from_folder(&self.folder, name, &self.cache)
    }

    fn refused(&self, name: Option<&str>) -> String {
        let error = self.install(name).unwrap_err();
        assert!(installed(&self.cache).unwrap().is_empty());
        // The attempt leaves nothing behind.
        let left = fs::read_dir(&self.cache).map_or(0, Iterator::count);
        assert_eq!(left, 0);
        error.to_string()
    }
}

#[test]
fn weights_are_found_wherever_people_have_them() {
    for weights in WEIGHTS_FILES {
        let desk = Desk::tiny();
        let content = fs::read(desk.path(WEIGHTS)).unwrap();
        fs::create_dir(desk.path("onnx")).unwrap();
        fs::rename(desk.path(WEIGHTS), desk.path(weights)).unwrap();
        let sum = checksum::of_file(&desk.path(weights)).unwrap().sha256;
        let revision = &sum[..12];
        let model = desk.install(None).unwrap();
        assert_eq!(model.identity.key(), format!("tiny@{revision}"));
        assert_eq!(model.identity.dimensions, tiny_model::DIMENSIONS);
        assert_eq!(model.settings.pooling, Pooling::Mean);
        assert_eq!(model.folder, desk.cache.join(format!("tiny-{revision}")));
        assert_eq!(fs::read(model.folder.join(WEIGHTS)).unwrap(), content);
        // The model stays when the folder is removed.
        fs::remove_dir_all(&desk.folder).unwrap();
        verify(&model).unwrap();
        assert_eq!(installed(&desk.cache).unwrap(), [model]);
    }
}

#[test]
fn the_catalogue_speaks_for_a_folder_that_does_not() {
    // The catalogue says 384 dimensions, which the tiny model only has if it is
    // made so.
    let desk = Desk::new(&[]);
    let recipe = tiny_model::Recipe {
        dimensions: 384,
        ..tiny_model::Recipe::default()
    };
    recipe.write(&desk.folder).unwrap();
    fs::remove_file(desk.path(MANIFEST)).unwrap();
    let model = desk.install(Some("all-minilm-l6-v2")).unwrap();
    assert_eq!(model.settings, known("all-minilm-l6-v2").unwrap().settings);

    let desk = Desk::new(&[("model.onnx", "weights"), (TOKENIZER, "words")]);
    for name in [None, Some("tiny")] {
        let said = desk.refused(name);
        assert!(said.contains("model.onnx cannot be used: "), "{said}");
    }
    let said = desk.refused(Some("../up"));
    assert!(said.contains("no model can be named '../up'"), "{said}");
}

#[test]
fn a_graph_and_a_tokenizer_are_enough() {
    let desk = Desk::tiny();
    fs::remove_file(desk.path(MANIFEST)).unwrap();
    fs::write(
        desk.path("sentence_bert_config.json"),
        r#"{"max_seq_length": 32}"#,
    )
    .unwrap();
    let model = desk.install(None).unwrap();
    assert_eq!(model.identity.name, "mine");
    assert_eq!(model.identity.dimensions, tiny_model::DIMENSIONS);
    assert_eq!(
        (model.settings.pooling, model.settings.max_tokens),
        (Pooling::Mean, 32)
    );
    assert_eq!(
        desk.install(Some("my-own")).unwrap().identity.name,
        "my-own"
    );
}

#[test]
fn weights_in_a_file_of_their_own_belong_to_the_revision() {
    let desk = Desk::tiny();
    fs::write(desk.path("model.onnx_data"), "one").unwrap();
    let one = desk.install(None).unwrap();
    assert_eq!(
        fs::read(one.folder.join("model.onnx_data")).unwrap(),
        b"one"
    );
    fs::write(desk.path("model.onnx_data"), "two").unwrap();
    let two = desk.install(None).unwrap();
    assert_ne!(one.identity, two.identity);
    verify(&one).unwrap();
    // They are carried along, and checked like the rest.
    let other = tempfile::tempdir().unwrap();
    let carried = install_from_folder(&one.folder, None, other.path()).unwrap();
    assert_eq!(carried.identity, one.identity);
    fs::write(carried.folder.join("model.onnx_data"), "off").unwrap();
    verify(&carried).unwrap_err();
    assert_eq!(installed(other.path()).unwrap(), []);
}

#[test]
fn what_is_missing_is_named() {
    let empty = Desk::new(&[]);
    let said = empty.refused(None);
    assert!(said.contains("none of model.onnx, "), "{said}");
    assert!(said.contains(empty.folder.to_str().unwrap()), "{said}");
    for (files, expected) in [
        (&[("model.onnx", "x")][..], "it has no tokenizer.json"),
        (
            &[("model.onnx", ""), (TOKENIZER, "x"), (MANIFEST, DESCRIBED)],
            "model.onnx cannot be used: it is empty",
        ),
        (
            &[("model.onnx", "x"), (TOKENIZER, ""), (MANIFEST, DESCRIBED)],
            "tokenizer.json cannot be used: it is empty",
        ),
        (
            &[("model.onnx", "x"), (TOKENIZER, "x"), (MANIFEST, "{}")],
            "missing field",
        ),
        (
            &[
                ("onnx/model.onnx", "x"),
                ("onnx/model.onnx_data", "x"),
                (TOKENIZER, "x"),
                (MANIFEST, DESCRIBED),
            ],
            "model.onnx cannot be used: ",
        ),
    ] {
        let said = Desk::new(files).refused(None);
        assert!(said.contains(expected), "{said}");
    }
    let gone = install_from_folder(&empty.folder.join("x"), None, &empty.cache).unwrap_err();
    assert!(matches!(gone, Error::FolderMissing { .. }));
    let file = Desk::new(&[("x", "x")]);
    let file = install_from_folder(&file.folder.join("x"), None, &file.cache).unwrap_err();
    assert!(matches!(file, Error::NotAFolder { .. }));
}

#[test]
fn what_cannot_be_loaded_is_refused_by_the_name_of_its_file() {
    for (weights, broken) in [
        (WEIGHTS, WEIGHTS),
        (WEIGHTS, TOKENIZER),
        ("onnx/model.onnx", "onnx/model.onnx"),
    ] {
        let desk = Desk::tiny();
        fs::create_dir(desk.path("onnx")).unwrap();
        fs::rename(desk.path(WEIGHTS), desk.path(weights)).unwrap();
        fs::write(desk.path(broken), "neither").unwrap();
        let said = desk.refused(None);
        let file = desk.path(broken).display().to_string();
        let expected = format!("the model in {file} cannot be used: ");
        assert!(said.starts_with(&expected), "{said}");
    }
    // Both files are sound but do not match the description.
    let desk = Desk::tiny();
    let said = fs::read_to_string(desk.path(MANIFEST)).unwrap();
    let wrong = said.replace("\"dimensions\":16", "\"dimensions\":17");
    assert_ne!(wrong, said);
    fs::write(desk.path(MANIFEST), wrong).unwrap();
    let said = desk.refused(None);
    assert!(said.contains(desk.folder.to_str().unwrap()), "{said}");
    assert!(said.contains("16") && said.contains("17"), "{said}");
}

#[test]
fn a_folder_is_what_it_says_it_is() {
    let desk = Desk::tiny();
    let said = desk.refused(Some("all-minilm-l6-v2"));
    assert!(said.contains("named 'tiny', not 'all-minilm"), "{said}");
    assert_eq!(
        desk.install(Some("tiny")).unwrap(),
        desk.install(None).unwrap()
    );
}

#[test]
fn an_installed_model_can_be_carried_to_another_machine() {
    let desk = Desk::tiny();
    let model = desk.install(None).unwrap();
    let other = tempfile::tempdir().unwrap();
    let carried = install_from_folder(&model.folder, None, other.path()).unwrap();
    assert_eq!(carried.identity, model.identity);
    assert_eq!(carried.settings, model.settings);
    // Unless it was damaged on the way.
    fs::write(model.folder.join(WEIGHTS), "wrights").unwrap();
    let other = tempfile::tempdir().unwrap();
    let error = install_from_folder(&model.folder, None, other.path()).unwrap_err();
    assert!(error.to_string().contains("not the file that"), "{error}");
}
