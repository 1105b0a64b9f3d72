//! Many servers on one index, over standard input and output.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::desk::Desk;

/// What a test waits for at most, on a slow machine.
const PATIENCE: Duration = Duration::from_mins(2);
/// The number of servers that are started at once.
const SERVERS: usize = 16;
/// The number of memories that are written at the same time.
const MEMORIES: usize = 6;

/// Starts a server, searches until something is indexed, and hands the server over.
fn searched(desk: &Desk, query: &str) -> Child {
    let mut child = desk
        .command(&["mcp"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut input = child.stdin.take().unwrap();
    let mut ask = |id: u64, method: &str, params: Value| -> Value {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(input, "{request}").unwrap();
        loop {
            let mut line = String::new();
            assert_ne!(output.read_line(&mut line).unwrap(), 0, "it has ended");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == id {
                assert!(message["error"].is_null(), "{message}");
                return message["result"].clone();
            }
        }
    };
    let client = json!({"name": "test", "version": "1"});
    let version =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    ask(0, "initialize", version);
    let started = Instant::now();
    for id in 1.. {
        let params = json!({"name": "search", "arguments": {"query": query}});
        let answer = ask(id, "tools/call", params);
        let text = answer["content"][0]["text"].as_str().unwrap();
        if answer["isError"] == true {
            // Nothing else may go wrong.
            let begun = ["there is no index", "nothing is indexed yet"];
            assert!(begun.iter().any(|one| text.contains(one)), "{text}");
        } else {
            let hits = answer["structuredContent"]["hits"].as_array().unwrap();
            if !hits.is_empty() {
                break;
            }
            // What is not indexed yet is not silently missing.
            assert_eq!(answer["structuredContent"]["complete"], false, "{text}");
        }
        assert!(started.elapsed() < PATIENCE, "{text}");
        std::thread::sleep(Duration::from_millis(50));
    }
    child.stdin = Some(input);
    child
}

fn end(mut child: Child) {
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn many_servers_start_on_a_cold_index_while_memories_are_written() {
    let desk = Desk::indexed();
    for name in ["index.db", "index.db-wal", "index.db-shm"] {
        let _ = std::fs::remove_file(desk.index().with_file_name(name));
    }
    std::thread::scope(|scope| {
        for _ in 0..SERVERS {
            scope.spawn(|| end(searched(&desk, "ramen")));
        }
        for number in 0..MEMORIES {
            let text = format!("The secret word of number {number} is xyzzy{number}.");
            desk.ok(&["remember", "--force", &text]);
        }
    });
    for number in 0..MEMORIES {
        let found = desk.found(&[&format!("xyzzy{number}"), "--exact"]);
        assert_eq!(found.len(), 1, "{number}: {found:?}");
    }
    assert!(!desk.found(&["ramen"]).is_empty());
}

#[cfg(target_os = "linux")]
#[test]
fn idle_servers_share_their_memory() {
    let desk = Desk::indexed();
    let servers: Vec<Child> = (0..10).map(|_| searched(&desk, "ramen")).collect();
    let mut kilobytes = 0;
    for server in &servers {
        let rollup = format!("/proc/{}/smaps_rollup", server.id());
        let rollup = std::fs::read_to_string(rollup).unwrap();
        let line = rollup
            .lines()
            .find(|line| line.starts_with("Pss:"))
            .unwrap();
        let number = line.split_whitespace().nth(1).unwrap();
        kilobytes += number.parse::<u64>().unwrap();
    }
    servers.into_iter().for_each(end);
    assert!(kilobytes < 400_000, "{kilobytes} kB");
}
