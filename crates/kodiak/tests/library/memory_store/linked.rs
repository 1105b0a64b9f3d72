//! Which documents links lead to, and which lead to a document.

use std::collections::BTreeMap;

use kodiak::analysis::links::{LinkTarget, Named, Resolved, names};
use kodiak::document::ALIASES;
use kodiak::rank::Bm25;
use kodiak::store::{Expression, Filter, LinkMatch, Meant, Phrase, Row};

use super::matching::{flat_fields, pattern, stands};
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
                let rows = links.filter_map(|(target, _)| {
                    match self.resolved_or_alias(target, indexed, &scope) {
                        Meant::Document(other) if other != row => Some(other),
                        _ => None,
                    }
                });
                let mut rows: Vec<Row> = rows.collect();
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

    /// Returns what links of a document mean by a path, a title or an alias.
    pub(super) fn meant_by(
        &self,
        from: Row,
        targets: &[LinkTarget],
        filter: &Filter,
    ) -> Vec<Meant> {
        let scope = filter.scope_only();
        let Some(from) = self.documents.get(&from) else {
            return vec![Meant::Nothing; targets.len()];
        };
        let targets = targets.iter();
        let meant = targets.map(|target| self.resolved_or_alias(target, from, &scope));
        meant.collect()
    }

    /// Returns the other documents that have a link that means a document.
    pub(super) fn linking(&self, to: Row, filter: &Filter) -> Vec<Row> {
        let scope = filter.scope_only();
        let links = |(row, indexed): &(Row, &Indexed)| {
            let mut links = indexed.links.iter();
            let meant = |target| self.resolved_or_alias(target, indexed, &scope);
            *row != to && links.any(|(target, _)| meant(target) == Meant::Document(to))
        };
        let linking = self.admitted(&scope).filter(links);
        linking.map(|(row, _)| row).collect()
    }

    fn resolved_or_alias(&self, target: &LinkTarget, from: &Indexed, scope: &Filter) -> Meant {
        match self.resolved(target, from, scope) {
            Meant::Nothing if target.is_titled() => {}
            meant => return meant,
        }
        let called = |(_, one): &(Row, &Indexed)| {
            let fields = flat_fields(&one.document.fields);
            let mut aliases = fields
                .iter()
                .filter(|(name, _)| ALIASES.contains(&name.to_ascii_lowercase().as_str()));
            one.document.source == from.document.source
                && aliases.any(|(_, alias)| target.is_alias(alias))
        };
        let mut rows = self.admitted(scope).filter(called).map(|(row, _)| row);
        match (rows.next(), rows.next()) {
            (None, _) => Meant::Nothing,
            (Some(row), None) => Meant::Document(row),
            (Some(_), Some(_)) => Meant::Several,
        }
    }

    /// Returns what a link of a document means by a path or a title.
    fn resolved(&self, target: &LinkTarget, from: &Indexed, scope: &Filter) -> Meant {
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
        match target.resolved(&from.document.key, &named) {
            Resolved::Nothing => Meant::Nothing,
            Resolved::One(at) => Meant::Document(candidates[at].0),
            Resolved::Several => Meant::Several,
        }
    }
}
