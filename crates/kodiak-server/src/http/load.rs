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

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::routing::get;
    use axum::{Router, middleware};
    use hyper::service::Service;
    use hyper_util::service::TowerToHyperService;
    use tokio::sync::Notify;

    use super::*;

    /// A service whose handler waits until it is told to go on.
    fn service(limits: Limits, go: &Arc<Notify>) -> TowerToHyperService<Router> {
        let go = Arc::clone(go);
        let handler = get(async move || {
            go.notified().await;
            "done"
        });
        let load = Arc::new(Load::new(limits));
        let router = Router::new().route("/", handler);
        TowerToHyperService::new(router.layer(middleware::from_fn_with_state(load, limit)))
    }

    async fn status(service: TowerToHyperService<Router>) -> u16 {
        let request = Request::new(Body::empty());
        service.call(request).await.unwrap().status().as_u16()
    }

    #[tokio::test]
    async fn a_request_that_takes_too_long_is_refused() {
        let limits = Limits {
            time: Duration::from_millis(20),
            ..Limits::default()
        };
        let service = service(limits, &Arc::default());
        assert_eq!(status(service).await, 503);
    }

    #[tokio::test]
    async fn some_wait_and_the_rest_are_refused() {
        let limits = Limits {
            working: 1,
            waiting: 1,
            ..Limits::default()
        };
        let go = Arc::new(Notify::new());
        let service = service(limits, &go);
        let first = tokio::spawn(status(service.clone()));
        let second = tokio::spawn(status(service.clone()));
        tokio::task::yield_now().await;
        // However the first two are scheduled, both are in before this one.
        while !(first.is_finished() || second.is_finished()) {
            let third = tokio::time::timeout(Duration::from_millis(50), status(service.clone()));
            if let Ok(refused) = third.await {
                assert_eq!(refused, 503);
                break;
            }
        }
        go.notify_one();
        go.notify_one();
        tokio::time::sleep(Duration::from_millis(1)).await;
        go.notify_one();
        assert_eq!((first.await.unwrap(), second.await.unwrap()), (200, 200));
    }
}
