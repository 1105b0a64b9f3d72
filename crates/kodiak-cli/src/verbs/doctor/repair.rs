//! Repairing the index: fill it again, or set it aside and build it anew.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use kodiak::Error;
use kodiak::store::WriteLock;

use super::super::index::sync_each;
use super::{Examination, Health};
use crate::config::RegisteredSource;
use crate::context::{Context, holder};
use crate::indexing::forget_unregistered;

const VERB: &str = "doctor --fix";

/// Repairs what can be repaired and says what was done.
pub(super) fn repair(
    context: &Context<'_>,
    examination: &Examination,
) -> anyhow::Result<Vec<String>> {
    // Without the config nobody knows what the index is to be built from.
    let Some(config) = &examination.config else {
        return Ok(Vec::new());
    };
    let mut fixed = Vec::new();
    let damaged = match examination.health {
        Health::Damaged => true,
        Health::Inconsistent => !fill_again(context, &mut fixed)?,
        Health::Sound | Health::Missing => false,
    };
    if damaged {
        let aside = set_aside(context)?;
        fixed.push(format!(
            "the damaged index was set aside as {}",
            aside.display()
        ));
    }
    // A folder that is missing is nothing that an index run could bring back.
    let unchanged = examination.health == Health::Sound && !examination.behind;
    if config.sources.is_empty() || unchanged {
        return Ok(fixed);
    }
    let mut writer = context.writer(VERB)?;
    forget_unregistered(&mut writer, config, context.output)?;
    let sources: Vec<&RegisteredSource> = config.sources.iter().collect();
    let left_out = sync_each(context, config, &sources, &mut writer)?;
    let synced: Vec<&str> = sources
        .iter()
        .map(|source| source.name.as_str())
        .filter(|name| !left_out.contains(name))
        .collect();
    if left_out.is_empty() {
        fixed.push("the index was brought in step with the sources".to_owned());
    } else if !synced.is_empty() {
        let synced = synced.join(", ");
        fixed.push(format!("the index was brought in step with {synced}"));
    }
    Ok(fixed)
}

/// Fills the full text again from the documents. Gives back whether the index
/// is sound then.
fn fill_again(context: &Context<'_>, fixed: &mut Vec<String>) -> anyhow::Result<bool> {
    let filled = || -> kodiak::Result<bool> {
        let mut writer = context.writer(VERB)?;
        writer.repair()?;
        Ok(writer.examine()?.is_empty())
    };
    match filled() {
        Ok(true) => {
            fixed.push("what is derived from the documents was filled again".to_owned());
            Ok(true)
        }
        Ok(false) | Err(Error::Corrupt { .. } | Error::Database { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Moves the index out of the way, with what belongs to it. The log goes first:
/// an old log beside a new index would be replayed into it.
fn set_aside(context: &Context<'_>) -> kodiak::Result<PathBuf> {
    let index = &context.index_path;
    let _lock = WriteLock::acquire(index, &holder(VERB))?;
    let now: String = kodiak::date::format(kodiak::date::now())
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    let aside = free(&with_suffix(index, &format!(".damaged-{now}")));
    for suffix in ["-wal", "-shm", ""] {
        let from = with_suffix(index, suffix);
        if from.exists() {
            let to = with_suffix(&aside, suffix);
            std::fs::rename(&from, &to).map_err(Error::io("move", &from))?;
        }
    }
    Ok(aside)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// The path, or one with a number where it is taken.
fn free(path: &Path) -> PathBuf {
    let numbered = (2..).map(|number| with_suffix(path, &format!("-{number}")));
    std::iter::once(path.to_owned())
        .chain(numbered)
        .find(|candidate| !candidate.exists())
        .unwrap_or_else(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_set_aside_earlier_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.db.damaged-1");
        assert_eq!(free(&path), path);
        std::fs::write(&path, "").unwrap();
        assert_eq!(free(&path), with_suffix(&path, "-2"));
    }
}
