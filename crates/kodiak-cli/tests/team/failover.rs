//! The leader of a cluster is lost while people write and read at two servers.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::place::Machine;
use crate::programs::until;
use crate::served::Served;
use crate::servers::begin;

const WRITERS: usize = 8;
const READERS: usize = 16;

/// How long the cluster may take to take writes again.
const LIMIT: Duration = Duration::from_mins(2);

/// What everyone does at once.
#[derive(Default)]
struct Work {
    ends: AtomicBool,
    /// The words of the memories that were acknowledged.
    kept: Mutex<Vec<String>>,
    /// When each server acknowledged the last write that began after the leader was lost.
    recovered: [Mutex<Option<Instant>>; 2],
    lost: Mutex<Option<Instant>>,
    found: AtomicUsize,
    /// Answers without a memory that say that they may lack one.
    unsure: AtomicUsize,
    refused: AtomicUsize,
    wrong: Mutex<Vec<String>>,
}

impl Work {
    fn kept(&self) -> usize {
        self.kept.lock().unwrap().len()
    }

    /// Writes one memory after the other, each until it is acknowledged.
    fn write(&self, served: &Served, at: usize, token: &str, writer: usize) {
        let mut number = 0;
        while !self.ends.load(Ordering::Relaxed) {
            let word = word(writer, number);
            let memory = json!({"text": format!("The word of the moment is {word}.")});
            let began = Instant::now();
            match served.try_send("POST", "/api/memories", token, &memory) {
                Ok((200 | 201, _)) => {
                    self.kept.lock().unwrap().push(word);
                    number += 1;
                    if self.lost.lock().unwrap().is_some_and(|lost| began > lost) {
                        let mut recovered = self.recovered[at].lock().unwrap();
                        recovered.get_or_insert_with(Instant::now);
                    }
                }
                // It may have been written. To repeat it makes no second one.
                answer => {
                    self.refused.fetch_add(1, Ordering::Relaxed);
                    if let Ok((status, said)) = answer
                        && status < 500
                    {
                        self.note(format!("a write was refused with {status}: {said}"));
                    }
                    thread::sleep(Duration::from_millis(50));
                }
            }
        }
    }

    /// Looks for one memory after the other.
    fn read(&self, served: &Served, token: &str, reader: usize) {
        for turn in 0.. {
            if self.ends.load(Ordering::Relaxed) {
                return;
            }
            let word = {
                let kept = self.kept.lock().unwrap();
                // Mostly what was written a moment ago.
                let last = kept.len().saturating_sub(1);
                let back = if turn % 3 == 0 {
                    turn * (reader + 7)
                } else {
                    reader
                };
                kept.get(last.saturating_sub(back % (last + 1))).cloned()
            };
            let Some(word) = word else {
                thread::sleep(Duration::from_millis(10));
                continue;
            };
            self.look(served, token, &word);
        }
    }

    fn look(&self, served: &Served, token: &str, word: &str) {
        let query = json!({"query": format!("\"{word}\"")});
        let Ok((status, answer)) = served.try_send("POST", "/api/search", token, &query) else {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return;
        };
        if status >= 500 || has(&answer, "full-text-failed") {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let hits = answer["hits"].as_array().map_or(0, Vec::len);
        let right = hits == 1 && answer["hits"][0].to_string().contains(word);
        if status == 200 && right {
            self.found.fetch_add(1, Ordering::Relaxed);
        } else if status == 200 && hits == 0 && says_so(&answer) {
            self.unsure.fetch_add(1, Ordering::Relaxed);
        } else {
            self.note(format!("{word} was looked for: {status} {answer}"));
        }
    }

    fn note(&self, wrong: String) {
        self.wrong.lock().unwrap().push(wrong);
    }
}

fn has(answer: &Value, code: &str) -> bool {
    let codes = answer["notice_codes"].as_array();
    codes.is_some_and(|codes| codes.iter().any(|one| one == code))
}

/// Reports whether an answer says that a memory may be missing: a replica is behind, or another
/// server is still indexing what was written.
fn says_so(answer: &Value) -> bool {
    let is_incomplete = answer["complete"] == false || has(answer, "read-from-replica");
    let codes = [
        "read-from-replica",
        "changes-not-indexed",
        "changes-not-looked-for",
    ];
    let said = answer["incomplete"].to_string() + &answer["notice_codes"].to_string();
    is_incomplete && codes.iter().any(|code| said.contains(code))
}

/// Ends the work when dropped.
struct Ends<'a>(&'a Work);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.ends.store(true, Ordering::Relaxed);
    }
}

/// Returns a word that is like no other.
fn word(writer: usize, number: usize) -> String {
    let letters = b"bdfghklmnprstvwz";
    let mut hash = (writer * 100_003 + number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut word = String::new();
    for _ in 0..8 {
        word.push(char::from(letters[hash >> 60]));
        word.push(char::from(b"aeiou"[(hash >> 32) % 5]));
        hash = hash.wrapping_mul(0x2545_F491_4F6C_DD1D).wrapping_add(97);
    }
    format!("{word}{writer}x{number}")
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them and sets KODIAK_TEST_SERVERS"]
fn nothing_is_lost_and_no_answer_is_wrong_when_the_leader_is_lost() {
    let mut cluster = Cluster::start();
    let machine = Machine::with_index(&cluster.address());
    let owner = begin(&machine);
    // One of the servers reads from any node.
    let any = Machine::with_index(&cluster.address_with_replicas());
    let servers = [Served::start(&machine), Served::start(&any)];
    let work = Work::default();
    thread::scope(|scope| {
        let (work, servers, owner) = (&work, &servers, &owner);
        for writer in 0..WRITERS {
            let at = writer % 2;
            scope.spawn(move || work.write(&servers[at], at, owner, writer));
        }
        for reader in 0..READERS {
            scope.spawn(move || work.read(&servers[reader % 2], owner, reader));
        }
        // Whatever fails below, the others have to end.
        let _ends = Ends(work);
        until("memories are written and found", || {
            work.kept() >= 40 && work.found.load(Ordering::Relaxed) >= 40
        });
        let before = work.kept();
        cluster.kill_leader();
        let lost = Instant::now();
        *work.lost.lock().unwrap() = Some(lost);
        let times = loop {
            let times: Vec<Duration> = work
                .recovered
                .iter()
                .filter_map(|one| one.lock().unwrap().map(|at| at - lost))
                .collect();
            if times.len() == work.recovered.len() {
                break times;
            }
            assert!(
                lost.elapsed() < LIMIT,
                "no write was acknowledged after {LIMIT:?}"
            );
            thread::sleep(Duration::from_millis(50));
        };
        println!("the servers took writes again after {times:.1?}");
        let (kept, found) = (work.kept(), work.found.load(Ordering::Relaxed));
        until("memories are written and found again", || {
            work.kept() >= kept + 20 && work.found.load(Ordering::Relaxed) >= found + 40
        });
        println!("{before} memories before, {} after", work.kept() - before);
    });
    println!(
        "{} found, {} said to be missing perhaps, {} refused",
        work.found.load(Ordering::Relaxed),
        work.unsure.load(Ordering::Relaxed),
        work.refused.load(Ordering::Relaxed)
    );
    let wrong = work.wrong.lock().unwrap().clone();
    assert!(
        wrong.is_empty(),
        "{} wrong: {:#?}",
        wrong.len(),
        &wrong[..wrong.len().min(5)]
    );
    // Every memory that was acknowledged is there, once.
    for word in &*work.kept.lock().unwrap() {
        let query = json!({"query": format!("\"{word}\"")});
        let (status, answer) = servers[0].send("POST", "/api/search", &owner, &query);
        assert_eq!(status, 200, "{answer}");
        assert_eq!(answer["total"], 1, "{word}: {answer}");
    }
    machine.ok(&["doctor"]);
}
