use rusqlite::StatementStatus;

use super::SERVING;
use crate::store::Writer;

/// The steps SQLite takes to say which model answers, among so many vectors.
fn steps_among(vectors: usize) -> i32 {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::open(&folder.path().join("index.db"), "test").unwrap();
    let fill = format!(
        "INSERT INTO models (key, name, dimensions, serving) VALUES ('m@1', 'm', 2, 1);
         PRAGMA foreign_keys = OFF;
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {vectors})
         INSERT INTO embeddings (chunk, model, vector) SELECT i, 1, zeroblob(8) FROM n;"
    );
    let steps = writer.with(|connection| {
        connection.execute_batch(&fill)?;
        let mut statement = connection.prepare(SERVING)?;
        let key: String = statement.query_row([], |row| row.get(1))?;
        assert_eq!(key, "m@1");
        assert_eq!(statement.get_status(StatementStatus::AutoIndex), 0);
        Ok(statement.get_status(StatementStatus::VmStep))
    });
    steps.unwrap()
}

#[test]
fn which_model_answers_is_known_without_reading_its_vectors() {
    assert_eq!(steps_among(10), steps_among(1_000));
}
