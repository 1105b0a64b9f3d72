//! Prompts that were typed while an agent was busy and wait for their turn.
//!
//! Most become records once the agent takes them up. Those that still wait at the end of
//! a file occur nowhere else, so they are passed on as turns. A file that grows is read
//! on, and then the agent may take them up after all.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::tool::clean_head;
use super::turn::Turn;

/// The beginning of the ids of turns that are waiting prompts.
const ID: &str = "waiting-";
/// The most prompts that are remembered, and the longest text of one.
const MAX_PROMPTS: usize = 64;
const MAX_PROMPT_BYTES: usize = 64 * 1024;

/// The prompts that wait, the next one first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Waiting(VecDeque<Prompt>);

/// A prompt that waits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Prompt {
    /// The prompt, without secrets.
    pub(super) text: String,
    /// When it was typed, as recorded.
    pub(super) at: String,
    /// Whether a record says the same since.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    said: bool,
}

impl Prompt {
    /// Returns the id of its turn.
    pub(super) fn id(&self) -> String {
        format!("{ID}{}", self.at)
    }
}

impl Waiting {
    /// Adds a prompt at the end.
    pub(super) fn enqueue(&mut self, text: &str, at: &str) {
        if self.0.len() < MAX_PROMPTS {
            self.0.push_back(Prompt {
                text: plain(text),
                at: at.to_owned(),
                said: false,
            });
        }
    }

    /// Removes the first prompt, which the agent takes up.
    pub(super) fn dequeue(&mut self) {
        self.0.pop_front();
    }

    /// Removes the last prompt, which the person takes back.
    pub(super) fn take_back(&mut self) -> Option<String> {
        self.0.pop_back().map(|prompt| prompt.text)
    }

    /// Removes all prompts.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Marks a prompt that a record says as well, which happens before or after it is
    /// dequeued.
    pub(super) fn mark_said(&mut self, text: &str) {
        // Hardly ever does anything wait, and redacting takes time.
        if self.0.is_empty() {
            return;
        }
        let text = plain(text);
        let mut unsaid = self.0.iter_mut().filter(|prompt| !prompt.said);
        if let Some(same) = unsaid.find(|prompt| prompt.text == text) {
            same.said = true;
        }
    }

    /// Returns the prompts that nothing else says.
    pub(super) fn unsaid(&self) -> Vec<Prompt> {
        let unsaid = self.0.iter().filter(|prompt| !prompt.said);
        unsaid.cloned().collect()
    }

    /// Reports whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Reports whether a turn was a waiting prompt that these turns say as a record.
pub(super) fn was_taken_up(turn: &Turn, turns: &[Turn]) -> bool {
    turn.id.starts_with(ID) && turns.iter().any(|other| other.text == turn.text)
}

fn plain(text: &str) -> String {
    clean_head(text.trim(), MAX_PROMPT_BYTES)
}
