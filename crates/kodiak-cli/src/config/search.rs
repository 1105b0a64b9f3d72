//! The `[search]` section of the config, as written and as in effect.

use kodiak::rank::{Fusion, KeywordRoute, Weights};
use serde::{Deserialize, Serialize};

use super::Key;
use super::keys::MAX_LIMIT;

/// The search settings in effect.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct SearchSettings {
    pub(crate) limit: usize,
    pub(crate) fusion: Fusion,
    /// How a query of two words is answered.
    pub(crate) keyword: KeywordRoute,
    /// The weight of the lexical ranking in a hybrid search.
    pub(crate) lexical_weight: f64,
    /// The weight of the semantic ranking in a hybrid search.
    pub(crate) semantic_weight: f64,
    /// The minimum similarity to use instead of the model's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) minimum_similarity: Option<f32>,
    /// How long a search waits for semantic retrieval, in milliseconds.
    pub(crate) deadline_ms: u64,
    /// How long a search looks for changed files, in milliseconds; 0 for not at
    /// all.
    pub(crate) refresh_ms: u64,
    /// Whether answers are shown in a pager.
    pub(crate) pager: bool,
    /// Whether opened documents are recorded, and come first among about equally relevant
    /// hits on a terminal.
    pub(crate) history: bool,
    /// The reranker: the name of a model, or the address of an endpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rerank: Option<String>,
    /// The model that the endpoint is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rerank_model: Option<String>,
    /// The endpoint's key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rerank_key: Option<Key>,
}

impl Default for SearchSettings {
    fn default() -> Self {
        let weights = Weights::default();
        Self {
            limit: kodiak::search::DEFAULT_LIMIT,
            fusion: Fusion::default(),
            keyword: KeywordRoute::default(),
            lexical_weight: weights.lexical,
            semantic_weight: weights.semantic,
            minimum_similarity: None,
            deadline_ms: kodiak::search::DEADLINE.as_millis() as u64,
            refresh_ms: kodiak::engine::REFRESH.as_millis() as u64,
            pager: false,
            history: true,
            rerank: None,
            rerank_model: None,
            rerank_key: None,
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenSearch {
    limit: Option<usize>,
    fusion: Option<Fusion>,
    keyword: Option<KeywordRoute>,
    lexical_weight: Option<f64>,
    semantic_weight: Option<f64>,
    minimum_similarity: Option<f32>,
    deadline_ms: Option<u64>,
    refresh_ms: Option<u64>,
    pager: Option<bool>,
    history: Option<bool>,
    rerank: Option<String>,
    rerank_model: Option<String>,
    rerank_key: Option<String>,
}

impl WrittenSearch {
    /// Fills in defaults for missing settings.
    pub(super) fn over(self, default: &SearchSettings) -> SearchSettings {
        SearchSettings {
            limit: self.limit.unwrap_or(default.limit),
            fusion: self.fusion.unwrap_or(default.fusion),
            keyword: self.keyword.unwrap_or(default.keyword),
            lexical_weight: self.lexical_weight.unwrap_or(default.lexical_weight),
            semantic_weight: self.semantic_weight.unwrap_or(default.semantic_weight),
            minimum_similarity: self.minimum_similarity.or(default.minimum_similarity),
            deadline_ms: self.deadline_ms.unwrap_or(default.deadline_ms),
            refresh_ms: self.refresh_ms.unwrap_or(default.refresh_ms),
            pager: self.pager.unwrap_or(default.pager),
            history: self.history.unwrap_or(default.history),
            rerank: self.rerank.filter(|it| !it.trim().is_empty()),
            rerank_model: self.rerank_model.filter(|it| !it.trim().is_empty()),
            rerank_key: self.rerank_key.as_deref().and_then(Key::parse),
        }
    }
}

impl SearchSettings {
    /// Returns the mistake in the settings, if there is one.
    pub(super) fn mistake(&self) -> Option<&'static str> {
        let weights = [self.lexical_weight, self.semantic_weight];
        if !(1..=MAX_LIMIT).contains(&self.limit) {
            return Some("search.limit must be a whole number from 1 to 100000");
        }
        if weights
            .iter()
            .any(|weight| !weight.is_finite() || *weight < 0.0)
            || weights.iter().sum::<f64>() <= 0.0
        {
            return Some(
                "search.lexical_weight and search.semantic_weight must be 0 or more, and not both 0",
            );
        }
        if self
            .minimum_similarity
            .is_some_and(|minimum| !(-1.0..=1.0).contains(&minimum))
        {
            return Some("search.minimum_similarity must be between -1 and 1");
        }
        None
    }
}
