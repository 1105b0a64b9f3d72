//! The settings of a source of transcripts.

use crate::assemble::Agent;
use serde::Serialize;

/// How the transcripts of an agent are read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct TranscriptSettings {
    /// The name of the agent.
    pub(crate) agent: &'static str,
    /// Whether copies are kept.
    #[serde(skip_serializing_if = "is_true")]
    pub(crate) keep: bool,
    /// Whether what the agent thought is indexed.
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) thinking: bool,
}

impl TranscriptSettings {
    /// Makes settings of what is written in the config. The error says what is
    /// wrong with it.
    pub(super) fn of(
        agent: Option<&str>,
        keep: Option<bool>,
        thinking: Option<bool>,
    ) -> Result<Self, String> {
        let names = Agent::ALL.map(Agent::name).join(", ");
        let Some(agent) = agent else {
            return Err(format!("needs an agent: {names}"));
        };
        let Some(known) = Agent::named(agent) else {
            return Err(format!(
                "has the unknown agent '{agent}'; known are {names}"
            ));
        };
        Ok(Self {
            agent: known.name(),
            keep: keep.unwrap_or(true),
            thinking: thinking.unwrap_or(false),
        })
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_true(flag: &bool) -> bool {
    *flag
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_false(flag: &bool) -> bool {
    !flag
}
