//! What goes wrong with a server, and what must not go wrong with it. The servers are those
//! of `KODIAK_TEST_POSTGRES`.

mod claiming;
mod crowded;
mod deriving;
mod erased;
mod going_back;
mod merging;
mod relay;
mod silence;
mod trouble;
mod versions;
mod writing;

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::pool::Pool;
use crate::value::{Query, get};
use crate::{Address, PostgresIndex};
use kodiak_base::error::{Cause, Error, Result};
use kodiak_store::prelude::*;
use kodiak_store::{Filter, Store, Writer, wait_for_lock};
use kodiak_text::AnalyzedDocument;
use kodiak_text::document::{Document, Version};

const VARIABLE: &str = "KODIAK_TEST_POSTGRES";

/// An index in a schema of its own, which is deleted in the end.
struct Own {
    index: PostgresIndex,
    address: Address,
}

impl Drop for Own {
    fn drop(&mut self) {
        let _ = self.index.delete();
    }
}

impl Own {
    /// Runs statements beside the index.
    fn execute(&self, sql: &str) {
        let pool = Pool::new(self.address.clone());
        let path = format!("SET search_path TO {}", self.address.schema);
        pool.fresh()
            .unwrap()
            .send(Some(&path), &[Query::new(sql)], None)
            .unwrap();
    }

    /// Ends the connections of the server to others, without a word to them.
    fn end_connections(&self) {
        self.execute(&format!(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
             WHERE pid <> pg_backend_pid() AND application_name = '{}'",
            self.address.schema
        ));
    }
}

/// Returns an index that was never written on each server.
fn servers() -> Vec<Own> {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let all = std::env::var(VARIABLE).unwrap_or_default();
    let servers = all.split_whitespace().map(|address| {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let schema = format!("kodiak_own_{}_{number}", std::process::id());
        let mut address = Address::parse(address).unwrap().with_schema(&schema);
        address.config.application_name(&schema);
        Own {
            index: PostgresIndex::new(address.clone()),
            address,
        }
    });
    let servers: Vec<Own> = servers.collect();
    assert!(!servers.is_empty(), "tests/postgres/with sets {VARIABLE}");
    servers
}

fn try_put(writer: &mut dyn Writer, key: &str, body: &str) -> Result<()> {
    let document = Document {
        source: "notes".to_owned(),
        key: key.to_owned(),
        title: key.to_owned(),
        body: body.to_owned(),
        ..Document::default()
    };
    let entry = writer.put_entry("notes", key, Version::UNKNOWN, 1, None)?;
    let analyzed = AnalyzedDocument::new(document);
    writer.put_from(entry, &analyzed).map(drop)
}

fn put(writer: &mut dyn Writer, key: &str, body: &str) {
    try_put(writer, key, body).unwrap();
}

fn try_save(index: &PostgresIndex, key: &str, body: &str) -> Result<()> {
    let mut writer = index.writer("test")?;
    writer.begin()?;
    try_put(&mut *writer, key, body)?;
    writer.commit()
}

fn save(index: &PostgresIndex, key: &str, body: &str) {
    try_save(index, key, body).unwrap();
}

fn documents(index: &PostgresIndex) -> u64 {
    index.reader().unwrap().corpus().unwrap().documents
}

fn segments(index: &PostgresIndex) -> usize {
    let reader = index.open().unwrap();
    let _hold = reader.hold();
    reader.live().unwrap().segments.len()
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn a_lost_connection_is_replaced() {
    for own in servers() {
        save(&own.index, "a.md", "bear");
        let reader = own.index.open().unwrap();
        assert_eq!(reader.corpus().unwrap().documents, 1);
        // Those that are kept are gone, and nothing was told of it.
        own.end_connections();
        assert_eq!(reader.document_frequencies(&["bear"]).unwrap(), [1]);
        own.end_connections();
        save(&own.index, "b.md", "bear");
        assert_eq!(documents(&own.index), 2);
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn a_connection_lost_in_a_transaction_leaves_nothing_behind() {
    for own in servers() {
        save(&own.index, "a.md", "bear");
        let mut writer = own.index.writer("test").unwrap();
        writer.begin().unwrap();
        put(&mut *writer, "b.md", "bear");
        writer.flush().unwrap();
        own.end_connections();
        let failed = writer.commit().unwrap_err();
        let is_lost = matches!(
            failed,
            Error::Database {
                cause: Cause::Unreachable,
                ..
            }
        );
        assert!(is_lost, "{failed}");
        drop(writer);
        assert_eq!(documents(&own.index), 1);
        save(&own.index, "b.md", "bear");
        assert_eq!(documents(&own.index), 2);
        assert!(own.index.reader().unwrap().examine().unwrap().is_empty());
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn eight_writers_at_once_lose_nothing_and_segments_stay_few() {
    const EACH: usize = 12;
    for own in servers() {
        drop(own.index.writer("test").unwrap());
        std::thread::scope(|scope| {
            for number in 0..8 {
                // Another server has nothing in common but the database.
                let index = PostgresIndex::new(own.address.clone());
                scope.spawn(move || {
                    for note in 0..EACH {
                        let patience = std::time::Duration::from_mins(2);
                        let mut writer =
                            wait_for_lock(patience, |_, _| Ok(()), || index.writer("test"))
                                .unwrap();
                        writer.begin().unwrap();
                        put(
                            &mut *writer,
                            &format!("{number}-{note}.md"),
                            "bear and honey",
                        );
                        // One that all of them write.
                        put(&mut *writer, "all.md", &format!("bear of {number} {note}"));
                        writer.commit().unwrap();
                    }
                });
            }
        });
        let reader = own.index.open().unwrap();
        let all = 8 * EACH as u64 + 1;
        assert_eq!(reader.corpus().unwrap().documents, all);
        assert_eq!(
            reader.document_frequencies(&["bear", "honei"]).unwrap(),
            [all, all - 1]
        );
        assert_eq!(reader.examine().unwrap(), []);
        // Each commit wrote one.
        assert!(segments(&own.index) < 24, "{}", segments(&own.index));
        // A merge of all changes no answer.
        let mut writer = own.index.writer("test").unwrap();
        writer.compact().unwrap();
        drop(writer);
        let reader = own.index.open().unwrap();
        assert_eq!(reader.corpus().unwrap().documents, all);
        assert_eq!(
            reader.document_frequencies(&["bear", "honei"]).unwrap(),
            [all, all - 1]
        );
        assert_eq!(reader.examine().unwrap(), []);
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn damage_is_told_and_repaired() {
    for own in servers() {
        for number in 0..3 {
            save(&own.index, &format!("{number}.md"), "bear and honey");
        }
        let answers = || {
            // A server that has seen nothing yet.
            let index = PostgresIndex::new(own.address.clone());
            index.open()?.document_frequencies(&["bear"])?;
            let bear = kodiak_store::Expression::Phrase(kodiak_store::Phrase {
                text: "bear".to_owned(),
                ..kodiak_store::Phrase::default()
            });
            index.open()?.count(&bear, &Filter::default())
        };
        assert_eq!(answers().unwrap(), 3);
        own.execute(
            "UPDATE postings SET positions = set_byte(positions, 5, get_byte(positions, 5) # 1)
             WHERE term = 'bear' AND segment = (SELECT max(id) FROM segments)",
        );
        let damaged = answers().unwrap_err();
        assert!(matches!(damaged, Error::Corrupt { .. }), "{damaged}");
        assert!(damaged.to_string().contains("'bear'"), "{damaged}");
        let index = PostgresIndex::new(own.address.clone());
        let findings = index.reader().unwrap().examine().unwrap();
        assert!(
            findings[0].problem.contains("damaged postings"),
            "{findings:?}"
        );
        index.writer("test").unwrap().repair().unwrap();
        assert_eq!(index.reader().unwrap().examine().unwrap(), []);
        assert_eq!(answers().unwrap(), 3);
        own.execute("UPDATE terms SET documents = 9 WHERE term = 'bear'");
        let findings = index.reader().unwrap().examine().unwrap();
        assert!(findings[0].problem.contains("wrong counts"), "{findings:?}");
        own.execute("DELETE FROM documents WHERE key = '1.md'");
        let findings = index.reader().unwrap().examine().unwrap();
        assert!(findings.len() > 1, "{findings:?}");
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn what_is_erased_is_in_no_table() {
    for own in servers() {
        save(&own.index, "keep.md", "bear and honey");
        save(&own.index, "secret.md", "zanzibar");
        let mut writer = own.index.writer("test").unwrap();
        let documents = [("notes".to_owned(), "secret.md".to_owned())];
        assert_eq!(writer.erase(&documents, &mut |_| {}).unwrap(), 1);
        drop(writer);
        let pool = Pool::new(own.address.clone());
        let connection = pool.fresh().unwrap();
        let path = format!("SET search_path TO {}", own.address.schema);
        let tables = Query::new(
            "SELECT table_name::text FROM information_schema.tables WHERE table_schema = $1",
        );
        let tables = tables.with(&own.address.schema);
        let tables = connection.send(Some(&path), &[tables], None).unwrap();
        assert!(tables[0].len() > 15);
        for table in &tables[0] {
            let table: &str = get(table, 0).unwrap();
            let sql = format!("SELECT count(*) FROM {table} AS t WHERE t::text LIKE '%zanzibar%'");
            let found = connection.send(None, &[Query::new(sql)], None).unwrap();
            assert_eq!(get::<i64>(&found[0][0], 0).unwrap(), 0, "{table}");
        }
        let reader = own.index.open().unwrap();
        assert_eq!(
            reader.document_frequencies(&["zanzibar", "bear"]).unwrap(),
            [0, 1]
        );
        assert_eq!(reader.examine().unwrap(), []);
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn servers_and_indexes_that_cannot_be_used_say_why() {
    for own in servers() {
        assert!(matches!(own.index.open(), Err(Error::NoIndex { .. })));
        save(&own.index, "a.md", "bear");
        let said = |result: kodiak_base::error::Result<()>| result.unwrap_err().to_string();
        let address = std::env::var(VARIABLE).unwrap_or_default();
        let address = address.split_whitespace().next().unwrap_or_default();
        let with = |options: &str, schema: &str| {
            let address = Address::parse(&format!("{address}?{options}")).unwrap();
            PostgresIndex::new(address.with_schema(schema))
        };
        let read_only = with(
            "options=-c%20default_transaction_read_only=on",
            "kodiak_none",
        );
        let refused = read_only.writer("test").map(drop).unwrap_err();
        assert!(refused.is_read_only(), "{refused}");
        let other = address.replace("/postgres", "/nowhere");
        let other = PostgresIndex::new(Address::parse(&other).unwrap());
        let refused = said(other.open().map(drop));
        assert!(refused.contains("create the database"), "{refused}");
        let (start, _) = address.rsplit_once(':').unwrap();
        let closed = PostgresIndex::new(Address::parse(&format!("{start}:1/postgres")).unwrap());
        let refused = said(closed.open().map(drop));
        assert!(refused.contains("refused"), "{refused}");
        // The server has no TLS.
        let refused = said(with("sslmode=require", "kodiak_none").open().map(drop));
        assert!(refused.contains("TLS"), "{refused}");
        own.execute("INSERT INTO migrations (number) VALUES (99)");
        for refused in [
            own.index.open().map(drop),
            own.index.writer("test").map(drop),
        ] {
            assert!(
                matches!(refused, Err(Error::NewerIndex { found: 99, .. })),
                "{refused:?}"
            );
        }
        own.execute("DELETE FROM migrations WHERE number = 99");
        assert_eq!(documents(&own.index), 1);
    }
}
