//! An index in PostgreSQL that several machines share: how it is opened, and which sources
//! are kept in it.
//!
//! Without the feature `team`, `no_team.rs` takes the place of this file.

mod machine;
mod password;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use kodiak::Engine;
use kodiak::Error;
use kodiak::engine::{EngineBuilder, Machine};
use kodiak::source::Source;
use kodiak::store::Serving;
use kodiak::store::prelude::*;
use kodiak_memory::{ARTICLE_SOURCE, MEMORY_SOURCE};
use kodiak_notes::PAGES_SOURCE;
use kodiak_notes::files::NoteFiles;
use kodiak_postgres::{Address, PostgresIndex};
use kodiak_server::token::Tokens;
use kodiak_team::{Exported, TeamFiles, TeamTokens, export};

use crate::config::{Kind, RegisteredSource};
use crate::index_place::without_password;

/// The name of the file beside which lies what belongs to the index on this machine.
const BESIDE: &str = "index";

/// The sources that are kept in the index.
const SOURCES: [(&str, Kind); 3] = [
    (MEMORY_SOURCE, Kind::Memory),
    (ARTICLE_SOURCE, Kind::Article),
    (PAGES_SOURCE, Kind::Markdown),
];

/// An index on a server. Nothing is opened until it is needed.
pub(crate) struct Server {
    /// The address as it was given, which may have mistakes.
    text: String,
    shown: PathBuf,
    beside: PathBuf,
    /// The folder of what can be derived from the index.
    cache: PathBuf,
    /// The file with the password that the config names.
    password_file: Option<PathBuf>,
    opened: OnceLock<PostgresIndex>,
}

impl fmt::Debug for Server {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Server({})", self.shown.display())
    }
}

impl PartialEq for Server {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Server {}

impl Server {
    /// Names the index at an address. What belongs to it on this machine is in the folder
    /// `data`, and what can be derived from it in `cache`.
    pub(crate) fn new(
        address: &str,
        data: &Path,
        cache: PathBuf,
        password_file: Option<PathBuf>,
    ) -> Self {
        let shown = match Address::parse(address) {
            Ok(parsed) => parsed.shown().to_owned(),
            Err(_) => PathBuf::from(without_password(address).into_owned()),
        };
        Self {
            text: address.to_owned(),
            shown,
            beside: data.join(BESIDE),
            cache,
            password_file,
            opened: OnceLock::new(),
        }
    }

    /// Returns the address as messages show it.
    pub(crate) fn shown(&self) -> &Path {
        &self.shown
    }

    /// Returns the file beside which lies what belongs to the index on this machine.
    pub(crate) fn beside(&self) -> &Path {
        &self.beside
    }

    /// Reports whether there is an index that can be read.
    pub(crate) fn exists(&self) -> bool {
        self.index().is_ok_and(|index| index.open().is_ok())
    }

    /// Returns the address for another run.
    pub(crate) fn address(&self) -> anyhow::Result<&str> {
        Address::parse(&self.text)?;
        Ok(&self.text)
    }

    /// Returns the name in which the owner of this machine writes: the one that the database
    /// knows.
    pub(crate) fn user(&self) -> Option<String> {
        let address = Address::parse(&self.text).ok()?;
        address.user().map(str::to_owned)
    }

    /// Fails if the address or the password cannot be used.
    pub(crate) fn require(&self) -> anyhow::Result<()> {
        self.index()?;
        Ok(())
    }

    /// Returns the index. No connection is opened yet.
    pub(crate) fn index(&self) -> kodiak::Result<&PostgresIndex> {
        if let Some(opened) = self.opened.get() {
            return Ok(opened);
        }
        let address = Address::parse(&self.text)?;
        let address = match password::of(&address, self.password_file.as_deref())? {
            Some(password) => address.with_password(&password),
            None => address,
        };
        let index = PostgresIndex::new(address);
        // Without the folder, what would be in it is kept in memory.
        let index = match kodiak::files::create_folder(&self.cache) {
            Ok(()) => index.with_cache(&self.cache),
            Err(_) => index,
        };
        Ok(self.opened.get_or_init(|| index))
    }

    /// Starts building an engine over the index. Vectors are kept in the index alone: what
    /// is purged must not stay in a cache of another machine.
    pub(crate) fn builder(&self) -> kodiak::Result<EngineBuilder> {
        let store = self.index()?.clone();
        let builder = Engine::builder_over(Arc::new(store));
        Ok(builder.beside(&self.beside).shared_by(this_machine()?))
    }

    /// Returns which of these sources the index has of another machine, each as the error
    /// that says so.
    pub(crate) fn elsewhere(&self, sources: &[RegisteredSource]) -> kodiak::Result<Vec<Error>> {
        if sources.iter().all(|source| source.server.is_some()) {
            return Ok(Vec::new());
        }
        let reader = match self.index()?.open() {
            Err(Error::NoIndex { .. }) => return Ok(Vec::new()),
            reader => reader?,
        };
        let machine = this_machine()?;
        let mut found = Vec::new();
        for source in sources {
            if let Some(location) = machine.elsewhere(&source.name, &reader)? {
                let name = source.name.clone();
                found.push(Error::SourceElsewhere { name, location });
            }
        }
        Ok(found)
    }

    /// Returns the name of the model whose vectors the index is searched with.
    pub(crate) fn serving_model(&self) -> Option<String> {
        let serving: Serving = self.index().ok()?.open().ok()?.serving().ok()??;
        Some(serving.name)
    }

    /// Returns the sources that are kept in the index itself.
    pub(crate) fn sources(self: &Arc<Self>) -> Vec<RegisteredSource> {
        let kept = |(name, kind): (&str, Kind)| RegisteredSource {
            name: name.to_owned(),
            kind,
            path: self.shown.join(name),
            globs: Vec::new(),
            writable: kind == Kind::Markdown,
            transcripts: None,
            server: Some(Arc::clone(self)),
        };
        SOURCES.map(kept).into()
    }

    /// Opens a source that is kept in the index.
    pub(crate) fn open(&self, registered: &RegisteredSource) -> kodiak::Result<Box<dyn Source>> {
        let index = self.index()?;
        Ok(match registered.kind {
            Kind::Memory => Box::new(kodiak_team::memories(index)),
            Kind::Article => Box::new(kodiak_team::articles(index)),
            _ => Box::new(kodiak_team::pages(index)),
        })
    }

    /// Returns the tokens that are kept in the database.
    pub(crate) fn tokens(&self) -> kodiak::Result<Arc<dyn Tokens>> {
        Ok(Arc::new(TeamTokens::new(self.index()?.clone())))
    }

    /// Writes the files of a source that is kept in the index to a folder.
    pub(crate) fn export(&self, name: &str, folder: &Path) -> kodiak::Result<Exported> {
        let files = TeamFiles::new(self.index()?, name);
        let entries = files.list()?.entries.into_iter();
        let paths: Vec<String> = entries.map(|entry| entry.key).collect();
        export(folder, name, &paths, &|path| files.text(path))
    }
}

/// Returns this machine, among those that share an index.
pub(crate) fn this_machine() -> kodiak::Result<Machine> {
    Ok(Machine {
        name: machine::name()?,
        everywhere: SOURCES.map(|(name, _)| name.to_owned()).into(),
    })
}
