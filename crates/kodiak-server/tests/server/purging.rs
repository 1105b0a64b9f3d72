//! What is purged stays away, whatever a page can still take back.

use std::fs;
use std::path::{Path, PathBuf};

use kodiak::Job;
use kodiak::access::Guard;
use kodiak_memory::Memories;
use kodiak_server::Server;
use serde_json::json;

use crate::desk::{Desk, writer};
use crate::secrets::files_with;
use crate::web::{Browser, Reply, Web};

const SECRET: &str = "quasarblau";

/// Something that a page did to a document that is purged afterwards.
type Act = fn(&Web, &Browser) -> Reply;

const ACTS: [(&str, Act); 4] = [
    ("a tag that was added", |web, owner| {
        let tags = json!({"add": ["later"]});
        web.ask(
            owner,
            "POST",
            "/api/documents/memory%2Fown/tags",
            Some(&tags),
        )
    }),
    ("a tag that was removed", |web, owner| {
        let tags = json!({"remove": ["quasarblau"]});
        web.ask(
            owner,
            "POST",
            "/api/documents/memory%2Fown/tags",
            Some(&tags),
        )
    }),
    ("the trash", |web, owner| {
        web.ask(owner, "DELETE", "/api/documents/memory%2Fown", None)
    }),
    ("a new memory", |web, owner| {
        let memory = json!({"text": "The zebra is quasarblau."});
        web.ask(owner, "POST", "/api/memories", Some(&memory))
    }),
];

fn left(folder: &Path) -> Vec<String> {
    files_with(folder, SECRET)
}

#[test]
fn what_was_done_before_a_purge_is_not_taken_back_after_it() {
    for (act, done) in ACTS {
        let desk = Desk::new();
        desk.write(
            "memory/own.md",
            "---\nid: own\ntags: [quasarblau]\n---\nThe cache is quasarblau.\n",
        );
        let mut options = desk.options(writer());
        options.memory_source = Some("memory".to_owned());
        let engine = desk.with_memory(&["notes"]);
        let server = Server::new(engine.clone(), options);
        let web = Web::start(&desk, &server);
        let owner = web.owner();
        let reply = done(&web, &owner);
        assert!(reply.status < 300, "{act}: {reply:?}");
        let undo = reply.json()["undo"].clone();
        assert!(undo.is_string(), "{act}: {reply:?}");
        let mut names = vec!["own".to_owned()];
        if act == "a new memory" {
            names.push(reply.json()["path"].as_str().unwrap().to_owned());
        }
        let me = Guard::local();
        let purged = Memories::new(&engine).purge_named(&me, &names, &Job::default());
        assert_eq!(purged.unwrap(), names.len(), "{act}");
        assert_eq!(left(&desk.path("")), [""; 0], "{act}");
        for _ in 0..2 {
            let undone = web.ask(&owner, "POST", "/api/undo", Some(&json!({"undo": undo})));
            assert!(undone.status >= 400, "{act}: {undone:?}");
            assert_eq!(left(&desk.path("")), [""; 0], "{act}");
        }
        // Nor does another file of its name come back as it.
        fs::create_dir_all(desk.path("memory")).unwrap();
        let files = fs::read_dir(desk.path("memory")).unwrap();
        let paths = files.map(|entry| entry.unwrap().path());
        let is_note = |path: &PathBuf| path.extension().is_some_and(|it| it == "md");
        let names: Vec<PathBuf> = paths.filter(is_note).collect();
        assert_eq!(names, Vec::<PathBuf>::new(), "{act}");
    }
}
