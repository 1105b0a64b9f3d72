//! Vectors over time: kept through a rebuild, rebuilt when asked to, following
//! the notes and the choice of model, and no reason to fail when damaged.

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;

use crate::desk::{Desk, Run, age};
use crate::meaning::{embedded, write_notes};

fn cache(desk: &Desk) -> PathBuf {
    desk.path("data/kodiak/embeddings.db")
}

fn vector_file(desk: &Desk) -> PathBuf {
    desk.path("data/kodiak/index.vectors")
}

/// The model that compared meanings in a search, by its answer.
fn answering(desk: &Desk) -> String {
    let answer = desk.json(&["search", "task management", "--json"]);
    assert_eq!(answer["hits"][0]["path"], "gtd.md", "{answer}");
    let model = &answer["retrievers"]["semantic"];
    model.as_str().unwrap_or("none").to_owned()
}

/// What an index run says of vectors when it is talkative.
fn said_of_vectors(run: &Run) -> Vec<&str> {
    let about = |line: &&str| line.contains("chunk") || line.contains("warning");
    run.stderr.lines().filter(about).collect()
}

#[test]
fn a_rebuild_keeps_vectors_unless_told_otherwise() {
    let desk = embedded();
    let run = desk.ok(&["index", "--rebuild", "-v"]);
    assert_eq!(said_of_vectors(&run), [] as [&str; 0], "{run}");
    assert_eq!(answering(&desk), "tiny");
    let status = desk.json(&["status", "--json"]);
    assert_eq!(status["embeddings"]["embedded"], 7);
    let run = desk.ok(&["index", "--rebuild", "--embeddings", "-v"]);
    let said = ["embedding 7 chunks with tiny", "7 chunks embedded"];
    assert_eq!(said_of_vectors(&run), said, "{run}");
    assert_eq!(answering(&desk), "tiny");
    // The cache holds the rebuilt ones.
    let status = desk.json(&["status", "--json"]);
    assert_eq!(status["embeddings"]["cache"]["vectors"], 7);
    let run = desk.run(&["index", "--embeddings"]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("not provided:\n  --rebuild"), "{run}");
    let run = desk.run(&["index", "--rebuild", "--embeddings", "--no-semantic"]);
    assert_eq!(run.code, Some(2), "{run}");
}

#[test]
fn an_index_that_is_gone_is_filled_from_the_cache() {
    let desk = embedded();
    for entry in fs::read_dir(desk.path("data/kodiak")).unwrap() {
        let path = entry.unwrap().path();
        if path != cache(&desk) {
            fs::remove_file(path).unwrap();
        }
    }
    let run = desk.ok(&["index", "-v"]);
    assert_eq!(said_of_vectors(&run), ["7 chunks found in the cache"]);
    assert_eq!(answering(&desk), "tiny");
}

#[test]
fn a_note_that_moved_is_not_embedded_again() {
    let desk = embedded();
    fs::rename(desk.path("notes/gtd.md"), desk.path("notes/method.md")).unwrap();
    let run = desk.ok(&["index", "-v"]);
    assert!(!run.stderr.contains("embedding"), "{run}");
    assert_eq!(
        desk.found(&["task management"])[..],
        ["method.md", "pomodoro.md"]
    );
}

#[test]
fn meanings_follow_the_notes() {
    let desk = embedded();
    let productive = || desk.found(&["task management", "--mode", "semantic"]);
    assert_eq!(productive(), ["gtd.md", "pomodoro.md"]);
    // Gone: at once from the answer, with the next run from the index.
    fs::remove_file(desk.path("notes/gtd.md")).unwrap();
    assert_eq!(productive(), ["pomodoro.md"]);
    desk.ok(&["index"]);
    let answer = desk.json(&["search", "task management", "--json"]);
    assert_eq!(
        (&answer["total"], &answer["notices"]),
        (&1.into(), &serde_json::json!([]))
    );
    // Edited: it means something else now.
    let path = desk.write("notes/pomodoro.md", "# Concert\n\nA band and its guitar.\n");
    age(&path, 60);
    let run = desk.ok(&["index", "-v"]);
    assert_eq!(
        said_of_vectors(&run),
        ["embedding 1 chunk with tiny", "1 chunk embedded"]
    );
    assert_eq!(productive(), [] as [&str; 0]);
    assert_eq!(
        desk.found(&["music", "--mode", "semantic"]),
        ["pomodoro.md"]
    );
    // New.
    desk.write("notes/kanban.md", "# Kanban\n\nA board for everything.\n");
    desk.ok(&["index"]);
    assert_eq!(productive(), ["kanban.md"]);
    let status = desk.json(&["status", "--json"]);
    assert_eq!(status["embeddings"]["model"]["vectors"], 7);
    // A source that is forgotten takes its vectors along.
    desk.ok(&["remove", "notes"]);
    assert_eq!(productive(), [] as [&str; 0]);
    desk.ok(&["doctor"]);
}

#[test]
fn the_last_note_takes_the_vectors_along() {
    let desk = Desk::with_model();
    desk.ok(&["remember", "The kettle leaks.", "--id", "leak"]);
    assert!(vector_file(&desk).exists());
    desk.ok(&["forget", "--purge", "leak"]);
    assert!(!vector_file(&desk).exists());
    desk.ok(&["doctor"]);
    desk.ok(&["remember", "The kettle is mended.", "--id", "mended"]);
    assert_eq!(desk.found(&["kettle leak"]).len(), 1);
}

#[test]
fn another_model_takes_over_with_the_next_run() {
    let desk = Desk::unset();
    desk.install_tiny();
    tiny_model::variant(&desk.path("other"), 2, 24).unwrap();
    desk.ok(&["model", "install", "--from", "other"]);
    desk.ok(&["model", "use", "tiny"]);
    write_notes(&desk);
    desk.ok(&["add", "notes"]);
    assert_eq!(answering(&desk), "tiny");

    assert_snapshot!(desk.run(&["model", "use", "tiny-2"]), @"
    exit: 0
    --- stderr
    the model tiny-2 is in use now: the next `kodiak index` embeds with it; until then, searches use the old embeddings
    ");
    assert_eq!(answering(&desk), "tiny", "the old vectors answer");
    let run = desk.ok(&["index", "-v"]);
    let said = ["embedding 7 chunks with tiny-2", "7 chunks embedded"];
    assert_eq!(said_of_vectors(&run), said, "{run}");
    assert_eq!(answering(&desk), "tiny-2");
    let status = desk.json(&["status", "--json"]);
    assert_eq!(status["embeddings"]["model"]["dimensions"], 24);
    assert_eq!(status["embeddings"]["next"], serde_json::Value::Null);

    // And back, from the cache.
    desk.ok(&["model", "use", "tiny"]);
    let run = desk.ok(&["index", "-v"]);
    assert_eq!(said_of_vectors(&run), ["7 chunks found in the cache"]);
    assert_eq!(answering(&desk), "tiny");

    // The one that embedded the notes is gone, the chosen one is there.
    desk.ok(&["model", "use", "tiny-2"]);
    desk.ok(&["model", "remove", "tiny"]);
    let run = desk.run(&["search", "noodles"]);
    assert_snapshot!(run, @"
    exit: 0
    --- stdout
    1. Ramen broth
       notes/cooking/ramen.md:3  835525
       Simmer pork and garlic, then add noodles.
    --- stderr
    notes were searched by words only: the model tiny that embedded the notes is not installed; run `kodiak index`
    ");
    desk.ok(&["index"]);
    assert_eq!(answering(&desk), "tiny-2");

    // No model: words only, and nothing to say of it.
    desk.ok(&["model", "use", "none"]);
    assert_eq!(desk.ok(&["search", "noodles"]).stderr, "");
    assert_eq!(said_of_vectors(&desk.ok(&["index", "-v"])), [] as [&str; 0]);
    let answer = desk.json(&["search", "noodles", "--json"]);
    assert_eq!(answer["retrievers"], serde_json::json!({"lexical": "fts5"}));
}

/// Damages a file so that it still looks like what it was at first sight.
fn garble_inside(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    assert!(bytes.len() > 8_192, "{}", bytes.len());
    bytes[4_096..].fill(0xA5);
    fs::write(path, bytes).unwrap();
}

/// Everything works: verbs succeed, and say warnings at most, on the standard
/// error only.
fn assert_unimpressed(desk: &Desk, what: &str) {
    desk.write("notes/kanban.md", "# Kanban\n\nA board for everything.\n");
    let verbs: [&[&str]; 8] = [
        &["status"],
        &["status", "--json"],
        &["search", "task management", "--json"],
        &["index"],
        &["search", "task management", "--mode", "semantic", "--json"],
        &["similar", "notes/gtd.md", "--json"],
        &["index", "--rebuild"],
        &["search", "task management", "--in", "notes", "--json"],
    ];
    for verb in verbs {
        let run = desk.run(verb);
        assert_eq!(run.code, Some(0), "{what}, {verb:?}: {run}");
        assert!(!run.stderr.contains("error"), "{what}, {verb:?}: {run}");
        assert!(!run.stdout.contains("warning"), "{what}, {verb:?}: {run}");
        if verb.contains(&"--json") {
            let answer = serde_json::from_str::<serde_json::Value>(&run.stdout);
            assert!(answer.is_ok(), "{what}, {verb:?}: {run}");
        }
    }
    let found = desk.found(&["task management", "--mode", "semantic"]);
    assert_eq!(found.len(), 3, "{what}: {found:?}");
    let status = desk.json(&["status", "--json"]);
    assert_eq!(status["embeddings"]["embedded"], 8, "{what}");
    desk.ok(&["doctor"]);
}

#[test]
fn a_damaged_cache_costs_time_only() {
    let desk = embedded();
    fs::write(cache(&desk), [7; 9_000]).unwrap();
    assert_unimpressed(&desk, "no database");
    let desk = embedded();
    fs::write(cache(&desk), "").unwrap();
    assert_unimpressed(&desk, "empty");
    let desk = embedded();
    fs::remove_file(cache(&desk)).unwrap();
    assert_unimpressed(&desk, "gone");
    let desk = embedded();
    garble_inside(&cache(&desk));
    assert_unimpressed(&desk, "garbled");
    // It was put aside and started over, so that the next rebuild has it easy.
    let run = desk.ok(&["index", "--rebuild", "-v"]);
    assert_eq!(said_of_vectors(&run), [] as [&str; 0], "{run}");
    assert!(desk.path("data/kodiak/embeddings.db.damaged").exists());
    let desk = embedded();
    fs::remove_file(cache(&desk)).unwrap();
    fs::create_dir(cache(&desk)).unwrap();
    assert_unimpressed(&desk, "a folder");
}

#[test]
fn a_cache_that_is_somebody_elses_is_left_alone() {
    let desk = embedded();
    // A database, but no cache.
    fs::copy(desk.index(), cache(&desk)).unwrap();
    let theirs = fs::read(cache(&desk)).unwrap();
    assert_unimpressed(&desk, "another's");
    assert_eq!(fs::read(cache(&desk)).unwrap(), theirs);
}

#[test]
fn a_damaged_vector_file_is_made_again() {
    let desk = embedded();
    let whole = fs::read(vector_file(&desk)).unwrap();
    let mut changed = whole.clone();
    changed[40] ^= 0xFF;
    let mut longer = whole.clone();
    longer.push(0);
    for (what, content) in [
        ("random", &[7; 900][..]),
        ("empty", b""),
        ("cut short", &whole[..whole.len() / 2]),
        ("longer", &longer),
        ("changed", &changed),
    ] {
        let desk = embedded();
        fs::write(vector_file(&desk), content).unwrap();
        assert_unimpressed(&desk, what);
    }
    fs::remove_file(vector_file(&desk)).unwrap();
    assert_eq!(
        desk.ok(&["search", "task management"]).stderr,
        "searched by words and meaning (tiny)\n"
    );
    assert!(vector_file(&desk).exists());
    fs::remove_file(vector_file(&desk)).unwrap();
    fs::create_dir(vector_file(&desk)).unwrap();
    assert_unimpressed(&desk, "a folder");
}

#[test]
fn a_wrong_bit_among_the_vectors_is_found_by_the_doctor() {
    let desk = embedded();
    let whole = fs::read(vector_file(&desk)).unwrap();
    // Behind the header: the first bytes of the first vector. Nothing else would
    // notice that it has moved.
    let mut changed = whole.clone();
    changed[130] ^= 0x80;
    fs::write(vector_file(&desk), &changed).unwrap();
    let run = desk.run(&["doctor"]);
    assert_eq!(run.code, Some(1), "{run}");
    assert!(
        run.stdout
            .contains("documents with wrong vectors in the vector file: 1"),
        "{run}"
    );
    // Looking changes nothing.
    assert_eq!(fs::read(vector_file(&desk)).unwrap(), changed);
    desk.ok(&["doctor", "--fix"]);
    assert_eq!(fs::read(vector_file(&desk)).unwrap(), whole);
    desk.ok(&["doctor"]);
}
