//! The `[brain]` section of the config.

use serde::{Deserialize, Serialize};

/// The settings of `kodiak sessions ask`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct BrainSettings {
    /// Sessions farther than this count as unrelated, instead of the model's own limit.
    #[serde(
        alias = "semantic_search_threshold",
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) threshold: Option<f64>,
    /// Whether questions that were answered are remembered, for suggestions.
    pub(crate) remember_queries: bool,
}

impl BrainSettings {
    /// Returns the mistake in the settings, if there is one.
    pub(super) fn mistake(&self) -> Option<&'static str> {
        let wrong = |threshold: f64| !(0.0..=2.0).contains(&threshold);
        self.threshold
            .is_some_and(wrong)
            .then_some("brain.threshold must be between 0 and 2")
    }
}
