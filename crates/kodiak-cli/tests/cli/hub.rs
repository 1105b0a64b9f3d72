//! Models from a hub, which is a server on this machine.

use std::fs;
use std::process::Command;

use tiny_server::{Reply, Request, Server};

use crate::desk::Desk;

/// A model of the catalogue that only the hub has, with vectors of 384 numbers.
const NAME: &str = "multilingual-e5-small";
const WEIGHTS: &str = "/Xenova/multilingual-e5-small/resolve/main/onnx/model_quantized.onnx";
const TOKENIZER: &str = "/Xenova/multilingual-e5-small/resolve/main/tokenizer.json";

/// A hub that has a small model under the name of a real one.
fn hub() -> Server {
    let folder = tempfile::tempdir().unwrap();
    tiny_model::variant(folder.path(), 1, 384).unwrap();
    let weights = fs::read(folder.path().join("model.onnx")).unwrap();
    let tokenizer = fs::read(folder.path().join("tokenizer.json")).unwrap();
    Server::start(move |request: &Request, _| match request.path.as_str() {
        WEIGHTS => Reply::new(200, weights.clone()).in_part(request, "\"w\""),
        TOKENIZER => Reply::new(200, tokenizer.clone()).in_part(request, "\"t\""),
        _ => Reply::new(404, "Entry not found"),
    })
}

fn command(desk: &Desk, hub: &Server, arguments: &[&str]) -> Command {
    let mut command = desk.command(arguments);
    command
        .env_remove("HF_HUB_OFFLINE")
        .env("HF_ENDPOINT", hub.url());
    command
}

#[test]
fn a_model_that_is_named_comes_from_the_hub() {
    let (desk, hub) = (Desk::unset(), hub());
    let run = desk.finish(&mut command(&desk, &hub, &["model", "install", NAME]));
    assert_eq!(run.code, Some(0), "{run}");
    let host = hub.address();
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(
        lines[0],
        format!("installing the model {NAME} (once) from {host} …")
    );
    assert!(
        lines[1].starts_with(&format!("installed the model {NAME} (")),
        "{run}"
    );
    let listed = desk.ok(&["model", "list"]);
    let row = listed
        .stdout
        .lines()
        .find(|line| line.starts_with(NAME))
        .unwrap();
    assert!(row.contains(" installed "), "{listed}");
    assert_eq!(hub.seen().len(), 2);
    // Once it is installed, no request is made.
    desk.ok(&["model", "install", NAME, "--offline"]);
    assert_eq!(
        desk.finish(&mut command(&desk, &hub, &["model", "install", NAME]))
            .code,
        Some(0)
    );
    assert_eq!(hub.seen().len(), 2);
}

#[test]
fn the_index_gets_a_named_model_by_itself() {
    let (desk, hub) = (Desk::unset(), hub());
    desk.write("notes/ramen.md", "# Ramen\n\nSimmer the broth.");
    desk.ok(&["config", "set", "model", NAME]);
    let run = desk.finish(&mut command(&desk, &hub, &["add", "notes"]));
    assert_eq!(run.code, Some(0), "{run}");
    let status = desk.ok(&["status"]);
    assert!(status.stdout.contains(NAME), "{status}");
    assert!(
        status.stdout.contains("all of 1 chunk embedded"),
        "{status}"
    );
}

#[test]
fn with_nothing_configured_the_hub_is_not_asked() {
    let (desk, hub) = (Desk::unset(), hub());
    let run = desk.finish(&mut command(&desk, &hub, &["model", "install"]));
    assert_eq!(run.code, Some(2), "{run}");
    desk.write("notes/ramen.md", "# Ramen");
    let run = desk.finish(&mut command(&desk, &hub, &["add", "notes"]));
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stderr.contains("searching by words only"), "{run}");
    assert!(hub.seen().is_empty());
}

#[test]
fn offline_and_forbidden_hubs_are_not_asked() {
    let (desk, hub) = (Desk::unset(), hub());
    let mut offline = command(&desk, &hub, &["model", "install", NAME, "--offline"]);
    let run = desk.finish(&mut offline);
    assert!(
        run.stderr
            .contains("is not installed, and Kodiak is offline"),
        "{run}"
    );
    let mut forbidden = command(&desk, &hub, &["model", "install", NAME]);
    let run = desk.finish(forbidden.env("HF_HUB_OFFLINE", "1"));
    assert_eq!(run.code, Some(2), "{run}");
    assert!(hub.seen().is_empty());
}

#[test]
fn a_token_is_sent_and_not_shown() {
    let (desk, hub) = (Desk::unset(), Server::start(|_, _| Reply::new(401, "")));
    let mut command = command(&desk, &hub, &["model", "install", NAME, "-v"]);
    let run = desk.finish(command.env("HF_TOKEN", "hf_hunter2"));
    assert_eq!(run.code, Some(2), "{run}");
    assert!(
        run.stderr
            .contains("accept the licence on its page, then set HF_TOKEN"),
        "{run}"
    );
    assert_eq!(
        hub.seen()[0].header("authorization"),
        Some("Bearer hf_hunter2")
    );
    assert!(!run.to_string().contains("hunter2"), "{run}");
}

#[test]
fn a_proxy_is_used() {
    let (desk, hub) = (Desk::unset(), hub());
    let to = hub.address();
    let proxy = Server::start(move |_, _| Reply::tunnel(to));
    let mut command = command(&desk, &hub, &["model", "install", NAME]);
    command
        .env("HF_ENDPOINT", "http://hub.invalid")
        .env("HTTP_PROXY", proxy.url());
    let run = desk.finish(&mut command);
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(proxy.seen()[0].path, "hub.invalid:80");
}

#[test]
fn what_another_program_downloaded_is_used_offline() {
    let desk = Desk::unset();
    let repository = desk.path("home/.cache/huggingface/hub/models--Xenova--multilingual-e5-small");
    let snapshot = repository.join("snapshots/abc");
    fs::create_dir_all(repository.join("refs")).unwrap();
    fs::write(repository.join("refs/main"), "abc").unwrap();
    tiny_model::variant(&snapshot, 1, 384).unwrap();
    fs::create_dir(snapshot.join("onnx")).unwrap();
    fs::rename(
        snapshot.join("model.onnx"),
        snapshot.join("onnx/model_quantized.onnx"),
    )
    .unwrap();
    let run = desk.ok(&["model", "install", NAME, "--offline"]);
    assert!(
        run.stderr
            .contains("installed the model multilingual-e5-small"),
        "{run}"
    );
}

#[test]
fn a_kill_in_the_middle_is_continued() {
    let desk = Desk::unset();
    let folder = tempfile::tempdir().unwrap();
    tiny_model::variant(folder.path(), 1, 384).unwrap();
    let weights = fs::read(folder.path().join("model.onnx")).unwrap();
    let tokenizer = fs::read(folder.path().join("tokenizer.json")).unwrap();
    let hub = Server::start(
        move |request: &Request, number| match request.path.as_str() {
            WEIGHTS => {
                let reply = Reply::new(200, weights.clone()).in_part(request, "\"w\"");
                if number == 0 {
                    return reply.stall_after(200_000, std::time::Duration::from_secs(30));
                }
                reply
            }
            _ => Reply::new(200, tokenizer.clone()),
        },
    );
    let mut child = command(&desk, &hub, &["model", "install", NAME])
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let partial = || {
        let entries = fs::read_dir(desk.models()).ok()?;
        let mut files = entries.map(|entry| entry.unwrap());
        let file = files.find(|file| {
            let name = file.file_name();
            let name = name.to_str().unwrap();
            name.starts_with(".partial-") && !name.ends_with("tag")
        })?;
        file.metadata().ok().map(|metadata| metadata.len())
    };
    while partial() != Some(200_000) {
        assert_eq!(child.try_wait().unwrap(), None);
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let listed = desk.ok(&["model", "list", "--json"]);
    assert!(!listed.stdout.contains("\"installed\":true"), "{listed}");
    let run = desk.finish(&mut command(&desk, &hub, &["model", "install", NAME]));
    assert_eq!(run.code, Some(0), "{run}");
    let asked = hub.seen();
    assert_eq!(asked[1].header("range"), Some("bytes=200000-"), "{asked:?}");
}
