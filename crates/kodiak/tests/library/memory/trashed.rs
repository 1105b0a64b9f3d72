//! Documents in the trash can be erased like any others.

use super::*;
use crate::forgetting::files_with;
use kodiak_memory::Memories;

const SECRET: &[&str] = &["amaranth"];

/// Returns a folder with a memory in a file of another name, and one that stays.
fn place(file: &str) -> (Place, Engine) {
    let place = Place::new();
    let text = "---\nid: mine\nproject: /p/one\nsession: s1\ntitle: Plants\n---\nzebra amaranth\n";
    std::fs::create_dir_all(place.root().join("sub")).unwrap();
    place.write(file, text);
    place.write("stays.md", "---\nid: stays\n---\nzebra bergamot\n");
    let engine = place.engine();
    sync(&engine);
    (place, engine)
}

fn forget(engine: &Engine, name: &str) -> Vec<(String, bool)> {
    let names = [name.to_owned()];
    let forgotten = Memories::new(engine)
        .forget(&me(), &names, &Job::default())
        .unwrap();
    let forgotten = forgotten.into_iter();
    forgotten.map(|one| (one.key, one.moved)).collect()
}

fn purge(engine: &Engine, name: &str) -> kodiak::Result<usize> {
    Memories::new(engine).purge_named(&me(), &[name.to_owned()], &Job::default())
}

fn left(place: &Place) -> Vec<String> {
    files_with(place.folder.path(), SECRET)
}

#[test]
fn a_memory_in_the_trash_is_erased_under_each_of_its_names() {
    let id = kodiak::DocumentId::new("memory", "mine").hex();
    let names = [
        "mine",
        &id,
        &format!("#{}", &id[..8]),
        "memory/mine",
        "kodiak://memory/mine",
        "sub/other.md",
        "Plants",
    ];
    for name in names {
        let (place, engine) = place("sub/other.md");
        assert_eq!(forget(&engine, "mine"), [("mine".to_owned(), true)]);
        // Forgetting it again says where it is, and changes nothing.
        assert_eq!(
            forget(&engine, name),
            [("mine".to_owned(), false)],
            "{name}"
        );
        assert!(!left(&place).is_empty());
        assert_eq!(purge(&engine, name).unwrap(), 1, "{name}");
        assert_eq!(left(&place), Vec::<String>::new(), "{name}");
        // It does not come back, and erasing it again is not an error.
        assert_eq!(purge(&engine, "mine").unwrap(), 0);
        place.write("again.md", "---\nid: mine\n---\nzebra amaranth\n");
        sync(&engine);
        assert_eq!(found(&engine, &request("zebra")), ["stays"]);
        assert!(purge(&engine, "neither").is_err());
    }
}

#[test]
fn an_id_means_what_is_in_the_trash_and_what_is_not() {
    let (place, engine) = place("other.md");
    forget(&engine, "mine");
    place.write("mine.md", "---\nid: mine\n---\nzebra amaranth again\n");
    sync(&engine);
    // A path in the trash means that file alone.
    assert_eq!(purge(&engine, "other.md").unwrap(), 1);
    assert_eq!(found(&engine, &request("amaranth")), ["mine"]);
    assert!(!place.root().join(".trash/other.md").exists());
    sync(&engine);
    engine.rebuild(&me(), false, &Job::default()).unwrap();
    assert_eq!(found(&engine, &request("amaranth")), ["mine"]);
    forget(&engine, "mine");
    place.write("third.md", "---\nid: mine\n---\nzebra amaranth anew\n");
    sync(&engine);
    assert_eq!(purge(&engine, "mine").unwrap(), 1);
    assert_eq!(left(&place), Vec::<String>::new());
}

#[test]
fn a_session_and_a_project_include_what_is_in_the_trash() {
    for project in [true, false] {
        let (place, engine) = place("other.md");
        forget(&engine, "mine");
        let job = Job::default();
        let purged = if project {
            Memories::new(&engine).purge_project(&me(), "/p/one", &job)
        } else {
            Memories::new(&engine).purge_session(&me(), "s1", &job)
        };
        assert_eq!(purged.unwrap(), 1);
        assert_eq!(left(&place), Vec::<String>::new());
        assert_eq!(found(&engine, &request("zebra")), ["stays"]);
    }
}

#[test]
fn a_caller_in_a_project_learns_nothing_of_the_trash() {
    let (place, engine) = place("other.md");
    forget(&engine, "mine");
    for project in ["/p/one", "/p/two"] {
        let held = me().in_project(project);
        let names = ["mine".to_owned()];
        let job = Job::default();
        assert!(Memories::new(&engine).forget(&held, &names, &job).is_err());
        assert!(
            Memories::new(&engine)
                .purge_named(&held, &names, &job)
                .is_err()
        );
        Memories::new(&engine)
            .purge_project(&held, "/p/one", &job)
            .unwrap();
        assert!(place.root().join(".trash/other.md").exists());
    }
}
