//! `kodiak mcp install`: what it prints, and what it writes.

use std::fs;

use serde_json::{Value, json};

use crate::desk::Desk;

#[test]
fn what_to_enter_is_printed() {
    let desk = Desk::new();
    for client in [
        "claude-code",
        "claude-desktop",
        "cursor",
        "vscode",
        "gemini",
    ] {
        let run = desk.ok(&["mcp", "install", client]);
        let value: Value = serde_json::from_str(&run.stdout).unwrap();
        let section = if client == "vscode" {
            "servers"
        } else {
            "mcpServers"
        };
        let server = &value[section]["kodiak"];
        assert!(
            server["command"].as_str().unwrap().starts_with('/'),
            "{run}"
        );
        // What the environment says would be lost in the client's.
        assert_eq!(
            server["args"],
            json!(["mcp", "--model", "none", "--offline"])
        );
        assert!(run.stderr.contains("--write"), "{run}");
    }
    let run = desk.ok(&["mcp", "install", "codex"]);
    assert!(run.stdout.starts_with("[mcp_servers.kodiak]\n"), "{run}");
    // Nothing is written.
    assert!(!desk.path("home/.codex").exists());
}

#[test]
fn what_is_written_starts_the_server() {
    let desk = Desk::indexed();
    let path = desk.write(
        "home/.cursor/mcp.json",
        "{\n  // mine\n  \"mcpServers\": {},\n}\n",
    );
    let line = [
        "--index",
        "data/kodiak/index.db",
        "mcp",
        "install",
        "cursor",
        "--write",
        "--name",
        "notes",
        "--",
        "--source",
        "notes",
        "--max-tokens",
        "500",
    ];
    let run = desk.ok(&line);
    assert!(run.stderr.contains("mcp.json.bak"), "{run}");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("// mine"), "{text}");
    let value: Value =
        serde_json::from_str(&text.replace("// mine", "").replace("},\n}", "}\n}")).unwrap();
    let server = &value["mcpServers"]["notes"];
    let arguments: Vec<&str> = server["args"]
        .as_array()
        .unwrap()
        .iter()
        .map(|argument| argument.as_str().unwrap())
        .collect();
    let index = desk.index();
    assert_eq!(arguments[..3], ["mcp", "--index", index.to_str().unwrap()]);
    assert_eq!(arguments[arguments.len() - 2..], ["--max-tokens", "500"]);
    // It starts, from any folder, and ends with its input.
    let started = std::process::Command::new(server["command"].as_str().unwrap())
        .args(&arguments)
        .env_clear()
        .env("HOME", desk.path("home"))
        .env("XDG_CONFIG_HOME", desk.path("config"))
        .current_dir("/")
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    assert!(started.status.success(), "{started:?}");
    let again = desk.ok(&line);
    assert!(again.stderr.contains("already has it"), "{again}");
}

#[test]
fn what_would_not_work_is_refused() {
    let desk = Desk::new();
    let path = desk.write("home/.gemini/settings.json", "{ broken");
    let run = desk.run(&["mcp", "install", "gemini", "--write"]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("was left as it is"), "{run}");
    assert_eq!(fs::read_to_string(path).unwrap(), "{ broken");
    let run = desk.run(&["mcp", "install", "gemini", "--", "--no-such-option"]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("kodiak mcp --help"), "{run}");
    assert_eq!(desk.run(&["mcp", "install", "emacs"]).code, Some(2));
    assert_eq!(
        desk.run(&["mcp", "--allow-write", "install", "codex"]).code,
        Some(2)
    );
}

/// Each of them reads the file, adds its entry and writes it: all entries are there in
/// the end, in a file that there was and in one that there was not.
#[test]
fn many_at_once_lose_no_entry() {
    const MANY: usize = 16;
    let desk = Desk::new();
    let before = "{\n  // mine\n  \"mcpServers\": {\"mine\": {\"command\": \"x\"}},\n}\n";
    for (client, path, text) in [
        ("cursor", "home/.cursor/mcp.json", Some(before)),
        ("gemini", "home/.gemini/settings.json", None),
    ] {
        let path = match text {
            Some(text) => desk.write(path, text),
            None => desk.path(path),
        };
        let mut children: Vec<_> = (0..MANY)
            .map(|number| {
                let name = format!("server{number}");
                let line = ["mcp", "install", client, "--write", "--name", &name];
                let mut command = desk.command(&line);
                command.stderr(std::process::Stdio::piped());
                (name, command.spawn().unwrap())
            })
            .collect();
        let mut said = Vec::new();
        for (name, child) in children.drain(..) {
            let done = child.wait_with_output().unwrap();
            let stderr = String::from_utf8_lossy(&done.stderr).into_owned();
            assert!(
                done.status.success() && stderr.contains("wrote "),
                "{name}: {stderr}"
            );
            said.push(stderr);
        }
        let written = fs::read_to_string(&path).unwrap();
        for number in 0..MANY {
            let entry = format!("\"server{number}\"");
            assert_eq!(written.matches(&entry).count(), 1, "{entry} in {written}");
        }
        assert_eq!(written.contains("// mine"), text.is_some(), "{written}");
        // Each names the copy that it made, and no two the same.
        let copies: std::collections::BTreeSet<&str> = said
            .iter()
            .filter_map(|said| said.lines().next()?.split_once("previous version is "))
            .map(|(_, copy)| copy)
            .collect();
        assert_eq!(copies.len(), MANY - usize::from(text.is_none()));
    }
}
