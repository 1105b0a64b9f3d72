//! Servers that accept connections and say nothing, and connections that were interrupted.

use std::io::Read;
use std::net::TcpListener;
use std::sync::mpsc::channel;
use std::time::Duration;

use super::{documents, save, servers};
use crate::pool::Pool;
use crate::value::{Query, get};
use crate::{Address, PostgresIndex};
use kodiak_base::error::{Cause, Error};
use kodiak_store::prelude::*;

/// Starts what accepts connections, reads, and never answers. Returns its port.
fn silent() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let Ok(mut client) = client else { continue };
            std::thread::spawn(move || {
                let mut bytes = [0; 1 << 10];
                while client.read(&mut bytes).is_ok_and(|length| length > 0) {}
            });
        }
    });
    port
}

fn is_unreachable(error: &Error) -> bool {
    matches!(
        error,
        Error::Database {
            cause: Cause::Unreachable,
            ..
        }
    )
}

#[test]
fn a_server_that_says_nothing_is_given_up() {
    let address = format!("postgres://kodiak@127.0.0.1:{}/postgres", silent());
    let index = PostgresIndex::new(Address::parse(&address).unwrap());
    let (done, ended) = channel();
    let asked = index.clone();
    std::thread::spawn(move || done.send(asked.open().map(drop)));
    let outcome = ended.recv_timeout(Duration::from_mins(5)).unwrap();
    let refused = outcome.unwrap_err();
    assert!(is_unreachable(&refused), "{refused}");
    assert!(refused.to_string().contains("says nothing"), "{refused}");
    // Nothing is left of it.
    assert_eq!(index.shared.pool.open(), 0);
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn another_host_is_asked_if_one_says_nothing() {
    for own in servers() {
        save(&own.index, "a.md", "bear");
        let port = own.address.config.get_ports()[0];
        let address = format!(
            "postgres://kodiak@127.0.0.1:{},127.0.0.1:{port}/postgres",
            silent()
        );
        let address = Address::parse(&address).unwrap();
        let index = PostgresIndex::new(address.with_schema(&own.address.schema));
        assert_eq!(documents(&index), 1);
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn a_search_ends_when_it_is_interrupted_whatever_the_server_does() {
    for own in servers() {
        save(&own.index, "a.md", "bear");
        let (relay, index) = own.behind();
        let reader = index.open().unwrap();
        assert_eq!(reader.corpus().unwrap().documents, 1);
        let interrupt = reader.interrupt().unwrap();
        let (reached, pass) = relay.hold(1);
        let (done, ended) = channel();
        std::thread::spawn(move || {
            let asked = reader.corpus().map(|corpus| corpus.documents);
            let _ = done.send((asked, reader));
        });
        reached.recv_timeout(Duration::from_mins(1)).unwrap();
        // What begins later is not interrupted, and the statement may be an earlier one.
        let (outcome, reader) = loop {
            interrupt();
            if let Ok(ended) = ended.recv_timeout(Duration::from_millis(50)) {
                break ended;
            }
        };
        assert!(outcome.is_err(), "{outcome:?}");
        drop(pass);
        relay.pass();
        // What is asked next has another connection.
        assert_eq!(reader.corpus().unwrap().documents, 1);
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn an_interrupted_connection_is_not_used_again() {
    for own in servers() {
        save(&own.index, "a.md", "bear");
        let pool = Pool::new(own.address.clone());
        let connection = pool.take().unwrap();
        let interrupt = connection.interrupt();
        let (done, ended) = channel();
        std::thread::scope(|scope| {
            let connection = &connection;
            scope.spawn(move || {
                let slept = Query::new("SELECT pg_sleep(600)");
                done.send(connection.send(None, &[slept], None).map(drop))
            });
            loop {
                interrupt();
                if let Ok(outcome) = ended.recv_timeout(Duration::from_millis(50)) {
                    let refused = outcome.unwrap_err();
                    assert!(!refused.is_damage(), "{refused}");
                    break;
                }
            }
        });
        pool.give(connection);
        assert_eq!(pool.open(), 0);
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn connections_end_with_the_index_that_uses_them() {
    for own in servers() {
        save(&own.index, "a.md", "bear");
        let name = format!("{}_ended", own.address.schema);
        let mut address = own.address.clone();
        address.config.application_name(&name);
        let index = PostgresIndex::new(address);
        let readers: Vec<_> = (0..5).map(|_| index.open().unwrap()).collect();
        for reader in &readers {
            reader.begin_snapshot().unwrap();
            assert_eq!(reader.corpus().unwrap().documents, 1);
        }
        drop((readers, index));
        let pool = Pool::new(own.address.clone());
        let connection = pool.take().unwrap();
        let left = Query::new("SELECT count(*) FROM pg_stat_activity WHERE application_name = $1");
        // The server notices a moment later.
        let is_none = (0..600).any(|_| {
            let wait = Some("SELECT pg_sleep(0.1)");
            let left = left.clone().with(&name);
            let left = connection.send(wait, &[left], None).unwrap();
            get::<i64>(&left[0][0], 0).unwrap() == 0
        });
        assert!(is_none);
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn readers_wait_for_a_connection_and_there_are_only_so_many() {
    const MOST: usize = 3;
    for own in servers() {
        save(&own.index, "a.md", "bear");
        let pool = Pool::with_limit(own.address.clone(), MOST);
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let connection = pool.take_to_read().unwrap();
                        assert!(pool.open() <= MOST);
                        let asked = Query::new("SELECT pg_sleep(0.001)");
                        connection.send(None, &[asked], None).unwrap();
                        pool.give(connection);
                    }
                });
            }
        });
        assert!(pool.open() <= MOST);
        // Work that has a connection gets a second one.
        let taken: Vec<_> = (0..=MOST).map(|_| pool.take().unwrap()).collect();
        assert_eq!(taken.len(), pool.open());
        for connection in taken {
            pool.give(connection);
        }
        assert!(pool.open() <= MOST);
    }
}
