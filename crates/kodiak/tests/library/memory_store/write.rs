//! Writing: transactions on a copy of the state.

use std::sync::Arc;

use kodiak::analysis::links::{LinkTarget, OutgoingLink};
use kodiak::analysis::{AnalyzedDocument, Analyzer};
use kodiak::chunk::Chunk;
use kodiak::embed::Identity;
use kodiak::store::{
    ChunkText, EmbeddingQueue, EntryRow, EraseStep, Erasing, ModelNumber, Pending, PendingSize,
    Place, Reader, Rechunking, Row, Serving, Store, Transactions, Unchunked, Upkeep, VectorsByHash,
    WriteDocuments, WriteEntries, WriteSources, WriteVectors, Writer,
};
use kodiak::{Document, Error, Result, Version};

use super::{Embedding, Entry, Indexed, MemoryReader, Model, State, Terms};

pub(super) struct MemoryWriter {
    pub(super) reader: MemoryReader,
    pub(super) holder: String,
    pub(super) locked: bool,
}

impl Drop for MemoryWriter {
    fn drop(&mut self) {
        self.unlock();
    }
}

impl MemoryWriter {
    /// Changes the state of the transaction, or outside one what is published.
    fn change<T>(&mut self, change: impl FnOnce(&mut State) -> T) -> Result<T> {
        self.reader.changes.set(self.reader.changes.get() + 1);
        let in_transaction = self.reader.pins.get() > 0;
        if !in_transaction {
            self.begin()?;
        }
        let mut pinned = self.reader.pinned.borrow_mut();
        let Some(state) = pinned.as_mut() else {
            drop(pinned);
            return Err(Error::NoIndex {
                path: self.reader.store.place().to_path_buf(),
            });
        };
        let state = Arc::make_mut(state);
        state.revision += 1;
        let outcome = change(state);
        drop(pinned);
        if !in_transaction {
            self.commit()?;
        }
        Ok(outcome)
    }

    fn state(&self) -> Result<Arc<State>> {
        self.reader.state()
    }

    /// Every chunk without a vector of this model, in the order of embedding.
    fn all_pending(&self, model: ModelNumber) -> Result<Vec<Pending>> {
        let state = self.state()?;
        let mut pending = Vec::new();
        for (&document, indexed) in &state.documents {
            for (ordinal, (chunk, span, hash)) in (0..).zip(&indexed.chunks) {
                if state.embedding(*chunk, model).is_none() {
                    pending.push(Pending {
                        chunk: *chunk,
                        hash: *hash,
                        bytes: span.range.len(),
                        place: Place {
                            updated_at: indexed.document.updated_at,
                            document,
                            ordinal,
                        },
                    });
                }
            }
        }
        pending.sort_by_key(|one| one.place.key());
        Ok(pending)
    }
}

impl Transactions for MemoryWriter {
    fn unlock(&mut self) {
        if std::mem::take(&mut self.locked) {
            self.reader.store.unlock();
        }
    }

    fn lock(&mut self) -> Result<()> {
        self.reader.store.lock(&self.holder)?;
        self.locked = true;
        Ok(())
    }

    fn begin(&mut self) -> Result<()> {
        self.reader.pin()
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        let state = self.state()?;
        self.reader
            .store
            .shared(|shared| shared.published = Some(state));
        self.reader.unpin();
        Ok(())
    }

    fn roll_back(&mut self) -> Result<()> {
        self.reader.unpin();
        Ok(())
    }
}

impl WriteSources for MemoryWriter {
    fn put_source(&mut self, name: &str, location: &str) -> Result<()> {
        self.change(|state| {
            let source = state.sources.entry(name.to_owned()).or_default();
            source.location = location.to_owned();
        })
    }

    fn mark_synced(&mut self, name: &str, at: i64) -> Result<()> {
        self.change(|state| {
            if let Some(source) = state.sources.get_mut(name) {
                source.synced_at = Some(at);
            }
        })
    }

    fn remove_source(&mut self, name: &str) -> Result<()> {
        self.change(|state| {
            state.sources.remove(name);
            state.entries.retain(|_, entry| entry.source != name);
            state.remove_where(|indexed| indexed.document.source == name);
        })
    }

    fn put_container(&mut self, source: &str, key: &str, version: Version) -> Result<()> {
        self.change(|state| {
            let source = state.sources.entry(source.to_owned()).or_default();
            source.containers.insert(key.to_owned(), version);
        })
    }

    fn remove_container(&mut self, source: &str, key: &str) -> Result<()> {
        self.change(|state| {
            if let Some(source) = state.sources.get_mut(source) {
                source.containers.remove(key);
            }
        })
    }
}

impl WriteEntries for MemoryWriter {
    fn put_entry(
        &mut self,
        source: &str,
        key: &str,
        version: Version,
        size: u64,
        skipped: Option<&str>,
    ) -> Result<EntryRow> {
        self.change(|state| {
            let is_it = |entry: &Entry| entry.source == source && entry.key == key;
            let known = state.entries.iter().find(|(_, entry)| is_it(entry));
            let known = known.map(|(row, _)| *row);
            let row = known.unwrap_or_else(|| state.number());
            let entry = Entry {
                source: source.to_owned(),
                key: key.to_owned(),
                version,
                size,
                skipped: skipped.map(str::to_owned),
            };
            state.entries.insert(row, entry);
            row
        })
    }

    fn clear_entry(&mut self, _source: &str, entry: EntryRow) -> Result<usize> {
        self.change(|state| state.remove_where(|indexed| indexed.entry == entry))
    }

    fn remove_entry(&mut self, source: &str, entry: EntryRow) -> Result<usize> {
        let removed = self.clear_entry(source, entry)?;
        self.change(|state| state.entries.remove(&entry))?;
        Ok(removed)
    }

    fn remove_from_entry(&mut self, source: &str, entry: EntryRow, key: &str) -> Result<bool> {
        self.change(|state| {
            let removed = state
                .remove_where(|indexed| indexed.entry == entry && indexed.is_named(source, key));
            removed > 0
        })
    }
}

impl WriteDocuments for MemoryWriter {
    fn put_from(&mut self, entry: EntryRow, analyzed: &AnalyzedDocument) -> Result<bool> {
        self.change(|state| {
            let document = analyzed.document();
            let removed =
                state.remove_where(|indexed| indexed.is_named(&document.source, &document.key));
            let row = state.number();
            let chunks = analyzed.chunks().iter();
            let chunks = chunks.map(|(chunk, hash)| (state.number(), chunk.clone(), *hash));
            let indexed = Indexed {
                chunks: chunks.collect(),
                document: document.clone(),
                entry,
                terms: [
                    by_position(analyzed.title_terms()),
                    by_position(analyzed.body_terms()),
                    by_position(analyzed.tag_terms()),
                ],
                words: analyzed.words().map(str::to_owned).collect(),
                links: analyzed.links().iter().map(link).collect(),
            };
            state.documents.insert(row, indexed);
            removed > 0
        })
    }

    fn touch(&mut self, entry: EntryRow, document: &Document) -> Result<()> {
        self.change(|state| {
            let mut all = state.documents.values_mut();
            if let Some(indexed) =
                all.find(|indexed| indexed.is_named(&document.source, &document.key))
            {
                indexed.entry = entry;
                let known = &mut indexed.document;
                known.created_at = document.created_at;
                known.updated_at = document.updated_at;
                known.markup = document.markup;
                known.thread = document.thread.clone();
                known.author = document.author.clone();
                known.project = document.project.clone();
            }
        })
    }
}

impl WriteVectors for MemoryWriter {
    fn put_model(&mut self, identity: &Identity) -> Result<ModelNumber> {
        let state = self.state()?;
        let key = identity.key();
        let known = state
            .models
            .iter()
            .find(|(_, model)| model.serving.key == key);
        if let Some((number, _)) = known {
            return Ok(*number);
        }
        self.change(|state| {
            let number = state.number();
            let model = Model {
                serving: Serving {
                    key,
                    name: identity.name.clone(),
                    dimensions: identity.dimensions,
                },
                answers: state.models.values().all(|model| !model.answers),
            };
            state.models.insert(number, model);
            number
        })
    }

    fn serve(&mut self, model: ModelNumber) -> Result<()> {
        self.change(|state| {
            state.embeddings.retain(|_, one| one.model == model);
            state.failures.retain(|(_, by), _| *by == model);
            state.models.retain(|number, _| *number == model);
            for model in state.models.values_mut() {
                model.answers = true;
            }
        })
    }

    fn put_vectors(&mut self, model: ModelNumber, vectors: &[(Pending, Vec<f32>)]) -> Result<()> {
        self.change(|state| {
            for (pending, vector) in vectors {
                let chunk = pending.chunk;
                state.failures.remove(&(chunk, model));
                if state.chunk(chunk, Some(pending.hash)).is_none() {
                    continue;
                }
                if let Some(known) = state.embedding(chunk, model) {
                    state.embeddings.remove(&known);
                }
                let vector = vector.clone();
                let number = state.number();
                let embedding = Embedding {
                    chunk,
                    model,
                    vector,
                };
                state.embeddings.insert(number, embedding);
            }
        })
    }

    fn put_failures(&mut self, model: ModelNumber, failures: &[(Pending, String)]) -> Result<()> {
        self.change(|state| {
            for (pending, reason) in failures {
                if state.chunk(pending.chunk, Some(pending.hash)).is_some() {
                    let place = (pending.chunk, model);
                    state.failures.insert(place, reason.clone());
                }
            }
        })
    }

    fn correct_vectors(&mut self, right: &mut VectorsByHash<'_>) -> Result<usize> {
        let state = self.state()?;
        let answering = state.answering().map(|(number, _)| number);
        let mut corrected = 0;
        for (number, embedding) in &state.embeddings {
            let hash = state.hash(embedding.chunk);
            let (Some(hash), true) = (hash, answering == Some(embedding.model)) else {
                continue;
            };
            if let Some(Some(right)) = right(&[hash])?.pop()
                && right != embedding.vector
            {
                corrected += 1;
                self.change(|state| {
                    if let Some(wrong) = state.embeddings.get_mut(number) {
                        wrong.vector = right;
                    }
                })?;
            }
        }
        Ok(corrected)
    }

    fn refresh_vectors(&mut self) -> Result<()> {
        Ok(())
    }

    fn refresh_vectors_if_far_behind(&mut self) -> Result<()> {
        Ok(())
    }
}

impl EmbeddingQueue for MemoryWriter {
    fn pending(
        &self,
        model: ModelNumber,
        after: Option<Place>,
        limit: usize,
    ) -> Result<Vec<Pending>> {
        let mut pending = self.all_pending(model)?;
        pending.retain(|one| after.is_none_or(|after| one.place.key() > after.key()));
        pending.truncate(limit);
        Ok(pending)
    }

    fn pending_since(&self, model: ModelNumber, chunk: i64, limit: usize) -> Result<Vec<Pending>> {
        let mut pending = self.all_pending(model)?;
        pending.retain(|one| one.chunk > chunk);
        pending.sort_by_key(|one| one.chunk);
        pending.truncate(limit);
        pending.sort_by_key(|one| one.place.key());
        Ok(pending)
    }

    fn newest_chunk(&self) -> Result<i64> {
        let state = self.state()?;
        let chunks = state.documents.values().flat_map(|one| &one.chunks);
        Ok(chunks.map(|(chunk, ..)| *chunk).max().unwrap_or(0))
    }

    fn pending_size(&self, model: ModelNumber) -> Result<PendingSize> {
        let pending = self.all_pending(model)?;
        Ok(PendingSize {
            chunks: pending.len(),
            bytes: pending.iter().map(|one| one.bytes as u64).sum(),
        })
    }

    fn chunk_texts(&self, pending: &[Pending]) -> Result<Vec<Option<ChunkText>>> {
        let state = self.state()?;
        let text = |pending: &Pending| {
            let (_, indexed, chunk) = state.chunk(pending.chunk, Some(pending.hash))?;
            let document = &indexed.document;
            Some(ChunkText {
                markup: document.markup,
                title: document.title.clone(),
                heading: chunk.heading.clone(),
                text: document.body[chunk.range.clone()].to_owned(),
            })
        };
        Ok(pending.iter().map(text).collect())
    }
}

impl Rechunking for MemoryWriter {
    // Chunks in memory are never those of an earlier program.
    fn unchunked(&self, _: u32, _: usize) -> Result<Vec<Unchunked>> {
        Ok(Vec::new())
    }

    fn put_chunks(&mut self, _: Row, _: u32, _: &[(Chunk, [u8; 16])]) -> Result<()> {
        Ok(())
    }
}

impl Erasing for MemoryWriter {
    fn erase(
        &mut self,
        documents: &[(String, String)],
        _before: &mut dyn FnMut(EraseStep),
    ) -> Result<usize> {
        let named =
            |indexed: &Indexed, (source, key): &(String, String)| indexed.is_named(source, key);
        self.begin()?;
        let removed = self.change(|state| {
            state.remove_where(|indexed| documents.iter().any(|name| named(indexed, name)))
        })?;
        self.commit()?;
        Ok(removed)
    }

    fn start_over(&mut self) -> Result<()> {
        self.change(|state| {
            *state = State {
                revision: state.revision,
                index: state.index,
                last: state.last,
                ..State::default()
            };
        })
    }
}

impl Upkeep for MemoryWriter {
    fn optimize(&mut self) -> Result<()> {
        Ok(())
    }

    fn refresh_vocabulary(&mut self) -> Result<()> {
        Ok(())
    }

    fn rebuild_vocabulary(&mut self) -> Result<()> {
        Ok(())
    }

    fn repair(&mut self) -> Result<()> {
        Ok(())
    }
}

impl Writer for MemoryWriter {
    fn reader(&self) -> &dyn Reader {
        &self.reader
    }

    fn analyzer(&self) -> Analyzer {
        Analyzer::default()
    }
}

fn by_position<'a>(terms: impl Iterator<Item = (&'a str, u32)>) -> Terms {
    let mut positions = Terms::new();
    for (term, position) in terms {
        positions.resize(positions.len().max(position as usize + 1), Vec::new());
        positions[position as usize].push(term.to_owned());
    }
    positions
}

/// Returns the target of a link with the terms of its texts.
fn link(link: &OutgoingLink) -> (LinkTarget, Terms) {
    let texts = AnalyzedDocument::new(Document {
        body: link.texts.clone(),
        ..Document::default()
    });
    (link.target.clone(), by_position(texts.body_terms()))
}
