//! A reader for which only a scope exists.
//!
//! Everything it returns is computed from the documents in the scope alone: the answers to
//! a caller with this scope depend on nothing else in the index. Filters restrict which
//! documents are found; this restricts the counts over all documents: the size of the
//! collection, document frequencies, the vocabulary, the shortest ids, the members of
//! threads.
//!
//! A [`Tally`] has these numbers. [`Tallies`] keeps one for each scope in use, for as
//! long as the index stays the same, and brings it up to date if it changes.

mod tallies;
mod tally;
mod vocabulary;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::sync::Arc;

pub use tallies::Tallies;
use tally::Tally;

use super::moment::Stretch;
use super::vectors::Bitmap;
use super::{
    Answers, Behind, Contents, Coverage, Days, Documents, EmbeddingProgress, EmbeddingStatus,
    Entries, EntryRow, EntryState, Expression, Facets, Filter, Finding, Fingerprint, KnownDocument,
    Lexical, LinkMatch, Links, Maintenance, Matches, Meant, Name, Names, Next, Phrase, Questions,
    Ranking, Reader, Revision, Row, Scope, Selection, Serving, SimilarWord, Snapshot, SourceStatus,
    Sources, State, Terms, VectorIndex, Vectors, Visit, Vocabulary, Wanted, WordByWord,
    answer_one_by_one, around,
};
use crate::{KnownEntry, VisitOrder};
use kodiak_base::cancel::Interrupt;
use kodiak_base::error::{Error, Result};
use kodiak_rank::Corpus;
use kodiak_text::document::Version;
use kodiak_text::links::LinkTarget;
use kodiak_text::text::Stemming;

/// A reader that is restricted to a scope.
pub struct ScopedReader<'a> {
    inner: &'a dyn Reader,
    scope: Scope,
    tallies: Arc<Tallies>,
    /// The tally, with the state of the index that it was taken in.
    tally: RefCell<Option<(Revision, Arc<Tally>)>>,
    /// The number of snapshots that are open.
    snapshots: Cell<usize>,
    /// Whether the tally belongs to the open snapshot, in which nothing changes.
    is_settled: Cell<bool>,
}

impl<'a> ScopedReader<'a> {
    /// Restricts a reader to a scope.
    pub fn new(inner: &'a dyn Reader, scope: Scope, tallies: Arc<Tallies>) -> Self {
        Self {
            inner,
            scope,
            tallies,
            tally: RefCell::new(None),
            snapshots: Cell::new(0),
            is_settled: Cell::new(false),
        }
    }

    /// Reports whether all words of the scope have been counted in its present state.
    #[cfg(feature = "testing")]
    pub fn has_counted_all_words(&self) -> Result<bool> {
        Ok(self.tally()?.vocabulary_if_current().is_some())
    }

    /// Returns the tally of the scope.
    fn tally(&self) -> Result<Arc<Tally>> {
        let known = self.tally.borrow().clone();
        if let (Some((_, tally)), true) = (&known, self.is_settled.get()) {
            return Ok(Arc::clone(tally));
        }
        let revision = local(self.inner.revision())?;
        let tally = match known {
            Some((known, tally)) if known == revision => tally,
            _ => {
                let tally = local(self.tallies.get(self.inner, &self.scope))?;
                self.tally.replace(Some((revision, Arc::clone(&tally))));
                tally
            }
        };
        self.is_settled.set(self.snapshots.get() > 0);
        Ok(tally)
    }

    /// Returns what `count` finds out about the documents of the scope, in the state of the
    /// index that the tally describes. The tally keeps the result.
    fn counted<T>(&self, count: impl FnOnce(&Tally, &dyn Reader) -> Result<T>) -> Result<T> {
        let is_open = self.snapshots.get() > 0;
        let _snapshot = (!is_open).then(|| Snapshot::begin(self)).transpose()?;
        local(count(&*self.tally()?, self.inner))
    }

    /// Returns the filter restricted to the scope.
    fn within(&self, filter: &Filter) -> Result<Filter> {
        let scope = if filter.scope.is_everything() || filter.scope == self.scope {
            self.scope.with_members(self.tally()?.members())
        } else {
            filter.scope.and(&self.scope)
        };
        Ok(Filter {
            scope,
            ..filter.clone()
        })
    }

    fn everything(&self) -> Filter {
        Filter {
            scope: self.scope.clone(),
            ..Filter::default()
        }
    }

    /// Reports whether a source exists. In the scope of a project, only those with a
    /// document of the project do.
    fn has_source(&self, name: &str) -> Result<bool> {
        if !self.scope.admits(name) {
            return Ok(false);
        }
        Ok(self.scope.project().is_none() || self.tally()?.of_source(name) > 0)
    }

    /// Spells tags as every document may: the index keeps one spelling of a tag,
    /// which a document outside the scope may have chosen.
    fn respell(tag: &mut str) {
        tag.make_ascii_lowercase();
    }
}

/// Leaves out of an error where on the machine the index is.
fn local<T>(read: Result<T>) -> Result<T> {
    read.map_err(Error::without_folders)
}

/// Forwards methods that read only what their arguments name.
macro_rules! forward {
    ($($name:ident ( $($argument:ident : $type:ty),* $(,)? ) -> $result:ty;)*) => {
        $(fn $name(&self, $($argument: $type),*) -> $result {
            local(self.inner.$name($($argument),*))
        })*
    };
}

/// Forwards methods with their filter restricted to the scope.
macro_rules! narrow {
    ($($name:ident ( $($before:ident : $first:ty,)* [filter] $(, $after:ident : $then:ty)* ) -> $result:ty;)*) => {
        $(fn $name(&self, $($before: $first,)* filter: &Filter, $($after: $then),*) -> $result {
            local(self.inner.$name($($before,)* &self.within(filter)?, $($after),*))
        })*
    };
}

impl State for ScopedReader<'_> {
    fn begin_snapshot(&self) -> Result<()> {
        local(self.inner.begin_snapshot())?;
        self.snapshots.set(self.snapshots.get() + 1);
        Ok(())
    }

    fn end_snapshot(&self) {
        self.snapshots.set(self.snapshots.get().saturating_sub(1));
        if self.snapshots.get() == 0 {
            self.is_settled.set(false);
        }
        self.inner.end_snapshot();
    }

    fn scope(&self) -> Option<&Scope> {
        Some(&self.scope)
    }

    fn stemming(&self) -> Stemming {
        self.inner.stemming()
    }

    fn behind(&self) -> Option<Behind> {
        self.inner.behind()
    }

    forward! {
        revision() -> Result<Revision>;
        digest() -> Result<Option<Vec<u8>>>;
    }
}

impl Maintenance for ScopedReader<'_> {
    fn is_current(&self) -> bool {
        self.inner.is_current()
    }

    fn shrink_memory(&self) {
        self.inner.shrink_memory();
    }

    fn interrupt(&self) -> Option<Interrupt> {
        self.inner.interrupt()
    }

    forward! {
        format() -> Result<u32>;
        examine() -> Result<Vec<Finding>>;
    }
}

impl Documents for ScopedReader<'_> {
    fn read(&self, wanted: &Wanted) -> Result<Contents> {
        let tally = self.tally()?;
        let succeeding = if wanted.successors.is_empty() {
            Filter::default()
        } else {
            self.within(&wanted.succeeding)?
        };
        let admitting = wanted.admitting.as_ref();
        let mut contents = local(self.inner.read(&Wanted {
            succeeding,
            admitting: admitting.map(|filter| self.within(filter)).transpose()?,
            // What is near in a thread depends on what of it is in the scope.
            around: None,
            ..wanted.clone()
        }))?;
        contents
            .documents
            .retain(|document| tally.contains(document.row));
        for document in &mut contents.documents {
            document.short_id = tally.short_id(&document.uid);
            document.tags.iter_mut().for_each(|tag| Self::respell(tag));
        }
        for thread in &mut contents.threads {
            thread.retain(|&row| tally.contains(row));
        }
        if let (Some(reach), false) = (wanted.around, contents.threads.is_empty()) {
            let around = local(self.inner.read(&Wanted {
                authors: around(&wanted.threads, &contents.threads, reach),
                bodies: around(&wanted.threads, &contents.threads, 0),
                longest: wanted.longest,
                ..Wanted::default()
            }))?;
            contents.authors.extend(around.authors);
            contents.bodies.extend(around.bodies);
        }
        Ok(contents)
    }
}

impl Selection for ScopedReader<'_> {
    fn tags(&self, filter: &Filter) -> Result<Vec<(String, u64)>> {
        let mut tags = local(self.inner.tags(&self.within(filter)?))?;
        for (tag, _) in &mut tags {
            Self::respell(tag);
        }
        tags.sort();
        Ok(tags)
    }

    fn facets(&self, rows: &[Row]) -> Result<Facets> {
        let tally = self.tally()?;
        let inside = rows.iter().copied().filter(|&row| tally.contains(row));
        let mut facets = local(self.inner.facets(&inside.collect::<Vec<Row>>()))?;
        let tags = std::mem::take(&mut facets.tags);
        for (mut tag, count) in tags {
            Self::respell(&mut tag);
            *facets.tags.entry(tag).or_default() += count;
        }
        Ok(facets)
    }

    narrow! {
        days([filter]) -> Result<Days>;
        newest([filter], excluded: Option<&Expression>, limit: usize) -> Result<Matches>;
        by_time([filter], stretch: &Stretch) -> Result<Vec<Row>>;
        rows(
            [filter],
            required: Option<&Expression>,
            excluded: Option<&Expression>
        ) -> Result<Bitmap>;
        fingerprints([filter]) -> Result<Vec<Fingerprint>>;
        projects([filter]) -> Result<Vec<(String, u64)>>;
        document_counts([filter]) -> Result<BTreeMap<String, u64>>;
    }
}

impl Names for ScopedReader<'_> {
    narrow! {
        with_id_prefix(prefix: &str, [filter], limit: usize) -> Result<Vec<Name>>;
        with_path(
            source: Option<&str>,
            key: &str,
            [filter],
            limit: usize
        ) -> Result<Vec<Name>>;
        with_title(title: &str, [filter], limit: usize) -> Result<Vec<Name>>;
        each_name([filter], visit: &mut dyn FnMut(Name)) -> Result<()>;
        named(names: &[String], [filter]) -> Result<Vec<(usize, Row)>>;
    }
}

impl Terms for ScopedReader<'_> {
    fn corpus(&self) -> Result<Corpus> {
        // Fails if the full text cannot be read.
        local(self.inner.corpus())?;
        self.counted(|tally, reader| tally.corpus(&self.scope, reader))
    }

    fn total_length(&self, filter: &Filter) -> Result<u64> {
        local(self.inner.total_length(&self.within(filter)?))
    }

    fn rows_with_term(&self, term: &str, among: &Bitmap) -> Result<Vec<Row>> {
        let tally = self.tally()?;
        let mut rows = local(self.inner.rows_with_term(term, among))?;
        rows.retain(|&row| tally.contains(row));
        Ok(rows)
    }
}

impl Vocabulary for ScopedReader<'_> {
    fn consult(
        &self,
        questions: &Questions,
        filter: &Filter,
        visit: &mut Visit<'_>,
    ) -> Result<Answers> {
        answer_one_by_one(self, questions, filter, visit)
    }

    fn vocabulary_size(&self) -> Result<u64> {
        Ok(self.counted(Tally::vocabulary)?.words.len())
    }
}

impl WordByWord for ScopedReader<'_> {
    fn incomplete(&self, filter: &Filter) -> Result<Vec<String>> {
        // Which documents a source lacks, and whether they are of the project, is
        // not known before it was synced.
        if self.scope.project().is_some() {
            return Ok(Vec::new());
        }
        let questions = Questions {
            incomplete: true,
            ..Questions::default()
        };
        let filter = self.within(filter)?;
        let answers = self
            .inner
            .consult(&questions, &filter, &mut |_, _| Next::Enough);
        Ok(local(answers)?.incomplete)
    }

    fn document_frequencies(&self, terms: &[String]) -> Result<Vec<u64>> {
        self.counted(|tally, reader| {
            let terms = terms.iter();
            terms.map(|term| tally.with_term(term, reader)).collect()
        })
    }

    fn terms_beginning(&self, prefix: &str, most: u64, limit: usize) -> Result<Vec<(String, u64)>> {
        self.counted(|tally, reader| tally.terms_beginning(prefix, most, limit, reader))
    }

    fn any_matches(&self, expression: &Expression, filter: &Filter) -> Result<bool> {
        local(self.inner.any_matches(expression, &self.within(filter)?))
    }

    fn word_frequency(&self, word: &str) -> Result<u64> {
        self.counted(|tally, reader| tally.with_word(word, reader))
    }

    fn has_word(&self, word: &str) -> Result<bool> {
        self.counted(|tally, reader| tally.has_word(word, reader))
    }

    fn words_beginning(&self, prefix: &str, limit: usize) -> Result<Vec<(String, u64)>> {
        self.counted(|tally, reader| tally.words_beginning(prefix, limit, reader))
    }

    fn similar_words(&self, word: &str, distance: u8) -> Result<Vec<SimilarWord>> {
        self.counted(|tally, reader| {
            // Every word of the scope is a word of the index, so none is missed.
            let mut near = reader.similar_words(word, distance)?;
            let words: Vec<&str> = near.iter().map(|one| one.word.as_str()).collect();
            let counts = tally.with_words(&words, reader)?;
            for (one, documents) in near.iter_mut().zip(counts) {
                one.documents = documents;
            }
            near.retain(|one| one.documents > 0);
            // The index has its own order.
            near.sort_unstable_by(|one, other| one.word.cmp(&other.word));
            Ok(near)
        })
    }
}

impl Lexical for ScopedReader<'_> {
    narrow! {
        ranked(ranking: &Ranking<'_>, [filter]) -> Result<Matches>;
        count(expression: &Expression, [filter]) -> Result<u64>;
        containing(
            needles: &[String],
            excluded: &[Vec<String>],
            [filter],
            limit: usize
        ) -> Result<Matches>;
    }
}

impl Links for ScopedReader<'_> {
    narrow! {
        linked(phrases: &[Phrase], [filter]) -> Result<Vec<LinkMatch>>;
        meant(from: Row, targets: &[LinkTarget], [filter]) -> Result<Vec<Meant>>;
        linking(to: Row, [filter]) -> Result<Vec<Row>>;
    }
}

impl Vectors for ScopedReader<'_> {
    fn vectors(&self) -> Result<Option<Arc<dyn VectorIndex>>> {
        if !local(self.inner.any_embedded(&self.everything()))? {
            return Ok(None);
        }
        local(self.inner.vectors())
    }
}

impl EmbeddingProgress for ScopedReader<'_> {
    fn serving(&self) -> Result<Option<Serving>> {
        if !local(self.inner.any_embedded(&self.everything()))? {
            return Ok(None);
        }
        local(self.inner.serving())
    }

    fn coverage_by(&self, model: &str) -> Result<Coverage> {
        local(self.inner.coverage_by(model))
    }

    fn embedding_status(&self) -> Result<EmbeddingStatus> {
        // What is counted by model or by reason is not known by document.
        let mut status = local(self.inner.embedding_status())?;
        if self.scope.project().is_some() {
            return Ok(EmbeddingStatus::default());
        }
        status.sources.retain(|(name, _)| self.scope.admits(name));
        let embedded = status.sources.iter().map(|(_, one)| one.embedded).sum();
        let serving = self.serving()?;
        status.models = serving
            .map(|serving| (serving, embedded))
            .into_iter()
            .collect();
        status.failures.clear();
        Ok(status)
    }

    narrow! {
        coverage([filter]) -> Result<Coverage>;
        any_embedded([filter]) -> Result<bool>;
    }
}

impl Sources for ScopedReader<'_> {
    fn sources(&self) -> Result<Vec<SourceStatus>> {
        let mut existing = Vec::new();
        for mut source in local(self.inner.sources())? {
            if !self.has_source(&source.name)? {
                continue;
            }
            if self.scope.project().is_some() {
                source.documents = self.tally()?.of_source(&source.name);
                // These name files that may be of any project.
                source.skipped.clear();
                source.problems.clear();
            }
            existing.push(source);
        }
        Ok(existing)
    }

    fn locations(&self, filter: &Filter) -> Result<Vec<(String, String)>> {
        let mut existing = Vec::new();
        for (name, location) in local(self.inner.locations(&self.within(filter)?))? {
            if self.has_source(&name)? {
                existing.push((name, location));
            }
        }
        Ok(existing)
    }

    fn documents_of_source(&self, source: &str) -> Result<u64> {
        Ok(self.tally()?.of_source(source))
    }

    forward! {
        containers(source: &str) -> Result<HashMap<String, Version>>;
    }
}

impl Entries for ScopedReader<'_> {
    fn documents_of_entry(&self, entry: EntryRow) -> Result<Vec<KnownDocument>> {
        local(self.inner.documents_of_entry(entry))
    }

    forward! {
        entry_states(source: &str) -> Result<HashMap<String, EntryState>>;
        entry_state(source: &str, key: &str) -> Result<Option<EntryState>>;
        each_entry_by_age(
            source: &str,
            order: VisitOrder,
            visit: &mut dyn FnMut(KnownEntry<'_>) -> ControlFlow<()>,
        ) -> Result<()>;
    }
}

#[cfg(test)]
mod tests;
