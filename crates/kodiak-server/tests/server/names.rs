//! A document is meant by the same names in every tool that takes one.

use serde_json::json;

use crate::desk::{Desk, call, reader};

#[test]
fn a_name_means_the_same_document_in_every_tool() {
    let desk = Desk::new();
    desk.write(
        "notes/sub/deep.md",
        "---\naliases: [the abyss]\n---\n# Deep thoughts\n\nfour bears\n",
    );
    desk.write("notes/other.md", "# Other\n\nsix bears\n");
    let server = desk.server(reader());
    let found = call(&server, "search", json!({"query": "four"}))
        .structured
        .unwrap();
    let id = found["hits"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(found["hits"][0]["path"], "sub/deep.md");
    for name in [
        &id,
        &format!("#{id}"),
        &id[..4],
        "kodiak://notes/sub/deep.md",
        "notes/sub/deep.md",
        "sub/deep.md",
        "deep.md",
        "deep",
        "Deep thoughts",
        "deep THOUGHTS",
        "the abyss",
    ] {
        for (tool, arguments) in [
            ("get", json!({"ids": [name]})),
            ("get", json!({"ids": ["notes/other.md", name]})),
            ("get_observations", json!({"ids": [name]})),
            ("note_get", json!({"ids": [name]})),
            ("timeline", json!({"sources": ["notes"], "around": name})),
        ] {
            let answer = call(&server, tool, arguments);
            assert!(!answer.failed, "{tool} {name}: {}", answer.text);
            let expected = match tool {
                "timeline" => "(this one) \"Deep thoughts\"",
                _ => "four bears",
            };
            assert!(
                answer.text.contains(expected),
                "{tool} {name}: {}",
                answer.text
            );
        }
    }
}
