//! The file that keeps the hashes of tokens: readable by its owner only, and
//! replaced in one step by one process at a time.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use kodiak::Timestamp;
use kodiak::files;
use kodiak::store::{WriteLock, wait_for_lock};
use serde::{Deserialize, Serialize};

use super::{Grant, Token, Tokens, presented};

/// How long to wait for another process that changes the file.
const PATIENCE: Duration = Duration::from_secs(10);

/// The largest file that is read.
const LARGEST: u64 = 4 << 20;

/// Why tokens could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The file could not be read or written.
    #[error("could not {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// The file is not one that this program wrote.
    #[error("{} is not a file of tokens: {reason}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Others than its owner can read or write the file.
    #[error("{} can be read or changed by other users", path.display())]
    Exposed {
        /// The file.
        path: PathBuf,
    },
    /// There is a token of this name.
    #[error("there is already a token named '{name}'")]
    Taken {
        /// The name.
        name: String,
    },
    /// There is no token of this name.
    #[error("there is no token named '{name}'")]
    Unknown {
        /// The name.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// Another process is changing the file.
    #[error(transparent)]
    Locked(kodiak::Error),
    /// The database with the tokens could not be used.
    #[error(transparent)]
    Database(#[from] kodiak::Error),
    /// The operating system has no random numbers.
    #[error("the operating system gave no random numbers: {0}")]
    Random(String),
}

/// The content of the file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Content {
    tokens: Vec<Token>,
}

/// A file of tokens. It is read again whenever it has changed, so that a token
/// that is revoked is refused from then on.
#[derive(Debug)]
pub struct TokenFile {
    path: PathBuf,
    /// What was read last, and the state that the file was in.
    read: Mutex<Option<(Stamp, Arc<Vec<Token>>)>>,
}

/// The state of a file. Every change makes a new file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
    /// The number and the permissions of the file, where files have them.
    identity: (u64, u32),
}

impl TokenFile {
    /// Names the file. It need not exist.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            read: Mutex::default(),
        }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn lock(&self, holder: &str) -> Result<WriteLock, TokenError> {
        files::create_folder(self.folder()).map_err(self.failed("create the folder of"))?;
        let acquire = || WriteLock::acquire(&self.path, holder);
        wait_for_lock(PATIENCE, |_, _| Ok(()), acquire).map_err(TokenError::Locked)
    }

    /// Returns the tokens as they are in the file now.
    fn loaded(&self) -> Result<Vec<Token>, TokenError> {
        match self.stamp()? {
            Some(_) => self.load(),
            None => Ok(Vec::new()),
        }
    }

    fn load(&self) -> Result<Vec<Token>, TokenError> {
        let text = files::read_text(&self.path, LARGEST).map_err(self.failed("read"))?;
        let content: Content =
            serde_json::from_str(&text).map_err(|error| self.invalid(error.to_string()))?;
        Ok(content.tokens)
    }

    fn store(&self, tokens: Vec<Token>) -> Result<(), TokenError> {
        let mut text = serde_json::to_string_pretty(&Content { tokens })
            .map_err(|error| self.invalid(error.to_string()))?;
        text.push('\n');
        files::replace(&self.path, text.as_bytes()).map_err(self.failed("write"))
    }

    /// Returns the state of the file, or `None` if there is none. Fails if it
    /// is not a file that only its owner can use.
    fn stamp(&self) -> Result<Option<Stamp>, TokenError> {
        let found = match fs::symlink_metadata(&self.path) {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.failed("read")(error)),
        };
        if !found.is_file() {
            return Err(self.invalid("it is a link or a folder".to_owned()));
        }
        if found.len() > LARGEST {
            return Err(self.invalid("it is too large".to_owned()));
        }
        #[cfg(unix)]
        let identity = {
            use std::os::unix::fs::MetadataExt;
            if found.mode() & 0o077 != 0 {
                return Err(TokenError::Exposed {
                    path: self.path.clone(),
                });
            }
            (found.ino(), found.mode())
        };
        #[cfg(not(unix))]
        let identity = (0, 0);
        Ok(Some(Stamp {
            length: found.len(),
            modified: found.modified().ok(),
            identity,
        }))
    }

    fn folder(&self) -> &Path {
        match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        }
    }

    fn failed(&self, action: &'static str) -> impl Fn(std::io::Error) -> TokenError + use<> {
        let path = self.path.clone();
        move |source| TokenError::Io {
            action,
            path: path.clone(),
            source,
        }
    }

    fn invalid(&self, reason: String) -> TokenError {
        TokenError::Invalid {
            path: self.path.clone(),
            reason,
        }
    }
}

impl Tokens for TokenFile {
    fn list(&self) -> Result<Arc<Vec<Token>>, TokenError> {
        let Some(stamp) = self.stamp()? else {
            return Ok(Arc::default());
        };
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, tokens)) = &*read
            && *known == stamp
        {
            return Ok(Arc::clone(tokens));
        }
        let tokens = Arc::new(self.load()?);
        *read = Some((stamp, Arc::clone(&tokens)));
        Ok(tokens)
    }

    fn presented(&self, secret: &str, now: Timestamp) -> Result<Option<Token>, TokenError> {
        Ok(presented(&self.list()?, secret, now).cloned())
    }

    fn has(&self, token: &Token, now: Timestamp) -> bool {
        let known = self.list().is_ok_and(|tokens| tokens.contains(token));
        known && !token.is_expired(now)
    }

    fn create(
        &self,
        name: &str,
        grant: Grant,
        now: Timestamp,
        expires_at: Option<Timestamp>,
        holder: &str,
    ) -> Result<String, TokenError> {
        let _lock = self.lock(holder)?;
        let mut tokens = self.loaded()?;
        if tokens.iter().any(|token| token.name == name) {
            return Err(TokenError::Taken { name: name.into() });
        }
        let (token, secret) = Token::make(name.into(), grant, now, expires_at)?;
        tokens.push(token);
        self.store(tokens)?;
        Ok(secret)
    }

    fn keep(&self, token: Token, holder: &str) -> Result<bool, TokenError> {
        let _lock = self.lock(holder)?;
        let mut tokens = self.loaded()?;
        if tokens.iter().any(|known| known.name == token.name) {
            return Ok(false);
        }
        tokens.push(token);
        self.store(tokens)?;
        Ok(true)
    }

    fn revoke(&self, name: &str, holder: &str) -> Result<(), TokenError> {
        let unknown = |tokens: &[Token]| TokenError::Unknown {
            name: name.into(),
            known: tokens.iter().map(|token| token.name.clone()).collect(),
        };
        if self.stamp()?.is_none() {
            return Err(unknown(&[]));
        }
        let _lock = self.lock(holder)?;
        let mut tokens = self.loaded()?;
        let before = tokens.len();
        tokens.retain(|token| token.name != name);
        if tokens.len() == before {
            return Err(unknown(&tokens));
        }
        self.store(tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(folder: &tempfile::TempDir) -> TokenFile {
        TokenFile::new(folder.path().join("below/tokens.json"))
    }

    fn create(tokens: &TokenFile, name: &str) -> String {
        tokens
            .create(name, Grant::default(), 1, None, "test")
            .unwrap()
    }

    fn names(tokens: &TokenFile) -> Vec<String> {
        let list = tokens.list().unwrap();
        list.iter().map(|token| token.name.clone()).collect()
    }

    #[test]
    fn tokens_come_and_go() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = file(&folder);
        assert!(tokens.list().unwrap().is_empty());
        let secret = create(&tokens, "one");
        // Another process sees it, and this one sees what another does.
        let other = file(&folder);
        assert_eq!(other.presented(&secret, 2).unwrap().unwrap().name, "one");
        let second = create(&other, "two");
        assert_eq!(tokens.presented(&second, 2).unwrap().unwrap().name, "two");
        let taken = tokens.create("two", Grant::default(), 1, None, "test");
        assert!(matches!(taken, Err(TokenError::Taken { .. })));
        other.revoke("one", "test").unwrap();
        assert_eq!(tokens.presented(&secret, 2).unwrap(), None);
        assert_eq!(names(&tokens), ["two"]);
        let unknown = tokens.revoke("one", "test").unwrap_err();
        assert!(matches!(&unknown, TokenError::Unknown { known, .. } if known == &["two"]));
    }

    #[test]
    fn nothing_is_lost_when_many_are_made_at_once() {
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let tokens = file(&folder);
                scope.spawn(move || {
                    for number in 0..5 {
                        create(&tokens, &format!("{thread}-{number}"));
                    }
                });
            }
        });
        assert_eq!(file(&folder).list().unwrap().len(), 40);
    }

    #[cfg(unix)]
    #[test]
    fn only_its_owner_can_use_the_file() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

        let folder = tempfile::tempdir().unwrap();
        let tokens = file(&folder);
        let secret = create(&tokens, "one");
        let mode = || fs::metadata(tokens.path()).unwrap().mode() & 0o777;
        assert_eq!(mode(), 0o600);
        create(&tokens, "two");
        assert_eq!(mode(), 0o600);
        let exposed = fs::Permissions::from_mode(0o644);
        fs::set_permissions(tokens.path(), exposed).unwrap();
        let refused = tokens.presented(&secret, 2);
        assert!(matches!(refused, Err(TokenError::Exposed { .. })));
        let link = folder.path().join("link.json");
        symlink(tokens.path(), &link).unwrap();
        TokenFile::new(link).list().unwrap_err();
    }

    #[test]
    fn a_damaged_file_admits_nobody_and_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = file(&folder);
        let secret = create(&tokens, "one");
        for damaged in ["", "{", "{\"tokens\": 1}", "[]"] {
            // Not replaced but written, so that its permissions stay.
            fs::write(tokens.path(), damaged).unwrap();
            tokens.presented(&secret, 2).unwrap_err();
            let refused = tokens.create("two", Grant::default(), 1, None, "test");
            assert!(matches!(refused, Err(TokenError::Invalid { .. })));
            assert_eq!(fs::read_to_string(tokens.path()).unwrap(), damaged);
        }
    }
}
