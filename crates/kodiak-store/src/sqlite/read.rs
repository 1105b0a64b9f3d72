//! Reading documents, counts and the state of the index.

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row as SqlRow, params, params_from_iter};

use super::SqliteStore;
use super::entries::TOUCHED;
use super::filter::conditions;
use super::memory::list;
use crate::{Filter, Fingerprint, Name, Row, SourceStatus, StoredDocument};
use kodiak_base::error::Result;
use kodiak_rank::Corpus;
use kodiak_text::document::{Markup, SHORTEST_ID, Thread, Version};

impl SqliteStore {
    /// Returns the size of the collection. FTS5 keeps these totals in one
    /// record of its own, so that even a cold process need not count.
    pub fn corpus(&self) -> Result<Corpus> {
        let record: Option<Vec<u8>> = self.with(|connection| {
            connection
                .prepare_cached("SELECT block FROM documents_fts_data WHERE id = 1")?
                .query_row([], |row| row.get(0))
                .optional()
        })?;
        let totals = varints(&record.unwrap_or_default());
        let documents = totals.first().copied().unwrap_or(0);
        let terms: u64 = totals.iter().skip(1).sum();
        Ok(Corpus {
            documents,
            average_length: terms as f64 / documents.max(1) as f64,
        })
    }

    /// Returns the document frequency of each of these index terms.
    pub fn document_frequencies<'a>(
        &self,
        terms: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<u64>> {
        self.with(|connection| {
            let mut statement =
                connection.prepare_cached("SELECT documents FROM terms WHERE term = ?1")?;
            terms
                .into_iter()
                .map(|term| {
                    let found = statement.query_row([term], |row| row.get(0)).optional()?;
                    Ok(found.unwrap_or(0))
                })
                .collect()
        })
    }

    /// Returns the documents with these numbers, in this order. Missing ones
    /// are left out.
    pub fn documents(&self, rows: &[Row]) -> Result<Vec<StoredDocument>> {
        self.with(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT d.id, d.uid, d.source, d.key, d.kind, d.title, d.category,
                        d.created_at, d.updated_at, d.markup, d.thread, d.position, d.author,
                        d.project, d.hash, b.front, b.body,
                        (SELECT group_concat(t.name, char(10) ORDER BY dt.ordinal) FROM document_tags AS dt
                         JOIN tags AS t ON t.id = dt.tag WHERE dt.document = d.id),
                        (SELECT uid FROM documents WHERE uid > d.uid ORDER BY uid LIMIT 1),
                        (SELECT uid FROM documents WHERE uid < d.uid ORDER BY uid DESC LIMIT 1)
                 FROM json_each(?1) AS wanted
                 CROSS JOIN documents AS d ON d.id = wanted.value
                 CROSS JOIN bodies AS b ON b.document = d.id
                 WHERE d.deleted_at IS NULL ORDER BY wanted.key",
            )?;
            let documents = statement.query_map([list(rows)], stored_document)?;
            documents.collect()
        })
    }

    /// Returns the fingerprint of every document that meets `filter`.
    pub fn fingerprints(&self, filter: &Filter) -> Result<Vec<Fingerprint>> {
        let (condition, values) = conditions(filter);
        self.with(|connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT d.id, d.uid, d.hash, d.source FROM documents AS d WHERE {condition}"
            ))?;
            let rows = statement.query_map(params_from_iter(values), |row| {
                Ok(Fingerprint {
                    row: row.get(0)?,
                    uid: row.get(1)?,
                    hash: fixed(row.get_ref(2)?.as_blob()?),
                    source: row.get(3)?,
                })
            })?;
            rows.collect()
        })
    }

    /// Returns the summed lengths of the documents that meet `filter`, as the full text
    /// recorded them.
    pub fn total_length(&self, filter: &Filter) -> Result<u64> {
        let (condition, values) = conditions(filter);
        self.with(|connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT s.sz FROM documents AS d
                 CROSS JOIN documents_fts_docsize AS s ON s.id = d.id WHERE {condition}"
            ))?;
            let mut rows = statement.query(params_from_iter(values))?;
            let mut length = 0;
            while let Some(row) = rows.next()? {
                length += varints(row.get_ref(0)?.as_blob()?).iter().sum::<u64>();
            }
            Ok(length)
        })
    }

    /// Returns what identifies the state of the documents, or `None` if the full text
    /// cannot be read.
    pub fn state(&self) -> Result<Option<Vec<u8>>> {
        // Documents are read without the full text, too.
        Ok(self.counters().ok())
    }

    /// Returns what differs after every change. The full text keeps count of what is
    /// written to it, and `touch` of the documents that changed around their texts.
    fn counters(&self) -> Result<Vec<u8>> {
        self.with(|connection| {
            let mut records =
                connection.prepare_cached("SELECT block FROM documents_fts_data WHERE id = ?1")?;
            let mut state = Vec::new();
            // The totals, and the structure with its counters.
            for record in [1, 10] {
                let block: Vec<u8> = records.query_row([record], |row| row.get(0))?;
                state.extend(block.len().to_le_bytes());
                state.extend(block);
            }
            let mut named = connection.prepare_cached("SELECT value FROM meta WHERE key = ?1")?;
            for name in ["generation", TOUCHED] {
                let value: Option<String> = named.query_row([name], |row| row.get(0)).optional()?;
                state.extend(value.unwrap_or_default().into_bytes());
                state.push(0);
            }
            Ok(state)
        })
    }

    /// Returns the key of the entry that yielded a document and the version in
    /// which it was indexed.
    pub fn entry_of(&self, row: Row) -> Result<Option<(String, Version)>> {
        self.with(|connection| {
            // An index of an earlier version has documents without entries.
            let mut statement = connection.prepare_cached(
                "SELECT coalesce(e.key, d.key), e.version FROM documents AS d
                 LEFT JOIN entries AS e ON e.id = d.entry WHERE d.id = ?1",
            )?;
            let found = statement.query_row([row], |row| {
                let version = row.get_ref(1)?.as_blob_or_null()?;
                let version = version.map_or(Version::UNKNOWN, |bytes| Version(fixed(bytes)));
                Ok((row.get(0)?, version))
            });
            found.optional()
        })
    }

    /// Returns the fields of a document in the order in which they were
    /// written.
    pub fn fields(&self, row: Row) -> Result<Vec<(String, String)>> {
        self.with(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT name, value FROM fields WHERE document = ?1 ORDER BY rowid",
            )?;
            let rows = statement.query_map([row], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        })
    }

    /// Returns the texts of the documents with these numbers. Missing ones and
    /// those of more than `longest` bytes are left out.
    pub fn bodies(&self, rows: &[Row], longest: usize) -> Result<Vec<(Row, String)>> {
        self.with(|connection| {
            // SQLite knows the length without reading the text.
            let mut statement = connection.prepare_cached(
                "SELECT body FROM bodies WHERE document = ?1 AND octet_length(body) <= ?2",
            )?;
            let mut bodies = Vec::with_capacity(rows.len());
            for &row in rows {
                let body = statement
                    .query_row(params![row, longest], |found| found.get(0))
                    .optional()?;
                bodies.extend(body.map(|body| (row, body)));
            }
            Ok(bodies)
        })
    }

    /// Returns at most `limit` documents whose id begins with `prefix`
    /// (lower-case hexadecimal).
    pub fn with_id_prefix(&self, prefix: &str, filter: &Filter, limit: usize) -> Result<Vec<Name>> {
        // 'g' follows the last hexadecimal digit.
        let values = vec![prefix.to_owned().into(), prefix.to_owned().into()];
        self.names("d.uid >= ? AND d.uid < ? || 'g'", values, filter, limit)
    }

    /// Returns the documents at this path: those with this key or, if `source`
    /// is not given and no document has it, those whose key ends with it after
    /// a `/`.
    pub fn with_path(
        &self,
        source: Option<&str>,
        key: &str,
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Name>> {
        let key = Value::from(key.to_owned());
        if let Some(source) = source {
            let values = vec![source.to_owned().into(), key];
            return self.names("d.source = ? AND d.key = ?", values, filter, limit);
        }
        let exact = self.names("d.key = ?", vec![key.clone()], filter, limit)?;
        if !exact.is_empty() {
            return Ok(exact);
        }
        let ends = "substr(d.key, -length(?) - 1) = '/' || ?";
        self.names(ends, vec![key.clone(), key], filter, limit)
    }

    /// Returns the documents with this title, ignoring ASCII case.
    pub fn with_title(&self, title: &str, filter: &Filter, limit: usize) -> Result<Vec<Name>> {
        let values = vec![title.to_owned().into()];
        self.names("d.title = ? COLLATE NOCASE", values, filter, limit)
    }

    /// Calls `visit` with the name of every document that matches `filter`, so
    /// that similar names can be found.
    pub fn each_name(&self, filter: &Filter, visit: &mut dyn FnMut(Name)) -> Result<()> {
        let (condition, values) = conditions(filter);
        self.with(|connection| {
            let mut statement = connection.prepare(&format!(
                "SELECT d.id, d.source, d.key, d.title FROM documents AS d WHERE {condition}"
            ))?;
            let mut rows = statement.query(params_from_iter(values))?;
            while let Some(row) = rows.next()? {
                visit((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
            }
            Ok(())
        })
    }

    fn names(
        &self,
        condition: &str,
        mut values: Vec<Value>,
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Name>> {
        let (admitted, more) = conditions(filter);
        values.extend(more);
        self.with(|connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT d.id, d.source, d.key, d.title FROM documents AS d
                 WHERE {condition} AND {admitted} ORDER BY d.source, d.key LIMIT {limit}"
            ))?;
            let rows = statement.query_map(params_from_iter(values), |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })?;
            rows.collect()
        })
    }

    /// Returns the sources in the index with their counts, sorted by name.
    pub fn sources(&self) -> Result<Vec<SourceStatus>> {
        self.with(|connection| {
            let mut statement = connection.prepare(
                "SELECT s.name, s.place, s.synced_at,
                        (SELECT count(*) FROM documents AS d
                         WHERE d.source = s.name AND d.deleted_at IS NULL)
                 FROM sources AS s ORDER BY s.name",
            )?;
            let rows = statement.query_map([], |row| {
                Ok(SourceStatus {
                    name: row.get(0)?,
                    location: row.get(1)?,
                    synced_at: row.get(2)?,
                    documents: row.get(3)?,
                    ..SourceStatus::default()
                })
            })?;
            let mut sources: Vec<SourceStatus> = rows.collect::<rusqlite::Result<_>>()?;
            for source in &mut sources {
                source.skipped = pairs(
                    connection,
                    "SELECT key, skipped FROM entries WHERE source = ?1
                     AND skipped IS NOT NULL ORDER BY key",
                    &source.name,
                )?;
                source.problems = pairs(
                    connection,
                    "SELECT key, problem FROM documents WHERE source = ?1
                     AND problem IS NOT NULL AND deleted_at IS NULL ORDER BY key",
                    &source.name,
                )?;
            }
            Ok(sources)
        })
    }

    /// Returns the tags of the documents that meet `filter`, each with the number
    /// of those documents, sorted by name.
    pub fn tags(&self, filter: &Filter) -> Result<Vec<(String, u64)>> {
        let (condition, values) = conditions(filter);
        let sql = format!(
            "SELECT t.name, count(*) FROM tags AS t
               JOIN document_tags AS dt ON dt.tag = t.id
               JOIN documents AS d ON d.id = dt.document
              WHERE {condition} GROUP BY t.id ORDER BY t.name"
        );
        self.counts(&sql, values)
    }

    /// Returns the projects of the documents that meet `filter`, each with the
    /// number of those documents, sorted by name.
    pub fn projects(&self, filter: &Filter) -> Result<Vec<(String, u64)>> {
        let (condition, values) = conditions(filter);
        let sql = format!(
            "SELECT d.project, count(*) FROM documents AS d
              WHERE d.project IS NOT NULL AND {condition}
              GROUP BY d.project ORDER BY d.project"
        );
        self.counts(&sql, values)
    }

    /// Runs a query that yields names with counts.
    fn counts(&self, sql: &str, values: Vec<Value>) -> Result<Vec<(String, u64)>> {
        self.with(|connection| {
            let mut statement = connection.prepare_cached(sql)?;
            let pair = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get::<_, i64>(1)? as u64));
            let counts = statement.query_map(params_from_iter(values), pair)?;
            counts.collect()
        })
    }

    /// Returns the sources that a filter admits, each with its location.
    pub fn locations(&self, filter: &Filter) -> Result<Vec<(String, String)>> {
        let places: Vec<(String, String)> = self.with(|connection| {
            let mut statement =
                connection.prepare_cached("SELECT name, place FROM sources ORDER BY name")?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        })?;
        let wanted = |(name, _): &(String, String)| filter.admits_source(name);
        Ok(places.into_iter().filter(wanted).collect())
    }

    /// Returns the sources that a filter admits and that were never synced
    /// completely.
    pub fn incomplete_sources(&self, filter: &Filter) -> Result<Vec<String>> {
        let names: Vec<String> = self.with(|connection| {
            let mut statement = connection
                .prepare_cached("SELECT name FROM sources WHERE synced_at IS NULL ORDER BY name")?;
            statement.query_map([], |row| row.get(0))?.collect()
        })?;
        let wanted = |name: &String| filter.admits_source(name);
        Ok(names.into_iter().filter(wanted).collect())
    }

    /// Returns the number of distinct words in the vocabulary that occur in
    /// documents.
    pub fn vocabulary_size(&self) -> Result<u64> {
        self.with(|connection| {
            // Words that no longer occur stay in the table until the vocabulary
            // is next rebuilt.
            let sql = "SELECT count(*) FROM vocabulary WHERE documents > 0";
            connection.query_row(sql, [], |row| row.get(0))
        })
    }
}

fn pairs(
    connection: &Connection,
    sql: &str,
    source: &str,
) -> rusqlite::Result<Vec<(String, String)>> {
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([source], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

fn stored_document(row: &SqlRow<'_>) -> rusqlite::Result<StoredDocument> {
    let tags: Option<String> = row.get(17)?;
    let thread: Option<String> = row.get(10)?;
    let position = row.get(11)?;
    let uid: String = row.get(1)?;
    Ok(StoredDocument {
        row: row.get(0)?,
        short_id: shortest_id(&uid, &[row.get(18)?, row.get(19)?]),
        uid,
        source: row.get(2)?,
        key: row.get(3)?,
        kind: row.get(4)?,
        title: row.get(5)?,
        category: row.get(6)?,
        created_at: row.get(7)?,
        updated_at: row.get(8)?,
        markup: Markup::named(row.get_ref(9)?.as_str()?),
        thread: thread.map(|name| Thread { name, position }),
        author: row.get(12)?,
        project: row.get(13)?,
        hash: fixed(row.get_ref(14)?.as_blob()?),
        front: row.get(15)?,
        body: row.get(16)?,
        tags: tags
            .iter()
            .flat_map(|names| names.split('\n'))
            .map(str::to_owned)
            .collect(),
    })
}

/// Converts bytes of a known length. Any other length gives zeros, which stand
/// for an unknown value.
pub(super) fn fixed<const LENGTH: usize>(bytes: &[u8]) -> [u8; LENGTH] {
    bytes.try_into().unwrap_or([0; LENGTH])
}

/// Returns the shortest unique beginning of an id: one digit more than it
/// shares with its neighbours in the order of ids.
fn shortest_id(uid: &str, neighbours: &[Option<String>; 2]) -> String {
    let shared = |other: &String| {
        let pairs = uid.bytes().zip(other.bytes());
        pairs.take_while(|(ours, theirs)| ours == theirs).count()
    };
    let most = neighbours.iter().flatten().map(shared).max().unwrap_or(0);
    uid.chars().take(SHORTEST_ID.max(most + 1)).collect()
}

/// Decodes SQLite's variable-length integers: seven bits per byte, nine bytes
/// at most.
pub(super) fn varints(mut bytes: &[u8]) -> Vec<u64> {
    let mut numbers = Vec::new();
    while !bytes.is_empty() {
        let mut number = 0_u64;
        let mut used = 0;
        for &byte in bytes.iter().take(9) {
            used += 1;
            if used == 9 {
                number = number << 8 | u64::from(byte);
                break;
            }
            number = number << 7 | u64::from(byte & 0x7f);
            if byte & 0x80 == 0 {
                break;
            }
        }
        numbers.push(number);
        bytes = &bytes[used..];
    }
    numbers
}

#[cfg(test)]
mod unit_tests {
    use super::varints;

    #[test]
    fn variable_length_integers() {
        assert_eq!(varints(&[0x05, 0x81, 0x00, 0x7f]), [5, 128, 127]);
        assert_eq!(varints(&[]), [] as [u64; 0]);
        assert_eq!(varints(&[0xff; 9]), [u64::MAX]);
    }
}
