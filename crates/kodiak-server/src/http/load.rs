//! Bounds how many requests are served at once, and for how long.
//!
//! As many are worked on as the machine can do at once, and the others wait in
//! order. If too many wait, the next one is refused at once: it may come again,
//! and those that wait are answered in time.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::sync::Semaphore;

use super::Limits;
use super::refusal::Refused;

/// The places of a server.
#[derive(Debug)]
pub(super) struct Load {
    /// Those of requests that wait or are worked on.
    places: Semaphore,
    /// Those of requests that are worked on.
    working: Semaphore,
    time: Duration,
}

impl Load {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            places: Semaphore::new(limits.working + limits.waiting),
            working: Semaphore::new(limits.working),
            time: limits.time,
        }
    }
}

/// Serves a request in its turn.
pub(super) async fn limit(State(load): State<Arc<Load>>, request: Request, next: Next) -> Response {
    let Ok(_place) = load.places.try_acquire() else {
        return Refused::Busy.into_response();
    };
    let served = async {
        // Never closed.
        let _turn = load.working.acquire().await.ok();
        next.run(request).await
    };
    match tokio::time::timeout(load.time, served).await {
        Ok(response) => response,
        Err(_) => Refused::TooSlow.into_response(),
    }
}
