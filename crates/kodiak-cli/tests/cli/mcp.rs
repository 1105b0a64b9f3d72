//! `kodiak mcp` over standard input and output, as clients start it.

#![expect(
    clippy::needless_pass_by_value,
    reason = "calls read better with the arguments in them"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use serde_json::{Value, json};

use crate::desk::Desk;

/// What a test waits for at most, on a slow machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// A client of one server.
struct Client {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Client {
    fn start(desk: &Desk, options: &[&str]) -> Self {
        let arguments: Vec<&str> = ["mcp"].iter().chain(options).copied().collect();
        Self::of(&mut desk.command(&arguments))
    }

    fn of(command: &mut Command) -> Self {
        let mut server = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self {
            input: server.stdin.take().unwrap(),
            output: BufReader::new(server.stdout.take().unwrap()),
            server,
            next: 0,
        }
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    /// Sends a request and returns the message that answers it. Every line has to
    /// be a message.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "it has ended");
            let message: Value = serde_json::from_str(&line).unwrap();
            assert_eq!(message["jsonrpc"], "2.0");
            if message["id"] == id {
                return message;
            }
        }
    }

    fn initialize(&mut self) -> Value {
        let client = json!({"name": "test", "version": "1"});
        let params =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        let answer = self.ask("initialize", params);
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        self.ask("tools/call", params)["result"].clone()
    }

    fn text(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Closes the input and returns the exit code.
    fn close(mut self) -> Option<i32> {
        drop(self.input);
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        self.server.wait().unwrap().code()
    }
}

#[test]
fn a_client_searches_reads_and_leaves() {
    let desk = Desk::indexed();
    let mut client = Client::start(&desk, &[]);
    assert_eq!(
        client.initialize()["result"]["serverInfo"]["name"],
        "kodiak"
    );
    let listed = client.ask("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert!(names.starts_with(&["search", "get"]), "{names:?}");
    assert!(!names.contains(&"remember") && !names.contains(&"page_create"));
    let found = client.call("search", json!({"query": "kartoffelsuppe"}));
    let id = found["structuredContent"]["hits"][0]["id"].clone();
    let text = client.text("get", json!({"ids": [id]}));
    assert!(text.contains("Omas Kartoffelsuppe"), "{text}");
    assert_eq!(client.close(), Some(0));
}

#[test]
fn a_server_answers_before_anything_is_indexed() {
    let desk = Desk::with_notes();
    let mut client = Client::start(&desk, &[]);
    client.initialize();
    let text = client.text("search", json!({"query": "bread"}));
    assert!(text.contains("nothing is indexed yet"), "{text}");
    assert_eq!(client.close(), Some(0));
}

#[test]
fn what_is_registered_is_indexed_in_the_background() {
    let desk = Desk::indexed();
    std::fs::remove_dir_all(desk.index().parent().unwrap()).unwrap();
    let mut client = Client::start(&desk, &["--tools", "all"]);
    client.initialize();
    let begun = std::time::Instant::now();
    loop {
        let found = client.call("search", json!({"query": "kartoffelsuppe"}));
        let answer = &found["structuredContent"];
        if answer["total"] == 1 {
            break;
        }
        assert_eq!(
            (&found["isError"], &answer["complete"]),
            (&json!(false), &json!(false))
        );
        for tool in ["timeline", "brain_query", "recall_memory", "note_search"] {
            let arguments = match tool {
                "timeline" => json!({}),
                "note_search" => json!({"queries": ["a"]}),
                _ => json!({"query": "a"}),
            };
            let found = client.call(tool, arguments);
            assert_eq!(found["isError"], false, "{tool}: {found}");
        }
        assert!(begun.elapsed() < PATIENCE, "{answer}");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(client.close(), Some(0));
}

#[test]
fn what_was_written_a_moment_ago_is_found_or_missed_openly() {
    let desk = Desk::indexed();
    let mut client = Client::start(&desk, &[]);
    client.initialize();
    for number in 0..5 {
        let word = format!("unheardof{number}");
        std::fs::write(desk.path(&format!("notes/new{number}.md")), &word).unwrap();
        let found = client.call("search", json!({"query": word}));
        let answer = &found["structuredContent"];
        let there = answer["total"] == 1;
        assert!(there || answer["complete"] == false, "{answer}");
    }
    assert_eq!(client.close(), Some(0));
}

/// Another process adds a source and removes it, and the server is not restarted.
#[test]
fn a_source_that_is_added_meanwhile_is_served() {
    let desk = Desk::indexed();
    let mut client = Client::start(&desk, &[]);
    client.initialize();
    let in_more = |word: &str| json!({"query": word, "sources": ["more"]});
    let text = client.text("search", in_more("zebrafish"));
    assert!(text.contains("no source"), "{text}");
    desk.write("more/zebrafish.md", "# Zebrafish\n\nIt has stripes.\n");
    desk.ok(&["add", "more"]);
    let found = client.call("search", in_more("zebrafish"));
    assert_eq!(found["structuredContent"]["total"], 1, "{found}");
    // It is not only searched: what changes in it is looked for, too.
    for number in 0..5 {
        let word = format!("unheardof{number}");
        desk.write(&format!("more/new{number}.md"), &word);
        let begun = std::time::Instant::now();
        loop {
            let found = client.call("search", in_more(&word));
            let answer = &found["structuredContent"];
            if answer["total"] == 1 {
                break;
            }
            assert_eq!(answer["complete"], false, "{answer}");
            assert!(begun.elapsed() < PATIENCE, "{answer}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
    desk.ok(&["remove", "more"]);
    let text = client.text("search", in_more("zebrafish"));
    assert!(text.contains("no source"), "{text}");
    // Settings that cannot be read change nothing.
    desk.write("config/kodiak/config.toml", "sources = 7 [[[");
    let found = client.call("search", json!({"query": "kartoffelsuppe"}));
    assert_eq!(found["structuredContent"]["total"], 1, "{found}");
    assert_eq!(client.close(), Some(0));
}

#[test]
fn only_the_named_source_exists() {
    let desk = Desk::indexed();
    desk.write(
        "secrets/private.md",
        "# Private\n\nMarzipan and kartoffelsuppe.\n",
    );
    desk.ok(&["add", "secrets"]);
    let mut client = Client::start(&desk, &["--source", "notes", "--tools", "all"]);
    client.initialize();
    for (tool, arguments) in [
        ("search", json!({"query": "marzapin"})),
        (
            "search",
            json!({"query": "kartoffelsuppe", "sources": ["secrets"]}),
        ),
        ("get", json!({"ids": ["secrets/private.md", "Private"]})),
        ("status", json!({})),
        ("note_search", json!({"queries": ["marzapin", "*"]})),
    ] {
        let text = client.text(tool, arguments).to_lowercase();
        assert!(!text.contains("marzipan "), "{tool}: {text}");
        assert!(tool == "get" || !text.contains("private"), "{tool}: {text}");
    }
    assert_eq!(client.close(), Some(0));
    let refused = desk.run(&["mcp", "--source", "nots"]);
    insta::assert_snapshot!(refused, @r"
    exit: 2
    --- stderr
    error: there is no source named 'nots'
    hint: did you mean 'notes'?
    hint: known sources: notes, secrets
    ");
}

#[test]
fn only_the_named_project_exists() {
    let desk = Desk::new();
    for project in ["atlas", "hidden"] {
        let text = format!("---\nproject: /work/{project}\n---\nThe bread of {project}.\n");
        desk.write(&format!("notes/{project}.md"), text);
    }
    desk.write("notes/none.md", "The bread of nobody.\n");
    desk.ok(&["add", "notes", "--writable"]);
    let options = [
        "--project",
        "atlas",
        "--allow-write",
        "--tools",
        "default,pages",
    ];
    let mut client = Client::start(&desk, &options);
    client.initialize();
    let found = client.call("search", json!({"query": "bread"}));
    assert_eq!(found["structuredContent"]["total"], 1, "{found}");
    assert!(client.text("status", json!({})).starts_with("1 document."));
    let written = json!({"title": "Rye", "content": "A darker bread."});
    // Its name does not tell whether there is a `Rye.md` in another project.
    let said = client.text("page_create", written);
    assert_eq!(said, "Wrote \"notes/Rye f6b93486.md\".");
    let page = std::fs::read_to_string(desk.path("notes/Rye f6b93486.md")).unwrap();
    assert!(page.contains("project: \"/work/atlas\""), "{page}");
    let found = client.call("search", json!({"query": "bread"}));
    assert_eq!(found["structuredContent"]["total"], 2, "{found}");
    assert_eq!(client.close(), Some(0));
}

#[test]
fn what_a_client_remembers_is_kept() {
    let desk = Desk::indexed();
    let mut client = Client::start(&desk, &["--allow-write", "--tools", "default,pages"]);
    client.initialize();
    let text = "The staging database is refreshed every Monday morning.";
    let said = client.text("remember", json!({"text": text, "tags": ["staging"]}));
    assert!(said.starts_with("Remembered as "), "{said}");
    let again = client.text("remember", json!({"text": text}));
    assert!(again.starts_with("Known already as "), "{again}");
    assert_eq!(client.close(), Some(0));
    let found = desk.json(&["search", "staging database", "--json"]);
    assert_eq!(found["hits"][0]["tags"], json!(["staging"]), "{found}");
    let mut other = Client::start(&desk, &[]);
    other.initialize();
    let listed = other.text("timeline", json!({}));
    assert!(listed.contains("staging database"), "{listed}");
    assert_eq!(other.close(), Some(0));
}

#[test]
fn an_idle_server_ends() {
    let desk = Desk::indexed();
    let mut client = Client::start(&desk, &["--idle", "1"]);
    client.initialize();
    let mut rest = String::new();
    // The input stays open.
    client.output.read_to_string(&mut rest).unwrap();
    assert_eq!(client.server.wait().unwrap().code(), Some(0));
}

#[test]
fn a_set_of_tools_that_is_none_is_refused() {
    let desk = Desk::new();
    insta::assert_snapshot!(desk.run(&["mcp", "--tools", "default,flying"]), @r"
    exit: 2
    --- stderr
    error: there is no set of tools named 'flying'
    hint: the sets are default, notes, memory, brain, knowledge, pages and all
    ");
}

/// The client dies without closing anything, and another process still holds the
/// pipe that the server reads from.
#[cfg(unix)]
#[test]
fn a_server_ends_with_its_client_though_the_pipe_is_held() {
    let desk = Desk::indexed();
    let mut command = Command::new("/bin/sh");
    // A shell gives what runs in the background no input, unless it is told to.
    let script = "exec 3<&0; \"$0\" mcp <&3 & wait";
    let program = desk.command(&["mcp"]);
    command.args(["-c", script]).arg(program.get_program());
    for (name, value) in program.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    let mut client = Client::of(&mut command);
    client.initialize();
    let killed = std::time::Instant::now();
    client.server.kill().unwrap();
    client.server.wait().unwrap();
    // This test is the other process: it holds the input. The output ends when
    // the server does.
    let (sender, ended) = channel();
    let mut output = client.output;
    std::thread::spawn(move || {
        let mut rest = Vec::new();
        let _ = sender.send(output.read_to_end(&mut rest).is_ok());
    });
    assert_eq!(
        ended.recv_timeout(PATIENCE),
        Ok(true),
        "the server is still there"
    );
    // How long that may take is for `bench server` to say.
    println!("gone after {:.1?}", killed.elapsed());
    drop(client.input);
}
