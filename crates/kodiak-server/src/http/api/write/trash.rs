//! `DELETE /api/documents/{id}`: moves a page or a memory to the trash.

use axum::Extension;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use kodiak::{Error, Job};
use kodiak_notes::Notes;
use serde::Serialize;

use super::super::document::checked;
use super::super::{From, Refused};
use super::{Desk, require_writing};
use crate::undo::Step;
use crate::writing::is_editable;

/// A document that was moved to the trash.
#[derive(Debug, Serialize)]
struct Trashed {
    /// What moves it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    undo: Option<String>,
}

pub(super) async fn forget(
    State(desk): State<Desk>,
    Extension(caller): From,
    path: Result<Path<String>, PathRejection>,
) -> Result<Response, Refused> {
    require_writing(&caller)?;
    let id = checked(path)?;
    desk.answer(StatusCode::OK, move |desk, engine| {
        let guard = &caller.guard;
        let found = engine.view(guard).find(&id)?;
        let (source, key) = (&found.document.source, &found.document.key);
        if !is_editable(engine, guard, source) {
            let name = source.clone();
            return Err(Error::NotWritable { name }.into());
        }
        Notes::new(engine).delete(guard, source, key, &Job::default())?;
        let step = Step::back(engine, guard, (source, key, &found.entry));
        let undo = desk.keep(&caller, step);
        Ok(Trashed { undo })
    })
    .await
}
