//! Tokens of a file whose look-ups a test watches, or holds up.

use std::fmt::Debug;
use std::sync::Arc;

use kodiak::Timestamp;
use kodiak_server::token::{Grant, Token, TokenError, TokenFile, Tokens};

use crate::desk::Desk;
use crate::web::tokens;

/// What happens in a look-up, before it is answered.
pub(crate) trait Hook: Debug + Send + Sync {
    /// A request has presented a token, if it is one.
    fn presented(&self, _found: Option<&Token>) {}

    /// Whether a token is still valid was asked.
    fn has(&self, _token: &Token) {}
}

/// Tokens of a file with a hook.
#[derive(Debug)]
pub(crate) struct Watched<H> {
    pub(crate) file: TokenFile,
    pub(crate) hook: H,
}

impl<H: Hook> Watched<H> {
    pub(crate) fn of(desk: &Desk, hook: H) -> Arc<Self> {
        Arc::new(Self {
            file: tokens(desk),
            hook,
        })
    }
}

impl<H: Hook> Tokens for Watched<H> {
    fn list(&self) -> Result<Arc<Vec<Token>>, TokenError> {
        self.file.list()
    }

    fn presented(&self, secret: &str, now: Timestamp) -> Result<Option<Token>, TokenError> {
        let found = self.file.presented(secret, now)?;
        self.hook.presented(found.as_ref());
        Ok(found)
    }

    fn has(&self, token: &Token, now: Timestamp) -> bool {
        self.hook.has(token);
        self.file.has(token, now)
    }

    fn create(
        &self,
        name: &str,
        grant: Grant,
        now: Timestamp,
        expires_at: Option<Timestamp>,
        holder: &str,
    ) -> Result<String, TokenError> {
        self.file.create(name, grant, now, expires_at, holder)
    }

    fn keep(&self, token: Token, holder: &str) -> Result<bool, TokenError> {
        self.file.keep(token, holder)
    }

    fn revoke(&self, name: &str, holder: &str) -> Result<(), TokenError> {
        self.file.revoke(name, holder)
    }
}
