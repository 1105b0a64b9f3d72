//! `kodiak sessions add`: takes in session records.

use std::io::Read;
use std::path::Path;

use kodiak::access::Guard;
use kodiak_sessions::{Ingestion, RepeatedLesson, Sessions};
use serde::Serialize;
use serde::de::IgnoredAny;

use super::Outcome;
use crate::arguments::IngestArguments;
use crate::assemble::Purpose;
use crate::context::Context;
use crate::failure::{self, refusal};
use crate::output::Output;
use crate::output::phrases::{counted, secrets_left_out};
use crate::{models, pages, records};

/// A record as it was found in the input.
struct Found {
    /// Where it was found: a file, and a line.
    place: Place,
    text: String,
}

#[derive(Clone, Debug, Serialize)]
struct Place {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    line: usize,
}

/// The outcome for the records, as `--json` prints it.
#[derive(Debug, Default, Serialize)]
struct Report {
    stored: Vec<Stored>,
    failed: Vec<Failed>,
    /// Whether they can be found by words.
    indexed: bool,
    /// The number of chunks that were embedded.
    embedded: usize,
    /// Why not everything is embedded yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_embedded: Option<String>,
    /// Lessons that other sessions have already taught.
    repeated: Vec<Repeated>,
}

#[derive(Debug, Serialize)]
struct Stored {
    id: String,
    version: u64,
    file: String,
    /// Whether it was written now. Otherwise the same record was there already.
    new: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<String>,
    /// The number of secrets that were replaced by their kinds.
    #[serde(skip_serializing_if = "Option::is_none")]
    secrets_left_out: Option<usize>,
}

#[derive(Debug, Serialize)]
struct Failed {
    #[serde(flatten)]
    place: Place,
    error: String,
}

#[derive(Debug, Serialize)]
struct Repeated {
    session: String,
    lesson: String,
    earlier_session: String,
    earlier_lesson: String,
    sessions: usize,
}

pub(super) fn run(arguments: &IngestArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let mut found = Vec::new();
    for file in &arguments.files {
        found.extend(read(file)?);
    }
    if found.is_empty() {
        return Err(refusal(
            "no record was given",
            "pass one as JSON on standard input, or name a file",
        ));
    }
    let source = records::place(context, arguments.source.as_deref())?;
    let config = context.config()?;
    let engine = context.engine(&config, Purpose::of("ingest"))?;
    pages::finish_erasing(context.output, &engine)?;
    // Says what is missing where there is no model.
    models::is_ready(context, &config, false);
    let texts: Vec<String> = found.iter().map(|record| record.text.clone()).collect();
    let taken = pages::work(context.output, |job| {
        Ok(Sessions::new(&engine).ingest(&Guard::local(), &source, &texts, job)?)
    })?;
    let report = report(taken, &found);
    if arguments.json {
        context.output.json(&report)?;
    } else {
        print(&report, context.output)?;
    }
    if report.failed.is_empty() {
        Ok(Outcome::Done)
    } else {
        Ok(Outcome::Incomplete)
    }
}

/// Reads the records of a file or of standard input.
fn read(file: &Path) -> anyhow::Result<Vec<Found>> {
    let mut bytes = Vec::new();
    let from_input = file == Path::new("-");
    let read = if from_input {
        std::io::stdin().lock().read_to_end(&mut bytes).map(drop)
    } else {
        std::fs::read(file).map(|read| bytes = read)
    };
    let name = if from_input {
        "standard input".to_owned()
    } else {
        file.display().to_string()
    };
    read.map_err(|error| {
        refusal(
            format!("could not read {name}: {error}"),
            "check the name and the permissions of the file",
        )
    })?;
    let text = String::from_utf8(bytes).map_err(|_| {
        refusal(
            format!("{name} is not valid UTF-8"),
            "records are JSON, which is UTF-8",
        )
    })?;
    let file = (!from_input).then_some(name);
    let divided = divided(text.trim_start_matches('\u{feff}')).into_iter();
    Ok(divided
        .map(|(line, text)| Found {
            place: Place {
                file: file.clone(),
                line,
            },
            text,
        })
        .collect())
}

/// Divides a text into records, each with the line it begins on: JSON values one
/// after another or in a list, or else lines.
fn divided(text: &str) -> Vec<(usize, String)> {
    let line_at = |at: usize| text[..at].matches('\n').count() + 1;
    let begins = |at: usize| at + text[at..].len() - text[at..].trim_start().len();
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    let mut records = Vec::new();
    let mut at = 0;
    let whole = loop {
        match values.next() {
            None => break true,
            Some(Err(_)) => break false,
            Some(Ok(IgnoredAny)) => {
                let end = values.byte_offset();
                let start = begins(at);
                records.push((line_at(start), text[start..end].to_owned()));
                at = end;
            }
        }
    };
    if whole {
        return match records.as_slice() {
            [(_, list)] => listed(list).unwrap_or(records),
            _ => records,
        };
    }
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let lines: Vec<(usize, String)> = lines.map(|(at, line)| (at, line.to_owned())).collect();
    let is_value = |line: &str| serde_json::from_str::<IgnoredAny>(line).is_ok();
    if lines.iter().any(|(_, line)| is_value(line)) {
        return lines;
    }
    // One record over many lines that is not valid.
    lines
        .first()
        .map_or(Vec::new(), |(line, _)| vec![(*line, text.to_owned())])
}

/// Returns the elements of a JSON list.
fn listed(text: &str) -> Option<Vec<(usize, String)>> {
    let list: Vec<serde_json::Value> = serde_json::from_str(text).ok()?;
    Some(list.iter().map(|value| (1, value.to_string())).collect())
}

fn report(taken: Ingestion, found: &[Found]) -> Report {
    let mut report = Report {
        indexed: taken.indexed,
        ..Report::default()
    };
    for (record, found) in taken.records.into_iter().zip(found) {
        match record {
            Ok(stored) => report.stored.push(Stored {
                id: stored.key,
                version: stored.version,
                file: stored.file.to_string_lossy().into_owned(),
                new: stored.new,
                problems: stored.problems,
                secrets_left_out: Some(stored.secrets_left_out).filter(|count| *count > 0),
            }),
            Err(error) => report.failed.push(Failed {
                place: found.place.clone(),
                error: explained(&error.into()),
            }),
        }
    }
    match taken.embedding {
        Ok(None) => {}
        Ok(Some(embedding)) => {
            report.embedded = embedding.embedded + embedding.cached;
            let elsewhere = embedding.elsewhere;
            let elsewhere = elsewhere.map(|holder| format!("{holder} is already embedding"));
            report.not_embedded = embedding.stopped.or(embedding.reason).or(elsewhere);
        }
        Err(error) => report.not_embedded = Some(failure::message(&error.into())),
    }
    let repeated = taken.repeated.into_iter();
    report.repeated = repeated.map(|lesson| Repeated::of(&lesson)).collect();
    report
}

/// Returns an error with its hints, on one line.
fn explained(error: &anyhow::Error) -> String {
    let parts = [failure::message(error)].into_iter();
    let parts: Vec<String> = parts.chain(failure::hints(error)).collect();
    parts.join("; ")
}

impl Repeated {
    fn of(lesson: &RepeatedLesson) -> Self {
        Self {
            session: lesson.new.session.clone(),
            lesson: lesson.new.text.clone(),
            earlier_session: lesson.earlier.session.clone(),
            earlier_lesson: lesson.earlier.text.clone(),
            sessions: lesson.sessions,
        }
    }
}

fn print(report: &Report, output: &Output) -> anyhow::Result<()> {
    let mut ids = String::new();
    for stored in &report.stored {
        ids.push_str(&format!("{}\n", stored.id));
        for problem in &stored.problems {
            output.warning(&format!("{}: {problem}", stored.id));
        }
    }
    output.answer(&ids)?;
    let new = report.stored.iter().filter(|stored| stored.new).count();
    let known = report.stored.len() - new;
    if known > 0 {
        let records = counted(known as u64, "record");
        output.notice(&format!("{records} known already"));
    }
    let left_out = report.stored.iter().filter_map(|one| one.secrets_left_out);
    if let Some(left_out) = secrets_left_out(left_out.sum()) {
        output.notice(&left_out);
    }
    for repeated in &report.repeated {
        let others = counted(repeated.sessions as u64, "other session");
        output.notice(&format!(
            "{}: \"{}\" is known from {others}, such as {}",
            repeated.session, repeated.lesson, repeated.earlier_session
        ));
    }
    for failed in &report.failed {
        let Place { file, line } = &failed.place;
        let file = file
            .as_ref()
            .map_or(String::new(), |file| format!("{file}, "));
        output.warning(&format!("{file}line {line}: {}", failed.error));
    }
    if !report.stored.is_empty() {
        if !report.indexed {
            output.warning("the index is not up to date yet; run `kodiak index` to update it");
        }
        if let Some(reason) = &report.not_embedded {
            output.warning(&format!(
                "not everything is embedded yet: {reason}; run `kodiak index` to continue"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        divided(text).into_iter().map(|(line, _)| line).collect()
    }

    #[test]
    fn records_are_values_or_lines() {
        assert_eq!(lines("{\"a\": 1}"), [1]);
        assert_eq!(lines("\n{\n\"a\": 1\n}\n"), [2]);
        assert_eq!(lines("{\"a\": 1}\n\n{\"a\": 2}\n"), [1, 3]);
        assert_eq!(lines("{\n}\n{\n}"), [1, 3]);
        assert_eq!(lines("[{\"a\": 1}, {\"a\": 2}]"), [1, 1]);
        assert_eq!(lines("{\"a\": 1}\n{\"a\": \n{\"a\": 3}"), [1, 2, 3]);
        // One that is torn is one, however many lines it has.
        assert_eq!(lines("{\n\"a\": 1,\n\"b\":"), [1]);
        assert_eq!(lines(" \n"), [] as [usize; 0]);
    }

    proptest! {
        #[test]
        fn any_text_can_be_divided(text in "(?s).{0,60}") {
            let all = divided(&text);
            prop_assert_eq!(all.is_empty(), text.trim().is_empty());
        }
    }
}
