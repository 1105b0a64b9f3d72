//! `GET /api/links/{id}`: the same answer as `kodiak links --json`.

use axum::Extension;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use kodiak_notes::{Links, NoteLinks};

use super::document::checked;
use super::parameters::Parameters;
use super::{Answered, From, work};
use crate::server::Server;

/// The number of items in each list, unless the caller asks for another.
const USUAL: usize = 50;
/// The most items in each list.
const MOST: usize = 1_000;

pub(super) async fn links(
    State(server): State<Server>,
    Extension(caller): From,
    path: Result<Path<String>, PathRejection>,
    parameters: Parameters,
) -> Answered<NoteLinks> {
    let id = checked(path)?;
    parameters.only(&["limit"])?;
    let limit = parameters.number("limit", MOST)?.unwrap_or(USUAL);
    work(&server, move |engine| {
        Ok(Links::new(engine).of(&caller.guard, &id, limit)?)
    })
    .await
}
