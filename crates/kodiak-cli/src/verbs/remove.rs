//! `kodiak remove`: forgets a source in config and index. Files stay.

use kodiak::Error;
use kodiak::store::SqliteStore;

use super::Outcome;
use crate::arguments::RemoveArguments;
use crate::config::edit;
use crate::context::Context;
use crate::indexing;

pub(super) fn run(arguments: &RemoveArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let name = &arguments.name;
    let mut known = context.config()?.names();
    // A source may be left in the index though a person took it out of the config.
    let mut indexed = Vec::new();
    match SqliteStore::open(&context.index_path) {
        Ok(store) => indexed.extend(store.sources()?.into_iter().map(|source| source.name)),
        Err(Error::NoIndex { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    if !known.contains(name) && !indexed.contains(name) {
        known.extend(indexed);
        known.sort();
        known.dedup();
        let name = name.clone();
        return Err(Error::UnknownSource { name, known }.into());
    }
    // The lock also keeps other processes from editing the config; where no
    // index is, none is made for it.
    let mut writer = None;
    if context.index_path.exists() {
        writer = Some(context.writer("remove")?);
    }
    edit::remove_source(&context.config_path, name)?;
    if let Some(writer) = &mut writer {
        indexing::forget(writer, name)?;
    }
    context
        .output
        .notice(&format!("removed '{name}'; its files were not touched"));
    Ok(Outcome::Done)
}
