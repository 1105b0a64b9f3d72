//! Words that are found while they are being typed: on the command line, in both
//! protocols, and within the scope of a token.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::desk::Desk;
use crate::http::{Served, token};

/// A desk with words that begin alike or are spelt alike, and a private source.
fn desk() -> Desk {
    let desk = Desk::new();
    for (name, text) in [
        ("karabiner", "# Keys\n\nKarabiner remaps the keyboard.\n"),
        ("karan", "# Mail\n\nKaran wrote back.\n"),
        ("sourdough", "# Bread\n\nFeed the sourdough twice.\n"),
        ("sound", "# Room\n\nThe sound of the room.\n"),
        ("hydroponics", "# Lettuce\n\nHydroponics in the cellar.\n"),
        ("hydro", "# Power\n\nThe hydro plant was closed.\n"),
        ("negotiation", "# Rent\n\nA negotiation about rent.\n"),
        ("nestia", "# Server\n\nNestia is a framework.\n"),
        ("salvage", "# Wood\n\nSalvage the old planks.\n"),
        ("salva", "# Call\n\nSalva called.\n"),
    ] {
        desk.write(&format!("notes/{name}.md"), text);
    }
    desk.write(
        "private/zebrafish.md",
        "---\nproject: zebrafish\n---\n# Tank\n\nThe zebrafish is xylophagous.\n",
    );
    desk.ok(&["add", "notes"]);
    desk.ok(&["add", "private"]);
    desk
}

#[test]
fn a_beginning_is_found_from_the_command_line() {
    let desk = desk();
    assert_snapshot!(desk.run(&["search", "karab"]), @r"
    exit: 0
    --- stdout
    1. Keys
       notes/karabiner.md:3  66a1ea
       Karabiner remaps the keyboard.
    ");
    for (query, path, completed) in [
        ("karab", "karabiner.md", "karabiner"),
        ("sourd", "sourdough.md", "sourdough"),
        ("hydrop", "hydroponics.md", "hydroponics"),
        ("negotia", "negotiation.md", "negotiation"),
        ("salvag", "salvage.md", "salvage"),
        ("keyboard karab", "karabiner.md", "keyboard karabiner"),
    ] {
        for mode in ["auto", "lexical", "hybrid", "semantic"] {
            let answer = desk.json(&["search", "--json", "--mode", mode, query]);
            assert_eq!(answer["hits"][0]["path"], path, "{query}");
            assert_eq!(answer["completed"], completed, "{query}");
            assert_eq!(answer["corrected"], Value::Null, "{query}");
        }
    }
    let found = desk.found(&["salv"]);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(desk.found(&["hydro"]), ["hydro.md"]);
    let typing = |query| desk.found(&["--as-you-type", query]);
    assert_eq!(typing("hydro"), ["hydro.md", "hydroponics.md"]);
    assert_eq!(typing("hydro "), ["hydro.md"]);
    let mut short = typing("s");
    short.sort();
    assert_eq!(
        short,
        [
            "nestia.md",
            "salva.md",
            "salvage.md",
            "sound.md",
            "sourdough.md"
        ]
    );
}

#[test]
fn a_beginning_is_found_over_http_within_the_scope_of_a_token() {
    let desk = desk();
    let everything = token(&desk, &["everything"]);
    let narrow = token(&desk, &["narrow", "--source", "notes"]);
    let project = token(&desk, &["project", "--project", "zebrafish"]);
    let served = Served::start(&desk, &[]);
    let search = |token: &str, asked: &Value| served.post("/api/search", token, asked).json();
    let titles = |answer: &Value| -> Vec<String> {
        let hits = answer["hits"].as_array().unwrap().iter();
        hits.map(|hit| hit["title"].as_str().unwrap().to_owned())
            .collect()
    };
    let answer = search(&everything, &json!({"query": "karab"}));
    assert_eq!(titles(&answer), ["Keys"]);
    assert_eq!(answer["completed"], "karabiner");
    let typing =
        |token: &str, query: &str| search(token, &json!({"query": query, "as_you_type": true}));
    assert_eq!(titles(&typing(&everything, "hydro")), ["Power", "Lettuce"]);
    assert_eq!(titles(&typing(&everything, "hydro ")), ["Power"]);
    let arguments = json!({"query": "hydro", "as_you_type": true});
    let called = served.call(&everything, "search", &arguments);
    assert_eq!(titles(&called["structuredContent"]), ["Power", "Lettuce"]);

    // Outside its scope a token completes nothing.
    for query in ["zebraf", "xyloph", "ze", "x"] {
        for as_you_type in [false, true] {
            let asked = json!({"query": query, "as_you_type": as_you_type});
            let answer = search(&narrow, &asked);
            assert_eq!(titles(&answer), [""; 0], "{query}");
            assert_eq!(answer["completed"], Value::Null, "{query}");
            let called = served.call(&narrow, "search", &asked).to_string();
            assert!(!called.contains("zebrafish") && !called.contains("xylophagous"));
        }
        assert_eq!(titles(&typing(&everything, query)), ["Tank"], "{query}");
        assert_eq!(titles(&typing(&project, query)), ["Tank"], "{query}");
    }
    assert_eq!(
        titles(&search(&narrow, &json!({"query": "karab"}))),
        ["Keys"]
    );
    assert_eq!(
        titles(&search(&project, &json!({"query": "karab"}))),
        [""; 0]
    );
}
