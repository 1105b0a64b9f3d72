//! `GET /api/session`: who a caller is, and what it may do.

use axum::Extension;
use axum::extract::State;
use kodiak::access::Capability;
use serde::Serialize;

use super::parameters::Parameters;
use super::{Answered, From};
use crate::json::Json;
use crate::server::Server;

/// What a caller is told about itself.
#[derive(Debug, Serialize)]
pub(super) struct Session {
    /// Whether it may write.
    write: bool,
    /// Whether it is the owner of the machine.
    local: bool,
    /// The name of its token.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// The project that it is held to.
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    /// The version of the server.
    version: &'static str,
}

pub(super) async fn session(
    State(_): State<Server>,
    Extension(caller): From,
    parameters: Parameters,
) -> Answered<Session> {
    parameters.only(&[])?;
    Ok(Json(Session {
        write: caller.guard.require(Capability::Write).is_ok(),
        local: caller.is_local(),
        name: caller.token().map(|token| token.name.to_string()),
        project: caller.guard.project().map(str::to_owned),
        version: env!("CARGO_PKG_VERSION"),
    }))
}
