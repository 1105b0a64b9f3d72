//! `POST /api/undo`: takes back what the caller has done.

use std::time::Instant;

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use kodiak::Job;
use kodiak::document::uri;
use kodiak::search::Card;
use serde::Deserialize;

use super::super::{Body, From, Refused, work};
use super::{Desk, require_writing};
use crate::failure::Refusal;
use crate::json::Json;
use crate::undo::{NotUndone, Undone};

/// What is to be taken back.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Undo {
    undo: String,
}

pub(super) async fn undo(
    State(desk): State<Desk>,
    Extension(caller): From,
    Body(asked): Body<Undo>,
) -> Result<Response, Refused> {
    require_writing(&caller)?;
    let server = desk.server.clone();
    let card = work(&server, move |engine| {
        let Some(kept) = desk.undos.take(&caller, &asked.undo, Instant::now()) else {
            return Err(Refused::NotFound(Refusal::new(
                "there is nothing to take back",
                "it was taken back, or is more than an hour ago",
            )));
        };
        match kept.undo(engine, &caller.guard, &Job::default()) {
            Ok(Undone::Gone) => Ok(None),
            Ok(Undone::Back { source, key }) => {
                let found = engine.view(&caller.guard).find(&uri(&source, &key));
                // It is back, though the index may follow later.
                Ok(found.ok().map(|found| Card::from(&found.document)))
            }
            Err(NotUndone::Changed) => Err(Refused::Conflict(Refusal::new(
                "it has changed since, and was left as it is",
                "read it again",
            ))),
            Err(NotUndone::Failed(error)) => {
                desk.undos.put_back(kept, Instant::now());
                Err(error.into())
            }
        }
    })
    .await?
    .0;
    Ok(match card {
        Some(card) => Json(card).into_response(),
        None => StatusCode::NO_CONTENT.into_response(),
    })
}
