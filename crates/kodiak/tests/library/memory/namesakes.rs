//! Two files with one id: both are found, and what is erased is what was named.

use kodiak::store::{SqliteIndex, Store};
use kodiak_memory::Memories;

use super::*;
use crate::forgetting::files_with;

/// Two files with the id `same` and one with another.
fn place() -> Place {
    let place = Place::new();
    place.write("a.md", "---\nid: same\n---\nfirst zebra amaranth\n");
    place.write("same.md", "---\nid: same\n---\nsecond zebra bergamot\n");
    place.write("c.md", "---\nid: other\n---\nthird zebra cinnamon\n");
    // A file that was written just now has no version that can be trusted.
    std::thread::sleep(std::time::Duration::from_millis(60));
    place
}

fn zebras(engine: &Engine) -> Vec<String> {
    let mut found = found(engine, &request("zebra"));
    found.sort();
    found
}

fn purge(engine: &Engine, name: &str) -> usize {
    let names = [name.to_owned()];
    Memories::new(engine)
        .purge_named(&me(), &names, &Job::default())
        .unwrap()
}

impl Place {
    /// Returns the files that Kodiak or the test wrote whose bytes contain a word.
    fn files_with(&self, word: &str) -> Vec<String> {
        files_with(self.folder.path(), &[word])
    }
}

#[test]
fn an_id_means_every_file_that_has_it() {
    let place = place();
    let engine = place.engine();
    sync(&engine);
    assert_eq!(zebras(&engine), ["other", "same", "same.md"]);
    assert_eq!(purge(&engine, "same"), 2);
    assert_eq!(place.files(), ["c.md"]);
    for word in ["amaranth", "bergamot"] {
        assert_eq!(place.files_with(word), Vec::<String>::new(), "{word}");
    }
    // Neither comes back, wherever it is restored.
    place.write("d.md", "---\nid: same\n---\nfirst zebra amaranth\n");
    sync(&engine);
    assert_eq!(zebras(&engine), ["other"]);
    engine.rebuild(&me(), false, &Job::default()).unwrap();
    assert_eq!(zebras(&engine), ["other"]);
}

#[test]
fn a_path_means_one_file_and_the_other_gets_the_id() {
    for (named, word, stays, left) in [
        ("a.md", "amaranth", "same.md", "bergamot"),
        ("same.md", "bergamot", "a.md", "amaranth"),
    ] {
        let place = place();
        let engine = place.engine();
        sync(&engine);
        assert_eq!(purge(&engine, named), 1, "{named}");
        assert_eq!(place.files_with(word), Vec::<String>::new(), "{named}");
        let mut files = place.files();
        files.sort();
        let mut expected = [stays, "c.md"];
        expected.sort_unstable();
        assert_eq!(files, expected);
        // The index was not told of anything else.
        let unrefreshed = Request {
            refresh: false,
            ..request(left)
        };
        assert_eq!(found(&engine, &unrefreshed), ["same"], "{named}");
        sync(&engine);
        engine.rebuild(&me(), false, &Job::default()).unwrap();
        assert_eq!(zebras(&engine), ["other", "same"]);
        // The erased file stays away even if it is restored.
        place.write(named, &format!("---\nid: same\n---\nzebra {word}\n"));
        sync(&engine);
        engine.rebuild(&me(), false, &Job::default()).unwrap();
        assert_eq!(found(&engine, &request(word)), Vec::<String>::new());
        assert_eq!(zebras(&engine), ["other", "same"]);
        // Another memory may have its name.
        place.write(named, "---\nid: new\n---\nfourth zebra\n");
        sync(&engine);
        assert_eq!(zebras(&engine), ["new", "other", "same"]);
    }
}

#[test]
fn forgetting_moves_what_was_named_to_the_trash() {
    let place = place();
    let engine = place.engine();
    sync(&engine);
    let forget = |name: &str| {
        let names = [name.to_owned()];
        Memories::new(&engine)
            .forget(&me(), &names, &Job::default())
            .unwrap()
            .len()
    };
    assert_eq!(forget("a.md"), 1);
    assert_eq!(zebras(&engine), ["other", "same"]);
    place.write("b.md", "---\nid: same\n---\nfifth zebra\n");
    sync(&engine);
    assert_eq!(zebras(&engine), ["b.md", "other", "same"]);
    assert_eq!(forget("same"), 2);
    assert_eq!(zebras(&engine), ["other"]);
    assert_eq!(place.files(), ["c.md"]);
}

#[test]
fn who_is_held_to_a_project_erases_nothing_of_others() {
    let place = Place::new();
    let file = |project: &str, word: &str| {
        format!("---\nid: same\nproject: {project}\n---\nzebra {word}\n")
    };
    place.write("a.md", &file("/p/mine", "amaranth"));
    place.write("b.md", &file("/p/yours", "bergamot"));
    let engine = place.engine();
    sync(&engine);
    let held = me().in_project("/p/mine");
    let purged = Memories::new(&engine).purge_named(&held, &["same".to_owned()], &Job::default());
    assert_eq!(purged.unwrap(), 1);
    assert_eq!(place.files(), ["b.md"]);
    assert_eq!(place.files_with("amaranth"), Vec::<String>::new());
    sync(&engine);
    assert_eq!(found(&engine, &request("bergamot")), ["same"]);
}

#[test]
fn the_second_file_is_not_read_again_until_the_id_is_free() {
    let place = place();
    let engine = place.engine();
    sync(&engine);
    let store = SqliteIndex::new(place.index());
    let state = |path: &str| {
        let reader = store.reader().unwrap();
        reader.entry_state("memory", path).unwrap().unwrap()
    };
    // Its version is known, so that nothing reads it while it stays the same.
    for path in ["a.md", "same.md"] {
        assert!(state(path).version.is_known(), "{path}");
    }
    // A file that gets another id frees the one that it had.
    place.write("a.md", "---\nid: renamed\n---\nfirst zebra amaranth\n");
    assert_eq!(zebras(&engine), ["other", "renamed", "same"]);
    // And so does one that is gone.
    place.write("d.md", "---\nid: same\n---\nsixth zebra\n");
    sync(&engine);
    assert_eq!(zebras(&engine), ["d.md", "other", "renamed", "same"]);
    fs::remove_file(place.root().join("same.md")).unwrap();
    sync(&engine);
    assert_eq!(zebras(&engine), ["other", "renamed", "same"]);
    let problems = engine.status(&me()).unwrap();
    assert!(
        !format!("{problems:?}").contains("also that of"),
        "{problems:?}"
    );
}
