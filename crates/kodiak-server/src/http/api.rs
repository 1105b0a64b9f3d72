//! The JSON API, for programs that do not speak the protocol: the routes, and
//! how their requests are read. `docs/openapi.json` describes it.
//!
//! Unlike the tools for agents, it takes nothing for something else: a field
//! that it does not know or a text in place of a number is refused.

mod conversation;
mod counts;
mod document;
mod events;
mod facets;
mod files;
mod links;
mod parameters;
mod recent;
mod rendered;
mod search;
mod session;
mod similar;
mod status;
mod timeline;
mod write;

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use axum::routing::{get, post};
use axum::{Extension, Router};
use kodiak::{Cancel, Engine};
use serde::de::DeserializeOwned;

use super::refusal::Refused;
use crate::failure::Refusal;
use crate::json::Json;
use crate::server::{Caller, Server};

/// Returns the routes.
pub(super) fn router(server: Server) -> Router {
    Router::new()
        .route("/search", post(search::search))
        .route("/documents/{id}", get(document::document))
        .route("/documents/{id}/rendered", get(rendered::rendered_document))
        .route("/documents/{id}/files/{*path}", get(files::file))
        .route(
            "/documents/{id}/conversation",
            get(conversation::conversation),
        )
        .route("/facets", post(facets::facets))
        .route("/recent", get(recent::recent))
        .route("/opened", post(recent::opened))
        .route("/timeline/counts", get(counts::counts))
        .route(
            "/events",
            get(events::events).layer(Extension(events::Watches::new())),
        )
        .route("/links/{id}", get(links::links))
        .route("/similar/{id}", get(similar::similar))
        .route("/timeline", get(timeline::timeline))
        .route("/status", get(status::status))
        .route("/session", get(session::session))
        .with_state(server.clone())
        .merge(write::router(server))
}

/// The body of a request, read as JSON.
pub(super) struct Body<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Refused;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refused> {
        if !is_json(request.headers()) {
            return Err(Refused::NotJson);
        }
        let bytes = Bytes::from_request(request, state).await;
        let bytes = bytes.map_err(|rejection| match rejection.status().as_u16() {
            413 => Refused::TooLarge,
            _ => Refused::Malformed {
                message: "the body could not be read".to_owned(),
                step: String::new(),
            },
        })?;
        let malformed = |reason: &str| Refused::Malformed {
            message: format!("the body is not what it should be: {reason}"),
            step: "docs/openapi.json describes it".to_owned(),
        };
        // A list would be taken for the fields in their order.
        if bytes.trim_ascii_start().first() != Some(&b'{') {
            return Err(malformed("it is not a JSON object"));
        }
        serde_json::from_slice(&bytes)
            .map(Self)
            .map_err(|error| malformed(&error.to_string()))
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let given = headers.get(header::CONTENT_TYPE);
    let given = given.and_then(|value| value.to_str().ok());
    let kind = given.and_then(|value| value.split(';').next());
    kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

/// Who sent a request. The access layer has put it there.
type From = Extension<Caller>;

/// An answer, or why there is none.
type Answered<T> = Result<Json<T>, Refused>;

/// Does blocking work on a thread of its own. It is cancelled if the
/// caller stops waiting.
async fn work<T: Send + 'static>(
    server: &Server,
    work: impl FnOnce(&Engine) -> Result<T, Refused> + Send + 'static,
) -> Answered<T> {
    worked(server, work).await.map(Json)
}

/// Does blocking work like [`work`], for an answer that is not JSON.
async fn worked<T: Send + 'static>(
    server: &Server,
    work: impl FnOnce(&Engine) -> Result<T, Refused> + Send + 'static,
) -> Result<T, Refused> {
    /// Cancels when it is dropped.
    struct Waiting(Cancel);

    impl Drop for Waiting {
        fn drop(&mut self) {
            self.0.cancel();
        }
    }

    let cancel = Cancel::new();
    let engine = server.engine().cancelled_by(cancel.clone());
    let waiting = Waiting(cancel);
    let done = tokio::task::spawn_blocking(move || work(&engine)).await;
    drop(waiting);
    match done {
        Ok(answer) => answer,
        Err(error) => Err(Refused::Failed(Refusal::new(
            format!("the request failed: {error}"),
            "try another one",
        ))),
    }
}
