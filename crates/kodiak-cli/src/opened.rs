//! The notes that the user opened, recorded for this user alone, unless the config turns it off.
//!
//! It changes only output on a terminal. Answers for programs do not depend on it.

use kodiak::history::History;
use kodiak::search::Answer;
use kodiak::{Engine, date};

use crate::config::Config;

/// Returns the history, unless the config turns it off.
pub(crate) fn history(engine: &Engine, config: &Config) -> Option<History> {
    engine.history().filter(|_| config.search.history)
}

/// Records that a document was opened. Errors are ignored.
pub(crate) fn record(engine: &Engine, config: &Config, source: &str, key: &str) {
    if let Some(history) = history(engine, config) {
        let _ = history.record(source, key, date::now());
    }
}

/// Lets hits that were opened pass others that are about as relevant.
pub(crate) fn reorder(answer: &mut Answer, engine: &Engine, config: &Config) {
    if let Some(history) = history(engine, config) {
        history.read().reorder(&mut answer.hits, date::now());
    }
}
