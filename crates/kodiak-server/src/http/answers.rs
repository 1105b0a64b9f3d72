//! Bounds the memory of answers that clients have not taken yet.
//!
//! An answer is held until its client has read it, and a slow client may leave it for as
//! long as it reads anything (`written`). So each answer that is not small takes a part of
//! a room that all have together, of which each caller has a share. One that has none
//! waits, in the time that its request has.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use hyper::body::{Body as _, Bytes, Frame, SizeHint};

use super::load::{AnswerRoom, Load, Who};

/// The largest answer that is not counted, in bytes: about what a connection holds anyway.
const SMALL: usize = 64 * 1024;

/// Where a request gets room for an answer that it is about to make.
#[derive(Clone, Debug)]
pub(super) struct Answers {
    load: Arc<Load>,
    who: Who,
}

impl Answers {
    /// Waits for room for an answer of this size. Given to the response as an extension, it
    /// is held until the client has taken that.
    pub(super) async fn room(&self, size: usize) -> Arc<AnswerRoom> {
        Arc::new(self.load.room_for_answer(&self.who, size).await)
    }
}

/// Gives a response the room that it takes.
pub(super) async fn hold(
    State(load): State<Arc<Load>>,
    mut request: Request,
    next: Next,
) -> Response {
    let who = request.extensions().get::<Who>().cloned();
    let answers = Answers {
        load,
        who: who.unwrap_or_default(),
    };
    request.extensions_mut().insert(answers.clone());
    let mut response = next.run(request).await;
    let size = response.body().size_hint().exact();
    let size = size.map(|size| usize::try_from(size).unwrap_or(usize::MAX));
    let had = response.extensions_mut().remove::<Arc<AnswerRoom>>();
    let had = had.filter(|room| size.is_some_and(|size| size <= room.size()));
    let room = match (had, size) {
        (Some(room), _) => Some(room),
        (_, Some(size)) if size > SMALL => Some(answers.room(size).await),
        (_, Some(_)) => return response,
        // What a stream sends is known when it is sent.
        (_, None) => None,
    };
    response.map(|body| {
        Body::new(Held {
            body,
            room,
            answers,
        })
    })
}

/// The body of an answer that has room.
struct Held {
    body: Body,
    /// The room of all of it; that of each part is taken by itself if absent.
    room: Option<Arc<AnswerRoom>>,
    answers: Answers,
}

/// A part of an answer, with its room. Both go when the client has taken it.
struct Part {
    bytes: Bytes,
    _room: Arc<AnswerRoom>,
}

impl AsRef<[u8]> for Part {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Held {
    /// Returns a part with its room. Fails if it has none: a stream cannot wait, because
    /// what comes next would wait as well.
    fn part(&self, bytes: Bytes) -> Result<Bytes, axum::Error> {
        let room = match &self.room {
            Some(room) => Arc::clone(room),
            None if bytes.len() <= SMALL => return Ok(bytes),
            None => {
                let Answers { load, who } = &self.answers;
                let room = load.try_room_for_answer(who, bytes.len());
                let full = || axum::Error::new(std::io::Error::other("there is no room"));
                Arc::new(room.ok_or_else(full)?)
            }
        };
        Ok(Bytes::from_owner(Part { bytes, _room: room }))
    }
}

impl hyper::body::Body for Held {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        polled.map(|frame| {
            Some(match frame?.map(Frame::into_data) {
                Ok(Ok(bytes)) => self.part(bytes).map(Frame::data),
                Ok(Err(other)) => Ok(other),
                Err(error) => Err(error),
            })
        })
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::routing::get;
    use axum::{Router, middleware};
    use hyper::service::Service;
    use hyper_util::service::TowerToHyperService;

    use super::*;
    use crate::http::Limits;

    const LARGE: usize = 300 * 1024;

    /// Returns a service that answers with a large body, at once or in parts.
    fn service(room: usize) -> (Arc<Load>, TowerToHyperService<Router>) {
        let load = Arc::new(Load::new(Limits {
            answers: room,
            time: Duration::from_millis(50),
            ..Limits::default()
        }));
        let router = Router::new()
            .route("/", get(async || vec![7; LARGE]))
            .route("/small", get(async || vec![7; SMALL]))
            .route(
                "/parts",
                get(async || {
                    let body = Body::from(vec![7; LARGE]);
                    Body::new(Unsized(body))
                }),
            );
        let holds = middleware::from_fn_with_state(Arc::clone(&load), hold);
        let limits = middleware::from_fn_with_state(Arc::clone(&load), super::super::load::limit);
        (
            load,
            TowerToHyperService::new(router.layer(holds).layer(limits)),
        )
    }

    /// A body that does not say how large it is.
    struct Unsized(Body);

    impl hyper::body::Body for Unsized {
        type Data = Bytes;
        type Error = axum::Error;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
            Pin::new(&mut self.0).poll_frame(context)
        }
    }

    async fn ask(service: &TowerToHyperService<Router>, path: &str, name: &str) -> Response {
        let mut request = Request::new(Body::empty());
        *request.uri_mut() = path.parse().unwrap();
        request.extensions_mut().insert(Who(Some(name.into())));
        service.call(request).await.unwrap()
    }

    async fn frame(response: &mut Response) -> Option<Result<Bytes, axum::Error>> {
        let body = response.body_mut();
        let frame = std::future::poll_fn(|context| Pin::new(&mut *body).poll_frame(context));
        Some(frame.await?.map(|frame| frame.into_data().unwrap()))
    }

    #[tokio::test]
    async fn answers_that_are_not_taken_keep_their_room() {
        let (load, service) = service(4 * LARGE);
        let mut held = Vec::new();
        for _ in 0..3 {
            let response = ask(&service, "/", "slow").await;
            assert_eq!(response.status(), 200);
            held.push(response);
        }
        assert_eq!(load.held_by_answers(), 3 * LARGE);
        // There is no more for this caller, whatever it is waiting for, and it still has
        // small answers.
        assert_eq!(ask(&service, "/", "slow").await.status(), 503);
        assert_eq!(ask(&service, "/small", "slow").await.status(), 200);
        let other = ask(&service, "/", "other").await;
        assert_eq!(other.status(), 200);
        assert_eq!(load.held_by_answers(), 4 * LARGE);
        // The bytes keep it, also those of a body that has been read to its end.
        let mut first = held.pop().unwrap();
        let bytes = frame(&mut first).await.unwrap().unwrap();
        assert_eq!(bytes.len(), LARGE);
        assert!(frame(&mut first).await.is_none());
        drop((first, other));
        let rest = bytes.slice(LARGE - 1..);
        drop(bytes);
        assert_eq!(load.held_by_answers(), 3 * LARGE);
        drop(rest);
        assert_eq!(load.held_by_answers(), 2 * LARGE);
        drop(held);
        assert_eq!(load.held_by_answers(), 0);
    }

    #[tokio::test]
    async fn parts_of_streams_take_room_too() {
        let (load, service) = service(4 * LARGE);
        let mut held = Vec::new();
        for _ in 0..3 {
            let mut response = ask(&service, "/parts", "slow").await;
            held.push(frame(&mut response).await.unwrap().unwrap());
        }
        assert_eq!(load.held_by_answers(), 3 * LARGE);
        let mut response = ask(&service, "/parts", "slow").await;
        frame(&mut response).await.unwrap().unwrap_err();
        drop(held);
        assert_eq!(load.held_by_answers(), 0);
    }

    /// What is larger than the room of a caller takes all of it.
    #[tokio::test]
    async fn an_answer_that_is_too_large_is_given_alone() {
        let (load, service) = service(LARGE);
        let first = ask(&service, "/", "slow").await;
        assert_eq!(first.status(), 200);
        assert_eq!(load.held_by_answers(), LARGE * 3 / 4);
        assert_eq!(ask(&service, "/", "slow").await.status(), 503);
        drop(first);
        assert_eq!(ask(&service, "/", "slow").await.status(), 200);
    }
}
