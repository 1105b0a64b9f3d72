//! What an answer says of a turn of a session: where it was said and how to go on.

use serde::Serialize;

use crate::source::Source;
use crate::source::transcripts::{KIND, resume};
use crate::store::StoredDocument;

/// What is known of a document that is a turn of a session with an agent.
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

/// Returns what is known of a turn, given the entry it is from; `None` for any other
/// document. A session whose original is gone cannot be resumed.
pub(crate) fn turn_details(
    sources: &[Box<dyn Source>],
    document: &StoredDocument,
    fields: &[(String, String)],
    entry: Option<&str>,
) -> Option<TurnDetails> {
    if document.kind != KIND {
        return None;
    }
    let field = |wanted: &str| {
        let mut fields = fields.iter();
        let found = fields.find(|(name, _)| name == wanted);
        found.map(|(_, value)| value.clone())
    };
    let (Some(agent), Some(session)) = (field("agent"), field("session")) else {
        return None;
    };
    let mut sources = sources.iter();
    let source = sources.find(|source| source.name() == document.source);
    let origin_gone = match (source, entry) {
        (Some(source), Some(entry)) => source.is_original_gone(entry),
        _ => false,
    };
    let command = resume(&agent, &session, field("cwd").as_deref());
    Some(TurnDetails {
        resume: command.filter(|_| !origin_gone),
        role: field("role").unwrap_or_default(),
        branch: field("branch"),
        model: field("model"),
        parent: field("parent"),
        agent,
        session,
        origin_gone,
    })
}
