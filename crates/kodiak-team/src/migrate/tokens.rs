//! Tokens as records: their hashes and what they allow.

use kodiak_base::error::{Error, Result};
use kodiak_server::token::{Token, TokenError, Tokens};

use super::records::{Put, Record, Records, VisitRecord};

/// The tokens of one side.
#[derive(Debug)]
pub struct TokenRecords<'a> {
    tokens: &'a dyn Tokens,
    holder: &'a str,
}

impl<'a> TokenRecords<'a> {
    /// Returns tokens as records. `holder` is the name of this process for others that wait.
    pub fn new(tokens: &'a dyn Tokens, holder: &'a str) -> Self {
        Self { tokens, holder }
    }
}

impl Records for TokenRecords<'_> {
    fn each(&self, visit: &mut VisitRecord<'_>) -> Result<()> {
        for token in self.tokens.list().map_err(failed)?.iter() {
            visit(&token.name, record(token)?)?;
        }
        Ok(())
    }

    fn put(&self, _: &str, record: &Record) -> Result<Put> {
        let token: Token =
            serde_json::from_slice(&record.content).map_err(|error| unreadable(&error))?;
        let kept = self.tokens.keep(token, self.holder).map_err(failed)?;
        Ok(if kept { Put::Stored } else { Put::Taken })
    }
}

fn record(token: &Token) -> Result<Record> {
    Ok(Record {
        content: serde_json::to_vec(token).map_err(|error| unreadable(&error))?,
        modified: None,
    })
}

fn failed(error: TokenError) -> Error {
    match error {
        TokenError::Locked(error) => error,
        other => Error::BadRecord {
            detail: other.to_string(),
        },
    }
}

fn unreadable(error: &serde_json::Error) -> Error {
    Error::BadRecord {
        detail: format!("a token has an unknown form ({error})"),
    }
}
