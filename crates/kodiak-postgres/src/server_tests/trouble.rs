//! Servers that lack something for a moment: nothing of an index is given up for it.

use super::{Own, documents, save, servers};
use crate::{Address, PostgresIndex};
use kodiak_store::Store;
use kodiak_store::prelude::*;

impl Own {
    /// Returns the same index by connections with settings of their own.
    fn with_options(&self, options: &str) -> PostgresIndex {
        let port = self.address.config.get_ports()[0];
        let address = format!("postgres://kodiak@127.0.0.1:{port}/postgres?options={options}");
        let address = Address::parse(&address).unwrap();
        PostgresIndex::new(address.with_schema(&self.address.schema))
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn a_server_that_lacks_something_is_not_a_damaged_index() {
    for own in servers() {
        save(&own.index, "a.md", "bear");
        // Each statement of the connection fails: it takes more time than it has, and more
        // files than there may be.
        for option in [
            "-c%20temp_file_limit=0%20-c%20work_mem=64kB",
            "-c%20statement_timeout=1%20-c%20lock_timeout=1",
            "-c%20default_transaction_read_only=on",
            "-c%20transaction_timeout=1",
        ] {
            let index = own.with_options(option);
            for outcome in [
                index.open().map(drop),
                index.open().and_then(|reader| reader.examine()).map(drop),
                index.writer("test").map(drop),
            ] {
                if let Err(error) = outcome {
                    assert!(!error.is_damage(), "{option}: {error:?}");
                }
            }
        }
        // A column that another version would have.
        own.execute("ALTER TABLE documents RENAME COLUMN title TO heading");
        let failed = own.index.open().unwrap().documents(&[1]);
        let failed = failed.map(drop).unwrap_err();
        assert!(!failed.is_damage(), "{failed:?}");
        own.execute("ALTER TABLE documents RENAME COLUMN heading TO title");
        assert_eq!(documents(&own.index), 1);
    }
}
