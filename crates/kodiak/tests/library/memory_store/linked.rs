//! Which documents the texts of links lead to.

use std::collections::BTreeMap;

use kodiak::analysis::links::{LinkTarget, Named, names};
use kodiak::rank::Bm25;
use kodiak::store::{Expression, Filter, LinkMatch, Phrase, Row};

use super::matching::{pattern, stands};
use super::{Indexed, State};

/// Collects the phrases that count in the texts of links.
fn linkable(expression: &Expression, found: &mut Vec<Phrase>) {
    match expression {
        Expression::Phrase(phrase) if phrase.counts_in_links() => found.push(phrase.clone()),
        Expression::Phrase(_) | Expression::Near(..) => {}
        Expression::All(parts) | Expression::Any(parts) => {
            for part in parts {
                linkable(part, found);
            }
        }
        Expression::Except(wanted, _) => linkable(wanted, found),
    }
}

impl State {
    /// Returns the phrases of an expression in the texts of links, by the document that
    /// these lead to.
    pub(super) fn linked_by(
        &self,
        expression: &Expression,
        filter: &Filter,
        bm25: &Bm25,
    ) -> BTreeMap<Row, Vec<(Phrase, u32)>> {
        let mut phrases = Vec::new();
        if bm25.links_weight > 0.0 {
            linkable(expression, &mut phrases);
        }
        let mut by_row: BTreeMap<Row, Vec<(Phrase, u32)>> = BTreeMap::new();
        for found in self.linked(&phrases, filter) {
            let phrase = phrases[found.phrase].clone();
            let linked = by_row.entry(found.row).or_default();
            linked.push((phrase, found.documents));
        }
        by_row
    }

    /// Returns for each document and phrase how many documents link to it so.
    pub(super) fn linked(&self, phrases: &[Phrase], filter: &Filter) -> Vec<LinkMatch> {
        let scope = filter.scope_only();
        let mut found = Vec::new();
        for (number, phrase) in phrases.iter().enumerate() {
            let pattern = pattern(phrase);
            let mut counts: BTreeMap<Row, u32> = BTreeMap::new();
            for (row, indexed) in self.admitted(&scope) {
                let links = indexed.links.iter().filter(|(_, terms)| {
                    !pattern.is_empty()
                        && (0..terms.len()).any(|at| stands(terms, at, &pattern, phrase.prefix))
                });
                let rows = links.filter_map(|(target, _)| self.meant(target, indexed, &scope));
                let mut rows: Vec<Row> = rows.filter(|&other| other != row).collect();
                rows.sort_unstable();
                rows.dedup();
                for other in rows {
                    *counts.entry(other).or_default() += 1;
                }
            }
            found.extend(counts.into_iter().map(|(row, documents)| LinkMatch {
                row,
                phrase: number,
                documents,
            }));
        }
        found
    }

    /// Returns the document that a link of another one means.
    fn meant(&self, target: &LinkTarget, from: &Indexed, scope: &Filter) -> Option<Row> {
        let is_named = |(_, one): &(Row, &Indexed)| {
            let document = &one.document;
            let names = names(&document.key, &document.title);
            document.source == from.document.source && names.iter().any(|it| it == target.name())
        };
        let candidates: Vec<(Row, &Indexed)> = self.admitted(scope).filter(is_named).collect();
        let named = candidates.iter().map(|(_, one)| Named {
            key: &one.document.key,
            title: &one.document.title,
        });
        let named: Vec<Named<'_>> = named.collect();
        let at = target.resolve(&from.document.key, &named)?;
        Some(candidates[at].0)
    }
}
