//! Clients and terminals that are not what they seem: a client that writes and never
//! reads, and a terminal that would obey what a note says.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::desk::Desk;

/// How long a writer has to stand still to count as not heard.
const STILL: Duration = Duration::from_secs(3);
/// The requests that are sent at most. Their answers take about a gigabyte.
const MAX_BYTES: usize = 200_000;
/// The memory that the server may take, in kilobytes. It is generous: an idle server
/// takes a tenth of it.
const MEMORY: usize = 500_000;

#[test]
fn a_client_that_never_reads_costs_little_memory() {
    let desk = Desk::indexed();
    let mut server = desk
        .command(&["mcp", "--tools", "all"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = server.stdin.take().unwrap();
    // Held open, and never read.
    let _output = server.stdout.take().unwrap();
    let begin = json!({"jsonrpc": "2.0", "id": "begin", "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }});
    writeln!(input, "{begin}").unwrap();
    let written = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&written);
    let writing = std::thread::spawn(move || {
        for id in 0..MAX_BYTES {
            // Every third is not a message, which is answered, too.
            let line = match id % 3 {
                0 => json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"}).to_string(),
                1 => json!({"jsonrpc": "2.0", "id": 1, "method": "resources/list"}).to_string(),
                _ => "{}".to_owned(),
            };
            if writeln!(input, "{line}").is_err() {
                return;
            }
            counted.fetch_add(1, Ordering::Relaxed);
        }
    });
    let mut last = 0;
    loop {
        std::thread::sleep(STILL);
        let now = written.load(Ordering::Relaxed);
        if now == last || now == MAX_BYTES {
            break;
        }
        last = now;
    }
    let status = fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak: usize = peak
        .unwrap()
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .unwrap();
    let written = written.load(Ordering::Relaxed);
    server.kill().unwrap();
    server.wait().unwrap();
    writing.join().unwrap();
    assert!(written < MAX_BYTES, "all were read, with {peak} kB");
    assert!(peak < MEMORY, "{peak} kB after {written} requests");
}

#[test]
fn json_on_a_terminal_says_what_it_means_and_does_nothing() {
    let title = "zebra\u{9b}31m\u{202e}desrever\u{200f}\u{61c}\u{7f}";
    let desk = Desk::new();
    desk.write("notes/zebra.md", format!("# {title}\n\nA zebra\u{9b}2J.\n"));
    desk.ok(&["add", "notes"]);
    for line in [
        &["search", "zebra", "--json"][..],
        &["get", "zebra.md", "--json"],
    ] {
        let plain = desk.command(line);
        let program = plain.get_program().to_str().unwrap();
        let words: Vec<&str> = plain
            .get_args()
            .map(|word| word.to_str().unwrap())
            .collect();
        // `script` runs the program on a new terminal.
        let mut command = Command::new("script");
        command.args([
            "-qec",
            &format!("'{program}' {}", words.join(" ")),
            "/dev/null",
        ]);
        command.env_clear().stdin(Stdio::null());
        command.envs(
            plain
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        command.env("PATH", std::env::var_os("PATH").unwrap());
        command.current_dir(plain.get_current_dir().unwrap());
        let shown = command.output().unwrap();
        let shown = String::from_utf8(shown.stdout).unwrap();
        let signs = shown.replace("\r\n", "");
        assert!(!signs.contains(kodiak::escape::is_harmful), "{shown:?}");
        let value: Value =
            serde_json::from_str(&shown).unwrap_or_else(|error| panic!("{error}: {shown}"));
        let found = value.pointer("/hits/0/title").or(value.pointer("/title"));
        assert_eq!(found, Some(&json!(title)), "{shown}");
    }
}
