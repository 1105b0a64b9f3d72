//! Chooses the units of each chunk.
//!
//! Owns the choice, made by dynamic programming over the whole body, the way Knuth and
//! Plass break a paragraph into lines: the boundaries with the least total cost win. Each
//! chunk costs one, so there are few. The empty part of a chunk costs its square, so chunks
//! are filled evenly. The cost of a boundary depends on the units that it divides. The
//! units of a chunk are bounded, so the time is linear.

use std::ops::Range;

use super::ChunkOptions;
use super::token_estimate::TOKEN;
use super::units::{Cut, Outline};

/// The cost of a chunk that joins the end of a section with a section outside of
/// its parent.
const MIXED: f64 = 0.5;

/// The cost of a section that begins behind another and continues in the next
/// chunk.
const DIVIDED: f64 = 0.15;

/// The cost of dividing a section that would fit into a chunk.
const NEEDLESS: f64 = 0.8;

/// The cost of a heading without the text below it.
const BEHEADED: f64 = 3.0;

/// The units of a chunk.
#[derive(Debug)]
pub(super) struct Span {
    /// Their indexes, those repeated from the chunk before included.
    pub units: Range<usize>,
    /// The innermost section that holds all of them.
    pub section: usize,
}

/// Divides all units into chunks within the capacity, title and headings
/// included.
pub(super) fn divide(outline: &Outline<'_>, chunking: ChunkOptions) -> Vec<Span> {
    let capacity = chunking.capacity();
    let count = outline.units.len();
    if count == 0 {
        return Vec::new();
    }
    let mut stretch = Stretch::new(outline, 0);
    while stretch.end < count && stretch.may_grow(capacity) {
        stretch.grow();
    }
    if stretch.end == count && stretch.weight() <= capacity {
        return vec![Span {
            units: 0..count,
            section: stretch.section,
        }];
    }
    let repetition = Repetition::of(chunking);
    let starts = cheapest_starts(outline, capacity, repetition);
    spans(outline, capacity, repetition, &starts)
}

/// How much a chunk repeats of the one before it in the same section.
#[derive(Clone, Copy)]
struct Repetition {
    /// The most that it weighs.
    most: u32,
    /// The weight reserved for it, and the weakest kind of boundary that counts.
    kept_free: u32,
    from: Cut,
}

impl Repetition {
    fn of(chunking: ChunkOptions) -> Self {
        let capacity = chunking.capacity();
        match chunking.overlap {
            // Inside a paragraph the preceding sentences matter most.
            None => Self {
                most: capacity * 3 / 20,
                kept_free: capacity / 12,
                from: Cut::Paragraph,
            },
            Some(tokens) => {
                // Otherwise more would be repeated than new.
                let most = tokens.saturating_mul(TOKEN).min(capacity / 2);
                Self {
                    most,
                    kept_free: most,
                    from: Cut::Section,
                }
            }
        }
    }

    /// Returns the weight reserved in a chunk that starts at such a boundary.
    fn kept_free(self, cut: Cut) -> u32 {
        if cut >= self.from { self.kept_free } else { 0 }
    }
}

/// Returns, for each unit and for the end, the start of the chunk before it on
/// the cheapest way there.
fn cheapest_starts(outline: &Outline<'_>, capacity: u32, repetition: Repetition) -> Vec<usize> {
    let count = outline.units.len();
    let mut costs = vec![f64::INFINITY; count + 1];
    let mut starts = vec![0; count + 1];
    let cuts = costs_of_cuts(outline, capacity);
    costs[0] = 0.0;
    for start in 0..count {
        let mut stretch = Stretch::new(outline, start);
        let most = capacity - repetition.kept_free(outline.units[start].cuts);
        loop {
            let weight = stretch.weight();
            // A single unit is a chunk even if it is too heavy.
            if weight <= most || stretch.end == start + 1 {
                let empty = 1.0 - f64::from(weight) / f64::from(capacity);
                let cost = costs[start] + 1.0 + empty * empty + stretch.mixed() + cuts[stretch.end];
                if cost < costs[stretch.end] {
                    costs[stretch.end] = cost;
                    starts[stretch.end] = start;
                }
            }
            if stretch.end == count || !stretch.may_grow(most) {
                break;
            }
            stretch.grow();
        }
    }
    starts
}

/// Returns the cost of a boundary before each unit, and after the last.
fn costs_of_cuts(outline: &Outline<'_>, capacity: u32) -> Vec<f64> {
    let mut weights: Vec<u32> = outline
        .sections
        .iter()
        .map(|section| section.path_weight)
        .collect();
    for unit in &outline.units {
        weights[unit.section] = weights[unit.section].saturating_add(unit.weight);
    }
    let units = outline.units.iter().enumerate();
    let costs = units.map(|(at, unit)| {
        let needless = unit.cuts != Cut::Document && weights[unit.section] <= capacity;
        cost_of_cut(outline, at) + if needless { NEEDLESS } else { 0.0 }
    });
    costs.chain([0.0]).collect()
}

fn cost_of_cut(outline: &Outline<'_>, unit: usize) -> f64 {
    let after = &outline.units[unit];
    let level = outline.sections[after.section].level;
    if unit > 0 && outline.is_heading(unit - 1) {
        let before = &outline.sections[outline.units[unit - 1].section];
        if after.cuts != Cut::Document || level > before.level {
            return BEHEADED;
        }
    }
    match after.cuts {
        Cut::Document => 0.02 * level.min(6) as f64,
        Cut::Section => 0.2,
        Cut::List => 0.24,
        Cut::Block | Cut::Paragraph => 0.36,
        Cut::Sentence => 0.7,
        Cut::Word => 0.9,
    }
}

/// Consecutive units, and the cost of having them in one chunk.
struct Stretch<'outline, 'body> {
    outline: &'outline Outline<'body>,
    end: usize,
    text_weight: u32,
    /// The section that all of them stand in.
    section: usize,
    /// Headings of this level and deeper are within what the stretch started.
    level: usize,
    /// Whether another section starts in it.
    several: bool,
    /// The cost of joining units that do not belong together.
    mixed: f64,
}

impl<'outline, 'body> Stretch<'outline, 'body> {
    fn new(outline: &'outline Outline<'body>, start: usize) -> Self {
        let unit = &outline.units[start];
        let level = outline.sections[unit.section].level;
        let whole = start == 0 || outline.is_heading(start);
        Self {
            outline,
            end: start + 1,
            text_weight: unit.weight,
            section: unit.section,
            level: if whole { level } else { level + 1 },
            several: false,
            mixed: 0.0,
        }
    }

    /// The cost of joining them, with the cost of others.
    fn mixed(&self) -> f64 {
        let ends = self.end == self.outline.units.len() || self.outline.is_heading(self.end);
        if self.several && !ends {
            self.mixed + DIVIDED
        } else {
            self.mixed
        }
    }

    /// The weight with title and headings.
    fn weight(&self) -> u32 {
        let path_weight = self.outline.sections[self.section].path_weight;
        self.text_weight.saturating_add(path_weight)
    }

    /// Whether it may hold more: a path that gets shorter makes room.
    fn may_grow(&self, capacity: u32) -> bool {
        let least = self.outline.sections[0].path_weight;
        self.text_weight.saturating_add(least) < capacity
    }

    fn grow(&mut self) {
        let unit = &self.outline.units[self.end];
        if self.outline.is_heading(self.end) {
            let sections = &self.outline.sections;
            let level = sections[unit.section].level;
            while sections[self.section].level >= level {
                self.section = sections[self.section].parent;
            }
            self.several = true;
            if level < self.level {
                self.mixed += MIXED;
                self.level = level;
            }
        }
        self.text_weight = self.text_weight.saturating_add(unit.weight);
        self.end += 1;
    }
}

/// Follows the starts back from the end, and lets chunks that start amid a section repeat
/// the text just before them, as far as there is room.
fn spans(
    outline: &Outline<'_>,
    capacity: u32,
    repetition: Repetition,
    starts: &[usize],
) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut end = outline.units.len();
    while end > 0 {
        let start = starts[end];
        let mut stretch = Stretch::new(outline, start);
        while stretch.end < end {
            stretch.grow();
        }
        let room = capacity
            .saturating_sub(stretch.weight())
            .min(repetition.most);
        let first_before = if start > 0 { starts[start] } else { 0 };
        spans.push(Span {
            units: repeated(outline, first_before, start, room)..end,
            section: stretch.section,
        });
        end = start;
    }
    spans.reverse();
    spans
}

/// Where to start instead of at `start`, after `first`, to repeat sentences or
/// lines of the same section that weigh no more than `room`.
fn repeated(outline: &Outline<'_>, first: usize, start: usize, room: u32) -> usize {
    let mut repeated = start;
    let mut weight = 0;
    for unit in (first + 1..start).rev() {
        let before = &outline.units[unit];
        weight += before.weight;
        let apart = outline.units[unit + 1].cuts == Cut::Document || before.cuts == Cut::Document;
        if apart || weight > room {
            break;
        }
        if before.cuts <= Cut::Paragraph {
            repeated = unit;
        }
    }
    repeated
}
