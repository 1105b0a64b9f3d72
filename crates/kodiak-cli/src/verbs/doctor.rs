//! `kodiak doctor`: examines config, index and sources, and repairs the index.
//!
//! The index is disposable, so every repair is safe: what is drifted is filled
//! again, what is damaged is set aside and built anew from the notes.

mod repair;

use std::fmt::Write;

use kodiak::Error;
use kodiak::store::SqliteStore;
use serde::Serialize;

use super::Outcome;
use crate::arguments::DoctorArguments;
use crate::config::Config;
use crate::context::Context;
use crate::drift::Drift;
use crate::failure;
use crate::output::escape::escaped;
use crate::output::phrases::counted;
use crate::output::style::{ERROR, OK, Painter};
use crate::registry::{self, told_of};

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

/// What the index file was found to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Health {
    Sound,
    /// There is none.
    Missing,
    /// Its tables contradict each other.
    Inconsistent,
    /// It cannot be read.
    Damaged,
}

/// Everything that was looked at.
#[derive(Debug)]
struct Examination {
    checks: Vec<Check>,
    config: Option<Config>,
    health: Health,
    /// Whether an index run would change something.
    behind: bool,
}

pub(super) fn run(arguments: &DoctorArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let mut examination = examine(context)?;
    let mut fixed = Vec::new();
    if arguments.fix && !examination.is_clean() {
        fixed = repair::repair(context, &examination)?;
        examination = examine(context)?;
    }
    let ok = examination.is_clean();
    let findings = Findings {
        ok,
        fixed,
        checks: examination.checks,
    };
    if arguments.json {
        context.output.json(&findings)?;
    } else {
        context
            .output
            .answer(&told(&findings, context.output.painter()))?;
    }
    Ok(if ok { Outcome::Done } else { Outcome::Nothing })
}

impl Examination {
    fn is_clean(&self) -> bool {
        self.checks.iter().all(|check| check.ok)
    }

    fn ok(&mut self, message: impl Into<String>) {
        self.checks.push(Check {
            ok: true,
            message: message.into(),
            examples: Vec::new(),
            hint: None,
        });
    }

    fn problem(&mut self, message: impl Into<String>, hint: impl Into<String>) {
        let hint = hint.into();
        self.checks.push(Check {
            ok: false,
            message: message.into(),
            examples: Vec::new(),
            hint: (!hint.is_empty()).then_some(hint),
        });
    }

    /// A problem that an index run ends.
    fn behind(&mut self, message: impl Into<String>) {
        self.behind = true;
        self.problem(message, "run `kodiak index`");
    }

    fn error(&mut self, prefix: &str, error: &anyhow::Error) {
        let hints = failure::hints(error);
        let hint = hints.into_iter().next().unwrap_or_default();
        self.problem(format!("{prefix}{}", failure::message(error)), hint);
    }
}

/// Looks at everything. An error is what keeps it from being looked at.
fn examine(context: &Context<'_>) -> anyhow::Result<Examination> {
    let mut examination = Examination {
        checks: Vec::new(),
        config: None,
        health: Health::Sound,
        behind: false,
    };
    match context.config() {
        Ok(config) => {
            let sources = counted(config.sources.len() as u64, "source");
            let path = context.config_path.display();
            examination.ok(format!("the config {path} registers {sources}"));
            examination.config = Some(config);
        }
        Err(error) => examination.error("", &error),
    }
    let store = examine_index(context, &mut examination)?;
    if let Some(config) = examination.config.clone() {
        compare(&config, store.as_ref(), &mut examination)?;
    }
    Ok(examination)
}

/// Checks the index against itself. Gives it back if it can be worked with.
fn examine_index(
    context: &Context<'_>,
    examination: &mut Examination,
) -> anyhow::Result<Option<SqliteStore>> {
    let path = context.index_path.display();
    let examined = SqliteStore::open(&context.index_path)
        .and_then(|store| Ok((store.examine()?, store.corpus()?, store)));
    match examined {
        Ok((findings, corpus, store)) if findings.is_empty() => {
            let documents = counted(corpus.documents, "document");
            examination.ok(format!("the index {path} is sound and holds {documents}"));
            Ok(Some(store))
        }
        Ok((findings, _, _)) => {
            // Whether it is damage shows when it is repaired.
            examination.health = Health::Inconsistent;
            for finding in findings {
                let message = format!("the index: {}", finding.problem);
                examination.problem(message, "run `kodiak doctor --fix` to repair it");
                if let Some(check) = examination.checks.last_mut() {
                    check.examples = finding.examples;
                }
            }
            Ok(None)
        }
        Err(Error::NoIndex { .. }) => {
            examination.health = Health::Missing;
            let message = format!("there is no index at {path} yet");
            match &examination.config {
                Some(config) if config.sources.is_empty() => {
                    examination.ok(format!("{message}, and nothing to index"));
                }
                _ => examination.problem(message, "run `kodiak index`"),
            }
            Ok(None)
        }
        Err(error @ Error::Corrupt { .. }) => {
            examination.health = Health::Damaged;
            examination.error("", &error.into());
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Checks the index against the sources.
fn compare(
    config: &Config,
    store: Option<&SqliteStore>,
    examination: &mut Examination,
) -> anyhow::Result<()> {
    let indexed = store
        .map(SqliteStore::sources)
        .transpose()?
        .unwrap_or_default();
    for source in &config.sources {
        let name = &source.name;
        let opened = match registry::open(config, source) {
            Ok(opened) => opened,
            Err(error) => {
                examination.error(&format!("{name}: "), &told_of(source, error));
                continue;
            }
        };
        let Some(store) = store else {
            continue;
        };
        if !indexed.iter().any(|status| status.name == *name) {
            examination.behind(format!("{name}: not indexed yet"));
            continue;
        }
        match Drift::between(store, &*opened) {
            Ok(drift) if drift.is_none() => {
                examination.ok(format!("{name}: in step with {}", opened.location()));
            }
            Ok(drift) => {
                examination.behind(format!("{name}: {} since it was indexed", drift.phrase()));
            }
            Err(error) => examination.error(&format!("{name}: "), &error.into()),
        }
    }
    for status in indexed {
        if config.source(&status.name).is_none() {
            let documents = counted(status.documents, "document");
            examination.behind(format!(
                "{}: {documents} indexed but no longer registered",
                status.name
            ));
        }
    }
    Ok(())
}

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
