//! Stands in for sessions in a program that was built without them.
//!
//! A config that names such sources can be read. The sources cannot be opened, so their
//! documents stay in the index and can be found.

use std::io;

use kodiak::engine::{Clock, EngineBuilder};
use kodiak::source::Source;
use kodiak::{Engine, Error};
#[cfg(feature = "server")]
use kodiak_server::Settled;

use crate::arguments::AddArguments;
use crate::assemble::Purpose;
use crate::config::{Config, RegisteredSource};
use crate::context::Context;
use crate::failure::refusal;

const ABSENT: &str = "this program was built without sessions";

pub(crate) fn open(_: &Config, source: &RegisteredSource) -> kodiak::Result<Box<dyn Source>> {
    let error = io::Error::new(io::ErrorKind::Unsupported, ABSENT);
    Err(Error::io("open", &source.path)(error))
}

pub(crate) fn prepare(builder: EngineBuilder, _: &Context<'_>) -> EngineBuilder {
    builder
}

#[cfg(feature = "server")]
pub(crate) fn settle(_: &mut Settled, _: &Context<'_>, _: &Config) {}

pub(crate) fn agent(written: Option<&str>) -> Result<String, String> {
    Ok(written.unwrap_or_default().to_owned())
}

pub(crate) fn kept(_: &Config, source: &RegisteredSource) -> kodiak::Result<(usize, u64)> {
    let error = io::Error::new(io::ErrorKind::Unsupported, ABSENT);
    Err(Error::io("open", &source.path)(error))
}

/// Refuses a command that needs sessions.
pub(crate) fn refuse() -> anyhow::Result<()> {
    Err(refusal(ABSENT, "build it with the feature `sessions`"))
}

pub(crate) fn add(
    _: &AddArguments,
    _: &str,
    _: &Context<'_>,
    _: Purpose<'_>,
) -> anyhow::Result<()> {
    refuse()
}

pub(crate) fn retire(_: &Context<'_>, _: &Config, _: &Engine, _: Clock) -> anyhow::Result<()> {
    Ok(())
}
