//! `POST /api/search`: the same answer as `kodiak search --json`. For the owner of the
//! machine, hits that were opened pass others that are about as relevant. While a query is
//! typed, changes are not looked for, which would take longer than the search.

use axum::Extension;
use axum::extract::State;
use kodiak::engine::Ask;
use kodiak::search::{Answer, Request};

use super::parameters::malformed;
use super::{Answered, Body, From, work};
use crate::answer::MOST_HITS;
use crate::http::refusal::Refused;
use crate::server::Server;

/// The most values of one list.
const MOST_VALUES: usize = 100;
/// The longest value, in characters.
const LONGEST: usize = 1_000;
/// The longest query, in characters.
const LONGEST_QUERY: usize = 10_000;

pub(super) async fn search(
    State(server): State<Server>,
    Extension(caller): From,
    Body(ask): Body<Ask>,
) -> Answered<Answer> {
    check_sizes(&ask)?;
    let history = server.history(&caller);
    let offset = ask.offset;
    work(&server, move |engine| {
        // A user who types asks again in a moment.
        let refresh = !ask.as_you_type;
        let request = Request {
            rerank: engine.reranks(),
            refresh,
            ..ask.request(engine.view(&caller.guard), MOST_HITS)?
        };
        let mut answer = engine.search(&caller.guard, &request)?;
        crate::scope::limit(&caller.guard, &mut answer);
        if let Some(history) = history {
            history
                .read()
                .reorder(&mut answer.hits, kodiak::date::now());
        }
        leave_out(&mut answer, offset);
        Ok(answer)
    })
    .await
}

/// Leaves out the best hits, which the caller has. They are counted as matches, and not
/// among the relevant hits.
fn leave_out(answer: &mut Answer, offset: usize) {
    let left_out = answer.hits.drain(..offset.min(answer.hits.len()));
    let probable = left_out.filter(|hit| hit.probable).count();
    if let Some(relevant) = &mut answer.relevant {
        *relevant = relevant.saturating_sub(probable);
    }
}

/// Refuses what is too long to be meant.
pub(super) fn check_sizes(ask: &Ask) -> Result<(), Refused> {
    if ask.query.chars().count() > LONGEST_QUERY {
        let wanted = format!("at most {LONGEST_QUERY} characters long");
        return Err(malformed("query", &wanted));
    }
    for (name, values) in [
        ("sources", &ask.sources),
        ("paths", &ask.paths),
        ("tags", &ask.tags),
        ("kinds", &ask.kinds),
        ("categories", &ask.categories),
        ("projects", &ask.projects),
    ] {
        let long = values.iter().any(|value| value.chars().count() > LONGEST);
        if values.len() > MOST_VALUES || long {
            let wanted = format!("at most {MOST_VALUES} texts of at most {LONGEST} characters");
            return Err(malformed(name, &wanted));
        }
    }
    Ok(())
}
