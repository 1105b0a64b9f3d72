//! `GET /api/events`: a stream that says when the status moves and when documents change,
//! as far as they exist for the caller.
//!
//! Each second, a watcher asks the index whether its state has moved, and only then what
//! has. Embedding moves it whichever process embeds. `watches` has one watcher for all
//! callers for whom the same exists. As long as a stream is open, the background looks for
//! changes in the sources, too. A client that reads slowly is told the newest state,
//! and not each one before it. A stream ends with the session of its caller, when a caller
//! with fewer streams needs the place, and with the server.
//!
//! Each event has the state of the documents as its id. A client that comes back says the
//! last one, and is told first if documents have changed since.

mod watches;

use std::sync::Arc;
use std::time::Instant;

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use kodiak::store::{Filter, Revision};
use kodiak::{Engine, Error};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};

use super::parameters::Parameters;
use super::status::{Embedding, Status};
use super::{From, Refused};
use crate::server::{Caller, Server};
use crate::stream::{Event, Events};
use crate::upkeep::Viewer;
use watches::Seen;
pub(super) use watches::Watches;

/// Every so many looks, the documents are looked at although the index seems to be the
/// same: each of several connections to it counts changes by itself.
const ANYWAY: u64 = 5;
/// Every so many looks, the state of the sources is looked at as well, which takes longer.
const SOURCES: u64 = 30;
/// The events that wait until the client reads.
const MOST_WAITING: usize = 1;
/// How many of the documents that changed last are compared.
const NEWEST: usize = 20;
/// The documents of a scope are compared at most for this share of the time.
const SHARE: u32 = 20;

pub(super) async fn events(
    State(server): State<Server>,
    Extension(caller): From,
    Extension(watches): Extension<Arc<Watches>>,
    headers: HeaderMap,
    parameters: Parameters,
) -> Result<Response, Refused> {
    parameters.only(&[])?;
    let last = headers.get("last-event-id");
    let last = last.and_then(|id| id.to_str().ok()).map(str::to_owned);
    let place = server.news().streams().take(&caller);
    let mut place = place.map_err(Refused::Crowded)?;
    let seen = watches.join(&server, &caller.guard);
    let (sender, mut receiver) = mpsc::channel(MOST_WAITING);
    let viewer = Viewer::new(server.work());
    tokio::spawn(async move {
        let _open = viewer;
        tokio::select! {
            () = tell(seen, last, &sender) => {}
            () = place.ended() => {}
            () = sender.closed() => {}
        }
    });
    Ok(Events::new(move |context| receiver.poll_recv(context)).into_response())
}

/// Sends what changes after the event `last`, until the client is gone or nothing is
/// watched any more.
async fn tell(mut seen: watch::Receiver<Seen>, last: Option<String>, sender: &mpsc::Sender<Event>) {
    let mut known = Told {
        status: Value::Null,
        documents: last,
    };
    loop {
        let now = seen.borrow_and_update().clone();
        if let Some(now) = now {
            for event in now.since(&known) {
                if sender.send(event).await.is_err() {
                    return;
                }
            }
            known.clone_from(&now);
        }
        if seen.changed().await.is_err() {
            return;
        }
    }
}

/// What streams say.
#[derive(Clone, Debug, Default, PartialEq)]
struct Told {
    status: Value,
    /// What tells this state of the documents from another.
    documents: Option<String>,
}

impl Told {
    /// Returns the events for a client that was told `known` last.
    fn since(&self, known: &Self) -> Vec<Event> {
        let event = |name, said: &Value| Event {
            name,
            said: said.clone(),
            id: self.documents.clone(),
        };
        let mut events = Vec::new();
        if known.status != self.status {
            events.push(event("status", &self.status));
        }
        if known.documents.is_some() && known.documents != self.documents {
            events.push(event("documents", &json!({})));
        }
        events
    }
}

/// What a watcher knows.
#[derive(Debug, Default)]
struct Known {
    revision: Option<Revision>,
    /// The state of all documents when those that exist for the callers were last compared.
    digest: Option<Vec<u8>>,
    /// The state of the documents that exist for the callers.
    documents: Option<String>,
    /// When they may be compared again.
    next: Option<Instant>,
    status: Option<Status>,
}

impl Known {
    /// Returns what streams say if that has changed since the last look.
    fn look(
        &mut self,
        engine: &Engine,
        caller: &Caller,
        doing: Option<String>,
        round: u64,
    ) -> Option<Told> {
        // What cannot be read now may be readable at the next look.
        let changed = self.changes(engine, caller, doing, round);
        changed.unwrap_or_default().then(|| Told {
            status: json!(self.status),
            documents: self.documents.clone(),
        })
    }

    /// Reports whether anything has changed.
    fn changes(
        &mut self,
        engine: &Engine,
        caller: &Caller,
        doing: Option<String>,
        round: u64,
    ) -> kodiak::Result<bool> {
        let view = engine.view(&caller.guard);
        let revision = match view.read(|reader| reader.revision()) {
            Err(Error::NoIndex { .. }) => None,
            revision => Some(revision?),
        };
        let moved = revision != self.revision || round.is_multiple_of(ANYWAY);
        let compared = self.compared(engine, caller, moved)?;
        let changed = compared.is_some();
        let status = match &self.status {
            Some(known) if !changed && !round.is_multiple_of(SOURCES) => {
                let looks = moved || view.is_embedding()?;
                let embedding = (looks && revision.is_some())
                    .then(|| Embedding::of(engine, caller))
                    .transpose()?;
                known.moved_on(embedding, doing)
            }
            _ => Status::of(engine, caller, doing)?,
        };
        let moved_on = self.status.as_ref() != Some(&status);
        // Both at once, so that the next look tells what this one could not.
        self.revision = revision;
        if let Some((digest, documents)) = compared {
            self.digest = digest;
            self.documents = Some(documents);
        }
        self.status = Some(status);
        Ok(changed || moved_on)
    }

    /// Compares the documents that exist for the callers with those that were seen last.
    /// Returns the new states of all documents and of these if they have changed. Whether
    /// the index seems to have `moved` counts only where its documents have no digest.
    fn compared(
        &mut self,
        engine: &Engine,
        caller: &Caller,
        moved: bool,
    ) -> kodiak::Result<Option<(Option<Vec<u8>>, String)>> {
        let begun = Instant::now();
        if self.next.is_some_and(|next| begun < next) {
            return Ok(None);
        }
        let digest = match engine.view(&caller.guard).read(|reader| reader.digest()) {
            Err(Error::NoIndex { .. }) => Some(Vec::new()),
            digest => digest?,
        };
        let same = match &digest {
            Some(_) => digest == self.digest,
            None => !moved,
        };
        if same {
            return Ok(None);
        }
        let documents = match &digest {
            Some(digest) if caller.guard.sees_everything() => hashed(&[digest]),
            _ => documents(engine, caller)?,
        };
        self.next = Some(Instant::now() + begun.elapsed() * SHARE);
        if self.documents.as_ref() == Some(&documents) {
            self.digest = digest;
            return Ok(None);
        }
        Ok(Some((digest, documents)))
    }
}

/// Returns what tells one state of the documents that exist for a caller from another:
/// nothing in it depends on any other document.
fn documents(engine: &Engine, caller: &Caller) -> kodiak::Result<String> {
    let view = engine.view(&caller.guard);
    let newest = match view.list(&Filter::default(), NEWEST) {
        Err(Error::NoIndex { .. }) => return Ok(hashed(&[])),
        newest => json!(newest?).to_string(),
    };
    let filter = caller.guard.narrow(&Filter::default());
    let mut all = view.read(|reader| reader.fingerprints(&filter))?;
    all.sort_unstable_by(|one, other| one.uid.cmp(&other.uid));
    let all = all.iter();
    let mut parts: Vec<&[u8]> = all
        .flat_map(|one| [one.uid.as_bytes(), one.hash.as_slice()])
        .collect();
    parts.push(newest.as_bytes());
    Ok(hashed(&parts))
}

/// Returns a hash of these parts, in hexadecimal digits.
fn hashed(parts: &[&[u8]]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().to_hex()[..32].to_owned()
}
