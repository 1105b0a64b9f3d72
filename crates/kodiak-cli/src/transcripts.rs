//! Adding the transcripts of coding agents: where each agent usually keeps them, and the
//! announcement before anything of them is kept.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use kodiak_sessions::transcripts::Agent;

use crate::arguments::AddArguments;
use crate::assemble::Purpose;
use crate::config::{Config, Kind, RegisteredSource, TranscriptSettings};
use crate::context::Context;
use crate::failure::refusal;
use crate::output::phrases::{counted, size};
use crate::places::Places;
use crate::registration::{Wanted, register};
use crate::{paths, sessions};

/// A part of a transcript that is about as large as its copy: tool traffic makes up
/// most of it, and most of that is not kept.
const COPY: u64 = 6;

/// Transcripts to add.
#[derive(Debug)]
struct Place {
    path: PathBuf,
    name: &'static str,
    settings: TranscriptSettings,
}

/// Adds the transcripts of agents, after announcing what will be kept.
pub(crate) fn add(
    arguments: &AddArguments,
    agent: &str,
    context: &Context<'_>,
    purpose: Purpose<'_>,
) -> anyhow::Result<()> {
    let options = &arguments.transcripts;
    let path = arguments.path.as_deref();
    let places = places(agent, path, !options.no_keep, options.thinking)?;
    if let (Some(_), [_, _, ..]) = (&arguments.name, places.as_slice()) {
        return Err(refusal(
            "one name cannot be used for several agents",
            "name the agent as well: --transcripts=AGENT",
        ));
    }
    if context.output.says_everything() {
        for place in &places {
            announce(context, place)?;
        }
    } else {
        announce_all(context, &places)?;
    }
    for place in places {
        let usual = Some(place.name).filter(|_| arguments.path.is_none());
        let wanted = Wanted {
            kind: Kind::Transcripts,
            name: arguments.name.as_deref().or(usual),
            path: place.path,
            globs: &[],
            writable: false,
            transcripts: Some(place.settings),
        };
        register(context, &wanted, purpose)?;
    }
    Ok(())
}

/// Returns the transcripts to add: the named agent's, at the named path, or all that are
/// found where agents usually keep them.
fn places(
    agent: &str,
    path: Option<&Path>,
    keep: bool,
    thinking: bool,
) -> anyhow::Result<Vec<Place>> {
    let named = match agent {
        "" => None,
        name => Some(Agent::named(name).ok_or_else(|| unknown(name))?),
    };
    let settings = |agent: Agent| TranscriptSettings {
        agent: agent.name().to_owned(),
        keep,
        thinking,
    };
    if let Some(path) = path {
        let Some(agent) = named.or_else(|| owner(path)) else {
            return Err(refusal(
                format!(
                    "it is not clear which agent's transcripts are in {}",
                    path.display()
                ),
                format!(
                    "name it, for example --transcripts={}",
                    Agent::ClaudeCode.name()
                ),
            ));
        };
        let path = std::path::absolute(path)?;
        return Ok(vec![Place {
            name: agent.name(),
            path: path.canonicalize().unwrap_or(path),
            settings: settings(agent),
        }]);
    }
    let agents: Vec<Agent> = named.map_or_else(|| Agent::ALL.to_vec(), |agent| vec![agent]);
    let looked: Vec<(Agent, &'static str, PathBuf)> = agents
        .into_iter()
        .flat_map(|agent| {
            paths::transcripts_of(agent.name())
                .into_iter()
                .map(move |(name, path)| (agent, name, path))
        })
        .collect();
    let found = looked
        .iter()
        .filter(|(agent, _, path)| path.exists() && sessions::is_found(*agent, path));
    let found: Vec<Place> = found
        .map(|(agent, name, path)| Place {
            path: path.canonicalize().unwrap_or_else(|_| path.clone()),
            name,
            settings: settings(*agent),
        })
        .collect();
    if found.is_empty() {
        let looked: Vec<String> = looked
            .iter()
            .map(|(_, _, path)| path.display().to_string())
            .collect();
        return Err(refusal(
            "no transcripts were found",
            format!(
                "looked at {}; name the folder if they are elsewhere",
                looked.join(", ")
            ),
        ));
    }
    Ok(found)
}

fn unknown(name: &str) -> anyhow::Error {
    let names = Agent::ALL.map(Agent::name).join(", ");
    refusal(
        format!("there is no agent '{name}'"),
        format!("known agents: {names}"),
    )
}

/// Returns the agent that a path belongs to, by the names in it.
fn owner(path: &Path) -> Option<Agent> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let has = |wanted: &str| {
        path.components()
            .any(|part| part.as_os_str() == OsStr::new(wanted))
    };
    let pairs = [
        (".claude", Agent::ClaudeCode),
        (".codex", Agent::Codex),
        (".pi", Agent::Pi),
        (".gemini", Agent::Gemini),
        ("opencode", Agent::OpenCode),
        ("opencode.db", Agent::OpenCode),
        (".cursor", Agent::Cursor),
        ("Cursor", Agent::Cursor),
    ];
    pairs
        .into_iter()
        .find(|(name, _)| has(name))
        .map(|(_, agent)| agent)
}

/// Returns the number of sessions in a place and their size.
fn extent(config: &Config, place: &Place) -> anyhow::Result<(usize, u64)> {
    let source = RegisteredSource {
        name: place.name.to_owned(),
        kind: Kind::Transcripts,
        path: place.path.clone(),
        globs: Vec::new(),
        writable: false,
        transcripts: Some(place.settings.clone()),
        server: None,
    };
    Ok(sessions::extent(config, &source)?)
}

/// Says in a few lines what will be read and kept of all places, before that happens.
fn announce_all(context: &Context<'_>, places: &[Place]) -> anyhow::Result<()> {
    let config = context.config()?;
    let mut all = 0;
    let mut parts = Vec::with_capacity(places.len());
    for place in places {
        let (sessions, bytes) = extent(&config, place)?;
        all += bytes;
        let sessions = counted(sessions as u64, "session");
        let (agent, bytes) = (&place.settings.agent, size(bytes));
        parts.push(format!("{sessions} of {agent} ({bytes})"));
    }
    let output = context.output;
    output.notice(&format!("reading {}", parts.join(", ")));
    if places.iter().any(|place| place.settings.keep) {
        let folder = Places::new(&config).shown_folder(&config.kept_transcripts());
        let bytes = size(all / COPY);
        output.notice(&format!(
            "keeping a copy without secrets (about {bytes}) in {folder}"
        ));
        output.hint("use --no-keep to keep no copy");
    }
    Ok(())
}

/// Says what will be read and kept of a place, before that happens.
fn announce(context: &Context<'_>, place: &Place) -> anyhow::Result<()> {
    let config = context.config()?;
    let (sessions, bytes) = extent(&config, place)?;
    let output = context.output;
    let what = format!(
        "{}: {} in {} ({})",
        place.settings.agent,
        counted(sessions as u64, "session"),
        place.path.display(),
        size(bytes)
    );
    if !place.settings.keep {
        output.notice(&format!("{what}; no copy is kept"));
        return Ok(());
    }
    output.notice(&what);
    output.notice(&format!(
        "Kodiak keeps a copy of their text and commands, about {}, in {}, even after the agent has \
         deleted them; secrets are left out",
        size(bytes / COPY),
        config.kept_transcripts().display()
    ));
    output.hint("--no-keep keeps nothing; `kodiak forget --purge --session ID` erases a session");
    Ok(())
}
