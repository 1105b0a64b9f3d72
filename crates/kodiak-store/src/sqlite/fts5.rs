//! The tokenizer and the rank function, as FTS5 calls them. This and
//! `store::vectors` are the only unsafe code in the library.
//!
//! The tokenizer passes text to [`kodiak_text::text`] and the terms back to
//! FTS5, or replays terms that are already known (`replay`), or takes a query for a
//! term as it is (`verbatim`). The rank function is in `rank`.

#![expect(
    unsafe_code,
    reason = "SQLite calls tokenizers and auxiliary functions through C function pointers"
)]

mod rank;
mod replay;
pub(super) mod verbatim;

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ops::{ControlFlow, Range};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use rusqlite::{Connection, ffi};

use kodiak_text::text::{Purpose, Stemming, Tokenizer};

pub(super) use rank::{RankChannel, RankParameters};
pub(super) use replay::Replay;

/// The tokenizer's name in `CREATE VIRTUAL TABLE … tokenize = …`.
const TOKENIZER: &CStr = c"kodiak";
/// The rank function's name in SQL.
const RANK: &CStr = c"kodiak_rank";

/// Registers the tokenizer and the rank function on a connection. Every
/// connection to an index needs this before it touches the full text, with the
/// stemming of that index. Returns the channel between the rank function
/// and its caller.
pub(super) fn register(
    connection: &Connection,
    stemming: Stemming,
) -> rusqlite::Result<RankChannel> {
    let api = fts5_api(connection)?;
    // Constants, so that FTS5 may hold them as long as it likes.
    let stemming: &'static Stemming = match stemming {
        Stemming::English => &Stemming::English,
        Stemming::None => &Stemming::None,
    };
    let channel = RankChannel::default();
    let mut tokenizer = ffi::fts5_tokenizer {
        xCreate: Some(tokenizer_create),
        xDelete: Some(tokenizer_delete),
        xTokenize: Some(tokenizer_tokenize),
    };
    // SAFETY: `api` belongs to this open connection; FTS5 copies the struct and
    // the names; the functions and the stemming, which is only read, are `'static`.
    unsafe {
        if let Some(create) = (*api).xCreateTokenizer {
            check(create(
                api,
                TOKENIZER.as_ptr(),
                ptr::from_ref(stemming).cast_mut().cast(),
                &raw mut tokenizer,
                None,
            ))?;
        }
        if let Some(create) = (*api).xCreateFunction {
            check(create(
                api,
                RANK.as_ptr(),
                channel.clone().into_raw(),
                Some(rank::rank),
                Some(RankChannel::forget),
            ))?;
        }
    }
    Ok(channel)
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
    // SAFETY: this is the documented way to the FTS5 API: `SELECT fts5(?1)`
    // with a bound pointer of type "fts5_api_ptr", which outlives the
    // statement.
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
    stemming: *mut c_void,
    _arguments: *mut *const c_char,
    _count: c_int,
    out: *mut *mut ffi::Fts5Tokenizer,
) -> c_int {
    // SAFETY: FTS5 passes the pointer that `register` gave it and a valid
    // location for the handle, which it passes to `tokenizer_delete` exactly
    // once.
    unsafe {
        let ours = Tokenizer::new(*stemming.cast::<Stemming>());
        *out = Box::into_raw(Box::new(ours)).cast();
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn tokenizer_delete(tokenizer: *mut ffi::Fts5Tokenizer) {
    // SAFETY: made by `tokenizer_create`, deleted once.
    drop(unsafe { Box::from_raw(tokenizer.cast::<Tokenizer>()) });
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
    // SAFETY: FTS5 passes `length` readable bytes and a tokenizer made by
    // `tokenizer_create`, which it uses from one thread at a time.
    let (bytes, ours) = unsafe {
        let length = usize::try_from(length).unwrap_or(0);
        let bytes = std::slice::from_raw_parts(text.cast::<u8>(), length);
        (bytes, &mut *tokenizer.cast::<Tokenizer>())
    };
    let purpose = if flags & ffi::FTS5_TOKENIZE_PREFIX != 0 {
        Purpose::Prefix
    } else if flags & ffi::FTS5_TOKENIZE_QUERY != 0 {
        Purpose::Query
    } else {
        Purpose::Document
    };
    let hand_over = |term: &str, edge_gram: bool, range: Range<usize>| {
        let flags = if edge_gram {
            ffi::FTS5_TOKEN_COLOCATED
        } else {
            0
        };
        // SAFETY: FTS5 copies the term before it returns.
        let code = unsafe {
            callback(
                context,
                flags,
                term.as_ptr().cast(),
                term.len() as c_int,
                range.start as c_int,
                range.end as c_int,
            )
        };
        if code == ffi::SQLITE_OK {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(code)
        }
    };
    // A panic must not cross into C.
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        if purpose == Purpose::Document {
            // Byte offsets do not matter for what FTS5 puts into the index.
            let visit = |term: &str, edge_gram| hand_over(term, edge_gram, 0..0);
            if let Some(outcome) = replay::replay(ours.stemming(), bytes, visit) {
                return outcome;
            }
            ours.remember();
        }
        let text = String::from_utf8_lossy(bytes);
        if purpose == Purpose::Query && verbatim::is_on() && !text.is_empty() {
            return hand_over(&text, false, 0..text.len());
        }
        ours.each_term(&text, purpose, |term| {
            hand_over(term.text, term.edge_gram, term.range)
        })
    }));
    match outcome {
        Ok(ControlFlow::Continue(())) => ffi::SQLITE_OK,
        Ok(ControlFlow::Break(code)) => code,
        Err(_) => ffi::SQLITE_ERROR,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kodiak_rank::Bm25;
    use kodiak_rank::evidence::QueryWord;
    use kodiak_text::terms::TermIndexer;

    fn table() -> Connection {
        table_by(Stemming::English)
    }

    fn table_by(stemming: Stemming) -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        register(&connection, stemming).unwrap();
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
    fn the_tokenizer_can_leave_words_whole() {
        let connection = table_by(Stemming::None);
        assert_eq!(rowids(&connection, "\"databases\""), [1]);
        assert_eq!(rowids(&connection, "\"database\""), [2]);
        assert_eq!(rowids(&connection, "\"run\" *"), [1, 3]);
        assert_eq!(rowids(&connection, "\"runni\" *"), [1]);
        assert_eq!(rowids(&connection, "\"据库\""), [2]);
    }

    #[test]
    fn texts_that_are_not_the_present_document_are_tokenised() {
        let connection = table();
        let texts = ["Present", "pears and plums", "fruit"];
        let terms = TermIndexer::new(Stemming::English).index(texts);
        let replay = Replay {
            stemming: Stemming::English,
            texts,
            terms: &terms,
        };
        let insert = |row: i64, columns: [&str; 3]| {
            let sql = "INSERT INTO t(rowid, title, body, tags) VALUES (?1, ?2, ?3, ?4)";
            let [title, body, tags] = columns;
            connection.execute(sql, (row, title, body, tags)).unwrap();
        };
        replay.during(|| {
            insert(10, ["Other", "cherries", "stone"]);
            insert(11, texts);
            // Known texts in other columns, beside an unknown one.
            insert(12, ["fruit", "pears and plums!", "Present"]);
            // Queries are tokenised as usual.
            assert_eq!(rowids(&connection, "body : \"pear\""), [11, 12]);
            assert_eq!(rowids(&connection, "\"plums\""), [11, 12]);
        });
        for (expression, expected) in [
            ("\"cherry\"", &[10][..]),
            ("title : \"present\"", &[11]),
            ("tags : \"present\"", &[12]),
            ("\"pears and plums\"", &[11, 12]),
        ] {
            assert_eq!(rowids(&connection, expression), expected, "{expression}");
        }
    }

    #[test]
    fn the_rank_function_agrees_with_fts5s_own() {
        let connection = table();
        // "sport" occurs in one of three documents, which have 21 terms.
        let parameters = RankParameters {
            bm25: Bm25 {
                title_boost: 0.0,
                min_document_length: 0.0,
                proximity_weight: 0.0,
                title_coverage: 0.0,
                ..Bm25::default()
            },
            average_length: 21.0 / 3.0,
            phrases: vec![(
                (2.5_f64 / 1.5).ln(),
                Some(QueryWord {
                    number: 0,
                    surprise: 1.0,
                }),
            )],
            linked: Vec::new(),
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
