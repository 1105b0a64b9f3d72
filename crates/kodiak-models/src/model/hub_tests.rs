//! Tests of the hub client against a server on this machine that behaves like a
//! hub, well and badly.

use std::fs;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use tiny_server::{Reply, Request, Server};

use super::*;
use crate::http::Proxies;
use crate::model::{Plan, install, installed, verify};

static MODEL: LazyLock<Vec<u8>> = LazyLock::new(|| file("model.onnx"));
static TOKENS: LazyLock<Vec<u8>> = LazyLock::new(|| file("tokenizer.json"));

const WEIGHTS_PATH: &str = "/tiny/model/resolve/main/onnx/model.onnx";
const TAG: &str = "\"one\"";

fn file(name: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    tiny_model::write(folder.path()).unwrap();
    fs::read(folder.path().join(name)).unwrap()
}

fn hash(content: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    kodiak_base::hex(&Sha256::digest(content))
}

/// Answers as a hub does that has the model.
fn hub(request: &Request) -> Reply {
    match request.path.as_str() {
        WEIGHTS_PATH => Reply::new(200, MODEL.clone()).in_part(request, TAG),
        "/tiny/model/resolve/main/tokenizer.json" => {
            Reply::new(200, TOKENS.clone()).in_part(request, "\"two\"")
        }
        _ => Reply::new(404, "Entry not found"),
    }
}

/// A cache, and a model that only the hub has.
struct Desk {
    root: tempfile::TempDir,
    model: KnownModel,
    plan: Plan,
}

impl Desk {
    fn new(server: &Server) -> Self {
        Self::at(&server.url())
    }

    fn at(endpoint: &str) -> Self {
        let root = tempfile::tempdir().unwrap();
        let known: KnownModel = toml::from_str(
            "name = 'tiny'\nabout = 'x'\ngood_for = 'x'\nlicence = 'MIT'\n\
             languages = ['en']\ntried = false\n\
             settings = { dimensions = 16, pooling = 'mean', max_tokens = 64 }\n\
             [hub]\nrepository = 'tiny/model'\nweights = { path = 'onnx/model.onnx' }\n\
             tokenizer = { path = 'tokenizer.json' }",
        )
        .unwrap();
        let hub = Hub {
            endpoint: endpoint.to_owned(),
            token: None,
            network: Network::default(),
            idle: Some(Duration::from_secs(20)),
        };
        Self {
            model: known,
            plan: Plan {
                cache: root.path().join("cache"),
                npm: None,
                pip: None,
                snapshots: None,
                hub: Some(hub),
                patience: Duration::from_mins(2),
            },
            root,
        }
    }

    fn hub(&mut self) -> &mut Hub {
        self.plan.hub.as_mut().unwrap()
    }

    fn install(&self) -> kodiak_base::Result<InstalledModel> {
        install(&self.model, &self.plan, &mut |_| {})
    }

    /// Installs what must work, and checks that nothing else is left.
    fn works(&self) -> InstalledModel {
        let model = self.install().unwrap();
        verify(&model).unwrap();
        assert_eq!(fs::read(model.folder.join(WEIGHTS)).unwrap(), *MODEL);
        let left: Vec<String> = self.entries();
        let others = |name: &&String| !name.starts_with("tiny-") && !name.starts_with(".hash-");
        assert_eq!(left.iter().filter(others).count(), 0, "{left:?}");
        model
    }

    /// Returns why the model cannot be had. Nothing of it counts as installed.
    fn refused(&self) -> String {
        match self.install().unwrap_err() {
            Error::ModelUnobtainable { attempts, .. } => {
                assert!(installed(&self.plan.cache).unwrap().is_empty());
                assert!(
                    !self
                        .entries()
                        .iter()
                        .any(|name| name.starts_with(".temporary"))
                );
                attempts.join("; ")
            }
            other => panic!("{other}"),
        }
    }

    fn entries(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(&self.plan.cache) else {
            return Vec::new();
        };
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }
}

fn weights_requests(server: &Server) -> Vec<Request> {
    let mut seen = server.seen();
    seen.retain(|request| request.path == WEIGHTS_PATH);
    seen
}

#[test]
fn a_model_comes_from_the_hub_once() {
    let server = Server::start(|request, _| hub(request));
    let desk = Desk::new(&server);
    let mut told = Vec::new();
    let model = install(&desk.model, &desk.plan, &mut |progress| {
        if let Progress::Downloading { path, done, total } = progress {
            told.push((path.to_owned(), done, total));
        }
    })
    .unwrap();
    let whole = MODEL.len() as u64;
    assert!(
        told.contains(&("onnx/model.onnx".to_owned(), 0, Some(whole))),
        "{told:?}"
    );
    assert!(
        told.contains(&("onnx/model.onnx".to_owned(), whole, Some(whole))),
        "{told:?}"
    );
    let manifest = fs::read_to_string(model.folder.join("model.json")).unwrap();
    assert!(manifest.contains("hub tiny/model@main"), "{manifest}");
    assert_eq!(desk.works().identity, model.identity);
    let agent = server.seen()[0].header("user-agent").unwrap().to_owned();
    assert!(agent.starts_with("kodiak/"), "{agent}");
}

#[test]
fn a_dropped_connection_is_continued_where_it_broke() {
    let server = Server::start(|request, number| match number {
        0 => hub(request).cut_after(1_000),
        1 => Reply::drop_connection(),
        2 => hub(request).cut_after(2_000),
        _ => hub(request),
    });
    Desk::new(&server).works();
    let ranges: Vec<Option<String>> = weights_requests(&server)
        .iter()
        .map(|request| request.header("range").map(str::to_owned))
        .collect();
    let expected = [None, Some(1_000), Some(1_000), Some(3_000)];
    let expected = expected.map(|from| from.map(|from| format!("bytes={from}-")));
    assert_eq!(ranges, expected);
}

#[test]
fn the_next_process_continues_where_the_last_one_stopped() {
    let server = Server::start(|request, number| match number {
        0 => hub(request).cut_after(5_000),
        1..=5 => Reply::drop_connection(),
        _ => hub(request),
    });
    let desk = Desk::new(&server);
    assert!(
        desk.refused()
            .starts_with("hub: the connection to 127.0.0.1")
    );
    assert!(
        desk.entries()
            .iter()
            .any(|name| name.starts_with(".partial-"))
    );
    desk.works();
    let last = weights_requests(&server).pop().unwrap();
    assert_eq!(last.header("range"), Some("bytes=5000-"));
    assert_eq!(last.header("if-range"), Some(TAG));
}

#[test]
fn a_file_that_changed_meanwhile_is_begun_anew() {
    let server = Server::start(|request, number| match number {
        0 => Reply::new(200, vec![7; 9_000])
            .header("etag", "\"zero\"")
            .cut_after(6_000),
        _ => hub(request),
    });
    Desk::new(&server).works();
}

#[test]
fn a_server_that_knows_no_parts_is_asked_for_the_whole() {
    let server = Server::start(|request, number| match number {
        0 => Reply::new(200, MODEL.clone()).cut_after(6_000),
        1 if request.path == WEIGHTS_PATH => {
            assert_eq!(request.header("range"), None);
            Reply::new(200, MODEL.clone())
        }
        _ => hub(request),
    });
    Desk::new(&server).works();
}

#[test]
fn a_part_from_elsewhere_is_not_taken() {
    let server = Server::start(|request, number| match number {
        0 => hub(request).cut_after(6_000),
        1 => Reply::new(206, vec![1; 10])
            .header("content-range", format!("bytes 5000-5009/{}", MODEL.len())),
        _ => hub(request),
    });
    Desk::new(&server).works();
}

#[test]
fn wrong_bytes_are_never_used() {
    let mut wrong = MODEL.clone();
    wrong[100] ^= 1;
    // Pinned by the catalogue.
    let sent = wrong.clone();
    let server = Server::start(move |request, _| match request.path.as_str() {
        WEIGHTS_PATH => Reply::new(200, sent.clone()),
        _ => hub(request),
    });
    let mut desk = Desk::new(&server);
    let weights = &mut desk.model.hub.as_mut().unwrap().weights;
    weights.sha256 = Some(hash(&MODEL));
    assert_eq!(
        desk.refused(),
        "hub: the hub has another model.onnx than expected"
    );
    let weights = &mut desk.model.hub.as_mut().unwrap().weights;
    weights.bytes = Some(MODEL.len() as u64 + 1);
    assert_eq!(
        desk.refused(),
        "hub: the hub has another onnx/model.onnx than expected"
    );

    // Announced by the hub on the way.
    let (elsewhere, announced) = (
        Server::start(move |_, _| Reply::new(200, wrong.clone())),
        hash(&MODEL),
    );
    let to = elsewhere.url();
    let server = Server::start(move |request, _| match request.path.as_str() {
        WEIGHTS_PATH => {
            Reply::redirect(&format!("{to}/x")).header("x-linked-etag", format!("\"{announced}\""))
        }
        _ => hub(request),
    });
    assert_eq!(
        Desk::new(&server).refused(),
        "hub: the hub has another model.onnx than expected"
    );

    // Recorded at the first download.
    let changed = std::sync::Arc::new(AtomicUsize::new(0));
    let switch = std::sync::Arc::clone(&changed);
    let server = Server::start(move |request, _| {
        if request.path == WEIGHTS_PATH && switch.load(Ordering::SeqCst) > 0 {
            let other = tempfile::tempdir().unwrap();
            tiny_model::variant(other.path(), 9, 16).unwrap();
            return Reply::new(200, fs::read(other.path().join("model.onnx")).unwrap());
        }
        hub(request)
    });
    let desk = Desk::new(&server);
    desk.works();
    crate::model::remove(&desk.plan.cache, "tiny").unwrap();
    changed.store(1, Ordering::SeqCst);
    let said = desk.refused();
    assert!(
        said.contains("than when it was first downloaded; delete "),
        "{said}"
    );
    changed.store(0, Ordering::SeqCst);
    desk.works();
}

#[test]
fn the_right_bytes_that_are_no_model_are_not_installed() {
    let server = Server::start(|request, _| match request.path.as_str() {
        WEIGHTS_PATH => Reply::new(200, "<html>Welcome to the hotel's network</html>"),
        _ => hub(request),
    });
    let said = Desk::new(&server).refused();
    assert!(
        said.starts_with("hub: its model cannot be used: "),
        "{said}"
    );
}

#[test]
fn what_the_hub_does_not_have_is_named() {
    let server = Server::start(|_, _| Reply::new(404, "Entry not found"));
    let said = Desk::new(&server).refused();
    let host = server.address();
    assert_eq!(said, format!("hub: {host} has no onnx/model.onnx"));
    assert_eq!(server.seen().len(), 1);
    let server = Server::start(|_, _| Reply::new(401, "Access is restricted"));
    let said = Desk::new(&server).refused();
    assert!(said.contains("set HF_TOKEN"), "{said}");
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn a_busy_hub_is_asked_again() {
    let server = Server::start(|request, number| match number {
        0 => Reply::new(429, "slow down").header("retry-after", 0),
        1 => Reply::new(503, "not now"),
        _ => hub(request),
    });
    Desk::new(&server).works();
    // But not for ever, nor if it asks for an hour.
    let server = Server::start(|_, _| Reply::new(429, "").header("retry-after", 3_600));
    let said = Desk::new(&server).refused();
    assert!(said.ends_with("is busy (status 429)"), "{said}");
    assert_eq!(server.seen().len(), 1);
    let server = Server::start(|_, _| Reply::new(500, "").header("retry-after", 0));
    let said = Desk::new(&server).refused();
    assert!(said.ends_with("is busy (status 500)"), "{said}");
    assert_eq!(server.seen().len(), 5);
}

#[test]
fn a_token_stays_with_the_host_it_is_for() {
    let store = Server::start(|request, _| Reply::new(200, MODEL.clone()).in_part(request, TAG));
    let to = store.url();
    let server = Server::start(move |request, number| match request.path.as_str() {
        // First within the hub, then to another host.
        WEIGHTS_PATH if number == 0 => Reply::redirect("/moved"),
        "/moved" => Reply::redirect(&format!("{to}/store/1234?signature=x")),
        _ => hub(request),
    });
    let mut desk = Desk::new(&server);
    desk.hub().token = Some(Secret::new("hf_hunter2"));
    desk.works();
    for request in server.seen() {
        assert_eq!(
            request.header("authorization"),
            Some("Bearer hf_hunter2"),
            "{request:?}"
        );
    }
    let [stored] = &store.seen()[..] else {
        panic!("one request");
    };
    assert_eq!(stored.header("authorization"), None);
    assert_eq!(stored.path, "/store/1234?signature=x");
    assert!(!format!("{:?}", desk.plan).contains("hunter2"));
}

#[test]
fn redirects_end() {
    let server = Server::start(|_, number| Reply::redirect(&format!("/{number}")));
    let said = Desk::new(&server).refused();
    assert!(said.contains("redirects to too many others"), "{said}");
    let server = Server::start(|_, _| Reply::redirect("file:///etc/passwd"));
    let said = Desk::new(&server).refused();
    assert!(said.contains("which is not followed"), "{said}");
}

#[test]
fn a_slow_drip_arrives() {
    let server = Server::start(|request, _| {
        let pieces = if request.path == WEIGHTS_PATH {
            2_000
        } else {
            1 << 20
        };
        hub(request).drip(pieces, Duration::from_millis(5))
    });
    Desk::new(&server).works();
    assert_eq!(weights_requests(&server).len(), 1);
}

#[test]
fn a_download_that_stands_still_is_continued() {
    let server = Server::start(|request, number| match number {
        0 => hub(request).stall_after(4_000, Duration::from_secs(20)),
        _ => hub(request),
    });
    let mut desk = Desk::new(&server);
    desk.hub().idle = Some(Duration::from_millis(300));
    desk.works();
    assert_eq!(
        weights_requests(&server)[1].header("range"),
        Some("bytes=4000-")
    );
}

#[test]
fn patience_ends_and_what_came_is_kept() {
    let server = Server::start(|request, _| hub(request).drip(100, Duration::from_millis(20)));
    let mut desk = Desk::new(&server);
    desk.plan.patience = Duration::from_millis(300);
    let said = desk.refused();
    assert!(said.contains("too long"), "{said}");
    assert!(
        desk.entries()
            .iter()
            .any(|name| name.starts_with(".partial-"))
    );
}

#[test]
fn two_at_once_do_not_disturb_each_other() {
    let server = Server::start(|request, _| hub(request).drip(4_000, Duration::from_millis(5)));
    let desk = Desk::new(&server);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| desk.install().unwrap());
        }
    });
    desk.works();
}

#[test]
fn offline_nothing_is_asked() {
    let server = Server::start(|request, _| hub(request));
    let mut desk = Desk::new(&server);
    desk.hub().network.offline = true;
    assert_eq!(desk.refused(), "hub: Kodiak is offline");
    assert!(server.seen().is_empty());
}

#[test]
fn a_hub_that_is_not_there_does_not_take_long() {
    // Nothing listens on a port that was just given back.
    let gone = Server::start(|_, _| Reply::new(200, "")).url();
    std::thread::sleep(Duration::from_millis(100));
    let said = Desk::at(&gone).refused();
    assert!(
        said.starts_with("hub: could not connect to 127.0.0.1"),
        "{said}"
    );
    let said = Desk::at("huggingface").refused();
    assert!(said.contains("'huggingface' is not an address"), "{said}");
}

#[test]
fn a_proxy_is_used_where_it_is_named() {
    let server = Server::start(|request, _| hub(request));
    let to = server.address();
    let proxy = Server::start(move |_, _| Reply::tunnel(to));
    // A host that only the proxy can find.
    let mut desk = Desk::at("http://hub.invalid");
    desk.hub().network.proxies = Proxies {
        http: Some(Secret::new(&proxy.url())),
        ..Proxies::default()
    };
    desk.hub().token = Some(Secret::new("hf_hunter2"));
    desk.works();
    assert_eq!(proxy.seen()[0].method, "CONNECT");
    assert_eq!(proxy.seen()[0].path, "hub.invalid:80");
    // A token does not go in the clear beyond this machine.
    assert!(
        server
            .seen()
            .iter()
            .all(|request| request.header("authorization").is_none())
    );
    let mut desk = Desk::at("http://hub.invalid");
    desk.hub().network.proxies = Proxies {
        http: Some(Secret::new(&proxy.url())),
        none_for: "invalid".to_owned(),
        ..Proxies::default()
    };
    let asked = proxy.seen().len();
    assert!(desk.refused().contains("could not connect to hub.invalid"));
    assert_eq!(proxy.seen().len(), asked);
}

#[test]
fn what_another_program_downloaded_is_used() {
    let mut desk = Desk::at("http://127.0.0.1:9");
    let hub_folder = desk.root.path().join("hub");
    desk.plan.hub = None;
    desk.plan.snapshots = Some(hub_folder.clone());
    let repository = hub_folder.join("models--tiny--model");
    let files = repository.join("snapshots/abc123");
    fs::create_dir_all(files.join("onnx")).unwrap();
    fs::create_dir_all(repository.join("refs")).unwrap();
    fs::write(files.join("onnx/model.onnx"), &*MODEL).unwrap();
    let nothing = "hub: it must not be asked";
    assert_eq!(desk.refused(), nothing);
    fs::write(files.join("tokenizer.json"), &*TOKENS).unwrap();
    assert_eq!(desk.refused(), nothing, "the branch is not known");
    fs::write(repository.join("refs/main"), "abc123\n").unwrap();
    let weights = &mut desk.model.hub.as_mut().unwrap().weights;
    weights.sha256 = Some("0".repeat(64));
    assert!(desk.refused().contains("is not the file that is expected"));
    desk.model.hub.as_mut().unwrap().weights.sha256 = Some(hash(&MODEL));
    let model = desk.works();
    let manifest = fs::read_to_string(model.folder.join("model.json")).unwrap();
    assert!(manifest.contains("snapshots/abc123"), "{manifest}");
    // A name cannot lead out of the folder.
    fs::write(repository.join("refs/main"), "../../../etc").unwrap();
    crate::model::remove(&desk.plan.cache, "tiny").unwrap();
    assert_eq!(desk.refused(), nothing);
}

#[test]
fn weights_in_a_file_of_their_own_come_along() {
    let server = Server::start(|request, _| match request.path.as_str() {
        "/tiny/model/resolve/main/onnx/model.onnx_data" => Reply::new(200, "weights"),
        _ => hub(request),
    });
    let mut desk = Desk::new(&server);
    desk.model.hub.as_mut().unwrap().data = Some(HubFile {
        path: "onnx/model.onnx_data".to_owned(),
        bytes: None,
        sha256: None,
    });
    let model = desk.works();
    assert_eq!(
        fs::read(model.folder.join("model.onnx_data")).unwrap(),
        b"weights"
    );
    let plain = Desk::new(&server).works();
    assert_ne!(plain.identity.revision, model.identity.revision);
}
