//! Details of documents that a source knows and the index lacks.
//!
//! A search asks the source of each hit, so that it needs to know no kind of source.

use serde::Serialize;

use crate::error::Result;
use crate::store::StoredDocument;

/// The fields of a document's frontmatter, each with its value.
pub type Fields = Vec<(String, String)>;

/// A document that a source is asked to describe.
pub struct Described<'a> {
    /// The document.
    pub document: &'a StoredDocument,
    /// The key of the entry it is from, where known.
    pub entry: Option<&'a str>,
    /// Reads its fields. A source that needs none does not call it.
    pub fields: &'a dyn Fn() -> Result<Fields>,
}

impl std::fmt::Debug for Described<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Described({})", self.document.key)
    }
}

impl Described<'_> {
    /// Returns the details that the fields alone hold, which every source has.
    pub fn by_fields(&self) -> Result<Details> {
        let fields = (self.fields)()?;
        let archived = |(name, value): &(String, String)| name == "archived" && value == "true";
        Ok(Details {
            archived: fields.iter().any(archived),
            turn: None,
        })
    }
}

/// The details that a source knows of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Details {
    /// Whether its author has archived it.
    pub archived: bool,
    /// The details of a turn, if it is one of a session.
    pub turn: Option<TurnDetails>,
}

/// The details of a document that is a turn of a session with an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TurnDetails {
    /// The agent.
    pub agent: String,
    /// The session, as the agent names it.
    pub session: String,
    /// Who said it: `user` or `assistant`.
    pub role: String,
    /// The branch of the repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The session that started this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The command that resumes the session, for a person to run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume: Option<String>,
    /// Whether the agent has deleted the original, and only the copy is left.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub origin_gone: bool,
}
