//! What callers of a scope are told when they change something, and take it back.

use kodiak_server::http::{HttpOptions, Limits};
use serde_json::{Value, json};

use super::Asked;
use super::kinds::KNOWN;
use crate::web::Web;

/// Stands for what takes back the last change.
const UNDO: &str = "UNDO";

impl Asked {
    /// Calls every route that writes.
    pub(super) fn changes(&mut self) {
        let options = HttpOptions {
            address: ([127, 0, 0, 1], 0).into(),
            tokens: None,
            hosts: Vec::new(),
            origins: Vec::new(),
            limits: Limits::default(),
        };
        let web = Web::with(&self.server(self.guard.clone()), options);
        let mut undo = String::new();
        let mut changed = 0;
        for (method, path, body) in asked() {
            let body = body.map_or(String::new(), |body| body.to_string());
            let sent = body.replace(UNDO, &undo);
            let headers = [("Content-Type", "application/json")];
            let reply = web.send(method, path, &headers, &sent);
            changed += usize::from(reply.status < 300);
            let mut said = String::from_utf8(reply.body).unwrap();
            let json: Value = serde_json::from_str(&said).unwrap_or_default();
            // It is random.
            if let Some(new) = json["undo"].as_str() {
                new.clone_into(&mut undo);
                said = said.replace(&undo, UNDO);
            }
            let asked = format!("{method} {path} {body}");
            self.note(asked, &format!("{} {said}", reply.status));
        }
        // Otherwise nothing is compared but refusals.
        let writes = self.guard.require(kodiak::access::Capability::Write);
        assert_eq!(changed > 5, writes.is_ok(), "{changed}");
    }
}

/// Returns requests for what is outside, for what is inside, and for names that are taken
/// outside.
fn asked() -> Vec<(&'static str, &'static str, Option<Value>)> {
    let undo = || ("POST", "/api/undo", Some(json!({"undo": UNDO})));
    let page = |page: Value| ("POST", "/api/pages", Some(page));
    let memory = |memory: Value| ("POST", "/api/memories", Some(memory));
    vec![
        ("GET", "/api/session", None),
        ("DELETE", "/api/documents/secrets%2F0.md", None),
        ("DELETE", "/api/documents/0-hidden.md", None),
        ("DELETE", "/api/documents/other1", None),
        (
            "POST",
            "/api/documents/work%2F0-hidden.md/tags",
            Some(json!({"add": ["new"]})),
        ),
        (
            "POST",
            "/api/documents/secrets%2F0.md/open",
            Some(json!({})),
        ),
        ("POST", "/api/documents/work%2F3.md/open", Some(json!({}))),
        (
            "POST",
            "/api/documents/work%2F3.md/tags",
            Some(json!({"add": ["new"], "remove": ["food"]})),
        ),
        undo(),
        undo(),
        ("DELETE", "/api/documents/work%2F3.md", None),
        undo(),
        page(json!({"title": "0-hidden", "source": "work"})),
        page(json!({"title": "0-hidden", "source": "work"})),
        undo(),
        page(json!({"title": "new", "source": "work"})),
        page(json!({"title": "a", "source": "secrets"})),
        page(json!({"title": "a", "source": "nothing"})),
        page(json!({"title": "a"})),
        memory(json!({"text": ""})),
        // Known inside, known outside alone, and new.
        memory(json!({"text": "Bread is rising in the harbour."})),
        memory(json!({"text": "Bread is rising in the harbour."})),
        undo(),
        memory(json!({"text": "Bread is rising in the harbour."})),
        memory(json!({"text": KNOWN})),
        undo(),
        memory(json!({"text": KNOWN, "tags": ["quokka", "food"], "kind": "fact"})),
        memory(json!({"text": "A lantern.", "project": "hidden"})),
        memory(json!({"text": "A lantern and a violin.", "project": "/work/hidden"})),
        memory(json!({"text": "A lantern and a window.", "project": "atlas"})),
        ("GET", "/api/documents/known", None),
        ("DELETE", "/api/documents/memory%2Fknown", None),
        ("DELETE", "/api/documents/memory%2Fown3", None),
        undo(),
        ("DELETE", "/api/documents/articles%2Fknown", None),
        ("DELETE", "/api/documents/inner%2F0.md", None),
        ("DELETE", "/api/documents/outer0rec", None),
        ("DELETE", "/api/documents/bear%2FB0", None),
        ("DELETE", "/session", None),
    ]
}
