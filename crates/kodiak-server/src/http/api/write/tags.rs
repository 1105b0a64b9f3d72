//! `POST /api/documents/{id}/tags`: adds and removes tags of a note.

use axum::Extension;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use kodiak::Job;
use kodiak::search::Card;
use kodiak_notes::Notes;
use serde::Deserialize;

use super::super::document::checked;
use super::super::{Body, From, Refused};
use super::{Desk, Written, card, check_tags, notice, require_writing};
use crate::undo::Step;

/// The tags to add and to remove.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tags {
    #[serde(default)]
    add: Vec<String>,
    #[serde(default)]
    remove: Vec<String>,
}

pub(super) async fn change(
    State(desk): State<Desk>,
    Extension(caller): From,
    path: Result<Path<String>, PathRejection>,
    Body(tags): Body<Tags>,
) -> Result<Response, Refused> {
    require_writing(&caller)?;
    let id = checked(path)?;
    check_tags("add", &tags.add)?;
    check_tags("remove", &tags.remove)?;
    if tags.add.is_empty() && tags.remove.is_empty() {
        return Err(Refused::Malformed {
            message: "there is nothing to change".to_owned(),
            step: "name tags as 'add' or 'remove'".to_owned(),
        });
    }
    desk.answer(StatusCode::OK, move |desk, engine| {
        let guard = &caller.guard;
        let found = engine.view(guard).find(&id)?.document;
        let (source, key) = (&found.source, &found.key);
        let change = (tags.add.as_slice(), tags.remove.as_slice());
        let job = Job::default();
        let changed = Notes::new(engine).change_tags(guard, source, key, change, &job)?;
        let step = Step::Rewrite {
            source: source.clone(),
            key: key.clone(),
            before: changed.before.text,
            hash: changed.hash,
        };
        Ok(Written {
            card: card(engine, &caller, (source, key), Card::from(&found))?,
            undo: desk.keep(&caller, Some(step)),
            notice: notice(changed.saved.indexed, changed.saved.secrets_left_out),
        })
    })
    .await
}
