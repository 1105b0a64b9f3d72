//! An index on each server, and machines that use it.

use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use kodiak_postgres::{Address, PostgresIndex};
use tempfile::TempDir;

/// The environment variable with the addresses.
const VARIABLE: &str = "KODIAK_TEST_POSTGRES";

/// A schema that no other test uses, which is deleted in the end.
pub(crate) struct Index {
    address: String,
    index: PostgresIndex,
}

impl Index {
    /// Returns the index itself.
    pub(crate) fn store(&self) -> &PostgresIndex {
        &self.index
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Returns a machine that uses the index.
    pub(crate) fn machine(&self) -> Machine {
        Machine::with_index(&self.address)
    }
}

impl Drop for Index {
    fn drop(&mut self) {
        let _ = self.index.delete();
    }
}

/// Runs a test with an index on each server.
pub(crate) fn on_each_server(test: impl Fn(&Index)) {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let all = std::env::var(VARIABLE).unwrap_or_default();
    assert!(!all.trim().is_empty(), "{VARIABLE} names no server");
    for server in all.split_whitespace() {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let schema = format!("cli_{}_{number}", std::process::id());
        let address = format!("{server}?schema={schema}");
        let index = PostgresIndex::new(Address::parse(&address).unwrap());
        test(&Index { address, index });
    }
}

/// A home of its own.
pub(crate) struct Machine {
    home: TempDir,
    index: Option<String>,
    model: &'static str,
}

/// What came of one run.
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Machine {
    pub(crate) fn new() -> Self {
        Self {
            home: tempfile::tempdir().unwrap(),
            index: None,
            model: "none",
        }
    }

    /// Returns a machine whose environment names this index.
    pub(crate) fn with_index(address: &str) -> Self {
        Self {
            index: Some(address.to_owned()),
            ..Self::new()
        }
    }

    /// Uses a model instead of none.
    pub(crate) fn using(mut self, model: &'static str) -> Self {
        self.model = model;
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
    }

    pub(crate) fn command<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kodiak"));
        command
            .args(arguments)
            .env_clear()
            .env("HOME", self.home.path())
            .env("KODIAK_MODEL", self.model)
            .env("KODIAK_OFFLINE", "1")
            .current_dir(self.home.path())
            .stdin(Stdio::null());
        if let Some(index) = &self.index {
            command.env("KODIAK_INDEX", index);
        }
        command
    }

    pub(crate) fn run<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Run {
        finish(&mut self.command(arguments))
    }

    /// Runs what must succeed, and returns what it printed.
    pub(crate) fn ok<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Run {
        let run = self.run(arguments);
        assert_eq!(run.code, Some(0), "{run}");
        run
    }

    /// Returns the paths that a search finds.
    pub(crate) fn found(&self, query: &str) -> Vec<String> {
        let run = self.run(&["search", "--json", query]);
        let answer: serde_json::Value =
            serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run}"));
        let hits = answer["hits"].as_array().unwrap();
        let path = |hit: &serde_json::Value| hit["path"].as_str().unwrap().to_owned();
        hits.iter().map(path).collect()
    }
}

pub(crate) fn finish(command: &mut Command) -> Run {
    let output = command.output().unwrap();
    Run {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Run {
    /// Checks that it failed, with these words in its messages.
    pub(crate) fn failed_with(&self, words: &[&str]) {
        assert_eq!(self.code, Some(2), "{self}");
        for word in words {
            assert!(self.stderr.contains(word), "{word} is not in: {self}");
        }
    }
}

impl fmt::Display for Run {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "exit: {:?}\n{}\n{}",
            self.code, self.stdout, self.stderr
        )
    }
}
