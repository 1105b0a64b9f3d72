//! Looking for an expression in one segment.
//!
//! The postings of each term are known. This finds the documents that meet the expression,
//! and the places of each phrase that counts in them. A phrase counts only if every part
//! of the expression that it belongs to is met, and never inside an exclusion.

use std::borrow::Cow;

use crate::plan::{Node, Plan, PlannedPhrase};
use crate::segment::{Place, Postings};

/// The postings of a segment: those of a term, and those of all terms with a beginning.
pub(crate) trait Lookup {
    fn term(&self, term: &str) -> Option<&Postings>;
    fn prefix(&self, prefix: &str) -> Option<&Postings>;
}

/// What was found in a segment.
pub(crate) struct Found<'a> {
    /// The documents that meet the expression, by their ordinals, sorted.
    pub(crate) ordinals: Vec<u32>,
    root: Part<'a>,
}

/// Where the parts of an expression are met.
enum Part<'a> {
    Phrase(usize, Option<Cow<'a, Postings>>),
    /// The documents, and the places of each phrase that are near the others.
    Near(Vec<u32>, Vec<(usize, Postings)>),
    All(Vec<Part<'a>>),
    Any(Vec<Part<'a>>),
    Except(Box<Part<'a>>, Vec<u32>),
}

/// A phrase that counts in a document, by its number, with its places.
pub(crate) type Counted<'a> = (usize, &'a [Place]);

/// Looks for an expression.
pub(crate) fn evaluate<'a>(plan: &Plan, lookup: &'a dyn Lookup) -> Found<'a> {
    let root = part(&plan.root, plan, lookup);
    Found {
        ordinals: root.ordinals().into_owned(),
        root,
    }
}

impl Found<'_> {
    /// Collects the phrases that count in a document that meets the expression, in order.
    pub(crate) fn counted<'s>(&'s self, ordinal: u32, counted: &mut Vec<Counted<'s>>) {
        counted.clear();
        self.root.count(ordinal, counted);
    }
}

fn part<'a>(node: &Node, plan: &Plan, lookup: &'a dyn Lookup) -> Part<'a> {
    let all = |nodes: &[Node]| nodes.iter().map(|node| part(node, plan, lookup)).collect();
    match node {
        Node::Phrase(number) => Part::Phrase(*number, locate(&plan.phrases[*number], lookup)),
        Node::Near(numbers, distance) => near(numbers, *distance, plan, lookup),
        Node::All(nodes) => Part::All(all(nodes)),
        Node::Any(nodes) => Part::Any(all(nodes)),
        Node::Except(wanted, unwanted) => {
            let unwanted = part(unwanted, plan, lookup).ordinals().into_owned();
            Part::Except(Box::new(part(wanted, plan, lookup)), unwanted)
        }
    }
}

impl Part<'_> {
    /// Returns the documents that meet the part.
    fn ordinals(&self) -> Cow<'_, [u32]> {
        match self {
            Self::Phrase(_, None) => Cow::Borrowed(&[]),
            Self::Phrase(_, Some(postings)) => Cow::Borrowed(postings.ordinals()),
            Self::Near(ordinals, _) => Cow::Borrowed(ordinals),
            Self::All(parts) => {
                let mut all: Vec<_> = parts.iter().map(Part::ordinals).collect();
                all.sort_by_key(|ordinals| ordinals.len());
                let mut all = all.into_iter();
                let first = all.next().unwrap_or_default();
                all.fold(first, |met, next| {
                    let met = met.iter().copied();
                    Cow::Owned(met.filter(|one| next.binary_search(one).is_ok()).collect())
                })
            }
            Self::Any(parts) => {
                let mut all: Vec<_> = parts.iter().map(Part::ordinals).collect();
                if all.len() == 1 {
                    return all.swap_remove(0);
                }
                let mut any: Vec<u32> = all.iter().flat_map(|one| one.iter().copied()).collect();
                any.sort_unstable();
                any.dedup();
                Cow::Owned(any)
            }
            Self::Except(wanted, unwanted) => {
                let wanted = wanted.ordinals();
                let kept = wanted.iter().copied();
                Cow::Owned(
                    kept.filter(|one| unwanted.binary_search(one).is_err())
                        .collect(),
                )
            }
        }
    }

    /// Adds the phrases that count in a document. Returns whether it meets the part.
    fn count<'s>(&'s self, ordinal: u32, counted: &mut Vec<Counted<'s>>) -> bool {
        let before = counted.len();
        match self {
            Self::Phrase(number, postings) => {
                let Some(postings) = postings else {
                    return false;
                };
                let Ok(at) = postings.ordinals().binary_search(&ordinal) else {
                    return false;
                };
                counted.push((*number, postings.places_at(at)));
                true
            }
            Self::Near(ordinals, parts) => {
                if ordinals.binary_search(&ordinal).is_err() {
                    return false;
                }
                for (number, postings) in parts {
                    if let Ok(at) = postings.ordinals().binary_search(&ordinal) {
                        counted.push((*number, postings.places_at(at)));
                    }
                }
                true
            }
            Self::All(parts) => {
                let met =
                    !parts.is_empty() && parts.iter().all(|part| part.count(ordinal, counted));
                if !met {
                    counted.truncate(before);
                }
                met
            }
            Self::Any(parts) => {
                let mut any = false;
                for part in parts {
                    any |= part.count(ordinal, counted);
                }
                any
            }
            Self::Except(wanted, unwanted) => {
                unwanted.binary_search(&ordinal).is_err() && wanted.count(ordinal, counted)
            }
        }
    }
}

/// Returns where a phrase stands.
fn locate<'a>(phrase: &PlannedPhrase, lookup: &'a dyn Lookup) -> Option<Cow<'a, Postings>> {
    let last = phrase.terms.len().checked_sub(1)?;
    let mut terms = Vec::with_capacity(phrase.terms.len());
    for (number, term) in phrase.terms.iter().enumerate() {
        let found = if phrase.prefix && number == last {
            lookup.prefix(term)
        } else {
            lookup.term(term)
        };
        terms.push(found?);
    }
    if let ([only], None) = (&terms[..], phrase.field) {
        return Some(Cow::Borrowed(only));
    }
    let (first, others) = terms.split_first()?;
    let mut found = Postings::default();
    let mut places = Vec::new();
    for (ordinal, starts) in first.iter() {
        let Some(others) = others
            .iter()
            .map(|one| {
                let at = one.ordinals().binary_search(&ordinal).ok()?;
                Some(one.places_at(at))
            })
            .collect::<Option<Vec<_>>>()
        else {
            continue;
        };
        places.clear();
        places.extend(starts.iter().copied().filter(|start| {
            phrase
                .field
                .is_none_or(|field| start.field_number() == field)
                && (1_u32..).zip(&others).all(|(after, others)| {
                    let wanted = Place::new(start.field_number(), start.position() + after);
                    others.binary_search(&wanted).is_ok()
                })
        }));
        if !places.is_empty() {
            found.push(ordinal, &places);
        }
    }
    (!found.ordinals().is_empty()).then_some(Cow::Owned(found))
}

/// Returns where phrases stand near each other: between the end of each and the beginning
/// of the last there are no more than so many words.
fn near<'a>(numbers: &[usize], distance: usize, plan: &Plan, lookup: &'a dyn Lookup) -> Part<'a> {
    let none = || Part::Near(Vec::new(), Vec::new());
    let located = numbers.iter().map(|&number| {
        let phrase = &plan.phrases[number];
        Some((number, phrase.terms.len(), locate(phrase, lookup)?))
    });
    let Some(located) = located.collect::<Option<Vec<_>>>() else {
        return none();
    };
    let Some((_, _, first)) = located.first() else {
        return none();
    };
    let mut ordinals = Vec::new();
    let mut parts: Vec<(usize, Postings)> = located
        .iter()
        .map(|(number, ..)| (*number, Postings::default()))
        .collect();
    for &ordinal in first.ordinals() {
        let here = located.iter().map(|(_, length, postings)| {
            let at = postings.ordinals().binary_search(&ordinal).ok()?;
            Some((*length, postings.places_at(at)))
        });
        let Some(here) = here.collect::<Option<Vec<_>>>() else {
            continue;
        };
        if let Some(places) = near_in_document(&here, distance) {
            ordinals.push(ordinal);
            for ((_, postings), places) in parts.iter_mut().zip(places) {
                postings.push(ordinal, &places);
            }
        }
    }
    Part::Near(ordinals, parts)
}

/// Returns the places of phrases that are near all others in one document, given the
/// number of terms of each and where it stands.
fn near_in_document(phrases: &[(usize, &[Place])], distance: usize) -> Option<Vec<Vec<Place>>> {
    let distance = u32::try_from(distance).unwrap_or(u32::MAX);
    let mut near = vec![Vec::new(); phrases.len()];
    for last in phrases.iter().flat_map(|(_, places)| places.iter()) {
        // Those that begin at or before the last one and end close enough to it.
        let within = |(length, places): &(usize, &[Place])| {
            let most = *length as u32;
            let earliest = last
                .position()
                .saturating_sub(distance.saturating_add(most));
            let earliest = last.back(last.position() - earliest).unwrap_or(*last);
            let start = places.partition_point(|place| *place < earliest);
            let end = places.partition_point(|place| place <= last);
            start..end
        };
        let ranges: Vec<_> = phrases.iter().map(within).collect();
        if ranges.iter().all(|range| !range.is_empty()) {
            for ((near, (_, places)), range) in near.iter_mut().zip(phrases).zip(ranges) {
                near.extend_from_slice(&places[range]);
            }
        }
    }
    for places in &mut near {
        places.sort_unstable();
        places.dedup();
    }
    near.iter().any(|places| !places.is_empty()).then_some(near)
}
