//! Tests that the full text written with a document equals that of the tables.

use proptest::prelude::*;

use crate::SqliteWriter;
use crate::prelude::*;
use kodiak_text::document::Document;
use kodiak_text::text::Stemming;
use kodiak_text::{AnalyzedDocument, chunk::ChunkOptions};

fn document(key: &str, title: &str, body: &str, tags: &[&str]) -> Document {
    Document {
        source: "notes".into(),
        key: key.into(),
        kind: "note".into(),
        title: title.into(),
        body: body.into(),
        tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
        ..Document::default()
    }
}

fn writer(stemming: Stemming) -> (tempfile::TempDir, SqliteWriter) {
    let folder = tempfile::tempdir().unwrap();
    let writer = SqliteWriter::open(&folder.path().join("index.db"), "test").unwrap();
    (folder, writer.with_stemming(stemming).unwrap())
}

type Instance = (String, i64, String, i64);

/// Returns every term of the full text with its row, column and position, and
/// the same for the view when it is tokenised without replay.
fn instances(writer: &SqliteWriter) -> (Vec<Instance>, Vec<Instance>) {
    let read = |table: &str| {
        let sql = format!("SELECT term, doc, col, offset FROM temp.{table} ORDER BY 2, 3, 4, 1");
        writer.with(|connection| {
            let mut statement = connection.prepare(&sql)?;
            let rows = statement.query_map([], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })?;
            rows.collect::<rusqlite::Result<Vec<Instance>>>()
        })
    };
    writer
        .with(|connection| {
            connection.execute_batch(
                "CREATE VIRTUAL TABLE temp.anew USING fts5 (title, body, tags, content = '',
                     contentless_delete = 1, tokenize = 'kodiak');
                 INSERT INTO temp.anew (rowid, title, body, tags)
                 SELECT id, title, body, tags FROM documents_text;
                 CREATE VIRTUAL TABLE temp.kept_terms USING fts5vocab(main, documents_fts, instance);
                 CREATE VIRTUAL TABLE temp.anew_terms USING fts5vocab(temp, anew, instance);",
            )
        })
        .unwrap();
    let found = (read("kept_terms").unwrap(), read("anew_terms").unwrap());
    writer
        .with(|connection| {
            connection.execute_batch(
                "DROP TABLE temp.kept_terms; DROP TABLE temp.anew_terms; DROP TABLE temp.anew",
            )
        })
        .unwrap();
    found
}

#[test]
fn the_full_text_is_that_of_the_tables() {
    for stemming in [Stemming::English, Stemming::None] {
        let (_folder, mut writer) = writer(stemming);
        writer.begin().unwrap();
        let mut analyzer = writer.analyzer();
        for (key, title, body, tags) in [
            (
                "a",
                "Running",
                "runs through 数据库 and ends",
                &["Fruit", "zest"][..],
            ),
            // In another order and another case than in the first spelling.
            ("b", "body", "body", &["ZEST", "fruit", "new words"]),
            ("c", "", "", &[]),
            ("a", "Replaced", "once more กขคง", &["zest", "Fruit"]),
        ] {
            let made = analyzer.analyze(document(key, title, body, tags));
            writer.put(&made).unwrap();
        }
        // Analysed for another index, so it must be analysed again.
        let other = match stemming {
            Stemming::English => Stemming::None,
            Stemming::None => Stemming::English,
        };
        let mut foreign = kodiak_text::Analyzer::new(ChunkOptions::default(), other);
        let made = foreign.analyze(document("d", "Running", "databases", &["cats"]));
        writer.put(&made).unwrap();
        writer.remove("notes", "c").unwrap();
        writer.commit().unwrap();
        let (kept, anew) = instances(&writer);
        assert_eq!(kept, anew);
        assert_eq!(kept.len(), 18, "{kept:?}");
        assert_eq!(writer.examine().unwrap(), []);
    }
}

#[test]
fn plain_sql_is_followed_again_once_a_transaction_has_ended() {
    let (_folder, mut writer) = writer(Stemming::English);
    let put = |writer: &mut SqliteWriter, key| {
        let made = AnalyzedDocument::new(document(key, "Alpha", "pears", &[]));
        writer.begin().unwrap();
        writer.put(&made).unwrap();
    };
    put(&mut writer, "a");
    writer.commit().unwrap();
    put(&mut writer, "b");
    writer.roll_back().unwrap();
    for change in [
        "UPDATE documents SET title = 'Beta'",
        "UPDATE bodies SET body = 'plums'",
    ] {
        writer
            .with(|connection| connection.execute_batch(change))
            .unwrap();
        let (kept, anew) = instances(&writer);
        assert_eq!(kept, anew, "{change}");
        assert_eq!(kept.len(), 2);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn any_documents_keep_tables_and_full_text_in_step(
        documents in prop::collection::vec(
            ("[a-d]", "[a-cé 数据]{0,8}", "(?s)[a-cA-Cés0-9 数据库กขค#\\n]{0,40}",
             prop::collection::vec("[abAB]{1,2}", 0..3)),
            1..8
        ),
        removed in "[a-d]"
    ) {
        let (_folder, mut writer) = writer(Stemming::English);
        writer.begin().unwrap();
        let mut analyzer = writer.analyzer();
        for (key, title, body, tags) in &documents {
            let tags: Vec<&str> = tags.iter().map(String::as_str).collect();
            writer.put(&analyzer.analyze(document(key, title, body, &tags))).unwrap();
        }
        writer.remove("notes", &removed).unwrap();
        writer.commit().unwrap();
        let (kept, anew) = instances(&writer);
        prop_assert_eq!(kept, anew);
        prop_assert_eq!(writer.examine().unwrap(), []);
    }
}

/// Every statement that may have to be undone halfway makes FTS5 write a
/// separate segment, which takes more time than all the rest.
#[test]
fn a_batch_becomes_one_segment() {
    let (_folder, mut writer) = writer(Stemming::English);
    writer.begin().unwrap();
    for number in 0..50 {
        let key = number.to_string();
        let version = kodiak_text::document::Version::of(key.as_bytes());
        let entry = writer.put_entry("notes", &key, version, 9, None).unwrap();
        let tags: &[&str] = &["common", if number % 2 == 0 { "even" } else { "odd" }];
        let made = AnalyzedDocument::new(document(&key, "Pears", "some pears", tags));
        writer.put_from(entry, &made).unwrap();
    }
    writer.commit().unwrap();
    let segments = writer.with(|connection| {
        let sql = "SELECT count(DISTINCT segid) FROM documents_fts_idx";
        connection.query_row(sql, [], |row| row.get::<_, i64>(0))
    });
    assert_eq!(segments.unwrap(), 1);
}
