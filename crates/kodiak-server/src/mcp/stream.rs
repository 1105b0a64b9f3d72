//! A stream of events that a client reads: what its session hears, until one of
//! them goes away.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use hyper::body::{Bytes, Frame};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::{Instant, Interval};

use super::hearing;
use crate::news::{Item, Listener};

/// How often a sign of life is sent, so that nobody in between closes the
/// connection, and a client that is gone is noticed.
const ALIVE: Duration = Duration::from_secs(15);

/// The body of a response that goes on.
pub(super) struct Events {
    items: mpsc::Receiver<Item>,
    alive: Interval,
    /// The session lives as long as somebody reads its stream.
    _listener: Arc<Listener>,
    _place: OwnedSemaphorePermit,
}

impl Events {
    /// The type of such a body.
    pub(super) const TYPE: &'static str = "text/event-stream";

    /// Opens a stream of what somebody hears, in a place for it.
    pub(super) fn of(listener: Arc<Listener>, place: OwnedSemaphorePermit) -> Self {
        Self {
            items: listener.open(),
            // The first sign comes at once: a client waits for something to read.
            alive: tokio::time::interval_at(Instant::now(), ALIVE),
            _listener: listener,
            _place: place,
        }
    }
}

impl hyper::body::Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let data = |text: String| Poll::Ready(Some(Ok(Frame::data(text.into()))));
        match self.items.poll_recv(context) {
            Poll::Ready(Some(item)) => match hearing::message(&item) {
                Some(message) => return data(format!("event: message\ndata: {message}\n\n")),
                None => context.waker().wake_by_ref(),
            },
            Poll::Ready(None) => return Poll::Ready(None),
            Poll::Pending => {}
        }
        match self.alive.poll_tick(context) {
            Poll::Ready(_) => data(":\n\n".to_owned()),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl IntoResponse for Events {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::new(self));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(Self::TYPE));
        response
    }
}
