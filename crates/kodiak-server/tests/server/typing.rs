//! Searches for words that are still being typed.

use serde_json::{Value, json};

use crate::desk::{Desk, call, reader};

fn found(answer: &Value) -> Vec<&str> {
    let hits = answer["hits"].as_array().unwrap().iter();
    hits.map(|hit| hit["title"].as_str().unwrap()).collect()
}

#[test]
fn beginnings_are_found() {
    let desk = Desk::new();
    for (name, text) in [
        ("karabiner", "# Keyboard\n\nKarabiner remaps keys.\n"),
        ("karan", "# People\n\nKaran wrote back.\n"),
        ("hydroponics", "# Lettuce\n\nHydroponics in the cellar.\n"),
        ("hydro", "# Power\n\nA hydro plant.\n"),
    ] {
        desk.write(&format!("notes/{name}.md"), text);
    }
    let server = desk.server(reader());
    let ask = |arguments| call(&server, "search", arguments);
    for query in ["karab", "keyboard karab"] {
        let answer = ask(json!({"query": query}));
        assert_eq!(found(&answer.structured.unwrap()), ["Keyboard"]);
        assert!(answer.text.contains("completed"), "{}", answer.text);
        assert!(!answer.text.contains("instead"), "{}", answer.text);
    }
    let typed = |query: &str, as_you_type: Value| {
        let arguments = json!({"query": query, "as_you_type": as_you_type});
        ask(arguments).structured.unwrap()
    };
    assert_eq!(found(&typed("hydro", json!(false))), ["Power"]);
    assert_eq!(found(&typed("hydro", json!(true))), ["Power", "Lettuce"]);
    assert_eq!(found(&typed("hydro", json!("true"))), ["Power", "Lettuce"]);
    assert_eq!(found(&typed("hydro ", json!(true))), ["Power"]);
    assert_eq!(found(&typed("hy", json!(true))).len(), 2);
}
