//! A separate home for the program, and how it is run there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::Signal;

/// A temporary home.
pub(super) struct Place {
    folder: tempfile::TempDir,
    program: PathBuf,
}

impl Place {
    /// Creates a home with a small model.
    pub(super) fn new(program: PathBuf) -> Result<Self> {
        let place = Self {
            folder: tempfile::tempdir()?,
            program,
        };
        for folder in ["home", "notes", "claude/projects/p"] {
            fs::create_dir_all(place.path(folder))?;
        }
        tiny_model::write(&place.path("tiny"))?;
        place.finish(&["model", "install", "--from", "tiny"])?;
        Ok(place)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .env_clear()
            .env("HOME", self.path("home"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("XDG_DATA_HOME", self.path("data"))
            .env("CLAUDE_CONFIG_DIR", self.path("claude"))
            .env("KODIAK_MODEL", tiny_model::NAME)
            .env("KODIAK_OFFLINE", "1")
            // What is opened is only recorded.
            .env("EDITOR", "true")
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        command
    }

    /// Runs the program to its end. Finding nothing left to do is fine.
    pub(super) fn finish(&self, arguments: &[&str]) -> Result<Duration> {
        let started = Instant::now();
        let output = self.command(arguments).stderr(Stdio::piped()).output()?;
        ensure!(
            matches!(output.status.code(), Some(0 | 1)),
            "{arguments:?} ended with {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(started.elapsed())
    }

    /// Runs the program to its end, which must be a success.
    pub(super) fn succeed(&self, arguments: &[&str]) -> Result<()> {
        let mut command = self.command(arguments);
        let output = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .output()?;
        ensure!(
            output.status.success(),
            "{arguments:?} ended with {}: {}{}",
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(())
    }

    /// Starts the program and stops it. One that does not end is killed after a while.
    pub(super) fn stop(&self, arguments: &[&str], signal: Signal, after: Duration) -> Result<()> {
        let mut child = self.command(arguments).stderr(Stdio::null()).spawn()?;
        std::thread::sleep(after);
        send(&mut child, signal)?;
        let started = Instant::now();
        while child.try_wait()?.is_none() {
            ensure!(
                started.elapsed() < Duration::from_mins(2),
                "{arguments:?} does not end after {signal:?}"
            );
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(())
    }

    /// Returns the files that the program writes and that contain a text.
    pub(super) fn files_with(&self, text: &str) -> Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for folder in ["data", "config", "home", "notes"] {
            let mut folders = vec![self.path(folder)];
            while let Some(folder) = folders.pop() {
                for entry in fs::read_dir(&folder).into_iter().flatten() {
                    let path = entry?.path();
                    if path.is_dir() {
                        folders.push(path);
                    } else if contains(&path, text)? {
                        found.push(path);
                    }
                }
            }
        }
        Ok(found)
    }
}

fn contains(path: &Path, text: &str) -> Result<bool> {
    let bytes = fs::read(path).with_context(|| path.display().to_string())?;
    let first = text.as_bytes()[0];
    let mut rest = bytes.as_slice();
    while let Some(at) = rest.iter().position(|&byte| byte == first) {
        if rest[at..].starts_with(text.as_bytes()) {
            return Ok(true);
        }
        rest = &rest[at + 1..];
    }
    Ok(false)
}

#[cfg(unix)]
fn send(child: &mut Child, signal: Signal) -> Result<()> {
    use rustix::process::{Pid, Signal as Number, kill_process};
    let number = match signal {
        Signal::Interrupt => Number::INT,
        Signal::Terminate => Number::TERM,
        Signal::Kill => Number::KILL,
    };
    let process = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if child.try_wait()?.is_none()
        && let Some(process) = process
    {
        kill_process(process, number)?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn send(child: &mut Child, _signal: Signal) -> Result<()> {
    child.kill()?;
    Ok(())
}
