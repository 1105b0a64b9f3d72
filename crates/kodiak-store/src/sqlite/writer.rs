//! SQLite as a store for syncing, embedding and repairing.

use super::SqliteWriter;
use crate::{
    ChunkText, EntryRow, EraseStep, ModelNumber, Pending, PendingSize, Place, Reader, Row,
    Unchunked, VectorsByHash, Writer,
};
use kodiak_base::error::Result;
use kodiak_models::embed::Identity;
use kodiak_text::chunk::Chunk;
use kodiak_text::document::{Document, Version};
use kodiak_text::{AnalyzedDocument, Analyzer};

/// Forwards each method to the writer's own of the same name.
macro_rules! forward {
    ($($name:ident ( $($argument:ident : $type:ty),* $(,)? ) -> $result:ty;)*) => {
        $(fn $name(&mut self, $($argument: $type),*) -> $result {
            SqliteWriter::$name(self, $($argument),*)
        })*
    };
}

impl Writer for SqliteWriter {
    fn reader(&self) -> &dyn Reader {
        &**self
    }

    fn analyzer(&self) -> Analyzer {
        SqliteWriter::analyzer(self)
    }

    fn pending(
        &self,
        model: ModelNumber,
        after: Option<Place>,
        limit: usize,
    ) -> Result<Vec<Pending>> {
        SqliteWriter::pending(self, model, after, limit)
    }

    fn pending_since(&self, model: ModelNumber, chunk: i64, limit: usize) -> Result<Vec<Pending>> {
        SqliteWriter::pending_since(self, model, chunk, limit)
    }

    fn newest_chunk(&self) -> Result<i64> {
        SqliteWriter::newest_chunk(self)
    }

    fn pending_size(&self, model: ModelNumber) -> Result<PendingSize> {
        SqliteWriter::pending_size(self, model)
    }

    fn chunk_texts(&self, pending: &[Pending]) -> Result<Vec<Option<ChunkText>>> {
        SqliteWriter::chunk_texts(self, pending)
    }

    fn unchunked(&self, format: u32, limit: usize) -> Result<Vec<Unchunked>> {
        SqliteWriter::unchunked(self, format, limit)
    }

    fn refresh_vectors(&mut self) -> Result<()> {
        (**self).refresh_vectors()
    }

    fn refresh_vectors_if_far_behind(&mut self) -> Result<()> {
        (**self).refresh_vectors_if_far_behind()
    }

    forward! {
        let_go() -> ();
        take_up() -> Result<()>;
        begin() -> Result<()>;
        flush() -> Result<()>;
        commit() -> Result<()>;
        roll_back() -> Result<()>;
        start_over() -> Result<()>;
        put_source(name: &str, location: &str) -> Result<()>;
        mark_synced(name: &str, at: i64) -> Result<()>;
        remove_source(name: &str) -> Result<()>;
        put_entry(
            source: &str,
            key: &str,
            version: Version,
            size: u64,
            skipped: Option<&str>,
        ) -> Result<EntryRow>;
        put_container(source: &str, key: &str, version: Version) -> Result<()>;
        remove_container(source: &str, key: &str) -> Result<()>;
        clear_entry(source: &str, entry: EntryRow) -> Result<usize>;
        remove_entry(source: &str, entry: EntryRow) -> Result<usize>;
        remove_from_entry(source: &str, entry: EntryRow, key: &str) -> Result<bool>;
        put_from(entry: EntryRow, document: &AnalyzedDocument) -> Result<bool>;
        touch(entry: EntryRow, document: &Document) -> Result<()>;
        erase(
            documents: &[(String, String)],
            before: &mut dyn FnMut(EraseStep),
        ) -> Result<usize>;
        empty_log() -> Result<()>;
        optimize() -> Result<()>;
        refresh_vocabulary() -> Result<()>;
        rebuild_vocabulary() -> Result<()>;
        put_model(identity: &Identity) -> Result<ModelNumber>;
        serve(model: ModelNumber) -> Result<()>;
        put_chunks(row: Row, format: u32, chunks: &[(Chunk, [u8; 16])]) -> Result<()>;
        put_vectors(model: ModelNumber, vectors: &[(Pending, Vec<f32>)]) -> Result<()>;
        put_failures(model: ModelNumber, failures: &[(Pending, String)]) -> Result<()>;
        correct_vectors(
            right: &mut VectorsByHash<'_>,
        ) -> Result<usize>;
        repair() -> Result<()>;
    }
}
