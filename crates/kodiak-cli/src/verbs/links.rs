//! `kodiak links`: prints the links of a note, the links to it, its broken links, and
//! mentions of it without a link.

use std::fmt::Write;

use kodiak::access::Guard;
use kodiak::search::{Card, Caveat};
use kodiak_notes::{Links, NoteLinks};
use unicode_width::UnicodeWidthStr;

use super::{Outcome, get};
use crate::arguments::LinksArguments;
use crate::assemble::Purpose;
use crate::context::Context;
use crate::output::escape::escaped;
use crate::output::link::Linked;
use crate::output::phrases::counted;
use crate::output::style::{BOLD, DIM, Painter};
use crate::output::{Output, cut};
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

/// A note of a list.
#[derive(Clone)]
struct Entry {
    title: String,
    name: Linked,
    id: String,
    /// The texts of its links.
    said: String,
}

impl Entry {
    /// The columns that are no text: the indentation and the gaps.
    const GAPS: usize = 6;

    /// Returns the note on one line of so many columns: a long title is cut first, then the
    /// path in its middle, and the texts take the rest.
    fn fitted(mut self, columns: usize) -> Self {
        const MIN_COLUMNS: usize = 12;
        let room = columns.saturating_sub(Self::GAPS + self.id.width());
        let title = room.saturating_sub(self.name.width());
        self.title = cut::at_the_end(&self.title, title.max(room / 3).max(MIN_COLUMNS));
        let path = room.saturating_sub(self.title.width()).max(MIN_COLUMNS);
        let path = cut::in_the_middle(&self.name.text, path);
        self.name = self.name.shown_as(path);
        let left = room.saturating_sub(self.title.width() + self.name.width() + 2);
        self.said = if left < MIN_COLUMNS {
            String::new()
        } else {
            cut::at_the_end(&self.said, left)
        };
        self
    }

    fn render(&self, painter: Painter, links: bool) -> String {
        let Self { title, id, .. } = self;
        let name = self.name.dimmed(painter, links);
        let mut rest = format!("  {id}");
        if !self.said.is_empty() {
            let _ = write!(rest, "  {}", self.said);
        }
        format!("  {title}  {name}{}", painter.paint(DIM, &rest))
    }
}

/// Renders the lists that have something, each below its heading.
fn rendered(links: &NoteLinks, places: &Places, output: &Output) -> String {
    let painter = output.painter();
    let mut text = String::new();
    let head = |text: &mut String, what: String| {
        let _ = writeln!(text, "{}", painter.paint(BOLD, &what));
    };
    let width = output.on_terminal.then(|| output.width());
    let one = |text: &mut String, card: &Card, line: Option<usize>, said: &[String]| {
        // A text that only repeats the title is obvious.
        let said = said.iter().filter(|said| **said != card.title);
        let said: Vec<String> = said.map(|said| format!("\"{}\"", escaped(said))).collect();
        let mut name = places.linked_at(&card.source, &card.path);
        if let Some(line) = line {
            let _ = write!(name.text, ":{line}");
        }
        let entry = Entry {
            title: escaped(&card.title).into_owned(),
            name,
            id: card.id.clone(),
            said: said.join(", "),
        };
        let entry = width.map_or(entry.clone(), |width| entry.fitted(width));
        let _ = writeln!(text, "{}", entry.render(painter, output.links()));
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
            let mut target = format!("  {}", escaped(&broken.target));
            let mut said = String::new();
            if broken.ambiguous {
                said.push_str("(several notes have this name)");
            }
            if broken.text != broken.target {
                let gap = if said.is_empty() { "" } else { " " };
                let _ = write!(said, "{gap}\"{}\"", escaped(&broken.text));
            }
            if let Some(width) = width {
                target = cut::in_the_middle(&target, width);
                let left = width.saturating_sub(target.width() + 2);
                said = cut::at_the_end(&said, left);
            }
            if !said.is_empty() {
                target.push_str("  ");
            }
            let _ = writeln!(text, "{target}{}", painter.paint(DIM, &said));
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
