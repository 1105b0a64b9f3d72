//! `GET /api/similar/{id}`: the same answer as `kodiak similar --json`.

use axum::Extension;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use kodiak::document::Reference;
use kodiak::engine::Ask;
use kodiak::search::{Answer, Request};

use super::document::checked;
use super::parameters::Parameters;
use super::{Answered, From, work};
use crate::answer::MOST_HITS;
use crate::server::Server;

pub(super) async fn similar(
    State(server): State<Server>,
    Extension(caller): From,
    path: Result<Path<String>, PathRejection>,
    parameters: Parameters,
) -> Answered<Answer> {
    let target = checked(path)?;
    parameters.only(&["lines", "source", "limit"])?;
    let lines = parameters.lines()?;
    let limit = parameters.number("limit", MOST_HITS)?;
    let ask = Ask {
        sources: parameters.texts("source")?,
        ..Ask::default()
    };
    work(&server, move |engine| {
        let usual = Request::default();
        let request = Request {
            limit: limit.unwrap_or(usual.limit),
            filter: ask.filter(engine.view(&caller.guard))?,
            ..usual
        };
        let reference = Reference { target, lines };
        let mut answer = engine.similar(&caller.guard, &reference, &request)?;
        crate::scope::limit(&caller.guard, &mut answer);
        Ok(answer)
    })
    .await
}
