//! Databases on the servers that the tests are given, and engines over them.
//!
//! `KODIAK_TEST_POSTGRES` has the addresses of servers, with spaces between them.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use kodiak::access::Guard;
use kodiak::embed::OnnxEmbedder;
use kodiak::model::install_from_folder;
use kodiak::search::{Answer, Request};
use kodiak::{Engine, Job};
use kodiak_memory::{MEMORY_SOURCE, Memories, Memory, Remembered};
use kodiak_postgres::{Address, PostgresIndex};
use tokio_postgres::NoTls;

const VARIABLE: &str = "KODIAK_TEST_POSTGRES";

/// A database of a team, which is deleted in the end.
pub(crate) struct Team {
    pub(crate) address: Address,
    /// The address as the client of the tests takes it, and the schema.
    place: (String, String),
    /// The folder of what the servers of the team keep.
    folder: tempfile::TempDir,
}

impl Drop for Team {
    fn drop(&mut self) {
        let _ = PostgresIndex::new(self.address.clone()).delete();
    }
}

/// Returns a database that was never written on each server.
pub(crate) fn teams() -> Vec<Team> {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let all = std::env::var(VARIABLE).unwrap_or_default();
    let teams = all.split_whitespace().map(|address| {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let schema = format!("team_{}_{number}", std::process::id());
        Team {
            address: Address::parse(address).unwrap().with_schema(&schema),
            place: (address.to_owned(), schema),
            folder: tempfile::tempdir().unwrap(),
        }
    });
    let teams: Vec<Team> = teams.collect();
    assert!(!teams.is_empty(), "tests/postgres/with sets {VARIABLE}");
    teams
}

impl Team {
    /// Returns the folder in which a server keeps what it derives.
    pub(crate) fn cache(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the index as a server with this name opens it.
    pub(crate) fn index(&self, name: &str) -> PostgresIndex {
        PostgresIndex::new(self.address.clone()).with_cache(self.cache(name))
    }

    /// Runs a statement beside the servers and returns the first column of its rows.
    pub(crate) fn ask(&self, sql: &str) -> Vec<String> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(&self.place.0, NoTls).await.unwrap();
            let connection = tokio::spawn(connection);
            let rows = client.query(sql, &[]).await.unwrap();
            let rows = rows.iter().map(|row| row.get(0)).collect();
            drop(client);
            connection.await.unwrap().unwrap();
            rows
        })
    }

    /// Returns every row of every table, each with the name of its table. Bytes are shown as
    /// text where they are text.
    pub(crate) fn rows(&self) -> Vec<(String, String)> {
        let schema = &self.place.1;
        let tables = self.ask(&format!(
            "SELECT table_name::text FROM information_schema.tables WHERE table_schema = '{schema}'"
        ));
        assert!(tables.len() > 15, "{tables:?}");
        let mut all = Vec::new();
        for table in tables {
            let rows = self.ask(&format!("SELECT t::text FROM {schema}.{table} AS t"));
            all.extend(rows.into_iter().map(|row| (table.clone(), row)));
        }
        all
    }

    /// Returns a server of the team.
    pub(crate) fn server(&self, name: &str) -> Engine {
        let index = self.index(name);
        Engine::builder_over(Arc::new(index.clone()))
            .sources(kodiak_team::sources(&index))
            .refresh(Duration::from_mins(1))
            .holder(name)
            .open()
            .unwrap()
    }
}

/// Returns the tiny model, installed as a person would.
pub(crate) fn tiny() -> Arc<OnnxEmbedder> {
    static TINY: LazyLock<(tempfile::TempDir, Arc<OnnxEmbedder>)> = LazyLock::new(|| {
        let place = tempfile::tempdir().unwrap();
        let written = place.path().join("written");
        tiny_model::write(&written).unwrap();
        let model = install_from_folder(&written, None, &place.path().join("models")).unwrap();
        (place, Arc::new(OnnxEmbedder::new(model)))
    });
    Arc::clone(&TINY.1)
}

pub(crate) fn memory(text: &str) -> Memory {
    Memory {
        source: MEMORY_SOURCE.to_owned(),
        text: text.to_owned(),
        ..Memory::default()
    }
}

pub(crate) fn remember(engine: &Engine, text: &str) -> Remembered {
    let (me, job) = (Guard::local(), Job::default());
    let memories = Memories::new(engine);
    memories.remember(&me, &memory(text), &job).unwrap()
}

pub(crate) fn search(engine: &Engine, query: &str) -> Answer {
    engine
        .search(&Guard::local(), &Request::new(query))
        .unwrap()
}

/// Returns the keys of what a search finds, sorted.
pub(crate) fn found(engine: &Engine, query: &str) -> Vec<String> {
    let hits = search(engine, query).hits;
    let mut keys: Vec<String> = hits.iter().map(|hit| hit.path.clone()).collect();
    keys.sort();
    keys
}
