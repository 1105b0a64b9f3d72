//! The settings of a source of transcripts.

use kodiak::Timestamp;
use serde::{Deserialize, Serialize};

use super::age;
use crate::sessions;

/// The settings of all transcripts: the `[transcripts]` section.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CopySettings {
    /// The age at which kept copies are removed whose originals are gone, such as
    /// `365d`. Without one, they stay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) retention: Option<String>,
}

impl CopySettings {
    /// Reports whether nothing is set.
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the moment before which copies are removed.
    pub(crate) fn cutoff(&self) -> Option<Timestamp> {
        age::cutoff(self.retention.as_deref()?)
    }

    /// Returns the mistake in the settings, if there is one.
    pub(super) fn mistake(&self) -> Option<String> {
        age::mistake("transcripts.retention", self.retention.as_deref()?)
    }
}

/// How the transcripts of an agent are read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct TranscriptSettings {
    /// The name of the agent.
    pub(crate) agent: String,
    /// Whether copies are kept.
    #[serde(skip_serializing_if = "is_true")]
    pub(crate) keep: bool,
    /// Whether the agent's thoughts are indexed.
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) thinking: bool,
}

impl TranscriptSettings {
    /// Makes settings from the config. The error names the mistake.
    pub(super) fn of(
        agent: Option<&str>,
        keep: Option<bool>,
        thinking: Option<bool>,
    ) -> Result<Self, String> {
        Ok(Self {
            agent: sessions::agent(agent)?,
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
