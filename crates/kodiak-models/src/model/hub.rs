//! Installing a model from a model hub, or from files that another program has already
//! downloaded from one.
//!
//! `download` fetches one file. This module knows the hub's addresses, the layout
//! of its local copies, and which hash a file must have.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::catalogue::{HubFile, HubFiles, KnownModel};
use super::checksum::{self, Content, CopyError};
use super::download::{Download, Source};
use super::failure::Failure;
use super::install::Progress;
use super::manifest::{Manifest, TOKENIZER, WEIGHTS};
use super::staging::Staging;
use super::{InstalledModel, record};
use crate::http::{Address, Client, Credential, HttpError, Network, Secret};
use kodiak_base::error::Error;

/// How long a download may stand still before it is resumed.
const IDLE: Duration = Duration::from_secs(30);
/// The characters that stay as they are in an address.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

type Result<T> = std::result::Result<T, Failure>;

/// A model hub, and how to reach it.
#[derive(Clone, Debug)]
pub struct Hub {
    /// Its address, such as `https://huggingface.co`.
    pub endpoint: String,
    /// The token that shows who asks, if there is one.
    pub token: Option<Secret>,
    /// How requests leave this machine.
    pub network: Network,
    /// How long a download may stand still before it is resumed, if not the usual
    /// time.
    pub idle: Option<Duration>,
}

/// Downloads a model's files from the hub and installs them.
pub(super) fn install(
    model: &KnownModel,
    files: &HubFiles,
    hub: &Hub,
    cache: &Path,
    patience: Duration,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<InstalledModel> {
    let blame = |error: HttpError| Failure::Origin(error.to_string());
    let endpoint = Address::parse(&hub.endpoint).map_err(blame)?;
    let client = Client::new(hub.network.clone(), hub.idle.unwrap_or(IDLE));
    let credential = hub.token.clone().map(|secret| Credential {
        header: "authorization",
        scheme: "Bearer ",
        secret,
        required: false,
    });
    let staging = Staging::begin(cache)?;
    let until = Instant::now().checked_add(patience);
    let fetch = |file: &HubFile, target: &Path, progress: &mut dyn FnMut(Progress<'_>)| {
        let path = format!(
            "{}/resolve/{}/{}",
            utf8_percent_encode(&files.repository, PLAIN),
            utf8_percent_encode(&files.revision, PLAIN),
            utf8_percent_encode(&file.path, PLAIN),
        );
        let download = Download {
            client: &client,
            source: Source {
                address: endpoint.below(&path),
                credential: credential.as_ref(),
                name: &file.path,
                bytes: file.bytes,
            },
            cache,
            until,
        };
        let fetched = download.run(target, &staging.download(), &mut |done, total| {
            progress(Progress::Downloading {
                path: &file.path,
                done,
                total,
            });
        })?;
        let place = format!("{}@{}/{}", files.repository, files.revision, file.path);
        record::check(cache, &place, file.sha256.as_deref(), fetched)
    };
    progress(Progress::Contacting(&endpoint.authority()));
    let mut fetched = Vec::new();
    for (file, name) in targets(files) {
        fetched.push(fetch(file, &staging.model().join(name), progress)?);
    }
    let from = format!("hub {}@{}", files.repository, files.revision);
    finish(model, files, staging, fetched, from)
}

/// Installs a model from the files that another program has downloaded from the
/// hub into `snapshots`. Returns `None` if they are not there.
pub(super) fn from_snapshot(
    model: &KnownModel,
    files: &HubFiles,
    snapshots: &Path,
    cache: &Path,
) -> Result<Option<InstalledModel>> {
    let Some(folder) = snapshot(snapshots, &files.repository, &files.revision) else {
        return Ok(None);
    };
    if !files.all().all(|file| folder.join(&file.path).is_file()) {
        return Ok(None);
    }
    let staging = Staging::begin(cache)?;
    let mut copied = Vec::new();
    for (file, name) in targets(files) {
        let from = folder.join(&file.path);
        let content = copy(&from, &staging.model().join(name))?;
        if file
            .sha256
            .as_ref()
            .is_some_and(|pinned| *pinned != content.sha256)
        {
            let detail = format!("{} is not the file that is expected", from.display());
            return Err(Failure::Origin(detail));
        }
        copied.push(content);
    }
    let from = format!("snapshot {}", folder.display());
    finish(model, files, staging, copied, from).map(Some)
}

/// Returns each file with its name in the model's folder: graph, tokenizer, and the weights
/// if they are in a separate file, which the graph names.
fn targets(files: &HubFiles) -> impl Iterator<Item = (&HubFile, &str)> {
    let data = files.data.iter().map(|file| {
        let name = file.path.rsplit('/').next().unwrap_or_default();
        (file, name)
    });
    [(&files.weights, WEIGHTS), (&files.tokenizer, TOKENIZER)]
        .into_iter()
        .chain(data)
}

fn finish(
    model: &KnownModel,
    files: &HubFiles,
    staging: Staging,
    contents: Vec<Content>,
    from: String,
) -> Result<InstalledModel> {
    let mut contents = contents.into_iter();
    let (Some(weights), Some(tokenizer)) = (contents.next(), contents.next()) else {
        return Err(Failure::Origin("it has no files".to_owned()));
    };
    let mut manifest = Manifest::new(&model.name, &model.settings, weights, tokenizer, from);
    if let (Some((_, name)), Some(content)) = (targets(files).nth(2), contents.next()) {
        manifest.add_data(name, content);
    }
    staging.publish(manifest).map_err(|error| match error {
        Error::ModelFiles { detail, .. } => {
            Failure::Origin(format!("its model cannot be used: {detail}"))
        }
        other => Failure::Machine(other),
    })
}

/// The most bytes of a file that names a commit.
const MAX_REVISION: u64 = 1024;

/// Returns the folder with the files of a revision: a branch names a commit, and a
/// commit names itself.
fn snapshot(snapshots: &Path, repository: &str, revision: &str) -> Option<PathBuf> {
    let folder = snapshots.join(format!("models--{}", repository.replace('/', "--")));
    let named = kodiak_base::files::read_text(folder.join("refs").join(revision), MAX_REVISION);
    let commit = named.map_or_else(|_| revision.to_owned(), |text| text.trim().to_owned());
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if commit.is_empty() || commit.starts_with('.') || !commit.bytes().all(plain) {
        return None;
    }
    let folder = folder.join("snapshots").join(commit);
    folder.is_dir().then_some(folder)
}

fn copy(from: &Path, to: &Path) -> Result<Content> {
    let mut file = kodiak_base::files::open(from).map_err(Error::io("read", from))?;
    checksum::copy(&mut file, to, u64::MAX).map_err(|error| match error {
        CopyError::Reading(error) => Error::io("read", from)(error).into(),
        CopyError::Writing(error) => Error::io("write", to)(error).into(),
        CopyError::TooLarge => Failure::Origin(format!("{} is too large", from.display())),
    })
}

#[cfg(test)]
#[path = "hub_tests.rs"]
mod tests;
