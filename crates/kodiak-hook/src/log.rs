//! The log of a hook: one line for each event, without the prompt or the context.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use kodiak::files::{self, Writing};
use kodiak::{date, escape};

/// The size from which a log is set aside, in bytes. With the one before, twice as much
/// is kept.
const MAX_LOG_BYTES: u64 = 128 * 1024;
/// The longest line, in characters.
const MAX_LINE_LENGTH: usize = 300;

/// A log in a file.
#[derive(Clone, Debug)]
pub struct Log {
    path: PathBuf,
}

impl Log {
    /// Creates a log in the file at `path`, which need not exist.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a line. A line that cannot be written is lost: no prompt waits for a log.
    pub fn add(&self, line: &str) {
        let line: String = escape::line(line).chars().take(MAX_LINE_LENGTH).collect();
        let _ = files::create_folder(files::folder_of(&self.path));
        if fs::metadata(&self.path).is_ok_and(|it| it.len() > MAX_LOG_BYTES) {
            let _ = fs::rename(&self.path, self.path.with_extension("old"));
        }
        if let Ok(mut file) = files::open_own(&self.path, Writing::Append) {
            let _ = file.write_all(format!("{} {line}\n", date::format(date::now())).as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_does_not_grow_without_bounds() {
        let place = tempfile::tempdir().unwrap();
        let log = Log::new(place.path().join("logs/hook.log"));
        log.add("one\nline");
        let text = fs::read_to_string(log.path()).unwrap();
        assert_eq!(text.lines().count(), 1, "{text}");
        for _ in 0..3 {
            fs::write(log.path(), vec![b'x'; MAX_LOG_BYTES as usize + 1]).unwrap();
            log.add(&"long ".repeat(1_000));
        }
        let sizes: u64 = fs::read_dir(place.path().join("logs"))
            .unwrap()
            .map(|entry| entry.unwrap().metadata().unwrap().len())
            .sum();
        assert!(sizes < 3 * MAX_LOG_BYTES, "{sizes}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::remove_file(log.path()).unwrap();
            log.add("private");
            let mode = fs::metadata(log.path()).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }
}
