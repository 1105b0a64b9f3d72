//! The rank function that FTS5 calls for each row. [`kodiak_rank`] defines the
//! score.
//!
//! Everything that does not depend on the row is passed in, because FTS5's own
//! function counts the documents of each word again for every query. The length
//! of a document must be looked up, which takes longer than all the rest, so
//! this is done only if the row could be among the best.

use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::ffi;

use crate::vectors::Bitmap;
use crate::{LinkMatch, Row};
use kodiak_rank::evidence::QueryWord;
use kodiak_rank::{Bm25, Field, TermMatches};

/// The channel between the rank function and the code that collects the best rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct RankChannel(Arc<Values>);

/// The values of a channel, as bits of floats.
#[derive(Debug, Default)]
struct Values {
    /// The minimum competitive score, which the collector raises. A row that cannot
    /// reach it gets an upper bound instead of its exact score; the bound is still
    /// below the threshold.
    threshold: AtomicU64,
    /// The passage coverage of the last row with an exact score. SQL functions
    /// return one value, and the score is that value.
    coverage: AtomicU64,
    /// Whether only some documents are ranked. Checked for each row before anything
    /// else, so that a search of everything never locks.
    restricted: AtomicBool,
    /// The documents that are ranked; `None` for all. Others have no score.
    admitted: Mutex<Option<Arc<Bitmap>>>,
}

impl Values {
    /// Reports whether only some documents are ranked. A connection is used by one thread
    /// at a time, and passing it on synchronises.
    fn is_restricted(&self) -> bool {
        self.restricted.load(Ordering::Relaxed)
    }

    fn admits(&self, row: i64) -> bool {
        let admitted = self.admitted.lock();
        let admitted = admitted.unwrap_or_else(PoisonError::into_inner);
        admitted.as_ref().is_none_or(|rows| rows.contains(row))
    }
}

impl RankChannel {
    /// Sets the documents that are ranked; `None` for all.
    pub(crate) fn admit(&self, rows: Option<Arc<Bitmap>>) {
        self.0.restricted.store(rows.is_some(), Ordering::Relaxed);
        let admitted = self.0.admitted.lock();
        *admitted.unwrap_or_else(PoisonError::into_inner) = rows;
    }

    /// Lowers the threshold to 0: all rows are competitive.
    pub(crate) fn lower(&self) {
        self.set(0.0);
    }

    /// Sets the threshold to `score`.
    pub(crate) fn set(&self, score: f64) {
        self.0.threshold.store(score.to_bits(), Ordering::Relaxed);
    }

    /// Returns the passage coverage of the row that was ranked last.
    pub(crate) fn coverage(&self) -> f64 {
        f64::from_bits(self.0.coverage.load(Ordering::Relaxed))
    }

    /// Returns a pointer for C to hold. [`RankChannel::forget`] must get it
    /// back.
    pub(super) fn into_raw(self) -> *mut c_void {
        Arc::into_raw(self.0).cast_mut().cast()
    }

    /// Drops the channel that C held.
    pub(super) unsafe extern "C" fn forget(channel: *mut c_void) {
        // SAFETY: made by `into_raw`, passed back once.
        drop(unsafe { Arc::from_raw(channel.cast::<Values>()) });
    }
}

/// Stands for the number and the surprise of the word of a phrase that stands for none.
const NO_WORD: [f64; 2] = [-1.0, 0.0];

/// Everything that the rank function needs besides the row, passed as one blob.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RankParameters {
    /// The parameters of the score.
    pub(crate) bm25: Bm25,
    /// The mean number of terms in a document.
    pub(crate) average_length: f64,
    /// The inverse document frequency of each phrase of the expression, in
    /// order, with the word it stands for; 0 excludes a phrase from the score.
    pub(crate) phrases: Vec<(f64, Option<QueryWord>)>,
    /// The phrases in the texts of links, each with its number in the expression.
    pub(crate) linked: Vec<LinkMatch>,
}

impl RankParameters {
    pub(crate) fn to_blob(&self) -> Vec<u8> {
        let mut bm25 = self.bm25;
        let own = bm25.numbers().map(|number| *number);
        let phrases = self.phrases.iter();
        let phrases = phrases.flat_map(|&(weight, word)| {
            let [number, surprise] =
                word.map_or(NO_WORD, |word| [f64::from(word.number), word.surprise]);
            [weight, number, surprise]
        });
        let linked = self.linked.iter();
        let linked =
            linked.flat_map(|one| [one.row as f64, one.phrase as f64, f64::from(one.documents)]);
        let whole = [self.average_length, self.phrases.len() as f64];
        let numbers = own.into_iter().chain(whole).chain(phrases).chain(linked);
        numbers.flat_map(f64::to_le_bytes).collect()
    }

    fn from_blob(blob: &[u8]) -> Option<Self> {
        let mut numbers = blob
            .chunks_exact(8)
            .filter_map(|bytes| Some(f64::from_le_bytes(bytes.try_into().ok()?)));
        let mut bm25 = Bm25::default();
        for own in bm25.numbers() {
            *own = numbers.next()?;
        }
        let average_length = numbers.next()?.max(1.0);
        let mut phrases = Vec::new();
        for _ in 0..numbers.next()? as usize {
            let (weight, number) = (numbers.next()?, numbers.next()?);
            let surprise = numbers.next()?;
            let word = (number >= 0.0).then_some(QueryWord {
                number: number as u32,
                surprise,
            });
            phrases.push((weight, word));
        }
        let mut linked = Vec::new();
        while let Some(row) = numbers.next() {
            let (phrase, documents) = (numbers.next()?, numbers.next()?);
            linked.push(LinkMatch {
                row: row as Row,
                phrase: phrase as usize,
                documents: documents as u32,
            });
        }
        Some(Self {
            bm25,
            average_length,
            phrases,
            linked,
        })
    }
}

/// Computes the score of a row; higher is better.
pub(super) unsafe extern "C" fn rank(
    api: *const ffi::Fts5ExtensionApi,
    row: *mut ffi::Fts5Context,
    result: *mut ffi::sqlite3_context,
    count: c_int,
    values: *mut *mut ffi::sqlite3_value,
) {
    // A panic must not cross into C.
    let scored = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: FTS5 passes its own API and row for the duration of the call, and
        // `count` values.
        unsafe {
            if is_admitted(&*api, row) == Some(false) {
                return Some(None);
            }
            score(&*api, row, count, values).map(Some)
        }
    }));
    // SAFETY: FTS5 passes the result for the duration of the call.
    unsafe {
        match scored {
            Ok(Some(Some(score))) => ffi::sqlite3_result_double(result, score),
            Ok(Some(None)) => ffi::sqlite3_result_null(result),
            Ok(None) | Err(_) => ffi::sqlite3_result_error_code(result, ffi::SQLITE_ERROR),
        }
    }
}

unsafe extern "C" fn ranking_delete(ranking: *mut c_void) {
    // A panic must not cross into C.
    let _ = catch_unwind(|| {
        // SAFETY: made by `ranking_of` with `Box::into_raw`, deleted once.
        drop(unsafe { Box::from_raw(ranking.cast::<Ranking>()) });
    });
}

/// The rank parameters of a query, and a buffer for its matches in a row.
struct Ranking {
    parameters: RankParameters,
    /// For each row that links point to, the phrases of their texts and the number of
    /// documents that have these links.
    linked: HashMap<Row, Vec<(usize, u32)>>,
    matches: TermMatches,
}

/// Returns the ranking of the query. It is read from the blob on the first row.
unsafe fn ranking_of<'a>(
    api: &ffi::Fts5ExtensionApi,
    row: *mut ffi::Fts5Context,
    count: c_int,
    values: *mut *mut ffi::sqlite3_value,
) -> Option<&'a mut Ranking> {
    // SAFETY: the auxiliary data is only ever what is set below; the value is
    // read within its length.
    unsafe {
        let known = api.xGetAuxdata?(row, 0).cast::<Ranking>();
        if !known.is_null() {
            return Some(&mut *known);
        }
        if count < 1 {
            return None;
        }
        let blob = ffi::sqlite3_value_blob(*values).cast::<u8>();
        let length = usize::try_from(ffi::sqlite3_value_bytes(*values)).ok()?;
        if blob.is_null() {
            return None;
        }
        let read = RankParameters::from_blob(std::slice::from_raw_parts(blob, length))?;
        let mut matches = TermMatches::default();
        matches.begin(&read.phrases);
        let mut linked: HashMap<Row, Vec<(usize, u32)>> = HashMap::new();
        for one in &read.linked {
            let phrases = linked.entry(one.row).or_default();
            phrases.push((one.phrase, one.documents));
        }
        let ranking = Box::into_raw(Box::new(Ranking {
            parameters: read,
            linked,
            matches,
        }));
        // On failure FTS5 has already called the destructor.
        if api.xSetAuxdata?(row, ranking.cast(), Some(ranking_delete)) != ffi::SQLITE_OK {
            return None;
        }
        Some(&mut *ranking)
    }
}

/// Reports whether a row is ranked.
unsafe fn is_admitted(api: &ffi::Fts5ExtensionApi, row: *mut ffi::Fts5Context) -> Option<bool> {
    // SAFETY: as in `rank`. The user data is the channel that `register` passed.
    unsafe {
        let channel = &*api.xUserData?(row).cast::<Values>();
        Some(!channel.is_restricted() || channel.admits(api.xRowid?(row)))
    }
}

unsafe fn score(
    api: &ffi::Fts5ExtensionApi,
    row: *mut ffi::Fts5Context,
    count: c_int,
    values: *mut *mut ffi::sqlite3_value,
) -> Option<f64> {
    // SAFETY: as in `rank`. The user data is the channel that `register`
    // passed.
    unsafe {
        let channel = &*api.xUserData?(row).cast::<Values>();
        let threshold = f64::from_bits(channel.threshold.load(Ordering::Relaxed));
        let ranking = ranking_of(api, row, count, values)?;
        ranking.look(api, row)?;
        let Ranking {
            parameters,
            matches,
            ..
        } = ranking;
        let RankParameters {
            bm25,
            average_length,
            ..
        } = parameters;
        let scored = matches.score(bm25, *average_length, threshold, |field| {
            length_of(api, row, field.map_or(ALL_COLUMNS, column_of))
        })?;
        let coverage = scored.coverage.to_bits();
        channel.coverage.store(coverage, Ordering::Relaxed);
        Some(scored.score)
    }
}

/// The columns of the full text, in order.
const COLUMNS: [Field; 3] = [Field::Title, Field::Body, Field::Tags];

fn column_of(field: Field) -> c_int {
    let place = COLUMNS.iter().position(|&column| column == field);
    place.map_or(ALL_COLUMNS, |place| place as c_int)
}

fn field_of(column: c_int) -> Option<Field> {
    COLUMNS.get(usize::try_from(column).ok()?).copied()
}

/// The number that stands for all columns when FTS5 is asked for a length.
const ALL_COLUMNS: c_int = -1;

/// Returns the number of terms in a column of a row. FTS5 looks up all columns
/// at once.
unsafe fn length_of(
    api: &ffi::Fts5ExtensionApi,
    row: *mut ffi::Fts5Context,
    column: c_int,
) -> Option<f64> {
    let mut length: c_int = 0;
    // SAFETY: FTS5's own API and row, and a valid pointer for the number.
    let code = unsafe { api.xColumnSize?(row, column, &raw mut length) };
    (code == ffi::SQLITE_OK).then(|| f64::from(length))
}

impl Ranking {
    /// Finds the positions of each phrase in a row.
    unsafe fn look(
        &mut self,
        api: &ffi::Fts5ExtensionApi,
        row: *mut ffi::Fts5Context,
    ) -> Option<()> {
        self.matches.clear();
        let linked = if self.linked.is_empty() {
            None
        } else {
            // SAFETY: FTS5's own API and row.
            self.linked.get(&unsafe { api.xRowid?(row) })
        };
        for (phrase, &(idf, word)) in self.parameters.phrases.iter().enumerate() {
            if idf == 0.0 {
                continue;
            }
            self.matches.phrase(idf, word);
            for &(_, documents) in linked
                .into_iter()
                .flatten()
                .filter(|(number, _)| *number == phrase)
            {
                self.matches.linked(documents, &self.parameters.bm25);
            }
            // SAFETY: FTS5's own API and row; the iterator is its plain struct,
            // filled by xPhraseFirst before xPhraseNext reads it.
            unsafe {
                let (first, next) = (api.xPhraseFirst?, api.xPhraseNext?);
                let mut iterator: ffi::Fts5PhraseIter = std::mem::zeroed();
                let (mut column, mut place): (c_int, c_int) = (-1, -1);
                let phrase = phrase as c_int;
                if first(
                    row,
                    phrase,
                    &raw mut iterator,
                    &raw mut column,
                    &raw mut place,
                ) != ffi::SQLITE_OK
                {
                    return None;
                }
                while column >= 0 {
                    if let (Some(field), Ok(position)) = (field_of(column), u32::try_from(place)) {
                        let bm25 = &self.parameters.bm25;
                        self.matches.occurrence(field, position, bm25);
                    }
                    next(row, &raw mut iterator, &raw mut column, &raw mut place);
                }
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_arrive_as_they_were_sent() {
        let word = |number, surprise| Some(QueryWord { number, surprise });
        let mut sent = RankParameters {
            bm25: Bm25::default(),
            average_length: 21.0,
            phrases: vec![(0.25, word(0, 0.5)), (0.0, None), (7.5, word(3, 6.25))],
            linked: vec![
                LinkMatch {
                    row: 7,
                    phrase: 2,
                    documents: 3,
                },
                LinkMatch {
                    row: 1 << 50,
                    phrase: 0,
                    documents: 1,
                },
            ],
        };
        // All numbers differ, so that a mix-up would show.
        for (number, at) in sent.bm25.numbers().into_iter().zip(1..) {
            *number = f64::from(at);
        }
        let blob = sent.to_blob();
        assert_eq!(RankParameters::from_blob(&blob), Some(sent));
        assert_eq!(RankParameters::from_blob(&blob[..72]), None);
    }
}
