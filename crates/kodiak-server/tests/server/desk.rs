//! A server over a folder of notes, for tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use kodiak::access::{Capability, Guard};
use kodiak::embed::Embedder;
use kodiak::engine::{EngineBuilder, ToSync};
use kodiak::{Cancel, Engine, Job};
use kodiak_memory::{MemoryFolder, MemoryOptions};
use kodiak_notes::MarkdownFolder;
use kodiak_notes::markdown::FolderOptions;
use kodiak_postgres::PostgresIndex;
use kodiak_server::{Options, Server, ToolAnswer, ToolSet};
use serde_json::{Map, Value};
use tempfile::TempDir;

/// A moment that all files are from, so that answers are the same on every day.
const MOMENT: Duration = Duration::from_secs(1_760_000_000);

/// A folder of notes with an index.
pub(crate) struct Desk {
    home: TempDir,
    /// Where the index is, if not in a file.
    server: Option<PostgresIndex>,
    pub(crate) log: Arc<Mutex<Vec<String>>>,
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self {
            home: tempfile::tempdir().unwrap(),
            server: None,
            log: Arc::default(),
        }
    }

    /// Returns a desk with the example notes.
    pub(crate) fn with_examples() -> Self {
        let desk = Self::new();
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/notes");
        copy(&examples, &desk.path("notes"));
        desk
    }

    /// Returns the desk with its index on a server.
    pub(crate) fn on(mut self, server: Option<PostgresIndex>) -> Self {
        self.server = server;
        self
    }

    /// Deletes the index, if it is on a server. Nothing may use it any more.
    pub(crate) fn delete_index(&self) {
        if let Some(server) = &self.server {
            server.delete().unwrap();
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        age(&path);
    }

    /// Returns an engine over these folders of the desk, which can be written to.
    pub(crate) fn engine(&self, folders: &[&str]) -> Engine {
        self.builder(folders).open().unwrap()
    }

    fn builder(&self, folders: &[&str]) -> EngineBuilder {
        let mut builder = match &self.server {
            Some(server) => Engine::builder_over(Arc::new(server.clone())),
            None => Engine::builder(self.path("index.db")),
        };
        for name in folders {
            fs::create_dir_all(self.path(name)).unwrap();
            let options = FolderOptions {
                writable: true,
                ..FolderOptions::default()
            };
            builder =
                builder.source(MarkdownFolder::new(*name, &self.path(name), options).unwrap());
        }
        builder
    }

    /// Returns an engine whose index is up to date.
    pub(crate) fn indexed(&self, folders: &[&str]) -> Engine {
        let engine = self.engine(folders);
        engine
            .sync(&Guard::local(), ToSync::All, &Job::default())
            .unwrap();
        engine
    }

    /// Returns an engine like [`Desk::indexed`] that also has the memories of the
    /// folder `memory`.
    pub(crate) fn with_memory(&self, folders: &[&str]) -> Engine {
        self.with_memory_and(folders, None)
    }

    /// Returns an engine like [`Desk::with_memory`] with a model, if one is given.
    /// Everything is embedded then.
    pub(crate) fn with_memory_and(
        &self,
        folders: &[&str],
        model: Option<Arc<dyn Embedder>>,
    ) -> Engine {
        self.with_more(folders, model, |builder| builder)
    }

    /// Returns an engine like [`Desk::with_memory_and`] with more sources.
    pub(crate) fn with_more(
        &self,
        folders: &[&str],
        model: Option<Arc<dyn Embedder>>,
        more: impl FnOnce(EngineBuilder) -> EngineBuilder,
    ) -> Engine {
        let memory = MemoryFolder::new("memory", &self.path("memory"), MemoryOptions::default());
        // Every look for changes ends, so that no answer depends on the time.
        let mut builder = more(self.builder(folders).source(memory.unwrap()))
            .refresh(Duration::from_mins(10))
            .deadline(Duration::from_mins(10));
        let embeds = model.is_some();
        if let Some(model) = model {
            builder = builder.model(model);
        }
        let engine = builder.open().unwrap();
        engine
            .sync(&Guard::local(), ToSync::All, &Job::default())
            .unwrap();
        if embeds {
            engine
                .embed(&Guard::local(), None, &Job::default())
                .unwrap();
        }
        engine
    }

    /// Returns a server over the folder `notes`, with all tools.
    pub(crate) fn server(&self, guard: Guard) -> Server {
        Server::new(self.indexed(&["notes"]), self.options(guard))
    }

    pub(crate) fn options(&self, guard: Guard) -> Options {
        let log = Arc::clone(&self.log);
        let mut options = Options::new(guard);
        options.sets = ToolSet::ALL.to_vec();
        options.log = Arc::new(move |message| log.lock().unwrap().push(message.to_owned()));
        options
    }
}

/// Returns the guard of a client that only reads.
pub(crate) fn reader() -> Guard {
    Guard::holding([Capability::Search, Capability::Read])
}

/// Returns the guard of a client that reads and writes.
pub(crate) fn writer() -> Guard {
    Guard::holding([Capability::Search, Capability::Read, Capability::Write])
}

/// Calls a tool as the default caller.
pub(crate) fn call(server: &Server, name: &str, arguments: Value) -> ToolAnswer {
    let Value::Object(arguments) = arguments else {
        panic!("arguments are an object")
    };
    call_with(server, name, arguments).unwrap()
}

pub(crate) fn call_with(
    server: &Server,
    name: &str,
    arguments: Map<String, Value>,
) -> Option<ToolAnswer> {
    let ignored = |_: kodiak::Event<'_>| {};
    server.call(&server.caller(), name, arguments, &Cancel::new(), &ignored)
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).unwrap();
            age(&target);
        }
    }
}

/// Gives a file the moment that all files are from.
fn age(path: &Path) {
    let file = fs::File::options().append(true).open(path).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + MOMENT).unwrap();
}

/// Returns an answer without the moments at which something was written, opened or
/// indexed and how long it took.
pub(crate) fn timeless(text: &str) -> String {
    let mut left = text;
    let mut kept = String::with_capacity(text.len());
    let marks = [
        "indexed 2",
        "indexed_at\":\"2",
        "created_at\":\"2",
        "updated_at\":\"2",
        "opened_at\":\"2",
        "took_ms\":",
    ];
    while let Some((at, mark)) = marks
        .iter()
        .filter_map(|mark| Some((left.find(mark)?, *mark)))
        .min()
    {
        let end = at + mark.len();
        kept.push_str(&left[..end]);
        let moment = |sign: char| sign.is_ascii_digit() || "-:TZ".contains(sign);
        left = left[end..].trim_start_matches(moment);
    }
    kept + left
}
