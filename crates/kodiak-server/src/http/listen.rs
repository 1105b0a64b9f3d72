//! Accepts connections, and ends them when the server ends or another one needs the
//! place.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response, header};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;

use super::Limits;
use super::connections::{Connection, Connections, Use};
use super::written::Written;

/// How long a client may take to send the head of a request. It also ends
/// idle connections.
const HEAD: Duration = Duration::from_secs(30);
/// The most bytes that are read ahead of a connection: the largest head of a request.
const LARGEST_HEAD: usize = 64 * 1024;
/// How long the end waits for requests that are being answered.
const FAREWELL: Duration = Duration::from_secs(10);
/// The pause after a connection could not be accepted, for want of files.
const PAUSE: Duration = Duration::from_millis(50);

/// Serves connections until `end` is ready, and finishes what is being answered.
pub(super) async fn accept(
    listener: TcpListener,
    router: Router,
    limits: Limits,
    end: impl Future<Output = ()>,
) {
    let mut end = std::pin::pin!(end);
    let connections = Connections::new(limits.connections);
    let graceful = GracefulShutdown::new();
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(LARGEST_HEAD);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut end => break,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let place = tokio::select! {
            place = connections.place() => place,
            () = &mut end => break,
        };
        // Answers are small, and no client should wait for more to send.
        let _ = stream.set_nodelay(true);
        let stream = Written::new(stream, limits.unread);
        let connection = place.connection();
        let router = TowerToHyperService::new(router.clone());
        let service =
            service_fn(move |request| answered(router.clone(), place.connection(), request));
        let served = builder.serve_connection(TokioIo::new(stream), service);
        let served = graceful.watch(served);
        tokio::spawn(async move {
            tokio::select! {
                // The server has not failed if a client disconnects.
                _ = served => {}
                () = connection.closing() => {}
            }
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(FAREWELL, graceful.shutdown()).await;
}

/// Answers a request. The connection is busy until there is a response, and if that is
/// a stream, until it ends. A client that does not read another response is idle, and
/// closed after a while.
async fn answered(
    router: TowerToHyperService<Router>,
    connection: Arc<Connection>,
    mut request: Request<Incoming>,
) -> Result<Response<Body>, std::convert::Infallible> {
    let busy = connection.works();
    request.extensions_mut().insert(connection);
    let response = router.call(request).await?;
    let kind = response.headers().get(header::CONTENT_TYPE);
    let streams = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
    Ok(if streams {
        response.map(|body| Body::new(Streaming { body, _busy: busy }))
    } else {
        response
    })
}

/// The body of a response that goes on.
struct Streaming {
    body: Body,
    _busy: Use,
}

impl hyper::body::Body for Streaming {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}

/// Waits until the process is told to end.
pub(super) async fn told_to_end() {
    let interrupted = async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    let terminated = async {
        use tokio::signal::unix::{SignalKind, signal};
        match signal(SignalKind::terminate()) {
            Ok(mut signal) => {
                signal.recv().await;
            }
            Err(_) => std::future::pending().await,
        }
    };
    #[cfg(not(unix))]
    let terminated = std::future::pending::<()>();
    tokio::select! {
        () = interrupted => {}
        () = terminated => {}
    }
}
