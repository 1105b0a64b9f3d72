//! `POST /api/pages`: writes a new page.

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use kodiak::Job;
use kodiak_notes::Notes;
use serde::Deserialize;

use super::super::{Body, From, Refused};
use super::{
    Desk, LONGEST_TITLE, LONGEST_WORD, Written, card, check_length, check_tags, notice,
    require_writing, unindexed,
};
use crate::undo::Step;
use crate::writing::{self, NewPage};

/// A page to be written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Page {
    title: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    tags: Vec<String>,
    source: Option<String>,
}

pub(super) async fn create(
    State(desk): State<Desk>,
    Extension(caller): From,
    Body(page): Body<Page>,
) -> Result<Response, Refused> {
    require_writing(&caller)?;
    check_length("title", &page.title, LONGEST_TITLE)?;
    check_length(
        "source",
        page.source.as_deref().unwrap_or_default(),
        LONGEST_WORD,
    )?;
    check_tags("tags", &page.tags)?;
    desk.answer(StatusCode::CREATED, move |desk, engine| {
        let new = NewPage {
            title: page.title,
            text: page.text,
            tags: writing::without_signs(page.tags),
            source: page.source,
            ..NewPage::default()
        };
        let guard = &caller.guard;
        let (source, saved) = writing::create_page(engine, guard, new, &Job::default())?;
        let text = Notes::new(engine).text(guard, &source, &saved.key);
        let step = text.ok().map(|text| Step::Trash {
            source: source.clone(),
            key: saved.key.clone(),
            hash: text.hash,
        });
        let known = unindexed(engine, &source, &saved.key, "note");
        Ok(Written {
            card: card(engine, &caller, (&source, &saved.key), known)?,
            undo: desk.keep(&caller, step),
            notice: notice(saved.indexed, saved.secrets_left_out),
        })
    })
    .await
}
