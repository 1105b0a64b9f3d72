//! Notices that the settings have changed while a server runs, such as by `kodiak
//! add` in another process, and reads them again.

use std::fs::Metadata;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use kodiak_server::Settled;

use crate::context::{Context, Detached};
use crate::failure;

/// Everything needed to read the settings again, and the state of their file at the last
/// reading.
#[derive(Debug)]
pub(super) struct Renewing {
    context: Detached,
    no_semantic: bool,
    seen: Mutex<Option<Stamp>>,
}

/// The state of a file. Every change by Kodiak makes a new file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
    number: u64,
}

impl Stamp {
    /// Returns the state of a file, if it is there.
    fn of(path: &Path) -> Option<Self> {
        let metadata = std::fs::metadata(path).ok()?;
        Some(Self {
            length: metadata.len(),
            modified: metadata.modified().ok(),
            number: number(&metadata),
        })
    }
}

/// Returns the number of a file, where files have one.
#[cfg(unix)]
fn number(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn number(_: &Metadata) -> u64 {
    0
}

impl Renewing {
    /// Takes note of the settings as they are now, before they are read.
    pub(super) fn new(context: &Context<'_>, no_semantic: bool) -> Self {
        Self {
            seen: Mutex::new(Stamp::of(&context.config_path)),
            context: context.detached(),
            no_semantic,
        }
    }

    /// Returns what is served from now on, if the settings have changed. If they cannot be
    /// used, nothing changes, and a warning is printed once.
    pub(super) fn renewed(&self) -> Option<Settled> {
        let context = self.context.context();
        let now = Stamp::of(&context.config_path);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if *seen == now {
            return None;
        }
        *seen = now;
        let config = context.config();
        let settled = config.and_then(|config| super::settled(&context, &config, self.no_semantic));
        settled
            .inspect_err(|error| {
                let message = failure::message(error);
                let output = context.output;
                output.warning(&format!(
                    "the settings have changed and cannot be used: {message}"
                ));
            })
            .ok()
    }
}
