//! Visits: `search --in` a folder that belongs to no source registers nothing, and other
//! commands know what it printed.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use kodiak::store::WriteLock;
use kodiak::store::prelude::*;

use tiny_terminal::Session;

use crate::desk::Desk;

fn visits(desk: &Desk) -> PathBuf {
    desk.path("home/.cache/kodiak/visits")
}

/// Returns all files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().unwrap().is_dir() {
            found.extend(files(&entry.path()));
        } else {
            found.push(entry.path());
        }
    }
    found
}

fn contain(folder: &Path, text: &str) -> bool {
    let has = |bytes: &[u8]| {
        bytes
            .windows(text.len())
            .any(|part| part == text.as_bytes())
    };
    files(folder)
        .iter()
        .any(|file| has(&fs::read(file).unwrap()))
}

#[test]
fn a_visit_registers_nothing_and_its_paths_are_known() {
    let desk = Desk::with_notes();
    desk.configure("refresh_ms", 60_000);
    let config = fs::read(desk.config()).unwrap();
    let run = desk.ok(&["search", "ramen broth", "--in", "notes", "-n", "1"]);
    assert!(
        run.stdout.contains("   notes/cooking/ramen-broth.md:2  "),
        "{run}"
    );
    assert_eq!(fs::read(desk.config()).unwrap(), config);
    assert!(!desk.index().exists());
    assert_eq!(desk.run(&["sources", "--names"]).stdout, "");

    let answer = desk.json(&[
        "search",
        "ramen broth",
        "--in",
        "notes",
        "-n",
        "1",
        "--json",
    ]);
    let hit = &answer["hits"][0];
    assert_eq!(hit["path"], "cooking/ramen-broth.md");
    let (file, id) = (hit["file"].as_str().unwrap(), hit["id"].as_str().unwrap());
    let uri = hit["uri"].as_str().unwrap();
    assert!(uri.starts_with("kodiak://%2F"), "{uri}");
    let text = fs::read_to_string(file).unwrap();
    for name in [file, id, "notes/cooking/ramen-broth.md", &format!("#{id}")] {
        assert_eq!(desk.ok(&["get", name]).stdout, text, "{name}");
    }
    let some = desk.ok(&["get", &format!("{file}:1-2")]).stdout;
    assert_eq!(some.lines().count(), 2);
    let mut open = desk.command(&["open", "notes/cooking/ramen-broth.md"]);
    let opened = desk.finish(open.env("EDITOR", "echo"));
    assert!(opened.stdout.contains(file), "{opened}");
    let links = desk.json(&["links", "notes/productivity/gtd.md", "--json"]);
    assert!(!links["backlinks"].as_array().unwrap().is_empty());
    desk.ok(&["similar", file, "-n", "1"]);
    // A file that is written later is found, and one that is deleted is not.
    let later = desk.write("notes/later.md", "# Later\n\nA quokka.\n");
    assert_eq!(desk.found(&["quokka", "--in", "notes"]), ["later.md"]);
    fs::remove_file(later).unwrap();
    assert_eq!(
        desk.run(&["search", "quokka", "--in", "notes"]).code,
        Some(1)
    );
}

#[test]
fn a_registered_folder_is_searched_as_the_source_that_it_is() {
    let desk = Desk::indexed();
    let answer = desk.json(&["search", "ramen", "--in", "notes/cooking", "--json"]);
    assert_eq!(answer["hits"][0]["source"], "notes");
    assert!(!visits(&desk).exists());
    // A file that belongs to no source is looked up in the visit.
    desk.write("other/a.md", "# Elsewhere\n\nA numbat.\n");
    let answer = desk.json(&["search", "numbat", "--in", "other", "--json"]);
    let id = answer["hits"][0]["id"].as_str().unwrap();
    assert!(desk.ok(&["get", id]).stdout.contains("numbat"));
    assert!(desk.ok(&["get", "other/a.md"]).stdout.contains("numbat"));
    assert_eq!(desk.run(&["search", "numbat"]).code, Some(1));
    // Once it is added, the source has it.
    desk.ok(&["add", "other"]);
    let note = desk.json(&["get", "other/a.md", "--json"]);
    assert_eq!(note["source"], "other");
}

#[test]
fn visits_are_private_bounded_and_removed_on_request() {
    let desk = Desk::new();
    let visit = |number: usize| {
        let folder = format!("folder{number}");
        desk.write(
            &format!("{folder}/a.md"),
            format!("# Note\n\nNumber {number}.\n"),
        );
        desk.ok(&["search", "number", "--in", &folder]);
    };
    for number in 0..22 {
        visit(number);
        if number == 20 {
            // The oldest is used again.
            desk.ok(&["search", "number", "--in", "folder1"]);
        }
    }
    assert_eq!(fs::read_dir(visits(&desk)).unwrap().count(), 20);
    let known = |number: usize| desk.run(&["get", &format!("folder{number}/a.md")]).code == Some(0);
    assert!(!known(0) && known(1) && !known(2) && known(3) && known(21));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&visits(&desk)), 0o700);
        for file in files(&visits(&desk)) {
            assert_eq!(mode(&file), 0o600, "{}", file.display());
            assert_eq!(mode(file.parent().unwrap()), 0o700);
        }
    }
    let status = desk.json(&["status", "--json"]);
    assert_eq!(status["visits"]["folders"], 20);
    assert!(status["visits"]["bytes"].as_u64().unwrap() > 0);
    for verb in ["status", "doctor"] {
        let said = desk.run(&[verb]).stdout;
        assert!(said.contains("visits: 20 folders"), "{said}");
        assert!(said.contains("`kodiak remove --visits`"), "{said}");
    }
    desk.ok(&["remove", "--visits"]);
    assert!(!visits(&desk).exists());
    assert_eq!(desk.json(&["status", "--json"]).get("visits"), None);
    assert!(desk.path("folder3/a.md").exists());
}

#[test]
fn a_purge_leaves_no_byte_in_a_visit() {
    let desk = Desk::new();
    let text = "The safe opens with the numbat figurine.";
    desk.ok(&["remember", text, "--id", "safe"]);
    fs::create_dir_all(desk.path("copies")).unwrap();
    let memory = desk.path("data/kodiak/memory/safe.md");
    fs::copy(&memory, desk.path("copies/safe.md")).unwrap();
    assert_eq!(desk.found(&["numbat", "--in", "copies"]), ["safe.md"]);
    assert!(contain(&visits(&desk), "numbat figurine"));
    fs::remove_file(desk.path("copies/safe.md")).unwrap();
    desk.ok(&["forget", "--purge", "safe"]);
    assert!(!contain(&desk.path("home"), "numbat"));
    assert!(!contain(&desk.path("data"), "numbat figurine"));
}

#[test]
fn a_visit_is_embedded() {
    let desk = Desk::with_model();
    desk.write("notes/gtd.md", "# GTD\n\nTask management with lists.\n");
    desk.write("notes/bread.md", "# Bread\n\nFlour and water.\n");
    let answer = desk.json(&["search", "task management", "--in", "notes", "--json"]);
    assert_eq!(answer["retrievers"]["semantic"], "tiny");
    assert_eq!(answer["embedded"], 1.0);
    assert!(!desk.path("data/kodiak/embeddings.db").exists());
}

#[test]
fn notes_of_visits_and_of_sources_are_read_together() {
    let desk = Desk::new();
    desk.write("notes/tea.md", "# Tea\n\nThe kettle whistles.\n");
    desk.write("other/a.md", "# A\n\nA numbat.\n");
    desk.write("third/b.md", "# B\n\nA quokka.\nIt smiles.\n");
    desk.ok(&["add", "notes"]);
    for (folder, word) in [("other", "numbat"), ("third", "quokka")] {
        desk.ok(&["search", word, "--in", folder]);
    }
    // In the order of their names, whichever index knows them.
    let names = [
        "third/b.md:3-4",
        "notes/tea.md",
        "other/a.md",
        "notes/tea.md",
    ];
    let read = desk.json(&[&["get"][..], &names, &["--json"]].concat());
    let texts: Vec<&str> = read["observations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["text"].as_str().unwrap())
        .collect();
    assert_eq!(
        texts,
        [
            "A quokka.\nIt smiles.\n",
            "# Tea\n\nThe kettle whistles.\n",
            "# A\n\nA numbat.\n"
        ]
    );
    let run = desk.run(&["get", "notes/tea.md", "nope", "other/a.md"]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(
        run.stdout.contains("kettle") && run.stdout.contains("numbat"),
        "{run}"
    );
}

#[test]
fn the_home_folder_is_searched_only_if_that_is_confirmed() {
    let desk = Desk::new();
    desk.write("home/notes/tea.md", "# Tea\n\nThe kettle whistles.\n");
    for folder in ["home", "."] {
        let run = desk.run(&["search", "kettle", "--in", folder]);
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains("your home folder"), "{run}");
        assert!(run.stderr.contains("was not confirmed"), "{run}");
    }
    assert!(!visits(&desk).exists());
    let ask = |answer: &str, said: &str| {
        let mut command = desk.command(&["search", "kettle", "--in", "home"]);
        command.env("TERM", "xterm-256color");
        let mut session = Session::start(&command, 100, 30, None);
        session.wait_for_text("Index all of it for this search? [y/N]");
        session.type_in(answer);
        let code = session.end();
        (code, session.wait_for_text(said).to_string())
    };
    let (code, shown) = ask("\r", "was not searched");
    assert_eq!(code, 2, "{shown}");
    assert!(!visits(&desk).exists());
    let (code, shown) = ask("y\r", "The kettle whistles");
    assert_eq!(code, 0, "{shown}");
    // It is asked for once.
    assert_eq!(desk.found(&["kettle", "--in", "home"]), ["notes/tea.md"]);
    assert_eq!(desk.found(&["kettle", "--in", "home/notes"]), ["tea.md"]);
}

/// A desk with a memory, and a visited folder with a copy of it.
fn visited(text: &str) -> Desk {
    let desk = Desk::new();
    desk.ok(&["remember", text, "--id", "safe"]);
    fs::create_dir_all(desk.path("copies")).unwrap();
    let memory = desk.path("data/kodiak/memory/safe.md");
    fs::copy(&memory, desk.path("copies/safe.md")).unwrap();
    assert_eq!(desk.found(&["numbat", "--in", "copies"]), ["safe.md"]);
    desk
}

#[test]
fn a_purge_that_is_finished_later_leaves_no_byte_in_a_visit() {
    let desk = visited("The safe opens with the numbat figurine.");
    // A reader holds up the end of it.
    let reader = kodiak::store::SqliteStore::open(&desk.index()).unwrap();
    let purged = reader.in_snapshot(|| {
        reader.corpus()?;
        Ok(desk.run(&["forget", "--purge", "safe"]))
    });
    let purged = purged.unwrap();
    assert_eq!(purged.code, Some(2), "{purged}");
    assert!(!contain(&visits(&desk), "numbat figurine"));
    drop(reader);
    desk.ok(&["index"]);
    assert!(!contain(&desk.path("home"), "numbat"));
    assert!(!contain(&desk.path("data"), "numbat figurine"));
}

#[test]
fn a_visit_that_is_made_while_a_purge_waits_is_removed_as_well() {
    let desk = visited("The safe opens with the numbat figurine.");
    let lock = WriteLock::acquire(&desk.index(), "process 4711 (kodiak index)").unwrap();
    let mut purge = desk.command(&["forget", "--purge", "safe"]);
    purge.stderr(Stdio::piped());
    let mut purge = purge.spawn().unwrap();
    let mut said = BufReader::new(purge.stderr.take().unwrap()).lines();
    let waits = said.find(|line| line.as_ref().unwrap().contains("waiting for process 4711"));
    assert!(waits.is_some());
    assert_eq!(desk.found(&["numbat", "--in", "copies"]), ["safe.md"]);
    assert!(contain(&visits(&desk), "numbat figurine"));
    fs::remove_file(desk.path("copies/safe.md")).unwrap();
    drop(lock);
    let said: Vec<String> = said.map(Result::unwrap).collect();
    assert!(purge.wait().unwrap().success(), "{said:?}");
    assert!(!contain(&visits(&desk), "numbat"));
}

#[test]
fn a_search_that_runs_beside_a_purge_brings_nothing_back() {
    let desk = visited("The safe opens with the numbat figurine.");
    let visit = fs::read_dir(visits(&desk)).unwrap().next().unwrap();
    let index = visit.unwrap().path().join("index.db");
    let lock = WriteLock::acquire(&index, "process 4711 (kodiak search)").unwrap();
    let mut search = desk.command(&["search", "numbat", "--in", "copies"]);
    search.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut search = search.spawn().unwrap();
    let mut said = BufReader::new(search.stderr.take().unwrap()).lines();
    let waits = said.find(|line| line.as_ref().unwrap().contains("waiting for process 4711"));
    assert!(waits.is_some());
    let mut purge = desk.command(&["forget", "--purge", "safe"]);
    let mut purge = purge.stderr(Stdio::null()).spawn().unwrap();
    drop(said);
    drop(lock);
    search.wait().unwrap();
    let purged = purge.wait().unwrap();
    if !purged.success() {
        // It could not wait for the search so long, and said so.
        desk.ok(&["index"]);
    }
    assert!(!contain(&visits(&desk), "numbat"));
    assert!(!contain(&desk.path("data"), "numbat figurine"));
}

#[test]
fn the_trash_and_retention_leave_visits_alone() {
    let desk = visited("The safe opens with the numbat figurine.");
    desk.ok(&["forget", "safe"]);
    assert!(contain(&visits(&desk), "numbat figurine"));
}
