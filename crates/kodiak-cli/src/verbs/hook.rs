//! `kodiak hook`: adds relevant memories to an agent's prompt, if it is confident.
//!
//! If anything goes wrong, the prompt is not blocked: the verb prints nothing and succeeds,
//! and the log has a line about it. The work is done on a separate thread, which is
//! abandoned if it takes too long.

use std::io::{self, IsTerminal, Read};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use kodiak_hook::{
    Asked, Candidate, Considered, Event, Hook, HookOptions, Log, MAX_EVENT_BYTES, Told, ToldFolder,
};

use super::{Outcome, search};
use crate::arguments::{Everywhere, HookArguments};
use crate::assemble::Purpose;
use crate::config::{Config, Kind};
use crate::context::Context;
use crate::failure::{self, refusal};
use crate::output::Output;
use crate::output::escape::{escaped, escaped_lines};
use crate::paths;

/// The time for everything. People wait for it with every prompt.
const DEADLINE: Duration = Duration::from_millis(1_500);
/// The time for the model, in milliseconds. Without it, words decide.
const MODEL_MS: u64 = 800;

/// The outcome of an event.
struct Reaction {
    /// The line of the log.
    line: String,
    /// The context to print, and the session that it is for.
    told: Option<(kodiak_hook::Context, String)>,
}

impl Reaction {
    fn silent(line: impl Into<String>) -> Self {
        Self {
            line: line.into(),
            told: None,
        }
    }
}

/// Runs the verb. Without `--explain` it never fails.
pub(super) fn run(
    arguments: &HookArguments,
    everywhere: &Everywhere,
    output: &Output,
) -> anyhow::Result<Outcome> {
    if arguments.explain {
        return explain(arguments, everywhere, output);
    }
    react(everywhere, output);
    Ok(Outcome::Done)
}

/// Notes in the log that the arguments of a hook could not be understood. Returns whether
/// they belong to a hook.
pub(crate) fn misunderstood(line: &[std::ffi::OsString]) -> bool {
    let mut words = line.iter().skip(1).filter_map(|word| word.to_str());
    let is_hook = words.find(|word| !word.starts_with('-')) == Some("hook");
    let explains = line
        .iter()
        .any(|word| word == "--explain" || word == "--help" || word == "-h");
    if !is_hook || explains {
        return false;
    }
    if let Some(folder) = paths::hook_folder() {
        Log::new(folder.join(LOG)).add("error: the arguments could not be understood");
    }
    true
}

/// The name of the log.
const LOG: &str = "hook.log";
/// The name of the folder with the records of all sessions.
const TOLD: &str = "told";

fn react(everywhere: &Everywhere, output: &Output) {
    // A message on standard error would be shown to people with every prompt.
    std::panic::set_hook(Box::new(|_| {}));
    let started = Instant::now();
    // Without a place for what was told, it would be told with every prompt.
    let Some(folder) = paths::hook_folder() else {
        return;
    };
    let log = Log::new(folder.join(LOG));
    let told = ToldFolder::new(folder.join(TOLD));
    let (sender, receiver) = mpsc::channel();
    let (own, quiet, sessions) = (everywhere.clone(), output.clone(), told.clone());
    let working = thread::Builder::new().spawn(move || {
        let reaction = reaction(&own, &quiet, &sessions);
        let failed =
            |error: anyhow::Error| Reaction::silent(format!("error: {}", failure::message(&error)));
        let _ = sender.send(reaction.unwrap_or_else(failed));
    });
    let reaction = match working {
        Ok(_) => receiver.recv_timeout(DEADLINE).unwrap_or_else(|error| {
            Reaction::silent(match error {
                mpsc::RecvTimeoutError::Timeout => "error: out of time",
                mpsc::RecvTimeoutError::Disconnected => "error: a fault of the program",
            })
        }),
        Err(error) => Reaction::silent(format!("error: {error}")),
    };
    let mut line = reaction.line;
    if let Some((context, session)) = reaction.told {
        // What cannot be recorded would be repeated.
        match told.record(&session, context.documents()) {
            Err(error) => line = format!("error: {error}"),
            Ok(()) if output.json(&context.output()).is_err() => {
                "error: nothing reads the answer".clone_into(&mut line);
            }
            Ok(()) => {}
        }
    }
    log.add(&format!("{line}, {} ms", started.elapsed().as_millis()));
}

/// Reads the event and carries out its request.
fn reaction(
    everywhere: &Everywhere,
    output: &Output,
    sessions: &ToldFolder,
) -> anyhow::Result<Reaction> {
    if io::stdin().is_terminal() {
        return Ok(Reaction::silent("error: no event on standard input"));
    }
    let bytes = read_event()?;
    let Some(event) = Event::parse(&bytes) else {
        return Ok(Reaction::silent(if bytes.len() > MAX_EVENT_BYTES {
            "error: the event is too long"
        } else {
            "error: what is on standard input is not an event"
        }));
    };
    let Some(session) = event.session() else {
        return Ok(Reaction::silent("error: the event names no session"));
    };
    match event.asked() {
        Asked::Nothing => Ok(Reaction::silent(format!("{}: nothing to do", event.name))),
        Asked::Reset => {
            sessions.reset(session)?;
            Ok(Reaction::silent(format!("{}: reset", event.name)))
        }
        Asked::Prompt(_) => {
            let told = sessions.read(session)?;
            let considered = consider(&event, &told, everywhere, output)?;
            let line = summary(&considered);
            let session = session.to_owned();
            Ok(Reaction {
                line,
                told: considered.context.map(|context| (context, session)),
            })
        }
    }
}

/// Reads standard input to its end. The part beyond the limit is read, but not kept: a
/// client whose hook stops reading reports an error.
fn read_event() -> anyhow::Result<Vec<u8>> {
    let mut stdin = io::stdin().lock();
    let mut bytes = Vec::new();
    let most = MAX_EVENT_BYTES as u64 + 1;
    (&mut stdin).take(most).read_to_end(&mut bytes)?;
    io::copy(&mut stdin, &mut io::sink())?;
    Ok(bytes)
}

/// Considers a prompt with an engine that writes nothing and uses no network.
fn consider(
    event: &Event,
    told: &Told,
    everywhere: &Everywhere,
    output: &Output,
) -> anyhow::Result<Considered> {
    let mut context = Context::new(output, everywhere, false)?;
    // A provider of embeddings would be sent every prompt.
    context.offline = true;
    let mut config = context.config()?;
    config.search.deadline_ms = config.search.deadline_ms.min(MODEL_MS);
    config.search.refresh_ms = 0;
    let purpose = Purpose::of("hook").patience(Duration::ZERO);
    let engine = context.engine(&config, purpose)?;
    let hook = Hook::new(&engine, options(&config, event.cwd.as_deref()));
    Ok(hook.consider(event, told)?)
}

/// Returns the options of the hook. Notes in the project's folder are searched as well,
/// whether it contains their folder or lies in it.
fn options(config: &Config, cwd: Option<&Path>) -> HookOptions {
    let mut sources = config.hook.sources.clone();
    let mut folders = Vec::new();
    if let Some(cwd) = cwd.filter(|cwd| cwd.is_absolute()) {
        let root = kodiak::project::of(cwd);
        let notes = config.sources.iter();
        for source in notes.filter(|source| source.kind == Kind::Markdown) {
            if source.path.starts_with(&root) {
                sources.push(source.name.clone());
            } else if let Ok(inside) = Path::new(&root).strip_prefix(&source.path)
                && let Some(inside) = inside.to_str()
            {
                folders.push((source.name.clone(), format!("{inside}/")));
            }
        }
    }
    sources.sort();
    sources.dedup();
    HookOptions {
        sources,
        folders,
        other_projects: config.hook.other_projects,
        request: kodiak::search::Request {
            fusion: config.search.fusion,
            weights: search::weights(config),
            ..kodiak::search::Request::default()
        },
    }
}

/// Describes the outcome of a prompt, without a word of it.
fn summary(considered: &Considered) -> String {
    let (questions, hits) = (considered.questions.len(), considered.candidates.len());
    match &considered.context {
        Some(context) => format!(
            "prompt: told {} items, {} tokens ({questions} questions, {hits} hits)",
            context.items.len(),
            context.tokens()
        ),
        None if questions == 0 => "prompt: nothing told, it asks nothing".to_owned(),
        None => match considered.candidates.first() {
            Some(best) => format!(
                "prompt: nothing told, the best of {hits} hits: {}",
                best.verdict
            ),
            None => "prompt: nothing told, no hits".to_owned(),
        },
    }
}

/// Shows the hits that are considered for a prompt, and records nothing.
fn explain(
    arguments: &HookArguments,
    everywhere: &Everywhere,
    output: &Output,
) -> anyhow::Result<Outcome> {
    let event = if arguments.prompt.is_empty() {
        Event::parse(&read_event()?).ok_or_else(|| {
            refusal(
                "what is on standard input is not an event",
                "write the prompt after --explain, or pipe in an event from a client",
            )
        })?
    } else {
        Event {
            name: "UserPromptSubmit".to_owned(),
            prompt: Some(arguments.prompt.join(" ")),
            cwd: std::env::current_dir().ok(),
            ..Event::default()
        }
    };
    let folder = paths::hook_folder().map(|folder| ToldFolder::new(folder.join(TOLD)));
    let told = match (folder, event.session()) {
        (Some(folder), Some(session)) => folder.read(session)?,
        _ => Told::default(),
    };
    let considered = consider(&event, &told, everywhere, output)?;
    output.answer(&explanation(&considered))?;
    Ok(Outcome::of_finding(considered.context.is_some()))
}

fn explanation(considered: &Considered) -> String {
    let mut text = match considered.projects.as_slice() {
        [] => "project: none that is indexed\n".to_owned(),
        projects => format!("project: {}\n", escaped(&projects.join(", "))),
    };
    if considered.questions.is_empty() {
        text.push_str(
            "Nothing to look up: the prompt is too short, a command, or not from a person.\n",
        );
    }
    for (number, question) in considered.questions.iter().enumerate() {
        text.push_str(&format!("asked: {}\n", escaped(question)));
        let candidates = considered.candidates.iter();
        for candidate in candidates.filter(|candidate| candidate.question == number) {
            text.push_str(&explained(candidate));
        }
    }
    match &considered.context {
        Some(context) => text.push_str(&format!(
            "told, {} tokens:\n{}",
            context.tokens(),
            escaped_lines(&context.text)
        )),
        None => text.push_str("Nothing is added.\n"),
    }
    text
}

fn explained(candidate: &Candidate) -> String {
    let evidence = candidate.evidence;
    let meaning = evidence
        .meaning
        .map_or("unknown".to_owned(), |meaning| format!("{meaning:.2}"));
    format!(
        "  {} {}: {}\n    words {:.2}, meaning {meaning}, ahead by {:.2}\n",
        candidate.hit.id,
        escaped(&candidate.hit.title),
        candidate.verdict,
        evidence.coverage,
        evidence.lead,
    )
}
