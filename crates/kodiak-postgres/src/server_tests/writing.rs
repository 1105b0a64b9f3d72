//! Writers whose connections end: what one of them has committed is seen by the next, and
//! nothing else happens in between.

use std::sync::Arc;
use std::time::Duration;

use super::relay::{Act, Relay};
use super::{Own, documents, servers, try_put, try_save};
use crate::connection::is_lost;
use crate::lock::number;
use crate::pool::Pool;
use crate::value::{Query, get};
use crate::{Address, PostgresIndex};
use kodiak_base::error::{Error, Result};
use kodiak_store::prelude::*;
use kodiak_store::{Store, wait_for_lock};

/// More statements than any of these tests sends.
const MANY: usize = 400;

/// At which statements the tests act: at each on the first server, and at some on another.
const EVERY: [usize; 2] = [1, 7];

impl Own {
    /// Returns a relay to its server, and the same index behind it.
    pub(super) fn behind(&self) -> (Relay, PostgresIndex) {
        let config = &self.address.config;
        let tokio_postgres::config::Host::Tcp(host) = &config.get_hosts()[0] else {
            panic!("{:?}", config.get_hosts());
        };
        let relay = Relay::to(&format!("{host}:{}", config.get_ports()[0]));
        let address = format!("postgres://kodiak@{}:{}/postgres", relay.host, relay.port);
        let mut address = Address::parse(&address).unwrap();
        address = address.with_schema(&self.address.schema);
        (relay, PostgresIndex::new(address))
    }

    /// Ends the connections that hold the right to write, or another lock.
    pub(super) fn end_locks(&self, purpose: &str) {
        let pool = Pool::new(self.address.clone());
        let ended = Query::new(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_locks
             WHERE locktype = 'advisory' AND granted
               AND (classid::bigint << 32 | objid::bigint) = $1",
        );
        let ended = ended.with(number(&self.address.schema, purpose));
        pool.fresh().unwrap().send(None, &[ended], None).unwrap();
    }
}

/// Two documents that belong together, twice, and what a sync ends with.
fn write(index: &PostgresIndex, round: usize) -> Result<()> {
    let mut writer = index.writer("first")?;
    for half in ["a", "b"] {
        writer.begin()?;
        try_put(
            &mut *writer,
            &format!("{half}1.md"),
            &format!("bear r{round}"),
        )?;
        writer.flush()?;
        try_put(
            &mut *writer,
            &format!("{half}2.md"),
            &format!("bear r{round}"),
        )?;
        writer.commit()?;
    }
    writer.optimize()
}

/// Checks that documents that belong together do, and that the index is in order.
fn assert_whole(index: &PostgresIndex, about: &str) {
    let reader = index.open().unwrap();
    assert_eq!(reader.examine().unwrap(), [], "{about}");
    let rows = |key: &str| -> Vec<String> {
        let body = Query::new(
            "SELECT body FROM bodies AS b JOIN documents AS d ON d.id = b.document
            WHERE d.key = $1",
        );
        let rows = reader.rows_of(body.with(key)).unwrap();
        rows.iter().map(|row| get(row, 0).unwrap()).collect()
    };
    for half in ["a", "b"] {
        let (one, other) = (rows(&format!("{half}1.md")), rows(&format!("{half}2.md")));
        assert!(one.len() <= 1 && one == other, "{about}: {one:?} {other:?}");
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn a_connection_lost_at_any_statement_leaves_all_or_nothing() {
    for (own, every) in servers().into_iter().zip(EVERY) {
        let (relay, index) = own.behind();
        // Its statements would come between those of the writer.
        index.shared.merger.stop();
        write(&index, 0).unwrap();
        for (cut, round) in (1..2 * MANY).step_by(every).enumerate() {
            let act = if round % 2 == 0 {
                Act::CutBefore
            } else {
                Act::CutAfter
            };
            relay.at(round.div_ceil(2), act);
            let written = write(&index, round);
            let about = format!(
                "{} round {round}: {written:?}",
                own.address.shown().display()
            );
            let was_cut = relay.pass();
            assert!(written.as_ref().err().is_none_or(is_lost), "{about}");
            assert_whole(&own.index, &about);
            if written.is_err() {
                // The pool has another connection for the next.
                // The server has to notice first that the other is gone.
                let patience = Duration::from_secs(20);
                wait_for_lock(
                    patience,
                    |_, _| Ok(()),
                    || try_save(&index, "next.md", "bear"),
                )
                .unwrap();
            }
            if !was_cut {
                assert!(cut > 80 / every, "{cut}");
                break;
            }
        }
        write(&index, 2 * MANY).unwrap();
        assert_whole(&own.index, "in the end");
        assert_eq!(documents(&own.index), 5);
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn a_writer_that_lost_its_lock_changes_nothing_under_the_next_one() {
    for (own, every) in servers().into_iter().zip(EVERY) {
        let (relay, first) = own.behind();
        first.shared.merger.stop();
        let first = Arc::new(first);
        write(&first, 0).unwrap();
        let (mut opened, mut refused) = (0, 0);
        for at in (1..MANY).step_by(every) {
            let (reached, pass) = relay.hold(at);
            let writing = {
                let first = Arc::clone(&first);
                std::thread::spawn(move || write(&first, at))
            };
            while reached.recv_timeout(Duration::from_millis(5)).is_err() && !writing.is_finished()
            {
            }
            if !relay.pass() {
                // It ended before that statement.
                writing.join().unwrap().unwrap();
                break;
            }
            own.end_locks("writing");
            let second = own.index.writer("second");
            let revision = match &second {
                Ok(writer) => {
                    opened += 1;
                    Some(writer.reader().revision().unwrap().foreign)
                }
                Err(Error::Locked { .. }) => {
                    refused += 1;
                    None
                }
                Err(error) => panic!("statement {at}: {error}"),
            };
            pass.send(()).unwrap();
            let written = writing.join().unwrap();
            let about = format!("statement {at}: {written:?}");
            if let (Ok(mut second), Some(revision)) = (second, revision) {
                // What it has read before is still what it changes.
                let foreign = second.reader().revision().unwrap().foreign;
                assert_eq!(foreign, revision, "{about}");
                second.begin().unwrap();
                try_put(&mut *second, "second.md", &format!("bear {at}")).unwrap();
                second.commit().unwrap();
            }
            assert_whole(&own.index, &about);
        }
        let least = 7 / every;
        assert!(opened >= least && refused >= least, "{opened} {refused}");
    }
}
