//! Why Bear's database cannot be read, from what SQLite and the system say.

use std::io::{self, ErrorKind};
use std::path::Path;

use rusqlite::ErrorCode;

use crate::error::{BearProblem, Error};
use crate::source::database::{Refusal, plain};

/// Interprets why the database could not be opened.
pub(super) fn refused(path: &Path, refusal: &Refusal) -> Error {
    match refusal {
        Refusal::System(error) => of_system(path, error),
        Refusal::Sqlite(error) => failure(path, error),
    }
}

/// Interprets an error of SQLite.
pub(super) fn failure(path: &Path, error: &rusqlite::Error) -> Error {
    let problem = match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => BearProblem::NotADatabase,
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => BearProblem::Locked,
        Some(ErrorCode::AuthorizationForStatementDenied | ErrorCode::PermissionDenied) => {
            BearProblem::Denied
        }
        Some(ErrorCode::OperationInterrupted) => {
            BearProblem::Failed("reading it takes longer than its size explains".to_owned())
        }
        // SQLite does not say why it could not open a file; the system does.
        Some(ErrorCode::CannotOpen) => match crate::files::open(path) {
            Err(error) => return of_system(path, &error),
            Ok(_) => BearProblem::Failed(plain(error)),
        },
        _ => BearProblem::Failed(plain(error)),
    };
    Error::Bear {
        path: path.to_owned(),
        problem,
    }
}

/// Interprets an error of the operating system.
pub(super) fn of_system(path: &Path, error: &io::Error) -> Error {
    let problem = match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => BearProblem::Missing,
        ErrorKind::PermissionDenied => BearProblem::Denied,
        _ => BearProblem::Failed(error.to_string()),
    };
    Error::Bear {
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
            (ErrorKind::NotFound, BearProblem::Missing),
            (ErrorKind::NotADirectory, BearProblem::Missing),
            (ErrorKind::PermissionDenied, BearProblem::Denied),
        ] {
            let error = of_system(Path::new("/db"), &kind.into());
            assert!(matches!(error, Error::Bear { problem, .. } if problem == expected));
        }
        // What SQLite says where macOS denies access.
        for (code, expected) in [
            (rusqlite::ffi::SQLITE_AUTH, BearProblem::Denied),
            (rusqlite::ffi::SQLITE_PERM, BearProblem::Denied),
            (rusqlite::ffi::SQLITE_BUSY, BearProblem::Locked),
            (rusqlite::ffi::SQLITE_NOTADB, BearProblem::NotADatabase),
            (rusqlite::ffi::SQLITE_CANTOPEN, BearProblem::Missing),
        ] {
            let error = rusqlite::ffi::Error::new(code);
            let error = rusqlite::Error::SqliteFailure(error, None);
            let error = failure(Path::new("/no such folder/db"), &error);
            assert!(matches!(error, Error::Bear { problem, .. } if problem == expected));
        }
    }
}
