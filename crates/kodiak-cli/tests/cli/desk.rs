//! A place to try the program: a temporary home, copies of the example notes,
//! and runs of the real binary with nothing else in its environment.

use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime};

/// The model that people get who ask for nothing special.
pub(crate) const REAL_MODEL: &str = "all-minilm-l6-v2";

/// A temporary home.
pub(crate) struct Desk {
    _folder: tempfile::TempDir,
    root: PathBuf,
    /// The model that every run is told to use, and that nothing may be fetched.
    /// Without one, runs are told neither.
    model: Option<&'static str>,
    /// When a file was last written.
    written: Mutex<Option<Instant>>,
}

/// How old a file must be for its version to be trusted.
const TRUSTED_AGE: Duration = Duration::from_millis(60);

/// What came of one run.
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    root: PathBuf,
}

impl Desk {
    /// An empty one.
    pub(crate) fn new() -> Self {
        // Tests by word need no model.
        Self::set(Some("none"))
    }

    /// An empty one whose runs use the model `tiny`.
    pub(crate) fn with_model() -> Self {
        let desk = Self::set(Some(tiny_model::NAME));
        desk.have_patience();
        desk.install_tiny();
        desk
    }

    /// An empty one whose runs use the model that people get. It is too large
    /// for the repository: `KODIAK_TEST_MODEL` names a folder with its files.
    /// Tests that call this are ignored unless asked for.
    pub(crate) fn with_real_model() -> Self {
        let folder = std::env::var_os("KODIAK_TEST_MODEL").unwrap_or_else(|| {
            panic!(
                "KODIAK_TEST_MODEL is not set. Run `kodiak model install {REAL_MODEL}` and set it \
                 to the folder it names, which has model.onnx, tokenizer.json and model.json"
            )
        });
        let desk = Self::set(Some(REAL_MODEL));
        desk.have_patience();
        let mut command = desk.command(&["model", "install", "--from"]);
        let run = desk.finish(command.arg(folder));
        assert_eq!(run.code, Some(0), "{run}");
        desk
    }

    /// An empty one where nothing is said about models: runs use the default
    /// and try to get it. There is no package client unless a test sets `PATH`.
    pub(crate) fn unset() -> Self {
        Self::set(None)
    }

    fn set(model: Option<&'static str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // Where the system keeps temporary files may itself be a link.
        let root = folder.path().canonicalize().unwrap();
        Self {
            _folder: folder,
            root,
            model,
            written: Mutex::default(),
        }
    }

    /// However busy the machine is, tests of meanings are about meanings.
    fn have_patience(&self) {
        self.configure("deadline_ms", 60_000);
    }

    /// Installs the model `tiny`.
    pub(crate) fn install_tiny(&self) {
        tiny_model::write(&self.path("tiny")).unwrap();
        self.ok(&["model", "install", "--from", "tiny"]);
    }

    /// One with the example notes in `notes`, not indexed yet.
    pub(crate) fn with_notes() -> Self {
        let desk = Self::new();
        desk.copy_examples();
        desk
    }

    /// Copies the example notes into `notes`.
    pub(crate) fn copy_examples(&self) {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/notes");
        copy(&examples, &self.path("notes"));
        *self.written.lock().unwrap() = Some(Instant::now());
    }

    /// One with the example notes, indexed.
    pub(crate) fn indexed() -> Self {
        let desk = Self::with_notes();
        desk.ok(&["add", "notes"]);
        desk
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub(crate) fn index(&self) -> PathBuf {
        self.path("data/kodiak/index.db")
    }

    /// Where models are installed.
    pub(crate) fn models(&self) -> PathBuf {
        self.path("home/.cache/kodiak/models")
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.path("config/kodiak/config.toml")
    }

    /// Writes a file with an old and known modification time.
    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        let folder = path.parent().unwrap();
        if ["config/", "data/"].iter().any(|own| name.starts_with(own)) {
            // As private as the program makes it.
            kodiak::files::create_folder(folder).unwrap();
        } else {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(&path, text).unwrap();
        age(&path, 0);
        *self.written.lock().unwrap() = Some(Instant::now());
        path
    }

    /// Puts a package client of ours, a script, into the folder `clients`,
    /// which is on no path unless a test says so.
    #[cfg(unix)]
    pub(crate) fn client(&self, name: &str, lines: &str) {
        use std::os::unix::fs::PermissionsExt;
        let text = format!("#!/bin/sh\nPATH=/usr/bin:/bin\n{lines}\n");
        let path = self.write(&format!("clients/{name}"), text);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// The program, ready to be started in the root of the desk.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kodiak"));
        command
            .args(arguments)
            .env_clear()
            .env("HOME", self.path("home"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("XDG_DATA_HOME", self.path("data"))
            .current_dir(&self.root)
            .stdin(Stdio::null());
        match self.model {
            Some(model) => command
                .env("KODIAK_MODEL", model)
                .env("KODIAK_OFFLINE", "1"),
            // No test asks a real hub.
            None => command.env("HF_HUB_OFFLINE", "1"),
        };
        command
    }

    /// Another program, such as a shell, that finds Kodiak on its path.
    pub(crate) fn beside(&self, program: &str) -> Command {
        let kodiak = Path::new(env!("CARGO_BIN_EXE_kodiak"));
        let folder = kodiak.parent().unwrap().display();
        let mut command = Command::new(program);
        let ours = self.command::<&str>(&[]);
        let variables = ours.get_envs();
        command
            .env_clear()
            .envs(variables.filter_map(|(name, value)| Some((name, value?))))
            .env("PATH", format!("{folder}:/usr/local/bin:/usr/bin:/bin"))
            .stdin(Stdio::null())
            .current_dir(&self.root);
        command
    }

    pub(crate) fn run<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Run {
        self.finish(&mut self.command(arguments))
    }

    /// Waits until the versions of all files can be trusted. A file that was written
    /// just now would be read once more by the next run.
    pub(crate) fn settle(&self) {
        if let Some(written) = self.written.lock().unwrap().take() {
            std::thread::sleep(TRUSTED_AGE.saturating_sub(written.elapsed()));
        }
    }

    pub(crate) fn finish(&self, command: &mut Command) -> Run {
        self.settle();
        let output = command.output().unwrap();
        Run {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            root: self.root.clone(),
        }
    }

    /// Runs what must succeed.
    pub(crate) fn ok<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Run {
        let run = self.run(arguments);
        assert_eq!(run.code, Some(0), "{run}");
        run
    }

    /// Sets what the config says about searches.
    pub(crate) fn configure(&self, key: &str, value: impl Into<toml_edit::Value>) {
        let path = self.config();
        let written = fs::read_to_string(&path).unwrap_or_default();
        let mut config: toml_edit::DocumentMut = written.parse().unwrap();
        let search = config["search"].or_insert(toml_edit::table());
        search[key] = toml_edit::value(value);
        // As private as the program makes it.
        kodiak::files::replace(&path, config.to_string().as_bytes()).unwrap();
    }

    /// Runs a search and gives back its JSON, whether it found something or not.
    pub(crate) fn json<S: AsRef<OsStr>>(&self, arguments: &[S]) -> serde_json::Value {
        let run = self.run(arguments);
        serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run}"))
    }

    /// The paths that a search finds, best first.
    pub(crate) fn found(&self, arguments: &[&str]) -> Vec<String> {
        let arguments: Vec<&str> = ["search", "--json"]
            .iter()
            .chain(arguments)
            .copied()
            .collect();
        let answer = self.json(&arguments);
        let hits = answer["hits"].as_array().unwrap();
        hits.iter()
            .map(|hit| hit["path"].as_str().unwrap().to_owned())
            .collect()
    }
}

impl fmt::Display for Run {
    /// All three in one, without what differs from run to run.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self
            .code
            .map_or("killed".to_owned(), |code| code.to_string());
        write!(formatter, "exit: {code}")?;
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            let text = redacted(text, &self.root);
            if !text.is_empty() {
                write!(formatter, "\n--- {name}\n{}", text.trim_end_matches('\n'))?;
            }
        }
        Ok(())
    }
}

pub(crate) fn redacted(text: &str, root: &Path) -> String {
    let mut text = text.replace(root.to_str().unwrap(), "[DESK]");
    for (before, after, with) in [
        ("\"took_ms\":", ",", "[MS]"),
        (" matched in ", " ms", "[MS]"),
        ("process ", " (", "[ID]"),
        (", since ", ")", "[TIME]"),
        ("\"indexed_at\":\"", "\"", "[TIME]"),
        (".damaged-", "\n", "[TIME]"),
        ("index.db (", ", format", "[SIZE]"),
        ("\"bytes\":", ",", "[SIZE]"),
    ] {
        text = replaced_between(&text, before, after, with);
    }
    text
}

pub(crate) fn replaced_between(text: &str, before: &str, after: &str, with: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(before) {
        let (head, tail) = rest.split_at(start + before.len());
        result.push_str(head);
        let Some(end) = tail.find(after) else {
            rest = tail;
            break;
        };
        result.push_str(with);
        rest = &tail[end..];
    }
    result + rest
}

/// Copies a folder, every file with an old and known modification time: a file
/// that was written just now is not trusted to be unchanged.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).unwrap();
            age(&target, 0);
        }
    }
}

/// Sets the modification time to the beginning of February 2026, or so many
/// seconds later.
pub(crate) fn age(path: &Path, later: u64) {
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_769_904_000 + later);
    let file = fs::File::options().append(true).open(path).unwrap();
    file.set_modified(then).unwrap();
}
