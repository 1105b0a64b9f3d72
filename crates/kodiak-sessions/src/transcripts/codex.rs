//! The rollouts of Codex: an envelope with a type and a payload on each line.
//!
//! Much is written twice: prompts are in the events, and along with instructions in the
//! items; the agent's replies are in both. In the paginated form, completed items take the
//! place of events. The history after a compaction repeats everything and is left out.

use serde::Deserialize;

use super::json::{Content, Flag, Maybe, Number, Text, record};
use super::parser::{Parser, moment, set};
use super::tool::ToolInput;
use super::turn::Role;
use super::turns::{Seen, Turns};
use kodiak_text::document::Timestamp;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Record {
    timestamp: Text,
    ordinal: Number,
    #[serde(rename = "type")]
    kind: Text,
    payload: Maybe<Payload>,
}

/// The payloads of all types.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Payload {
    #[serde(rename = "type")]
    kind: Text,
    // session_meta and turn_context
    session_id: Text,
    id: Text,
    cwd: Text,
    model: Text,
    parent_thread_id: Text,
    forked_from_id: Text,
    subagent_history_start_ordinal: Number,
    git: Maybe<Git>,
    // response items
    role: Text,
    content: Content,
    summary: Content,
    name: Text,
    arguments: ToolInput,
    input: ToolInput,
    action: ToolInput,
    output: Content,
    // events
    message: Text,
    item: Maybe<Item>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Git {
    branch: Text,
}

/// An item of the paginated form.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Item {
    #[serde(rename = "type")]
    kind: Text,
    content: Content,
    text: Text,
    summary_text: Content,
    command: Command,
    status: Text,
    exit_code: Number,
    aggregated_output: Text,
    server: Text,
    tool: Text,
    arguments: ToolInput,
    query: Text,
    changes: ToolInput,
    #[serde(rename = "isError")]
    is_error: Flag,
}

/// A command: a list of words or a line.
#[derive(Debug, Default)]
struct Command(Vec<String>);

impl<'de> Deserialize<'de> for Command {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Content(blocks) = Content::deserialize(deserializer)?;
        let words = blocks.into_iter().filter_map(|block| block.text.0);
        Ok(Self(words.collect()))
    }
}

/// A text that the person may have typed.
#[derive(Debug)]
struct Candidate {
    at: Option<Timestamp>,
    text: String,
    offset: u64,
}

/// Reads the records of Codex.
#[derive(Debug, Default)]
pub(super) struct Codex {
    /// The text of an item that the person may have typed, until an event confirms it or
    /// none does.
    candidate: Option<Candidate>,
}

impl Parser for Codex {
    fn line(&mut self, line: &[u8], turns: &mut Turns<'_>) -> Seen {
        let Some(record) = record::<Record>(line) else {
            return Seen::Broken;
        };
        let at = moment(record.timestamp.as_str());
        let inherited = record
            .ordinal
            .0
            .is_some_and(|number| number < turns.context.first_ordinal);
        let payload = record.payload.0.unwrap_or_default();
        match record.kind.as_str() {
            "session_meta" => describe(&payload, turns),
            _ if inherited => {}
            "turn_context" => {
                set(&mut turns.context.around.cwd, &payload.cwd);
                set(&mut turns.context.around.model, &payload.model);
            }
            "response_item" => return self.item(&payload, at, turns),
            "event_msg" => return self.event(&payload, at, turns),
            "compacted"
            | "world_state"
            | "inter_agent_communication"
            | "inter_agent_communication_metadata"
            | "security_risk_score" => {}
            // Rollouts of early versions have no envelope.
            "message"
            | "function_call"
            | "function_call_output"
            | "reasoning"
            | "local_shell_call" => {
                let Some(payload) = super::json::record::<Payload>(line) else {
                    return Seen::Broken;
                };
                return self.item(&payload, at, turns);
            }
            kind => return Seen::Unknown(kind.to_owned()),
        }
        Seen::Known
    }

    fn end(&mut self, turns: &mut Turns<'_>) {
        self.settle(turns);
    }
}

/// Takes the description of the session. A fork repeats the description of its origin
/// later.
fn describe(payload: &Payload, turns: &mut Turns<'_>) {
    let context = &mut turns.context;
    if std::mem::replace(&mut context.described, true) {
        return;
    }
    let id = payload.session_id.filled().or(payload.id.filled());
    context.session.id = id.unwrap_or_default().to_owned();
    // A subagent shares the session of its parent, and has an id of its own.
    if let Some(own) = payload.id.filled() {
        context.session.id = own.to_owned();
    }
    set(&mut context.session.parent, &payload.forked_from_id);
    set(&mut context.session.parent, &payload.parent_thread_id);
    set(&mut context.around.cwd, &payload.cwd);
    if let Some(git) = &payload.git.0 {
        set(&mut context.around.branch, &git.branch);
    }
    context.first_ordinal = payload.subagent_history_start_ordinal.0.unwrap_or(0);
}

impl Codex {
    fn item(&mut self, payload: &Payload, at: Option<Timestamp>, turns: &mut Turns<'_>) -> Seen {
        match payload.kind.as_str() {
            "message" => match payload.role.as_str() {
                "user" => self.typed_perhaps(&payload.content.plain(), at, turns),
                "assistant" => self.answered(&payload.content.plain(), at, turns),
                _ => {}
            },
            "reasoning" if turns.thinking => {
                self.working(at, turns);
                turns.thought(&payload.summary.plain());
                turns.thought(&payload.content.plain());
            }
            "reasoning" => {}
            "function_call" => {
                self.working(at, turns);
                turns.tool(payload.name.as_str(), &payload.arguments);
            }
            "custom_tool_call" => {
                self.working(at, turns);
                turns.tool(payload.name.as_str(), &payload.input);
            }
            "local_shell_call" => {
                self.working(at, turns);
                turns.tool("shell", &payload.action);
            }
            "web_search_call" => {
                self.working(at, turns);
                turns.tool("web_search", &payload.action);
            }
            "function_call_output" | "custom_tool_call_output" => {
                let output = payload.output.plain();
                turns.output(&output, has_failed(&output));
            }
            "agent_message" => self.answered(&payload.content.plain(), at, turns),
            "image_generation_call"
            | "tool_search_call"
            | "tool_search_output"
            | "compaction"
            | "compaction_summary"
            | "context_compaction"
            | "ghost_snapshot"
            | "other" => {}
            kind => return Seen::Unknown(kind.to_owned()),
        }
        Seen::Known
    }

    fn event(&mut self, payload: &Payload, at: Option<Timestamp>, turns: &mut Turns<'_>) -> Seen {
        match payload.kind.as_str() {
            "user_message" => self.typed(payload.message.as_str(), at, turns),
            "item_completed" => {
                if let Some(item) = &payload.item.0 {
                    return self.completed(item, at, turns);
                }
            }
            // Everything else is in the items as well, or says nothing.
            _ => {}
        }
        Seen::Known
    }

    fn completed(&mut self, item: &Item, at: Option<Timestamp>, turns: &mut Turns<'_>) -> Seen {
        match item.kind.as_str() {
            "UserMessage" => self.typed(&item.content.plain(), at, turns),
            "AgentMessage" => self.answered(&item.content.plain(), at, turns),
            "Plan" => self.answered(item.text.as_str(), at, turns),
            "Reasoning" => {
                if turns.thinking {
                    self.working(at, turns);
                    turns.thought(&item.summary_text.plain());
                }
            }
            "CommandExecution" => {
                self.working(at, turns);
                turns.tool("shell", &ToolInput::of_command(&item.command.0));
                let failed = item.exit_code.0.is_some_and(|code| code != 0)
                    || item.status.as_str() == "failed";
                turns.output(item.aggregated_output.as_str(), failed);
            }
            "McpToolCall" => {
                self.working(at, turns);
                let name = format!("{} {}", item.server.as_str(), item.tool.as_str());
                turns.tool(name.trim(), &item.arguments);
            }
            "WebSearch" => {
                self.working(at, turns);
                let query = ("query".to_owned(), item.query.as_str().to_owned());
                turns.tool("web_search", &ToolInput(vec![query]));
            }
            "FileChange" => {
                self.working(at, turns);
                turns.tool("file_change", &item.changes);
            }
            "ContextCompaction" | "ImageView" | "ImageGeneration" | "EnteredReviewMode"
            | "ExitedReviewMode" | "HookPrompt" => {}
            kind => return Seen::Unknown(kind.to_owned()),
        }
        Seen::Known
    }

    /// The prompt in an item counts unless an event has the real one.
    fn typed_perhaps(&mut self, text: &str, at: Option<Timestamp>, turns: &mut Turns<'_>) {
        if turns.context.says_prompts || is_instruction(text) {
            return;
        }
        self.settle(turns);
        self.candidate = Some(Candidate {
            at,
            text: text.to_owned(),
            offset: turns.offset,
        });
    }

    fn typed(&mut self, text: &str, at: Option<Timestamp>, turns: &mut Turns<'_>) {
        self.candidate = None;
        turns.context.says_prompts = true;
        let text = request(text);
        if !text.is_empty() {
            turns.begin_next(Role::User, at);
            turns.text(text);
        }
    }

    fn answered(&mut self, text: &str, at: Option<Timestamp>, turns: &mut Turns<'_>) {
        if text.trim().is_empty() {
            return;
        }
        self.settle(turns);
        if turns.is_repeated(text) {
            return;
        }
        turns.begin_next(Role::Assistant, at);
        turns.text(text);
        turns.remember(text);
    }

    /// Makes sure that the agent's actions have a separate turn.
    fn working(&mut self, at: Option<Timestamp>, turns: &mut Turns<'_>) {
        self.settle(turns);
        if turns.role() != Some(Role::Assistant) {
            turns.begin_next(Role::Assistant, at);
        }
    }

    fn settle(&mut self, turns: &mut Turns<'_>) {
        if let Some(candidate) = self.candidate.take() {
            // If the file grows, it must be read from there.
            let now = std::mem::replace(&mut turns.offset, candidate.offset);
            turns.begin_next(Role::User, candidate.at);
            turns.offset = now;
            turns.text(&candidate.text);
        }
    }
}

/// Reports whether a message in the name of the person was made by the program.
fn is_instruction(text: &str) -> bool {
    const BEGINNINGS: &[&str] = &[
        "<environment_context>",
        "<user_instructions>",
        "<INSTRUCTIONS>",
        "# AGENTS.md instructions",
        "<turn_aborted>",
        "<permissions",
        "<skill",
        "<subagent_notification>",
        "<user_shell_command>",
    ];
    let text = text.trim_start();
    BEGINNINGS
        .iter()
        .any(|beginning| text.starts_with(beginning))
}

/// Returns the request. Editors put the open files before it.
fn request(text: &str) -> &str {
    const MARK: &str = "## My request for Codex:";
    let text = text.find(MARK).map_or(text, |at| &text[at + MARK.len()..]);
    text.trim()
}

/// Reports whether an output comes from a command that failed.
fn has_failed(output: &str) -> bool {
    const MARKS: &[&str] = &["\"exit_code\":", "Process exited with code ", "Exit code: "];
    MARKS.iter().any(|mark| {
        let code = output
            .find(mark)
            .map(|at| output[at + mark.len()..].trim_start());
        code.is_some_and(|code| {
            code.starts_with(|digit: char| digit == '-' || ('1'..='9').contains(&digit))
        })
    })
}
