//! Indexes on the servers that the tests are given.
//!
//! `KODIAK_TEST_POSTGRES` has their addresses, with spaces between them. Without it, tests
//! that run on every store leave servers out, and one that is ignored says so.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use kodiak::Result;
use kodiak::store::{Lock, Reader, Store, Writer};
use kodiak_postgres::{Address, PostgresIndex};

/// The environment variable with the addresses.
const VARIABLE: &str = "KODIAK_TEST_POSTGRES";

/// An index in a schema of its own, which is deleted in the end.
#[derive(Debug)]
pub(crate) struct Server(PostgresIndex);

impl Deref for Server {
    type Target = PostgresIndex;

    fn deref(&self) -> &PostgresIndex {
        &self.0
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.delete();
    }
}

impl Store for Server {
    fn reader(&self) -> Result<Box<dyn Reader + Send>> {
        self.0.reader()
    }

    fn writer(&self, holder: &str) -> Result<Box<dyn Writer>> {
        self.0.writer(holder)
    }

    fn embedding_lock(&self, holder: &str) -> Result<Option<Box<dyn Lock>>> {
        self.0.embedding_lock(holder)
    }

    fn embedding_holder(&self) -> Option<String> {
        self.0.embedding_holder()
    }

    fn set_aside(&self, holder: &str) -> Result<PathBuf> {
        self.0.set_aside(holder)
    }

    fn place(&self) -> &Path {
        self.0.place()
    }

    fn size(&self) -> u64 {
        self.0.size()
    }
}

/// Returns the address of a schema on each server that no other test uses.
pub(crate) fn addresses() -> Vec<Address> {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let all = std::env::var(VARIABLE).unwrap_or_default();
    let addresses = all.split_whitespace().map(|address| {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let schema = format!("test_{}_{number}", std::process::id());
        Address::parse(address).unwrap().with_schema(&schema)
    });
    addresses.collect()
}

/// Returns an index that was never written on each server.
pub(crate) fn servers() -> Vec<Server> {
    let indexes = addresses().into_iter().map(PostgresIndex::new);
    indexes.map(Server).collect()
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them and sets KODIAK_TEST_POSTGRES"]
fn there_are_servers_of_two_versions() {
    let place = |server: &Server| server.place().to_path_buf();
    let servers = servers();
    assert_eq!(servers.len(), 2, "{VARIABLE} names {servers:?}");
    assert_ne!(place(&servers[0]), place(&servers[1]));
    for server in &servers {
        drop(server.writer("test").unwrap());
        assert_eq!(server.reader().unwrap().corpus().unwrap().documents, 0);
    }
}
