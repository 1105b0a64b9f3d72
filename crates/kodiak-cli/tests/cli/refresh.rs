//! `kodiak search` finds what was written, edited or deleted a moment before,
//! and says so when it cannot.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use kodiak::store::WriteLock;

use crate::desk::Desk;

/// An indexed desk whose searches take all the time they need.
fn desk() -> Desk {
    let desk = Desk::indexed();
    desk.configure("refresh_ms", 60_000);
    desk
}

fn answer(desk: &Desk, query: &str) -> serde_json::Value {
    desk.json(&["search", "--json", query])
}

#[track_caller]
fn assert_found(desk: &Desk, query: &str, expected: &[&str]) {
    let answer = answer(desk, query);
    let hits = answer["hits"].as_array().unwrap();
    let paths: Vec<&str> = hits
        .iter()
        .map(|hit| hit["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, expected, "{answer}");
    assert_eq!(answer["complete"], true, "{answer}");
    assert_eq!(answer["incomplete"], serde_json::json!([]), "{answer}");
}

#[test]
fn a_note_is_found_edited_renamed_and_gone_at_once() {
    let desk = desk();
    let path = desk.path("notes/cooking/new.md");
    fs::write(&path, "# New\n\nquokka\n").unwrap();
    assert_found(&desk, "quokka", &["cooking/new.md"]);
    fs::write(&path, "# New\n\nnumbat\n").unwrap();
    assert_found(&desk, "numbat", &["cooking/new.md"]);
    assert_found(&desk, "quokka", &[]);
    fs::create_dir(desk.path("notes/animals")).unwrap();
    fs::rename(&path, desk.path("notes/animals/numbat.md")).unwrap();
    assert_found(&desk, "numbat", &["animals/numbat.md"]);
    fs::remove_dir_all(desk.path("notes/animals")).unwrap();
    assert_found(&desk, "numbat", &[]);
}

#[test]
fn ignored_and_hidden_files_stay_out() {
    let desk = desk();
    desk.write("notes/.gitignore", "private/\n");
    desk.write("notes/private/new.md", "quokka");
    desk.write("notes/.new.md", "quokka");
    assert_found(&desk, "quokka", &[]);
}

#[test]
fn a_search_answers_while_another_process_writes() {
    let desk = desk();
    let lock = WriteLock::acquire(&desk.index(), "process 4711 (kodiak index)").unwrap();
    desk.write("notes/new.md", "quokka");
    let answer = answer(&desk, "quokka OR ramen");
    assert_eq!(answer["complete"], false, "{answer}");
    let codes = serde_json::json!(["changes-not-indexed"]);
    assert_eq!(answer["incomplete"], codes, "{answer}");
    assert!(!answer["hits"].as_array().unwrap().is_empty());
    let run = desk.ok(&["search", "ramen"]);
    let told = "1 note changed and is not indexed yet, because another process is writing";
    assert!(run.stderr.contains(told), "{run}");
    drop(lock);
    assert_found(&desk, "quokka", &["new.md"]);
}

#[test]
fn a_search_can_be_told_not_to_look() {
    let desk = desk();
    desk.write("notes/new.md", "quokka");
    let off = serde_json::json!(["changes-not-looked-for"]);
    let answer = desk.json(&["search", "--json", "--no-refresh", "quokka"]);
    assert_eq!(answer["hits"], serde_json::json!([]));
    assert_eq!(answer["incomplete"], off);
    desk.configure("refresh_ms", 0);
    let answer = desk.json(&["search", "--json", "quokka"]);
    assert_eq!(answer["hits"], serde_json::json!([]));
    assert_eq!(answer["incomplete"], off);
}

#[cfg(unix)]
#[test]
fn an_index_that_cannot_be_written_still_answers() {
    let desk = desk();
    desk.ok(&["search", "ramen"]);
    // The user who runs the tests may write anywhere, but no user can
    // create a file where a folder is.
    let lock = desk.path("data/kodiak/index.db.lock");
    let _ = fs::remove_file(&lock);
    fs::create_dir(&lock).unwrap();
    desk.write("notes/new.md", "quokka");
    let answer = answer(&desk, "ramen OR quokka");
    assert!(!answer["hits"].as_array().unwrap().is_empty(), "{answer}");
    let codes = serde_json::json!(["changes-not-indexed"]);
    assert_eq!(answer["incomplete"], codes, "{answer}");
}

#[test]
fn the_log_is_empty_after_a_refresh() {
    // Otherwise an index on a disk that becomes read-only would lose it.
    let desk = desk();
    desk.write("notes/new.md", "quokka");
    assert_found(&desk, "quokka", &["new.md"]);
    let log = desk.path("data/kodiak/index.db-wal");
    assert!(fs::metadata(log).map_or(0, |metadata| metadata.len()) == 0);
}

#[test]
fn a_refresh_leaves_the_notes_alone() {
    let desk = desk();
    let path = desk.write("notes/new.md", "quokka");
    let folder = desk.path("notes");
    let state = || {
        let file = fs::metadata(&path).unwrap();
        let times = (file.modified().unwrap(), file.len());
        let names: Vec<_> = fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        (
            times,
            fs::metadata(&folder).unwrap().modified().unwrap(),
            names,
        )
    };
    let before = state();
    std::thread::sleep(Duration::from_millis(20));
    assert_found(&desk, "quokka", &["new.md"]);
    assert_eq!(state(), before);
}

/// The number of notes that are too many to check all of them in each search.
const MANY: u64 = 5_000;
/// The number of searches that check all of them and another one: a thousand in turn each
/// time, beside the thousand that are the newest at that moment.
const SEARCHES: u64 = (MANY + 1).div_ceil(1_000);

fn numbered(number: u64) -> String {
    format!("notes/{}/{number}.md", number / 50)
}

/// A desk with many old notes, of which the first is the oldest, and one that was written
/// just before they were indexed.
fn crowded() -> Desk {
    let desk = Desk::new();
    desk.configure("refresh_ms", 60_000);
    let text = "# Bread\n\nRye bread with walnuts.\n";
    for number in 0..MANY {
        let path = desk.path(&numbered(number));
        if number % 50 == 0 {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
        }
        fs::write(&path, text).unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        let modified = SystemTime::UNIX_EPOCH + Duration::from_hours(400_000 + number);
        file.set_modified(modified).unwrap();
    }
    desk.write("notes/recent.md", "# Olive\n\nolive\n");
    std::thread::sleep(Duration::from_millis(60));
    desk.ok(&["add", "notes", "--yes"]);
    desk
}

/// Returns the number of notes with a word, and whether the answer is complete.
#[track_caller]
fn counted(desk: &Desk, query: &str) -> (u64, bool) {
    let answer = answer(desk, query);
    let complete = answer["complete"].as_bool().unwrap();
    let codes = if complete {
        serde_json::json!([])
    } else {
        serde_json::json!(["changes-looked-for-in-turn"])
    };
    assert_eq!(answer["incomplete"], codes, "{answer}");
    (answer["total"].as_u64().unwrap(), complete)
}

#[test]
fn among_many_notes_changes_are_found_at_once() {
    let desk = crowded();
    // Words that many notes have, so that no answer leaves a doubt.
    assert_eq!(counted(&desk, "walnuts"), (MANY, false));
    desk.write("notes/7/new.md", "# New\n\nwalnuts\n");
    assert_eq!(counted(&desk, "walnuts"), (MANY + 1, false));
    fs::remove_file(desk.path(&numbered(0))).unwrap();
    assert_eq!(counted(&desk, "walnuts"), (MANY, false));
    fs::rename(desk.path("notes/7/new.md"), desk.path("notes/99/old.md")).unwrap();
    let found = desk.found(&["walnuts", "--path", "99/old.md"]);
    assert_eq!(found, ["99/old.md"]);
    // As an editor does that writes another file first, of the oldest.
    desk.write("notes/0/1.tmp", "# Cake\n");
    fs::rename(desk.path("notes/0/1.tmp"), desk.path(&numbered(1))).unwrap();
    assert_eq!(counted(&desk, "walnuts"), (MANY - 1, false));
    // In place, but one of the newest.
    desk.write("notes/recent.md", "# Olive\n\nolive, and walnuts\n");
    assert_eq!(counted(&desk, "walnuts"), (MANY, false));
    // In place and old, with a word that no note had. It may be its turn by chance, and then
    // the others are not checked.
    desk.write(&numbered(2), "# Quokka\n\nwalnuts\n");
    assert_eq!(counted(&desk, "quokka").0, 1);
    // Where nothing is found, nothing was left out.
    assert_eq!(counted(&desk, "numbat"), (0, true));
    let run = desk.ok(&["search", "walnuts"]);
    assert!(!run.stderr.contains("a few at a time"), "{run}");
}

#[test]
fn among_many_notes_each_is_checked_within_a_few_searches() {
    let desk = crowded();
    let edited = [2, 1_003, 2_004, 2_995, 3_999];
    for number in edited {
        desk.write(&numbered(number), "# Cake\n\nolive cake\n");
    }
    for _ in 0..SEARCHES {
        assert_eq!(counted(&desk, "title:olive"), (1, false));
    }
    let answer = desk.json(&["search", "--json", "--no-refresh", "cake"]);
    assert_eq!(answer["total"], edited.len(), "{answer}");
    // A sync finds everything at once.
    desk.write(&numbered(5), "# Cake\n\nolive cake\n");
    desk.ok(&["index"]);
    let answer = desk.json(&["search", "--json", "--no-refresh", "cake"]);
    assert_eq!(answer["total"], edited.len() + 1, "{answer}");
}
