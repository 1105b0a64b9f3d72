//! A turn: one prompt of a person, or one message of an agent with the tools it used.
//!
//! Owns the turn as it is kept and the document that is made of it. Everything in a
//! turn is redacted before it leaves `turns`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::resume;
use kodiak::source::TurnDetails;
use kodiak_text::document::{Document, Markup, Thread, Timestamp};
use kodiak_text::markup::heading;

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
    /// The text of the turn.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The tools that were used, a line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Their results: the beginnings of outputs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<String>,
    /// The lines of outputs that tell of errors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
    /// The circumstances, as far as they differ from the turn before.
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

/// Signs in the names of tools beside letters and digits.
const IN_NAMES: [char; 3] = ['_', '-', '.'];
/// The names of tools that are plain words.
const TOOLS: [&str; 38] = [
    "Agent",
    "Bash",
    "BashOutput",
    "Edit",
    "ExitPlanMode",
    "Glob",
    "Grep",
    "KillShell",
    "LS",
    "MultiEdit",
    "NotebookEdit",
    "NotebookRead",
    "Read",
    "Skill",
    "SlashCommand",
    "Task",
    "TodoRead",
    "TodoWrite",
    "WebFetch",
    "WebSearch",
    "Write",
    "bash",
    "edit",
    "find",
    "glob",
    "grep",
    "list",
    "ls",
    "patch",
    "read",
    "shell",
    "skill",
    "task",
    "todoread",
    "todowrite",
    "webfetch",
    "websearch",
    "write",
];

/// Divides the text of a turn's document into words and tool calls with their outputs. The
/// second part begins with the first paragraph that begins like a call.
pub fn said_and_done(body: &str) -> (&str, &str) {
    let mut at = 0;
    loop {
        if is_call(&body[at..]) {
            return (body[..at].trim_end(), &body[at..]);
        }
        match body[at..].find("\n\n") {
            Some(next) => at += next + 2,
            None => return (body, ""),
        }
    }
}

/// Reports whether a text begins with the call of a tool: its name, alone in its line or
/// before a colon.
fn is_call(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    let name = line.split_once(": ").map_or(line, |(name, _)| name);
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.len() <= 100
        && name
            .chars()
            .all(|sign| sign.is_ascii_alphanumeric() || IN_NAMES.contains(&sign));
    is_name
        && (TOOLS.contains(&name) || name.contains('_') && name.ends_with(char::is_alphanumeric))
}

/// The facts that all turns of a session share.
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
    // What people and agents say is Markdown, and a tool's line is not.
    let spoken = turn.text.lines().find(said);
    let spoken = spoken.map(|line| line.trim_start_matches(MARKS));
    if let Some(plain) = spoken.and_then(heading::title) {
        return one_line(&plain);
    }
    let line = body.lines().find(said).map(one_line);
    line.unwrap_or_else(|| turn.role.name().to_owned())
}

/// The signs of headings, quotations and lists, which begin a line.
const MARKS: [char; 4] = ['#', '>', '-', ' '];

fn one_line(text: &str) -> String {
    let text = text.trim_start_matches(MARKS).trim_start_matches("* ");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().count() <= TITLE {
        return words;
    }
    let cut: String = words.chars().take(TITLE).collect();
    // Cut between words where there is one near.
    let end = cut.rfind(' ').filter(|end| *end > TITLE / 2);
    format!("{}…", end.map_or(cut.as_str(), |end| &cut[..end]))
}
/// Returns the details of a turn with these fields. A session whose original is gone cannot
/// be resumed.
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

#[cfg(test)]
mod title_tests {
    use super::*;

    #[test]
    fn titles_have_no_markup_and_commands_stay_as_they_are() {
        let of = |text: &str, tools: &[&str]| {
            let turn = Turn {
                text: text.to_owned(),
                tools: tools.iter().map(|&tool| tool.to_owned()).collect(),
                ..Turn::default()
            };
            let body = [text, &tools.join("\n")].join("\n");
            title_of(&turn, &body)
        };
        assert_eq!(
            of("The queue grows to **412**.", &[]),
            "The queue grows to 412."
        );
        assert_eq!(
            of("\n> - `VACUUM` copies it\n", &["bash: ls"]),
            "VACUUM copies it"
        );
        assert_eq!(of("**Done.** See [it](a.md)", &[]), "Done. See it");
        assert_eq!(of("* one\n* two", &[]), "one");
        let command = "bash: ls *.rs `pwd` *.md";
        assert_eq!(of("", &[command]), command);
        assert_eq!(of("---", &[command]), command);
        assert_eq!(of("", &[]), "user");
    }
}

#[cfg(test)]
mod parting_tests {
    use super::*;

    #[test]
    fn a_turn_is_divided_where_its_first_call_is() {
        for (body, said, done) in [
            ("Hello.", "Hello.", ""),
            (
                "Note: this.\n\nSummary: that.",
                "Note: this.\n\nSummary: that.",
                "",
            ),
            (
                "Look.\n\nBash: ls -la\nout\n\nmore",
                "Look.",
                "Bash: ls -la\nout\n\nmore",
            ),
            ("mcp__notes__search: query", "", "mcp__notes__search: query"),
            ("exec_command: x", "", "exec_command: x"),
            ("Read the file.\n\nTodoWrite", "Read the file.", "TodoWrite"),
            ("", "", ""),
        ] {
            assert_eq!(said_and_done(body), (said, done), "{body}");
        }
    }
}
