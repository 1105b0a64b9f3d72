//! What is left of what was erased: in tables, in what the server knows about them, and in its
//! files.

use std::fs;
use std::path::Path;

use super::{Own, save, servers};
use crate::pool::Pool;
use crate::value::{Query, get};
use crate::{Address, PostgresIndex};
use kodiak_base::error::Result;
use kodiak_store::Store;
use kodiak_store::prelude::*;

/// A word that is in nothing else.
const WORD: &str = "zanzibarium";

/// An index in a database of its own: a snapshot in another one keeps nothing of it.
pub(super) struct Alone {
    pub(super) own: Own,
    name: String,
    server: Address,
}

impl Drop for Alone {
    fn drop(&mut self) {
        self.own.index.shared.pool.clear();
        let connection = Pool::new(self.server.clone()).fresh().unwrap();
        let dropped = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        let _ = connection.send(Some(&dropped), &[], None);
    }
}

/// Returns the address for the user that may create databases and roles, which the user of
/// the tests may not.
fn as_administrator(address: &Address) -> Address {
    let mut address = address.clone();
    address.config.user("postgres");
    address
}

/// Returns an index in a database of its own on each server.
pub(super) fn alone(purpose: &str) -> Vec<Alone> {
    let of_server = |own: Own| {
        let name = format!("{}_{purpose}", own.address.schema);
        let server = as_administrator(&own.address);
        let connection = Pool::new(server.clone()).fresh().unwrap();
        let created = format!("CREATE DATABASE {name} OWNER kodiak");
        connection.send(Some(&created), &[], None).unwrap();
        let mut address = own.address.clone();
        address.config.dbname(&name);
        Alone {
            own: Own {
                index: PostgresIndex::new(address.clone()),
                address,
            },
            name,
            server,
        }
    };
    servers().into_iter().map(of_server).collect()
}

/// Saves many documents, one of them with a secret.
fn fill(own: &Own) {
    for number in 0..30 {
        save(&own.index, &format!("{number}.md"), "bear and honey");
    }
    save(
        &own.index,
        "secret.md",
        &format!("# {WORD}\n\n{WORD} [{WORD}]({WORD}.md)"),
    );
    own.execute("ANALYZE");
}

fn erase(own: &Own) -> Result<()> {
    let mut writer = own.index.writer("test").unwrap();
    let documents = [("notes".to_owned(), "secret.md".to_owned())];
    writer.erase(&documents, &mut |_| {}).unwrap();
    writer.empty_log()
}

/// Returns the files below a folder that have the word.
fn with_word(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            with_word(&path, found);
        } else if let Ok(bytes) = fs::read(&path)
            && bytes
                .windows(WORD.len())
                .any(|part| part == WORD.as_bytes())
        {
            found.push(path.display().to_string());
        }
    }
}

impl Alone {
    /// Returns the files of the database that have the word, once all is written.
    fn files_with_word(&self) -> Vec<String> {
        let pool = Pool::new(as_administrator(&self.own.address));
        let connection = pool.fresh().unwrap();
        connection.send(Some("CHECKPOINT"), &[], None).unwrap();
        let place = Query::new(
            "SELECT current_setting('data_directory') || '/base/' || oid
             FROM pg_database WHERE datname = current_database()",
        );
        let place = connection.send(None, &[place], None).unwrap();
        let mut found = Vec::new();
        with_word(Path::new(get::<&str>(&place[0][0], 0).unwrap()), &mut found);
        // Said by the names of tables.
        let name = |path: &String| {
            let node = path.rsplit('/').next().unwrap_or_default().to_owned();
            let named = Query::new(
                "SELECT coalesce(max(relname::text), $1) FROM pg_class
                 WHERE pg_relation_filenode(oid)::text = split_part($1, '.', 1)",
            );
            let named = connection.send(None, &[named.with(node)], None).unwrap();
            get(&named[0][0], 0).unwrap()
        };
        found.iter().map(name).collect()
    }

    /// Returns what the server knows about values that have the word.
    fn known(&self) -> i64 {
        let pool = Pool::new(self.own.address.clone());
        let connection = pool.fresh().unwrap();
        let known = Query::new(
            "SELECT count(*) FROM pg_stats WHERE most_common_vals::text LIKE $1
               OR histogram_bounds::text LIKE $1 OR most_common_elems::text LIKE $1",
        );
        let known = connection
            .send(None, &[known.with(format!("%{WORD}%"))], None)
            .unwrap();
        get(&known[0][0], 0).unwrap()
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn no_file_and_no_statistics_have_what_was_erased() {
    for alone in alone("files") {
        fill(&alone.own);
        assert_eq!(alone.known(), 0);
        assert!(!alone.files_with_word().is_empty());
        let journal = alone.own.index.record("erasing").unwrap();
        journal.write(WORD.as_bytes()).unwrap();
        erase(&alone.own).unwrap();
        journal.remove().unwrap();
        alone.own.execute("ANALYZE");
        assert_eq!(alone.known(), 0);
        assert_eq!(alone.files_with_word(), [""; 0]);
        assert_eq!(alone.own.index.open().unwrap().examine().unwrap(), []);
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn an_older_snapshot_holds_erasing_up_and_is_named() {
    for alone in alone("snapshot") {
        fill(&alone.own);
        let mut address = alone.own.address.clone();
        address.config.application_name("pg_dump of Ada");
        let pool = Pool::new(address);
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ";
        let (dump, _) = pool.begin(begin, &[Query::new("SELECT 1")]).unwrap();
        let held_up = erase(&alone.own).unwrap_err();
        let said = held_up.to_string();
        assert!(said.contains("pg_dump of Ada"), "{said}");
        assert!(said.contains("repeat"), "{said}");
        assert!(!alone.files_with_word().is_empty());
        dump.send(Some("COMMIT"), &[], None).unwrap();
        let mut writer = alone.own.index.writer("test").unwrap();
        writer.empty_log().unwrap();
        assert_eq!(alone.files_with_word(), [""; 0]);
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn a_reader_of_a_table_neither_waits_for_erasing_nor_is_it_waited_for() {
    for alone in alone("reader") {
        fill(&alone.own);
        let pool = Pool::new(alone.own.address.clone());
        // It sees nothing that is older, but holds the table.
        let schema = &alone.own.address.schema;
        let begin = format!("BEGIN; LOCK TABLE {schema}.bodies IN ACCESS SHARE MODE");
        let (reader, _) = pool.begin(&begin, &[]).unwrap();
        let held_up = erase(&alone.own).unwrap_err();
        assert!(held_up.to_string().contains("bodies"), "{held_up}");
        assert!(!held_up.is_damage());
        // Nothing waits in front of other readers.
        assert_eq!(super::documents(&alone.own.index), 30);
        reader.send(Some("COMMIT"), &[], None).unwrap();
        let mut writer = alone.own.index.writer("test").unwrap();
        writer.empty_log().unwrap();
        assert_eq!(alone.files_with_word(), [""; 0]);
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn the_limits_of_a_user_do_not_stop_erasing_and_tables_of_others_do() {
    for alone in alone("user") {
        let role = format!("{}_role", alone.name);
        let own = Own {
            index: PostgresIndex::new(alone.own.address.clone()),
            address: as_administrator(&alone.own.address),
        };
        own.execute(&format!("CREATE ROLE {role} LOGIN NOSUPERUSER"));
        own.execute(&format!(
            "GRANT CREATE ON DATABASE {} TO {role}",
            alone.name
        ));
        let mut address = own.address.clone();
        address.config.user(&role);
        let user = Own {
            index: PostgresIndex::new(address.clone()),
            address,
        };
        fill(&user);
        // While a reader holds a table, erasing takes longer than the user may.
        let mut writer = user.index.writer("test").unwrap();
        own.execute(&format!(
            "ALTER ROLE {role} SET statement_timeout = '300ms'"
        ));
        user.index.shared.pool.clear();
        let pool = Pool::new(own.address.clone());
        let schema = &own.address.schema;
        let begin = format!("BEGIN; LOCK TABLE {schema}.bodies IN ACCESS SHARE MODE");
        let (reader, _) = pool.begin(&begin, &[]).unwrap();
        let held_up = writer.empty_log().unwrap_err();
        assert!(held_up.to_string().contains("bodies"), "{held_up}");
        reader.send(Some("COMMIT"), &[], None).unwrap();
        drop(writer);
        own.execute(&format!("ALTER ROLE {role} RESET ALL"));
        user.index.shared.pool.clear();
        own.execute("ALTER TABLE words OWNER TO kodiak");
        own.execute(&format!(
            "GRANT SELECT, INSERT, UPDATE, DELETE ON words TO {role}"
        ));
        let held_up = erase(&user).unwrap_err();
        assert!(held_up.to_string().contains("words"), "{held_up}");
        own.execute(&format!("ALTER TABLE words OWNER TO {role}"));
        user.index.writer("test").unwrap().empty_log().unwrap();
        assert_eq!(alone.files_with_word(), [""; 0]);
        user.index.delete().unwrap();
        own.execute(&format!("DROP OWNED BY {role}"));
        own.execute(&format!("DROP ROLE {role}"));
    }
}
