//! The transcripts of Claude Code: one record per content block, in JSON lines.
//!
//! Lines of one `message.id` are one message. Lines marked as meta, as a summary
//! of a compaction, or wrapped in tags by the program are not part of the conversation.

use serde::Deserialize;

use super::json::{Content, Flag, Maybe, Text, record};
use super::parser::{Parser, moment, set};
use super::turn::Role;
use super::turns::{Seen, Turns};

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Record {
    #[serde(rename = "type")]
    kind: Text,
    uuid: Text,
    timestamp: Text,
    cwd: Text,
    git_branch: Text,
    session_id: Text,
    agent_id: Text,
    is_sidechain: Flag,
    is_meta: Flag,
    is_compact_summary: Flag,
    message: Maybe<Message>,
    summary: Text,
    ai_title: Text,
    operation: Text,
    content: Content,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Message {
    id: Text,
    model: Text,
    content: Content,
}

/// Types that say nothing that is searched.
const SILENT: &[&str] = &[
    "system",
    "file-history-snapshot",
    "attachment",
    "progress",
    "permission-mode",
    "last-prompt",
    "pr-link",
    "agent-setting",
    "agent-name",
    "custom-title",
    "mode",
    "worktree-state",
    "content-replacement",
];

/// Reads the records of Claude Code.
#[derive(Debug, Default)]
pub(super) struct Claude {
    /// Whether this is the transcript of a subagent, all of which is a sidechain.
    subagent: bool,
}

impl Parser for Claude {
    fn line(&mut self, line: &[u8], turns: &mut Turns<'_>) -> Seen {
        let Some(record) = record::<Record>(line) else {
            return Seen::Broken;
        };
        let session = &mut turns.context.session;
        if session.id.is_empty() {
            session.id = record.session_id.as_str().to_owned();
        }
        match record.kind.as_str() {
            "user" => self.user(&record, turns),
            "assistant" => self.assistant(&record, turns),
            "summary" => set(&mut turns.context.session.title, &record.summary),
            "ai-title" => set(&mut turns.context.session.title, &record.ai_title),
            "queue-operation" => queue(&record, turns),
            kind if SILENT.contains(&kind) => {}
            kind => return Seen::Unknown(kind.to_owned()),
        }
        Seen::Known
    }
}

impl Claude {
    pub(super) fn new(subagent: bool) -> Self {
        Self { subagent }
    }

    /// Returns the part of the session that a record belongs to.
    fn thread<'a>(&self, record: &'a Record) -> &'a str {
        if self.subagent || !record.is_sidechain.0 {
            return "";
        }
        record.agent_id.filled().unwrap_or("sidechain")
    }

    fn user(&self, record: &Record, turns: &mut Turns<'_>) {
        let Some(message) = &record.message.0 else {
            return;
        };
        around(record, turns);
        if message.content.has("tool_result") {
            for block in &message.content.0 {
                if block.kind.as_str() == "tool_result" {
                    turns.output(&block.content.plain(), block.is_error.0);
                }
            }
            return;
        }
        if record.is_meta.0 || record.is_compact_summary.0 {
            return;
        }
        let said = said(&message.content.plain());
        if !said.is_empty() {
            turns.context.waiting.mark_said(&said);
            turns.begin(
                Role::User,
                record.uuid.as_str(),
                moment(record.timestamp.as_str()),
                self.thread(record),
            );
            turns.text(&said);
        }
    }

    fn assistant(&self, record: &Record, turns: &mut Turns<'_>) {
        let Some(message) = &record.message.0 else {
            return;
        };
        around(record, turns);
        // Messages that the program itself made up have no model.
        if message.model.as_str() != "<synthetic>" {
            set(&mut turns.context.around.model, &message.model);
        }
        let id = message.id.filled().unwrap_or(record.uuid.as_str());
        turns.begin(
            Role::Assistant,
            id,
            moment(record.timestamp.as_str()),
            self.thread(record),
        );
        for block in &message.content.0 {
            match block.kind.as_str() {
                "text" => turns.text(block.text.as_str()),
                "thinking" => turns.thought(block.thinking.as_str()),
                "tool_use" | "server_tool_use" => turns.tool(block.name.as_str(), &block.input),
                _ => {}
            }
        }
    }
}

/// A prompt that was typed while the agent was busy and then taken back occurs
/// nowhere else, and neither does one that waits at the end. Others become records.
fn queue(record: &Record, turns: &mut Turns<'_>) {
    let text = said(&record.content.plain());
    let waiting = &mut turns.context.waiting;
    match record.operation.as_str() {
        "enqueue" => waiting.enqueue(&text, record.timestamp.as_str()),
        "dequeue" => waiting.dequeue(),
        "popAll" => waiting.clear(),
        "remove" => {
            let removed = waiting.take_back().unwrap_or_default();
            let text = if text.is_empty() { removed } else { text };
            if !text.is_empty() {
                let id = format!("queued-{}", record.timestamp.as_str());
                turns.begin(Role::User, &id, moment(record.timestamp.as_str()), "");
                turns.text(&text);
            }
        }
        _ => {}
    }
}

fn around(record: &Record, turns: &mut Turns<'_>) {
    set(&mut turns.context.around.cwd, &record.cwd);
    set(&mut turns.context.around.branch, &record.git_branch);
}

/// Returns the words of a person, without the text that the program has put around them.
fn said(text: &str) -> String {
    let mut said = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let (before, tagged) = rest.split_at(start);
        said.push_str(before);
        if let Some((inner, after)) = wrapped(tagged) {
            if !inner.is_empty() {
                said.push_str(inner);
                said.push(' ');
            }
            rest = after;
        } else {
            said.push('<');
            rest = &tagged[1..];
        }
    }
    said.push_str(rest);
    let said = said.trim();
    if said.starts_with("[Request interrupted by user")
        || said.starts_with("Caveat: The messages below")
    {
        return String::new();
    }
    said.to_owned()
}

/// Returns the text inside a tag of the program, and the text after it.
fn wrapped(text: &str) -> Option<(&str, &str)> {
    const KEPT: &[&str] = &["command-name", "command-args", "bash-input"];
    const DROPPED: &[&str] = &[
        "command-message",
        "local-command-stdout",
        "local-command-stderr",
        "local-command-caveat",
        "system-reminder",
        "bash-stdout",
        "bash-stderr",
        "user-memory-input",
        "task-notification",
    ];
    let end = text.find('>').filter(|end| *end < 40)?;
    let name = &text[1..end];
    let kept = KEPT.contains(&name);
    if !kept && !DROPPED.contains(&name) {
        return None;
    }
    let inner = &text[end + 1..];
    let close = format!("</{name}>");
    // A tag that was cut off goes to the end.
    let (inner, after) = inner.split_once(close.as_str()).unwrap_or((inner, ""));
    Some((if kept { inner.trim() } else { "" }, after))
}

#[cfg(test)]
mod tests {
    use super::said;

    #[test]
    fn wrapping_is_left_out() {
        assert_eq!(
            said(
                "<command-message>x</command-message><command-name>/fix</command-name><command-args>the bug</command-args>"
            ),
            "/fix the bug"
        );
        assert_eq!(
            said("a <b> c <system-reminder>never\nmind</system-reminder>"),
            "a <b> c"
        );
        assert_eq!(said("<local-command-stdout>lots"), "");
        assert_eq!(said("[Request interrupted by user for tool use]"), "");
        assert_eq!(said("if a < b and c > d"), "if a < b and c > d");
    }
}
