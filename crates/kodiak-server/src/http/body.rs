//! Reads the body of a request before it is worked on: within a size, a time, and a
//! speed. A client that is slow to send takes no place of those who are served.

use std::pin::Pin;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::CONTENT_LENGTH;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use hyper::body::Body as _;
use tokio::time::Instant;

use super::connections::Connection;
use super::load::{Load, Room, Who};
use super::refusal::Refused;

/// The fewest bytes that have to come in [`Limits::body_pause`](super::Limits), unless
/// the body ends.
const FEWEST: usize = 1024;

/// Reads the body of a request and passes the request on with it.
pub(super) async fn read(State(load): State<Arc<Load>>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    if body.is_end_stream() {
        return next.run(Request::from_parts(parts, body)).await;
    }
    let who = parts.extensions.get::<Who>().cloned().unwrap_or_default();
    let connection = parts.extensions.get::<Arc<Connection>>();
    let reading = connection.map(Connection::reads);
    let read = collected(&load, &who, &parts.headers, body).await;
    drop(reading);
    match read {
        Ok((bytes, room)) => {
            let request = Request::from_parts(parts, Body::from(bytes));
            let response = next.run(request).await;
            drop(room);
            response
        }
        Err(refused) => {
            let mut response = refused.into_response();
            // The rest of the body is not read.
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(header::CONNECTION, close);
            response
        }
    }
}

/// Returns a body as a whole, and the room that it takes.
async fn collected(
    load: &Load,
    who: &Who,
    headers: &HeaderMap,
    mut body: Body,
) -> Result<(Vec<u8>, Room), Refused> {
    let largest = load.limits().body;
    let length = headers.get(CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if length.is_some_and(|length| length > largest) {
        return Err(Refused::TooLarge);
    }
    let (_reading, mut room) = load.read(who)?;
    let mut bytes = Vec::new();
    let end = Instant::now() + load.limits().body_time;
    let pause = load.limits().body_pause;
    let (mut period_end, mut period_start) = (Instant::now() + pause, 0);
    loop {
        let frame = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context));
        let frame = match tokio::time::timeout_at(end.min(period_end), frame).await {
            Ok(None) => return Ok((bytes, room)),
            Ok(Some(Ok(frame))) => frame,
            Ok(Some(Err(_))) => {
                return Err(Refused::Malformed {
                    message: "the body could not be read".to_owned(),
                    step: String::new(),
                });
            }
            Err(_) if Instant::now() < end && bytes.len() >= period_start + FEWEST => {
                (period_end, period_start) = (Instant::now() + pause, bytes.len());
                continue;
            }
            Err(_) => return Err(Refused::SlowBody),
        };
        if let Ok(data) = frame.into_data() {
            if data.len() > largest - bytes.len() {
                return Err(Refused::TooLarge);
            }
            room.grow(bytes.len() + data.len())?;
            bytes.extend_from_slice(&data);
        }
    }
}
