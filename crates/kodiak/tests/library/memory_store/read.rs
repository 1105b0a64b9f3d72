//! Answers from a state.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::sync::Arc;

use kodiak::analysis::links::LinkTarget;
use kodiak::rank::Corpus;
use kodiak::source::KnownEntry;
use kodiak::store::vectors::Bitmap;
use kodiak::store::{
    Answers, ChunkSpan, Contents, Coverage, Documents, EmbeddingProgress, EmbeddingStatus, Entries,
    EntryRow, EntryState, Expression, Filter, Finding, KnownDocument, Lexical, LinkMatch, Links,
    Maintenance, Matches, Meant, Name, Names, Phrase, Questions, Ranking, Revision, Row, Selection,
    Serving, SimilarWord, SourceStatus, Sources, State, Terms, VectorIndex, Vectors, Visit,
    VisitOrder, Vocabulary, Wanted, WordByWord, answer_one_by_one, around, follow,
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

    fn end_snapshot(&self) {
        self.unpin();
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
    fn read(&self, wanted: &Wanted) -> Result<Contents> {
        let state = self.state()?;
        let mut contents = Contents::default();
        if wanted.revision {
            contents.revision = Some(self.revision()?);
        }
        let found = wanted.documents.iter();
        contents.documents = found.filter_map(|row| state.stored(*row)).collect();
        contents.threads = state.threads_of(&wanted.threads);
        let (mut bodies, mut authors) = (wanted.bodies.clone(), wanted.authors.clone());
        if let Some(reach) = wanted.around {
            authors.extend(around(&wanted.threads, &contents.threads, reach));
            bodies.extend(around(&wanted.threads, &contents.threads, 0));
        }
        let author = |row: &Row| Some((*row, state.documents.get(row)?.document.author.clone()?));
        contents.authors = authors.iter().filter_map(author).collect();
        let body = |row: &Row| {
            let body = &state.documents.get(row)?.document.body;
            (body.len() <= wanted.longest).then(|| (*row, body.clone()))
        };
        contents.bodies = bodies.iter().filter_map(body).collect();
        let fields = |row: &Row| {
            Some((
                *row,
                flat_fields(&state.documents.get(row)?.document.fields),
            ))
        };
        contents.fields = wanted.fields.iter().filter_map(fields).collect();
        let entry = |row: &Row| {
            let indexed = state.documents.get(row)?;
            let entry = state.entries.get(&indexed.entry);
            let unknown = || (indexed.document.key.clone(), Version::UNKNOWN);
            let known = entry.map(|entry| (entry.key.clone(), entry.version));
            Some((*row, known.unwrap_or_else(unknown)))
        };
        contents.entries = wanted.entries.iter().filter_map(entry).collect();
        contents.successors = follow(&wanted.successors, |rows| {
            let superseded = rows
                .iter()
                .map(|row| state.successors(*row, &wanted.succeeding));
            Ok(superseded.flatten().collect())
        })?;
        if let Some(filter) = &wanted.admitting {
            let older = contents.successors.iter().map(|(older, _)| *older);
            let admitted = older.flat_map(|row| state.successors(row, filter));
            contents.admitted = admitted.map(|(_, newer)| newer).collect();
        }
        let span = |chunk: &i64| {
            let (_, _, found) = state.chunk(*chunk, None)?;
            let span = ChunkSpan {
                range: found.range.clone(),
                lines: (found.start_line, found.end_line),
                heading: found.heading.clone(),
            };
            Some((*chunk, span))
        };
        contents.spans = wanted.spans.iter().filter_map(span).collect();
        if let Some((model, _)) = state.answering() {
            let vector = |chunk: &i64| {
                let number = state.embedding(*chunk, model)?;
                Some((*chunk, state.embeddings[&number].vector.clone()))
            };
            contents.chunks = wanted.chunks.iter().filter_map(vector).collect();
            let vectors = |row: &Row| Some((*row, state.vectors(state.documents.get(row)?, model)));
            contents.vectors = wanted.vectors.iter().filter_map(vectors).collect();
        }
        let hashes = |row: &Row| {
            let chunks = state.documents.get(row)?.chunks.iter();
            Some((*row, chunks.map(|(_, _, hash)| *hash).collect()))
        };
        contents.hashes = wanted.hashes.iter().filter_map(hashes).collect();
        Ok(contents)
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
}

impl Vocabulary for MemoryReader {
    fn consult(
        &self,
        questions: &Questions,
        filter: &Filter,
        visit: &mut Visit<'_>,
    ) -> Result<Answers> {
        answer_one_by_one(self, questions, filter, visit)
    }

    fn vocabulary_size(&self) -> Result<u64> {
        Ok(self.state()?.words().len() as u64)
    }
}

impl WordByWord for MemoryReader {
    fn incomplete(&self, filter: &Filter) -> Result<Vec<String>> {
        let state = self.state()?;
        let sources = state.sources.iter();
        let incomplete = sources
            .filter(|(name, source)| source.synced_at.is_none() && filter.admits_source(name));
        Ok(incomplete.map(|(name, _)| name.clone()).collect())
    }

    fn has_word(&self, word: &str) -> Result<bool> {
        Ok(self.state()?.words().contains_key(word))
    }

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

    fn document_frequencies(&self, terms: &[String]) -> Result<Vec<u64>> {
        let state = self.state()?;
        let frequency = |term: &String| {
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

    fn any_matches(&self, expression: &Expression, filter: &Filter) -> Result<bool> {
        Ok(self.count(expression, filter)? > 0)
    }
}

impl Lexical for MemoryReader {
    fn ranked(&self, ranking: &Ranking<'_>, filter: &Filter) -> Result<Matches> {
        let state = self.state()?;
        let Ranking {
            corpus,
            bm25,
            limit,
            ..
        } = *ranking;
        let rank = |expression: &Expression| {
            let linked = state.linked_by(expression, filter, &bm25);
            state.best(filter, limit, |row, indexed| {
                let links = linked.get(&row).map_or(&[][..], Vec::as_slice);
                indexed.score(expression, links, corpus, &bm25)
            })
        };
        let found = rank(ranking.expression);
        Ok(match ranking.instead {
            Some((least, instead)) if found.total < least => rank(instead),
            _ => found,
        })
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

    fn meant(&self, from: Row, targets: &[LinkTarget], filter: &Filter) -> Result<Vec<Meant>> {
        Ok(self.state()?.meant_by(from, targets, filter))
    }

    fn linking(&self, to: Row, filter: &Filter) -> Result<Vec<Row>> {
        Ok(self.state()?.linking(to, filter))
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
            documents: state.documents.iter().filter_map(vectors_of).collect(),
        });
        Ok(Some(vectors))
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
        order: VisitOrder,
        visit: &mut dyn FnMut(KnownEntry<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        let state = self.state()?;
        let entries = state.entries_by_age(source, order);
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
