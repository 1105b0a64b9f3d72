//! `POST /api/facets`: how many of the documents that the words of a search find have
//! each source, tag, kind, project and month.

use axum::Extension;
use axum::extract::State;
use kodiak::engine::Ask;
use kodiak::search::Facets;

use super::search::check_sizes;
use super::{Answered, Body, From, work};
use crate::answer::MOST_HITS;
use crate::server::Server;

pub(super) async fn facets(
    State(server): State<Server>,
    Extension(caller): From,
    Body(ask): Body<Ask>,
) -> Answered<Facets> {
    check_sizes(&ask)?;
    work(&server, move |engine| {
        let view = engine.view(&caller.guard);
        Ok(view.facets(&ask.request(view, MOST_HITS)?)?)
    })
    .await
}
