//! A token of a narrower scope tries everything.

use serde_json::{Value, json};

use super::{Served, token};
use crate::desk::Desk;

/// The words and names that only the private source has.
const PRIVATE: [&str; 4] = ["zebrafish", "Zebrafish", "private", "xylophagous"];

/// A desk with a public source and a private one.
fn desk() -> Desk {
    let desk = Desk::indexed();
    desk.write(
        "private/zebrafish.md",
        "---\ntags: [zebrafish]\nproject: zebrafish\n---\n# Zebrafish\n\nThe zebrafish is not xylophagous.\n",
    );
    // The newest of all, so that lists begin with it.
    crate::desk::age(&desk.path("private/zebrafish.md"), 1_000);
    desk.ok(&["add", "private"]);
    desk
}

/// Fails if an answer says anything about what is private, beyond the words that
/// were asked for.
fn check(what: &str, asked: &Value, answer: &str) {
    let asked = asked.to_string();
    for word in PRIVATE {
        let echoed = asked.matches(word).count();
        let said = answer.matches(word).count();
        // Some answers repeat the question once or twice.
        assert!(said <= 3 * echoed, "{what} {asked} said {word}: {answer}");
        assert!(!answer.contains("is not xylo"), "{what} {asked}: {answer}");
    }
}

#[test]
fn a_narrow_token_finds_nothing_beyond_its_scope() {
    let desk = desk();
    let everything = token(&desk, &["everything"]);
    let narrow = token(&desk, &["narrow", "--source", "notes"]);
    let served = Served::start(&desk, &["--tools", "all"]);
    let id = served.post("/api/search", &everything, &json!({"query": "zebrafish"}));
    let id = id.json()["hits"][0]["id"].as_str().unwrap().to_owned();

    // Every tool, with every argument that might lead there.
    let tools = served.protocol(&narrow, "tools/list", &json!({}));
    let tools = tools["result"]["tools"].as_array().unwrap().clone();
    assert!(tools.len() >= 4, "{tools:?}");
    for tool in &tools {
        let name = tool["name"].as_str().unwrap();
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{name}");
        let properties = tool["inputSchema"]["properties"].as_object().unwrap();
        for text in [
            "xylophagous",
            "zebrafsh",
            &id,
            "kodiak://private/zebrafish.md",
            "private/zebrafish.md",
        ] {
            let mut arguments = json!({});
            for (property, schema) in properties {
                let value = match schema["type"].as_str() {
                    Some("string") if schema.get("enum").is_some() => continue,
                    Some("string") => json!(text),
                    Some("array") => json!([text]),
                    _ => continue,
                };
                arguments[property] = value;
                let answer = served.call(&narrow, name, &arguments);
                check(name, &arguments, &answer.to_string());
                arguments[property] = Value::Null;
            }
            for property in ["query", "ids", "id"] {
                if properties.contains_key(property) {
                    let value = if property == "ids" {
                        json!([text])
                    } else {
                        json!(text)
                    };
                    let arguments = json!({property: value});
                    let answer = served.call(&narrow, name, &arguments);
                    check(name, &arguments, &answer.to_string());
                }
            }
        }
    }
    // Tools that write do not exist, whatever the server offers.
    for name in [
        "remember",
        "page_create",
        "page_update",
        "tag_rename",
        "save_memory",
    ] {
        let answer = served.call(&narrow, name, &json!({}));
        assert!(
            answer.is_null() || answer["isError"] == true,
            "{name}: {answer}"
        );
    }

    // Every resource.
    let listed = served.protocol(&narrow, "resources/list", &json!({}));
    check("resources/list", &json!({}), &listed.to_string());
    let all = served.protocol(&everything, "resources/list", &json!({}));
    assert!(all.to_string().contains("zebrafish"), "{all}");
    for uri in [
        "kodiak://private/zebrafish.md",
        "kodiak://search/xylophagous",
    ] {
        let params = json!({"uri": uri});
        let read = served.protocol(&narrow, "resources/read", &params);
        check("resources/read", &params, &read.to_string());
    }
    for (argument, value) in [("source", "pri"), ("key", "zeb")] {
        let params = json!({
            "ref": {"type": "ref/resource", "uri": "kodiak://{source}/{+key}"},
            "argument": {"name": argument, "value": value},
        });
        let completed = served.protocol(&narrow, "completion/complete", &params);
        check("completion/complete", &json!({}), &completed.to_string());
    }

    // Every route of the API.
    for path in [
        "/api/status".to_owned(),
        "/api/timeline".to_owned(),
        "/api/timeline?source=notes&limit=500".to_owned(),
        format!("/api/timeline?source=notes&around={id}"),
        "/api/timeline?tag=zebrafish".to_owned(),
        "/api/timeline?project=zebrafish".to_owned(),
        format!("/api/documents/{id}"),
        "/api/documents/private%2Fzebrafish.md".to_owned(),
        "/api/documents/Zebrafish".to_owned(),
    ] {
        let answer = served.get(&path, &narrow);
        check(&path, &json!(path), &answer.body);
    }
    assert_eq!(
        served.get("/api/timeline?source=private", &narrow).status,
        400
    );
    let asked = json!({"query": "zebrafsh", "sources": ["private"]});
    let answer = served.post("/api/search", &narrow, &asked);
    assert_eq!(answer.status, 400);
    assert!(!answer.body.contains("zebrafish"), "{answer:?}");
    for asked in [
        json!({"query": "zebrafsh"}),
        json!({"query": "xylophagous", "all_copies": true, "explain": true}),
        json!({"query": "", "tags": ["zebrafish"]}),
        json!({"query": "title:zebrafish*"}),
    ] {
        let answer = served.post("/api/search", &narrow, &asked);
        assert_eq!(answer.json()["hits"], json!([]), "{answer:?}");
        check("/api/search", &asked, &answer.body);
    }
    // A project that is outside is one that is nowhere.
    let refusals = ["zebrafish", "nowhere"].map(|project| {
        let asked = json!({"query": "", "projects": [project]});
        let answer = served.post("/api/search", &narrow, &asked);
        assert_eq!(answer.status, 400, "{answer:?}");
        answer.body.replace(project, "it")
    });
    assert_eq!(refusals[0], refusals[1]);
}

#[test]
fn the_scope_of_the_server_bounds_every_token() {
    let desk = desk();
    let everything = token(&desk, &["everything", "--write"]);
    let private = token(&desk, &["private", "--source", "private"]);
    let served = Served::start(&desk, &["--source", "notes"]);
    let names = |token: &str| {
        let status = served.get("/api/status", token).json();
        let sources = status["sources"].as_array().unwrap().clone();
        sources
            .iter()
            .map(|one| one["name"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&everything), [json!("notes")]);
    assert!(names(&private).is_empty());
    // A token does not allow what the server does not.
    let listed = served.protocol(&everything, "tools/list", &json!({}));
    for tool in listed["result"]["tools"].as_array().unwrap() {
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{tool}");
    }
    // Where the server writes, a token may still not.
    let served = Served::start(&desk, &["--allow-write", "--tools", "all"]);
    let names = |token: &str| {
        let listed = served.protocol(token, "tools/list", &json!({}));
        listed["result"]["tools"].to_string()
    };
    assert!(names(&everything).contains("\"page_create\""));
    assert!(!names(&private).contains("\"page_create\""));
    let refused = served.call(
        &private,
        "page_create",
        &json!({"title": "x", "content": "y"}),
    );
    assert_eq!(refused["isError"], true, "{refused}");
}

#[test]
fn a_project_is_a_scope() {
    let desk = desk();
    let zebra = token(&desk, &["zebra", "--project", "zebrafish"]);
    let served = Served::start(&desk, &[]);
    let found = |query: &str| {
        let answer = served.post("/api/search", &zebra, &json!({"query": query}));
        answer.json()["hits"].as_array().unwrap().len()
    };
    assert_eq!((found("zebrafish"), found("ramen")), (1, 0));
    let status = served.get("/api/status", &zebra).json();
    assert_eq!(
        (&status["documents"], &status["sources"][1]),
        (&json!(1), &Value::Null)
    );
}
