//! Fetching a package with a package client.
//!
//! The client is the user's own, with the user's own mirrors, proxies and
//! credentials; none of these is read here. It runs without input, in its own
//! process group, and is stopped when the patience ends.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::catalogue::{Package, Wheel};
use super::failure::Failure;
use super::staging::Staging;
use kodiak_base::error::{Error, Result};

/// Fetches a package with `client`, a program and its first arguments. Returns
/// the path of the archive.
pub(super) fn fetch(
    package: &Package,
    client: &[OsString],
    staging: &Staging,
    patience: Duration,
) -> std::result::Result<PathBuf, Failure> {
    let Some((program, first)) = client.split_first() else {
        return Err(Failure::Origin("not found".into()));
    };
    let download = staging.download();
    let mut command = Command::new(program);
    command
        .args(first)
        .args(arguments(package, &download))
        // Not the caller's folder, because project settings there would apply.
        .current_dir(&download);
    run(command, &staging.complaints(), patience)?;
    let ending = match package {
        Package::Npm { .. } => "tgz",
        Package::Pip { .. } => "whl",
    };
    let archive = with_ending(&download, ending)?;
    archive.ok_or_else(|| Failure::Origin(format!("left no .{ending} file")))
}

/// Returns the arguments for the client. An offline machine must fail in
/// seconds, hence few retries with short pauses.
fn arguments(package: &Package, download: &Path) -> Vec<OsString> {
    let fixed: &[&str] = match package {
        Package::Npm { .. } => &[
            "pack",
            "--ignore-scripts",
            "--loglevel=error",
            "--prefer-offline",
            "--no-update-notifier",
            "--fetch-retries=1",
            "--fetch-retry-mintimeout=500",
            "--fetch-retry-maxtimeout=1000",
            "--pack-destination",
        ],
        Package::Pip { .. } => &[
            "download",
            "--no-deps",
            "--only-binary=:all:",
            "--no-input",
            "--disable-pip-version-check",
            "--progress-bar=off",
            "--retries=1",
            "--dest",
        ],
    };
    let mut arguments: Vec<OsString> = fixed.iter().map(OsString::from).collect();
    arguments.push(download.into());
    if let Package::Pip { wheel, .. } = package {
        let Wheel {
            platform,
            python,
            abi,
        } = wheel;
        arguments.extend(
            [
                format!("--platform={platform}"),
                format!("--python-version={python}"),
                "--implementation=cp".to_owned(),
                format!("--abi={abi}"),
            ]
            .map(OsString::from),
        );
    }
    arguments.push(package.specifier().into());
    arguments
}

/// Runs a command until it ends or the patience does.
fn run(
    mut command: Command,
    complaints: &Path,
    patience: Duration,
) -> std::result::Result<(), Failure> {
    // A file and not a pipe: a grandchild that keeps a pipe open would block
    // its reader.
    let file = File::create(complaints).map_err(Error::io("create", complaints))?;
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(file);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let child = command
        .spawn()
        .map_err(|error| Failure::Origin(format!("could not be started: {error}")))?;
    let mut running = Running {
        child,
        ended: false,
    };
    match running.wait(patience) {
        Ok(Some(status)) if status.success() => Ok(()),
        Ok(Some(status)) => {
            let said = tail(complaints);
            let said = complaint(&said).unwrap_or_else(|| status.to_string());
            Err(Failure::Origin(said))
        }
        Ok(None) => {
            let seconds = patience.as_secs_f32().ceil();
            Err(Failure::Origin(format!("not done after {seconds} seconds")))
        }
        Err(error) => Err(Failure::Origin(format!("could not be waited for: {error}"))),
    }
}

/// A running client, killed when dropped.
#[derive(Debug)]
struct Running {
    child: Child,
    ended: bool,
}

impl Running {
    /// Waits until it ends. Returns `None` if the patience ends first.
    fn wait(&mut self, patience: Duration) -> std::io::Result<Option<ExitStatus>> {
        let begun = Instant::now();
        let mut pause = Duration::from_millis(5);
        loop {
            if let Some(status) = self.child.try_wait()? {
                self.ended = true;
                return Ok(Some(status));
            }
            let left = patience.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return Ok(None);
            }
            std::thread::sleep(pause.min(left));
            pause = (pause * 2).min(Duration::from_millis(100));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        // Failures are ignored, because nothing more can be done. The whole
        // process group is killed. Until the child has been waited for, its id
        // is not reused.
        #[cfg(unix)]
        let _ = rustix::process::kill_process_group(
            rustix::process::Pid::from_child(&self.child),
            rustix::process::Signal::KILL,
        );
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the end of a client's error output.
fn tail(complaints: &Path) -> String {
    const MAX_LENGTH: u64 = 1 << 16;
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(complaints)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(MAX_LENGTH)))?;
        let mut text = Vec::new();
        file.take(MAX_LENGTH).read_to_end(&mut text)?;
        Ok(text)
    };
    String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
}

/// Returns the client's complaint on one line: the cause if it names one, else
/// the last line that is not advice.
fn complaint(said: &str) -> Option<String> {
    const MAX_LENGTH: usize = 200;
    let lines: Vec<&str> = said
        .lines()
        .map(|line| {
            let line = line.trim();
            let prefixes = ["npm error", "npm ERR!", "ERROR:", "WARNING:"];
            let stripped = prefixes.iter().find_map(|prefix| line.strip_prefix(prefix));
            stripped.unwrap_or(line).trim()
        })
        .filter(|line| !line.is_empty())
        .collect();
    let cause = ["failed, reason: ", "after connection broken by "]
        .iter()
        .find_map(|before| lines.iter().find_map(|line| line.split_once(before)))
        .map(|(_, cause)| without_wrapping(cause));
    // npm first names the error by its code, then explains it and then gives
    // advice. Others end with what matters.
    let explained = lines
        .iter()
        .position(|line| line.starts_with("code E"))
        .and_then(|code| {
            let details = ["syscall ", "errno ", "path "];
            let is_detail = |line: &str| details.iter().any(|detail| line.starts_with(detail));
            lines[code + 1..].iter().find(|line| !is_detail(line))
        });
    let line = cause
        .or(explained.copied())
        .or_else(|| lines.last().copied())?;
    let mut short: String = line
        .chars()
        .filter(|character| !character.is_control())
        .take(MAX_LENGTH)
        .collect();
    if line.chars().nth(MAX_LENGTH).is_some() {
        short.push('…');
    }
    Some(short)
}

/// Returns the message in a Python error, which stands between the object and
/// the request.
fn without_wrapping(cause: &str) -> &str {
    let words = [">: ", "): "]
        .iter()
        .filter_map(|before| cause.rsplit_once(before))
        .map(|(_, words)| words)
        .min_by_key(|words| words.len())
        .unwrap_or(cause);
    let end = ["')", "\")"].iter().filter_map(|end| words.find(end)).min();
    words[..end.unwrap_or(words.len())].trim()
}

/// Returns a file in `folder` with this extension.
fn with_ending(folder: &Path, ending: &str) -> Result<Option<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(Error::io("read", folder))?;
    for entry in entries {
        let path = entry.map_err(Error::io("read", folder))?.path();
        if path.extension() == Some(OsStr::new(ending)) && path.is_file() {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
