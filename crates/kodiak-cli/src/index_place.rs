//! Where the index is: a file on this machine, or a schema in a database.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::Config;
use crate::paths;
use crate::team::Server;

/// Where the index is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum IndexPlace {
    /// In a file.
    File(PathBuf),
    /// On a server, which several machines may use.
    Server(Arc<Server>),
}

impl IndexPlace {
    /// Returns the place that was asked for, else the one that the config at this path
    /// names, else the usual one. Opens nothing.
    pub(crate) fn find(asked: Option<&OsString>, config: &Path) -> anyhow::Result<Self> {
        // A config that cannot be read is an error of whatever needs it.
        let config = Config::load(config).unwrap_or_default();
        let asked = asked.filter(|asked| !asked.is_empty()).cloned();
        let place = asked.or_else(|| config.index.as_ref().map(OsString::from));
        match place.as_ref().and_then(|place| place.to_str()) {
            Some(address) if is_address(address) => {
                let shown = without_password(address).into_owned();
                let (data, cache) = paths::server_folders(&shown)?;
                let password_file = config.team.password_file;
                let server = Server::new(address, &data, cache, password_file);
                Ok(Self::Server(Arc::new(server)))
            }
            _ => Ok(Self::File(paths::index_file(place.as_ref())?)),
        }
    }

    /// Returns the place as messages show it.
    pub(crate) fn shown(&self) -> &Path {
        match self {
            Self::File(path) => path,
            Self::Server(server) => server.shown(),
        }
    }

    /// Returns the file beside which this machine keeps data that belongs to the index. It
    /// need not exist.
    pub(crate) fn beside(&self) -> &Path {
        match self {
            Self::File(path) => path,
            Self::Server(server) => server.beside(),
        }
    }

    /// Returns the server, if the index is on one.
    pub(crate) fn server(&self) -> Option<&Arc<Server>> {
        match self {
            Self::File(_) => None,
            Self::Server(server) => Some(server),
        }
    }

    /// Returns the folder that has the index, if it is a file.
    pub(crate) fn folder(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path.parent().unwrap_or(path)),
            Self::Server(_) => None,
        }
    }

    /// Reports whether there is an index.
    pub(crate) fn exists(&self) -> bool {
        match self {
            Self::File(path) => path.exists(),
            Self::Server(server) => server.exists(),
        }
    }

    /// Returns the argument that makes another run use the same place.
    pub(crate) fn repeated(&self) -> anyhow::Result<OsString> {
        match self {
            Self::File(path) => Ok(path.as_os_str().to_owned()),
            Self::Server(server) => Ok(server.address()?.into()),
        }
    }
}

/// Reports whether an index at this place would be on a server.
pub(crate) fn is_address(place: &str) -> bool {
    place.starts_with("postgres://") || place.starts_with("postgresql://")
}

/// Returns an address as it may be shown: without a password, which it must not have.
pub(crate) fn without_password(address: &str) -> Cow<'_, str> {
    let Some((scheme, rest)) = address.split_once("://") else {
        return Cow::Borrowed(address);
    };
    let (base, options) = rest.split_once('?').unwrap_or((rest, ""));
    let (user, host) = base.rsplit_once('@').unwrap_or(("", base));
    let user = user.split(':').next().unwrap_or_default();
    let is_secret = |option: &&str| option.to_ascii_lowercase().starts_with("password");
    let (secret, options): (Vec<&str>, Vec<&str>) = options.split('&').partition(is_secret);
    if secret.is_empty()
        && !base
            .split('@')
            .next()
            .is_some_and(|it| base.contains('@') && it.contains(':'))
    {
        return Cow::Borrowed(address);
    }
    let mut shown = format!("{scheme}://");
    if !user.is_empty() {
        shown.push_str(user);
        shown.push('@');
    }
    shown.push_str(host);
    let options = options.join("&");
    if !options.is_empty() {
        shown.push('?');
        shown.push_str(&options);
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_shown() {
        for (address, shown) in [
            ("postgres://ada@db/notes", "postgres://ada@db/notes"),
            ("postgres://[::1]:5432/notes", "postgres://[::1]:5432/notes"),
            ("postgres://ada:se:cret@db/notes", "postgres://ada@db/notes"),
            ("postgres://ada:se@cret@db/notes", "postgres://ada@db/notes"),
            (
                "postgres://ada@db/notes?schema=x&password=secret",
                "postgres://ada@db/notes?schema=x",
            ),
        ] {
            assert_eq!(without_password(address), shown);
        }
    }
}
