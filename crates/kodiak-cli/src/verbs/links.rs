//! `kodiak links`: prints what a note links to, what links to it, which of its links
//! lead nowhere, and where it is mentioned without a link.

use std::fmt::Write;

use kodiak::access::Guard;
use kodiak::search::{Card, Caveat};
use kodiak_notes::{Links, NoteLinks};

use super::{Outcome, get};
use crate::arguments::LinksArguments;
use crate::assemble::Purpose;
use crate::context::Context;
use crate::output::Output;
use crate::output::escape::escaped;
use crate::output::phrases::counted;
use crate::output::style::{BOLD, DIM};
use crate::places::Places;
use crate::visits;

pub(super) fn run(arguments: &LinksArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let (config, engine) = visits::knowing(
        context,
        Purpose::of("links").without_model(true),
        &arguments.note,
    )?;
    let found = get::find(&engine, &config, &arguments.note)?;
    let limit = arguments.limit as usize;
    let links = Links::new(&engine).of_note(&Guard::local(), &found.document, limit)?;
    let output = context.output;
    if arguments.json {
        output.json(&links)?;
        return Ok(Outcome::Done);
    }
    for notice in &links.notices {
        match notice {
            // It hardly ever matters, and a busy machine would say it each time.
            Caveat::ChangesNotLookedFor(_) => output.detail(&notice.to_string()),
            _ => output.notice(&notice.to_string()),
        }
    }
    output.answer(&rendered(&links, &Places::new(&config), output))?;
    Ok(Outcome::Done)
}

/// Renders the lists that have something, each below its heading.
fn rendered(links: &NoteLinks, places: &Places, output: &Output) -> String {
    let painter = output.painter();
    let mut text = String::new();
    let head = |text: &mut String, what: String| {
        let _ = writeln!(text, "{}", painter.paint(BOLD, &what));
    };
    let one = |text: &mut String, card: &Card, line: Option<usize>, said: &[String]| {
        let _ = write!(text, "  {}", escaped(&card.title));
        let mut place = places.shown_at(&card.source, &card.path);
        if let Some(line) = line {
            let _ = write!(place, ":{line}");
        }
        let place = format!("  {}  {}", escaped(&place), card.id);
        let _ = write!(text, "{}", painter.paint(DIM, &place));
        // A text that only repeats the title is obvious.
        let said = said.iter().filter(|said| **said != card.title);
        let said: Vec<String> = said.map(|said| format!("\"{}\"", escaped(said))).collect();
        if !said.is_empty() {
            let _ = write!(text, "  {}", painter.paint(DIM, &said.join(", ")));
        }
        text.push('\n');
    };
    let more = |text: &mut String, left_out: usize| {
        if left_out > 0 {
            let line = format!("  and {left_out} more");
            let _ = writeln!(text, "{}", painter.paint(DIM, &line));
        }
    };
    let total = |shown: usize, left_out: usize| (shown + left_out) as u64;
    let left_out = links.left_out;
    if links.links.is_empty() {
        head(&mut text, "links to no other note".to_owned());
    } else {
        let count = total(links.links.len(), left_out.links);
        head(&mut text, format!("links to {}", counted(count, "note")));
    }
    for linked in &links.links {
        one(&mut text, &linked.card, None, &linked.texts);
    }
    more(&mut text, left_out.links);
    if links.backlinks.is_empty() {
        head(&mut text, "no note links here".to_owned());
    } else {
        let count = total(links.backlinks.len(), left_out.backlinks);
        head(&mut text, format!("linked from {}", counted(count, "note")));
    }
    for linked in &links.backlinks {
        one(&mut text, &linked.card, None, &linked.texts);
    }
    more(&mut text, left_out.backlinks);
    if !links.broken.is_empty() {
        let count = total(links.broken.len(), left_out.broken);
        head(&mut text, counted(count, "broken link"));
        for broken in &links.broken {
            let _ = write!(text, "  {}", escaped(&broken.target));
            if broken.text != broken.target {
                let said = format!("  \"{}\"", escaped(&broken.text));
                let _ = write!(text, "{}", painter.paint(DIM, &said));
            }
            if broken.ambiguous {
                let why = "  (several notes have this name)";
                let _ = write!(text, "{}", painter.paint(DIM, why));
            }
            text.push('\n');
        }
        more(&mut text, left_out.broken);
    }
    if !links.mentions.is_empty() {
        let count = total(links.mentions.len(), left_out.mentions);
        let notes = counted(count, "note");
        head(&mut text, format!("mentioned without a link in {notes}"));
        for mention in &links.mentions {
            one(&mut text, &mention.card, Some(mention.line), &[]);
        }
        more(&mut text, left_out.mentions);
    }
    text
}
