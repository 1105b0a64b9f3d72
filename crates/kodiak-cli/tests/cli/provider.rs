//! Providers of embeddings, which are servers on this machine that speak each
//! provider's format and fail in each way.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tiny_server::{Reply, Request, Server};

use crate::desk::{Desk, Run};

/// The topics that the provider's vectors tell apart.
const TOPICS: [&[&str]; 3] = [
    &["ramen", "broth", "noodles", "dinner", "cook"],
    &["week", "plan", "tasks", "productive"],
    &["lisbon", "train", "hotel", "travel"],
];

/// Returns a vector for a text: how much it has of each topic, and a little of
/// everything.
fn vector(text: &str) -> Vec<f64> {
    let text = text.to_lowercase();
    let share = |topic: &&[&str]| {
        let words = topic.iter().filter(|word| text.contains(**word));
        words.count() as f64
    };
    TOPICS.iter().map(share).chain([0.1]).collect()
}

fn texts(request: &Request) -> Vec<String> {
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    match body.get("requests") {
        Some(requests) => {
            let requests = requests.as_array().unwrap().iter();
            requests
                .map(|one| text(&one["content"]["parts"][0]["text"]))
                .collect()
        }
        None => body["input"].as_array().unwrap().iter().map(text).collect(),
    }
}

/// Answers with vectors, in the format of the request.
fn answer(request: &Request, vectors: &[Value]) -> Reply {
    let body = if request.path.ends_with("/api/embed") {
        json!({"model": "m", "embeddings": vectors})
    } else if request.path.ends_with(":batchEmbedContents") {
        let values = |vector: &Value| json!({"values": vector});
        json!({"embeddings": vectors.iter().map(values).collect::<Vec<_>>()})
    } else {
        let one = |(index, vector): (usize, &Value)| json!({"index": index, "embedding": vector});
        json!({"data": vectors.iter().enumerate().map(one).collect::<Vec<_>>()})
    };
    Reply::new(200, body.to_string())
}

fn embed(request: &Request) -> Reply {
    let vectors: Vec<Value> = texts(request)
        .iter()
        .map(|text| json!(vector(text)))
        .collect();
    answer(request, &vectors)
}

/// A desk with three notes whose config names a provider.
fn desk(provider: &str, server: &Server) -> Desk {
    let desk = Desk::unset();
    desk.write("notes/ramen.md", "# Ramen\n\nSimmer the broth for hours.\n");
    desk.write("notes/week.md", "# Week\n\nWrite down the tasks.\n");
    desk.write("notes/lisbon.md", "# Lisbon\n\nThe train leaves at noon.\n");
    desk.write(
        "config/kodiak/config.toml",
        format!(
            "[model]\nprovider = \"{provider}\"\nmodel = \"m\"\nurl = \"{}\"\ntimeout = 2\n\
             [search]\ndeadline_ms = 60000\n",
            server.url()
        ),
    );
    desk
}

fn add(desk: &Desk) -> Run {
    desk.ok(&["add", "notes"])
}

#[test]
fn notes_are_found_by_meaning_with_each_provider() {
    for provider in ["ollama", "openai", "gemini"] {
        let server = Server::start(|request, _| embed(request));
        let desk = desk(provider, &server);
        add(&desk);
        let status = desk.ok(&["status"]);
        let expected =
            format!("semantic search: {provider}/m (4 dimensions), all of 3 chunks embedded");
        assert!(status.stdout.contains(&expected), "{status}");
        // No word of the question is in the note.
        assert_eq!(desk.found(&["cook noodles for dinner"])[0], "ramen.md");
        assert_eq!(
            desk.found(&["--mode", "semantic", "travel to a hotel"])[0],
            "lisbon.md"
        );
        let listed = desk.ok(&["model", "list"]);
        assert!(listed.stdout.contains(&format!("{provider}/m")), "{listed}");
        // What is embedded is not sent again.
        let asked = server.seen().len();
        desk.ok(&["index"]);
        assert_eq!(server.seen().len(), asked);
    }
}

#[test]
fn a_model_is_tested() {
    let server = Server::start(|request, _| embed(request));
    let desk = desk("ollama", &server);
    let tested = desk.json(&["model", "test", "--json"]);
    assert_eq!(tested["model"], "ollama/m");
    assert_eq!(tested["dimensions"], 4);
    assert!(tested["first_ms"].as_f64().unwrap() > 0.0, "{tested}");
    assert!(tested["similarity"].as_f64().unwrap() > 0.0, "{tested}");
    let run = desk.ok(&["model", "test"]);
    assert!(run.stdout.contains("dimensions: 4\n"), "{run}");
    let run = desk.run(&["model", "test", "--offline"]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("Kodiak is offline"), "{run}");
    let run = Desk::with_model().ok(&["model", "test"]);
    assert!(run.stdout.contains("model: tiny "), "{run}");
}

/// The name of a failing, what a provider does wrong, and what is said about it.
type Failing = (&'static str, fn(&Request) -> Reply, &'static str);

/// Every way in which a provider fails.
fn failings() -> Vec<Failing> {
    vec![
        (
            "wrong dimension",
            |request| {
                let vectors: Vec<Value> = texts(request).iter().map(|_| json!([1, 2])).collect();
                answer(request, &vectors)
            },
            "2 numbers instead of 4",
        ),
        (
            "401",
            |_| Reply::new(401, r#"{"error": "who are you?"}"#),
            "it asks for a key",
        ),
        (
            "429",
            |_| Reply::new(429, "").header("retry-after", 3_600),
            "status 429",
        ),
        (
            "500",
            |_| Reply::new(500, "oops").header("retry-after", 0),
            "status 500: oops",
        ),
        (
            "timeout",
            |request| embed(request).stall_after(0, Duration::from_secs(4)),
            "took too long to answer",
        ),
        (
            "malformed",
            |_| Reply::new(200, "{\"embeddings\": [["),
            "is not understood",
        ),
        (
            "empty vectors",
            |request| {
                let vectors: Vec<Value> = texts(request).iter().map(|_| json!([])).collect();
                answer(request, &vectors)
            },
            "its vector is empty",
        ),
        (
            "NaN",
            |request| {
                let vectors: Vec<Value> = texts(request)
                    .iter()
                    .map(|_| json!([null, 1, 1, 1]))
                    .collect();
                answer(request, &vectors)
            },
            "is not a number",
        ),
        ("no connection", |_| Reply::drop_connection(), "broke"),
    ]
}

#[test]
fn a_search_answers_by_words_and_says_why() {
    for provider in ["ollama", "openai", "gemini"] {
        for (name, fail, expected) in failings() {
            let failing = Arc::new(AtomicUsize::new(0));
            let switch = Arc::clone(&failing);
            let server = Server::start(move |request, _| {
                if switch.load(Ordering::SeqCst) == 0 {
                    return embed(request);
                }
                fail(request)
            });
            let desk = desk(provider, &server);
            add(&desk);
            failing.store(1, Ordering::SeqCst);
            let run = desk.run(&["search", "simmer the broth for hours"]);
            assert_eq!(run.code, Some(0), "{provider} {name}: {run}");
            assert!(run.stdout.contains("ramen.md"), "{provider} {name}: {run}");
            assert!(run.stderr.contains(expected), "{provider} {name}: {run}");
        }
    }
}

#[test]
fn the_index_never_fails_and_the_next_run_catches_up() {
    for (name, fail, expected) in failings() {
        // A text's own fault is the only one that is held against it.
        let is_texts_fault = matches!(name, "empty vectors" | "NaN");
        let failing = Arc::new(AtomicUsize::new(1));
        let switch = Arc::clone(&failing);
        let server = Server::start(move |request, number| {
            // The first question is how many dimensions there are.
            if switch.load(Ordering::SeqCst) == 0 || number == 0 {
                return embed(request);
            }
            fail(request)
        });
        let desk = desk("openai", &server);
        if name == "timeout" {
            let config = std::fs::read_to_string(desk.config()).unwrap();
            desk.write(
                "config/kodiak/config.toml",
                config.replace("timeout = 2", "timeout = 1"),
            );
        }
        let run = if matches!(name, "timeout" | "no connection") {
            // These are retried for a while; words can be searched during that time.
            desk.ok(&["add", "notes", "--model", "none"])
        } else {
            let run = add(&desk);
            assert!(run.stderr.contains(expected), "{name}: {run}");
            run
        };
        assert_eq!(run.code, Some(0), "{name}: {run}");
        assert_eq!(desk.found(&["broth"]), ["ramen.md"], "{name}");
        let status = desk.json(&["status", "--embeddings", "--json"]);
        let failures = status["embeddings"]["failures"].as_array().unwrap().len();
        assert!(is_texts_fault || failures == 0, "{name}: {status}");
        failing.store(0, Ordering::SeqCst);
        let run = desk.ok(&["config", "set", "model.timeout", "20"]);
        assert!(run.stderr.contains("set model.timeout"), "{run}");
        desk.ok(&["index"]);
        let status = desk.ok(&["status"]);
        assert!(
            status.stdout.contains("all of 3 chunks embedded"),
            "{name}: {status}"
        );
    }
}

#[test]
fn a_provider_that_was_never_there_changes_nothing() {
    let server = Server::start(|request, _| embed(request));
    let desk = desk("ollama", &server);
    drop(server);
    std::thread::sleep(Duration::from_millis(100));
    let run = add(&desk);
    assert!(
        run.stderr.contains("could not connect to 127.0.0.1"),
        "{run}"
    );
    assert_eq!(desk.found(&["broth"]), ["ramen.md"]);
}

#[test]
fn a_key_is_taken_from_the_environment_and_never_shown_or_stored() {
    let server = Server::start(|request, _| match request.header("authorization") {
        Some("Bearer sk-hunter2") => embed(request),
        _ => Reply::new(
            401,
            r#"{"error": {"message": "Incorrect API key: sk-hunter2"}}"#,
        ),
    });
    let desk = desk("openai", &server);
    desk.ok(&["config", "set", "model.key", "${MY_KEY}"]);
    let with = |key: &str, arguments: &[&str]| {
        let mut command: Command = desk.command(arguments);
        desk.finish(command.env("MY_KEY", key))
    };
    let run = with("sk-hunter2", &["add", "notes", "-v"]);
    assert_eq!(run.code, Some(0), "{run}");
    let shown = [
        run.to_string(),
        with("sk-hunter2", &["config", "show"]).to_string(),
        with("sk-hunter2", &["status", "--embeddings", "--json"]).to_string(),
        with("sk-hunter2", &["model", "test", "-v"]).to_string(),
        with("sk-hunter2", &["doctor"]).to_string(),
    ];
    for shown in shown {
        assert!(!shown.contains("hunter2"), "{shown}");
    }
    // Nor is it in any file.
    for folder in ["data", "home", "config"] {
        let mut folders = vec![desk.path(folder)];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let content = std::fs::read(&path).unwrap();
                    let found = content.windows(7).any(|part| part == b"hunter2");
                    assert!(!found, "{}", path.display());
                }
            }
        }
    }
    let run = with("sk-other", &["search", "the broth"]);
    assert!(run.stderr.contains("the key is not accepted"), "{run}");
    let run = desk.run(&["search", "the broth"]);
    assert!(run.stderr.contains("set the variable MY_KEY"), "{run}");
    assert_eq!(run.code, Some(0), "{run}");
}

#[test]
fn vectors_of_two_models_are_never_compared() {
    let server = Server::start(|request, _| {
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let turned = body["model"] == "n";
        // The same number of dimensions, but other directions.
        let vectors: Vec<Value> = texts(request)
            .iter()
            .map(|text| {
                let mut vector = vector(text);
                if turned {
                    vector.rotate_left(1);
                }
                json!(vector)
            })
            .collect();
        answer(request, &vectors)
    });
    let desk = desk("ollama", &server);
    add(&desk);
    let question = ["--mode", "semantic", "cook noodles for dinner"];
    assert_eq!(desk.found(&question)[0], "ramen.md");
    desk.ok(&["config", "set", "model.model", "n"]);
    // The new model has no vectors yet: words answer, and nothing is compared.
    let run = desk.run(&["search", "the broth"]);
    assert!(run.stdout.contains("ramen.md"), "{run}");
    assert!(run.stderr.contains("run `kodiak index`"), "{run}");
    desk.ok(&["index"]);
    assert_eq!(desk.found(&question)[0], "ramen.md");
    let status = desk.ok(&["status"]);
    assert!(
        status.stdout.contains("ollama/n (4 dimensions), all of 3"),
        "{status}"
    );
}

/// With --offline, no socket is opened at all: neither to a hub nor to a provider
/// nor to a name server.
#[cfg(target_os = "linux")]
#[test]
fn offline_no_socket_is_opened() {
    let Ok(version) = Command::new("strace").arg("--version").output() else {
        return;
    };
    assert!(version.status.success());
    let server = Server::start(|request, _| embed(request));
    let desk = desk("ollama", &server);
    add(&desk);
    let asked = server.seen().len();
    let sockets = |arguments: &[&str]| {
        let log = desk.path("strace.log");
        let inner = desk.command(arguments);
        let mut command = Command::new("strace");
        command
            .args(["-f", "-qq", "-e", "trace=%network", "-o"])
            .arg(&log);
        command.arg(inner.get_program()).args(inner.get_args());
        command.env_clear().current_dir(desk.path(""));
        for (name, value) in inner.get_envs() {
            if let Some(value) = value {
                command.env(name, value);
            }
        }
        command
            .env_remove("HF_HUB_OFFLINE")
            .env("HF_ENDPOINT", server.url());
        desk.finish(&mut command);
        let log = std::fs::read_to_string(log).unwrap();
        let opened = log.lines().filter(|line| line.contains("socket("));
        opened.map(str::to_owned).collect::<Vec<_>>()
    };
    for arguments in [
        &["search", "--offline", "the broth"][..],
        &["--offline", "index"],
        &["--offline", "index", "--rebuild", "--embeddings"],
        &["--offline", "model", "test"],
        &["--offline", "model", "install", "bge-small-en-v1.5"],
        &["--offline", "model", "list"],
        &["--offline", "doctor"],
    ] {
        assert_eq!(sockets(arguments), [] as [&str; 0], "{arguments:?}");
    }
    assert_eq!(server.seen().len(), asked);
    // The same without the option, to see that sockets are seen.
    assert_ne!(sockets(&["model", "test"]), [] as [&str; 0]);
}
