//! Projects by every spelling that they are known by, on every surface.

use serde_json::{Value, json};

use crate::desk::Desk;
use crate::http::{Served, token};
use crate::sessions::{node, piped};

/// Session records, memories and notes of one project, none of which has a folder here.
fn desk() -> Desk {
    let desk = Desk::new();
    let mut record = node("aa11", 1, "Walnut bread was baked", &["Bread needs time"]);
    record["classification"]["project"] = json!("~/src/api");
    assert_eq!(piped(&desk, &["ingest"], &record.to_string()).code, Some(0));
    record["id"] = json!("bb22");
    record["classification"]["project"] = json!("/srv/other/web");
    assert_eq!(piped(&desk, &["ingest"], &record.to_string()).code, Some(0));
    // A note has its project as it is written.
    desk.write(
        "notes/api.md",
        "---\nproject: ~/src/api\n---\n# Walnut note\n",
    );
    desk.ok(&["add", "notes"]);
    desk.ok(&[
        "remember",
        "Walnut trees are tall.",
        "--project",
        "~/src/api",
    ]);
    desk
}

#[test]
fn a_project_goes_by_each_of_its_spellings_everywhere() {
    let desk = desk();
    let place = desk.path("home/src/api");
    let absolute = place.to_str().unwrap();
    let spellings = ["~/src/api", "~/src/api/", absolute, "./home/src/api"];
    for check in [false, true] {
        // Whether the folder exists makes no difference.
        if check {
            std::fs::create_dir_all(&place).unwrap();
        }
        for project in spellings {
            let found = desk.found(&["walnut", "--project", project]);
            assert_eq!(found.len(), 3, "{project}: {found:?}");
            let run = desk.ok(&["brain", "walnut", "bread", "--project", project]);
            assert!(run.stdout.contains("aa11") && !run.stdout.contains("bb22"));
            let run = desk.ok(&["timeline", "--project", project]);
            assert!(run.stdout.contains("trees"), "{project}: {run}");
            let run = desk.ok(&["recall", "walnut", "--project", project]);
            assert!(run.stdout.contains("trees"), "{project}: {run}");
        }
    }
    let token = token(&desk, &["laptop"]);
    let served = Served::start(&desk, &["--tools", "default,brain"]);
    for project in ["~/src/api", "~/src/api/", absolute] {
        let asked = json!({"query": "walnut", "project": project});
        let found = served.call(&token, "search", &asked);
        assert_eq!(total(&found), 3, "{project}: {found}");
        let asked = json!({"query": "walnut bread", "project": project});
        let found = served.call(&token, "brain_query", &asked).to_string();
        assert!(found.contains("aa11") && !found.contains("bb22"), "{found}");
        let asked = json!({"query": "walnut", "projects": [project]});
        let found = served.post("/api/search", &token, &asked).json();
        assert_eq!(found["total"], 3, "{project}: {found}");
    }
    assert_eq!(served.end(), Some(0));
}

fn total(answer: &Value) -> u64 {
    let structured = &answer["structuredContent"];
    structured["total"].as_u64().unwrap_or_default()
}

/// Erasing a project erases it under each of its spellings.
#[test]
fn a_project_is_forgotten_under_each_of_its_spellings() {
    let desk = desk();
    let run = desk.ok(&["forget", "--purge", "--project", "~/src/api"]);
    assert!(run.stderr.contains("erased 2 documents"), "{run}");
    let left = desk.found(&["walnut"]);
    assert_eq!(left.len(), 2, "notes and other projects stay: {left:?}");
}
