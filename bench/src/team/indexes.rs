//! The indexes that are measured, filled with the same documents and vectors.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use kodiak::analysis::Analyzer;
use kodiak::engine::Engine;
use kodiak::search::{Request, Router};
use kodiak::store::{SqliteIndex, Store, Writer};
use kodiak::sync::{HeldWriter, backfill};
use kodiak::{Cancel, Document, Embedder, Guard, Version};
use kodiak_postgres::{Address, PostgresIndex};

use super::delay::Slow;
use super::postgres::Server;
use crate::all::{Pretender, generated};
use crate::clock::process_cpu_ms;
use crate::report::Report;

/// The name of the source of all documents.
pub(super) const SOURCE: &str = "bench";
/// The number of documents per transaction.
const BATCH: usize = 2_000;
/// The deadline of a search, long enough that none is cut short.
const PATIENCE: Duration = Duration::from_mins(2);

/// An index on this machine or on a server.
pub(super) struct Index<'a> {
    /// What it is called in the report, with the number of its documents.
    pub(super) name: String,
    pub(super) store: Arc<dyn Store>,
    pub(super) engine: Engine,
    /// The number of documents that it was filled with.
    pub(super) documents: usize,
    server: Option<(&'a Server, PostgresIndex)>,
    folder: tempfile::TempDir,
}

impl<'a> Index<'a> {
    /// Names an index in SQLite.
    pub(super) fn sqlite() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let store = Arc::new(SqliteIndex::new(folder.path().join("index.db")));
        Self::over("SQLite", store, None, folder)
    }

    /// Names an index on a server, by way of a slow network if there is one.
    pub(super) fn postgres(server: &'a Server, network: Option<&Slow>) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let address = network.map_or(server.address(), |slow| &slow.address);
        let address = Address::parse(address)?.with_schema("kodiak_bench");
        let cache: PathBuf = folder.path().join("vectors");
        std::fs::create_dir(&cache)?;
        let index = PostgresIndex::new(address).with_cache(cache);
        let store = Arc::new(index.clone());
        Self::over("PostgreSQL", store, Some((server, index)), folder)
    }

    fn over(
        name: &str,
        store: Arc<dyn Store>,
        server: Option<(&'a Server, PostgresIndex)>,
        folder: tempfile::TempDir,
    ) -> Result<Self> {
        let engine = Engine::builder_over(Arc::clone(&store))
            .model(Arc::new(Pretender::new(None)))
            .deadline(PATIENCE)
            .open()?;
        Ok(Self {
            name: name.to_owned(),
            store,
            engine,
            documents: 0,
            server,
            folder,
        })
    }

    /// Returns the milliseconds of CPU time that the server has used, if it is known.
    pub(super) fn server_ms(&self) -> Option<f64> {
        self.server.as_ref()?.0.cpu_ms()
    }

    /// Returns the number of round trips of an index on a server for a plain search by
    /// words, or of one by meaning.
    pub(super) fn round_trips(&self, request: &Request) -> Result<Option<usize>> {
        let Some((_, index)) = &self.server else {
            return Ok(None);
        };
        let reader = index.open()?;
        let pretender: Arc<dyn Embedder> = Arc::new(Pretender::new(None));
        Router::new(&reader, &[], Guard::local())
            .with_embedder(Some(pretender))
            .with_deadline(PATIENCE)
            .search(request)?;
        Ok(Some(reader.round_trips()))
    }

    /// Merges what is due, and waits for the end of it.
    pub(super) fn optimize(&self) -> Result<()> {
        let Some((server, _)) = &self.server else {
            return Ok(self.store.writer("bench")?.optimize()?);
        };
        // Closing an index waits for what goes on beside its writers.
        let own = PostgresIndex::new(Address::parse(server.address())?.with_schema("kodiak_bench"));
        Ok(own.writer("bench")?.optimize()?)
    }

    /// Deletes an index on a server.
    pub(super) fn delete(&self) -> Result<()> {
        if let Some((_, index)) = &self.server {
            index.delete()?;
        }
        Ok(())
    }

    /// Returns the number of bytes that it takes, without the vector file.
    fn bytes(&self) -> u64 {
        self.store.size()
    }

    /// Returns the number of bytes of the file that is derived from the vectors.
    fn derived_bytes(&self) -> u64 {
        let folder = match &self.server {
            Some(_) => self.folder.path().join("vectors"),
            None => self.folder.path().to_path_buf(),
        };
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let vectors = files.filter(|file| {
            self.server.is_some() || file.file_name().to_string_lossy().contains("vectors")
        });
        vectors
            .filter_map(|file| Some(file.metadata().ok()?.len()))
            .sum()
    }

    /// Runs some work and adds its wall time to the report, with the CPU time of this
    /// process and of the server.
    pub(super) fn timed<T>(
        &self,
        what: &str,
        report: &mut Report,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let (before, begun) = (self.server_ms(), Instant::now());
        let (done, ours) = process_cpu_ms(work);
        let wall = begun.elapsed().as_secs_f64();
        let done = done?;
        let name = format!("{}: {what}", self.name);
        let theirs = self.server_ms().zip(before).map(|(now, then)| now - then);
        report.add(name, wall, "s", used(ours, theirs, 1.0));
        Ok(done)
    }
}

/// Describes how much CPU time was used for each of so many.
pub(super) fn used(ours: f64, theirs: Option<f64>, each: f64) -> String {
    let ours = format!("CPU {:.2} ms", ours / each);
    match theirs {
        Some(theirs) => format!("{ours}, of the server {:.2} ms", theirs / each),
        None => ours,
    }
}

/// Returns the document with this number.
pub(super) fn document(number: usize, title: String, body: String) -> Document {
    Document {
        source: SOURCE.to_owned(),
        key: format!("{number:07}.md"),
        kind: "note".to_owned(),
        title,
        body,
        updated_at: number as i64,
        ..Document::default()
    }
}

/// Puts a document, as a sync does.
pub(super) fn put(
    writer: &mut dyn Writer,
    analyzer: &mut Analyzer,
    document: Document,
) -> Result<()> {
    let version = Version::of(document.key.as_bytes());
    let size = document.body.len() as u64;
    let entry = writer.put_entry(SOURCE, &document.key, version, size, None)?;
    writer.put_from(entry, &analyzer.analyze(document))?;
    Ok(())
}

/// Fills an index with documents and vectors.
pub(super) fn filled<'a>(
    mut index: Index<'a>,
    count: usize,
    report: &mut Report,
) -> Result<Index<'a>> {
    index.name = format!("{count} in {}", index.name);
    index.documents = count;
    let mut writer = index.store.writer("bench")?;
    index.timed("fill", report, || {
        let mut analyzer = writer.analyzer();
        writer.begin()?;
        writer.put_source(SOURCE, "generated")?;
        for (number, (title, body)) in generated(count).enumerate() {
            put(&mut *writer, &mut analyzer, document(number, title, body))?;
            if (number + 1) % BATCH == 0 {
                writer.commit()?;
                writer.begin()?;
            }
        }
        writer.mark_synced(SOURCE, 1)?;
        writer.commit()?;
        Ok(())
    })?;
    index.timed("merge after filling", report, || {
        writer.refresh_vocabulary()?;
        // Closing an index empties its log.
        drop(writer);
        index.optimize()
    })?;
    let each = |bytes: u64| bytes as f64 / count as f64;
    let name = |what: &str| format!("{}: {what}", index.name);
    report.add(name("words"), each(index.bytes()), "B", "per document");
    let mut writer = index.store.writer("bench")?;
    let pretender = Pretender::new(None);
    let embedded = index.timed("store vectors", report, || {
        let access = HeldWriter::new(&mut *writer);
        let done = backfill(&access, &pretender, None, None, &Cancel::new(), &mut |_| {})?;
        ensure!(
            done.left == 0 && done.failed == 0,
            "not everything has a vector: {done:?}"
        );
        Ok(done.embedded)
    })?;
    drop(writer);
    let detail = format!("per document, {embedded} vectors");
    report.add(name("words and vectors"), each(index.bytes()), "B", detail);
    let derived = each(index.derived_bytes());
    let detail = "per document, the file for scanning vectors, on each server of ours";
    report.add(name("derived file"), derived, "B", detail);
    Ok(index)
}
