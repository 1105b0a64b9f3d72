//! `GET /api/timeline`: the same answer as `kodiak timeline --json`.

use axum::Extension;
use axum::extract::State;
use kodiak::store::Filter;
use kodiak_memory::{Memories, Timeline, TimelineRequest};

use super::parameters::{Parameters, malformed};
use super::{Answered, From, work};
use crate::ask::{Meant, period};
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

const KNOWN: [&str; 9] = [
    "from", "to", "around", "context", "source", "project", "tag", "kind", "limit",
];

pub(super) async fn timeline(
    State(server): State<Server>,
    Extension(caller): From,
    parameters: Parameters,
) -> Answered<Timeline> {
    parameters.only(&KNOWN)?;
    let (after, before) = period(parameters.one("from")?, parameters.one("to")?)?;
    let around = parameters.one("around")?.map(str::to_owned);
    let length = around.as_ref().map(|id| id.chars().count());
    if length.is_some_and(|length| !(1..=LONGEST).contains(&length)) {
        let wanted = format!("an id of at most {LONGEST} characters");
        return Err(malformed("around", &wanted));
    }
    let context = parameters.number("context", MOST_CONTEXT)?;
    let meant = Meant {
        sources: parameters.texts("source")?,
        projects: parameters.texts("project")?,
        tags: parameters.texts("tag")?,
        kinds: parameters.texts("kind")?,
        ..Meant::default()
    };
    let mut request = TimelineRequest {
        filter: Filter::default(),
        after,
        before,
        around,
        context: context.unwrap_or(USUAL_CONTEXT),
        limit: parameters.number("limit", MOST)?.unwrap_or(USUAL),
        refresh: true,
    };
    work(&server, move |engine| {
        request.filter = meant.filter(engine, &caller.guard)?;
        Ok(Memories::new(engine).timeline(&caller.guard, &request)?)
    })
    .await
}
