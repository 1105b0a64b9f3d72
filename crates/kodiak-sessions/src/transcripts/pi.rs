//! The sessions of pi: a tree of entries in JSON lines, each naming its parent.
//!
//! All branches are read. The first continuation of an entry continues with its thread;
//! each further one begins a new thread, at its depth in the tree. So neighbours are
//! neighbours in the tree, not in the file.

use std::collections::HashMap;

use serde::Deserialize;

use super::json::{Content, Flag, Maybe, Number, Text, record};
use super::parser::{Parser, moment, moment_of, set};
use super::tool::ToolInput;
use super::turn::Role;
use super::turns::{Seen, Turns};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Record {
    #[serde(rename = "type")]
    kind: Text,
    id: Text,
    #[serde(rename = "parentId")]
    parent: Text,
    timestamp: Text,
    cwd: Text,
    #[serde(rename = "parentSession")]
    parent_session: Text,
    #[serde(rename = "modelId")]
    model: Text,
    name: Text,
    display: Flag,
    content: Content,
    message: Maybe<Message>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Message {
    role: Text,
    content: Content,
    model: Text,
    timestamp: Number,
    #[serde(rename = "errorMessage")]
    error: Text,
    is_error: Flag,
    command: Text,
    output: Text,
    exit_code: Number,
}

/// Where an entry is in the tree.
#[derive(Clone, Debug, Default)]
struct Place {
    /// The name of its thread.
    thread: String,
    /// The number of turns before its successors.
    depth: i64,
    /// Whether an entry continues it already.
    continued: bool,
}

/// Reads the records of pi.
#[derive(Debug, Default)]
pub(super) struct Pi {
    places: HashMap<String, Place>,
    /// The entry before, which the entries of the first version continue.
    last: String,
    number: usize,
}

impl Parser for Pi {
    fn line(&mut self, line: &[u8], turns: &mut Turns<'_>) -> Seen {
        let Some(record) = record::<Record>(line) else {
            return Seen::Broken;
        };
        let kind = record.kind.as_str();
        if kind == "session" {
            let context = &mut turns.context;
            if !std::mem::replace(&mut context.described, true) {
                record.id.as_str().clone_into(&mut context.session.id);
                let parent = record.parent_session.filled().map(session_name);
                context.session.parent = parent;
            }
            set(&mut context.around.cwd, &record.cwd);
            return Seen::Known;
        }
        let mut place = self.place(&record);
        match kind {
            "message" => {
                if let Some(message) = &record.message.0 {
                    self.message(&record, message, &mut place, turns);
                }
            }
            "custom_message" if record.display.0 => {
                let at = moment(record.timestamp.as_str());
                self.begin(Role::User, &record, at, &mut place, turns);
                turns.text(&record.content.plain());
            }
            "model_change" => set(&mut turns.context.around.model, &record.model),
            "session_info" => set(&mut turns.context.session.title, &record.name),
            // What was compacted is in the file already.
            "custom_message"
            | "custom"
            | "compaction"
            | "branch_summary"
            | "thinking_level_change"
            | "label" => {}
            kind => return Seen::Unknown(kind.to_owned()),
        }
        self.keep(&record, place);
        Seen::Known
    }
}

impl Pi {
    /// Finds where an entry is in the tree.
    fn place(&mut self, record: &Record) -> Place {
        let parent = match record.parent.filled() {
            Some(parent) => parent,
            // The first version has neither ids nor parents.
            None if record.id.filled().is_none() => self.last.as_str(),
            None => "",
        };
        let Some(before) = self.places.get_mut(parent) else {
            let first = self.places.is_empty();
            return Place {
                thread: if first {
                    String::new()
                } else {
                    record.id.as_str().to_owned()
                },
                ..Place::default()
            };
        };
        let mut place = before.clone();
        if std::mem::replace(&mut before.continued, true) {
            record.id.as_str().clone_into(&mut place.thread);
        }
        place.continued = false;
        place
    }

    fn keep(&mut self, record: &Record, place: Place) {
        self.number += 1;
        let id = record
            .id
            .filled()
            .map_or_else(|| format!("line {}", self.number), str::to_owned);
        self.last.clone_from(&id);
        self.places.insert(id, place);
    }

    fn begin(
        &self,
        role: Role,
        record: &Record,
        at: Option<i64>,
        place: &mut Place,
        turns: &mut Turns<'_>,
    ) {
        let numbered = format!("{:05}", self.number);
        let id = record.id.filled().unwrap_or(&numbered);
        turns.begin(role, id, at, &place.thread);
        turns.place(place.depth);
        place.depth += 1;
    }

    fn message(
        &self,
        record: &Record,
        message: &Message,
        place: &mut Place,
        turns: &mut Turns<'_>,
    ) {
        let at = moment_of(message.timestamp.0).or_else(|| moment(record.timestamp.as_str()));
        match message.role.as_str() {
            "user" => {
                self.begin(Role::User, record, at, place, turns);
                turns.text(&message.content.plain());
            }
            "assistant" => {
                set(&mut turns.context.around.model, &message.model);
                self.begin(Role::Assistant, record, at, place, turns);
                for block in &message.content.0 {
                    match block.kind.as_str() {
                        "text" => turns.text(block.text.as_str()),
                        "thinking" => turns.thought(block.thinking.as_str()),
                        "toolCall" => turns.tool(block.name.as_str(), &block.input),
                        _ => {}
                    }
                }
                if let Some(error) = message.error.filled() {
                    turns.output(error, true);
                }
            }
            "toolResult" => turns.output(&message.content.plain(), message.is_error.0),
            // A command that the person ran.
            "bashExecution" => {
                self.begin(Role::User, record, at, place, turns);
                let command = ("command".to_owned(), message.command.as_str().to_owned());
                turns.tool("bash", &ToolInput(vec![command]));
                let failed = message.exit_code.0.is_some_and(|code| code != 0);
                let kept = super::tool::output(message.output.as_str(), failed);
                kept.errors.iter().for_each(|error| turns.text(error));
            }
            _ => {}
        }
    }
}

/// Returns the id in the path of a session: the part after the time.
fn session_name(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let name = name.strip_suffix(".jsonl").unwrap_or(name);
    name.rsplit_once('_').map_or(name, |(_, id)| id).to_owned()
}
