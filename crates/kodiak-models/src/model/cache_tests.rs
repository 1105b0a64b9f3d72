//! Tests of what counts as a model, and which of several is preferred.

use std::time::{Duration, SystemTime};

use super::*;
use crate::model::install_from_folder;
use crate::model::manifest::{TOKENIZER, WEIGHTS};

/// Installs a small model. Another seed makes another revision.
fn add(cache: &Path, name: &str, seed: u64) -> InstalledModel {
    let folder = tempfile::tempdir().unwrap();
    let recipe = tiny_model::Recipe {
        name: name.to_owned(),
        seed,
        ..tiny_model::Recipe::default()
    };
    recipe.write(folder.path()).unwrap();
    install_from_folder(folder.path(), None, cache).unwrap()
}

fn written_ago(model: &InstalledModel, hours: u64) {
    let path = model.folder.join(MANIFEST);
    let file = fs::File::options().append(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_hours(hours))
        .unwrap();
}

#[test]
fn a_missing_cache_is_empty() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("none/yet");
    assert!(installed(&cache).unwrap().is_empty());
    assert_eq!(find(&cache, "tiny").unwrap(), None);
    let missing = remove(&cache, "tiny").unwrap_err();
    assert!(matches!(missing, Error::ModelMissing { name } if name == "tiny"));
    assert!(!cache.exists());
}

#[test]
fn models_are_found_by_name_and_by_key() {
    let cache = tempfile::tempdir().unwrap();
    let cache = cache.path();
    let older = add(cache, "tiny", 1);
    let newer = add(cache, "tiny", 2);
    let other = add(cache, "tiny-too", 3);
    written_ago(&older, 2);
    written_ago(&newer, 1);
    assert_eq!(
        installed(cache).unwrap(),
        [newer.clone(), older.clone(), other.clone()]
    );
    assert_eq!(find(cache, "tiny").unwrap(), Some(newer.clone()));
    assert_eq!(find(cache, "tin").unwrap(), None);
    for model in [&older, &newer, &other] {
        let key = model.identity.key();
        assert_eq!(find_key(cache, &key).unwrap().as_ref(), Some(model));
    }
    assert_eq!(find_key(cache, "tiny@000000000000").unwrap(), None);
    assert_eq!(find_key(cache, "tiny").unwrap(), None);
    // Installed again, the older one is now the latest.
    written_ago(&older, 0);
    assert_eq!(find(cache, "tiny").unwrap(), Some(older));
}

#[test]
fn the_catalogues_own_revision_comes_first() {
    let cache = tempfile::tempdir().unwrap();
    let cache = cache.path();
    let catalogued = known("all-minilm-l6-v2").unwrap();
    let pinned = catalogued.weights_sha256().unwrap();
    let mut own = add(cache, &catalogued.name, 1);
    // Weights with the catalogue's hash cannot be made here, but a manifest
    // that names them can.
    let path = own.folder.join(MANIFEST);
    let text = fs::read_to_string(&path).unwrap();
    let sum = checksum::of_file(&own.folder.join(WEIGHTS)).unwrap().sha256;
    let text = text
        .replace(&sum, pinned)
        .replace(&own.identity.revision, &revision(pinned));
    fs::write(&path, text).unwrap();
    let folder = cache.join(format!("{}-{}", catalogued.name, revision(pinned)));
    fs::rename(&own.folder, &folder).unwrap();
    own.folder = folder;
    written_ago(&own, 5);
    add(cache, &catalogued.name, 2);
    let found = find(cache, &catalogued.name).unwrap().unwrap();
    assert_eq!(found.folder, own.folder);
    assert!(verify(&found).is_err());
}

#[test]
fn rubbish_is_neither_a_model_nor_in_the_way() {
    let cache = tempfile::tempdir().unwrap();
    let cache = cache.path();
    let sound = add(cache, "sound", 1);
    for (name, damage) in [
        ("no-manifest", MANIFEST),
        ("no-weights", WEIGHTS),
        ("no-tokenizer", TOKENIZER),
    ] {
        let model = add(cache, name, 1);
        fs::remove_file(model.folder.join(damage)).unwrap();
    }
    let cut = add(cache, "cut-short", 1);
    let whole = fs::read(cut.folder.join(WEIGHTS)).unwrap();
    fs::write(cut.folder.join(WEIGHTS), &whole[..whole.len() / 2]).unwrap();
    let garbled = add(cache, "garbled", 1);
    fs::write(garbled.folder.join(MANIFEST), b"\xff{").unwrap();
    let renamed = add(cache, "renamed", 1);
    fs::rename(&renamed.folder, cache.join("other-0123456789ab")).unwrap();
    let temporary = add(cache, "temporary", 1);
    fs::rename(&temporary.folder, cache.join(".temporary-0123456789ab")).unwrap();
    fs::write(cache.join("file-0123456789ab"), "x").unwrap();
    fs::create_dir(cache.join("-0123456789ab")).unwrap();
    fs::create_dir(cache.join("notes")).unwrap();

    assert_eq!(installed(cache).unwrap(), [sound]);
    // A damaged model can be removed by its name.
    assert_eq!(find(cache, "cut-short").unwrap(), None);
    remove(cache, "cut-short").unwrap();
    assert!(!cut.folder.exists());
    assert!(cache.join("notes").exists());
}

#[test]
fn a_changed_byte_is_noticed() {
    let cache = tempfile::tempdir().unwrap();
    let model = add(cache.path(), "tiny", 1);
    verify(&model).unwrap();
    let path = model.folder.join(TOKENIZER);
    let words = fs::read_to_string(&path).unwrap();
    // The size is the same, so only the hash shows it.
    fs::write(&path, words.replace("ramen", "rawen")).unwrap();
    let error = verify(&model).unwrap_err();
    assert!(error.to_string().contains(TOKENIZER), "{error}");
    // It is a new file, so its hash is checked before it is used.
    assert_eq!(find(cache.path(), "tiny").unwrap(), None);
    fs::write(&path, words).unwrap();
    assert_eq!(find(cache.path(), "tiny").unwrap(), Some(model));
}

#[test]
fn a_file_is_checked_once() {
    let cache = tempfile::tempdir().unwrap();
    let model = add(cache.path(), "tiny", 1);
    let path = model.folder.join(TOKENIZER);
    let written = fs::metadata(&path).unwrap().modified().unwrap();
    let words = fs::read_to_string(&path).unwrap();
    fs::write(&path, words.replace("ramen", "rawen")).unwrap();
    // As if it were the file that was checked: it is not read again.
    let file = fs::File::options().append(true).open(&path).unwrap();
    file.set_modified(written).unwrap();
    assert!(find(cache.path(), "tiny").unwrap().is_some());
    // Without the stamp, it is.
    fs::remove_file(model.folder.join(STAMP)).unwrap();
    assert_eq!(find(cache.path(), "tiny").unwrap(), None);
}

#[test]
fn removing_takes_all_revisions_and_no_namesake() {
    let cache = tempfile::tempdir().unwrap();
    let cache = cache.path();
    let models = [add(cache, "tiny", 1), add(cache, "tiny", 2)];
    let other = add(cache, "tiny-0123456789ab", 3);
    let expected: u64 = models.iter().map(bytes).sum();
    assert!(expected > 0);
    assert_eq!(remove(cache, "tiny").unwrap(), expected);
    assert_eq!(installed(cache).unwrap(), [other]);
    assert_eq!(fs::read_dir(cache).unwrap().count(), 1);
    remove(cache, "tiny").unwrap_err();
}

#[test]
fn the_names_of_folders() {
    for (folder, name) in [
        ("tiny-0123456789ab", Some("tiny")),
        (
            "a-b_c.d-0123456789ab-0123456789ab",
            Some("a-b_c.d-0123456789ab"),
        ),
        ("tiny-0123456789AB", None),
        ("tiny-0123456789a", None),
        ("tiny-0123456789abc", None),
        ("-0123456789ab", None),
        (".tiny-0123456789ab", None),
        ("tiny", None),
        ("", None),
    ] {
        assert_eq!(name_of(folder), name, "{folder}");
    }
}
