//! Prints an answer in the format that was asked for. Used by `search`, `similar` and
//! `recall`.

use std::collections::HashSet;

use kodiak::search::{Answer, Caveat, Hit, NotLookedFor};

use super::Outcome;
use crate::arguments::{Format, PrintArguments, Sort};
use crate::config::Config;
use crate::failure::refusal;
use crate::output::Output;
use crate::output::escape::escaped;
use crate::output::hits::{Layout, hits};
use crate::output::phrases::counted;
use crate::output::xml;
use crate::places::Places;

/// Fails if the options contradict each other.
pub(super) fn check(arguments: &PrintArguments) -> anyhow::Result<()> {
    if arguments.null && !matches!(arguments.format(), Format::Line | Format::Files) {
        return Err(refusal(
            "--null is for lists of files and lines",
            "add --format files or --format line",
        ));
    }
    Ok(())
}

/// Reports whether the hits are printed as text, best first.
pub(super) fn is_ranked_text(arguments: &PrintArguments) -> bool {
    arguments.format() == Format::Text && arguments.sort == Sort::Score
}

/// Prints the answer. `notices` prints what a person should know beside the hits, given
/// whether these are probably what was looked for; in JSON, the answer contains it.
pub(super) fn print(
    mut answer: Answer,
    arguments: &PrintArguments,
    config: &Config,
    output: &Output,
    notices: impl FnOnce(&Answer, bool) -> anyhow::Result<()>,
) -> anyhow::Result<Outcome> {
    let places = Places::new(config);
    sort(&mut answer.hits, arguments.sort);
    for hit in &mut answer.hits {
        let file = places.file(hit);
        hit.file = file.map(|file| file.to_string_lossy().into_owned());
        hit.url = places.url(hit);
    }
    let format = arguments.format();
    let mut printed = !answer.hits.is_empty();
    let uncertain = answer.notices.uncertainty().is_some();
    let below = below(&answer, format, uncertain, output);
    if format == Format::Json {
        output.json(&answer)?;
    } else {
        // A heading is part of the text; other formats have a notice beside them.
        let heading = match format {
            Format::Text => answer.notices.take_uncertainty(),
            _ => None,
        };
        let heading = heading.map(|uncertainty| uncertainty.heading());
        notices(&answer, printed && !uncertain)?;
        let end = if arguments.null { '\0' } else { '\n' };
        match format {
            Format::Line | Format::Files => {
                let text = match format {
                    Format::Line => lines(&answer, &places, end, output),
                    _ => files(&answer, &places, end, output),
                };
                printed = !text.is_empty();
                output.answer(&text)?;
                report_copies(&answer, output);
            }
            Format::Xml => output.answer(&xml::matches(&answer, &places))?,
            Format::Text | Format::Json => {
                let pages = arguments.pager || config.search.pager;
                let mut room = output.room(&below);
                // To explain the ranking, all hits are shown in full.
                if pages || arguments.explain {
                    room.rows = None;
                }
                let layout = Layout {
                    painter: output.painter(),
                    room,
                    links: output.links(),
                    reader: output.reader(),
                    now: kodiak::date::now(),
                    places: &places,
                };
                let text = hits(&answer, heading.as_deref(), layout);
                if pages {
                    output.paged(&text)?;
                } else {
                    output.answer(&text)?;
                }
            }
        }
    }
    for line in &below {
        output.notice(line);
    }
    Ok(Outcome::of_finding(printed))
}

/// Returns the messages to print below the hits.
fn below(answer: &Answer, format: Format, uncertain: bool, output: &Output) -> Vec<String> {
    let mut below = Vec::new();
    if format == Format::Text && output.says_everything() {
        below.extend(footer(answer));
    }
    // Notes with some words of a phrase may not be what was asked for.
    let loosened = |notice: &Caveat| matches!(notice, Caveat::PhraseNotFound { .. });
    let doubtful = uncertain || answer.notices.iter().any(loosened);
    let matters = answer.hits.is_empty() || (doubtful && output.says_everything());
    if format != Format::Json && matters {
        below.extend(unseen(&answer.completeness.0));
    }
    below
}

/// Returns what to say where what was asked for may be missing and not all changes
/// were looked at.
fn unseen(reasons: &[Caveat]) -> Option<String> {
    let unseen = |reason: &&Caveat| match reason {
        // Checking files in turn is the usual way.
        Caveat::ChangesNotLookedFor(why) => {
            !matches!(why, NotLookedFor::Off | NotLookedFor::InTurn)
        }
        _ => false,
    };
    let reason = reasons.iter().find(unseen)?;
    Some(format!("Very recent changes may be missing: {reason}."))
}

fn sort(hits: &mut [Hit], order: Sort) {
    match order {
        Sort::Score => {}
        Sort::Date => hits.sort_by(|one, other| other.updated_at.cmp(&one.updated_at)),
        Sort::Title => hits.sort_by_cached_key(|hit| hit.title.to_lowercase()),
    }
}

/// Renders how many of the notes that match are shown, if not all are. How many
/// are similar in meaning is known only roughly.
fn footer(answer: &Answer) -> Option<String> {
    let shown = answer.hits.len();
    if shown == 0 || answer.total <= shown + copies(answer) {
        return None;
    }
    let about = match answer.retrievers.semantic {
        Some(_) => "about ",
        None => "",
    };
    let all = counted(answer.total as u64, "note");
    Some(format!("{shown} of {about}{all}"))
}

/// Renders a line for each hit, as compilers do for each error.
fn lines(answer: &Answer, places: &Places, end: char, output: &Output) -> String {
    let mut text = String::new();
    for hit in &answer.hits {
        let Some(path) = places.usable(hit) else {
            report_unknown(hit, output);
            continue;
        };
        let path = for_programs(&path, output);
        text.push_str(&format!("{path}:{}:{}{end}", hit.line, escaped(&hit.title)));
    }
    text
}

/// Renders the paths of the hits' files, each once.
fn files(answer: &Answer, places: &Places, end: char, output: &Output) -> String {
    let mut seen = HashSet::new();
    let mut text = String::new();
    let mut not_files = 0;
    for hit in &answer.hits {
        let Some(file) = &hit.file else {
            if places.knows(hit) {
                not_files += 1;
            } else {
                report_unknown(hit, output);
            }
            continue;
        };
        if seen.insert(file) {
            text.push_str(&for_programs(file, output));
            text.push(end);
        }
    }
    if not_files > 0 {
        let notes = counted(not_files, "note");
        output.notice(&format!("{notes} left out: not in a file"));
    }
    text
}

/// Returns a path as it is for other programs, and escaped on a terminal.
fn for_programs(path: &str, output: &Output) -> String {
    if output.on_terminal {
        escaped(path).into_owned()
    } else {
        path.to_owned()
    }
}

/// Says how many copies of the hits a list leaves out.
fn report_copies(answer: &Answer, output: &Output) {
    let copies = match copies(answer) {
        0 => return,
        1 => "1 copy".to_owned(),
        many => format!("{many} copies"),
    };
    output.notice(&format!("{copies} left out: --all-copies lists them too"));
}

/// Returns the number of copies of the hits.
fn copies(answer: &Answer) -> usize {
    answer.hits.iter().map(|hit| hit.also_in.len()).sum()
}

fn report_unknown(hit: &Hit, output: &Output) {
    output.notice(&format!(
        "the source '{}' is no longer registered: its folder is unknown",
        hit.source
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_look_that_was_wanted_is_missed() {
        let late = Caveat::ChangesNotLookedFor(NotLookedFor::OutOfTime);
        let off = Caveat::ChangesNotLookedFor(NotLookedFor::Off);
        let in_turn = Caveat::ChangesNotLookedFor(NotLookedFor::InTurn);
        assert_eq!(
            unseen(&[off.clone(), in_turn, Caveat::DocumentsGone { count: 1 }]),
            None
        );
        assert_eq!(
            unseen(&[off, late]).as_deref(),
            Some(
                "Very recent changes may be missing: \
                 there was no time to check for all changes."
            )
        );
    }
}
