//! Stands in for `mcp`, `serve` and `token` in a program that was built without the server.

use crate::failure::refusal;

/// Refuses what needs the server.
fn refused() -> anyhow::Error {
    refusal(
        "this program was built without the server",
        "build it with the feature `server`",
    )
}

/// In place of the module of the same name.
pub(super) mod mcp {
    use super::refused;
    use crate::arguments::{McpArguments, ServeArguments};
    use crate::context::Context;
    use crate::verbs::Outcome;

    pub(in crate::verbs) fn run(_: &McpArguments, _: &Context<'_>) -> anyhow::Result<Outcome> {
        Err(refused())
    }

    pub(in crate::verbs) fn serve(_: &ServeArguments, _: &Context<'_>) -> anyhow::Result<Outcome> {
        Err(refused())
    }
}

/// In place of the module of the same name.
pub(super) mod token {
    use super::refused;
    use crate::arguments::TokenVerb;
    use crate::context::Context;
    use crate::verbs::Outcome;

    pub(in crate::verbs) fn run(_: &TokenVerb, _: &Context<'_>) -> anyhow::Result<Outcome> {
        Err(refused())
    }
}
