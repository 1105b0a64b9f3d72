//! `GET /api/timeline`: the same answer as `kodiak timeline --json`, or, where everything is
//! asked for, one with notes of all kinds.

use axum::Extension;
use axum::extract::State;
use kodiak::access::Guard;
use kodiak::engine::Ask;
use kodiak::store::Filter;
use kodiak::{Engine, Error};
use kodiak_memory::{Memories, TRANSCRIPTS, Timeline, TimelineRequest};

use super::parameters::{Parameters, malformed};
use super::{Answered, From, work};
use crate::http::refusal::Refused;
use crate::server::Server;

/// The most entries of one answer.
const MOST: usize = 500;
/// The usual number of entries.
const USUAL: usize = 50;
/// The usual number of entries before and after the one in the middle.
const USUAL_CONTEXT: usize = 5;
/// The most of them.
const MOST_CONTEXT: usize = 100;
/// The longest reference, in characters.
const LONGEST: usize = 1_000;

/// The kind of the turns of transcripts.
const TURN: &str = "turn";

const KNOWN: [&str; 11] = [
    "from",
    "to",
    "around",
    "context",
    "source",
    "project",
    "tag",
    "kind",
    "turns",
    "everything",
    "limit",
];

pub(super) async fn timeline(
    State(server): State<Server>,
    Extension(caller): From,
    parameters: Parameters,
) -> Answered<Timeline> {
    parameters.only(&KNOWN)?;
    let around = parameters.one("around")?.map(str::to_owned);
    let length = around.as_ref().map(|id| id.chars().count());
    if length.is_some_and(|length| !(1..=LONGEST).contains(&length)) {
        let wanted = format!("an id of at most {LONGEST} characters");
        return Err(malformed("around", &wanted));
    }
    let context = parameters.number("context", MOST_CONTEXT)?;
    let asked = Asked::read(&parameters)?;
    let limit = parameters.number("limit", MOST)?;
    work(&server, move |engine| {
        let request = TimelineRequest {
            around,
            context: context.unwrap_or(USUAL_CONTEXT),
            limit: limit.unwrap_or(USUAL),
            refresh: true,
            ..asked.request(engine, &caller.guard)?
        };
        Ok(Memories::new(engine).timeline(&caller.guard, &request)?)
    })
    .await
}

/// Which documents a timeline is asked for.
pub(super) struct Asked {
    ask: Ask,
    turns: bool,
    everything: bool,
}

impl Asked {
    pub(super) fn read(parameters: &Parameters) -> Result<Self, Refused> {
        let date = |name: &str| Ok::<_, Refused>(parameters.one(name)?.map(str::to_owned));
        let ask = Ask {
            after: date("from")?,
            before: date("to")?,
            sources: parameters.texts("source")?,
            projects: parameters.texts("project")?,
            tags: parameters.texts("tag")?,
            kinds: parameters.texts("kind")?,
            ..Ask::default()
        };
        Ok(Self {
            ask,
            turns: flag(parameters, "turns")?,
            everything: flag(parameters, "everything")?,
        })
    }

    /// Returns the request for all of them.
    pub(super) fn request(&self, engine: &Engine, guard: &Guard) -> Result<TimelineRequest, Error> {
        let mut filter = self.ask.filter(engine.view(guard))?;
        if self.everything {
            name_all(engine, guard, &mut filter, self.turns)?;
        }
        Ok(TimelineRequest {
            after: filter.after.take(),
            before: filter.before.take(),
            filter,
            turns: self.turns,
            ..TimelineRequest::default()
        })
    }
}

/// Reads whether something is wanted that is not usual.
fn flag(parameters: &Parameters, name: &str) -> Result<bool, Refused> {
    match parameters.one(name)? {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(_) => Err(malformed(name, "true or false")),
    }
}

/// Names all sources in a filter that names none: a timeline lists memories and sessions
/// otherwise. Transcripts are among them only if `turns` are wanted, because these would
/// hide everything else.
fn name_all(engine: &Engine, guard: &Guard, filter: &mut Filter, turns: bool) -> Result<(), Error> {
    if !filter.sources.is_empty() {
        return Ok(());
    }
    let indexed = match engine.view(guard).indexed_sources() {
        Err(Error::NoIndex { .. }) => Vec::new(),
        indexed => indexed?,
    };
    let turns = turns
        || filter
            .kinds
            .iter()
            .any(|kind| kind.eq_ignore_ascii_case(TURN));
    let is_transcript = |name: &str| {
        let mut sources = engine.sources().iter();
        sources.any(|source| source.name() == name && source.kind() == TRANSCRIPTS)
    };
    let names = indexed.into_iter().map(|source| source.name);
    filter.sources = names.filter(|name| turns || !is_transcript(name)).collect();
    Ok(())
}
