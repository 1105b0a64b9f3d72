//! The chats of Gemini CLI: a log of messages, replacements and rewinds.
//!
//! A message may come again and then replaces the earlier one; a rewind deletes a
//! message and all after it; a checkpoint replaces everything. So a chat is read as
//! a whole. Older versions wrote one JSON object.

use std::path::Path;

use serde::Deserialize;

use super::json::{Content, Maybe, Text, record};
use super::lines::Lines;
use super::parser::{moment, set};
use super::tool::ToolInput;
use super::turn::Role;
use super::turns::{Seen, Turns};
use kodiak_base::files;

/// A message, or facts about the chat as a whole.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Record {
    #[serde(rename = "$rewindTo")]
    rewind_to: Text,
    #[serde(rename = "$set")]
    set: Maybe<Box<Record>>,
    // Of the chat.
    session_id: Text,
    summary: Text,
    directories: Directories,
    messages: Option<Vec<Maybe<Record>>>,
    // Of a message.
    id: Text,
    timestamp: Text,
    #[serde(rename = "type")]
    kind: Text,
    content: Parts,
    display_content: Parts,
    tool_calls: Vec<Maybe<Call>>,
    thoughts: Vec<Maybe<Thought>>,
    model: Text,
}

/// The first of the folders that a chat was about.
#[derive(Clone, Debug, Default)]
struct Directories(Option<String>);

impl<'de> Deserialize<'de> for Directories {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Content(blocks) = Content::deserialize(deserializer)?;
        Ok(Self(blocks.into_iter().find_map(|block| block.text.0)))
    }
}

/// The texts and calls of a content.
#[derive(Clone, Debug, Default)]
struct Parts {
    text: String,
    calls: Vec<(String, String)>,
}

impl<'de> Deserialize<'de> for Parts {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let content = Content::deserialize(deserializer)?;
        let calls = content
            .0
            .iter()
            .filter_map(|block| block.function_call.0.as_deref());
        let calls = calls.map(|call| {
            (
                call.name.as_str().to_owned(),
                call.input.line(call.name.as_str()),
            )
        });
        Ok(Self {
            calls: calls.collect(),
            text: content.plain(),
        })
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Call {
    name: Text,
    args: Args,
    status: Text,
    result_display: Text,
}

/// The line of a call's input, made when it is read.
#[derive(Clone, Debug, Default)]
struct Args(Vec<(String, String)>);

impl<'de> Deserialize<'de> for Args {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ToolInput::deserialize(deserializer).map(|input| Self(input.0))
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Thought {
    subject: Text,
    description: Text,
}

/// A chat as it is after all records.
#[derive(Debug, Default)]
struct Chat {
    messages: Vec<Record>,
}

/// The most bytes of a chat that is one JSON value.
const MAX_BYTES: u64 = 256 << 20;

/// Reads a chat and passes on its turns.
pub(super) fn read(path: &Path, turns: &mut Turns<'_>) -> std::io::Result<()> {
    let mut chat = Chat::default();
    if path
        .extension()
        .is_some_and(|extension| extension == "json")
    {
        match record::<Record>(&files::read(path, MAX_BYTES)?) {
            Some(record) => chat.describe(record, turns),
            None => turns.count(Seen::Broken),
        }
    } else {
        let mut lines = Lines::open(path, 0)?;
        while let Some(line) = lines.next()? {
            if line.bytes.trim_ascii().is_empty() {
                continue;
            }
            match record::<Record>(line.bytes) {
                Some(record) => {
                    let seen = chat.record(record, turns);
                    turns.count(seen);
                }
                None if line.complete => turns.count(Seen::Broken),
                None => turns.context.left_over.torn = true,
            }
        }
    }
    if let Some(root) = path
        .ancestors()
        .nth(2)
        .map(|folder| folder.join(".project_root"))
        && turns.context.around.cwd.is_none()
        && let Ok(root) = files::read_text(root, files::SMALL)
    {
        turns.context.around.cwd = root.lines().next().map(|line| line.trim().to_owned());
    }
    for message in &chat.messages {
        {
            let seen = pass_on(message, turns);
            turns.count(seen);
        }
    }
    Ok(())
}

impl Chat {
    fn record(&mut self, record: Record, turns: &mut Turns<'_>) -> Seen {
        if let Some(id) = record.rewind_to.0 {
            let at = self
                .messages
                .iter()
                .position(|message| message.id.as_str() == id);
            self.messages.truncate(at.unwrap_or(0));
        } else if record.id.filled().is_some() {
            self.put(record);
        } else if let Some(set) = record.set.0 {
            self.describe(*set, turns);
        } else if record.session_id.filled().is_some() {
            self.describe(record, turns);
        } else {
            return Seen::Unknown(record.kind.filled().unwrap_or("a record").to_owned());
        }
        Seen::Known
    }

    fn put(&mut self, message: Record) {
        let id = message.id.as_str();
        let known = self
            .messages
            .iter_mut()
            .rfind(|known| known.id.as_str() == id);
        match known {
            Some(known) => *known = message,
            None => self.messages.push(message),
        }
    }

    fn describe(&mut self, said: Record, turns: &mut Turns<'_>) {
        let context = &mut turns.context;
        if let Some(id) = said.session_id.filled()
            && context.session.id.is_empty()
        {
            id.clone_into(&mut context.session.id);
        }
        set(&mut context.session.title, &said.summary);
        if said.directories.0.is_some() {
            context.around.cwd = said.directories.0;
        }
        if let Some(messages) = said.messages {
            self.messages.clear();
            let messages = messages.into_iter().filter_map(|message| message.0);
            messages.for_each(|message| self.put(message));
        }
    }
}

fn pass_on(message: &Record, turns: &mut Turns<'_>) -> Seen {
    let at = moment(message.timestamp.as_str());
    let text = match message.display_content.text.as_str() {
        "" => &message.content.text,
        shown => shown,
    };
    match message.kind.as_str() {
        "user" => {
            turns.begin(Role::User, message.id.as_str(), at, "");
            turns.text(text);
        }
        "gemini" => {
            set(&mut turns.context.around.model, &message.model);
            turns.begin(Role::Assistant, message.id.as_str(), at, "");
            for thought in message
                .thoughts
                .iter()
                .filter_map(|thought| thought.0.as_ref())
            {
                turns.thought(thought.subject.as_str());
                turns.thought(thought.description.as_str());
            }
            turns.text(text);
            for (_, line) in &message.content.calls {
                turns.tool(line, &ToolInput::default());
            }
            for call in message.tool_calls.iter().filter_map(|call| call.0.as_ref()) {
                turns.tool(call.name.as_str(), &ToolInput(call.args.0.clone()));
                turns.output(
                    call.result_display.as_str(),
                    call.status.as_str() == "error",
                );
            }
        }
        "info" | "error" | "warning" => {}
        kind => return Seen::Unknown(kind.to_owned()),
    }
    Seen::Known
}
