//! `GET /api/documents/{id}/files/{path}`: a picture that a note shows.

use axum::Extension;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use kodiak::document::Reference;
use kodiak_notes::Pictures;

use super::document::checked;
use super::parameters::{Parameters, malformed};
use super::{From, Refused, worked};
use crate::failure::Refusal;
use crate::http::answers::Answers;
use crate::server::Server;

/// The longest path, in characters.
const LONGEST: usize = 4_096;
/// What keeps a picture from doing anything but being shown, if it is opened by itself.
const POLICY: &str = "sandbox; default-src 'none'; style-src 'unsafe-inline'";

pub(super) async fn file(
    State(server): State<Server>,
    Extension(caller): From,
    Extension(answers): Extension<Answers>,
    path: Result<Path<(String, String)>, PathRejection>,
    parameters: Parameters,
) -> Result<Response, Refused> {
    let Ok(Path((id, path))) = path else {
        return Err(malformed("path", "UTF-8"));
    };
    let id = checked(Ok(Path(id)))?;
    parameters.only(&[])?;
    if path.chars().count() > LONGEST {
        let wanted = format!("at most {LONGEST} characters long");
        return Err(malformed("path", &wanted));
    }
    let none = || {
        Refused::NotFound(Refusal::new(
            "there is no such picture",
            "a note has the pictures of its own folder that are at most 20 MB large",
        ))
    };
    let (guard, asked) = (caller.guard.clone(), path.clone());
    let (found, size) = worked(&server, move |engine| {
        let found = engine.get(&guard, &Reference::whole(id.as_str()))?;
        let size = Pictures::new(engine).size(&guard, &found.document, &asked)?;
        Ok((found.document, size.ok_or_else(none)?))
    })
    .await?;
    // Many clients may ask at once for something large, and read slowly.
    let room = answers.room(size).await;
    let picture = worked(&server, move |engine| {
        let picture = Pictures::new(engine).read(&caller.guard, &found, &path)?;
        picture.ok_or_else(none)
    })
    .await?;
    let headers = [
        (CONTENT_TYPE, picture.media_type),
        (CONTENT_SECURITY_POLICY, POLICY),
    ];
    Ok((headers, Extension(room), picture.bytes).into_response())
}
