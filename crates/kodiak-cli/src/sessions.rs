//! Sessions with agents, as the program uses them: their sources, their settings and
//! retention.
//!
//! Without the feature `sessions`, `no_sessions.rs` takes the place of this file.

use std::path::Path;

use kodiak::Engine;
use kodiak::access::Guard;
use kodiak::engine::{Clock, EngineBuilder, Job};
use kodiak::source::Source;
#[cfg(feature = "server")]
use kodiak_server::Settled;
use kodiak_sessions::queries::QueryLog;
use kodiak_sessions::transcripts::Agent;
use kodiak_sessions::{
    BrainOptions, EMBEDDED_FIELDS, KEPT_IN_TRASH, SessionOptions, SessionRecords, Sessions,
    TranscriptOptions, TranscriptSource,
};

use crate::config::{Config, Kind, RegisteredSource};
use crate::context::Context;
use crate::output::phrases::counted;
use crate::paths;

pub(crate) use crate::transcripts::add;

/// Opens a source of session records or transcripts.
pub(crate) fn open(config: &Config, source: &RegisteredSource) -> kodiak::Result<Box<dyn Source>> {
    if source.kind == Kind::Transcripts {
        return Ok(Box::new(transcripts(config, source)?));
    }
    let options = SessionOptions {
        max_bytes: config.max_file_size.0,
        home: paths::home(),
        writable: source.writable,
    };
    let records = SessionRecords::new(&source.name, &source.path, options)?;
    Ok(Box::new(records))
}

/// Prepares an engine for sessions. Questions may repeat words of sessions, so remembered
/// questions are erased together with sessions.
pub(crate) fn prepare(builder: EngineBuilder, context: &Context<'_>) -> EngineBuilder {
    let questions = QueryLog::new(paths::queries_file(context.index.beside()));
    builder
        .embedded_fields(EMBEDDED_FIELDS)
        .erased_with(move |_| questions.erase())
}

/// Sets how a server answers questions to the session records.
#[cfg(feature = "server")]
pub(crate) fn settle(settled: &mut Settled, context: &Context<'_>, config: &Config) {
    settled.brain = brain_options(context, config);
}

/// Returns the name of the agent that a config names. The error names the mistake.
pub(crate) fn agent(written: Option<&str>) -> Result<String, String> {
    let known = Agent::ALL.map(Agent::name).join(", ");
    let Some(name) = written else {
        return Err(format!("needs an agent: {known}"));
    };
    match Agent::named(name) {
        Some(agent) => Ok(agent.name().to_owned()),
        None => Err(format!("has the unknown agent '{name}'; known are {known}")),
    }
}

/// Returns how questions to the session records are answered.
pub(crate) fn brain_options(context: &Context<'_>, config: &Config) -> BrainOptions {
    let remembers = config.brain.remember_queries;
    BrainOptions {
        threshold: config.brain.threshold,
        queries: remembers.then(|| paths::queries_file(context.index.beside())),
    }
}

/// Opens transcripts. Their copies are in a folder of the source's name.
fn transcripts(config: &Config, source: &RegisteredSource) -> kodiak::Result<TranscriptSource> {
    let settings = source.transcripts.as_ref();
    let agent = settings.and_then(|settings| Agent::named(&settings.agent));
    let agent = agent.unwrap_or(Agent::ClaudeCode);
    let keep = settings.is_none_or(|settings| settings.keep);
    let options = TranscriptOptions {
        keep: keep.then(|| config.kept_transcripts().join(&source.name)),
        thinking: settings.is_some_and(|settings| settings.thinking),
    };
    TranscriptSource::new(&source.name, agent, &source.path, options)
}

/// Returns the number of sessions of a source of transcripts, and their size.
pub(crate) fn extent(config: &Config, source: &RegisteredSource) -> kodiak::Result<(usize, u64)> {
    transcripts(config, source)?.extent()
}

/// Returns the number of copies that were kept of transcripts, and their size.
pub(crate) fn kept(config: &Config, source: &RegisteredSource) -> kodiak::Result<(usize, u64)> {
    transcripts(config, source)?.kept()
}

/// Reports whether an agent has sessions at a path.
pub(crate) fn is_found(agent: Agent, path: &Path) -> bool {
    let opened = TranscriptSource::new("", agent, path, TranscriptOptions::default());
    let extent = opened.and_then(|opened| opened.extent());
    extent.is_ok_and(|(sessions, _)| sessions > 0)
}

/// Moves copies of sessions to the trash that are older than the config allows and whose
/// originals are gone.
pub(crate) fn retire(
    context: &Context<'_>,
    config: &Config,
    engine: &Engine,
    clock: Clock,
) -> anyhow::Result<()> {
    let cutoff = config.transcripts.cutoff();
    let job = Job::new(&|_| {});
    let done = Sessions::new(engine).retire(&Guard::local(), cutoff, clock, &job)?;
    let sessions = |count: usize| counted(count as u64, "session");
    let age = config.transcripts.retention.as_deref().unwrap_or_default();
    if done.retired > 0 {
        context.output.notice(&format!(
            "moved the copies of {} ({}) older than {age} whose originals are gone to the trash; \
             they are erased after {} days",
            sessions(done.retired),
            counted(done.turns as u64, "turn"),
            KEPT_IN_TRASH / (24 * 60 * 60),
        ));
    }
    if done.restored > 0 {
        context.output.notice(&format!(
            "moved the copies of {} back from the trash: they are not too old",
            sessions(done.restored)
        ));
    }
    if done.erased > 0 {
        context.output.notice(&format!(
            "erased the copies of {} from the trash",
            sessions(done.erased)
        ));
    }
    Ok(())
}
