//! Rendered notes.

use kodiak_server::Server;
use serde_json::json;

use super::Served;
use crate::desk::{Desk, reader};

#[test]
fn a_note_is_rendered_with_what_belongs_to_it() {
    let desk = Desk::new();
    desk.write("notes/deep/Ramen.md", "# Ramen\n\nBroth.\n");
    desk.write("notes/deep/pic.png", "");
    desk.write(
        "notes/deep/soup.md",
        "---\ntags: [food]\nserves: 4\n---\n# Soup\n\nSee [[Ramen]], [broth](Ramen.md#x), \
         [[nothing]].\n\n<script>alert(1)</script>\n\n![a](pic.png) ![[gone.png]]\n",
    );
    desk.write("notes/attachments/far/one.png", "");
    desk.write("notes/attachments/two.png", "");
    desk.write("notes/two.png/two.png", "");
    desk.write("notes/two.png/deep/two.png", "");
    desk.write(
        "notes/named.md",
        "![[one.png]] ![o](one.png) ![[two.png]]\n",
    );
    desk.write("notes/plain.txt", "a <b>\n  c\n");
    let reached = Served::start(&desk.server(reader()));
    let soup = reached.get("/api/documents/soup/rendered").json();
    let ramen = reached.get("/api/documents/Ramen").json();
    let id = ramen["id"].as_str().unwrap();
    assert_eq!(
        soup["html"].as_str().unwrap(),
        format!(
            "<h1 data-line=\"5\">Soup</h1>\n<p data-line=\"7\">See <a href=\"#/note/{id}\" \
             data-id=\"{id}\">Ramen</a>, <a href=\"#/note/{id}\" data-id=\"{id}\">broth</a>, \
             <span class=\"broken\">nothing</span>.</p>\n\n\n<p data-line=\"11\"><img \
             data-file=\"deep/pic.png\" alt=\"a\"> gone.png</p>\n"
        )
    );
    assert_eq!(
        soup["headings"],
        json!([{"level": 1, "text": "Soup", "line": 5}])
    );
    assert_eq!(soup["fields"], json!([["serves", "4"]]));
    assert_eq!(
        (&soup["from"], &soup["to"], &soup["line_count"]),
        // Frontmatter is shown as fields, so that nothing comes before the body.
        (&json!(1), &json!(11), &json!(11))
    );
    assert_eq!(soup["tags"], json!(["food"]));
    let named = reached.get("/api/documents/named/rendered").json();
    assert_eq!(
        named["html"],
        "<p data-line=\"1\"><img data-file=\"attachments/far/one.png\" alt=\"one.png\"> o \
         two.png</p>\n"
    );
    let plain = reached.get("/api/documents/plain/rendered").json();
    assert_eq!(
        plain["html"],
        "<p class=\"plain\" data-line=\"1\">a &lt;b&gt;\n  c</p>\n"
    );
    assert_eq!(reached.get("/api/documents/nowhere/rendered").status, 404);
    assert_eq!(
        reached.get("/api/documents/soup/rendered?line=0").status,
        400
    );
}

#[test]
fn a_long_note_is_rendered_in_parts() {
    let desk = Desk::new();
    let text: String = (1..=30_000)
        .map(|at| format!("Paragraph {at} [[soup]].\n\n"))
        .collect();
    desk.write("notes/long.md", &text);
    let reached = Served::start(&desk.server(reader()));
    for line in [1, 25_001, 60_000, 90_000] {
        let path = format!("/api/documents/long/rendered?line={line}");
        let part = reached.get(&path).json();
        let (from, to) = (part["from"].as_u64().unwrap(), part["to"].as_u64().unwrap());
        assert!(
            from <= line.min(60_000) && line.min(60_000) <= to,
            "{from} {to}"
        );
        assert!(part["html"].as_str().unwrap().len() < 1_000_000);
        assert_eq!(part["line_count"], 60_000);
    }
}

#[test]
fn a_corrected_memory_shows_its_correction() {
    let desk = Desk::new();
    desk.write("memory/old.md", "---\nid: old\n---\nThe port is 7000.\n");
    desk.write(
        "memory/new.md",
        "---\nid: new\nsupersedes: [old]\n---\nThe port is 8000.\n",
    );
    desk.write(
        "memory/newest.md",
        "---\nid: newest\nsupersedes: [new]\n---\nThe port is 9000.\n",
    );
    let server = Server::new(desk.with_memory(&["notes"]), desk.options(reader()));
    let reached = Served::start(&server);
    let old = reached.get("/api/documents/memory%2Fold/rendered").json();
    assert_eq!(old["superseded_by"]["path"], "newest", "{old}");
    let newest = reached
        .get("/api/documents/memory%2Fnewest/rendered")
        .json();
    assert!(newest["superseded_by"].is_null());
    assert_eq!(newest["corrects"][0]["text"], "The port is 8000.");
}
