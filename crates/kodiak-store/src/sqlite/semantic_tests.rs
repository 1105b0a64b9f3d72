use rusqlite::{Params, StatementStatus};

use super::super::vector_file::IN_ORDER;
use super::{SERVING, UNMERGED};
use crate::SqliteWriter;

/// Returns the number of steps that SQLite takes to find the first row of a
/// result among this many vectors.
fn steps_among(vectors: usize, sql: &str, values: impl Params) -> i32 {
    let folder = tempfile::tempdir().unwrap();
    let writer = SqliteWriter::open(&folder.path().join("index.db"), "test").unwrap();
    let fill = format!(
        "INSERT INTO models (key, name, dimensions, serving) VALUES ('m@1', 'm', 2, 1);
         PRAGMA foreign_keys = OFF;
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {vectors})
         INSERT INTO chunks SELECT i, i, 0, 0, 1, 1, 1, '', zeroblob(16) FROM n;
         INSERT INTO embeddings (chunk, model, vector) SELECT id, 1, zeroblob(8) FROM chunks;
         -- As a first sync leaves it: sizes are known, but not of what comes later.
         ANALYZE chunks;"
    );
    let steps = writer.with(|connection| {
        connection.execute_batch(&fill)?;
        let mut statement = connection.prepare(sql)?;
        statement.query_row(values, |_| Ok(()))?;
        assert_eq!(statement.get_status(StatementStatus::AutoIndex), 0);
        Ok(statement.get_status(StatementStatus::VmStep))
    });
    steps.unwrap()
}

#[test]
fn which_model_answers_is_known_without_reading_its_vectors() {
    assert_eq!(
        steps_among(10, SERVING, []),
        steps_among(1_000, SERVING, [])
    );
}

#[test]
fn what_came_later_is_found_without_reading_what_was_there() {
    assert_eq!(
        steps_among(10, UNMERGED, [9, 1]),
        steps_among(1_000, UNMERGED, [999, 1])
    );
}

#[test]
fn millions_of_vectors_are_not_sorted_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let writer = SqliteWriter::open(&folder.path().join("index.db"), "test").unwrap();
    let sorted = writer.with(|connection| {
        // The statistics that SQLite has after the first sync of a million
        // documents.
        connection.execute_batch(
            "ANALYZE;
             INSERT INTO sqlite_stat1 VALUES ('chunks', 'chunks_document', '3000000 3 1');
             ANALYZE sqlite_schema;",
        )?;
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {IN_ORDER}"))?;
        let plan = statement.query_map([1, 9], |row| row.get::<_, String>(3))?;
        plan.collect::<rusqlite::Result<Vec<_>>>()
    });
    let plan = sorted.unwrap().join("\n");
    assert!(!plan.contains("TEMP B-TREE"), "{plan}");
}
