//! The texts that features embed beside the chunks of documents: the values of certain
//! fields, such as the lessons of a session.
//!
//! Their vectors are in the cache only. A builder names the fields, so that erasing a
//! document erases their vectors and erasing another one keeps them.

use std::collections::HashSet;

use super::{Engine, Job, View};
use crate::chunk::text_hash;
use crate::embed::Role;
use crate::error::{Error, Result};
use crate::store::{EmbeddingCache, Filter, Reader};

/// The most texts that are embedded at once. The rest is embedded by the next call.
const EMBEDDED_AT_ONCE: usize = 1_000;

/// The fields of documents of one kind whose values are embedded one by one.
#[derive(Clone, Copy, Debug)]
pub struct EmbeddedFields {
    /// The kind of the documents.
    pub kind: &'static str,
    /// The names of the fields.
    pub fields: &'static [&'static str],
}

/// The vectors of texts, in the order of the texts.
#[derive(Clone, Debug)]
pub struct Vectors {
    /// The vector of each text, where there is one.
    pub vectors: Vec<Option<Vec<f32>>>,
    /// The cosine below which texts are unrelated.
    pub minimum: f32,
}

impl View<'_, '_> {
    /// Returns the cosine below which texts are unrelated: the configured one, or the
    /// default of the model for queries. Returns `None` without a model.
    pub fn minimum_similarity(&self) -> Result<Option<f32>> {
        let set = self.engine.tuning.minimum_similarity;
        let (embedder, _) = self.read(|reader| Ok(self.engine.for_queries(reader)))?;
        Ok(embedder.map(|embedder| set.unwrap_or(embedder.minimum_similarity())))
    }

    /// Returns the vectors of the values of [`EmbeddedFields`]: those in the cache, and
    /// new ones of the model for texts where `embeds` says so. Returns nothing without a
    /// model.
    pub fn vectors_of(
        &self,
        texts: &[&str],
        embeds: &dyn Fn(usize) -> bool,
        job: &Job<'_>,
    ) -> Option<Vectors> {
        let model = self.engine.shared.models.for_documents().ok().flatten()?;
        let mut cache = self.engine.cache(job);
        let hashes: Vec<[u8; 16]> = texts.iter().map(|text| text_hash(text)).collect();
        let identity = model.identity();
        let cached = cache.as_ref().and_then(|it| it.get(identity, &hashes).ok());
        let mut vectors = cached.unwrap_or_else(|| vec![None; texts.len()]);
        let missing = (0..texts.len()).filter(|&at| vectors[at].is_none() && embeds(at));
        let missing: Vec<usize> = missing.take(EMBEDDED_AT_ONCE).collect();
        for batch in missing.chunks(model.limits().max_batch.clamp(1, 64)) {
            if job.check().is_err() {
                break;
            }
            let batch_texts: Vec<&str> = batch.iter().map(|&at| texts[at]).collect();
            // A caller does without the vectors that cannot be made.
            let Ok(made) = model.embed(&batch_texts, Role::Document) else {
                break;
            };
            let made: Vec<(usize, Vec<f32>)> = batch.iter().copied().zip(made).collect();
            if let Some(cache) = &mut cache {
                let new: Vec<_> = made
                    .iter()
                    .map(|(at, it)| (hashes[*at], it.clone()))
                    .collect();
                // A cache that cannot be written costs time, not results.
                if cache.put(identity, &new).is_ok() {
                    self.engine.leave_out_erased(cache, &new);
                }
            }
            for (at, vector) in made {
                vectors[at] = Some(vector);
            }
        }
        Some(Vectors {
            vectors,
            minimum: model.minimum_similarity(),
        })
    }
}

impl Engine {
    /// Deletes vectors from the cache whose texts are being erased or are gone by now:
    /// another process may have erased them while the model worked on them. An erasing
    /// that begins later finds them in the cache.
    fn leave_out_erased(&self, cache: &mut EmbeddingCache, made: &[([u8; 16], Vec<f32>)]) {
        let erasing = self.erasing_journal().is_some_and(|path| path.exists());
        let there = self.read(|reader| self.field_hashes(reader));
        let there = there.unwrap_or_default().into_iter().filter(|_| !erasing);
        let there: HashSet<[u8; 16]> = there.collect();
        let made = made.iter().map(|(hash, _)| *hash);
        let gone: Vec<[u8; 16]> = made.filter(|hash| !there.contains(hash)).collect();
        if !gone.is_empty() {
            // A cache that cannot be written has not taken them either.
            let _ = cache.erase(&gone).and_then(|()| cache.empty_log());
        }
    }

    /// Returns the hashes of the embedded fields of all documents.
    pub(super) fn field_hashes(&self, reader: &dyn Reader) -> Result<Vec<[u8; 16]>> {
        let mut hashes = Vec::new();
        for embedded in &self.shared.embedded_fields {
            let filter = Filter {
                kinds: vec![embedded.kind.to_owned()],
                ..Filter::default()
            };
            for row in reader.rows(&filter, None, None)?.iter() {
                hashes.extend(self.hashes_in(&reader.fields(row)?));
            }
        }
        Ok(hashes)
    }

    /// Returns the hashes of the embedded fields of a document.
    pub(super) fn field_hashes_of(&self, source: &str, key: &str) -> Result<Vec<[u8; 16]>> {
        if self.shared.embedded_fields.is_empty() {
            return Ok(Vec::new());
        }
        let found = self.read(|reader| {
            let named = reader.with_path(Some(source), key, &Filter::default(), 1)?;
            let row = named.first().map(|(row, ..)| *row);
            row.map_or(Ok(Vec::new()), |row| reader.fields(row))
        });
        match found {
            Err(Error::NoIndex { .. }) => Ok(Vec::new()),
            fields => Ok(self.hashes_in(&fields?)),
        }
    }

    fn hashes_in(&self, fields: &[(String, String)]) -> Vec<[u8; 16]> {
        let embedded = self.shared.embedded_fields.iter();
        let embedded: Vec<&str> = embedded.flat_map(|one| one.fields).copied().collect();
        let values = fields
            .iter()
            .filter(|(name, _)| embedded.contains(&&**name));
        values.map(|(_, value)| text_hash(value)).collect()
    }
}
