//! Why Bear's database cannot be read, from what SQLite and the system say.

use std::io::{self, ErrorKind};
use std::path::Path;

use rusqlite::ErrorCode;

use kodiak_base::{Error, ForeignProblem};
use kodiak_store::foreign::{Refusal, plain};

/// The name of the program in messages.
pub(crate) const PROGRAM: &str = "Bear";

/// Interprets why the database could not be opened.
pub(crate) fn refused(path: &Path, refusal: &Refusal) -> Error {
    match refusal {
        Refusal::System(error) => of_system(path, error),
        Refusal::Sqlite(error) => failure(path, error),
    }
}

/// Interprets an error of SQLite.
pub(crate) fn failure(path: &Path, error: &rusqlite::Error) -> Error {
    let problem = match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => ForeignProblem::NotADatabase,
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => ForeignProblem::Locked,
        Some(ErrorCode::AuthorizationForStatementDenied | ErrorCode::PermissionDenied) => {
            ForeignProblem::Denied
        }
        Some(ErrorCode::OperationInterrupted) => {
            ForeignProblem::Failed("reading it takes longer than its size explains".to_owned())
        }
        // SQLite does not say why it could not open a file; the system does.
        Some(ErrorCode::CannotOpen) => match kodiak_base::files::open(path) {
            Err(error) => return of_system(path, &error),
            Ok(_) => ForeignProblem::Failed(plain(error)),
        },
        _ => ForeignProblem::Failed(plain(error)),
    };
    Error::Foreign {
        program: PROGRAM,
        path: path.to_owned(),
        problem,
    }
}

/// Interprets an error of the operating system.
pub(crate) fn of_system(path: &Path, error: &io::Error) -> Error {
    let problem = match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => ForeignProblem::Missing,
        ErrorKind::PermissionDenied => ForeignProblem::Denied,
        _ => ForeignProblem::Failed(error.to_string()),
    };
    Error::Foreign {
        program: PROGRAM,
        path: path.to_owned(),
        problem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_of_the_system_are_told_apart() {
        for (kind, expected) in [
            (ErrorKind::NotFound, ForeignProblem::Missing),
            (ErrorKind::NotADirectory, ForeignProblem::Missing),
            (ErrorKind::PermissionDenied, ForeignProblem::Denied),
        ] {
            let error = of_system(Path::new("/db"), &kind.into());
            assert!(matches!(error, Error::Foreign { problem, .. } if problem == expected));
        }
        // What SQLite says where macOS denies access.
        for (code, expected) in [
            (rusqlite::ffi::SQLITE_AUTH, ForeignProblem::Denied),
            (rusqlite::ffi::SQLITE_PERM, ForeignProblem::Denied),
            (rusqlite::ffi::SQLITE_BUSY, ForeignProblem::Locked),
            (rusqlite::ffi::SQLITE_NOTADB, ForeignProblem::NotADatabase),
            (rusqlite::ffi::SQLITE_CANTOPEN, ForeignProblem::Missing),
        ] {
            let error = rusqlite::ffi::Error::new(code);
            let error = rusqlite::Error::SqliteFailure(error, None);
            let error = failure(Path::new("/no such folder/db"), &error);
            assert!(matches!(error, Error::Foreign { problem, .. } if problem == expected));
        }
    }
}
