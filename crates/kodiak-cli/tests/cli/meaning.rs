//! Searching by meaning: what is found although no word matches, how the answer
//! says so, and what can be set.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::desk::Desk;

/// Seven notes on three topics. None has a word of "task management" in it.
const NOTES: [(&str, &str); 7] = [
    (
        "gtd.md",
        "# GTD methodology\n\nCapture everything, then clarify the next action.\n",
    ),
    (
        "pomodoro.md",
        "# Pomodoro\n\nA timer and focus, with pauses in between.\n",
    ),
    (
        "cooking/ramen.md",
        "# Ramen broth\n\nSimmer pork and garlic, then add noodles.\n",
    ),
    (
        "cooking/bread.md",
        "# Sourdough\n\nFlour, water and a starter make bread.\n",
    ),
    (
        "cooking/dumplings.md",
        "# Dumplings\n\nRoll out thin rounds, fold and steam.\n",
    ),
    (
        "lisbon.md",
        "# Lisbon\n\nA flight, a hotel near the beach, a ferry.\n",
    ),
    // By word about a soup, by meaning about a journey.
    (
        "cat.md",
        "# Our cat Miso\n\nPassport, visa and luggage for the trip by train.\n",
    ),
];

/// Writes the notes into the folder `notes`.
pub(crate) fn write_notes(desk: &Desk) {
    for (path, text) in NOTES {
        desk.write(&format!("notes/{path}"), text);
    }
}

/// The notes, indexed and embedded.
pub(crate) fn embedded() -> Desk {
    let desk = Desk::with_model();
    write_notes(&desk);
    desk.ok(&["add", "notes"]);
    desk
}

/// The notes, with words indexed only.
pub(crate) fn without_vectors() -> Desk {
    let desk = Desk::with_model();
    write_notes(&desk);
    desk.ok(&["add", "notes", "--no-semantic"]);
    desk
}

#[test]
fn what_is_demanded_holds_for_hits_by_meaning() {
    let desk = Desk::with_model();
    desk.copy_examples();
    desk.ok(&["add", "notes"]);
    let texts = |query: &str| {
        let found = desk.found(&[query, "-n", "50"]).into_iter();
        let text = |path: String| std::fs::read_to_string(desk.path("notes").join(path)).unwrap();
        found
            .map(|path| text(path).to_lowercase())
            .collect::<Vec<_>>()
    };
    let has = |text: &str, test: &dyn Fn(&str) -> bool| {
        text.split(|letter: char| !letter.is_alphanumeric())
            .any(test)
    };
    for query in ["sqlite -wal", "how to use sqlite -wal"] {
        for text in texts(query) {
            assert!(!has(&text, &|word| word == "wal"), "{query}: {text}");
        }
    }
    for query in ["sqli*", "notes on a database sqli*"] {
        let texts = texts(query);
        assert!(!texts.is_empty(), "{query}");
        for text in texts {
            assert!(
                has(&text, &|word| word.starts_with("sqli")),
                "{query}: {text}"
            );
        }
    }
}

/// What an answer says about itself.
pub(crate) fn notices(answer: &Value) -> String {
    let notices = answer["notices"].as_array().unwrap();
    let notices: Vec<&str> = notices.iter().filter_map(Value::as_str).collect();
    notices.join("\n")
}

/// Those of them that are about getting things done, best first.
pub(crate) const PRODUCTIVITY: [&str; 2] = ["gtd.md", "pomodoro.md"];

#[test]
fn notes_added_without_a_model_stay_without_one() {
    let desk = Desk::with_model();
    desk.write("notes/a.md", "# Wombat\n\nThe wombat digs.\n");
    let plain = |arguments: &[&str]| {
        let mut command = desk.command(arguments);
        desk.finish(command.env_remove("KODIAK_MODEL"))
    };
    plain(&["model", "use", "tiny"]);
    let run = plain(&["add", "notes", "--no-semantic"]);
    assert!(
        run.stderr.contains("`kodiak model use tiny` turns it on"),
        "{run}"
    );
    let run = plain(&["index"]);
    assert!(!run.stderr.contains("embedding"), "{run}");
}

#[test]
fn status_does_not_advise_what_is_being_done() {
    let desk = Desk::with_model();
    desk.write("notes/a.md", "# Wombat\n\nThe wombat digs.\n");
    desk.ok(&["add", "notes"]);
    desk.write("notes/b.md", "# Another\n\nA second wombat.\n");
    desk.ok(&["index", "--no-semantic"]);
    let behind = desk.ok(&["status"]);
    assert!(behind.stderr.contains("run `kodiak index`"), "{behind}");
    let index = desk.index();
    let embedding = index.with_file_name("index.db.embedding");
    let lock = kodiak::store::WriteLock::acquire(&embedding, "process 4711 (kodiak index)");
    let run = desk.ok(&["status"]);
    assert!(run.stderr.contains("(kodiak index) is embedding"), "{run}");
    assert!(!run.stderr.contains("run `kodiak index`"), "{run}");
    drop(lock);
}

#[test]
fn a_note_is_found_by_what_it_means() {
    let desk = Desk::with_model();
    write_notes(&desk);
    assert_snapshot!(desk.run(&["add", "notes"]), @"
    exit: 0
    --- stderr
    indexing notes: 7 files to read
    added [DESK]/notes as 'notes'
    notes: 7 notes (7 added)
    embedding 7 chunks with tiny
    ");
    assert_snapshot!(desk.run(&["search", "task", "management", "-v"]), @"
    exit: 0
    --- stdout
    1. GTD methodology
       notes/gtd.md:3  f85ddf
       Capture everything, then clarify the next action.

    2. Pomodoro
       notes/pomodoro.md:3  1c4394
       A timer and focus, with pauses in between.
    --- stderr
    searched by words and meaning (tiny)
    2 notes matched in [MS] ms (lexical: fts5, semantic: tiny)
    ");
    // Without its model the same search finds nothing, and says nothing of it.
    let mut command = desk.command(&["search", "task", "management", "--exact"]);
    assert_snapshot!(desk.finish(command.env("KODIAK_MODEL", "none")), @r#"
    exit: 1
    --- stderr
    nothing found for "task management"
    "#);
    assert_eq!(desk.found(&["miso", "--model", "none"]), ["cat.md"]);
}

#[test]
fn json_says_how_hits_were_found() {
    let desk = embedded();
    let run = desk.ok(&["search", "task management", "--json"]);
    assert_eq!(run.stderr, "");
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        answer["retrievers"],
        json!({"lexical": "fts5", "semantic": "tiny"})
    );
    assert_eq!(answer["embedded"], 1.0);
    assert_eq!(answer["notices"], json!([]));
    let hit = &answer["hits"][0];
    assert_eq!(hit["title"], "GTD methodology");
    assert_eq!(hit["found_by"], json!(["semantic"]));
    assert_eq!(hit["score"], 1.0);
    assert!(hit["similarity"].as_f64().unwrap() > 0.9, "{hit}");

    // Found by word as well: both are said.
    let answer = desk.json(&["search", "timer", "--json"]);
    let hit = &answer["hits"][0];
    assert_eq!(hit["path"], "pomodoro.md");
    assert_eq!(hit["found_by"], json!(["lexical", "semantic"]));
    assert_eq!(answer["hits"][1]["found_by"], json!(["semantic"]));
}

#[test]
fn the_mode_decides_what_runs() {
    let desk = embedded();
    let query = "task management";
    for (mode, retrievers, expected) in [
        (
            "auto",
            json!({"lexical": "fts5", "semantic": "tiny"}),
            &PRODUCTIVITY[..],
        ),
        (
            "hybrid",
            json!({"lexical": "fts5", "semantic": "tiny"}),
            &PRODUCTIVITY,
        ),
        ("semantic", json!({"semantic": "tiny"}), &PRODUCTIVITY),
        ("lexical", json!({"lexical": "fts5"}), &[]),
        ("like", json!({"lexical": "like"}), &[]),
    ] {
        let run = desk.run(&["search", query, "--json", "--mode", mode]);
        assert_eq!(run.code, Some(i32::from(expected.is_empty())), "{run}");
        let answer: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(answer["retrievers"], retrievers, "{mode}");
        assert_eq!(desk.found(&[query, "--mode", mode]), expected, "{mode}");
    }
    for mode in ["auto", "hybrid", "semantic"] {
        let answer = desk.json(&["search", query, "--json", "--no-semantic", "--mode", mode]);
        assert_eq!(answer["retrievers"], json!({"lexical": "fts5"}), "{mode}");
        assert_eq!(notices(&answer), "", "{mode}");
    }
    let run = desk.run(&["search", query, "--mode", "vague"]);
    assert_eq!(run.code, Some(2), "{run}");
}

#[test]
fn what_a_query_or_a_filter_shuts_out_is_not_found_by_meaning() {
    let desk = embedded();
    for mode in ["auto", "hybrid", "semantic"] {
        let found = |arguments: &[&str]| {
            let all = [&["--mode", mode, "--exact"], arguments].concat();
            desk.found(&all)
        };
        let nowhere = [] as [&str; 0];
        assert_eq!(found(&["task management -capture"]), ["pomodoro.md"]);
        assert_eq!(found(&["task management", "--path", "cooking"]), nowhere);
        assert_eq!(found(&["task management", "--tag", "work"]), nowhere);
        assert_eq!(found(&["dinner", "--path", "cooking"]).len(), 3, "{mode}");
        // What is demanded literally is not answered by what is like it.
        assert_eq!(found(&["\"task management\""]), nowhere, "{mode}");
    }
}

#[test]
fn the_ranking_can_be_explained() {
    let desk = embedded();
    assert_snapshot!(desk.run(&["search", "how do I cook noodles", "--explain", "-n", "2"]), @"
    exit: 0
    --- stdout
    1. Sourdough
       notes/cooking/bread.md:3  63467d
       Flour, water and a starter make bread.
       score 1.0000, coverage 0.0000, by words 0.00, semantic rank 1, similarity 0.9837, convex 0.4611, lexical weight 0.00, found by semantic
         nearest chunk: lines 1-3, Sourdough

    2. Ramen broth
       notes/cooking/ramen.md:3  835525
       Simmer pork and garlic, then add noodles.
       score 0.8792, coverage 0.3513, in one passage 0.4000, by words 0.00, lexical rank 1, lexical score 1.4663, semantic rank 2, similarity 0.9754, convex 0.3215 (+0.0878 from rescoring), lexical weight 0.00, found by lexical and semantic
         nearest chunk: lines 1-3, Ramen broth
         noodl: 0 in title, 1 in body, 0 in tags; in 1 note, weight 1.4663
    --- stderr
    searched by words and meaning (tiny)
    2 of about 3 notes
    ");
    assert_snapshot!(desk.run(&["search", "task management", "--explain", "-n", "1"]), @"
    exit: 0
    --- stdout
    1. GTD methodology
       notes/gtd.md:3  f85ddf
       Capture everything, then clarify the next action.
       score 1.0000, coverage 0.0000, by words 0.00, semantic rank 1, similarity 0.9889, convex 0.5000, lexical weight 0.00, found by semantic
         nearest chunk: lines 1-3, GTD methodology
    --- stderr
    searched by words and meaning (tiny)
    1 of about 2 notes
    ");
    let answer = desk.json(&[
        "search",
        "noodles",
        "--mode",
        "hybrid",
        "--explain",
        "--json",
    ]);
    let explained = &answer["hits"][0]["explanation"];
    assert_eq!(explained["lexical_rank"], 1);
    assert!(explained["semantic_rank"].is_u64(), "{explained}");
    assert_eq!(explained["chunk_lines"], json!([1, 3]));
    assert_eq!(explained["heading"], "Ramen broth");
    assert_eq!(explained["fusion"], "convex");
}

/// How the first hit of a search by word and meaning was fused.
fn fusion(desk: &Desk, arguments: &[&str]) -> Value {
    let search = [
        "search",
        "noodles",
        "--mode",
        "hybrid",
        "--explain",
        "--json",
    ];
    let answer = desk.json(&[&search, arguments].concat());
    answer["hits"][0]["explanation"]["fusion"].clone()
}

#[test]
fn the_fusion_can_be_chosen() {
    let desk = embedded();
    assert_eq!(fusion(&desk, &[]), "convex");
    assert_eq!(fusion(&desk, &["--fusion", "rrf"]), "rrf");
    desk.configure("fusion", "rrf");
    assert_eq!(fusion(&desk, &[]), "rrf");
    assert_eq!(fusion(&desk, &["--fusion", "convex"]), "convex");
    let run = desk.run(&["search", "noodles", "--fusion", "sum"]);
    assert_eq!(run.code, Some(2), "{run}");
}

#[test]
fn words_and_meanings_can_be_weighed() {
    for (fusion, weights, first) in [
        ("convex", (1.0, 0.0), "cat.md"),
        ("rrf", (1.0, 0.0), "cat.md"),
        ("convex", (0.0, 1.0), "cooking/ramen.md"),
        ("rrf", (0.0, 1.0), "cooking/ramen.md"),
    ] {
        let desk = embedded();
        desk.configure("fusion", fusion);
        desk.configure("lexical_weight", weights.0);
        desk.configure("semantic_weight", weights.1);
        let found = desk.found(&["miso", "--mode", "hybrid"]);
        let place = |path| found.iter().position(|found| found == path).unwrap();
        let (cat, soup) = (place("cat.md"), place("cooking/ramen.md"));
        assert_eq!(
            cat < soup,
            first == "cat.md",
            "{fusion} {weights:?}: {found:?}"
        );
    }
    let desk = embedded();
    desk.configure("lexical_weight", -1.0);
    let run = desk.run(&["search", "miso"]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("search.lexical_weight"), "{run}");
}

#[test]
fn what_is_hardly_alike_can_be_left_out_or_let_in() {
    let desk = embedded();
    let semantic = ["task management", "--mode", "semantic", "-n", "50"];
    assert_eq!(desk.found(&semantic), PRODUCTIVITY);
    desk.configure("minimum_similarity", 0.999);
    assert!(desk.found(&semantic).is_empty());
    desk.configure("minimum_similarity", -1.0);
    let all = desk.found(&semantic);
    assert_eq!(all.len(), NOTES.len(), "{all:?}");
    assert_eq!(all[..2], PRODUCTIVITY);
    // However little they have in common, a score is between 0 and 1.
    let search = [&["search", "--json"], &semantic[..]].concat();
    for hit in desk.json(&search)["hits"].as_array().unwrap() {
        let score = hit["score"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&score), "{hit}");
    }
}

#[test]
fn meanings_are_not_waited_for_beyond_the_deadline() {
    let desk = embedded();
    desk.configure("deadline_ms", 0);
    for mode in ["auto", "hybrid", "semantic"] {
        let run = desk.ok(&["search", "noodles", "--mode", mode, "--json"]);
        let answer: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(answer["retrievers"], json!({"lexical": "fts5"}), "{mode}");
        assert_eq!(answer["hits"][0]["path"], "cooking/ramen.md");
        assert!(
            notices(&answer).contains("the model took longer than"),
            "{run}"
        );
        assert_eq!(run.stderr, "");
    }
    let run = desk.ok(&["search", "noodles"]);
    assert!(
        run.stderr.contains("notes were searched by words only"),
        "{run}"
    );
    assert!(!run.stdout.contains("semantic"), "{run}");
}

#[test]
fn a_folder_that_is_new_is_embedded_before_it_is_searched() {
    let desk = Desk::with_model();
    write_notes(&desk);
    let run = desk.run(&["search", "task management", "--in", "notes", "--json"]);
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stderr.contains("embedding 7 chunks with tiny"), "{run}");
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(answer["hits"][0]["path"], "gtd.md");
    assert_eq!(answer["embedded"], 1.0);
    // What is new in it, too; what is there already is not embedded again.
    desk.write("notes/kanban.md", "# Kanban\n\nA board for everything.\n");
    let run = desk.ok(&["search", "task management", "--in", "notes"]);
    assert!(run.stderr.contains("embedding 1 chunk with tiny"), "{run}");
    assert!(run.stdout.contains("notes/kanban.md"), "{run}");
    // By word there is nothing to embed for.
    desk.write("other/music.md", "# Piano\n\nChords and scales.\n");
    for mode in [
        ["--mode", "lexical"],
        ["--mode", "like"],
        ["--no-semantic", "-v"],
    ] {
        let run = desk.run(&[&["search", "guitar", "--in", "other"], &mode[..]].concat());
        assert_eq!(run.code, Some(1), "{run}");
        assert!(!run.stderr.contains("embedding"), "{run}");
    }
    assert_eq!(desk.found(&["guitar", "--in", "other"]), ["music.md"]);
}
