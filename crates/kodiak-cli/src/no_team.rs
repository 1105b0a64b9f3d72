//! Stands in for an index on a server in a program that was built without them.

#![expect(
    clippy::unused_self,
    reason = "the methods are those of `team.rs`, which need it"
)]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kodiak::Error;
use kodiak::engine::EngineBuilder;
use kodiak::source::Source;

use crate::config::RegisteredSource;
use crate::failure::refusal;
use crate::index_place::without_password;

const ABSENT: &str = "this program was built without indexes in PostgreSQL";

/// An index on a server, which cannot be opened.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Server {
    shown: PathBuf,
    beside: PathBuf,
}

impl Server {
    pub(crate) fn new(address: &str, data: &Path, _: PathBuf, _: Option<PathBuf>) -> Self {
        Self {
            shown: PathBuf::from(without_password(address).into_owned()),
            beside: data.join("index"),
        }
    }

    pub(crate) fn shown(&self) -> &Path {
        &self.shown
    }

    pub(crate) fn beside(&self) -> &Path {
        &self.beside
    }

    pub(crate) fn exists(&self) -> bool {
        false
    }

    pub(crate) fn address(&self) -> anyhow::Result<&str> {
        Err(refused())
    }

    /// Refuses a command that needs the server.
    pub(crate) fn require(&self) -> anyhow::Result<()> {
        Err(refused())
    }

    pub(crate) fn user(&self) -> Option<String> {
        None
    }

    pub(crate) fn builder(&self) -> kodiak::Result<EngineBuilder> {
        Err(self.absent())
    }

    pub(crate) fn elsewhere(&self, _: &[RegisteredSource]) -> kodiak::Result<Vec<Error>> {
        Err(self.absent())
    }

    pub(crate) fn serving_model(&self) -> Option<String> {
        None
    }

    pub(crate) fn sources(self: &Arc<Self>) -> Vec<RegisteredSource> {
        Vec::new()
    }

    pub(crate) fn open(&self, _: &RegisteredSource) -> kodiak::Result<Box<dyn Source>> {
        Err(self.absent())
    }

    #[cfg(feature = "server")]
    pub(crate) fn tokens(&self) -> kodiak::Result<Arc<dyn kodiak_server::token::Tokens>> {
        Err(self.absent())
    }

    fn absent(&self) -> Error {
        let error = std::io::Error::new(std::io::ErrorKind::Unsupported, ABSENT);
        Error::io("open", &self.shown)(error)
    }
}

/// Returns the error of whatever needs a server.
pub(crate) fn refused() -> anyhow::Error {
    refusal(
        ABSENT,
        "build it with the feature `team`: `cargo install --path crates/kodiak-cli --features team`",
    )
}
