//! Errors of a server, each with the next step.

use std::error::Error as _;
use std::path::Path;

use tokio_postgres::error::SqlState;

use crate::segment::Damage;
use kodiak_base::error::{Cause, Error};

/// Returns the error for a place, with a cause and a detail.
pub(crate) fn refused(place: &Path, cause: Cause, detail: impl Into<String>) -> Error {
    Error::Database {
        path: place.to_path_buf(),
        detail: detail.into(),
        cause,
    }
}

/// Converts an error of the client or the server.
pub(crate) fn convert(place: &Path, error: &tokio_postgres::Error) -> Error {
    match error.as_db_error() {
        Some(said) => of_state(place, said.code(), said.message()),
        None if error.is_closed() => {
            let detail =
                "the server closed the connection; check that it is running, and try again";
            refused(place, Cause::Unreachable, detail)
        }
        None => refused(place, Cause::Unreachable, with_reasons(error)),
    }
}

/// Returns the error for a state that the server has answered with. Only a state that says
/// that tables are not as they must be counts as damage: whatever else goes wrong, the index
/// is as it was.
fn of_state(place: &Path, state: &SqlState, message: &str) -> Error {
    let of = |cause, next: &str| refused(place, cause, format!("{message}; {next}"));
    match *state {
        SqlState::UNDEFINED_TABLE | SqlState::INVALID_SCHEMA_NAME => {
            return Error::NoIndex {
                path: place.to_path_buf(),
            };
        }
        SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED => {
            return Error::Corrupt {
                path: place.to_path_buf(),
                detail: message.to_owned(),
            };
        }
        SqlState::INVALID_AUTHORIZATION_SPECIFICATION if message.contains("no encryption") => {
            return of(
                Cause::Unreachable,
                "the server wants TLS: take sslmode=disable out of the address",
            );
        }
        SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
            return of(
                Cause::Unreachable,
                "check the user's name, and the password in PGPASSWORD",
            );
        }
        SqlState::INVALID_CATALOG_NAME => {
            return of(
                Cause::Unreachable,
                "create the database, or name another one in the address",
            );
        }
        SqlState::INSUFFICIENT_PRIVILEGE => {
            return of(
                Cause::ReadOnly,
                "grant the user CREATE on the database, or name a schema that it owns",
            );
        }
        SqlState::READ_ONLY_SQL_TRANSACTION => {
            return of(
                Cause::ReadOnly,
                "this server only reads; name the one that writes",
            );
        }
        SqlState::DISK_FULL => return of(Cause::DiskFull, "free some space on the server"),
        SqlState::OUT_OF_MEMORY => {
            return of(Cause::Busy, "repeat it, or give the server more memory");
        }
        SqlState::TOO_MANY_CONNECTIONS => {
            return of(
                Cause::Busy,
                "raise max_connections, or put pgbouncer in front of the server",
            );
        }
        SqlState::QUERY_CANCELED => {
            return of(Cause::Busy, "try again when the server is less busy");
        }
        SqlState::LOCK_NOT_AVAILABLE => return of(Cause::Busy, "repeat it"),
        _ => {}
    }
    let code = state.code();
    // A class of states is the first two characters of each.
    match code.get(..2).unwrap_or_default() {
        // Connections, and servers that stop or are not there yet. A proxy answers with the
        // first for one that it cannot reach.
        "08" | "57" => of(Cause::Unreachable, "repeat it once the server runs"),
        // Transactions that the server has ended: what took too long, and what others have
        // changed at the same time.
        "25" => of(
            Cause::Unreachable,
            "the server ended the transaction; repeat it",
        ),
        "40" => of(Cause::Busy, "repeat it"),
        "28" => of(Cause::Unreachable, "check how the server lets users in"),
        // A lack of something, and what is more than the server takes.
        "53" | "54" | "55" => of(Cause::Busy, "try again when the server is less busy"),
        // Errors of the server itself, and of the system below it.
        "58" | "F0" | "P0" => of(
            Cause::Unreachable,
            "look into the log of the server, and repeat it",
        ),
        "XX" => of(
            Cause::Unreachable,
            "this is an error of the server; look into its log, and repeat it",
        ),
        // What it does not take. Another version may have other tables.
        _ => of(
            Cause::Busy,
            &format!("see that all programs are of one version ({code})"),
        ),
    }
}

/// Returns the message of an error of the client, with the reasons below it.
pub(crate) fn with_reasons(error: &tokio_postgres::Error) -> String {
    let mut text = error.to_string();
    let mut below = error.source();
    while let Some(reason) = below {
        let reason_text = reason.to_string();
        if !text.contains(&reason_text) {
            text = format!("{text}: {reason_text}");
        }
        below = reason.source();
    }
    let next = if text.contains("not valid for name") {
        "; write the name that the certificate has into the address"
    } else if text.contains("certificate expired") || text.contains("not valid yet") {
        "; the server needs another certificate, or this machine another time"
    } else if text.contains("certificate") {
        "; name the file of the authority's certificate with sslrootcert in the address"
    } else {
        ""
    };
    text.push_str(next);
    text
}

/// Returns the error for a segment whose bytes are damaged.
pub(crate) fn damaged(place: &Path, what: &str, damage: Damage) -> Error {
    Error::Corrupt {
        path: place.to_path_buf(),
        detail: format!("{what}: {}", damage.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_damage_counts_as_damage() {
        let of = |code: &str| of_state(Path::new("here"), &SqlState::from_code(code), "it failed");
        for code in ["XX001", "XX002"] {
            assert!(of(code).is_damage(), "{code}");
        }
        for (code, cause) in [
            ("53000", Cause::Busy),
            ("53100", Cause::DiskFull),
            ("53200", Cause::Busy),
            ("53300", Cause::Busy),
            ("53400", Cause::Busy),
            ("54000", Cause::Busy),
            ("54001", Cause::Busy),
            ("55006", Cause::Busy),
            ("55P03", Cause::Busy),
            ("40001", Cause::Busy),
            ("40P01", Cause::Busy),
            ("57014", Cause::Busy),
            ("57000", Cause::Unreachable),
            ("57P01", Cause::Unreachable),
            ("57P02", Cause::Unreachable),
            ("57P03", Cause::Unreachable),
            ("57P04", Cause::Unreachable),
            ("57P05", Cause::Unreachable),
            ("25P01", Cause::Unreachable),
            ("25P02", Cause::Unreachable),
            ("25P03", Cause::Unreachable),
            ("25P04", Cause::Unreachable),
            ("25006", Cause::ReadOnly),
            ("08000", Cause::Unreachable),
            ("08003", Cause::Unreachable),
            ("08006", Cause::Unreachable),
            ("08P01", Cause::Unreachable),
            ("28000", Cause::Unreachable),
            ("28P01", Cause::Unreachable),
            ("3D000", Cause::Unreachable),
            ("42501", Cause::ReadOnly),
            ("22021", Cause::Busy),
            ("23505", Cause::Busy),
            ("42601", Cause::Busy),
            ("42703", Cause::Busy),
            ("42804", Cause::Busy),
            ("58000", Cause::Unreachable),
            ("58030", Cause::Unreachable),
            ("F0001", Cause::Unreachable),
            ("XX000", Cause::Unreachable),
        ] {
            let error = of(code);
            assert!(!error.is_damage(), "{code}: {error}");
            let is_right =
                matches!(&error, Error::Database { cause: found, .. } if *found == cause);
            assert!(is_right, "{code}: {error:?}");
            assert!(error.to_string().contains("it failed"), "{code}: {error}");
        }
        for code in ["42P01", "3F000"] {
            assert!(matches!(of(code), Error::NoIndex { .. }), "{code}");
        }
    }
}
