//! What the worlds are asked through tools and resources.

use kodiak::Cancel;
use serde_json::json;

use super::Asked;
use super::kinds::KNOWN;
use crate::desk::call_with;

impl Asked {
    /// Asks for resources and completions, and calls tools with names that are not
    /// in the scope.
    pub(super) fn tools(&mut self) {
        let server = self.server(self.guard.clone());
        let (caller, cancel) = (server.caller(), Cancel::new());
        let resources = server.resources(&caller, &cancel);
        self.note("resources".to_owned(), &format!("{resources:?}"));
        for text in ["", "s", "w", "work", "secrets", "0", "own", "other", "b"] {
            let read = server.resource(&caller, &format!("kodiak://work/{text}"), &cancel);
            self.note(format!("resource {text}"), &format!("{read:?}"));
            for (variable, source) in [("source", None), ("key", Some("secrets")), ("key", None)] {
                let completed = server.complete(&caller, variable, text, source, &cancel);
                self.note(format!("complete {text}"), &format!("{completed:?}"));
            }
        }
        let offered: Vec<_> = server.tools(&caller).iter().map(|tool| tool.name).collect();
        self.note("tools".to_owned(), &format!("{offered:?}"));
        let mut answered = std::collections::HashSet::new();
        for (name, arguments) in [
            ("status", json!({})),
            (
                "search",
                json!({"query": "bread", "kinds": ["turn", "session", "article"]}),
            ),
            (
                "search",
                json!({"query": "quokka walrus", "mode": "semantic", "limit": 30}),
            ),
            (
                "search",
                json!({"query": "bread", "mode": "hybrid", "category": "debugging"}),
            ),
            (
                "search",
                json!({"query": "", "after": "2025-01", "tags": ["food"], "limit": 50}),
            ),
            (
                "search",
                json!({"query": "kett", "as_you_type": true, "sources": ["work"]}),
            ),
            (
                "timeline",
                json!({"from": "2024", "to": "2026", "turns": true, "limit": 100}),
            ),
            ("timeline", json!({"around": "work/0.md", "context": 9})),
            ("timeline", json!({"around": "outer0s", "context": 9})),
            (
                "timeline",
                json!({"around": "talks/inner0s", "turns": true}),
            ),
            ("timeline", json!({"kinds": ["turn"], "sources": ["talks"]})),
            (
                "note_search",
                json!({"queries": ["bread rising", "*"], "tags": ["food"]}),
            ),
            ("note_search", json!({"queries": ["quokka", "sliver"]})),
            (
                "note_search",
                json!({"queries": ["bread"], "ids": ["secrets/0.md", "work/0.md"]}),
            ),
            (
                "note_get",
                json!({"ids": ["work/0.md", "secrets/0.md", "bear/B0", "inner/0.md"], "lines": ["1-9"]}),
            ),
            ("note_get", json!({"ids": ["0", "0-hidden", "B0"]})),
            (
                "note_create",
                json!({"title": "a", "content": "b", "tags": ["quokka"]}),
            ),
            (
                "search_knowledge",
                json!({"query": "bread rising", "limit": 50}),
            ),
            (
                "search_knowledge",
                json!({"query": "quokka", "sources": ["bear"]}),
            ),
            (
                "search_knowledge",
                json!({"query": "kettle", "category": "debugging"}),
            ),
            (
                "recall_article",
                json!({"query": "bread harbour", "limit": 30}),
            ),
            ("recall_article", json!({"query": "quokka"})),
            (
                "recall_memory",
                json!({"query": "harbinger", "tags": ["food"]}),
            ),
            (
                "search_memories",
                json!({"query": "bread", "kinds": ["session"], "limit": 30}),
            ),
            (
                "search_memories",
                json!({"query": "letter", "after": "2025-01"}),
            ),
            (
                "brain_query",
                json!({"query": "quokka sliver", "limit": 20}),
            ),
            (
                "brain_query",
                json!({"query": "bread", "project": "/work/hidden"}),
            ),
            (
                "similar_sessions",
                json!({"text": "bread rising", "limit": 20}),
            ),
            ("similar_sessions", json!({"id": "inner0rec"})),
            ("similar_sessions", json!({"id": "outer0rec"})),
            (
                "get_observations",
                json!({"ids": ["inner0", "outer0", "inner0rec", "outer0rec", "talks/inner0s"]}),
            ),
            (
                "get",
                json!({"ids": ["talks/inner0s", "talks/outer0s", "records/inner0rec"]}),
            ),
            (
                "get",
                json!({"ids": ["articles/inner0", "articles/outer0", "B0"], "links": true}),
            ),
            ("timeline", json!({})),
            ("search", json!({"query": "bread", "sources": ["secrets"]})),
            ("search", json!({"query": "bread", "sources": ["nothing"]})),
            ("search", json!({"query": "bread", "project": "hidden"})),
            ("search", json!({"query": "bread", "tags": ["FOOD"]})),
            ("timeline", json!({"sources": ["secrets"]})),
            (
                "get",
                json!({"ids": ["work/0.md", "work/1.md"], "links": true}),
            ),
            ("get", json!({"ids": ["secrets/0.md"], "links": true})),
            ("brain_query", json!({"query": "bread rising"})),
            ("recall_memory", json!({"query": "bread rising"})),
            ("search_memories", json!({"query": "harbour kettle"})),
            ("get_observations", json!({"ids": ["other1", "own1"]})),
            (
                "page_create",
                json!({"title": "a", "content": "b", "source": "secrets"}),
            ),
            ("page_update", json!({"id": "secrets/0.md", "append": "b"})),
            (
                "page_update",
                json!({"id": "work/0-hidden.md", "append": "b"}),
            ),
            ("tag_rename", json!({"from": "quokka", "to": "b"})),
            // Names that are taken outside, at the first time and the second.
            (
                "page_create",
                json!({"title": "0-hidden", "content": "b", "source": "work"}),
            ),
            (
                "page_create",
                json!({"title": "0-hidden", "content": "b", "source": "work"}),
            ),
            (
                "page_create",
                json!({"title": "a", "content": "b", "source": "work", "folder": "0-hidden.md"}),
            ),
            (
                "page_update",
                json!({"id": "work/1.md", "title": "1-hidden"}),
            ),
            ("remember", json!({"text": "", "supersedes": ["other1"]})),
            (
                "remember",
                json!({"text": "a b c", "supersedes": ["other1"]}),
            ),
            // What is known inside, and what is known outside alone.
            ("remember", json!({"text": self.text_of("memory/own0.md")})),
            ("remember", json!({"text": KNOWN})),
            (
                "remember",
                json!({"text": "the kettle is copper", "project": "hidden"}),
            ),
            (
                "remember",
                json!({"text": "the kettle is copper", "project": "/work/hidden"}),
            ),
            (
                "remember",
                json!({"text": "the kettle is copper", "tags": ["quokka"]}),
            ),
            ("save_memory", json!({"content": KNOWN, "category": "x"})),
            (
                "save_memory",
                json!({"content": "the river is silver", "kind": "fact"}),
            ),
            ("save_memory", json!({"content": "the river is silver"})),
            (
                "store_observation",
                json!({"content": self.text_of("memory/own1.md"), "type": "code"}),
            ),
            (
                "store_observation",
                json!({"content": "a lantern", "session": "outer0s", "supersedes": ["own1"]}),
            ),
            ("save_article", json!({"title": "outer0", "content": KNOWN})),
            (
                "save_article",
                json!({"title": "inner0", "content": self.text_of("articles/inner0.md")}),
            ),
            (
                "save_article",
                json!({"title": "new", "content": "a meadow", "source_ref": "x"}),
            ),
            (
                "recall_memory",
                json!({"query": "kettle copper river", "limit": 30}),
            ),
        ] {
            let asked = format!("{name} {arguments}");
            let arguments = arguments.as_object().unwrap().clone();
            let said = call_with(&server, name, arguments);
            let said = said.map(|said| (said.text, said.structured.unwrap_or_default()));
            let (text, structured) = said.unwrap_or_default();
            if !text.is_empty() && !text.starts_with("Error") {
                answered.insert(name);
            }
            self.note(asked, &format!("{text}\n{structured}"));
        }
        // Otherwise nothing is compared but refusals. Without a source of memories, some
        // tools have nothing to answer with.
        for name in offered {
            let has_answered = answered.contains(name) || !self.guard.admits("memory");
            assert!(has_answered, "{name}");
        }
    }

    /// Returns the text of a memory or an article that is inside.
    fn text_of(&self, name: &str) -> String {
        let text = std::fs::read_to_string(self.desk.path(name)).unwrap();
        text.rsplit("---\n").next().unwrap_or_default().to_owned()
    }
}
