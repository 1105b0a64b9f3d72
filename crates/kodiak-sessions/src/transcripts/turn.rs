//! A turn: one prompt of a person, or one message of an agent with the tools it used.
//!
//! Owns the turn as it is kept and the document that is made of it. Everything in a
//! turn is redacted before it leaves `turns`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::resume;
use kodiak::source::TurnDetails;
use kodiak_text::document::{Document, Markup, Thread, Timestamp};

/// The kind of documents that are turns.
pub const KIND: &str = "turn";

/// The longest title.
const TITLE: usize = 80;

/// Who said it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person.
    #[default]
    User,
    /// The agent.
    Assistant,
}

impl Role {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// The circumstances of a turn. They stay the same for many turns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Circumstances {
    /// The folder in which the agent worked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The project that the folder belonged to when the turn was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The branch of the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// One turn of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// Its name within the session.
    pub id: String,
    /// Who said it.
    pub role: Role,
    /// When.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The part of the session that it is in, if it is not the main one: a
    /// subagent or a branch.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub thread: String,
    /// Its position in that part.
    #[serde(default)]
    pub position: i64,
    /// What was said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The tools that were used, a line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// What came of them: the beginnings of outputs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<String>,
    /// The lines of outputs that tell of errors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
    /// The circumstances, as far as they differ from those of the turn before.
    #[serde(flatten)]
    pub around: Circumstances,
}

impl Turn {
    /// Reports whether it says nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.tools.is_empty() && self.errors.is_empty()
    }

    /// Returns all of it as one text.
    pub fn body(&self) -> String {
        let mut body = self.text.clone();
        let lines = self.tools.iter().chain(&self.outputs).chain(&self.errors);
        for (at, line) in lines.enumerate() {
            if !body.is_empty() {
                body.push_str(if at == 0 { "\n\n" } else { "\n" });
            }
            body.push_str(line);
        }
        body
    }
}

/// What all turns of a session have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Session {
    /// The name by which the agent resumes it.
    pub(super) id: String,
    /// The session that started this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) parent: Option<String>,
    /// Its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) title: Option<String>,
}

/// Where a turn belongs in its source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Belonging<'a> {
    pub(super) source: &'a str,
    pub(super) agent: &'static str,
    /// The key of the entry that it is in.
    pub(super) entry: &'a str,
    pub(super) session: &'a Session,
    /// When the session was last written, for turns without a time.
    pub(super) modified: Timestamp,
}

/// Returns the key of a turn's document.
pub(super) fn key(entry: &str, turn: &Turn) -> String {
    format!("{entry}/{}", turn.id)
}

/// Returns the name of the thread that a turn is in.
pub(super) fn thread(entry: &str, turn: &Turn) -> String {
    match turn.thread.as_str() {
        "" => entry.to_owned(),
        part => format!("{entry}#{part}"),
    }
}

/// Makes a document of a turn.
pub(super) fn document(turn: &Turn, belonging: Belonging<'_>, problem: Option<String>) -> Document {
    let Belonging {
        source,
        agent,
        entry,
        session,
        modified,
    } = belonging;
    let body = turn.body();
    let first = turn.position == 0 && turn.thread.is_empty();
    let title = session.title.as_deref().filter(|_| first);
    let title = title.map_or_else(|| title_of(turn, &body), one_line);
    let mut fields = Map::new();
    let mut add = |name: &str, value: Option<&str>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            fields.insert(name.to_owned(), Value::String(value.to_owned()));
        }
    };
    add("agent", Some(agent));
    add("session", Some(&session.id));
    add("role", Some(turn.role.name()));
    add("parent", session.parent.as_deref());
    add("cwd", turn.around.cwd.as_deref());
    add("branch", turn.around.branch.as_deref());
    add("model", turn.around.model.as_deref());
    let thread = thread(entry, turn);
    let mut hash = blake3::Hasher::new();
    for part in [&title, &body, turn.role.name(), &thread] {
        hash.update(part.as_bytes()).update(&[0]);
    }
    for value in fields.values().filter_map(Value::as_str) {
        hash.update(value.as_bytes()).update(&[0]);
    }
    let project = turn.around.project.clone();
    hash.update(project.as_deref().unwrap_or_default().as_bytes());
    hash.update(&turn.at.unwrap_or_default().to_le_bytes());
    hash.update(&turn.position.to_le_bytes());
    hash.update(problem.as_deref().unwrap_or_default().as_bytes());
    Document {
        source: source.to_owned(),
        key: key(entry, turn),
        fallback_key: None,
        kind: KIND.to_owned(),
        title,
        front: String::new(),
        body,
        markup: Markup::Markdown,
        lines: None,
        category: None,
        tags: Vec::new(),
        created_at: turn.at,
        updated_at: turn.at.unwrap_or(modified),
        fields,
        thread: Some(Thread {
            name: thread,
            position: Some(turn.position),
        }),
        author: Some(turn.role.name().to_owned()),
        project,
        hash: *hash.finalize().as_bytes(),
        problem,
    }
}

/// Returns the first line that says something.
fn title_of(turn: &Turn, body: &str) -> String {
    let said = |line: &&str| line.chars().any(char::is_alphanumeric);
    let line = body.lines().find(said).map(one_line);
    line.unwrap_or_else(|| turn.role.name().to_owned())
}

fn one_line(text: &str) -> String {
    let text = text.trim_start_matches(['#', '>', '-', '*', ' ']);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().count() <= TITLE {
        return words;
    }
    let cut: String = words.chars().take(TITLE).collect();
    // Cut between words where there is one near.
    let end = cut.rfind(' ').filter(|end| *end > TITLE / 2);
    format!("{}…", end.map_or(cut.as_str(), |end| &cut[..end]))
}
/// Returns what is known of a turn with these fields. A session whose original is gone
/// cannot be resumed.
pub(super) fn details(fields: &[(String, String)], origin_gone: bool) -> Option<TurnDetails> {
    let field = |wanted: &str| {
        let mut fields = fields.iter();
        let found = fields.find(|(name, _)| name == wanted);
        found.map(|(_, value)| value.clone())
    };
    let (agent, session) = (field("agent")?, field("session")?);
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
