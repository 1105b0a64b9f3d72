//! The open connections of a server. If all places are taken, the connection that was
//! idle for longest is closed for the next one, so that clients that connect and say
//! nothing do not lock others out.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::time::Instant;

/// The connections of a server.
#[derive(Debug)]
pub(super) struct Connections {
    most: usize,
    open: Mutex<HashMap<u64, Arc<Connection>>>,
    /// Wakes the task that waits for a place.
    changed: Arc<Notify>,
}

/// A connection.
#[derive(Debug)]
pub(super) struct Connection {
    state: Mutex<State>,
    closing: Notify,
    changed: Arc<Notify>,
}

/// What a connection is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    /// The requests that are answered and the streams that go on.
    busy: usize,
    /// The bodies that are read.
    reading: usize,
    /// When it was last used.
    used: Instant,
}

/// A place among the connections. It is free when this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    number: u64,
    connections: Arc<Connections>,
    connection: Arc<Connection>,
}

/// Something that a connection does until this is dropped.
#[derive(Debug)]
pub(super) struct Use {
    connection: Arc<Connection>,
    reading: bool,
}

impl Connections {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most: most.max(1),
            open: Mutex::default(),
            changed: Arc::default(),
        })
    }

    fn open(&self) -> MutexGuard<'_, HashMap<u64, Arc<Connection>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a place, and closes a connection for it if that is possible.
    pub(super) async fn place(self: &Arc<Self>) -> Place {
        loop {
            let changed = self.changed.notified();
            if let Some(place) = self.try_place() {
                return place;
            }
            changed.await;
        }
    }

    fn try_place(self: &Arc<Self>) -> Option<Place> {
        let mut open = self.open();
        if open.len() >= self.most {
            // One that says nothing, or else one whose request is not all there.
            let ranked = open.iter().filter_map(|(&number, connection)| {
                let state = *connection.state();
                let reads = state.reading > 0;
                (reads || state.busy == 0).then_some((reads, state.used, number))
            });
            let (_, _, number) = ranked.min()?;
            let closed = open.remove(&number)?;
            closed.closing.notify_one();
        }
        let number = open.keys().max().map_or(0, |last| last + 1);
        let connection = Arc::new(Connection {
            state: Mutex::new(State {
                busy: 0,
                reading: 0,
                used: Instant::now(),
            }),
            closing: Notify::new(),
            changed: Arc::clone(&self.changed),
        });
        open.insert(number, Arc::clone(&connection));
        Some(Place {
            number,
            connections: Arc::clone(self),
            connection,
        })
    }
}

impl Place {
    /// Returns the connection that has it.
    pub(super) fn connection(&self) -> Arc<Connection> {
        Arc::clone(&self.connection)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.connections.open();
        // Another may have the number if this one was closed to make room.
        let same = |one: &Arc<Connection>| Arc::ptr_eq(one, &self.connection);
        if open.get(&self.number).is_some_and(same) {
            open.remove(&self.number);
        }
        drop(open);
        self.connections.changed.notify_one();
    }
}

impl Connection {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks the connection as busy, until the returned value is dropped.
    pub(super) fn works(self: &Arc<Self>) -> Use {
        self.state().busy += 1;
        self.using(false)
    }

    /// Marks the connection as one whose request is not all there, until the returned
    /// value is dropped.
    pub(super) fn reads(self: &Arc<Self>) -> Use {
        self.state().reading += 1;
        self.changed.notify_one();
        self.using(true)
    }

    fn using(self: &Arc<Self>, reading: bool) -> Use {
        Use {
            connection: Arc::clone(self),
            reading,
        }
    }

    /// Waits until the connection has to be closed.
    pub(super) async fn closing(&self) {
        self.closing.notified().await;
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        let mut state = self.connection.state();
        if self.reading {
            state.reading -= 1;
        } else {
            state.busy -= 1;
            state.used = Instant::now();
        }
        drop(state);
        self.connection.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_longest_idle_makes_room() {
        let connections = Connections::new(3);
        let (first, second, third) = (
            connections.place().await,
            connections.place().await,
            connections.place().await,
        );
        // One that works is not idle, and is the newest once it is done.
        drop(first.connection().works());
        let busy = second.connection().works();
        let fourth = connections.place().await;
        third.connection().closing().await;
        // Its place is taken, so dropping it frees none.
        drop(third);
        let fifth = connections.place().await;
        first.connection().closing().await;
        assert_eq!(connections.open().len(), 3);
        drop((first, second, fourth, fifth, busy));
        assert_eq!(connections.open().len(), 0);
    }

    #[tokio::test]
    async fn busy_connections_are_not_closed() {
        let connections = Connections::new(2);
        let (first, second) = (connections.place().await, connections.place().await);
        let (a, b) = (first.connection().works(), second.connection().works());
        assert!(connections.try_place().is_none());
        // A request that is not all there is less than one that is answered.
        let reading = second.connection().reads();
        let third = connections.place().await;
        second.connection().closing().await;
        drop((reading, b, second));
        assert!(connections.try_place().is_some_and(|place| {
            // `third` was idle.
            drop(place);
            true
        }));
        drop((a, first, third));
        assert_eq!(connections.open().len(), 0);
    }
}
