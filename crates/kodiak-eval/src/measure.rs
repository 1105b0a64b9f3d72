//! Measures every set, split, way of searching and variant, one after another.
//!
//! Owns the order and the events. Indexing and searching are left to
//! [`super::runner`].

use std::sync::Arc;

use kodiak::embed::Embedder;
use kodiak::engine;
use kodiak::rerank::Reranker;

use super::beir::{TestSet, split_label, with_layout};
use super::cached_embedder::CachedEmbedder;
use super::evaluation::Options;
use super::event::{Event, Listener};
use super::figures::Row;
use super::query::JudgedQuery;
use super::runner::{Collection, Setting};
use super::table;
use super::variant::Variant;

/// The settings, model and variants to measure.
pub(super) struct Measuring<'a> {
    pub(super) settings: &'a [Setting],
    pub(super) embedder: Option<&'a Arc<CachedEmbedder>>,
    pub(super) reranker: Option<&'a Arc<dyn Reranker>>,
    /// The variants to measure. The first has the default parameters.
    pub(super) variants: &'a [Variant],
    pub(super) options: &'a Options,
    pub(super) listener: &'a Listener<'a>,
}

impl Measuring<'_> {
    /// Measures all sets and returns the rows of each variant, set by set.
    pub(super) fn all(&self, sets: &[TestSet]) -> anyhow::Result<Vec<Vec<Row>>> {
        let mut rows: Vec<Vec<Row>> = self.variants.iter().map(|_| Vec::new()).collect();
        for set in sets {
            self.set(set, &mut rows)?;
        }
        Ok(rows)
    }

    fn set(&self, set: &TestSet, rows: &mut [Vec<Row>]) -> anyhow::Result<()> {
        let names = &self.options.splits;
        let wanted = |split: &&String| {
            names.is_empty() || names.iter().any(|name| name == split_label(split))
        };
        let splits: Vec<&String> = set.splits.iter().filter(wanted).collect();
        if splits.is_empty() {
            return Ok(());
        }
        let splits = usable(set, &splits, self.options.limit_queries, self.listener)?;
        let mut collections: Vec<(&Variant, Collection)> = Vec::new();
        for (variant, rows) in self.variants.iter().zip(rows) {
            let known = collections
                .iter()
                .position(|(indexed, _)| self.share_index(indexed, variant));
            let place = if let Some(place) = known {
                place
            } else {
                collections.push((variant, self.collection(set, variant)?));
                collections.len() - 1
            };
            self.ask(set, &splits, &collections[place].1, variant, rows)?;
        }
        Ok(())
    }

    /// Reports whether two variants share one index: if they have the same stemming
    /// and chunking. Without a model the chunking does not matter.
    pub(super) fn share_index(&self, one: &Variant, other: &Variant) -> bool {
        one.stemming == other.stemming
            && (self.embedder.is_none() || one.chunking == other.chunking)
    }

    fn collection(&self, set: &TestSet, variant: &Variant) -> anyhow::Result<Collection> {
        let title = labelled(format!("indexing {}", set.name), variant);
        (self.listener)(Event::Indexing { title: &title });
        let collection = Collection::build(
            set,
            &self.options.scratch,
            variant.chunking,
            variant.stemming,
            self.embedder,
            &|event: engine::Event<'_>| (self.listener)(Event::Engine(event)),
        );
        (self.listener)(Event::Ended);
        Ok(collection?.with_reranker(self.reranker))
    }

    fn ask(
        &self,
        set: &TestSet,
        splits: &[(&str, Vec<JudgedQuery>)],
        collection: &Collection,
        variant: &Variant,
        rows: &mut Vec<Row>,
    ) -> anyhow::Result<()> {
        let model = self
            .embedder
            .map(|embedder| embedder.identity().name.as_str());
        for (label, queries) in splits {
            for &setting in self.settings {
                let title = format!("searching {} {label}, {}", set.name, setting.name());
                let title = labelled(title, variant);
                (self.listener)(Event::Asking {
                    title: &title,
                    queries: queries.len(),
                });
                let tally = collection.measure(queries, setting, variant, |done| {
                    (self.listener)(Event::Asked(done));
                });
                (self.listener)(Event::Ended);
                let tally = tally?;
                let row = Row::new(&set.name, label, setting, model, queries, &tally);
                let line = labelled(table::line(&row), variant);
                (self.listener)(Event::Measured(&line));
                rows.push(row);
            }
        }
        Ok(())
    }
}

/// Appends the parameters of a variant to a line, unless they are the default
/// ones.
pub(super) fn labelled(line: String, variant: &Variant) -> String {
    if variant.text.is_empty() {
        return line;
    }
    format!("{line}, {}", variant.text)
}

/// Returns the splits that can be measured, with their queries. A split whose
/// queries have no relevant document is left out with a warning, because all its
/// figures would be zero.
fn usable<'a>(
    set: &TestSet,
    splits: &[&'a String],
    most_queries: Option<usize>,
    listener: &Listener<'_>,
) -> anyhow::Result<Vec<(&'a str, Vec<JudgedQuery>)>> {
    let mut found = Vec::new();
    let mut empty = Vec::new();
    for split in splits {
        let label = split_label(split);
        let mut queries = set.queries(split)?;
        if queries.is_empty() {
            empty.push(label);
            continue;
        }
        queries.truncate(most_queries.unwrap_or(usize::MAX));
        found.push((label, queries));
    }
    if found.is_empty() {
        let message = format!("{} has no query with a relevant document", set.name);
        return Err(with_layout(anyhow::Error::msg(message)));
    }
    for label in empty {
        let message = format!("{} {label} has no query with a relevant document", set.name);
        listener(Event::Warning(&message));
    }
    Ok(found)
}
