//! `POST /api/memories`: remembers a text.

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use kodiak::Job;
use kodiak_memory::{Memories, Memory};
use kodiak_notes::Notes;
use serde::Deserialize;

use super::super::{Body, From, Refused, work};
use super::{
    Desk, LONGEST_TITLE, LONGEST_WORD, Written, card, check_length, check_tags, notice,
    require_writing, unindexed,
};
use crate::json::Json;
use crate::tool::remember_off;
use crate::undo::Step;
use crate::writing;

/// A memory to be written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct New {
    text: String,
    kind: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    project: Option<String>,
}

pub(super) async fn remember(
    State(desk): State<Desk>,
    Extension(caller): From,
    Body(new): Body<New>,
) -> Result<Response, Refused> {
    require_writing(&caller)?;
    check_length(
        "kind",
        new.kind.as_deref().unwrap_or_default(),
        LONGEST_WORD,
    )?;
    check_length(
        "project",
        new.project.as_deref().unwrap_or_default(),
        LONGEST_TITLE,
    )?;
    check_tags("tags", &new.tags)?;
    let options = desk.server.options();
    let source = options.memory_source.clone();
    let source = source.filter(|source| caller.guard.admits(source));
    let source = source.ok_or_else(|| Refused::NotAllowed(remember_off()))?;
    let default_project = options.project.clone();
    let server = desk.server.clone();
    let (status, written) = work(&server, move |engine| {
        let guard = &caller.guard;
        let named = new.project.filter(|name| !name.trim().is_empty());
        let named = named.map(|name| writing::project_meant(engine, guard, name));
        let memory = Memory {
            source,
            text: new.text,
            kind: new.kind.filter(|kind| !kind.trim().is_empty()),
            tags: writing::without_signs(new.tags),
            project: named.or(default_project),
            ..Memory::default()
        };
        let remembered = Memories::new(engine).remember(guard, &memory, &Job::default())?;
        let (source, key) = (&remembered.source, &remembered.key);
        let kind = memory.kind.as_deref().unwrap_or("memory");
        let known = unindexed(engine, source, key, kind);
        let card = card(engine, &caller, (source, key), known)?;
        if remembered.deduplicated {
            let notice = Some("known already; nothing was written".to_owned());
            let undo = None;
            return Ok((StatusCode::OK, Written { card, undo, notice }));
        }
        let text = Notes::new(engine).text(guard, source, key);
        let step = text.ok().map(|text| Step::Trash {
            source: source.clone(),
            key: key.clone(),
            hash: text.hash,
        });
        let written = Written {
            card,
            undo: desk.keep(&caller, step),
            notice: notice(remembered.indexed, remembered.secrets_left_out),
        };
        Ok((StatusCode::CREATED, written))
    })
    .await?
    .0;
    Ok((status, Json(written)).into_response())
}
