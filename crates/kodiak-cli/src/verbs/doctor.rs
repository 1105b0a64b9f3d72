//! `kodiak doctor`: examines config, index, sources and model, and repairs the
//! index.
//!
//! The index is disposable, so every repair is safe: what is drifted is filled
//! again, what is damaged is set aside and built anew from the notes.

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
use crate::listener::{Listener, Telling};
use crate::output::escape::escaped;
use crate::output::phrases::{Counts, counted};
use crate::output::style::{ERROR, OK, Painter};
use crate::registry::told_of;

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Check {
    ok: bool,
    message: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    examples: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Findings {
    ok: bool,
    fixed: Vec<String>,
    checks: Vec<Check>,
}

pub(super) fn run(arguments: &DoctorArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let mut fixed = Vec::new();
    let mut checks = examine(context, arguments.fix.then_some(&mut fixed))?;
    // What was repaired is examined again.
    if !fixed.is_empty() {
        checks = examine(context, None)?;
    }
    let ok = checks.iter().all(|check| check.ok);
    let findings = Findings { ok, fixed, checks };
    if arguments.json {
        context.output.json(&findings)?;
    } else {
        context
            .output
            .answer(&told(&findings, context.output.painter()))?;
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

/// Looks at everything and repairs it, if somebody wants to know what was
/// repaired. An error is what keeps it from being looked at.
fn examine(context: &Context<'_>, fixed: Option<&mut Vec<String>>) -> anyhow::Result<Vec<Check>> {
    let mut checks = Vec::new();
    let path = context.config_path.display();
    let config = match context.config() {
        Ok(config) => config,
        // Without the config nobody knows what the index is to be built from.
        Err(error) => {
            checks.push(Check::error("", &error));
            let engine = context.engine(&Config::default(), purpose())?;
            let diagnosis = engine.examine(&Guard::local())?;
            let about_index = |check: &&engine::Check| {
                matches!(
                    check.subject,
                    Subject::Index { .. } | Subject::NoIndex { .. } | Subject::Contradiction(_)
                )
            };
            checks.extend(diagnosis.checks.iter().filter(about_index).map(describe));
            return Ok(checks);
        }
    };
    let sources = counted(config.sources.len() as u64, "source");
    checks.push(Check::ok(format!("the config {path} registers {sources}")));
    let engine = context.engine(&config, purpose())?;
    let diagnosis = engine.examine(&Guard::local())?;
    if let Some(fixed) = fixed.filter(|_| !diagnosis.is_clean()) {
        let listener = Listener::new(context.output, Telling::Always);
        let event = |event: Event<'_>| listener.event(event);
        let repaired = engine.repair(&Guard::local(), &diagnosis, &Job::new(&event));
        listener.end();
        fixed.extend(repaired?.iter().map(done));
    }
    checks.extend(diagnosis.checks.iter().map(describe));
    Ok(checks)
}

fn purpose() -> Purpose<'static> {
    Purpose::of("doctor --fix")
}

/// A check in words.
fn describe(check: &engine::Check) -> Check {
    let problem = check.problem.as_ref();
    match &check.subject {
        Subject::Index { path, documents } => match problem {
            None => {
                let documents = counted(*documents, "document");
                Check::ok(format!(
                    "the index {} is sound and holds {documents}",
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
                Check::ok(format!("{message}, and nothing to index"))
            }
        }
        Subject::Contradiction(finding) => Check {
            examples: finding.examples.clone(),
            ..Check::problem(
                format!("the index: {}", finding.problem),
                "run `kodiak doctor --fix` to repair it",
            )
        },
        Subject::Source {
            name,
            location,
            changes,
            indexed,
        } => match problem {
            Some(error) => Check::error(&format!("{name}: "), &told_of(name, error)),
            None if !indexed => Check::problem(format!("{name}: not indexed yet"), INDEX),
            None if changes.is_empty() => Check::ok(format!("{name}: in step with {location}")),
            None => {
                let changes = Counts::of(changes).phrase();
                Check::problem(format!("{name}: {changes} since it was indexed"), INDEX)
            }
        },
        Subject::Unregistered { name, documents } => {
            let documents = counted(*documents, "document");
            Check::problem(
                format!("{name}: {documents} indexed but no longer registered"),
                INDEX,
            )
        }
        Subject::Model { name } => match problem {
            None => Check::ok(format!("the model {name} is sound")),
            Some(error @ Error::ModelMissing { .. }) => Check::problem(
                error.to_string(),
                format!("run `kodiak model install {name}`"),
            ),
            Some(error) => Check::problem(
                failure::one_line(&error.to_string()),
                format!("run `kodiak model remove {name}`, then `kodiak model install {name}`"),
            ),
        },
        Subject::Embeddings { chunks, embedded } => {
            let all = counted(*chunks, "chunk");
            match problem {
                Some(error) => Check::problem(failure::one_line(&error.to_string()), INDEX),
                None if chunks == embedded => Check::ok(format!("all of {all} embedded")),
                None => Check::problem(format!("{embedded} of {all} embedded"), INDEX),
            }
        }
        _ => Check::ok(String::new()),
    }
}

/// A repair in words.
fn done(repair: &Repair) -> String {
    match repair {
        Repair::Refilled => "what is derived from the documents was filled again".to_owned(),
        Repair::VectorsCorrected(count) => format!(
            "{} replaced by what the cache has",
            counted(*count as u64, "damaged vector")
        ),
        Repair::SetAside(aside) => {
            format!("the damaged index was set aside as {}", aside.display())
        }
        Repair::Synced { complete: true, .. } => {
            "the index was brought in step with the sources".to_owned()
        }
        Repair::Synced { sources, .. } => {
            format!("the index was brought in step with {}", sources.join(", "))
        }
        Repair::Embedded(count) => format!("{} embedded", counted(*count as u64, "chunk")),
        _ => String::new(),
    }
}

const INDEX: &str = "run `kodiak index`";

fn told(findings: &Findings, painter: Painter) -> String {
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
