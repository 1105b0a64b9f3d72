//! `kodiak doctor`: checks the config, the index, the sources and the model, and
//! repairs the index.
//!
//! The index can always be rebuilt from the notes, so every repair is safe:
//! derived data that does not match is recomputed, and a damaged index is set
//! aside and rebuilt.

use std::fmt::Write;

use kodiak::Error;
use kodiak::access::Guard;
use kodiak::engine::{self, Event, Job, Repair, Subject};
use serde::Serialize;

use super::Outcome;
use crate::arguments::DoctorArguments;
use crate::assemble::Purpose;
use crate::config::Config;
use crate::context::Context;
use crate::failure;
use crate::listener::{Listener, Summaries};
use crate::output::escape::escaped;
use crate::output::phrases::{Counts, counted};
use crate::output::style::{ERROR, OK, Painter};
use crate::registry::source_failure;
use crate::visits;

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Check {
    ok: bool,
    message: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    examples: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

/// The results as `--json` prints them.
#[derive(Debug, Serialize)]
struct Findings {
    ok: bool,
    fixed: Vec<String>,
    checks: Vec<Check>,
}

pub(super) fn run(arguments: &DoctorArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let mut fixed = Vec::new();
    let mut checks = examine(context, arguments.fix.then_some(&mut fixed))?;
    // Checks again after a repair.
    if !fixed.is_empty() {
        checks = examine(context, None)?;
    }
    let ok = checks.iter().all(|check| check.ok);
    let findings = Findings { ok, fixed, checks };
    if arguments.json {
        context.output.json(&findings)?;
    } else {
        let text = render(&findings, context.output.painter());
        context.output.answer(&context.output.wrapped(text))?;
    }
    Ok(if ok { Outcome::Done } else { Outcome::Nothing })
}

impl Check {
    fn ok(message: impl Into<String>) -> Self {
        Self {
            ok: true,
            message: message.into(),
            examples: Vec::new(),
            hint: None,
        }
    }

    fn problem(message: impl Into<String>, hint: impl Into<String>) -> Self {
        let hint = hint.into();
        Self {
            ok: false,
            message: message.into(),
            examples: Vec::new(),
            hint: (!hint.is_empty()).then_some(hint),
        }
    }

    fn error(prefix: &str, error: &anyhow::Error) -> Self {
        let hints = failure::hints(error);
        let hint = hints.into_iter().next().unwrap_or_default();
        Self::problem(format!("{prefix}{}", failure::message(error)), hint)
    }
}

/// Checks everything. If `fixed` is given, makes all possible repairs and appends them to
/// it. An error means that something could not be checked.
fn examine(context: &Context<'_>, fixed: Option<&mut Vec<String>>) -> anyhow::Result<Vec<Check>> {
    let mut checks = Vec::new();
    let path = context.config_path.display();
    let config = match context.config() {
        Ok(config) => config,
        // Without a config the sources are unknown, so only the index is checked.
        Err(error) => {
            checks.push(Check::error("", &error));
            let engine = context.engine(&Config::default(), purpose())?;
            let diagnosis = engine.examine(&Guard::local())?;
            let about_index = |check: &&engine::Check| {
                matches!(
                    check.subject,
                    Subject::Index { .. }
                        | Subject::NoIndex { .. }
                        | Subject::Contradiction(_)
                        | Subject::Erasing { .. }
                )
            };
            checks.extend(diagnosis.checks.iter().filter(about_index).map(describe));
            return Ok(checks);
        }
    };
    let sources = counted(config.sources.len() as u64, "source");
    checks.push(Check::ok(format!("the config {path} registers {sources}")));
    for source in &config.left_out {
        let (name, folder) = (&source.name, source.path.display());
        checks.push(Check::ok(format!(
            "{name}: {folder} is left out, because the index keeps a source of this name itself"
        )));
    }
    let engine = context.engine(&config, purpose())?;
    let diagnosis = engine.examine(&Guard::local())?;
    if let Some(fixed) = fixed.filter(|_| !diagnosis.is_clean()) {
        let listener = Listener::new(context.output, Summaries::Always);
        let event = |event: Event<'_>| listener.event(event);
        let repaired = engine.repair(&Guard::local(), &diagnosis, &Job::new(&event));
        listener.end();
        fixed.extend(repaired?.iter().map(done));
    }
    checks.extend(diagnosis.checks.iter().map(describe));
    checks.extend(visits::usage().map(|usage| {
        let path = usage.path.to_string_lossy();
        Check::ok(usage.phrase(&path))
    }));
    Ok(checks)
}

fn purpose() -> Purpose<'static> {
    Purpose::of("doctor --fix")
}

/// Words the result of a check.
fn describe(check: &engine::Check) -> Check {
    let problem = check.problem.as_ref();
    match &check.subject {
        Subject::Index { path, documents } => match problem {
            None => {
                let documents = counted(*documents, "note");
                Check::ok(format!(
                    "the index {} is intact and contains {documents}",
                    path.display()
                ))
            }
            Some(error) => Check::problem(
                failure::one_line(&error.to_string()),
                "run `kodiak doctor --fix` to rebuild it from your notes",
            ),
        },
        Subject::NoIndex { path, wanted } => {
            let message = format!("there is no index at {} yet", path.display());
            if *wanted {
                Check::problem(message, "run `kodiak index`")
            } else {
                Check::ok(format!("{message}, and there is nothing to index"))
            }
        }
        Subject::Contradiction(finding) => Check {
            examples: finding.examples.clone(),
            ..Check::problem(
                format!("the index: {}", finding.problem),
                "run `kodiak doctor --fix` to repair it",
            )
        },
        Subject::Erasing { documents, waiting } => {
            let documents = counted(*documents as u64, "document");
            if let Some(one) = waiting.first() {
                let error = Error::from(one);
                return Check::problem(
                    format!("the erasing of {documents} is not finished: {error}"),
                    failure::waiting_hint(&error).unwrap_or_default(),
                );
            }
            let unreadable = problem.map(|error| failure::one_line(&error.to_string()));
            match unreadable {
                None => Check::problem(
                    format!("the erasing of {documents} was interrupted"),
                    "run `kodiak index` to finish it",
                ),
                Some(error) => Check::problem(
                    format!("an erasing was interrupted: {error}"),
                    "update Kodiak if a later version was used; otherwise delete that file, and \
                     forget the documents again",
                ),
            }
        }
        Subject::Source {
            name,
            location,
            changes,
            indexed,
        } => match problem {
            Some(error) => Check::error(&format!("{name}: "), &source_failure(name, error)),
            None if !indexed => Check::problem(format!("{name}: not indexed yet"), INDEX),
            None if changes.is_empty() => Check::ok(format!("{name}: up to date with {location}")),
            None => {
                let changes = Counts::of(changes).phrase();
                Check::problem(format!("{name}: {changes} since it was indexed"), INDEX)
            }
        },
        Subject::Unregistered { name, documents } => {
            let documents = counted(*documents, "note");
            Check::problem(
                format!("{name}: {documents} indexed but no longer registered"),
                INDEX,
            )
        }
        Subject::Model { name } => match problem {
            None => Check::ok(format!("the model {name} is intact")),
            // A provider's model has its provider's name before its own.
            Some(error) if name.contains('/') => Check::problem(
                failure::one_line(&error.to_string()),
                "run `kodiak model test`, and see the [model] table of the config".to_owned(),
            ),
            Some(Error::ModelAbsent { reason, .. }) if reason.ends_with("is not installed") => {
                let hint = format!("run `kodiak model install {name}`");
                Check::problem(reason.clone(), hint)
            }
            Some(error) => Check::problem(
                failure::one_line(&error.to_string()),
                format!("run `kodiak model remove {name}`, then `kodiak model install {name}`"),
            ),
        },
        Subject::Embeddings { chunks, embedded } => {
            let all = counted(*chunks, "chunk");
            match problem {
                Some(error) => Check::problem(failure::one_line(&error.to_string()), INDEX),
                None if chunks == embedded => Check::ok(format!("{all}, all embedded")),
                None => Check::problem(format!("{embedded} of {all} embedded"), INDEX),
            }
        }
        _ => Check::ok(String::new()),
    }
}

/// Words a repair.
fn done(repair: &Repair) -> String {
    match repair {
        Repair::Erased(documents) => format!(
            "the erasing of {} was finished",
            counted(*documents as u64, "document")
        ),
        Repair::Refilled => "the data derived from the notes was recomputed".to_owned(),
        Repair::VectorsCorrected(count) => format!(
            "{} replaced from the cache",
            counted(*count as u64, "damaged embedding")
        ),
        Repair::SetAside(aside) => {
            format!("the damaged index was set aside as {}", aside.display())
        }
        Repair::Synced { complete: true, .. } => {
            "the index was brought up to date with all sources".to_owned()
        }
        Repair::Synced { sources, .. } => {
            let sources = sources.join(", ");
            format!("the index was brought up to date with {sources}")
        }
        Repair::Embedded(count) => format!("{} embedded", counted(*count as u64, "chunk")),
        _ => String::new(),
    }
}

const INDEX: &str = "run `kodiak index`";

fn render(findings: &Findings, painter: Painter) -> String {
    let mut text = String::new();
    for fixed in &findings.fixed {
        let _ = writeln!(text, "{}    {}", painter.paint(OK, "fixed"), escaped(fixed));
    }
    for check in &findings.checks {
        let label = if check.ok {
            painter.paint(OK, "ok") + "     "
        } else {
            painter.paint(ERROR, "problem")
        };
        let _ = writeln!(text, "{label}  {}", escaped(&check.message));
        for example in &check.examples {
            let _ = writeln!(text, "         {}", escaped(example));
        }
        if let Some(hint) = &check.hint {
            let _ = writeln!(text, "         {}", escaped(hint));
        }
    }
    text
}
