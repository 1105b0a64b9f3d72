//! `kodiak mcp` and `kodiak serve`: serve agents over standard input and output, and over
//! HTTP.

mod http;
mod install;
mod links;
mod renewing;
mod uninstall;

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use kodiak::Engine;
use kodiak::access::{Capability, Guard};
use kodiak_server::mcp::{Ended, Lifetime, serve_stdio};
use kodiak_server::{Locator, NewNote, Options, Server, Settled, ToolSet, Upkeep};

use super::{Outcome, open};
use crate::arguments::{HttpArguments, McpArguments, McpVerb, OfferArguments, ServeArguments};
use crate::assemble::{self, Purpose};
use crate::config::{Config, Kind, RegisteredSource};
use crate::context::Context;
use crate::failure::{self, refusal};
use crate::memory;
use crate::opened;
use crate::opener;
use crate::places::Places;
use crate::projects;
use crate::rerankers;
use crate::sessions;
use renewing::Renewing;

/// The time between two rounds of indexing and embedding.
const UPKEEP: Duration = Duration::from_hours(1);
/// How long a call that writes waits for another process. The file is written by
/// then, and the next search finds it.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a model stays in memory without use.
const MODEL_IDLE: Duration = Duration::from_mins(1);

/// How clients reach a server.
enum Reach<'a> {
    /// Over standard input and output, until nothing has happened for this time.
    Stdio { idle: Option<Duration> },
    /// Over HTTP. Whether the page is opened in the browser comes last.
    Http(SocketAddr, &'a HttpArguments, bool),
}

pub(super) fn run(arguments: &McpArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    match &arguments.verb {
        Some(McpVerb::Install(arguments)) => return install::run(arguments, context),
        Some(McpVerb::Uninstall(arguments)) => return uninstall::run(arguments, context),
        None => {}
    }
    let reach = match arguments.http {
        Some(address) => Reach::Http(address, &arguments.over_http, false),
        None => Reach::Stdio {
            idle: arguments.idle.map(Duration::from_secs),
        },
    };
    offer(&arguments.offer, arguments.note_create, &reach, context)
}

/// `kodiak serve`.
pub(super) fn serve(arguments: &ServeArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let reach = Reach::Http(arguments.address, &arguments.http, arguments.open);
    offer(&arguments.offer, false, &reach, context)
}

/// Runs the server that the arguments describe.
fn offer(
    arguments: &OfferArguments,
    note_create: bool,
    reach: &Reach<'_>,
    context: &Context<'_>,
) -> anyhow::Result<Outcome> {
    let memories = memory_source(arguments, context, Kind::Memory)?;
    let articles = memory_source(arguments, context, Kind::Article)?;
    let renewing = Renewing::new(context, arguments.no_semantic);
    let config = context.config()?;
    let settled = settled(context, &config, arguments.no_semantic)?;
    let engine = settled.engine.clone();
    let sources = &arguments.sources;
    if !sources.is_empty() {
        engine.view(&Guard::local()).require_sources(sources)?;
    }
    let mut options = options(arguments, context, &engine)?;
    options.memory_source = memories;
    options.article_source = articles;
    options.renewal = Some(Arc::new(move || renewing.renewed()));
    if note_create {
        options.note_creator = Some(Arc::new(create_note));
    }
    // The editor is beside the browser only on this machine.
    if let Reach::Http(address, ..) = reach
        && arguments.allow_write
        && address.ip().is_loopback()
    {
        let context = context.detached();
        options.opener = Some(Arc::new(move |engine, found| {
            let opened = context.context().config();
            let opened = opened.and_then(|config| open::open_beside(found, engine, &config));
            opened.map_err(|error| failure::message(&error))
        }));
    }
    let server = Server::of(settled, options);
    let upkeep = Upkeep::begin(&server, scoped(Guard::local(), arguments), UPKEEP)?;
    let idle = match *reach {
        Reach::Http(address, arguments, open) => {
            http::serve(&server, address, arguments, open, context)?;
            return Ok(Outcome::Done);
        }
        Reach::Stdio { idle } => idle,
    };
    if std::io::stdin().is_terminal() {
        context.output.notice(
            "waiting for an MCP client on standard input; \
             `kodiak mcp install CLIENT` sets one up, and Ctrl-C ends this",
        );
    }
    let with_parent = true;
    let ended = serve_stdio(&server, Lifetime { idle, with_parent })?;
    drop(upkeep);
    context.output.detail(match ended {
        Ended::Closed => "the client disconnected",
        Ended::Orphaned => "the program that started the server has exited",
        Ended::Idle => "there was no activity",
    });
    Ok(Outcome::Done)
}

/// Returns what the settings have served.
fn settled(context: &Context<'_>, config: &Config, no_semantic: bool) -> anyhow::Result<Settled> {
    let purpose = Purpose::of("mcp")
        .patience(PATIENCE)
        .without_model(no_semantic)
        .dropping_model_after(MODEL_IDLE);
    let engine = context.engine(config, purpose)?;
    let reranker = rerankers::configured(context, config, MODEL_IDLE).unwrap_or_else(|error| {
        // No client gets to see why a server does not start.
        let output = context.output;
        output.warning(&format!(
            "nothing is reranked: {}",
            failure::message(&error)
        ));
        None
    });
    let named_by_key = |source: &&RegisteredSource| source.kind == Kind::Bear;
    let named_by_key = config.sources.iter().filter(named_by_key);
    let history = opened::history(&engine, config);
    let mut settled = Settled::new(engine.with_reranker(reranker));
    settled.history = history;
    let places = Places::new(config);
    settled.locator = Some(Locator::new(move |found| places.location(found)));
    settled.named_by_key = named_by_key.map(|source| source.name.clone()).collect();
    sessions::settle(&mut settled, context, config);
    Ok(settled)
}

/// Restricts a guard to the sources that were named.
fn scoped(guard: Guard, arguments: &OfferArguments) -> Guard {
    match arguments.sources.as_slice() {
        [] => guard,
        sources => guard.within(sources),
    }
}

/// Returns the source that memories or articles are written to: one in scope, or
/// the usual one, which is made if there is none.
fn memory_source(
    arguments: &OfferArguments,
    context: &Context<'_>,
    kind: Kind,
) -> anyhow::Result<Option<String>> {
    if !arguments.allow_write {
        return Ok(None);
    }
    if arguments.sources.is_empty() {
        return memory::place(context, kind, None).map(Some);
    }
    let config = context.config()?;
    let in_scope = |name: &&String| {
        let source = config.source(name);
        source.is_some_and(|source| source.kind == kind)
    };
    Ok(arguments.sources.iter().find(in_scope).cloned())
}

fn options(
    arguments: &OfferArguments,
    context: &Context<'_>,
    engine: &Engine,
) -> anyhow::Result<Options> {
    let mut capabilities = vec![Capability::Search, Capability::Read];
    if arguments.allow_write {
        capabilities.push(Capability::Write);
    }
    let mut guard = scoped(Guard::holding(capabilities), arguments);
    let user = context.index.server().and_then(|server| server.user());
    if let Some(user) = user {
        guard = guard.writing_as(user);
    }
    if let Some(typed) = &arguments.project {
        guard = guard.in_project(projects::resolve_one(typed, engine)?);
    }
    let output = context.output.clone();
    let project = guard.project().map(str::to_owned);
    let mut options = Options::new(guard);
    options.project = project.or_else(projects::present);
    options.sets = sets(&arguments.tools)?;
    options.wrapped = arguments.jp;
    options.log = Arc::new(move |message| output.warning(message));
    if let Some(tokens) = arguments.max_tokens {
        options.max_tokens = tokens as usize;
    }
    Ok(options)
}

fn sets(names: &[String]) -> anyhow::Result<Vec<ToolSet>> {
    let mut sets = Vec::new();
    for name in names.iter().map(|name| name.trim()) {
        if name == "all" {
            sets.extend(ToolSet::ALL);
        } else {
            let set = name.parse();
            sets.push(set.map_err(|refused: kodiak_server::Refusal| {
                refusal(refused.message, refused.step)
            })?);
        }
    }
    Ok(sets)
}

/// Has Bear create a note.
fn create_note(note: &NewNote) -> Result<(), String> {
    let address = assemble::url_to_create(&note.title, &note.tags, &note.content);
    let opened = opener::open(&address, "");
    opened.map_err(|error| failure::message(&error))
}
