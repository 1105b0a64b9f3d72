//! The tokens of a team, in the database of its index: a token that is revoked is refused
//! by every server at its next request.

use std::sync::Arc;

use kodiak::Timestamp;
use kodiak_postgres::{PostgresIndex, TokenRow};
use kodiak_server::token::{Grant, Token, TokenError, Tokens, hash_of};

/// The number of seconds of a day.
const DAY: Timestamp = 24 * 60 * 60;

/// The tokens in the database of an index.
#[derive(Clone, Debug)]
pub struct TeamTokens {
    index: PostgresIndex,
}

impl TeamTokens {
    /// Names the tokens of an index. Opens nothing.
    pub fn new(index: PostgresIndex) -> Self {
        Self { index }
    }
}

impl Tokens for TeamTokens {
    fn list(&self) -> Result<Arc<Vec<Token>>, TokenError> {
        let rows = self.index.tokens()?.into_iter();
        Ok(Arc::new(rows.map(kept).collect()))
    }

    fn presented(&self, secret: &str, now: Timestamp) -> Result<Option<Token>, TokenError> {
        // Nothing that cannot be a token is looked for in the database.
        let Some(hash) = hash_of(secret) else {
            return Ok(None);
        };
        let found = self.index.token(&hash)?;
        let Some(row) = found.filter(|row| row.hash == hash) else {
            return Ok(None);
        };
        let today = now.div_euclid(DAY);
        if row.used_on != Some(today) {
            // A server that can only read lets callers in as well.
            let _ = self.index.token_was_used(&hash, today);
        }
        Ok(Some(kept(row)).filter(|token| !token.is_expired(now)))
    }

    fn has(&self, token: &Token, now: Timestamp) -> bool {
        let found = self.index.token(token.hash());
        let known = found.is_ok_and(|row| row.map(kept).as_ref() == Some(token));
        known && !token.is_expired(now)
    }

    fn create(
        &self,
        name: &str,
        grant: Grant,
        now: Timestamp,
        expires_at: Option<Timestamp>,
        _: &str,
    ) -> Result<String, TokenError> {
        let (token, secret) = Token::make(name.to_owned(), grant, now, expires_at)?;
        if self.index.add_token(&row(&token))? {
            Ok(secret)
        } else {
            Err(TokenError::Taken { name: token.name })
        }
    }

    fn keep(&self, token: Token, _: &str) -> Result<bool, TokenError> {
        Ok(self.index.add_token(&row(&token))?)
    }

    fn revoke(&self, name: &str, _: &str) -> Result<(), TokenError> {
        if self.index.remove_token(name)? {
            return Ok(());
        }
        let known = self.index.tokens()?.into_iter().map(|token| token.name);
        Err(TokenError::Unknown {
            name: name.to_owned(),
            known: known.collect(),
        })
    }

    fn name_authors(&self) -> bool {
        true
    }
}

/// Returns a token as servers know it.
fn kept(row: TokenRow) -> Token {
    let grant = Grant {
        write: row.write,
        sources: row.sources,
        project: row.project,
    };
    Token::kept(row.name, row.hash, grant, row.created_at, row.expires_at)
}

/// Returns the row of a token that was not used yet.
fn row(token: &Token) -> TokenRow {
    TokenRow {
        hash: token.hash().to_owned(),
        name: token.name.clone(),
        write: token.grant.write,
        sources: token.grant.sources.clone(),
        project: token.grant.project.clone(),
        created_at: token.created_at,
        expires_at: token.expires_at,
        used_on: None,
    }
}
