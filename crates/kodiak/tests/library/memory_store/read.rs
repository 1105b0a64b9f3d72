//! Answers from a state.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::sync::Arc;

use kodiak::rank::{Bm25, Corpus};
use kodiak::source::KnownEntry;
use kodiak::store::vectors::Bitmap;
use kodiak::store::{
    ChunkSpan, Coverage, Documents, EmbeddingProgress, EmbeddingStatus, Entries, EntryRow,
    EntryState, Expression, Filter, Finding, KnownDocument, Lexical, LinkMatch, Links, Maintenance,
    Matches, Name, Names, Phrase, Revision, Row, Selection, Serving, SimilarWord, SourceStatus,
    Sources, State, StoredDocument, Terms, Threads, VectorIndex, Vectors, Vocabulary,
};
use kodiak::text::Stemming;
use kodiak::{Result, Version};

use super::matching::{edit_distance, flat_fields, unranked};
use super::nearest::PlainVectors;
use super::{Indexed, MemoryReader};

impl State for MemoryReader {
    fn begin_snapshot(&self) -> Result<()> {
        self.pin()
    }

    fn end_snapshot(&self) -> Result<()> {
        self.unpin();
        Ok(())
    }

    fn revision(&self) -> Result<Revision> {
        Ok(Revision {
            foreign: self.state()?.revision,
            own: self.changes.get(),
        })
    }

    fn stemming(&self) -> Stemming {
        Stemming::default()
    }
}

impl Maintenance for MemoryReader {
    fn is_current(&self) -> bool {
        self.store.shared(|shared| shared.aside) == self.index
    }

    fn format(&self) -> Result<u32> {
        Ok(1)
    }

    fn examine(&self) -> Result<Vec<Finding>> {
        Ok(Vec::new())
    }
}

impl Documents for MemoryReader {
    fn documents(&self, rows: &[Row]) -> Result<Vec<StoredDocument>> {
        let state = self.state()?;
        let found = rows.iter().filter_map(|row| state.stored(*row));
        Ok(found.collect())
    }

    fn bodies(&self, rows: &[Row], longest: usize) -> Result<Vec<(Row, String)>> {
        let state = self.state()?;
        let body = |row: &Row| {
            let body = &state.documents.get(row)?.document.body;
            (body.len() <= longest).then(|| (*row, body.clone()))
        };
        Ok(rows.iter().filter_map(body).collect())
    }

    fn fields(&self, row: Row) -> Result<Vec<(String, String)>> {
        let state = self.state()?;
        let indexed = state.documents.get(&row);
        Ok(indexed.map_or_else(Vec::new, |one| flat_fields(&one.document.fields)))
    }
}

impl Threads for MemoryReader {
    fn threads_of(&self, rows: &[Row]) -> Result<Vec<Vec<Row>>> {
        let state = self.state()?;
        let thread_of = |indexed: &Indexed| {
            let thread = indexed.document.thread.as_ref()?;
            let name = thread.name.to_ascii_lowercase();
            Some((indexed.document.source.clone(), name))
        };
        let asked = rows.iter().filter_map(|row| state.documents.get(row));
        let threads: BTreeSet<_> = asked.filter_map(thread_of).collect();
        let members = |thread| {
            let all = state.documents.iter();
            let mut members: Vec<_> = all
                .filter(|(_, indexed)| thread_of(indexed).as_ref() == Some(&thread))
                .collect();
            members.sort_by_key(|(_, indexed)| {
                let document = &indexed.document;
                let position = document.thread.as_ref().and_then(|thread| thread.position);
                (position, document.created_at)
            });
            members.into_iter().map(|(row, _)| *row).collect()
        };
        Ok(threads.into_iter().map(members).collect())
    }

    fn authors_of(&self, rows: &[Row]) -> Result<HashMap<Row, String>> {
        let state = self.state()?;
        let author = |row: &Row| Some((*row, state.documents.get(row)?.document.author.clone()?));
        Ok(rows.iter().filter_map(author).collect())
    }
}

impl Selection for MemoryReader {
    fn newest(
        &self,
        filter: &Filter,
        excluded: Option<&Expression>,
        limit: usize,
    ) -> Result<Matches> {
        Ok(self.state()?.best(filter, limit, |_, indexed| {
            let out = excluded.is_some_and(|excluded| indexed.meets(excluded));
            (!out).then(|| unranked(indexed.document.updated_at as f64))
        }))
    }

    fn rows(
        &self,
        filter: &Filter,
        required: Option<&Expression>,
        excluded: Option<&Expression>,
    ) -> Result<Bitmap> {
        let state = self.state()?;
        let wanted = state.admitted(filter).filter(|(_, indexed)| {
            required.is_none_or(|required| indexed.meets(required))
                && !excluded.is_some_and(|excluded| indexed.meets(excluded))
        });
        Ok(wanted.map(|(row, _)| row).collect())
    }
}

impl Names for MemoryReader {
    fn with_id_prefix(&self, prefix: &str, filter: &Filter, limit: usize) -> Result<Vec<Name>> {
        Ok(self.state()?.names(filter, limit, |indexed| {
            indexed.document.id().hex().starts_with(prefix)
        }))
    }

    fn with_path(
        &self,
        source: Option<&str>,
        key: &str,
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Name>> {
        let state = self.state()?;
        let whole = state.names(filter, limit, |indexed| {
            let document = &indexed.document;
            document.key == key && source.is_none_or(|source| document.source == source)
        });
        if source.is_some() || !whole.is_empty() {
            return Ok(whole);
        }
        let end = format!("/{key}");
        Ok(state.names(filter, limit, |indexed| {
            indexed.document.key.ends_with(&end)
        }))
    }

    fn with_title(&self, title: &str, filter: &Filter, limit: usize) -> Result<Vec<Name>> {
        Ok(self.state()?.names(filter, limit, |indexed| {
            indexed.document.title.eq_ignore_ascii_case(title)
        }))
    }

    fn each_name(&self, filter: &Filter, visit: &mut dyn FnMut(Name)) -> Result<()> {
        let names = self.state()?.names(filter, usize::MAX, |_| true);
        names.into_iter().for_each(visit);
        Ok(())
    }
}

impl Terms for MemoryReader {
    fn corpus(&self) -> Result<Corpus> {
        let state = self.state()?;
        let all = state.documents.values();
        let terms: usize = all.flat_map(|indexed| &indexed.terms).map(Vec::len).sum();
        Ok(Corpus {
            documents: state.documents.len() as u64,
            average_length: terms as f64 / state.documents.len().max(1) as f64,
        })
    }

    fn document_frequencies(&self, terms: &[&str]) -> Result<Vec<u64>> {
        let state = self.state()?;
        let frequency = |&term: &&str| {
            let has = |indexed: &&Indexed| {
                let mut all = indexed.terms.iter().flatten().flatten();
                all.any(|known| known == term)
            };
            state.documents.values().filter(has).count() as u64
        };
        Ok(terms.iter().map(frequency).collect())
    }

    fn terms_beginning(&self, prefix: &str, most: u64, limit: usize) -> Result<Vec<(String, u64)>> {
        Ok(self.state()?.terms_beginning(prefix, most, limit))
    }
}

impl Vocabulary for MemoryReader {
    fn word_frequency(&self, word: &str) -> Result<u64> {
        Ok(self.state()?.words().get(word).copied().unwrap_or(0))
    }

    fn words_beginning(&self, prefix: &str, limit: usize) -> Result<Vec<(String, u64)>> {
        let words = self.state()?.words().into_iter();
        let mut words: Vec<_> = words.filter(|(word, _)| word.starts_with(prefix)).collect();
        words.sort_by_key(|(_, documents)| std::cmp::Reverse(*documents));
        words.truncate(limit);
        Ok(words)
    }

    fn similar_words(&self, word: &str, distance: u8) -> Result<Vec<SimilarWord>> {
        let near = |(known, documents): (String, u64)| {
            let found = edit_distance(word, &known) as u8;
            (found <= distance).then_some(SimilarWord {
                word: known,
                distance: found,
                documents,
            })
        };
        Ok(self.state()?.words().into_iter().filter_map(near).collect())
    }

    fn vocabulary_size(&self) -> Result<u64> {
        Ok(self.state()?.words().len() as u64)
    }
}

impl Lexical for MemoryReader {
    fn matches(
        &self,
        expression: &Expression,
        filter: &Filter,
        corpus: Corpus,
        bm25: Bm25,
        limit: usize,
    ) -> Result<Matches> {
        let state = self.state()?;
        let linked = state.linked_by(expression, filter, &bm25);
        Ok(state.best(filter, limit, |row, indexed| {
            let links = linked.get(&row).map_or(&[][..], Vec::as_slice);
            indexed.score(expression, links, corpus, &bm25)
        }))
    }

    fn count(&self, expression: &Expression, filter: &Filter) -> Result<u64> {
        let state = self.state()?;
        let found = state.admitted(filter);
        Ok(found
            .filter(|(_, indexed)| indexed.meets(expression))
            .count() as u64)
    }

    fn containing(
        &self,
        needles: &[String],
        excluded: &[Vec<String>],
        filter: &Filter,
        limit: usize,
    ) -> Result<Matches> {
        Ok(self.state()?.best(filter, limit, |_, indexed| {
            let has_all = |texts: &Vec<String>| {
                !texts.is_empty() && texts.iter().all(|it| indexed.contains(it))
            };
            let score = indexed.literal_score(needles);
            (score > 0.0 && !excluded.iter().any(has_all)).then(|| unranked(score))
        }))
    }
}

impl Links for MemoryReader {
    fn linked(&self, phrases: &[Phrase], filter: &Filter) -> Result<Vec<LinkMatch>> {
        Ok(self.state()?.linked(phrases, filter))
    }
}

impl Vectors for MemoryReader {
    fn vectors(&self) -> Result<Option<Arc<dyn VectorIndex>>> {
        let state = self.state()?;
        let Some((model, known)) = state.answering() else {
            return Ok(None);
        };
        let vectors_of = |(row, indexed): (&Row, &Indexed)| {
            let vectors = state.vectors(indexed, model);
            (!vectors.is_empty()).then_some((*row, vectors))
        };
        let vectors: Arc<dyn VectorIndex> = Arc::new(PlainVectors {
            serving: known.serving.clone(),
            model,
            upto: state.embeddings.keys().next_back().copied().unwrap_or(0),
            documents: state.documents.iter().filter_map(vectors_of).collect(),
        });
        Ok(Some(vectors))
    }

    fn chunk_vector(&self, vectors: &dyn VectorIndex, chunk: i64) -> Result<Option<Vec<f32>>> {
        let state = self.state()?;
        let found = state.embedding(chunk, vectors.model());
        Ok(found.map(|number| state.embeddings[&number].vector.clone()))
    }

    fn vectors_after(
        &self,
        vectors: &dyn VectorIndex,
        visit: &mut dyn FnMut(Row, i64, Vec<f32>),
    ) -> Result<()> {
        let state = self.state()?;
        for (_, late) in state.embeddings.range(vectors.upto() + 1..) {
            if late.model == vectors.model()
                && let Some((row, ..)) = state.chunk(late.chunk, None)
            {
                visit(row, late.chunk, late.vector.clone());
            }
        }
        Ok(())
    }

    fn vectors_of(&self, row: Row) -> Result<Vec<Vec<f32>>> {
        let state = self.state()?;
        let (Some((model, _)), Some(indexed)) = (state.answering(), state.documents.get(&row))
        else {
            return Ok(Vec::new());
        };
        let vectors = state.vectors(indexed, model).into_iter();
        Ok(vectors.map(|(_, vector)| vector).collect())
    }

    fn span_of(&self, chunk: i64) -> Result<Option<ChunkSpan>> {
        let state = self.state()?;
        let found = state.chunk(chunk, None);
        Ok(found.map(|(_, _, chunk)| ChunkSpan {
            range: chunk.range.clone(),
            lines: (chunk.start_line, chunk.end_line),
            heading: chunk.heading.clone(),
        }))
    }

    fn chunk_hashes_of(&self, row: Row) -> Result<Vec<[u8; 16]>> {
        let state = self.state()?;
        let chunks = state.documents.get(&row).map(|one| one.chunks.as_slice());
        let chunks = chunks.unwrap_or_default().iter();
        Ok(chunks.map(|(_, _, hash)| *hash).collect())
    }
}

impl EmbeddingProgress for MemoryReader {
    fn serving(&self) -> Result<Option<Serving>> {
        let state = self.state()?;
        Ok(state.answering().map(|(_, model)| model.serving.clone()))
    }

    fn coverage(&self, filter: &Filter) -> Result<Coverage> {
        let state = self.state()?;
        let model = state.answering().map(|(number, _)| number);
        Ok(match model {
            Some(_) => state.coverage(filter, model),
            None => Coverage::default(),
        })
    }

    fn coverage_by(&self, model: &str) -> Result<Coverage> {
        let state = self.state()?;
        let mut models = state.models.iter();
        let number = models.find(|(_, known)| known.serving.key == model);
        Ok(state.coverage(&Filter::default(), number.map(|(number, _)| *number)))
    }

    fn embedding_status(&self) -> Result<EmbeddingStatus> {
        let state = self.state()?;
        let mut models: Vec<_> = state.models.iter().collect();
        models.sort_by_key(|(_, model)| !model.answers);
        let vectors = |number: i64| {
            let all = state.embeddings.values();
            all.filter(|one| one.model == number).count() as u64
        };
        let answering = state.models.iter().find(|(_, model)| model.answers);
        let answering = answering.map(|(number, _)| *number);
        let documents = state.documents.values();
        let names: BTreeSet<_> = documents.map(|one| &one.document.source).collect();
        let coverage = |name: &String| {
            let filter = Filter {
                sources: vec![name.clone()],
                ..Filter::default()
            };
            (name.clone(), state.coverage(&filter, answering))
        };
        let mut reasons = BTreeMap::<&String, u64>::new();
        for reason in state.failures.values() {
            *reasons.entry(reason).or_default() += 1;
        }
        let reasons = reasons.into_iter();
        let mut failures: Vec<_> = reasons.map(|(reason, n)| (reason.clone(), n)).collect();
        failures.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        Ok(EmbeddingStatus {
            models: models
                .into_iter()
                .map(|(number, model)| (model.serving.clone(), vectors(*number)))
                .collect(),
            sources: names.into_iter().map(coverage).collect(),
            failures,
        })
    }
}

impl Sources for MemoryReader {
    fn sources(&self) -> Result<Vec<SourceStatus>> {
        let state = self.state()?;
        let status = |(name, source): (&String, &super::Source)| {
            let documents = state.documents.values().map(|indexed| &indexed.document);
            let documents: Vec<_> = documents.filter(|one| one.source == *name).collect();
            let problem = |one: &&kodiak::Document| Some((one.key.clone(), one.problem.clone()?));
            let entries = state.entries.values().filter(|one| one.source == *name);
            let skipped = entries.filter_map(|one| Some((one.key.clone(), one.skipped.clone()?)));
            SourceStatus {
                name: name.clone(),
                location: source.location.clone(),
                synced_at: source.synced_at,
                documents: documents.len() as u64,
                skipped: sorted(skipped),
                problems: sorted(documents.iter().filter_map(problem)),
            }
        };
        Ok(state.sources.iter().map(status).collect())
    }

    fn locations(&self, filter: &Filter) -> Result<Vec<(String, String)>> {
        let state = self.state()?;
        let sources = state.sources.iter();
        let admitted = sources.filter(|(name, _)| filter.admits_source(name));
        Ok(admitted
            .map(|(name, source)| (name.clone(), source.location.clone()))
            .collect())
    }

    fn incomplete_sources(&self, filter: &Filter) -> Result<Vec<String>> {
        let state = self.state()?;
        let sources = state.sources.iter();
        let incomplete = sources
            .filter(|(name, source)| source.synced_at.is_none() && filter.admits_source(name));
        Ok(incomplete.map(|(name, _)| name.clone()).collect())
    }

    fn containers(&self, source: &str) -> Result<HashMap<String, Version>> {
        let state = self.state()?;
        let known = state.sources.get(source);
        let containers = known.map(|source| source.containers.clone());
        Ok(containers.unwrap_or_default().into_iter().collect())
    }

    fn documents_of_source(&self, source: &str) -> Result<u64> {
        let state = self.state()?;
        let documents = state.documents.values();
        Ok(documents
            .filter(|one| one.document.source == source)
            .count() as u64)
    }
}

impl Entries for MemoryReader {
    fn entry_of(&self, row: Row) -> Result<Option<(String, Version)>> {
        let state = self.state()?;
        Ok(state.documents.get(&row).map(|indexed| {
            let entry = state.entries.get(&indexed.entry);
            entry.map_or_else(
                || (indexed.document.key.clone(), Version::UNKNOWN),
                |entry| (entry.key.clone(), entry.version),
            )
        }))
    }

    fn entry_states(&self, source: &str) -> Result<HashMap<String, EntryState>> {
        let state = self.state()?;
        let entries = state.entries.iter();
        let entries = entries.filter(|(_, entry)| entry.source == source);
        let states = entries.map(|(row, entry)| {
            let known = EntryState {
                row: Some(*row),
                version: entry.version,
                size: entry.size,
                skipped: entry.skipped.is_some(),
            };
            (entry.key.clone(), known)
        });
        Ok(states.collect())
    }

    fn entry_state(&self, source: &str, key: &str) -> Result<Option<EntryState>> {
        Ok(self.entry_states(source)?.remove(key))
    }

    fn each_entry_by_age(
        &self,
        source: &str,
        visit: &mut dyn FnMut(KnownEntry<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        let state = self.state()?;
        let entries = state.entries_by_age(source);
        let _ = entries.into_iter().try_for_each(visit);
        Ok(())
    }

    fn documents_of_entry(&self, entry: EntryRow) -> Result<Vec<KnownDocument>> {
        let state = self.state()?;
        let documents = state.documents.values().filter(|one| one.entry == entry);
        let known = documents.map(|one| KnownDocument {
            key: one.document.key.clone(),
            hash: one.document.hash,
        });
        Ok(known.collect())
    }
}

fn sorted(pairs: impl Iterator<Item = (String, String)>) -> Vec<(String, String)> {
    let mut pairs: Vec<_> = pairs.collect();
    pairs.sort();
    pairs
}
