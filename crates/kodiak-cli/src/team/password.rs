//! The password for a server: from `PGPASSWORD`, from the file that the config names, or
//! from a file in the format of libpq, in this order. It is never an argument.

use std::io::{Error as IoError, ErrorKind};
use std::path::{Path, PathBuf};

use kodiak::{Error, files};
use kodiak_postgres::Address;

use crate::paths;

/// The variable with the password.
const VARIABLE: &str = "PGPASSWORD";

/// Returns the password for an address, if there is one.
pub(super) fn of(address: &Address, named: Option<&Path>) -> kodiak::Result<Option<String>> {
    let told = std::env::var(VARIABLE).ok();
    if let Some(password) = told.filter(|password| !password.is_empty()) {
        return Ok(Some(password));
    }
    if let Some(path) = named {
        let text = files::read_text(path, files::SMALL).map_err(Error::io("read", path))?;
        require_private(path)?;
        return Ok(text.lines().next().map(str::to_owned));
    }
    let Some(path) = paths::password_file() else {
        return Ok(None);
    };
    match files::read_text(&path, files::SMALL) {
        Ok(text) => {
            let found = address.password_in(&text);
            if found.is_some() {
                require_private(&path)?;
            }
            Ok(found)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("read", &path)(error)),
    }
}

/// Fails if others on this machine can read a file.
fn require_private(path: &Path) -> kodiak::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let found = std::fs::metadata(path).map_err(Error::io("read", path))?;
        if found.mode() & 0o077 != 0 {
            let shown: PathBuf = path.to_owned();
            let said = format!(
                "others can read the password in it; run `chmod 600 {}`",
                shown.display()
            );
            let error = IoError::new(ErrorKind::PermissionDenied, said);
            return Err(Error::io("use", path)(error));
        }
    }
    Ok(())
}
