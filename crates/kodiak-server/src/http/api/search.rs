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
    work(&server, move |engine| {
        let request = Request {
            rerank: engine.reranks(),
            ..ask.request(engine.view(&caller.guard), MOST_HITS)?
        };
        let mut answer = engine.search(&caller.guard, &request)?;
        crate::scope::limit(&caller.guard, &mut answer);
        Ok(answer)
    })
    .await
}

/// Refuses what is too long to be meant.
fn check_sizes(ask: &Ask) -> Result<(), Refused> {
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
