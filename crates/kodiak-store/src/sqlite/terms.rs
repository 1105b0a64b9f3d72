//! The terms of the full text, and how many documents have each.

use std::ops::ControlFlow;

use rusqlite::{OptionalExtension, params_from_iter};

use super::SqliteStore;
use super::filter::conditions;
use super::fts5::verbatim;
use crate::vectors::Bitmap;
use crate::{Expression, Filter, Phrase, Row, Terms};
use kodiak_base::error::Result;
use kodiak_rank::Corpus;

impl Terms for SqliteStore {
    fn corpus(&self) -> Result<Corpus> {
        // FTS5 keeps these totals in one record, so that even a cold process need not count.
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

    fn total_length(&self, filter: &Filter) -> Result<u64> {
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

    fn rows_with_term(&self, term: &str, among: &Bitmap) -> Result<Vec<Row>> {
        let phrase = Expression::Phrase(Phrase {
            text: term.to_owned(),
            ..Phrase::default()
        });
        let mut rows = Vec::new();
        verbatim::during(|| {
            self.each_match(&phrase, |row| {
                if among.contains(row) {
                    rows.push(row);
                }
                ControlFlow::Continue(())
            })
        })?;
        Ok(rows)
    }
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
mod tests {
    use super::varints;

    #[test]
    fn variable_length_integers() {
        assert_eq!(varints(&[0x05, 0x81, 0x00, 0x7f]), [5, 128, 127]);
        assert_eq!(varints(&[]), [] as [u64; 0]);
        assert_eq!(varints(&[0xff; 9]), [u64::MAX]);
    }
}
