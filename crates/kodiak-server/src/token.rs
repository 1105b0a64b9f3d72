//! The tokens that let programs in over HTTP: what each may do, and how the one
//! that a request brings is recognised.
//!
//! A token is 256 bits from the operating system. It is shown once, when it is
//! made; only its hash is kept: in a file, by `file`, or wherever another [`Tokens`]
//! keeps it. Who may make tokens is left to the program.

mod file;

use std::fmt::Debug;
use std::sync::Arc;

use blake3::Hash;
use kodiak::Timestamp;
use kodiak::access::{Capability, Guard};
use serde::{Deserialize, Serialize};

use crate::secret;

pub use file::{TokenError, TokenFile};

/// What every token begins with, so that people and scanners recognise one.
const PREFIX: &str = "kodiak_";

/// The number of random bytes of a token.
const BYTES: usize = 32;

/// Where tokens are kept.
///
/// A server asks at each request, so that a token that is revoked is refused from then on.
pub trait Tokens: Debug + Send + Sync {
    /// Returns the tokens, in the order in which they were made.
    fn list(&self) -> Result<Arc<Vec<Token>>, TokenError>;

    /// Returns the token that a request presents, if it is valid.
    fn presented(&self, secret: &str, now: Timestamp) -> Result<Option<Token>, TokenError>;

    /// Reports whether a token that was presented is still there and valid.
    fn has(&self, token: &Token, now: Timestamp) -> bool;

    /// Makes a token and keeps its hash. Returns the token, which cannot be had
    /// again. `holder` is the name of this process for others that wait.
    fn create(
        &self,
        name: &str,
        grant: Grant,
        now: Timestamp,
        expires_at: Option<Timestamp>,
        holder: &str,
    ) -> Result<String, TokenError>;

    /// Keeps a token that was made elsewhere, unless its name is taken. Returns whether it
    /// did.
    fn keep(&self, token: Token, holder: &str) -> Result<bool, TokenError>;

    /// Removes a token, so that it is valid no longer.
    fn revoke(&self, name: &str, holder: &str) -> Result<(), TokenError>;

    /// Reports whether what is written with a token is by the author of its name.
    fn name_authors(&self) -> bool {
        false
    }
}

/// What a caller may do, and what exists for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Whether it may write, beside searching and reading.
    pub write: bool,
    /// The sources that exist for it; all if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// The project whose documents exist for it; all if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
}

impl Grant {
    /// Returns the guard that holds what is granted.
    pub fn guard(&self) -> Guard {
        let mut held = vec![Capability::Search, Capability::Read];
        if self.write {
            held.push(Capability::Write);
        }
        let mut guard = Guard::holding(held);
        if !self.sources.is_empty() {
            guard = guard.within(&self.sources);
        }
        match &self.project {
            Some(project) => guard.in_project(project),
            None => guard,
        }
    }
}

/// A token as it is kept: everything but the token itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// Its name, by which it is revoked.
    pub name: String,
    /// The hash of the token, in hexadecimal digits.
    hash: String,
    /// What it allows.
    #[serde(flatten)]
    pub grant: Grant,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it stops to be valid, if ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

impl Token {
    /// Makes a token. Returns it as it is kept, and as its holder has to present
    /// it.
    pub fn make(
        name: String,
        grant: Grant,
        created_at: Timestamp,
        expires_at: Option<Timestamp>,
    ) -> Result<(Self, String), TokenError> {
        let random = secret::random::<BYTES>();
        let random = random.map_err(|error| TokenError::Random(error.to_string()))?;
        let secret = format!("{PREFIX}{random}");
        let token = Self {
            name,
            hash: hash(&secret),
            grant,
            created_at,
            expires_at,
        };
        Ok((token, secret))
    }

    /// Returns a token that was kept, by the hash that it was kept with.
    pub fn kept(
        name: String,
        hash: String,
        grant: Grant,
        created_at: Timestamp,
        expires_at: Option<Timestamp>,
    ) -> Self {
        Self {
            name,
            hash,
            grant,
            created_at,
            expires_at,
        }
    }

    /// Returns what tells it from every other token, also from a later one of its name.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Reports whether it is no longer valid.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }
}

fn hash(secret: &str) -> String {
    blake3::hash(secret.as_bytes()).to_hex().to_string()
}

/// Returns the hash by which a token is kept; `None` if a text cannot be a token.
pub fn hash_of(secret: &str) -> Option<String> {
    let random = secret.strip_prefix(PREFIX)?;
    let is_random = random.len() == 2 * BYTES && random.bytes().all(|one| one.is_ascii_hexdigit());
    is_random.then(|| hash(secret))
}

/// Returns the token that was presented, if there is one that is valid. How long
/// it takes tells nothing about the tokens: all are compared, and hashes compare
/// in constant time.
pub(crate) fn presented<'a>(
    tokens: &'a [Token],
    secret: &str,
    now: Timestamp,
) -> Option<&'a Token> {
    let presented = blake3::hash(secret.as_bytes());
    let mut found = None;
    for token in tokens {
        let known = Hash::from_hex(&token.hash);
        if known.is_ok_and(|known| known == presented) {
            found = Some(token);
        }
    }
    found.filter(|token| !token.is_expired(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(name: &str, expires_at: Option<Timestamp>) -> (Token, String) {
        Token::make(name.into(), Grant::default(), 10, expires_at).unwrap()
    }

    #[test]
    fn a_token_is_recognised_until_it_expires() {
        let (first, secret) = made("first", None);
        let (second, other) = made("second", Some(20));
        let tokens = [first, second];
        let name = |secret: &str, now| presented(&tokens, secret, now).map(|it| it.name.as_str());
        assert_eq!(name(&secret, 1000), Some("first"));
        assert_eq!(name(&other, 19), Some("second"));
        assert_eq!(name(&other, 20), None);
        for wrong in [
            "",
            PREFIX,
            &secret[1..],
            &secret.to_uppercase(),
            &tokens[0].hash,
        ] {
            assert_eq!(name(wrong, 0), None);
        }
    }

    #[test]
    fn a_token_is_long_random_and_not_kept() {
        let (token, secret) = made("one", None);
        let (_, other) = made("one", None);
        assert_ne!(secret, other);
        assert_eq!(secret.len(), PREFIX.len() + 64);
        assert_eq!(hash_of(&secret).as_deref(), Some(token.hash()));
        assert_eq!(hash_of(&secret[1..]), None);
        assert_eq!(hash_of(&format!("{PREFIX}x")), None);
        let kept = serde_json::to_string(&token).unwrap();
        assert!(!kept.contains(&secret[PREFIX.len()..]), "{kept}");
    }

    #[test]
    fn a_grant_becomes_a_guard() {
        let grant = Grant {
            sources: vec!["work".into()],
            project: Some("atlas".into()),
            ..Grant::default()
        };
        let guard = grant.guard();
        guard.require(Capability::Read).unwrap();
        guard.require(Capability::Write).unwrap_err();
        assert!(guard.admits("work") && !guard.admits("private"));
        assert_eq!(guard.project(), Some("atlas"));
        let writer = Grant {
            write: true,
            ..Grant::default()
        };
        writer.guard().require(Capability::Write).unwrap();
        writer.guard().require(Capability::Admin).unwrap_err();
        assert!(writer.guard().sees_everything());
    }
}
