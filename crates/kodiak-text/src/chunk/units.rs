//! Divides a body into units that stay whole, and into sections.
//!
//! Owns the definition of a unit: a sentence, an item, a row, a line of code, or a whole
//! block of code that fits into a chunk. `markup` classifies lines, and `divide` decides
//! which units make a chunk.

use std::ops::Range;

use crate::markup::markdown::{self, Begins, Line};
use crate::markup::noise::noise;
use crate::markup::{Lines, heading, org};

use super::ChunkOptions;
use super::sentence::End;
use super::token_estimate::{self, TOKEN, TokenEstimator};

/// The weight above which a sentence is divided: small beside a chunk's, so that
/// chunks can be filled.
const MAX_SENTENCE: u32 = 40 * TOKEN;

/// The weight below which neighbouring units are joined.
const MIN_UNIT: u32 = 5 * TOKEN;

/// The least that a unit weighs, which bounds how many lines one chunk can have
/// of which nothing is embedded.
const LIGHTEST: u32 = TOKEN / 10;

/// The weight of a heading beyond its characters, which bounds the number of headings in
/// one chunk.
const MARKS: u32 = TOKEN;

/// A part of the body that stays whole. It reaches to the next unit.
#[derive(Debug)]
pub(super) struct Unit {
    /// The byte of the body where it starts.
    pub start: usize,
    /// Its weight, by the token estimate.
    pub weight: u32,
    /// The kind of boundary before it.
    pub cuts: Cut,
    /// The section it is in.
    pub section: usize,
}

/// The kinds of boundaries, from the best to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cut {
    /// Nothing: a section starts.
    Document,
    /// A section, between paragraphs and the like.
    Section,
    /// A list, between items; code, at an empty line.
    List,
    /// A table, code or a nested list, between lines.
    Block,
    /// A paragraph, between sentences.
    Paragraph,
    /// A sentence.
    Sentence,
    /// A word.
    Word,
}

/// A heading and the text below it.
#[derive(Debug)]
pub(super) struct Section {
    /// The section around it; the first is its own.
    pub parent: usize,
    /// The level of its heading; 0 before the first heading.
    pub level: usize,
    /// The weight of the title and of the headings above it.
    pub path_weight: u32,
    heading: Heading,
}

#[derive(Debug)]
enum Heading {
    None,
    /// The line that opens with `#`s.
    Numbered(Range<usize>),
    /// The line that opens with stars.
    Starred(Range<usize>),
    /// The text above the line.
    Underlined(Range<usize>),
}

/// A body in units and sections.
pub(super) struct Outline<'body> {
    body: &'body str,
    pub units: Vec<Unit>,
    /// The first is the text before the first heading.
    pub sections: Vec<Section>,
}

impl Outline<'_> {
    /// Reports whether a unit is the heading of its section.
    pub(super) fn is_heading(&self, unit: usize) -> bool {
        self.units[unit].cuts == Cut::Document
    }

    /// Returns the bytes of these units in the body, without the white space at the end.
    pub(super) fn range(&self, units: &Range<usize>) -> Range<usize> {
        let start = self.units[units.start].start;
        let after = self.units.get(units.end);
        let end = after.map_or(self.body.len(), |unit| unit.start);
        start..start + self.body[start..end].trim_end().len()
    }

    /// Returns the text of these units.
    pub(super) fn text(&self, units: &Range<usize>) -> &str {
        &self.body[self.range(units)]
    }

    /// Returns the headings of a section, outermost first.
    pub(super) fn path(&self, section: usize) -> Vec<String> {
        let mut path = Vec::new();
        let mut at = section;
        while at != 0 {
            path.extend(match &self.sections[at].heading {
                Heading::None => None,
                Heading::Numbered(line) => {
                    markdown::numbered_heading(self.body[line.clone()].trim_start())
                        .and_then(|(_, text)| heading::title(heading::without_closing(text)))
                }
                Heading::Starred(line) => org::starred(&self.body[line.clone()])
                    .and_then(|(_, text)| heading::plain_title(org::divide_headline(text).0)),
                Heading::Underlined(text) => heading::title(&self.body[text.clone()]),
            });
            at = self.sections[at].parent;
        }
        path.reverse();
        path
    }
}

/// Divides a body into units and sections. A block of code stays whole if it fits
/// into a chunk with title and headings. The lines that touch one of the ranges in
/// `unknown`, which are in order, are weighed as if the text before them told nothing.
pub(super) fn outline<'body>(
    title: &str,
    lines: &Lines,
    body: &'body str,
    chunking: ChunkOptions,
    unknown: &[Range<usize>],
) -> Outline<'body> {
    let most_for_path = chunking.most_for_path();
    let mut builder = Builder {
        title,
        capacity: chunking.capacity(),
        most_for_path,
        outline: Outline {
            body,
            units: Vec::new(),
            sections: vec![Section {
                parent: 0,
                level: 0,
                path_weight: token_estimate::of(title).min(most_for_path),
                heading: Heading::None,
            }],
        },
        estimator: TokenEstimator::default(),
        open: None,
        gap: None,
        end: End::Nothing,
        code: None,
        after_blank: true,
        embeds_noise: chunking.noise,
        noise: Vec::new(),
    };
    for (start, text, kind) in lines.iter(body) {
        let next = unknown.partition_point(|range| range.end <= start);
        let range = unknown.get(next);
        let is_unknown = range.is_some_and(|range| range.start < start + text.len());
        builder.estimator.assume_unknown(is_unknown);
        builder.line(start, text, kind);
    }
    builder.finish_code();
    builder.close();
    builder.outline
}

struct Builder<'body, 'title> {
    title: &'title str,
    capacity: u32,
    most_for_path: u32,
    outline: Outline<'body>,
    estimator: TokenEstimator,
    /// The unit being filled.
    open: Option<Unit>,
    /// Where the last word of that unit starts, and the weight before it.
    gap: Option<(usize, u32)>,
    /// How the last word ended.
    end: End,
    /// The first unit of the present block of code.
    code: Option<usize>,
    after_blank: bool,
    embeds_noise: bool,
    /// The parts of the current line that are not embedded.
    noise: Vec<Range<usize>>,
}

impl Builder<'_, '_> {
    fn line(&mut self, start: usize, line: &str, kind: Line<&str>) {
        // A line of exotic spaces is text to markdown; to us nothing is there.
        if line.trim_start().is_empty() {
            self.after_blank = true;
            return;
        }
        if !matches!(kind, Line::Code { opens: false }) {
            self.finish_code();
        }
        match kind {
            Line::Heading {
                level,
                text,
                nested: false,
            } if !heading::without_closing(text).is_empty() => {
                let range = start..start + line.len();
                let heading = if line.starts_with('*') {
                    Heading::Starred(range)
                } else {
                    Heading::Numbered(range)
                };
                self.enter(level, heading, text);
                self.heading(start, line);
            }
            Line::Underline { level, from } => self.underline(level, from..start, line.len()),
            Line::Code { .. } => self.code(start, line),
            Line::Text { content, begins } => self.text(start, line, content, begins),
            Line::Heading { .. } | Line::Rule | Line::Blank => {
                self.begin(start, Cut::Section);
                self.fill(start, line, true);
            }
        }
        self.after_blank = false;
    }

    /// Starts the section of a heading.
    fn enter(&mut self, level: usize, heading: Heading, text: &str) {
        let sections = &self.outline.sections;
        let mut parent = sections.len() - 1;
        while sections[parent].level >= level {
            parent = sections[parent].parent;
        }
        let around = sections[parent].path_weight;
        let said = parent == 0 && text.trim() == self.title;
        let path_weight = if said || around >= self.most_for_path {
            around
        } else {
            let text = token_estimate::beginning(text.trim_start(), self.most_for_path);
            (around + token_estimate::of(text) + TOKEN).min(self.most_for_path)
        };
        self.outline.sections.push(Section {
            parent,
            level,
            path_weight,
            heading,
        });
    }

    fn heading(&mut self, start: usize, text: &str) {
        self.begin(start, Cut::Document);
        if let Some(unit) = &mut self.open {
            unit.weight = MARKS;
        }
        self.fill(start, text, false);
    }

    /// Makes the paragraph right before a line of this length a heading.
    fn underline(&mut self, level: usize, paragraph: Range<usize>, length: usize) {
        self.close();
        let body = self.outline.body;
        let units = &mut self.outline.units;
        let text = &body[paragraph.clone()];
        let first = units.partition_point(|unit| unit.start < paragraph.start);
        // What lies before the first of its units was too short for one, or is blank.
        let start_of_units = units
            .get(first)
            .map_or(paragraph.end, |unit| unit.start.min(paragraph.end));
        let joined_weight = token_estimate::of(&body[paragraph.start..start_of_units]);
        if joined_weight > 0
            && let Some(joined) = first.checked_sub(1).and_then(|last| units.get_mut(last))
        {
            joined.weight = joined.weight.saturating_sub(joined_weight).max(1);
        }
        units.truncate(first);
        self.enter(level, Heading::Underlined(paragraph.clone()), text);
        self.heading(
            paragraph.start,
            &body[paragraph.start..paragraph.end + length],
        );
    }

    fn code(&mut self, start: usize, line: &str) {
        if self.code.is_none() {
            self.close();
            self.code = Some(self.outline.units.len());
            self.begin(start, Cut::Section);
        } else if self.after_blank {
            self.begin(start, Cut::List);
        } else {
            self.begin(start, Cut::Block);
        }
        self.fill(start, line, false);
    }

    /// Makes the block of code that ended one unit if it fits into a chunk, the
    /// heading right before it included.
    fn finish_code(&mut self) {
        let Some(first) = self.code else {
            return;
        };
        self.close();
        self.code = None;
        let sum = |units: &[Unit]| {
            let weights = units.iter().map(|unit| unit.weight);
            weights.fold(0, u32::saturating_add)
        };
        let units = &mut self.outline.units;
        let headed = first > 0 && units[first - 1].cuts == Cut::Document;
        let path_weight = self.outline.sections[units[first].section].path_weight;
        let together = sum(&units[first - usize::from(headed)..]);
        if path_weight.saturating_add(together) <= self.capacity {
            units[first].weight = sum(&units[first..]);
            units.truncate(first + 1);
        }
    }

    fn text(&mut self, start: usize, line: &str, content: &str, begins: Begins) {
        let row = content.starts_with('|');
        let cut = match begins {
            Begins::Item(indent) if indent < 2 => Some(Cut::List),
            Begins::Item(_) => Some(Cut::Block),
            Begins::Paragraph => Some(Cut::Section),
            Begins::Nothing if self.after_blank || self.open.is_none() => Some(Cut::Section),
            Begins::Nothing if row => Some(Cut::Block),
            Begins::Nothing => None,
        };
        if let Some(cut) = cut {
            self.begin(start, cut);
        } else {
            self.estimator.space();
        }
        self.fill(start, line, !row);
    }

    /// Starts a unit.
    fn begin(&mut self, start: usize, cuts: Cut) {
        self.close();
        self.estimator.space();
        self.gap = None;
        self.end = End::Nothing;
        self.open = Some(Unit {
            start,
            weight: 0,
            cuts,
            section: self.outline.sections.len() - 1,
        });
    }

    /// Ends the open unit. A tiny one goes to the one before it if that is tiny
    /// as well.
    fn close(&mut self) {
        let Some(mut unit) = self.open.take() else {
            return;
        };
        unit.weight = unit.weight.max(LIGHTEST);
        let alone = self.code == Some(self.outline.units.len());
        match self.outline.units.last_mut() {
            Some(before)
                if before.weight + unit.weight < MIN_UNIT
                    && before.section == unit.section
                    && before.cuts != Cut::Document
                    && !alone =>
            {
                before.weight += unit.weight;
            }
            _ => self.outline.units.push(unit),
        }
    }

    /// Adds text to the open unit, and starts others where sentences end and where it gets
    /// too long. Text that is not embedded weighs nothing.
    fn fill(&mut self, start: usize, text: &str, sentences: bool) {
        let mut noise_ranges = std::mem::take(&mut self.noise);
        if !self.embeds_noise {
            noise(text, &mut noise_ranges);
        }
        let mut skipped = noise_ranges.iter().peekable();
        let mut space = true;
        let mut at = 0;
        while at < text.len() {
            if let Some(range) = skipped.next_if(|range| range.start <= at) {
                at = at.max(range.end);
                continue;
            }
            let piece = self.estimator.next(text, at);
            if piece.weight == 0 {
                space = true;
            } else {
                if space || self.end.needs_no_space() {
                    let first = text[at..].chars().next().unwrap_or_default();
                    self.word(start + at, first, sentences);
                    space = false;
                }
                self.add(start + at, piece.weight);
                self.end = if text.as_bytes()[at].is_ascii_alphanumeric() {
                    End::Nothing
                } else {
                    self.end.followed_by(&text[at..])
                };
            }
            at += piece.length;
        }
        self.noise = noise_ranges;
    }

    /// Notes where a word starts, or starts a unit with it.
    fn word(&mut self, at: usize, first: char, sentences: bool) {
        let Some(open) = &self.open else {
            return;
        };
        if open.weight == 0 {
            return;
        }
        // The number of an item is not a sentence.
        if sentences && open.weight >= MIN_UNIT && self.end.ends_sentence(first) {
            self.begin(at, Cut::Paragraph);
        } else {
            self.gap = Some((at, open.weight));
        }
    }

    fn add(&mut self, at: usize, weight: u32) {
        let Some(open) = &mut self.open else {
            return;
        };
        if open.weight > 0 && open.weight + weight > MAX_SENTENCE {
            let (start, before, cuts) = match self.gap {
                Some((start, before)) => (start, before, Cut::Sentence),
                None => (at, open.weight, Cut::Word),
            };
            let rest = Unit {
                start,
                weight: open.weight - before + weight,
                cuts,
                section: open.section,
            };
            open.weight = before;
            self.close();
            self.open = Some(rest);
            self.gap = None;
        } else {
            open.weight += weight;
        }
    }
}
