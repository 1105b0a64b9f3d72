//! A stream of events that a client reads, until it or the server goes away.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use hyper::body::{Bytes, Frame};
use serde_json::Value;
use tokio::time::{Instant, Interval};

/// How often a sign of life is sent, so that no proxy closes the connection, and a
/// client that is gone is noticed.
const ALIVE: Duration = Duration::from_secs(15);

/// An event.
#[derive(Debug)]
pub(crate) struct Event {
    /// Its name.
    pub(crate) name: &'static str,
    /// What it says.
    pub(crate) said: Value,
    /// What a client that comes back gives as the last that it has heard. A word of
    /// letters and digits.
    pub(crate) id: Option<String>,
}

/// What the next event is polled from.
type Next = Box<dyn FnMut(&mut Context<'_>) -> Poll<Option<Event>> + Send>;

/// The body of a response that goes on.
pub(crate) struct Events {
    next: Next,
    alive: Interval,
}

impl Events {
    /// The type of such a body.
    pub(crate) const TYPE: &'static str = "text/event-stream";

    /// Opens a stream of messages. What `next` holds lives as long as the client reads.
    pub(crate) fn of_messages(
        mut next: impl FnMut(&mut Context<'_>) -> Poll<Option<Value>> + Send + 'static,
    ) -> Self {
        let event = |said| Event {
            name: "message",
            said,
            id: None,
        };
        Self::new(move |context| next(context).map(|next| next.map(event)))
    }

    /// Opens a stream of events. What `next` holds lives as long as the client reads.
    pub(crate) fn new(
        next: impl FnMut(&mut Context<'_>) -> Poll<Option<Event>> + Send + 'static,
    ) -> Self {
        Self {
            next: Box::new(next),
            // The first sign comes at once: a client waits for something to read.
            alive: tokio::time::interval_at(Instant::now(), ALIVE),
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
        match (self.next)(context) {
            Poll::Ready(Some(Event { name, said, id })) => {
                self.alive.reset();
                let id = id.map_or_else(String::new, |id| format!("id: {id}\n"));
                data(format!("event: {name}\n{id}data: {said}\n\n"))
            }
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => match self.alive.poll_tick(context) {
                Poll::Ready(_) => data(":\n\n".to_owned()),
                Poll::Pending => Poll::Pending,
            },
        }
    }
}

impl IntoResponse for Events {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::new(self));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(Self::TYPE));
        // No proxy waits until it has more.
        let buffering = HeaderName::from_static("x-accel-buffering");
        headers.insert(buffering, HeaderValue::from_static("no"));
        response
    }
}
