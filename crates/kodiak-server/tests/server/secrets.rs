//! Secrets in what clients write: left out of memories and articles whatever the route and
//! whatever the field, counted in the answer, and in no byte on disk.

use std::fs;
use std::path::Path;

use kodiak::Job;
use kodiak::access::Guard;
use kodiak::engine::ToSync;
use kodiak_server::Server;
use serde_json::{Map, Value, json};

use crate::desk::{Desk, call_with, writer};
use crate::experience::engine;
use crate::web::{Browser, Web};

const TOKEN: &str = "ghp_aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hI5";

/// How something is written.
#[derive(Clone, Copy, Debug)]
enum Way {
    Tool(&'static str),
    Route(&'static str),
}

/// A way to write, and what is written without a secret.
struct Write {
    way: Way,
    plain: Value,
    /// The fields that are set to a secret, one at a time.
    fields: &'static [&'static str],
}

/// Every way to write to memories and articles. The memory `own` has the tag `ops`.
fn writes() -> Vec<Write> {
    let write = |way, plain, fields| Write { way, plain, fields };
    let own = "/api/documents/memory%2Fown/tags";
    vec![
        write(
            Way::Tool("remember"),
            json!({"text": "Plain.", "force": true}),
            &["text", "title", "kind", "tags", "project"],
        ),
        write(
            Way::Tool("store_observation"),
            json!({"content": "Plain.", "force": true}),
            &[
                "content", "type", "tags", "summary", "session", "project", "metadata",
            ],
        ),
        write(
            Way::Tool("save_memory"),
            json!({"content": "Plain.", "force": true}),
            &["content", "tags", "kind", "category", "project"],
        ),
        write(
            Way::Tool("save_article"),
            json!({"title": "Plain", "content": "Plain."}),
            &[
                "title",
                "content",
                "tags",
                "source_type",
                "source_ref",
                "project",
            ],
        ),
        write(
            Way::Tool("page_create"),
            json!({"title": "Plain", "content": "Plain.", "source": "memory", "again": true}),
            &["title", "content", "tags", "folder"],
        ),
        write(
            Way::Tool("page_update"),
            json!({"id": "own"}),
            &["content", "append", "title"],
        ),
        write(Way::Tool("tag_rename"), json!({"from": "ops"}), &["to"]),
        write(
            Way::Route("/api/memories"),
            json!({"text": "Plain."}),
            &["text", "kind", "tags", "project"],
        ),
        write(
            Way::Route("/api/pages"),
            json!({"title": "Plain", "source": "memory"}),
            &["title", "text", "tags"],
        ),
        write(Way::Route(own), json!({}), &["add"]),
    ]
}

/// Returns what is written with a secret in one field, and something that no other write
/// has.
fn with_secret(write: &Write, field: &str, number: usize) -> Map<String, Value> {
    let mut body = write.plain.as_object().unwrap().clone();
    for name in ["text", "content", "title"] {
        if let Some(Value::String(text)) = body.get_mut(name) {
            *text = format!("{text} Entry {number} of the list.");
        }
    }
    let secret = match field {
        "tags" | "add" => json!(["harmless", TOKEN]),
        "metadata" => json!({"note": TOKEN, "password": "hunter2x"}),
        "text" | "content" | "append" => json!(format!("Entry {number} uses {TOKEN}.")),
        _ => json!(TOKEN),
    };
    body.insert(field.to_owned(), secret);
    body
}

/// Writes, and returns everything that was answered and whether it was refused.
fn written(
    server: &Server,
    web: &Web,
    owner: &Browser,
    way: Way,
    body: Map<String, Value>,
) -> (String, bool) {
    match way {
        Way::Tool(name) => {
            let answer = call_with(server, name, body).unwrap();
            (
                format!("{} {:?}", answer.text, answer.structured),
                answer.failed,
            )
        }
        Way::Route(path) => {
            let reply = web.ask(owner, "POST", path, Some(&Value::Object(body)));
            let text = String::from_utf8_lossy(&reply.body).into_owned();
            (text, reply.status >= 400)
        }
    }
}

/// Returns the files below a folder that have a text.
pub(crate) fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with(&path, text));
            continue;
        }
        let bytes = fs::read(&path).unwrap().to_ascii_lowercase();
        let text = text.to_ascii_lowercase();
        if bytes
            .windows(text.len())
            .any(|part| part == text.as_bytes())
        {
            found.push(path.display().to_string());
        }
    }
    found
}

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write(
        "memory/own.md",
        "---\nid: own\ntags: [ops, keep]\n---\nThe cache is dropped at midnight.\n",
    );
    desk
}

fn server(desk: &Desk) -> Server {
    let mut options = desk.options(writer());
    options.memory_source = Some("memory".to_owned());
    options.article_source = Some("article".to_owned());
    Server::new(engine(desk), options)
}

#[test]
fn every_field_of_every_way_to_write_is_cleaned_and_counted() {
    let desk = desk();
    let server = server(&desk);
    let web = Web::start(&desk, &server);
    let owner = web.owner();
    let mut number = 0;
    for write in writes() {
        for field in write.fields {
            number += 1;
            let about = format!("{:?} {field}", write.way);
            let body = with_secret(&write, field, number);
            let (answer, refused) = written(&server, &web, &owner, write.way, body);
            assert!(!answer.contains(TOKEN), "{about}: {answer}");
            // A name stays as it was given, or is refused.
            assert_eq!(refused, *field == "folder", "{about}: {answer}");
            let counted = answer.contains("left out") || answer.contains("looks like a secret");
            assert!(counted, "{about}: {answer}");
            assert_eq!(files_with(&desk.path(""), TOKEN), [""; 0], "{about}");
        }
    }
    let text = fs::read_to_string(desk.path("memory/own.md")).unwrap_or_default();
    let moved = fs::read_dir(desk.path("memory")).unwrap();
    let all: String = moved
        .filter_map(|entry| fs::read_to_string(entry.unwrap().path()).ok())
        .collect();
    // What a tag was renamed to and what was added are there, without the secret.
    assert!(all.contains("[redacted:github-token]"), "{text}");
    assert!(all.contains("keep") && all.contains("harmless"), "{all}");
    server
        .engine()
        .sync(&Guard::local(), ToSync::All, &Job::default())
        .unwrap();
    assert_eq!(files_with(&desk.path(""), TOKEN), [""; 0]);
}
