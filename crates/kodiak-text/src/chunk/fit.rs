//! Divides a body so that each chunk fits also where it is weighed alone.
//!
//! `units` weighs a text in its place, where the words before it tell how strange its
//! own words are. A model reads a chunk alone, below its title and headings. There, a
//! text in another language is heavier than in its place after much English. Chunks that
//! are too heavy alone are weighed again, as text of which nothing is known.

use std::ops::Range;

use super::divide::{Span, divide};
use super::token_estimate::{self, TokenEstimator};
use super::units::{Outline, outline};
use super::{ChunkOptions, SEPARATOR};
use crate::markup::Lines;

/// How many times as heavy a text can be alone as in its place, at most: the strangest
/// word beside the most familiar one of the same length.
const MAX_RATIO: u32 = 3;

/// Divides a body into units and sections, and these into the units of each chunk.
pub(super) fn fitted<'body>(
    title: &str,
    lines: &Lines,
    body: &'body str,
    chunking: ChunkOptions,
) -> (Outline<'body>, Vec<Span>) {
    let everything = vec![Range {
        start: 0,
        end: body.len(),
    }];
    let mut unknown: Vec<Range<usize>> = Vec::new();
    loop {
        let outline = outline(title, lines, body, chunking, &unknown);
        let spans = divide(&outline, chunking);
        let too_heavy = |span: &&Span| is_too_heavy(&outline, span, title, chunking);
        let heavy = spans.iter().filter(too_heavy);
        let heavy: Vec<Range<usize>> = heavy.map(|span| outline.range(&span.units)).collect();
        if heavy.is_empty() || unknown == everything {
            return (outline, spans);
        }
        // Other boundaries may leave another chunk too heavy.
        unknown = if unknown.is_empty() {
            heavy
        } else {
            everything.clone()
        };
    }
}

/// Reports whether the embedded text of a chunk exceeds the most that one may weigh.
fn is_too_heavy(outline: &Outline<'_>, span: &Span, title: &str, chunking: ChunkOptions) -> bool {
    let most = chunking.most_alone();
    let units = outline.units[span.units.clone()].iter();
    let path_weight = outline.sections[span.section].path_weight;
    let in_place = units.fold(path_weight, |sum, unit| sum.saturating_add(unit.weight));
    if in_place.saturating_mul(MAX_RATIO) <= most {
        return false;
    }
    let text = outline.text(&span.units);
    let heading = outline.path(span.section).join(SEPARATOR);
    // Parts of it are not embedded, and to find them takes longer than to weigh all.
    let mut estimator = TokenEstimator::default();
    let shown_title = token_estimate::beginning(title, chunking.most_for_path());
    let whole = [shown_title, "\n", &heading, "\n", text].into_iter();
    let whole = whole.fold(0_u32, |sum, part| sum.saturating_add(estimator.weigh(part)));
    if whole <= most {
        return false;
    }
    let embedded = chunking.embedded_text(title, &heading, text);
    token_estimate::of(&embedded) > most
}
