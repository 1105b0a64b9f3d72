//! Many writers at once, on two servers.

use std::collections::HashSet;
use std::sync::Barrier;
use std::thread;

use kodiak::access::Guard;
use kodiak::{Error, Job};
use kodiak_memory::{Memories, Memory};

use crate::servers::{found, memory, teams};

const WRITERS: usize = 8;

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn eight_writers_lose_nothing() {
    const EACH: usize = 6;
    for team in teams() {
        let servers = [team.server("one"), team.server("other")];
        let animals = [
            "badger", "otter", "heron", "marten", "lynx", "stoat", "vole", "hare",
        ];
        let actions = ["sleeps", "hunts", "swims", "climbs", "digs", "sings"];
        let start = Barrier::new(WRITERS);
        let keys: HashSet<String> = thread::scope(|scope| {
            let writers: Vec<_> = (0..WRITERS)
                .map(|writer| {
                    let (engine, start) = (&servers[writer % 2], &start);
                    scope.spawn(move || {
                        start.wait();
                        let said = (0..EACH).map(|number| {
                            let text = format!("The {} {}.", animals[writer], actions[number]);
                            let (me, job) = (Guard::local(), Job::default());
                            let memories = Memories::new(engine);
                            let said = memories.remember(&me, &memory(&text), &job).unwrap();
                            assert!(!said.deduplicated, "{text}");
                            said.key
                        });
                        said.collect::<Vec<_>>()
                    })
                })
                .collect();
            writers
                .into_iter()
                .flat_map(|writer| writer.join().unwrap())
                .collect()
        });
        assert_eq!(keys.len(), WRITERS * EACH);
        for engine in &servers {
            let mut all = HashSet::new();
            for animal in animals {
                let said = found(engine, animal);
                assert_eq!(said.len(), EACH, "{animal}");
                all.extend(said);
            }
            assert_eq!(all, keys);
        }
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn one_text_at_once_is_one_memory() {
    for team in teams() {
        let servers = [team.server("one"), team.server("other")];
        for round in 0..4 {
            let text = format!("Deploys of round {round} run on Mondays.");
            let start = Barrier::new(WRITERS);
            let said: Vec<_> = thread::scope(|scope| {
                let writers: Vec<_> = (0..WRITERS)
                    .map(|writer| {
                        let (engine, start, text) = (&servers[writer % 2], &start, &text);
                        scope.spawn(move || {
                            start.wait();
                            let (me, job) = (Guard::local(), Job::default());
                            let memories = Memories::new(engine);
                            memories.remember(&me, &memory(text), &job).unwrap()
                        })
                    })
                    .collect();
                writers.into_iter().map(|one| one.join().unwrap()).collect()
            });
            let new: Vec<_> = said.iter().filter(|one| !one.deduplicated).collect();
            assert_eq!(new.len(), 1, "{said:?}");
            assert!(said.iter().all(|one| one.key == new[0].key), "{said:?}");
            assert_eq!(
                found(&servers[round % 2], &format!("\"round {round}\"")).len(),
                1
            );
        }
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn one_id_at_once_has_one_winner() {
    for team in teams() {
        let servers = [team.server("one"), team.server("other")];
        let start = Barrier::new(WRITERS);
        let outcomes: Vec<_> = thread::scope(|scope| {
            let writers: Vec<_> = (0..WRITERS)
                .map(|writer| {
                    let (engine, start) = (&servers[writer % 2], &start);
                    scope.spawn(move || {
                        start.wait();
                        let wanted = Memory {
                            id: Some("limits".to_owned()),
                            ..memory(&format!("Team {writer} may send {writer}00 requests."))
                        };
                        let memories = Memories::new(engine);
                        memories.remember(&Guard::local(), &wanted, &Job::default())
                    })
                })
                .collect();
            writers.into_iter().map(|one| one.join().unwrap()).collect()
        });
        let won = outcomes.iter().filter(|one| one.is_ok()).count();
        assert_eq!(won, 1, "{outcomes:?}");
        for lost in outcomes.iter().filter_map(|one| one.as_ref().err()) {
            assert!(
                matches!(lost, Error::KeyTaken { key } if key == "limits"),
                "{lost}"
            );
        }
        assert_eq!(found(&servers[0], "requests"), ["limits"]);
    }
}
