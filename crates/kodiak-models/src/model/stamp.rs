//! Telling whether a model's files are those whose hashes were checked.
//!
//! Hashing a model takes longer than a search, so it is done once for each file:
//! when it is new. The stamp beside the files has their sizes and times as of the
//! last check.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

/// The name of the stamp in a model's folder.
pub(super) const STAMP: &str = ".verified";

/// Reports whether the files are the ones that were checked last.
pub(super) fn is_current<'a>(folder: &Path, files: impl Iterator<Item = &'a str>) -> bool {
    let written = kodiak_base::files::read_text(folder.join(STAMP), kodiak_base::files::SMALL).ok();
    written.is_some() && written == stamp(folder, files)
}

/// Notes that the files were checked. If that cannot be written, they are checked
/// again next time.
pub(super) fn keep<'a>(folder: &Path, files: impl Iterator<Item = &'a str>) {
    if let Some(stamp) = stamp(folder, files) {
        let _ = kodiak_base::files::replace(folder.join(STAMP), stamp.as_bytes());
    }
}

fn stamp<'a>(folder: &Path, files: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut text = String::new();
    for name in files {
        let metadata = fs::metadata(folder.join(name)).ok()?;
        let modified = metadata.modified().ok()?;
        let since = modified.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        writeln!(text, "{name} {} {}", metadata.len(), since.as_nanos()).ok()?;
    }
    Some(text)
}
