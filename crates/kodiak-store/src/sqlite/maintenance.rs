//! Maintenance of a connection: its file, its memory, and interrupting it.

use super::SqliteStore;
use crate::{Finding, Maintenance};
use kodiak_base::cancel::Interrupt;
use kodiak_base::error::Result;

impl Maintenance for SqliteStore {
    fn is_current(&self) -> bool {
        self.file == super::FileIdentity::of(&self.path)
    }

    fn shrink_memory(&self) {
        // Pages of the log are cached, and after a rebuild all are. If they are not
        // given back, nothing is lost but memory.
        let shrunk = self.connection.prepare_cached("PRAGMA shrink_memory");
        let _ = shrunk.and_then(|mut shrink| shrink.execute([]));
    }

    fn interrupt(&self) -> Option<Interrupt> {
        let handle = self.connection.get_interrupt_handle();
        Some(Box::new(move || handle.interrupt()))
    }

    fn format(&self) -> Result<u32> {
        self.version()
    }

    fn examine(&self) -> Result<Vec<Finding>> {
        self.in_snapshot(|| self.examine_snapshot())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use super::*;
    use crate::State;
    use crate::sqlite::SqliteWriter;

    #[test]
    fn a_statement_that_would_never_end_is_interrupted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.db");
        drop(SqliteWriter::open(&path, "test").unwrap());
        let store = SqliteStore::open(&path).unwrap();
        let interrupt = store.interrupt().unwrap();
        let ended = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !ended.load(Ordering::Relaxed) {
                    interrupt();
                    std::thread::sleep(Duration::from_millis(5));
                }
            });
            let endless = "WITH RECURSIVE numbers(n) AS
                (SELECT 1 UNION ALL SELECT n + 1 FROM numbers) SELECT count(*) FROM numbers";
            let counted = store
                .with(|connection| connection.query_row(endless, [], |row| row.get::<_, i64>(0)));
            ended.store(true, Ordering::Relaxed);
            assert!(counted.is_err());
        });
        // Afterwards it works as before.
        assert!(store.revision().is_ok());
    }
}
