//! `GET /api/recent` and `POST /api/opened`: what the owner of the machine opened last and
//! opens often, and what changed last. What is opened is recorded of the owner alone, if the
//! config allows it, and shown to no other caller.

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use kodiak::document::{Reference, Timestamp};
use kodiak::search::Card;
use kodiak::store::Filter;
use kodiak::{Error, date};
use serde::{Deserialize, Serialize};

use super::document::LONGEST;
use super::parameters::{Parameters, malformed};
use super::{Answered, Body, From, Refused, work, worked};
use crate::server::Server;

/// The most documents of each list.
const MOST: usize = 100;
/// The usual number of them.
const USUAL: usize = 20;

/// What was opened and what changed last, and what is opened often.
#[derive(Debug, Serialize)]
pub(super) struct Recent {
    opened: Vec<OpenedCard>,
    often: Vec<OpenedCard>,
    changed: Vec<Card>,
}

#[derive(Debug, Serialize)]
struct OpenedCard {
    #[serde(flatten)]
    card: Card,
    opened_at: String,
}

/// A document that was opened.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OpenedDocument {
    id: String,
}

pub(super) async fn recent(
    State(server): State<Server>,
    Extension(caller): From,
    parameters: Parameters,
) -> Answered<Recent> {
    parameters.only(&["limit"])?;
    let limit = parameters.number("limit", MOST)?.unwrap_or(USUAL);
    let history = server.history(&caller);
    work(&server, move |engine| {
        let view = engine.view(&caller.guard);
        let opened = history.map(|history| history.read()).unwrap_or_default();
        let often = view.opened(opened.often(date::now()), limit)?;
        let opened = view.opened(opened.moments(), limit)?;
        let changed = match view.list(&Filter::default(), limit) {
            Err(Error::NoIndex { .. }) => Vec::new(),
            changed => changed?,
        };
        Ok(Recent {
            opened: dated(opened),
            often: dated(often),
            changed,
        })
    })
    .await
}

fn dated(opened: Vec<(Card, Timestamp)>) -> Vec<OpenedCard> {
    let opened = opened.into_iter().map(|(card, at)| OpenedCard {
        card,
        opened_at: date::format(at),
    });
    opened.collect()
}

pub(super) async fn opened(
    State(server): State<Server>,
    Extension(caller): From,
    Body(opened): Body<OpenedDocument>,
) -> Result<StatusCode, Refused> {
    let length = opened.id.chars().count();
    if !(1..=LONGEST).contains(&length) {
        let wanted = format!("an id of at most {LONGEST} characters");
        return Err(malformed("id", &wanted));
    }
    let history = server.history(&caller);
    worked(&server, move |engine| {
        let found = engine.get(&caller.guard, &Reference::whole(opened.id.as_str()))?;
        if let Some(history) = history {
            let document = &found.document;
            // What cannot be recorded is no reason to fail.
            let _ = history.record(&document.source, &document.key, date::now());
        }
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}
