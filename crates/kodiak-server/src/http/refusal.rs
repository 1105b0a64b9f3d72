//! What is refused: the status and the words of each refusal, and one line in
//! the log.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::failure::Refusal;
use crate::json::Json;
use crate::options::Log;

/// The time in which refusals for the same reason are logged once.
const QUIET: Duration = Duration::from_secs(1);

/// Why a request was refused.
#[derive(Clone, Debug)]
pub(super) enum Refused {
    /// The name by which the server was called is not one of its names.
    Host(String),
    /// A web page that is not allowed sent it.
    Origin(String),
    /// There was no token, or none that is valid.
    NoToken { presented: bool },
    /// The session has ended, or the request does not bring both of its secrets.
    SessionOver,
    /// The code of a link was used, or has expired.
    Code,
    /// Signing in has failed too often. More failures are counted after this time.
    TooManyAttempts(Duration),
    /// The tokens cannot be read.
    TokensUnreadable(String),
    /// There is no such route.
    NoRoute,
    /// The route has another method.
    NoMethod,
    /// The request is not as the route wants it.
    Malformed { message: String, step: String },
    /// The body is too large.
    TooLarge,
    /// The body came too slowly.
    SlowBody,
    /// The body is not JSON.
    NotJson,
    /// There is no such document, or it does not exist for the caller.
    NotFound(Refusal),
    /// What is there does not allow it: it has changed, or has the name.
    Conflict(Refusal),
    /// A document could not be opened in another program.
    Unopened(Refusal),
    /// The caller may not do that.
    NotAllowed(Refusal),
    /// Too many requests are being served.
    Busy,
    /// Too many streams are open.
    Crowded(Refusal),
    /// The request took too long.
    TooSlow,
    /// The index cannot be used now.
    Unavailable(Refusal),
    /// Something failed that should not.
    Failed(Refusal),
}

impl Refused {
    /// Returns the status of the response.
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::Host(_) | Self::Origin(_) | Self::NotAllowed(_) => StatusCode::FORBIDDEN,
            Self::NoToken { .. } | Self::SessionOver | Self::Code => StatusCode::UNAUTHORIZED,
            Self::TooManyAttempts(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::NoRoute | Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::Conflict(_) => StatusCode::CONFLICT,
            Self::NoMethod => StatusCode::METHOD_NOT_ALLOWED,
            Self::Malformed { .. } => StatusCode::BAD_REQUEST,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::SlowBody => StatusCode::REQUEST_TIMEOUT,
            Self::NotJson => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Busy
            | Self::Crowded(_)
            | Self::TooSlow
            | Self::Unavailable(_)
            | Self::TokensUnreadable(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Unopened(_) | Self::Failed(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Returns the code for programs.
    fn code(&self) -> &'static str {
        match self {
            Self::Host(_) => "host-not-allowed",
            Self::Origin(_) => "origin-not-allowed",
            Self::NoToken { .. } => "token-required",
            Self::SessionOver => "session-ended",
            Self::Code => "code-invalid",
            Self::TooManyAttempts(_) => "too-many-attempts",
            Self::TokensUnreadable(_) => "tokens-unreadable",
            Self::NoRoute => "no-route",
            Self::NoMethod => "method-not-allowed",
            Self::Malformed { .. } => "bad-request",
            Self::TooLarge => "too-large",
            Self::SlowBody => "slow-body",
            Self::NotJson => "not-json",
            Self::NotFound(_) => "not-found",
            Self::Conflict(_) => "conflict",
            Self::Unopened(_) => "not-opened",
            Self::NotAllowed(_) => "not-allowed",
            Self::Busy | Self::Crowded(_) => "busy",
            Self::TooSlow => "timeout",
            Self::Unavailable(_) => "unavailable",
            Self::Failed(_) => "failed",
        }
    }

    /// Returns what happened and what to do next.
    fn words(&self) -> (String, String) {
        let words = |message: &str, step: &str| (message.to_owned(), step.to_owned());
        let of = |refusal: &Refusal| (refusal.message.clone(), refusal.step.clone());
        match self {
            Self::Host(host) => (
                format!("this server is not called '{}'", shown(host)),
                "start it with --allow-host NAME if it is".to_owned(),
            ),
            Self::Origin(origin) => (
                format!("web pages of '{}' may not call this server", shown(origin)),
                "start it with --allow-origin ORIGIN if they may".to_owned(),
            ),
            Self::NoToken { presented: false } => words(
                "a token is required",
                "send the header 'Authorization: Bearer TOKEN'; `kodiak token create` makes one",
            ),
            Self::NoToken { presented: true } => words(
                "the token is not valid",
                "it may be revoked or expired; `kodiak token list` shows which there are",
            ),
            Self::SessionOver => words(
                "the session has ended",
                "sign in again, with a new link or a token",
            ),
            Self::Code => words(
                "the link was used or has expired",
                "press Enter where `kodiak serve` runs for a new one, or start it again",
            ),
            Self::TooManyAttempts(_) => {
                words("signing in has failed too often", "try again in a minute")
            }
            // The path of the file is not for callers.
            Self::TokensUnreadable(_) => words(
                "the tokens cannot be read",
                "ask the owner of the server to look at its log",
            ),
            Self::NoRoute => words(
                "there is nothing at this path",
                "the routes are /mcp, /health and those of docs/openapi.json",
            ),
            Self::NoMethod => words("this path has another method", "see the header 'Allow'"),
            Self::Malformed { message, step } => (message.clone(), step.clone()),
            Self::TooLarge => words("the request is too large", "send less at once"),
            Self::SlowBody => words("the body came too slowly", "send it at once"),
            Self::NotJson => words(
                "the body is not JSON",
                "send the header 'Content-Type: application/json'",
            ),
            Self::NotFound(refusal)
            | Self::Conflict(refusal)
            | Self::Unopened(refusal)
            | Self::NotAllowed(refusal)
            | Self::Unavailable(refusal)
            | Self::Crowded(refusal)
            | Self::Failed(refusal) => of(refusal),
            Self::Busy => words(
                "too many requests are being served",
                "try again in a moment",
            ),
            Self::TooSlow => words("the request took too long", "ask for less, or try again"),
        }
    }

    /// Returns what the log says beyond what the caller is told.
    fn detail(&self) -> Option<&str> {
        match self {
            Self::TokensUnreadable(reason) => Some(reason),
            _ => None,
        }
    }
}

/// Returns the beginning of a text that a client wrote.
fn shown(text: &str) -> String {
    let mut shown = String::new();
    for sign in text.chars().take(200) {
        if sign.is_control() {
            shown.extend(sign.escape_debug());
        } else {
            shown.push(sign);
        }
    }
    shown
}

impl From<kodiak::Error> for Refused {
    fn from(error: kodiak::Error) -> Self {
        use kodiak::Error;
        match &error {
            Error::NoDocument { .. } | Error::Ambiguous { .. } => Self::NotFound(error.into()),
            Error::NotAllowed { .. } | Error::NotWritable { .. } => Self::NotAllowed(error.into()),
            Error::Conflict { .. } | Error::KeyTaken { .. } => Self::Conflict(error.into()),
            Error::UnknownSource { .. }
            | Error::UnknownProject { .. }
            | Error::UnknownName(_)
            | Error::BadDate { .. }
            | Error::EmptyPeriod { .. }
            | Error::BadValue { .. }
            | Error::BadTag { .. }
            | Error::BadDraft { .. }
            | Error::BadKey { .. }
            | Error::BadRange { .. } => {
                let Refusal { message, step } = error.into();
                Self::Malformed { message, step }
            }
            Error::NoIndex { .. } | Error::NewerIndex { .. } | Error::Locked { .. } => {
                Self::Unavailable(error.into())
            }
            Error::Cancelled => Self::TooSlow,
            _ => Self::Failed(error.into()),
        }
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let (message, next) = self.words();
        let mut error = json!({"code": self.code(), "message": message});
        if !next.is_empty() {
            error["next"] = next.into();
        }
        let mut response = (self.status(), Json(json!({"error": error}))).into_response();
        let headers = response.headers_mut();
        match &self {
            Self::TooManyAttempts(wait) => {
                headers.insert(header::RETRY_AFTER, wait.as_secs().max(1).into());
            }
            Self::NoToken { .. } | Self::SessionOver | Self::Code => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            Self::Busy | Self::Crowded(_) | Self::TooSlow | Self::Unavailable(_) => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            _ => {}
        }
        response.extensions_mut().insert(self);
        response
    }
}

/// Logs refusals: one line each, but only one in a second for the same reason.
pub(super) struct RefusalLog {
    log: Log,
    /// When each kind was logged last, and how many were not since.
    known: Mutex<HashMap<&'static str, (Instant, u64)>>,
}

impl RefusalLog {
    pub(super) fn new(log: Log) -> Self {
        Self {
            log,
            known: Mutex::default(),
        }
    }

    fn tell(&self, code: &'static str, line: &str) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let mut unsaid = 0;
        if let Some((last, more)) = known.get_mut(code) {
            if now.duration_since(*last) < QUIET {
                *more += 1;
                return;
            }
            unsaid = *more;
        }
        known.insert(code, (now, 0));
        drop(known);
        match unsaid {
            0 => (self.log)(line),
            more => (self.log)(&format!("{line} ({more} more of this kind before)")),
        }
    }
}

/// Logs the request if it was refused.
pub(super) async fn report(
    State(log): State<Arc<RefusalLog>>,
    request: Request,
    next: Next,
) -> Response {
    let asked = format!("{} {}", request.method(), shown(request.uri().path()));
    let response = next.run(request).await;
    let status = response.status();
    if let Some(refused) = response.extensions().get::<Refused>() {
        // A request for something that is not there does nothing wrong.
        if matches!(refused, Refused::NotFound(_)) {
            return response;
        }
        let message = shown(&refused.words().0);
        let detail = refused
            .detail()
            .map_or(String::new(), |it| format!(": {it}"));
        log.tell(
            refused.code(),
            &format!(
                "refused {asked} with {}: {message}{detail}",
                status.as_u16()
            ),
        );
    } else if status.is_server_error()
        // Clients of the older era ask for a stream, and do without.
        || (status.is_client_error() && status != StatusCode::METHOD_NOT_ALLOWED)
    {
        // The protocol's own refusals.
        let code = if status.is_server_error() {
            "protocol_failed"
        } else {
            "protocol"
        };
        log.tell(code, &format!("refused {asked} with {}", status.as_u16()));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_reason_is_logged_once_a_second() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&lines);
        let log = RefusalLog::new(Arc::new(move |line: &str| {
            kept.lock().unwrap().push(line.to_owned());
        }));
        for _ in 0..100 {
            log.tell("busy", "a");
        }
        log.tell("host", "b");
        assert_eq!(*lines.lock().unwrap(), ["a", "b"]);
    }

    #[test]
    fn what_others_wrote_cannot_forge_a_line() {
        assert_eq!(shown("a\nrefused \u{1b}[2J"), "a\\nrefused \\u{1b}[2J");
        assert_eq!(shown(&"x".repeat(500)).len(), 200);
    }
}
