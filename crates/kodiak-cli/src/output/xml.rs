//! Renders the hits of an answer as XML elements, for agents that read notes
//! through a tool.

use kodiak::search::{Answer, xml};

use crate::places::Places;

/// Renders the hits, one element after the other.
pub(crate) fn matches(answer: &Answer, places: &Places) -> String {
    if answer.hits.is_empty() {
        return xml::NOTHING.to_owned();
    }
    let hits = answer.hits.iter();
    hits.map(|hit| xml::hit(hit, places.identifier(hit)))
        .collect()
}
