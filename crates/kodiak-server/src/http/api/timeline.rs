//! `GET /api/timeline`: the same answer as `kodiak timeline --json`, or, where everything is
//! asked for, one with notes of all kinds.

use axum::Extension;
use axum::extract::State;
use kodiak::engine::Ask;
use kodiak_memory::{Memories, Timeline, TimelineRequest};

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

const KNOWN: [&str; 10] = [
    "from", "to", "around", "context", "source", "project", "tag", "kind", "turns", "limit",
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
    let limit = parameters.number("limit", MOST)?;
    let turns = match parameters.one("turns")? {
        None | Some("false") => false,
        Some("true") => true,
        Some(_) => return Err(malformed("turns", "true or false")),
    };
    work(&server, move |engine| {
        let mut filter = ask.filter(engine.view(&caller.guard))?;
        let request = TimelineRequest {
            after: filter.after.take(),
            before: filter.before.take(),
            filter,
            turns,
            around,
            context: context.unwrap_or(USUAL_CONTEXT),
            limit: limit.unwrap_or(USUAL),
            refresh: true,
        };
        Ok(Memories::new(engine).timeline(&caller.guard, &request)?)
    })
    .await
}
