//! `GET /api/documents/{id}/conversation`: the turns around one of a transcript, as they
//! were said, with what tools were asked and answered apart.

use axum::Extension;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use kodiak::Engine;
use kodiak::access::Guard;
use kodiak::document::Reference;
use kodiak::search::Found;
use kodiak::store::{Filter, Row, StoredDocument};
use serde::Serialize;

use super::document::{LONGEST, checked};
use super::parameters::{Parameters, malformed};
use super::{Answered, From, Refused, work};
use crate::failure::Refusal;
use crate::reading::{rendered, rendered_alone};
use crate::server::Server;

/// The number of turns of one answer.
const TURNS: usize = 40;
/// The most bytes of one turn, and of its tools, that are shown.
const LONGEST_TURN: usize = 40_000;
const LONGEST_TOOLS: usize = 10_000;

/// A part of a conversation.
#[derive(Debug, Serialize)]
pub(super) struct Conversation {
    title: String,
    /// The command that resumes it, for the owner of the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    resume: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    turns: Vec<Turn>,
    /// Whether there are turns before these, and after them.
    earlier: bool,
    later: bool,
}

/// What was said in one turn, or what the tools in it were asked and answered.
#[derive(Debug, Serialize)]
struct Turn {
    id: String,
    speaker: String,
    at: String,
    html: String,
    /// Whether it is what tools were asked and answered.
    tool: bool,
    /// Whether it is the turn that was asked for.
    found: bool,
    /// Whether it is longer than what is shown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cut: bool,
}

/// Which part of a conversation is asked for.
enum Part {
    Around,
    Before(String),
    After(String),
}

pub(super) async fn conversation(
    State(server): State<Server>,
    Extension(caller): From,
    path: Result<Path<String>, PathRejection>,
    parameters: Parameters,
) -> Answered<Conversation> {
    let id = checked(path)?;
    parameters.only(&["before", "after"])?;
    let part = match (named(&parameters, "before")?, named(&parameters, "after")?) {
        (None, None) => Part::Around,
        (Some(id), None) => Part::Before(id),
        (None, Some(id)) => Part::After(id),
        (Some(_), Some(_)) => return Err(malformed("before", "given without 'after'")),
    };
    let is_local = caller.is_local();
    work(&server, move |engine| {
        let guard = &caller.guard;
        let found = engine.view(guard).find(&id)?;
        let mut conversation = read(engine, guard, &found, &part)?;
        if is_local {
            let turn = engine.view(guard).describe(&found)?.turn;
            conversation.resume = turn.and_then(|turn| turn.resume);
        }
        Ok(conversation)
    })
    .await
}

fn named(parameters: &Parameters, name: &str) -> Result<Option<String>, Refused> {
    match parameters.one(name)? {
        Some(id) if !(1..=LONGEST).contains(&id.chars().count()) => {
            let wanted = format!("an id of at most {LONGEST} characters");
            Err(malformed(name, &wanted))
        }
        id => Ok(id.map(str::to_owned)),
    }
}

fn read(
    engine: &Engine,
    guard: &Guard,
    found: &Found,
    part: &Part,
) -> Result<Conversation, Refused> {
    let view = engine.view(guard);
    let beside = match part {
        Part::Around => None,
        Part::Before(id) | Part::After(id) => {
            Some(engine.get(guard, &Reference::whole(id.as_str()))?.document)
        }
    };
    let scope = guard.narrow(&Filter::default());
    let own = &found.document;
    let read = view.read(|reader| {
        // The index may have changed since the document was found.
        let row_of = |document: &StoredDocument| {
            let now = reader.with_id_prefix(&document.uid, &scope, 1)?;
            Ok::<_, kodiak::Error>(now.first().map(|(row, ..)| *row))
        };
        let Some(row) = row_of(own)? else {
            return Ok(None);
        };
        let beside = beside.as_ref().map(row_of).transpose()?.flatten();
        let mut threads = reader.threads_of(&[row])?.into_iter();
        let Some(thread) = threads.find(|thread| thread.contains(&row)) else {
            return Ok(None);
        };
        let place = |row: Row| thread.iter().position(|one| *one == row);
        let at = place(row).unwrap_or_default();
        let (from, to) = match (part, beside.and_then(place)) {
            (Part::Before(_), Some(end)) => (end.saturating_sub(TURNS), end),
            (Part::After(_), Some(begin)) => (begin + 1, begin + 1 + TURNS),
            (Part::Around, _) => (at.saturating_sub(TURNS / 2), at + TURNS / 2),
            // A turn of another conversation.
            _ => (0, 0),
        };
        let to = to.min(thread.len());
        let shown = reader.documents(&thread[from.min(to)..to])?;
        let first = reader.documents(&thread[..1])?.pop();
        let beyond = (from > 0 && from < to, to < thread.len() && from < to);
        Ok(Some((shown, first, beyond)))
    })?;
    let Some((documents, first, (earlier, later))) = read else {
        return Err(Refused::NotFound(Refusal::new(
            "this is not part of a conversation",
            "GET /api/documents/{id}/rendered shows any document",
        )));
    };
    let mut turns = Vec::with_capacity(documents.len());
    for document in &documents {
        add(engine, guard, document, document.uid == own.uid, &mut turns)?;
    }
    let title = first.as_ref().unwrap_or(own).shown_title().into_owned();
    Ok(Conversation {
        title,
        resume: None,
        project: own.project.clone(),
        turns,
        earlier,
        later,
    })
}

/// Adds what was said in a turn, and then what its tools were asked and answered.
fn add(
    engine: &Engine,
    guard: &Guard,
    document: &StoredDocument,
    found: bool,
    turns: &mut Vec<Turn>,
) -> Result<(), Refused> {
    let (said, done) = divided(document);
    let at = document.created_at.unwrap_or(document.updated_at);
    let turn = |speaker: &str, html: String, tool: bool, cut: bool| Turn {
        id: document.short_id.clone(),
        speaker: speaker.to_owned(),
        at: kodiak::date::format(at),
        html,
        tool,
        found,
        cut,
    };
    let speaker = document.author.as_deref().unwrap_or_default();
    if !said.is_empty() || done.is_empty() {
        let cut = &said[..said.floor_char_boundary(LONGEST_TURN)];
        let html = if cut.len() == document.body.len() {
            rendered(engine, guard, document, 1)
                .map_err(Refused::Failed)?
                .html
        } else {
            rendered_alone(cut)
        };
        turns.push(turn(speaker, html, false, cut.len() < said.len()));
    }
    if !done.is_empty() {
        let cut = &done[..done.floor_char_boundary(LONGEST_TOOLS)];
        // As text: what a tool answered is no Markdown.
        let html = crate::reading::verbatim(cut);
        turns.push(turn("tool", html, true, cut.len() < done.len()));
    }
    Ok(())
}

#[cfg(feature = "sessions")]
fn divided(document: &StoredDocument) -> (&str, &str) {
    use kodiak_sessions::transcripts::{KIND, said_and_done};
    if document.kind == KIND {
        return said_and_done(&document.body);
    }
    (&document.body, "")
}

#[cfg(not(feature = "sessions"))]
fn divided(document: &StoredDocument) -> (&str, &str) {
    (&document.body, "")
}
