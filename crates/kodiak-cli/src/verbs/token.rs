//! `kodiak token`: makes, lists and revokes the tokens that let programs in over
//! HTTP.

use std::sync::Arc;

use kodiak::Timestamp;
use kodiak::access::Guard;
use kodiak_server::token::{Grant, Token, TokenError, TokenFile, Tokens};
use serde::Serialize;

use super::Outcome;
use crate::arguments::{
    CreateTokenArguments, ListTokensArguments, RevokeTokenArguments, TokenVerb,
};
use crate::assemble::{Purpose, holder};
use crate::context::Context;
use crate::failure::{self, refusal};
use crate::nearest::nearest;
use crate::output::When;
use crate::output::escape::escaped;
use crate::output::table::{Step, Table};
use crate::{paths, projects, registry};

/// The longest name of a token, in characters.
const MAX_NAME_LENGTH: usize = 64;

pub(super) fn run(verb: &TokenVerb, context: &Context<'_>) -> anyhow::Result<Outcome> {
    match verb {
        TokenVerb::Create(arguments) => create(arguments, context),
        TokenVerb::List(arguments) => list(arguments, context),
        TokenVerb::Revoke(arguments) => revoke(arguments, context),
    }
}

/// Returns where the tokens are: in the database of an index on a server, or in a file.
pub(super) fn kept(context: &Context<'_>) -> anyhow::Result<Arc<dyn Tokens>> {
    if let Some(server) = context.index.server() {
        server.require()?;
        return Ok(server.tokens()?);
    }
    Ok(Arc::new(file()?))
}

/// Returns the file of tokens.
pub(super) fn file() -> anyhow::Result<TokenFile> {
    let told = std::env::var_os(paths::TOKENS_VARIABLE);
    Ok(TokenFile::new(paths::tokens_file(told.as_ref())?))
}

/// A token as `--json` prints it.
#[derive(Debug, Serialize)]
struct Listed {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
    capabilities: Vec<&'static str>,
    sources: Vec<String>,
    project: Option<String>,
    created_at: String,
    expires_at: Option<String>,
    expired: bool,
}

impl Listed {
    fn of(token: &Token, secret: Option<String>, now: Timestamp) -> Self {
        Self {
            name: token.name.clone(),
            token: secret,
            capabilities: if token.grant.write {
                vec!["read", "write"]
            } else {
                vec!["read"]
            },
            sources: token.grant.sources.clone(),
            project: token.grant.project.clone(),
            created_at: kodiak::date::format(token.created_at),
            expires_at: token.expires_at.map(kodiak::date::format),
            expired: token.is_expired(now),
        }
    }
}

fn create(arguments: &CreateTokenArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let name = name(&arguments.name)?;
    let now = kodiak::date::now();
    let expires_at = match &arguments.expires {
        Some(text) => Some(expiry(text, now)?),
        None => None,
    };
    let grant = grant(
        arguments.allow_write,
        &arguments.sources,
        arguments.project.as_deref(),
        context,
    )?;
    let tokens = kept(context)?;
    let holder = holder("token create");
    let secret = tokens
        .create(name, grant, now, expires_at, &holder)
        .map_err(|error| explained(&error))?;
    if arguments.json {
        let list = tokens.list().map_err(|error| explained(&error))?;
        let made = list.iter().find(|token| token.name == name);
        let made = made.map(|token| Listed::of(token, Some(secret), now));
        context.output.json(&made)?;
        return Ok(Outcome::Done);
    }
    context.output.answer(&format!("{secret}\n"))?;
    context.output.notice(
        "This is the only time it is shown. Send it as the header 'Authorization: Bearer TOKEN'.",
    );
    Ok(Outcome::Done)
}

/// Returns what a token allows, with the project as the index names it. Fails if a source
/// does not exist.
pub(super) fn grant(
    write: bool,
    sources: &[String],
    project: Option<&str>,
    context: &Context<'_>,
) -> anyhow::Result<Grant> {
    let config = context.config()?;
    let is_shared = context.index.server().is_some();
    if !is_shared {
        registry::named(&config, sources)?;
    }
    let asks = project.is_some() || (is_shared && !sources.is_empty());
    let project = if asks {
        let purpose = Purpose::of("token create").without_model(true);
        let engine = context.engine(&config, purpose)?;
        if is_shared {
            // A source of another machine exists as well.
            engine.view(&Guard::local()).require_sources(sources)?;
        }
        let resolved = project.map(|typed| projects::resolve_one(typed, &engine));
        resolved.transpose()?
    } else {
        None
    };
    Ok(Grant {
        write,
        sources: sources.to_vec(),
        project,
    })
}

/// Returns the name without spaces around it. Fails if it cannot be typed or
/// shown.
pub(super) fn name(typed: &str) -> anyhow::Result<&str> {
    let name = typed.trim();
    let bad = |sign: char| sign.is_control() || sign.is_whitespace();
    if name.is_empty() || name.chars().count() > MAX_NAME_LENGTH || name.contains(bad) {
        return Err(refusal(
            format!("'{}' cannot be the name of a token", escaped(typed)),
            format!(
                "use up to {MAX_NAME_LENGTH} letters, digits and signs without spaces, such as laptop"
            ),
        ));
    }
    Ok(name)
}

/// Returns the moment at which a token expires. `30d` is thirty days from now.
pub(super) fn expiry(text: &str, now: Timestamp) -> anyhow::Result<Timestamp> {
    let read = kodiak::date::parse_limit(text)?;
    let is_date = kodiak::date::parse(text).is_some();
    let at = if is_date { read } else { now + (now - read) };
    // "yesterday" would be read as tomorrow.
    let is_time = is_date
        || text
            .trim_start()
            .starts_with(|sign: char| sign.is_ascii_digit());
    if at <= now || !is_time || text.trim_start().starts_with('0') {
        return Err(refusal(
            format!(
                "a token that expires at '{}' would never be valid",
                escaped(text)
            ),
            "name a date to come, such as 2030-01-31, or how long it is valid: 30d, 2w, 3m, 1y",
        ));
    }
    Ok(at)
}

fn list(arguments: &ListTokensArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let now = kodiak::date::now();
    let tokens = kept(context)?.list().map_err(|error| explained(&error))?;
    if arguments.json {
        let listed = tokens.iter().map(|token| Listed::of(token, None, now));
        let listed: Vec<_> = listed.collect();
        context.output.json(&listed)?;
        return Ok(Outcome::Done);
    }
    if tokens.is_empty() {
        context.output.notice("there is no token");
        context
            .output
            .hint("run `kodiak token create NAME` to make one");
        return Ok(Outcome::Done);
    }
    let steps = [
        Step::Drop("made"),
        Step::Cut("project", 12),
        Step::Cut("sources", 12),
        Step::Cut("name", 12),
    ];
    let headings = ["name", "may", "sources", "project", "made", "expires"];
    let mut table = Table::new(headings, &steps);
    for token in tokens.iter() {
        let day = |at: Timestamp| context.output.when(at, now, When::Day);
        let grant = &token.grant;
        table.push(vec![
            escaped(&token.name).into_owned(),
            if grant.write { "read, write" } else { "read" }.to_owned(),
            match grant.sources.as_slice() {
                [] => "all".to_owned(),
                sources => escaped(&sources.join(", ")).into_owned(),
            },
            grant
                .project
                .as_ref()
                .map_or("all".to_owned(), |project| escaped(project).into_owned()),
            day(token.created_at),
            match token.expires_at {
                None => "never".to_owned(),
                Some(_) if token.is_expired(now) => "expired".to_owned(),
                Some(at) => day(at),
            },
        ]);
    }
    context.output.table(&table)?;
    Ok(Outcome::Done)
}

fn revoke(arguments: &RevokeTokenArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    kept(context)?
        .revoke(arguments.name.trim(), &holder("token revoke"))
        .map_err(|error| explained(&error))?;
    Ok(Outcome::Done)
}

/// Adds what to do next to an error.
pub(super) fn explained(error: &TokenError) -> anyhow::Error {
    let hint = match error {
        TokenError::Exposed { path } => {
            format!("run `chmod 600 {}`", path.display())
        }
        TokenError::Taken { name } => {
            format!("choose another name, or run `kodiak token revoke {name}` first")
        }
        TokenError::Unknown { name, known } => match nearest(name, known) {
            Some(near) => format!("did you mean '{near}'?"),
            None => "`kodiak token list` shows which there are".to_owned(),
        },
        TokenError::Invalid { .. } => {
            "move the file away and make new tokens; the old ones are no longer valid then"
                .to_owned()
        }
        TokenError::Database(error) => failure::library_hints(error).join("; "),
        TokenError::Locked(error) => return anyhow::Error::msg(error.to_string()),
        _ => format!("set {} to the path of another file", paths::TOKENS_VARIABLE),
    };
    refusal(error.to_string(), hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_expires_in_the_future() {
        let now = kodiak::date::now();
        let day = 60 * 60 * 24;
        let in_days = |text: &str| (expiry(text, now).unwrap() - now) / day;
        assert!((30..=31).contains(&in_days("30d")));
        assert!((14..=15).contains(&in_days("2w")));
        assert!(in_days("2100-01-01") > 365);
        for past in ["2020-01-01", "yesterday", "today", "0d", "soon", "-3d"] {
            assert!(expiry(past, now).is_err(), "{past}");
        }
    }

    #[test]
    fn a_name_can_be_typed() {
        assert_eq!(name(" laptop ").unwrap(), "laptop");
        for bad in ["", "  ", "a b", "a\nb", &"x".repeat(65)] {
            name(bad).unwrap_err();
        }
    }
}
