//! Replaces a file in one step.
//!
//! A crash or a full disk leaves the old file as it was. What the file means,
//! and whether it may be replaced, is left to the caller.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Writes a file beside `path` and moves it there. A file that is replaced
/// passes on its permissions; a new one has the usual ones.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    fs::create_dir_all(folder)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let old = fs::metadata(path).ok().map(|old| old.permissions());
    let mut builder = tempfile::Builder::new();
    let prefix = format!(".{name}.");
    builder.prefix(&prefix);
    // The usual permissions of a new file, not the strict ones of a temporary
    // file. What replaces another stays strict until it has those of the other.
    #[cfg(unix)]
    if old.is_none() {
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    if let Some(old) = old {
        file.as_file().set_permissions(old)?;
    }
    file.as_file().sync_all()?;
    file.persist(path)?;
    if let Ok(folder) = fs::File::open(folder) {
        // Makes the new name survive a power cut, where the system can.
        let _ = folder.sync_all();
    }
    Ok(())
}
