//! A cancelled request ends what works for it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use kodiak::access::Guard;
use kodiak::embed::{EmbedError, Embedder, Identity, Limits, Role};
use kodiak::engine::ToSync;
use kodiak::{Engine, Job};
use kodiak_notes::MarkdownFolder;
use kodiak_notes::markdown::FolderOptions;
use kodiak_server::Server;
use kodiak_server::mcp::{Ended, Lifetime};
use serde_json::json;

use crate::desk::{Desk, reader};
use crate::wire::Wire;

/// A model that embeds documents at once and queries never, until it is released.
struct Stuck {
    identity: Identity,
    asked: AtomicBool,
    released: Mutex<bool>,
    changed: Condvar,
}

impl Stuck {
    fn release(&self) {
        *self.released.lock().unwrap() = true;
        self.changed.notify_all();
    }
}

impl Embedder for Stuck {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn minimum_similarity(&self) -> f32 {
        0.1
    }

    fn limits(&self) -> Limits {
        Limits {
            max_tokens: 256,
            max_batch: 8,
            concurrency: 1,
        }
    }

    fn embed(&self, texts: &[&str], role: Role) -> Result<Vec<Vec<f32>>, EmbedError> {
        if role == Role::Query {
            self.asked.store(true, Ordering::SeqCst);
            let mut released = self.released.lock().unwrap();
            while !*released {
                released = self.changed.wait(released).unwrap();
            }
        }
        Ok(texts.iter().map(|_| vec![1.0, 0.0]).collect())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_search_does_not_wait_for_the_model() {
    let desk = Desk::with_examples();
    let stuck = Arc::new(Stuck {
        identity: Identity {
            name: "stuck".to_owned(),
            revision: "0".to_owned(),
            dimensions: 2,
        },
        asked: AtomicBool::new(false),
        released: Mutex::default(),
        changed: Condvar::new(),
    });
    let notes = MarkdownFolder::new("notes", &desk.path("notes"), FolderOptions::default());
    let engine = Engine::builder(desk.path("index.db"))
        .source(notes.unwrap())
        .model(Arc::clone(&stuck) as Arc<dyn Embedder>)
        .deadline(Duration::from_hours(1))
        .open()
        .unwrap();
    engine
        .sync(&Guard::local(), ToSync::All, &Job::default())
        .unwrap();
    engine
        .embed(&Guard::local(), None, &Job::default())
        .unwrap();
    let server = Server::new(engine, desk.options(reader()));
    let lifetime = Lifetime {
        idle: Some(Duration::from_millis(500)),
        with_parent: false,
    };
    let mut wire = Wire::lasting(&server, lifetime);
    wire.initialize().await;
    let query = json!({"query": "how long does bread rise", "mode": "semantic"});
    let search = json!({"name": "search", "arguments": query});
    let id = wire.begin("tools/call", search).await;
    while !stuck.asked.load(Ordering::SeqCst) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    wire.tell("notifications/cancelled", json!({"requestId": id}))
        .await;
    // A server that still works for the request is not idle.
    assert_eq!(wire.end().await, Ended::Idle);
    stuck.release();
}
