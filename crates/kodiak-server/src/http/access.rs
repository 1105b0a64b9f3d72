//! Turns the token or the session of a request into the rights of its caller. The guard
//! of the server bounds those of every token.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::load::Who;
use super::refusal::Refused;
use crate::server::{Caller, Server};
use crate::token::TokenFile;

/// Who is let in.
#[derive(Debug)]
pub(super) struct Access {
    server: Server,
    tokens: Option<Arc<TokenFile>>,
}

impl Access {
    pub(super) fn new(server: &Server, tokens: Option<TokenFile>) -> Self {
        Self {
            server: server.clone(),
            tokens: tokens.map(Arc::new),
        }
    }

    /// Returns the caller that a request is from, and the name of its token.
    fn caller(&self, headers: &HeaderMap) -> Result<(Caller, Who), Refused> {
        let own = self.server.caller();
        let Some(tokens) = &self.tokens else {
            return Ok((own, Who::default()));
        };
        let secret = bearer(headers).ok_or(Refused::NoToken { presented: false })?;
        let token = tokens
            .presented(secret, kodiak::date::now())
            .map_err(|error| Refused::TokensUnreadable(error.to_string()))?
            .ok_or(Refused::NoToken { presented: true })?;
        let caller = Caller::new(own.guard.and(&token.grant.guard()));
        let tokens = Arc::clone(tokens);
        let who = Who(Some(token.name.as_str().into()));
        let pass = Arc::new(move || tokens.has(&token, kodiak::date::now()));
        Ok((caller.with_pass(pass), who))
    }
}

/// Returns the token that a request brings.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut given = headers.get_all(AUTHORIZATION).iter();
    let (given, None) = (given.next()?, given.next()) else {
        return None;
    };
    let (scheme, secret) = given.to_str().ok()?.split_once(' ')?;
    let secret = secret.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !secret.is_empty()).then_some(secret)
}

/// Lets a request through with the rights of its caller.
pub(super) async fn admit(
    State(access): State<Arc<Access>>,
    mut request: Request,
    next: Next,
) -> Response {
    match access.caller(request.headers()) {
        Ok((caller, who)) => {
            // Handlers need the rights, and not the token.
            request.headers_mut().remove(AUTHORIZATION);
            request.extensions_mut().insert(caller);
            request.extensions_mut().insert(who);
            next.run(request).await
        }
        Err(refused) => refused.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn a_token_comes_in_one_header() {
        for (given, expected) in [
            (&["Bearer abc"][..], Some("abc")),
            (&["bearer  abc "], Some("abc")),
            (&["Basic abc"], None),
            (&["Bearer "], None),
            (&["Bearer"], None),
            (&["abc"], None),
            (&[], None),
            (&["Bearer abc", "Bearer abd"], None),
        ] {
            let mut headers = HeaderMap::new();
            for one in given {
                headers.append(AUTHORIZATION, HeaderValue::from_static(one));
            }
            assert_eq!(bearer(&headers), expected, "{given:?}");
        }
    }
}
