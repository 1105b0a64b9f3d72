//! The vectors of the model in use, and the index over them on this machine.
//!
//! Vectors are rows on the server. Each process derives a vector file from them, as the
//! SQLite store does, in a folder or in memory (`making`). Vectors that the file lacks are
//! fetched once and kept beside it, until they are so many that they are put into it, by one
//! thread while the others wait. The name of a file says of which state of the index it was made: in
//! an index that went another way since, such as one from a backup, the numbers of vectors
//! and chunks are those of others.

mod making;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::progress::serving;
use crate::reader::PostgresReader;
use crate::turn::Turns;
use crate::value::{Query, get};
use kodiak_base::error::Result;
use kodiak_store::vectors::{Origin, VectorFile};
use kodiak_store::{FileVectors, LateVector, ModelNumber, Row, Serving, VectorIndex, Vectors};

/// How many vectors may be beside the file while vectors are being added: a number, and a
/// share of those in the file.
const WHILE_EMBEDDING: (usize, f64) = (1_000, 0.1);
/// How many may be beside it once all are in, or in it in vain.
const WHEN_EMBEDDED: (usize, f64) = (64, 0.01);

/// Decodes 32-bit floats, little-endian.
pub(crate) fn vector_from(bytes: &[u8]) -> Vec<f32> {
    let (numbers, _) = bytes.as_chunks::<4>();
    numbers
        .iter()
        .map(|&number| f32::from_le_bytes(number))
        .collect()
}

/// Encodes a vector as 32-bit floats, little-endian.
pub(crate) fn vector_bytes(vector: &[f32]) -> Vec<u8> {
    vector
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}

/// The vector file of an index in this process.
#[derive(Debug, Default)]
pub(crate) struct Derived {
    folder: Option<PathBuf>,
    /// What the names of the files of this index begin with.
    prefix: String,
    kept: Mutex<Option<Kept>>,
    /// The right to make the file.
    turns: Turns,
    /// How often it was made of all vectors.
    #[cfg(test)]
    pub(crate) made: std::sync::atomic::AtomicUsize,
    /// How many vectors were fetched.
    #[cfg(test)]
    pub(crate) fetched: std::sync::atomic::AtomicUsize,
}

/// A vector file, and the vectors beside it.
#[derive(Clone, Debug)]
struct Kept {
    origin: Origin,
    model: ModelNumber,
    /// The past of the index that it is of.
    past: u64,
    /// The number of erasings before it.
    erased: i64,
    serving: Serving,
    file: Arc<VectorFile>,
    late: Arc<[LateVector]>,
    /// The newest vector of the file or beside it.
    upto: i64,
    /// The revision of a state of the index, with those of the vectors beside the file that
    /// were there.
    seen: Option<(i64, Arc<[LateVector]>)>,
}

impl Kept {
    /// Reports whether it is of a state of the index, or of a part of its past.
    fn is_of(&self, in_use: &InUse) -> bool {
        self.origin == in_use.origin
            && (self.model, self.past, self.erased) == (in_use.model, in_use.past, in_use.erased)
    }
}

/// The model in use and the newest vector, in one state of the index.
struct InUse {
    model: ModelNumber,
    serving: Serving,
    origin: Origin,
    newest: i64,
    generation: String,
    past: u64,
    /// The number of erasings so far.
    erased: i64,
    /// The revision and the random number of the state.
    state: (i64, Option<i64>),
}

impl Derived {
    pub(crate) fn in_folder(folder: PathBuf, place: &str) -> Self {
        let hash = blake3::hash(place.as_bytes());
        Self {
            folder: Some(folder),
            prefix: format!("{}-", &hash.to_hex()[..16]),
            ..Self::default()
        }
    }

    fn kept(&self) -> MutexGuard<'_, Option<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets the file that is open.
    pub(crate) fn clear(&self) {
        *self.kept() = None;
    }

    /// Returns what the names of the files of an index begin with. Each generation has files
    /// of its own, and so has what is left of it after each erasing.
    fn start(&self, generation: &str, erased: i64) -> String {
        format!("{}{generation}-{erased}-", self.prefix)
    }

    /// Returns the path for a file that is made of a state of an index.
    fn path(&self, in_use: &InUse) -> Option<PathBuf> {
        let start = self.start(&in_use.generation, in_use.erased);
        let (revision, stamp) = in_use.state;
        let name = format!("{start}{revision}-{:016x}.vectors", stamp?);
        Some(self.folder.as_ref()?.join(name))
    }

    /// Returns the files of an index with the revisions and random numbers of the states that
    /// they were made of.
    fn files(&self, in_use: &InUse) -> Vec<(i64, i64, PathBuf)> {
        let start = self.start(&in_use.generation, in_use.erased);
        let entries = self.folder.as_ref().map(std::fs::read_dir);
        let entries = entries.into_iter().flatten().flatten().flatten();
        let found = entries.filter_map(|entry| {
            let name = entry.file_name();
            let (revision, stamp) = state_in(name.to_str()?, &start)?;
            Some((revision, stamp, entry.path()))
        });
        found.collect()
    }

    /// Deletes the other files of an index, which may have the vectors of what was erased.
    pub(crate) fn drop_others(&self, generation: &str, erased: i64) {
        let start = self.start(generation, erased);
        self.drop_where(|name| !name.starts_with(&start));
    }

    /// Deletes the files that another one has replaced.
    fn drop_older(&self, in_use: &InUse) {
        let start = self.start(&in_use.generation, in_use.erased);
        let own = (in_use.state.0, in_use.state.1.unwrap_or(0));
        self.drop_where(|name| state_in(name, &start).is_some_and(|state| state != own));
    }

    fn drop_where(&self, meant: impl Fn(&str) -> bool) {
        let Some(folder) = &self.folder else {
            return;
        };
        let is_meant = |beside: &str| beside.starts_with(&self.prefix) && meant(beside);
        // What cannot be deleted now is tried again with the next file.
        let _ = kodiak_store::remove_beside(&folder.join(&self.prefix), is_meant);
    }
}

/// Returns the revision and the random number in the name of a file.
fn state_in(name: &str, start: &str) -> Option<(i64, i64)> {
    let state = name.strip_prefix(start)?.strip_suffix(".vectors")?;
    let (revision, stamp) = state.split_once('-')?;
    let stamp = u64::from_str_radix(stamp, 16).ok()?;
    Some((revision.parse().ok()?, stamp.cast_signed()))
}

impl Vectors for PostgresReader {
    fn vectors(&self) -> Result<Option<Arc<dyn VectorIndex>>> {
        let _hold = self.hold();
        let derived = &self.shared.derived;
        let kept = derived.kept().clone();
        // In a state of the index that was seen, nothing has to be asked for.
        if let (Some(kept), Some(live), false) = (&kept, self.settled(), self.writing.get())
            && let Some((revision, late)) = &kept.seen
            && (kept.past, kept.erased, *revision) == (live.past, live.erased, live.revision)
        {
            return Ok(Some(index_of(kept, Arc::clone(late))));
        }
        let mut turn = None;
        loop {
            let kept = derived.kept().clone();
            let Some((in_use, late, mut there)) = self.in_use(kept.as_ref())? else {
                return Ok(None);
            };
            let before = kept.as_ref().map(|kept| Arc::as_ptr(&kept.file));
            let kept = kept.filter(|kept| kept.is_of(&in_use));
            let kept = kept.map(|kept| {
                there.extend(late.iter().map(|one| one.chunk));
                with_late(kept, late, in_use.newest)
            });
            if let Some(kept) = &kept
                && is_within(kept.late.len(), &kept.file, WHILE_EMBEDDING)
            {
                return Ok(Some(self.serve(&in_use, kept, &there)));
            }
            // One makes it, and the others wait for what it makes.
            if turn.is_none() {
                turn = Some(derived.turns.take());
                let kept = derived.kept();
                if kept.as_ref().map(|kept| Arc::as_ptr(&kept.file)) != before {
                    continue;
                }
            }
            let made = self.made(&in_use, kept)?;
            let there = made.late.iter().map(|one| one.chunk).collect();
            return Ok(Some(self.serve(&in_use, &made, &there)));
        }
    }
}

impl PostgresReader {
    /// Returns the vectors that are there, and keeps the file.
    fn serve(&self, in_use: &InUse, kept: &Kept, there: &HashSet<i64>) -> Arc<dyn VectorIndex> {
        let late = kept.late.iter().filter(|one| there.contains(&one.chunk));
        let late: Arc<[LateVector]> = late.cloned().collect();
        let seen = Some((in_use.state.0, Arc::clone(&late)));
        self.keep_derived(
            in_use,
            Kept {
                seen,
                ..kept.clone()
            },
        );
        index_of(kept, late)
    }

    /// Keeps a file, unless it is of a state that is not committed, or of one that is past.
    fn keep_derived(&self, in_use: &InUse, kept: Kept) {
        if !self.writing.get() && self.shared.is_followed(in_use.past, in_use.erased) {
            *self.shared.derived.kept() = Some(kept);
        }
    }

    /// Reads the answer to [`late_query`].
    fn late_in(&self, rows: &[tokio_postgres::Row]) -> Result<Vec<LateVector>> {
        self.count_fetched(rows.len());
        let vectors = rows.iter().map(|row| {
            Ok(LateVector {
                row: get(row, 0)?,
                chunk: get(row, 1)?,
                vector: vector_from(get(row, 2)?),
            })
        });
        vectors.collect()
    }

    /// Counts vectors that were fetched.
    #[cfg_attr(not(test), expect(clippy::unused_self, reason = "tests count them"))]
    fn count_fetched(&self, count: usize) {
        #[cfg(test)]
        self.shared
            .derived
            .fetched
            .fetch_add(count, std::sync::atomic::Ordering::SeqCst);
        let _ = count;
    }

    /// Returns the model in use, the vectors after those that are kept, and which chunks of
    /// those that are kept beside the file are there.
    #[expect(clippy::type_complexity, reason = "the parts are used at once")]
    fn in_use(
        &self,
        kept: Option<&Kept>,
    ) -> Result<Option<(InUse, Vec<LateVector>, HashSet<i64>)>> {
        let (upto, model) = kept.map_or((i64::MAX, 0), |kept| (kept.upto, kept.model));
        let late = kept.into_iter().flat_map(|kept| kept.late.iter());
        let late: Vec<i64> = late.map(|one| one.chunk).collect();
        let (live, answers) = self.ask_live(vec![
            Query::new(
                "SELECT m.id, m.key, m.name, m.dimensions,
                        (SELECT max(e.id) FROM embeddings AS e)
                 FROM models AS m
                 WHERE m.serving AND EXISTS (SELECT 1 FROM embeddings AS e WHERE e.model = m.id)",
            ),
            late_query(upto, model),
            Query::new("SELECT id FROM chunks WHERE id = ANY($1)").with(&late[..]),
        ])?;
        let Some(row) = answers[0].first() else {
            return Ok(None);
        };
        let serving = serving(row)?;
        let mut bytes = [0; 16];
        for (byte, digits) in bytes.iter_mut().zip(live.generation.as_bytes().chunks(2)) {
            let digits = std::str::from_utf8(digits).unwrap_or_default();
            *byte = u8::from_str_radix(digits, 16).unwrap_or_default();
        }
        let in_use = InUse {
            model: get(row, 0)?,
            origin: Origin {
                model: serving.key.clone(),
                dimensions: serving.dimensions,
                generation: bytes,
            },
            serving,
            newest: get(row, 4)?,
            generation: live.generation.clone(),
            past: live.past,
            erased: live.erased,
            state: (live.revision, live.stamp),
        };
        let there = answers[2].iter().map(|row| get(row, 0));
        let there = there.collect::<Result<_>>()?;
        Ok(Some((in_use, self.late_in(&answers[1])?, there)))
    }

    /// Brings the file up to date if it lacks many vectors or has many in vain.
    pub(crate) fn refresh_derived(&self) -> Result<()> {
        let _hold = self.hold();
        if self.vectors()?.is_none() {
            return Ok(());
        }
        let _turn = self.shared.derived.turns.take();
        let kept = self.shared.derived.kept().clone();
        let Some((in_use, late, _)) = self.in_use(kept.as_ref())? else {
            return Ok(());
        };
        let made = match kept.filter(|kept| kept.is_of(&in_use)) {
            Some(kept) => {
                let kept = with_late(kept, late, in_use.newest);
                if is_within(kept.late.len(), &kept.file, WHEN_EMBEDDED)
                    && is_within(
                        self.in_vain(&in_use, &kept.file)?,
                        &kept.file,
                        WHEN_EMBEDDED,
                    )
                {
                    return Ok(());
                }
                self.update(&in_use, &kept)?
            }
            None => self.make(&in_use)?,
        };
        self.keep_derived(&in_use, made);
        Ok(())
    }

    /// Rebuilds the file from all vectors.
    pub(crate) fn remake_derived(&self) -> Result<()> {
        let _hold = self.hold();
        let _turn = self.shared.derived.turns.take();
        if let Some((in_use, ..)) = self.in_use(None)? {
            let made = self.make(&in_use)?;
            self.keep_derived(&in_use, made);
        }
        Ok(())
    }

    /// Deletes the file, so that nothing of what was erased is left in it.
    pub(crate) fn erase_derived(&self) -> Result<()> {
        let _hold = self.hold();
        self.shared.derived.clear();
        let live = self.live()?;
        self.shared
            .derived
            .drop_others(&live.generation, live.erased);
        self.remake_derived()
    }

    /// Returns the chunks of the model in use whose vectors in the file differ from those
    /// on the server. A file that is not open counts as correct.
    pub(crate) fn wrong_in_derived(&self) -> Result<Vec<Row>> {
        let kept = self.shared.derived.kept().clone();
        let Some((in_use, ..)) = self.in_use(None)? else {
            return Ok(Vec::new());
        };
        let Some(kept) = kept.filter(|kept| kept.is_of(&in_use)) else {
            return Ok(Vec::new());
        };
        let in_use = InUse {
            newest: kept.file.upto(),
            ..in_use
        };
        let mut wrong = Vec::new();
        for next in self.pages(&in_use) {
            let (slot, vector) = next?;
            let right = kept
                .file
                .row_of(slot)
                .is_some_and(|at| kept.file.holds(at, &vector));
            if !right && wrong.last() != Some(&slot.document) {
                wrong.push(slot.document);
            }
        }
        Ok(wrong)
    }
}

/// Returns a file of a state of the index with nothing beside it.
fn kept_of(in_use: &InUse, file: VectorFile) -> Kept {
    Kept {
        origin: in_use.origin.clone(),
        model: in_use.model,
        past: in_use.past,
        erased: in_use.erased,
        serving: in_use.serving.clone(),
        file: Arc::new(file),
        late: Arc::new([]),
        upto: in_use.newest,
        seen: None,
    }
}

/// Returns a vector file with those of the vectors beside it that are there.
fn index_of(kept: &Kept, late: Arc<[LateVector]>) -> Arc<dyn VectorIndex> {
    Arc::new(FileVectors {
        serving: kept.serving.clone(),
        model: kept.model,
        file: Arc::clone(&kept.file),
        late,
    })
}

/// Adds vectors to those beside the file.
fn with_late(mut kept: Kept, late: Vec<LateVector>, newest: i64) -> Kept {
    if !late.is_empty() {
        // A chunk may have another vector by now.
        let again: HashSet<i64> = late.iter().map(|one| one.chunk).collect();
        let before = kept.late.iter().filter(|one| !again.contains(&one.chunk));
        kept.late = before.cloned().chain(late).collect();
    }
    // An older snapshot may have fewer vectors than are kept.
    kept.upto = kept.upto.max(newest);
    kept
}

fn is_within(count: usize, file: &VectorFile, (least, share): (usize, f64)) -> bool {
    count <= least.max((file.len() as f64 * share) as usize)
}

fn late_query(upto: i64, model: ModelNumber) -> Query {
    Query::new(
        "SELECT c.document, e.chunk, e.vector FROM embeddings AS e
         JOIN chunks AS c ON c.id = e.chunk WHERE e.id > $1 AND e.model = $2 ORDER BY e.id",
    )
    .with(upto)
    .with(model)
}
