//! Asks the queries, of all notes and of small collections drawn from them.
//!
//! Owns the order and the events. Notes are parsed once; each collection is indexed
//! from memory, and its embeddings come from the cache.

use std::time::Instant;

use anyhow::Result;
use kodiak::Document;
use kodiak::access::Guard;
use kodiak::embed::Embedder;
use kodiak::engine;
use kodiak::rank::Fusion;
use kodiak::search::Request;

use super::figures::{Asked, Manner, NotesRow};
use super::sample::sample;
use super::{JudgedFile, JudgedNotes, JudgedQuery, table};
use crate::event::Event;
use crate::measure::{Measuring, labelled};
use crate::runner::{Collection, Setting};
use crate::variant::Variant;

/// The answers of one variant and setting.
struct Answers<'a> {
    /// The place of the variant among all.
    place: usize,
    variant: &'a Variant,
    setting: Setting,
    asked: Vec<Asked>,
}

impl Measuring<'_> {
    /// Asks all queries and returns the rows of each variant. The whole folder comes
    /// first and fills the embedding cache for the small collections.
    pub(crate) fn notes(&self, judged: &JudgedNotes) -> Result<Vec<Vec<NotesRow>>> {
        let total = judged.folder.documents.len();
        let mut sizes: Vec<usize> = self.options.sizes.iter().map(|size| size.get()).collect();
        sizes.sort_unstable();
        sizes.dedup();
        if let Some(size) = sizes.iter().find(|&&size| size >= total) {
            (self.listener)(Event::Notice(&format!(
                "a size of {size} means all notes: the folder has {total}"
            )));
        }
        sizes.retain(|&size| size < total);
        let mut rows: Vec<Vec<NotesRow>> = self.variants.iter().map(|_| Vec::new()).collect();
        for group in self.groups() {
            self.whole(judged, &group, &mut rows)?;
            for &size in &sizes {
                self.small(judged, size, &group, &mut rows)?;
            }
        }
        Ok(rows)
    }

    /// Returns the places of the variants, those together that share an index.
    fn groups(&self) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (place, variant) in self.variants.iter().enumerate() {
            let known = groups
                .iter_mut()
                .find(|group| self.share_index(&self.variants[group[0]], variant));
            match known {
                Some(group) => group.push(place),
                None => groups.push(vec![place]),
            }
        }
        groups
    }

    /// Asks the queries of all notes.
    fn whole(
        &self,
        judged: &JudgedNotes,
        group: &[usize],
        rows: &mut [Vec<NotesRow>],
    ) -> Result<()> {
        let first = &self.variants[group[0]];
        let title = labelled(format!("indexing {}", judged.folder.name), first);
        (self.listener)(Event::Indexing { title: &title });
        let collection = self.index(judged.folder.documents.clone(), first, &|event| {
            (self.listener)(Event::Engine(event));
        });
        (self.listener)(Event::Ended);
        let collection = collection?;
        let settings: Vec<Setting> = self.measured_settings().collect();
        for file in &judged.files {
            for mut answers in self.answers(group, &settings) {
                let title = format!("searching {}, {}", file.label, answers.setting.name());
                let title = labelled(title, answers.variant);
                self.in_series(&title, file, |query| {
                    answers.ask(&collection, judged, query)
                })?;
                let notes = judged.folder.documents.len();
                self.finish(file, notes, true, answers, rows);
            }
        }
        Ok(())
    }

    /// Asks each query of a separate collection, drawn for it from all notes.
    fn small(
        &self,
        judged: &JudgedNotes,
        size: usize,
        group: &[usize],
        rows: &mut [Vec<NotesRow>],
    ) -> Result<()> {
        let first = &self.variants[group[0]];
        let all = &judged.folder.documents;
        let chosen = !self.options.modes.is_empty();
        let settings = self.measured_settings();
        let settings: Vec<Setting> = settings
            .filter(|setting| chosen || setting.is_default())
            .collect();
        for file in &judged.files {
            let mut every = self.answers(group, &settings);
            let title = format!("searching {} in {size} notes", file.label);
            self.in_series(&labelled(title, first), file, |query| {
                let seed = self.options.seed;
                let drawn = sample(all.len(), &query.notes, size, seed, &query.text);
                let drawn = drawn.into_iter().map(|place| all[place].clone());
                let collection = self.index(drawn.collect(), first, &|_| {})?;
                every
                    .iter_mut()
                    .try_for_each(|answers| answers.ask(&collection, judged, query))
            })?;
            for answers in every {
                self.finish(file, size, false, answers, rows);
            }
        }
        Ok(())
    }

    /// Returns the settings to measure. Reciprocal rank fusion is left out.
    fn measured_settings(&self) -> impl Iterator<Item = Setting> {
        let settings = self.settings.iter().copied();
        settings.filter(|setting| setting.fusion != Some(Fusion::Rrf))
    }

    /// Returns room for the answers of each variant of a group in each setting.
    fn answers(&self, group: &[usize], settings: &[Setting]) -> Vec<Answers<'_>> {
        let answers = |place: usize, setting: Setting| Answers {
            place,
            variant: &self.variants[place],
            setting,
            asked: Vec::new(),
        };
        let group = group.iter();
        group
            .flat_map(|&place| settings.iter().map(move |&setting| answers(place, setting)))
            .collect()
    }

    /// Indexes these documents with the parameters of a variant.
    fn index(
        &self,
        documents: Vec<Document>,
        variant: &Variant,
        listener: &(dyn Fn(engine::Event<'_>) + Sync),
    ) -> Result<Collection> {
        let collection = Collection::of(
            documents,
            &self.options.scratch,
            variant.chunking,
            variant.stemming,
            self.embedder,
            listener,
        );
        Ok(collection?.with_reranker(self.reranker))
    }

    /// Calls `ask` with each query of the file, and reports the progress.
    fn in_series(
        &self,
        title: &str,
        file: &JudgedFile,
        mut ask: impl FnMut(&JudgedQuery) -> Result<()>,
    ) -> Result<()> {
        (self.listener)(Event::Asking {
            title,
            queries: file.queries.len(),
        });
        let asked = file.queries.iter().zip(1..).try_for_each(|(query, done)| {
            ask(query)?;
            (self.listener)(Event::Asked(done));
            Ok(())
        });
        (self.listener)(Event::Ended);
        asked
    }

    /// Adds the row of these answers to those of their variant.
    fn finish(
        &self,
        file: &JudgedFile,
        notes: usize,
        whole: bool,
        answers: Answers<'_>,
        rows: &mut [Vec<NotesRow>],
    ) {
        let variant = answers.variant;
        let reranker = self.reranker.filter(|_| variant.rerank);
        let manner = Manner {
            setting: answers.setting,
            tried: &variant.text,
            model: self
                .embedder
                .map(|embedder| embedder.identity().name.as_str()),
            reranker: reranker.map(|reranker| reranker.name()),
            notes,
            whole,
            curve: self.options.curve,
        };
        let row = NotesRow::new(file, manner, answers.asked);
        let line = labelled(table::line(&row, file.label.chars().count()), variant);
        (self.listener)(Event::Measured(&line));
        rows[answers.place].push(row);
    }
}

impl Answers<'_> {
    /// Asks one query as a user would, for ten hits with copies collapsed.
    fn ask(
        &mut self,
        collection: &Collection,
        judged: &JudgedNotes,
        query: &JudgedQuery,
    ) -> Result<()> {
        let engine = collection.engine().with_tuning(|_| self.variant.tuning);
        let request = Request {
            mode: self.setting.mode,
            exact: !self.setting.typo,
            fusion: self.setting.fusion.unwrap_or_default(),
            weights: self.variant.weights,
            all: self.variant.require_all_terms,
            rerank: self.variant.rerank,
            ..Request::new(&query.text)
        };
        let started = Instant::now();
        let answer = engine.search(&Guard::local(), &request)?;
        let took = started.elapsed();
        self.asked
            .push(Asked::new(query, &judged.folder, &answer, took));
        Ok(())
    }
}
