//! Visits: the indexes of folders that were searched with `--in` and belong to no source.
//!
//! A visit registers nothing. Its index is in the cache folder, private, and can be
//! dropped at any time: the next visit builds it again. The source of a visit has the path
//! of its folder as its name, so that its ids and addresses are those of no other source.
//! A purge removes all visits, because the visited folders may have had the same text.

mod turn;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use kodiak::access::Guard;
use kodiak::document::{Reference, id_digits};
use kodiak::{DocumentId, Engine, Error};
use serde::Serialize;

use crate::assemble::{self, Purpose};
use crate::config::{Config, Kind, RegisteredSource};
use crate::context::Context;
use crate::failure::refusal;
use crate::output::phrases::{self, counted};
use crate::paths;

/// The number of visits that are kept.
const MAX_VISITS: usize = 20;
/// The number of bytes that all visits may take.
const MAX_BYTES: u64 = 1 << 30;
/// The file that names the visited folder. Its age is that of the last visit.
const RECORD: &str = "folder";
/// The longest path of a folder.
const MAX_PATH: u64 = 64 * 1024;
/// The fewest digits that are taken for an id.
const SHORTEST_ID: usize = 4;

/// The index of a visited folder.
#[derive(Clone, Debug)]
pub(crate) struct Visit {
    /// The folder, with all links resolved.
    folder: PathBuf,
    /// Where the index is.
    home: PathBuf,
    /// When it was last visited.
    used: SystemTime,
}

/// How much the visits take.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Usage {
    /// The number of visits.
    pub(crate) folders: usize,
    pub(crate) bytes: u64,
    /// Where they are.
    pub(crate) path: PathBuf,
}

impl Usage {
    /// Says how much the visits take, where they are, as `path` names it, and how to remove
    /// them.
    pub(crate) fn phrase(&self, path: &str) -> String {
        format!(
            "visits: {} searched with --in, {} in {path}; `kodiak remove --visits` removes them",
            counted(self.folders as u64, "folder"),
            phrases::size(self.bytes),
        )
    }
}

impl Visit {
    /// Returns the visit of a folder, given with all links resolved, and records that it
    /// is visited now.
    pub(crate) fn begin(folder: &Path) -> anyhow::Result<Self> {
        let Some(name) = folder.to_str() else {
            return Err(refusal(
                format!("{} is not valid UTF-8", folder.display()),
                "rename the folder",
            ));
        };
        turn::take()?;
        let hash = DocumentId::new("visit", name).hex();
        let home = paths::visits_folder()?.join(hash);
        kodiak::files::create_folder(&home).map_err(Error::io("create", &home))?;
        let record = home.join(RECORD);
        kodiak::files::replace(&record, name.as_bytes()).map_err(Error::io("write", &record))?;
        Ok(Self {
            folder: folder.to_owned(),
            home,
            used: SystemTime::now(),
        })
    }

    /// Reads the visit whose index is in a folder. Returns `None` if there is none.
    fn read(home: PathBuf) -> Option<Self> {
        let record = home.join(RECORD);
        let folder = kodiak::files::read_text(&record, MAX_PATH).ok()?;
        let used = fs::metadata(&record).and_then(|it| it.modified()).ok()?;
        Some(Self {
            folder: folder.into(),
            home,
            used,
        })
    }

    /// Returns the name of its source.
    pub(crate) fn source(&self) -> String {
        self.folder.to_string_lossy().into_owned()
    }

    /// Returns a context in which its index is the index. Its config is not a file.
    pub(crate) fn context<'a>(&self, context: &Context<'a>) -> Context<'a> {
        context.elsewhere(self.index(), self.home.join("config.toml"))
    }

    /// Returns the settings with its folder as the only source.
    pub(crate) fn config(&self, config: &Config) -> Config {
        Config {
            sources: vec![RegisteredSource {
                name: self.source(),
                kind: Kind::Markdown,
                path: self.folder.clone(),
                globs: Vec::new(),
                writable: false,
                transcripts: None,
                server: None,
            }],
            data: self.home.clone(),
            left_out: Vec::new(),
            ..config.clone()
        }
    }

    fn index(&self) -> PathBuf {
        self.home.join("index.db")
    }
}

/// Reports whether a folder, given with all links resolved, was visited before.
pub(crate) fn is_known(folder: &Path) -> bool {
    all().iter().any(|visit| visit.folder == folder)
}

/// Returns all visits.
fn all() -> Vec<Visit> {
    let homes = paths::visits_folder()
        .ok()
        .and_then(|path| fs::read_dir(path).ok());
    let homes = homes.into_iter().flatten().flatten();
    homes.filter_map(|home| Visit::read(home.path())).collect()
}

/// Removes the visits that are too many or too large in all, those that were used least
/// recently first. `kept` stays.
pub(crate) fn prune(kept: &Visit) {
    prune_to(kept, all(), MAX_BYTES);
}

fn prune_to(kept: &Visit, mut visits: Vec<Visit>, max_bytes: u64) {
    visits.retain(|visit| visit.home != kept.home);
    visits.sort_by_key(|visit| std::cmp::Reverse(visit.used));
    let (mut count, mut bytes) = (1, size(&kept.home));
    for visit in visits {
        let larger = bytes + size(&visit.home);
        if count < MAX_VISITS && larger <= max_bytes {
            (count, bytes) = (count + 1, larger);
        } else {
            // What another process is using goes with the next visit.
            let _ = fs::remove_dir_all(&visit.home);
        }
    }
}

/// Removes all visits, once no other process uses one. Returns how much they took; `None` if
/// there were none.
pub(crate) fn remove_all() -> kodiak::Result<Option<Usage>> {
    let Ok(path) = paths::visits_folder() else {
        // Without a cache folder there are none.
        return Ok(None);
    };
    let _alone = turn::alone(&path)?;
    let usage = usage();
    match fs::remove_dir_all(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::io("remove", &path)(error))
        }
        _ => Ok(usage),
    }
}

/// Returns how much the visits take; `None` if there are none.
pub(crate) fn usage() -> Option<Usage> {
    let path = paths::visits_folder().ok()?;
    let folders = fs::read_dir(&path).ok()?.flatten().count();
    (folders > 0).then(|| Usage {
        folders,
        bytes: size(&path),
        path,
    })
}

/// Returns the number of bytes of all files in a folder.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

/// The settings and the engine that know some of the typed names.
#[derive(Debug)]
pub(crate) struct Knowing {
    pub(crate) config: Config,
    pub(crate) engine: Engine,
    /// The names, by their places in what was typed.
    pub(crate) names: Vec<usize>,
}

/// Returns the settings and the engines that know typed names, each as [`knowing`] does.
/// The first are those that were given, even if they know none of the names.
pub(crate) fn knowing_all(
    context: &Context<'_>,
    purpose: Purpose<'_>,
    typed: &[&String],
) -> anyhow::Result<Vec<Knowing>> {
    let config = context.config()?;
    let engine = context.engine(&config, purpose)?;
    let visits = all();
    let mut visited: Vec<(&Visit, Vec<usize>)> = Vec::new();
    let mut names = Vec::new();
    for (number, typed) in typed.iter().enumerate() {
        let visit = if visits.is_empty() {
            None
        } else {
            // One that several know is told with the others that cannot be shown.
            meant(&visits, &engine, typed).unwrap_or_default()
        };
        match visit {
            None => names.push(number),
            Some(visit) => match visited.iter_mut().find(|(it, _)| it.home == visit.home) {
                Some((_, names)) => names.push(number),
                None => visited.push((visit, vec![number])),
            },
        }
    }
    let mut knowing = Vec::new();
    for (visit, names) in visited {
        let config = visit.config(&config);
        let engine = visit.context(context).engine(&config, purpose)?;
        knowing.push(Knowing {
            config,
            engine,
            names,
        });
    }
    knowing.insert(
        0,
        Knowing {
            config,
            engine,
            names,
        },
    );
    Ok(knowing)
}

/// Returns the settings and the engine that know a typed name: those given or, for a
/// file in a visited folder or an id that a visit has printed, those of the visit. A name
/// that both know is an error if it is an id; a file belongs to its source.
pub(crate) fn knowing(
    context: &Context<'_>,
    purpose: Purpose<'_>,
    typed: &str,
) -> anyhow::Result<(Config, Engine)> {
    let config = context.config()?;
    let engine = context.engine(&config, purpose)?;
    let visits = all();
    if visits.is_empty() {
        return Ok((config, engine));
    }
    let Some(visit) = meant(&visits, &engine, typed)? else {
        return Ok((config, engine));
    };
    turn::take()?;
    if Visit::read(visit.home.clone()).is_none() {
        // Another process has removed it.
        return Ok((config, engine));
    }
    let config = visit.config(&config);
    let engine = visit.context(context).engine(&config, purpose)?;
    Ok((config, engine))
}

/// Returns the visit that knows a typed name, if it is not the engine that does.
fn meant<'a>(
    visits: &'a [Visit],
    engine: &Engine,
    typed: &str,
) -> anyhow::Result<Option<&'a Visit>> {
    let parsed = typed.parse::<Reference>().ok();
    let targets = [parsed.as_ref().map(|it| it.target.as_str()), Some(typed)];
    let is_known = |target: &str| {
        engine
            .get(&Guard::local(), &Reference::whole(target))
            .is_ok()
    };
    for target in targets.into_iter().flatten() {
        let path = Path::new(target);
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let around = visits
            .iter()
            .filter(|visit| path.starts_with(&visit.folder));
        if let Some(visit) = around.max_by_key(|visit| visit.folder.as_os_str().len()) {
            let known = path.to_str().is_some_and(is_known);
            return Ok((!known).then_some(visit));
        }
        if let Some(digits) = id_digits(target, SHORTEST_ID) {
            let has = |visit: &&Visit| assemble::has_id(&visit.index(), &digits);
            let found: Vec<&Visit> = visits.iter().filter(has).collect();
            return match (found.as_slice(), is_known(target)) {
                ([], _) => Ok(None),
                ([only], false) => Ok(Some(only)),
                (several, known) => {
                    let mut candidates: Vec<String> =
                        several.iter().map(|visit| visit.source()).collect();
                    if known {
                        candidates.insert(0, "a registered source".to_owned());
                    }
                    let reference = target.to_owned();
                    Err(Error::Ambiguous {
                        reference,
                        candidates,
                    }
                    .into())
                }
            };
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_is_too_large_goes_the_oldest_first() {
        let root = tempfile::tempdir().unwrap();
        let visit = |name: &str, bytes: usize, age: u64| {
            let home = root.path().join(name);
            fs::create_dir(&home).unwrap();
            fs::create_dir(home.join("parts")).unwrap();
            fs::write(home.join("index.db"), vec![0; bytes / 2]).unwrap();
            fs::write(home.join("parts/1"), vec![0; bytes / 2]).unwrap();
            Visit {
                folder: format!("/{name}").into(),
                home,
                used: SystemTime::UNIX_EPOCH + Duration::from_secs(1_000 - age),
            }
        };
        let visits = [
            visit("oldest", 100, 40),
            visit("older", 400, 30),
            visit("old", 300, 20),
            visit("new", 200, 10),
        ];
        let now = visit("now", 500, 0);
        let left = || -> Vec<&str> {
            let kept = visits.iter().filter(|visit| visit.home.exists());
            kept.map(|visit| visit.folder.to_str().unwrap()).collect()
        };
        prune_to(&now, visits.to_vec(), 1_500);
        assert_eq!(left(), ["/oldest", "/older", "/old", "/new"]);
        // What fits stays, although something larger that was used later does not.
        prune_to(&now, visits.to_vec(), 1_100);
        assert_eq!(left(), ["/oldest", "/old", "/new"]);
        // The present visit stays, however large it is.
        prune_to(&now, visits.to_vec(), 100);
        assert!(left().is_empty() && now.home.exists());
    }
}
