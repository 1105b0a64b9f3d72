//! Serves the protocol and a JSON API over HTTP, from one process to many
//! clients.
//!
//! ```text
//! connection → origin → access → body → load → answers → { /mcp | /api/… }
//!                     → body → load → /session
//!                     → / and /page/…, /health
//! ```
//!
//! * `listen` accepts connections, and ends them when the server ends; `connections`
//!   closes those that are idle when there are too many, and `written` those whose
//!   clients do not read;
//! * `origin` refuses what a web page of another site could send, and `cors` lets the
//!   pages that may call read answers;
//! * `access` turns a token or a session into the rights of one request, and `lookups`
//!   bounds how many tokens are looked up at once;
//! * `session` lets people sign in with a browser;
//! * `body` reads what a request sends, before it takes a place;
//! * `load` bounds how many requests are served at once and for how long, and gives
//!   each token a share; `answers` bounds what they leave unread;
//! * `page` has the files of the page, which need no rights;
//! * `api` has the routes of the JSON API, which `docs/openapi.json` describes;
//! * `refusal` words and logs what is refused.

mod access;
mod answers;
mod api;
mod body;
mod connections;
mod cors;
mod listen;
mod load;
mod lookups;
mod origin;
#[cfg(feature = "page")]
mod page;
mod refusal;
mod session;
mod written;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::response::Response;
use axum::routing::get;

use crate::error::{Error, Result};
use crate::json::Json;
use crate::options::Log;
use crate::server::Server;
use crate::token::Tokens;
use access::Access;
use load::Load;
use origin::Origins;
use refusal::{RefusalLog, Refused};
use session::Sessions;

pub use session::SignIn;

/// The threads for work that continues after its caller has gone.
const SPARE: usize = 16;

/// How a server is reached over HTTP.
#[derive(Debug)]
pub struct HttpOptions {
    /// The address to listen at; port 0 takes any that is free.
    pub address: SocketAddr,
    /// The tokens that let callers in. Without, everybody has the rights of the
    /// server's own guard.
    pub tokens: Option<Arc<dyn Tokens>>,
    /// The names by which the server is called, beside those of its address.
    pub hosts: Vec<String>,
    /// The origins of web pages that may call, beside its own.
    pub origins: Vec<String>,
    /// The bounds of its load.
    pub limits: Limits,
}

/// The bounds of a server's load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest body of a request in bytes.
    pub body: usize,
    /// The time in which the body of a request has to come.
    pub body_time: Duration,
    /// The time in which at least a kilobyte of it has to come.
    pub body_pause: Duration,
    /// The time for one request, in the queue and at work.
    pub time: Duration,
    /// The number of requests that are worked on at once. One token has three quarters
    /// at most, and of the others alike.
    pub working: usize,
    /// The number of requests that wait for their turn. More are refused.
    pub waiting: usize,
    /// The bytes of all answers that clients have not taken yet; small ones do not count.
    /// One token has three quarters at most. Others wait for their room.
    pub answers: usize,
    /// The time in which a client has to take something of what it is sent.
    pub unread: Duration,
    /// The time for which a code opens a session.
    pub code: Duration,
    /// The time without use after which a session expires.
    pub session_idle: Duration,
    /// The time after which a session expires even if it is used.
    pub session: Duration,
    /// The number of connections. For another one, the one that was idle for longest
    /// is closed.
    pub connections: usize,
}

impl Default for Limits {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self {
            body: 1 << 20,
            body_time: Duration::from_secs(30),
            body_pause: Duration::from_secs(5),
            time: Duration::from_secs(30),
            // A search waits for files, for the model, and for a look for changes,
            // which all that wait share.
            working: (8 * cores).max(16),
            waiting: 256,
            answers: 128 << 20,
            unread: Duration::from_secs(30),
            code: Duration::from_mins(1),
            session_idle: Duration::from_hours(12),
            session: Duration::from_hours(7 * 24),
            connections: 512,
        }
    }
}

/// A server that listens, and is not serving yet.
#[derive(Debug)]
pub struct Listening {
    runtime: tokio::runtime::Runtime,
    listener: tokio::net::TcpListener,
    address: SocketAddr,
    router: Router,
    limits: Limits,
    server: Server,
    sessions: Arc<Sessions>,
    signs_in: bool,
}

/// Starts to listen. Requests wait until [`Listening::serve`] is called.
pub fn listen(server: &Server, options: HttpOptions) -> Result<Listening> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .max_blocking_threads(options.limits.working + SPARE + lookups::MOST)
        .enable_all()
        .build()
        .map_err(Error::Start)?;
    let asked = options.address;
    let listener = runtime
        .block_on(tokio::net::TcpListener::bind(asked))
        .map_err(|source| Error::Listen {
            address: asked,
            source,
        })?;
    let address = listener.local_addr().map_err(Error::Start)?;
    let limits = options.limits;
    let sessions = Arc::new(Sessions::new(address.port(), limits));
    Ok(Listening {
        signs_in: options.tokens.is_some(),
        router: router(server, address, options, &sessions),
        sessions,
        server: server.clone(),
        runtime,
        listener,
        address,
        limits,
    })
}

impl Listening {
    /// Returns the address that is listened at.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Reports whether people have to sign in to the page; `None` if there is no page.
    pub fn page(&self) -> Option<bool> {
        cfg!(feature = "page").then_some(self.signs_in)
    }

    /// Returns what makes codes, with which the owner of the machine signs in.
    pub fn sign_in(&self) -> SignIn {
        SignIn::new(&self.sessions)
    }

    /// Serves until the process is told to end. What is being answered then is
    /// finished first.
    pub fn serve(self) -> Result<()> {
        self.serve_until(listen::told_to_end())
    }

    /// Serves until `end` is ready.
    pub fn serve_until(self, end: impl Future<Output = ()>) -> Result<()> {
        let end = async {
            end.await;
            // A stream that goes on would hold up the end.
            self.server.news().close();
        };
        self.runtime
            .block_on(listen::accept(self.listener, self.router, self.limits, end));
        // A search whose caller has gone does not delay the end.
        self.runtime.shutdown_timeout(Duration::from_secs(2));
        Ok(())
    }
}

/// Returns all routes, behind all checks.
fn router(
    server: &Server,
    address: SocketAddr,
    options: HttpOptions,
    sessions: &Arc<Sessions>,
) -> Router {
    let log: Log = Arc::clone(&server.options().log);
    let refusals = Arc::new(RefusalLog::new(log));
    let limits = options.limits;
    let access = Arc::new(Access::new(server, options.tokens, sessions, limits.time));
    let load = Arc::new(Load::new(limits));
    let origins = Arc::new(Origins::new(address, &options.hosts, &options.origins));
    let guarded = Router::new()
        .nest("/mcp", crate::mcp::http_router(server))
        .nest("/api", api::router(server.clone()))
        .fallback(async || Refused::NoRoute)
        .method_not_allowed_fallback(async || Refused::NoMethod)
        // The size was checked when the body was read.
        .layer(DefaultBodyLimit::disable())
        .layer(middleware::from_fn_with_state(
            Arc::clone(&load),
            answers::hold,
        ))
        .layer(middleware::from_fn_with_state(
            Arc::clone(&load),
            load::limit,
        ))
        .layer(middleware::from_fn_with_state(load, body::read))
        .layer(middleware::from_fn_with_state(
            Arc::clone(&access),
            access::admit,
        ));
    let open = Router::new()
        .route("/health", get(health))
        .merge(session::router(access, limits));
    #[cfg(feature = "page")]
    let open = open.merge(page::router());
    open.method_not_allowed_fallback(async || Refused::NoMethod)
        .fallback_service(guarded)
        .layer(middleware::from_fn_with_state(origins, origin::check))
        .layer(middleware::map_response(with_headers))
        .layer(middleware::from_fn_with_state(refusals, refusal::report))
}

/// Says that the server answers, and nothing else: the caller has no token.
async fn health() -> Json<serde_json::Value> {
    Json(serde_json::json!({"status": "ok"}))
}

/// Adds what keeps browsers from using an answer for anything else.
async fn with_headers(mut response: Response) -> Response {
    use axum::http::header::{CACHE_CONTROL, HeaderName, HeaderValue, X_CONTENT_TYPE_OPTIONS};
    let headers = response.headers_mut();
    let policy = HeaderName::from_static("cross-origin-resource-policy");
    headers.insert(policy, HeaderValue::from_static("same-origin"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers
        .entry(CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}
