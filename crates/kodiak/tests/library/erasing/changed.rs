//! Files that other programs change between the beginning of an erasing and its end.

use super::*;

/// Returns a home whose purge of a memory was stopped before any file was erased.
fn stopped(folder: &Path) -> Home {
    let home = Home::new(&make(folder, "home"), What::Memory);
    let engine = home.fill(What::Memory);
    let at = folder.join("stopped");
    let listener = |event: Event<'_>| {
        if let Event::Erasing {
            step: EraseStep::Tombstones,
        } = event
        {
            copy(&home.root, &at);
        }
    };
    What::Memory.purge(&engine, &Job::new(&listener)).unwrap();
    Home {
        root: at.canonicalize().unwrap(),
    }
}

#[test]
fn a_memory_that_was_changed_since_is_erased_by_its_id() {
    let folder = quick_folder();
    let home = stopped(folder.path());
    let file = home.root.join("memory/mine.md");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{text}\nOne more line.\n")).unwrap();
    let engine = home.engine();
    index(&engine);
    assert!(!file.exists());
    home.assert_gone(What::Memory, &engine, "changed since");
}

#[test]
fn another_memory_in_its_file_stays() {
    for text in [
        "---\nid: another\n---\nA guitar in its place.\n",
        "A guitar without an id.\n",
    ] {
        let folder = quick_folder();
        let home = stopped(folder.path());
        let file = home.root.join("memory/mine.md");
        fs::write(&file, text).unwrap();
        let engine = home.engine();
        index(&engine);
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        home.assert_gone(What::Memory, &engine, "with another in its place");
    }
}
