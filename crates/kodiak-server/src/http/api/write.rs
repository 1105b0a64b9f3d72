//! The routes that write: pages, memories, tags, the trash, and the way back.
//!
//! They do what the tools for agents do, with the same rights. Every change can be taken
//! back by the caller that made it.

mod memories;
mod open;
mod pages;
mod tags;
mod trash;
mod undo;

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, post};
use kodiak::access::{Capability, Guard};
use kodiak::document::{DocumentId, uri};
use kodiak::search::Card;
use kodiak::store::shown_title;
use kodiak::{Engine, date};
use kodiak_notes::Notes;
use kodiak_notes::markdown::document_from_text;
use serde::Serialize;

use super::parameters::malformed;
use super::{Refused, work};
use crate::failure::Refusal;
use crate::json::Json;
use crate::server::{Caller, Server};
use crate::undo::{Step, Undos};
use crate::writing::Unwritten;

/// The longest title, in characters.
const LONGEST_TITLE: usize = 1_000;
/// The most tags of one request.
const MOST_TAGS: usize = 100;
/// The longest tag or kind, in characters.
const LONGEST_WORD: usize = 200;

/// What the routes share.
#[derive(Clone, Debug)]
struct Desk {
    server: Server,
    undos: Arc<Undos>,
}

/// Returns the routes. Those of `/documents/{id}` are for `document`.
pub(super) fn router(server: Server) -> Router {
    let undos = Arc::default();
    Router::new()
        .route("/pages", post(pages::create))
        .route("/memories", post(memories::remember))
        .route("/documents/{id}", delete(trash::forget))
        .route("/documents/{id}/tags", post(tags::change))
        .route("/documents/{id}/open", post(open::open))
        .route("/undo", post(undo::undo))
        .with_state(Desk { server, undos })
}

/// A document that was written.
#[derive(Debug, Serialize)]
struct Written {
    #[serde(flatten)]
    card: Card,
    /// What takes it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    undo: Option<String>,
    /// What the caller should know about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

/// Refuses a caller that may not write, before anything is looked up.
fn require_writing(caller: &Caller) -> Result<(), Refused> {
    Ok(caller.guard.require(Capability::Write)?)
}

impl Desk {
    /// Does blocking work and answers with this status.
    async fn answer<T: Serialize + Send + 'static>(
        self,
        status: StatusCode,
        done: impl FnOnce(&Self, &Engine) -> Result<T, Refused> + Send + 'static,
    ) -> Result<Response, Refused> {
        let server = self.server.clone();
        let Json(value) = work(&server, move |engine| done(&self, engine)).await?;
        Ok((status, Json(value)).into_response())
    }

    /// Keeps how something is taken back.
    fn keep(&self, caller: &Caller, step: Option<Step>) -> Option<String> {
        self.undos.keep(caller, step?, Instant::now())
    }
}

/// Returns what is shown of a document that was written. If it is not indexed yet, that is
/// what was written.
fn card(
    engine: &Engine,
    caller: &Caller,
    (source, key): (&str, &str),
    written: Card,
) -> Result<Card, Refused> {
    match engine.view(&caller.guard).find(&uri(source, key)) {
        Ok(found) => Ok(Card::from(&found.document)),
        Err(kodiak::Error::NoDocument { .. } | kodiak::Error::NoIndex { .. }) => Ok(written),
        Err(error) => Err(error.into()),
    }
}

/// Returns what is known of a document before it is indexed: what its file says, which may
/// be less than what was sent.
fn unindexed(engine: &Engine, source: &str, key: &str, kind: &str) -> Card {
    // The caller has just written it.
    let text = Notes::new(engine).text(&Guard::local(), source, key);
    let written = text.map(|text| document_from_text(source, key, &text.text, 0));
    let (title, tags) = written.map_or_else(
        |_| (String::new(), Vec::new()),
        |written| {
            let title = shown_title(&written.title, &written.body).into_owned();
            (title, written.tags)
        },
    );
    Card {
        id: DocumentId::new(source, key).hex(),
        uri: uri(source, key),
        source: source.to_owned(),
        path: key.to_owned(),
        file: None,
        url: None,
        kind: kind.to_owned(),
        title,
        category: None,
        tags,
        created_at: None,
        updated_at: date::format(date::now()),
        project: None,
        author: None,
    }
}

/// Words what is not as usual about something that was written.
fn notice(indexed: bool, secrets: usize) -> Option<String> {
    let mut parts = Vec::new();
    if secrets > 0 {
        let plural = if secrets == 1 { "" } else { "s" };
        parts.push(format!("{secrets} secret{plural} left out"));
    }
    if !indexed {
        parts.push("not indexed yet; a search will find it soon".to_owned());
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Refuses tags that are too many or too long to be meant.
fn check_tags(name: &str, tags: &[String]) -> Result<(), Refused> {
    let long = tags.iter().any(|tag| tag.chars().count() > LONGEST_WORD);
    if tags.len() > MOST_TAGS || long {
        let wanted = format!("at most {MOST_TAGS} texts of at most {LONGEST_WORD} characters");
        return Err(malformed(name, &wanted));
    }
    Ok(())
}

/// Refuses a text that is too long to be meant.
fn check_length(name: &str, text: &str, longest: usize) -> Result<(), Refused> {
    if text.chars().count() > longest {
        return Err(malformed(
            name,
            &format!("at most {longest} characters long"),
        ));
    }
    Ok(())
}

impl From<Unwritten> for Refused {
    fn from(unwritten: Unwritten) -> Self {
        match unwritten {
            Unwritten::Taken(page) => Self::Conflict(Refusal::new(
                format!(
                    "a page named \"{}\" already exists: {}/{}",
                    page.title, page.source, page.path
                ),
                "choose another title",
            )),
            Unwritten::Asked(Refusal { message, step }) => Self::Malformed { message, step },
            Unwritten::Nowhere(refusal) => Self::NotAllowed(refusal),
            Unwritten::Failed(error) => error.into(),
        }
    }
}
