//! The one unsafe room: our tokenizer and our rank function, as FTS5 calls them.
//!
//! The tokenizer hands text to [`crate::text`] and the terms back. The rank
//! function is BM25 with everything that does not depend on the row passed in:
//! FTS5's own counts each word's documents again for every query.

#![expect(
    unsafe_code,
    reason = "SQLite calls tokenizers and auxiliary functions through C function pointers"
)]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use rusqlite::{Connection, ffi};

use crate::store::Bm25;
use crate::text::{Cutter, Purpose};

/// The tokenizer's name in `CREATE VIRTUAL TABLE … tokenize = …`.
const TOKENIZER: &CStr = c"kodiak";
/// The rank function's name in SQL.
const RANK: &CStr = c"kodiak_rank";

/// What the rank function needs to know beside the row: passed as one blob.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RankParameters {
    /// How much what counts.
    pub(super) bm25: Bm25,
    /// The mean number of terms in a document.
    pub(super) average_length: f64,
    /// Inverse document frequency of each phrase of the expression, in order;
    /// 0 leaves a phrase out of the score.
    pub(super) phrases: Vec<f64>,
}

impl RankParameters {
    pub(super) fn to_blob(&self) -> Vec<u8> {
        let Bm25 {
            k1,
            b,
            title,
            tags,
            title_bonus,
        } = self.bm25;
        let own = [k1, b, title, tags, title_bonus, self.average_length];
        own.iter()
            .chain(&self.phrases)
            .flat_map(|number| number.to_le_bytes())
            .collect()
    }

    fn from_blob(blob: &[u8]) -> Option<Self> {
        let numbers: Vec<f64> = blob
            .chunks_exact(8)
            .filter_map(|bytes| Some(f64::from_le_bytes(bytes.try_into().ok()?)))
            .collect();
        let (&[k1, b, title, tags, title_bonus, average_length], phrases) =
            numbers.split_first_chunk()?;
        Some(Self {
            bm25: Bm25 {
                k1,
                b,
                title,
                tags,
                title_bonus,
            },
            average_length: average_length.max(1.0),
            phrases: phrases.to_vec(),
        })
    }
}

/// Makes tokenizer and rank function known to a connection. Every connection
/// to an index needs this before it touches the full text.
pub(super) fn register(connection: &Connection) -> rusqlite::Result<()> {
    let api = fts5_api(connection)?;
    let mut tokenizer = ffi::fts5_tokenizer {
        xCreate: Some(tokenizer_create),
        xDelete: Some(tokenizer_delete),
        xTokenize: Some(tokenizer_tokenize),
    };
    // SAFETY: `api` belongs to this open connection; FTS5 copies the struct and
    // the names; the functions are `'static`.
    unsafe {
        if let Some(create) = (*api).xCreateTokenizer {
            check(create(
                api,
                TOKENIZER.as_ptr(),
                ptr::null_mut(),
                &raw mut tokenizer,
                None,
            ))?;
        }
        if let Some(create) = (*api).xCreateFunction {
            check(create(
                api,
                RANK.as_ptr(),
                ptr::null_mut(),
                Some(rank),
                None,
            ))?;
        }
    }
    Ok(())
}

fn check(code: c_int) -> rusqlite::Result<()> {
    if code == ffi::SQLITE_OK {
        return Ok(());
    }
    Err(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None))
}

fn fts5_api(connection: &Connection) -> rusqlite::Result<*mut ffi::fts5_api> {
    let mut api: *mut ffi::fts5_api = ptr::null_mut();
    let mut statement: *mut ffi::sqlite3_stmt = ptr::null_mut();
    // SAFETY: the documented way to the FTS5 API: `SELECT fts5(?1)` with a
    // pointer of type "fts5_api_ptr" bound, which outlives the statement.
    unsafe {
        let sql = c"SELECT fts5(?1)";
        check(ffi::sqlite3_prepare_v2(
            connection.handle(),
            sql.as_ptr(),
            -1,
            &raw mut statement,
            ptr::null_mut(),
        ))?;
        ffi::sqlite3_bind_pointer(
            statement,
            1,
            (&raw mut api).cast::<c_void>(),
            c"fts5_api_ptr".as_ptr(),
            None,
        );
        ffi::sqlite3_step(statement);
        check(ffi::sqlite3_finalize(statement))?;
    }
    if api.is_null() {
        return check(ffi::SQLITE_ERROR).map(|()| api);
    }
    Ok(api)
}

unsafe extern "C" fn tokenizer_create(
    _context: *mut c_void,
    _arguments: *mut *const c_char,
    _count: c_int,
    out: *mut *mut ffi::Fts5Tokenizer,
) -> c_int {
    let cutter = Box::<Cutter>::default();
    // SAFETY: FTS5 passes a valid place for the handle and gives it back to
    // `tokenizer_delete` exactly once.
    unsafe { *out = Box::into_raw(cutter).cast() };
    ffi::SQLITE_OK
}

unsafe extern "C" fn tokenizer_delete(tokenizer: *mut ffi::Fts5Tokenizer) {
    // SAFETY: made by `tokenizer_create`, deleted once.
    drop(unsafe { Box::from_raw(tokenizer.cast::<Cutter>()) });
}

type TokenCallback =
    unsafe extern "C" fn(*mut c_void, c_int, *const c_char, c_int, c_int, c_int) -> c_int;

unsafe extern "C" fn tokenizer_tokenize(
    tokenizer: *mut ffi::Fts5Tokenizer,
    context: *mut c_void,
    flags: c_int,
    text: *const c_char,
    length: c_int,
    callback: Option<TokenCallback>,
) -> c_int {
    let (Some(callback), false) = (callback, text.is_null()) else {
        return ffi::SQLITE_OK;
    };
    // SAFETY: FTS5 passes `length` readable bytes and a tokenizer of ours that
    // it uses from one thread at a time.
    let (bytes, cutter) = unsafe {
        let length = usize::try_from(length).unwrap_or(0);
        let bytes = std::slice::from_raw_parts(text.cast::<u8>(), length);
        (bytes, &mut *tokenizer.cast::<Cutter>())
    };
    let text = String::from_utf8_lossy(bytes);
    let purpose = if flags & ffi::FTS5_TOKENIZE_PREFIX != 0 {
        Purpose::Prefix
    } else if flags & ffi::FTS5_TOKENIZE_QUERY != 0 {
        Purpose::Query
    } else {
        cutter.remember();
        Purpose::Document
    };
    // A panic must not cross into C.
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        cutter.each_term(&text, purpose, |term| {
            let flags = if term.tail {
                ffi::FTS5_TOKEN_COLOCATED
            } else {
                0
            };
            // SAFETY: FTS5 copies the term before it returns.
            let code = unsafe {
                callback(
                    context,
                    flags,
                    term.text.as_ptr().cast(),
                    term.text.len() as c_int,
                    term.range.start as c_int,
                    term.range.end as c_int,
                )
            };
            if code == ffi::SQLITE_OK {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(code)
            }
        })
    }));
    match outcome {
        Ok(ControlFlow::Continue(())) => ffi::SQLITE_OK,
        Ok(ControlFlow::Break(code)) => code,
        Err(_) => ffi::SQLITE_ERROR,
    }
}

/// BM25 over the weighted columns; higher is better.
unsafe extern "C" fn rank(
    api: *const ffi::Fts5ExtensionApi,
    row: *mut ffi::Fts5Context,
    result: *mut ffi::sqlite3_context,
    count: c_int,
    values: *mut *mut ffi::sqlite3_value,
) {
    // SAFETY: FTS5 passes its own API, row and result for the duration of the
    // call, and `count` values.
    unsafe {
        match score(&*api, row, count, values) {
            Some(score) => ffi::sqlite3_result_double(result, score),
            None => ffi::sqlite3_result_error_code(result, ffi::SQLITE_ERROR),
        }
    }
}

unsafe extern "C" fn parameters_delete(parameters: *mut c_void) {
    // SAFETY: made by `parameters_of` with `Box::into_raw`, deleted once.
    drop(unsafe { Box::from_raw(parameters.cast::<RankParameters>()) });
}

/// The query's parameters, read from the blob on its first row.
unsafe fn parameters_of<'a>(
    api: &ffi::Fts5ExtensionApi,
    row: *mut ffi::Fts5Context,
    count: c_int,
    values: *mut *mut ffi::sqlite3_value,
) -> Option<&'a RankParameters> {
    // SAFETY: the auxiliary data is only ever what is set below; the value is
    // read within its length.
    unsafe {
        let known = api.xGetAuxdata?(row, 0).cast::<RankParameters>();
        if !known.is_null() {
            return Some(&*known);
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
        let parameters = Box::into_raw(Box::new(read));
        // On failure FTS5 has called the destructor already.
        if api.xSetAuxdata?(row, parameters.cast(), Some(parameters_delete)) != ffi::SQLITE_OK {
            return None;
        }
        Some(&*parameters)
    }
}

unsafe fn score(
    api: &ffi::Fts5ExtensionApi,
    row: *mut ffi::Fts5Context,
    count: c_int,
    values: *mut *mut ffi::sqlite3_value,
) -> Option<f64> {
    // SAFETY: as in `rank`; the iterator is FTS5's plain struct, filled by
    // xPhraseFirst before xPhraseNext reads it.
    unsafe {
        let parameters = parameters_of(api, row, count, values)?;
        let mut length: c_int = 0;
        if api.xColumnSize?(row, -1, &raw mut length) != ffi::SQLITE_OK {
            return None;
        }
        let relative = f64::from(length) / parameters.average_length;
        let Bm25 {
            k1,
            b,
            title,
            tags,
            title_bonus,
        } = parameters.bm25;
        let weights = [title, 1.0, tags];
        let damping = k1 * (1.0 - b + b * relative);
        let (first, next) = (api.xPhraseFirst?, api.xPhraseNext?);
        let mut score = 0.0;
        for (phrase, &rarity) in parameters.phrases.iter().enumerate() {
            if rarity == 0.0 {
                continue;
            }
            let mut iterator: ffi::Fts5PhraseIter = std::mem::zeroed();
            let (mut column, mut offset): (c_int, c_int) = (-1, -1);
            let phrase = phrase as c_int;
            if first(
                row,
                phrase,
                &raw mut iterator,
                &raw mut column,
                &raw mut offset,
            ) != ffi::SQLITE_OK
            {
                return None;
            }
            let mut frequency = 0.0;
            let mut bonus = 0.0;
            while column >= 0 {
                if column == 0 {
                    bonus = title_bonus;
                }
                let weight = usize::try_from(column).ok().and_then(|at| weights.get(at));
                frequency += weight.copied().unwrap_or(0.0);
                next(row, &raw mut iterator, &raw mut column, &raw mut offset);
            }
            // With no damping either, nothing would be divided by nothing.
            let saturated = if frequency > 0.0 {
                (frequency * (k1 + 1.0)) / (frequency + damping)
            } else {
                0.0
            };
            score += rarity * (saturated + bonus);
        }
        Some(score)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        register(&connection).unwrap();
        connection
            .execute_batch(
                "CREATE VIRTUAL TABLE t USING fts5(title, body, tags, content='', contentless_delete=1, tokenize='kodiak');
                 INSERT INTO t(rowid, title, body, tags) VALUES
                    (1, 'Running', 'a note about running and databases', 'sport'),
                    (2, 'Bases', 'the database 数据库 of 日本語 words', ''),
                    (3, 'Runner', 'nothing here', 'run');",
            )
            .unwrap();
        connection
    }

    fn rowids(connection: &Connection, expression: &str) -> Vec<i64> {
        let mut statement = connection
            .prepare("SELECT rowid FROM t WHERE t MATCH ?1 ORDER BY rowid")
            .unwrap();
        let rows = statement.query_map([expression], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    }

    #[test]
    fn the_tokenizer_serves_documents_and_queries() {
        let connection = table();
        assert_eq!(rowids(&connection, "\"databases\""), [1, 2]);
        assert_eq!(rowids(&connection, "\"据库\""), [2]);
        assert_eq!(rowids(&connection, "\"库\" *"), [2]);
        assert_eq!(rowids(&connection, "\"日本語\""), [2]);
        assert_eq!(rowids(&connection, "\"run\" *"), [1, 3]);
        assert_eq!(rowids(&connection, "\"runs\" *"), [] as [i64; 0]);
        assert_eq!(rowids(&connection, "\"数据库 of 日本語 words\""), [2]);
        assert_eq!(rowids(&connection, "tags : \"runs\""), [3]);
    }

    #[test]
    fn the_rank_function_agrees_with_fts5s_own() {
        let connection = table();
        // "sport" stands in one of three documents, which have 21 terms.
        let parameters = RankParameters {
            bm25: Bm25 {
                title_bonus: 0.0,
                ..Bm25::default()
            },
            average_length: 21.0 / 3.0,
            phrases: vec![(2.5_f64 / 1.5).ln()],
        };
        let (ours, theirs): (f64, f64) = connection
            .query_row(
                "SELECT kodiak_rank(t, ?1), -bm25(t, 10.0, 1.0, 5.0) FROM t WHERE t MATCH '\"sport\"'",
                [parameters.to_blob()],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .unwrap();
        assert!(
            (ours - theirs).abs() < 1e-9 && ours > 0.0,
            "{ours} {theirs}"
        );
    }

    #[test]
    fn a_bad_blob_is_an_error_and_no_crash() {
        let connection = table();
        for blob in [vec![], vec![1, 2, 3]] {
            let outcome = connection.query_row(
                "SELECT kodiak_rank(t, ?1) FROM t WHERE t MATCH '\"note\"'",
                [blob],
                |row| row.get::<_, f64>(0),
            );
            assert!(outcome.is_err());
        }
    }
}
