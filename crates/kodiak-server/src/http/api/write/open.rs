//! `POST /api/documents/{id}/open`: opens a document in the editor of the machine.

use axum::Extension;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use kodiak::document::{LineRange, Reference};
use serde::Deserialize;

use super::super::document::checked;
use super::super::{Body, From, Refused, work};
use super::{Desk, require_writing};
use crate::failure::Refusal;

/// Where in a document.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Place {
    line: Option<usize>,
}

pub(super) async fn open(
    State(desk): State<Desk>,
    Extension(caller): From,
    path: Result<Path<String>, PathRejection>,
    Body(place): Body<Place>,
) -> Result<Response, Refused> {
    require_writing(&caller)?;
    let Some(opener) = desk.server.opener(&caller) else {
        return Err(Refused::NotAllowed(Refusal::new(
            "documents are opened only for the owner, on the machine of the server",
            "sign in with a link of `kodiak serve --allow-write` at 127.0.0.1",
        )));
    };
    let target = checked(path)?;
    work(&desk.server, move |engine| {
        let found = engine.view(&caller.guard).find(&target)?;
        let line = place.line.unwrap_or(found.lines.from);
        let line = line.clamp(1, found.line_count.max(1));
        let reference = Reference {
            target: found.document.uid.clone(),
            lines: Some(LineRange {
                from: line,
                to: line,
            }),
        };
        let found = engine.get(&caller.guard, &reference)?;
        opener(engine, &found).map_err(|reason| {
            let step = "open it with `kodiak open`";
            Refused::Unopened(Refusal::new(reason, step))
        })
    })
    .await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
