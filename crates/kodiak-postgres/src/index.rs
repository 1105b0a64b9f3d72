//! An index on a server, as a store that an engine opens.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::address::{Address, quoted};
use crate::cache::Cache;
use crate::claims::Claims;
use crate::live::Live;
use crate::lock::{HeldLock, Wanted, number};
use crate::merging::{Closing, Merger};
use crate::pool::Pool;
use crate::progress::Counted;
use crate::reader::PostgresReader;
use crate::records::{Erased, Journal};
use crate::replica::Replica;
use crate::schema;
use crate::value::{Query, get};
use crate::vectors::Derived;
use crate::vocabulary::Known;
use crate::writer::PostgresWriter;
use kodiak_base::error::Result;
use kodiak_store::{Lock, Reader, Record, Store, Tombstones, Writer};
use kodiak_text::chunk::ChunkOptions;
use kodiak_text::text::Stemming;

/// An index on a server. Its readers and writers share connections, and what they keep of
/// segments, words and vectors.
#[derive(Clone, Debug)]
pub struct PostgresIndex {
    pub(crate) shared: Arc<Shared>,
    chunking: ChunkOptions,
    pub(crate) stemming: Stemming,
    _closing: Arc<Closing>,
}

/// The past of an index that a process follows, and the number of erasings in it.
#[derive(Debug, Default)]
struct Followed {
    past: Option<u64>,
    erased: i64,
}

/// What all readers and writers of an index in this process share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) pool: Arc<Pool>,
    /// The replica that readers may use.
    pub(crate) replica: Option<Replica>,
    pub(crate) cache: Cache,
    pub(crate) known: Known,
    pub(crate) derived: Derived,
    pub(crate) coverage: Mutex<Option<Counted>>,
    pub(crate) merger: Arc<Merger>,
    /// What this process has followed.
    followed: Mutex<Followed>,
    /// The generation that was seen last; `None` if the index was set aside.
    generation: Mutex<Option<String>>,
    /// When tables could not be written anew that had something that was erased.
    pub(crate) in_vain: Mutex<Option<Instant>>,
    /// How long a read may take on the server, in milliseconds.
    patience: u64,
}

impl Shared {
    /// Returns the statements that begin a snapshot.
    pub(crate) fn begin_reading(&self) -> String {
        format!(
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
             SET LOCAL search_path TO {}; SET LOCAL statement_timeout = {}",
            self.quoted(),
            self.patience
        )
    }

    pub(crate) fn schema(&self) -> &str {
        &self.pool.address().schema
    }

    /// Returns the name of the schema as statements have it.
    pub(crate) fn quoted(&self) -> String {
        quoted(self.schema())
    }

    /// Notes the generation of the index that was read.
    pub(crate) fn saw(&self, generation: &str) {
        let mut seen = self
            .generation
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if seen.as_deref() != Some(generation) {
            *seen = Some(generation.to_owned());
        }
    }

    /// Reports whether an index is of the generation that was seen last.
    pub(crate) fn is_current(&self, generation: &str) -> bool {
        let seen = self
            .generation
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        seen.as_deref() == Some(generation)
    }

    /// Keeps a committed state that was read after one of another past, or of the same. Drops
    /// everything else that is kept if it is of another past, or if something was erased
    /// since, so that no process has it any longer.
    pub(crate) fn follow(&self, mut live: Live, after: Option<u64>) -> Arc<Live> {
        let mut followed = self.followed();
        if live.past == 0 {
            live.past = self.cache.past_of(live.revision, live.stamp);
        }
        let live = Arc::new(live);
        let is_same = followed.past == Some(live.past);
        if !is_same && followed.past.is_some() && followed.past != after {
            // Others have seen a newer past.
            return live;
        }
        if !is_same || live.erased > followed.erased {
            *followed = Followed {
                past: Some(live.past),
                erased: live.erased,
            };
            self.cache.clear();
            self.known.clear();
            self.derived.clear();
            self.derived.drop_others(&live.generation, live.erased);
        }
        // An older snapshot has what was erased since.
        if live.erased == followed.erased {
            self.cache.keep(&live, after);
        }
        drop(followed);
        self.saw(&live.generation);
        live
    }

    /// Reports whether nothing was erased after a state, and its past is the newest.
    pub(crate) fn is_followed(&self, past: u64, erased: i64) -> bool {
        let followed = self.followed();
        (followed.past, followed.erased) == (Some(past), erased)
    }

    fn followed(&self) -> MutexGuard<'_, Followed> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_aside(&self) {
        let mut followed = self.followed();
        *followed = Followed::default();
        self.cache.forget();
        self.known.clear();
        self.derived.clear();
        *self
            .generation
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl PostgresIndex {
    /// Names an index. Opens nothing.
    pub fn new(address: Address) -> Self {
        let merger = Arc::default();
        let replica = address.replica.as_deref().cloned().map(Replica::new);
        Self {
            shared: Arc::new(Shared {
                replica,
                pool: Arc::new(Pool::new(address)),
                cache: Cache::default(),
                known: Known::default(),
                derived: Derived::default(),
                coverage: Mutex::default(),
                merger: Arc::clone(&merger),
                followed: Mutex::default(),
                generation: Mutex::default(),
                in_vain: Mutex::default(),
                patience: 30_000,
            }),
            chunking: ChunkOptions::default(),
            stemming: Stemming::default(),
            _closing: Arc::new(Closing(merger)),
        }
    }

    /// Sets the folder for the file that is derived from the vectors. Without one, what
    /// would be in it is kept in memory.
    #[must_use]
    pub fn with_cache(mut self, folder: impl Into<PathBuf>) -> Self {
        if let Some(shared) = Arc::get_mut(&mut self.shared) {
            let place = shared.pool.address().shown().to_string_lossy();
            shared.derived = Derived::in_folder(folder.into(), &place);
        }
        self
    }

    /// Sets how many bytes of postings are kept.
    #[cfg(test)]
    pub(crate) fn with_kept(mut self, bytes: usize) -> Self {
        if let Some(shared) = Arc::get_mut(&mut self.shared) {
            shared.cache = Cache::with_limit(bytes);
        }
        self
    }

    /// Sets how documents are chunked. The index does not record it, so this is only for
    /// an index that is measured and thrown away.
    #[must_use]
    pub fn with_chunking(mut self, chunking: ChunkOptions) -> Self {
        self.chunking = chunking;
        self
    }

    /// Sets how words are stemmed in an index that is created.
    #[must_use]
    pub fn with_stemming(mut self, stemming: Stemming) -> Self {
        self.stemming = stemming;
        self
    }

    /// Opens the index for reading. The reader counts its round trips.
    pub fn open(&self) -> Result<PostgresReader> {
        let opened = self
            .shared
            .pool
            .with(|connection| schema::open(connection, self.shared.schema(), self.place()))?;
        self.shared.saw(&opened.generation);
        Ok(PostgresReader::new(
            Arc::clone(&self.shared),
            opened.generation,
            opened.stemming,
        ))
    }

    /// Deletes the index with everything in it.
    pub fn delete(&self) -> Result<()> {
        let schema = self.shared.schema();
        let lock = self.lock(Wanted::writing(schema), "deleting")?;
        let quoted = self.shared.quoted();
        lock.finish(&format!("DROP SCHEMA IF EXISTS {quoted} CASCADE"))?;
        self.shared.set_aside();
        Ok(())
    }

    pub(crate) fn pool(&self) -> &Pool {
        &self.shared.pool
    }

    pub(crate) fn schema(&self) -> &str {
        self.shared.schema()
    }

    /// Returns the name of the schema as statements have it.
    pub(crate) fn quoted(&self) -> String {
        self.shared.quoted()
    }

    pub(crate) fn stemming(&self) -> Stemming {
        self.stemming
    }

    fn lock(&self, wanted: Wanted, holder: &str) -> Result<HeldLock> {
        HeldLock::take(&self.shared.pool, wanted, holder)
    }
}

impl Store for PostgresIndex {
    fn reader(&self) -> Result<Box<dyn Reader + Send>> {
        Ok(Box::new(self.open()?))
    }

    fn writer(&self, holder: &str) -> Result<Box<dyn Writer>> {
        let (schema, pool) = (self.shared.schema(), &self.shared.pool);
        let lock = self.lock(Wanted::writing(schema), holder)?;
        let migrating = number(schema, "migrating");
        pool.with(|connection| {
            schema::migrate(connection, schema, self.place(), migrating, self.stemming)
        })?;
        Ok(Box::new(PostgresWriter::new(
            self.open()?.of_writer(),
            lock,
            holder,
            self.chunking,
        )))
    }

    fn embedding_lock(&self, holder: &str) -> Result<Option<Box<dyn Lock>>> {
        let lock = self.lock(Wanted::embedding(self.shared.schema()), holder)?;
        Ok(Some(Box::new(Claims::new(Arc::clone(&self.shared), lock))))
    }

    fn embedding_holder(&self) -> Option<String> {
        let wanted = Wanted::embedding(self.shared.schema());
        HeldLock::holder(&self.shared.pool, wanted)
    }

    fn record(&self, name: &str) -> Option<Box<dyn Record>> {
        Some(Box::new(Journal {
            shared: Arc::clone(&self.shared),
            name: name.to_owned(),
            place: self.place().to_path_buf(),
        }))
    }

    fn tombstones(&self) -> Option<Box<dyn Tombstones>> {
        Some(Box::new(Erased {
            shared: Arc::clone(&self.shared),
        }))
    }

    /// Renames the schema, so that a new index can take its place. What nothing can be made
    /// anew from stays where it is.
    fn set_aside(&self, holder: &str) -> Result<PathBuf> {
        let (schema, pool) = (self.shared.schema(), &self.shared.pool);
        let lock = self.lock(Wanted::writing(schema), holder)?;
        let now = pool.with(|connection| {
            let now = "SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDDHH24MISSMS')";
            let answers = connection.send(None, &[Query::new(now)], None)?;
            let now = answers[0].first().map(|row| get::<String>(row, 0));
            now.transpose().map(Option::unwrap_or_default)
        })?;
        let aside = format!("{schema}_{now}");
        let (quoted, quoted_aside) = (self.shared.quoted(), quoted(&aside));
        let format = pool.with(|connection| schema::format(connection, schema))?;
        let mut sql =
            format!("ALTER SCHEMA {quoted} RENAME TO {quoted_aside}; CREATE SCHEMA {quoted};");
        sql.push_str(&schema::keep_tables(&quoted_aside, &quoted, format));
        lock.finish(&sql)?;
        self.shared.set_aside();
        let address = pool.address().clone().with_schema(&aside);
        Ok(address.shown().to_path_buf())
    }

    fn place(&self) -> &Path {
        self.shared.pool.address().shown()
    }

    fn size(&self) -> u64 {
        let asked = Query::new(
            "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class AS c
             JOIN pg_namespace AS n ON n.oid = c.relnamespace
             WHERE n.nspname = $1 AND c.relkind = 'r'",
        )
        .with(self.shared.schema());
        let size = self.shared.pool.with(|connection| {
            let answers = connection.send(None, std::slice::from_ref(&asked), None)?;
            answers[0]
                .first()
                .map_or(Ok(0), |row| crate::value::count(row, 0))
        });
        size.unwrap_or(0)
    }
}
