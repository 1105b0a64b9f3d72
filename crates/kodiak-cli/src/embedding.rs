//! Embeds notes after a sync and reports how it went.

use std::time::{Duration, Instant};

use kodiak::Engine;
use kodiak::access::Guard;
use kodiak::engine::Job;
use kodiak::sync::EmbeddingReport;

use crate::config::Config;
use crate::context::Context;
use crate::failure;
use crate::interrupt::Working;
use crate::listener::{Listener, Summaries};
use crate::models;
use crate::output::Output;
use crate::output::phrases::{counted, duration, grouped};

/// Embeds the chunks that have no embedding, for at most `within`. Lexical
/// search is complete by now, so a failure here is a warning and not an error;
/// only Ctrl-C is one.
pub(crate) fn embed(
    context: &Context<'_>,
    config: &Config,
    engine: &Engine,
    no_semantic: bool,
    within: Option<Duration>,
) -> kodiak::Result<()> {
    if models::is_ready(context, config, no_semantic) {
        embed_now(context.output, engine, within)?;
    }
    Ok(())
}

/// Embeds the chunks of a visited folder, like [`embed`]. Only another visit continues.
pub(crate) fn embed_visit(
    context: &Context<'_>,
    config: &Config,
    engine: &Engine,
    within: Duration,
) -> kodiak::Result<()> {
    if models::is_ready(context, config, false) {
        embed_until(context.output, engine, Some(within), "search it again")?;
    }
    Ok(())
}

/// Embeds the chunks that have no embedding, with a model that is installed.
pub(crate) fn embed_now(
    output: &Output,
    engine: &Engine,
    within: Option<Duration>,
) -> kodiak::Result<()> {
    embed_until(output, engine, within, "run `kodiak index`")
}

fn embed_until(
    output: &Output,
    engine: &Engine,
    within: Option<Duration>,
    next: &str,
) -> kodiak::Result<()> {
    let working = Working::begin()?;
    let listener = Listener::new(output, Summaries::Changes);
    let event = |event: kodiak::engine::Event<'_>| listener.event(event);
    let started = Instant::now();
    let job = Job::new(&event).cancelled_by(working.cancel());
    let ended = engine.embed(&Guard::local(), within, &job);
    listener.end();
    working.check()?;
    match ended {
        Ok(Some(report)) => print_report(&report, started.elapsed(), next, output),
        Ok(None) => {}
        Err(error) => {
            let reason = failure::message(&error.into());
            output.warning(&format!(
                "some notes could not be embedded: {reason}; {next} to continue"
            ));
        }
    }
    Ok(())
}

fn print_report(report: &EmbeddingReport, took: Duration, next: &str, output: &Output) {
    if let Some(holder) = &report.elsewhere {
        output.notice(&format!("{holder} is already embedding these notes"));
        return;
    }
    if report.embedded > 0 && output.shows_progress() {
        output.notice(&done(report, took));
    }
    let parts: Vec<String> = [
        (report.embedded, "embedded"),
        (report.cached, "found in the cache"),
    ]
    .into_iter()
    .filter(|(number, _)| *number > 0)
    .map(|(number, what)| format!("{} {what}", counted(number as u64, "chunk")))
    .collect();
    if !parts.is_empty() {
        output.detail(&parts.join(", "));
    }
    if let Some(reason) = &report.stopped {
        output.warning(&format!("embedding ended early: {reason}"));
    }
    if report.left > 0 {
        output.notice(&format!(
            "{} not embedded yet: {next} to continue",
            counted(report.left as u64, "chunk")
        ));
    }
    if let Some(reason) = &report.reason {
        output.warning(&format!(
            "{} could not be embedded: {reason}",
            counted(report.failed as u64, "chunk")
        ));
    }
}

/// Returns the summary of an embedding: `embedded 1,234 chunks of 210 notes in 42 s`.
fn done(report: &EmbeddingReport, took: Duration) -> String {
    let many = |number: usize, thing: &str| match number {
        1 => format!("1 {thing}"),
        number => format!("{} {thing}s", grouped(number as u64)),
    };
    let chunks = many(report.embedded, "chunk");
    let notes = many(report.documents, "note");
    let took = duration(took.max(Duration::from_secs(1)));
    format!("embedded {chunks} of {notes} in {took}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_done_is_said() {
        let mut report = EmbeddingReport {
            embedded: 1_234,
            documents: 210,
            ..EmbeddingReport::default()
        };
        assert_eq!(
            done(&report, Duration::from_secs(42)),
            "embedded 1,234 chunks of 210 notes in 42 s"
        );
        report.embedded = 1;
        report.documents = 1;
        assert_eq!(
            done(&report, Duration::ZERO),
            "embedded 1 chunk of 1 note in 1 s"
        );
    }
}
