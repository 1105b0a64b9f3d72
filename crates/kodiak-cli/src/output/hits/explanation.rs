//! Renders how a hit was ranked.

use kodiak::search::{Explanation, Hit};

use crate::output::escape::escaped;
use crate::output::phrases::counted;

/// Renders the explanation of a hit, one fact or term per line.
pub(super) fn lines(hit: &Hit, explanation: &Explanation) -> Vec<String> {
    let mut facts = vec![format!("score {:.4}", hit.score)];
    if let Some(relevance) = hit.relevance {
        facts.push(format!("relevance {relevance:.4}"));
    }
    if let Some(coverage) = explanation.coverage {
        facts.push(format!("coverage {coverage:.4}"));
    }
    if let Some(coverage) = explanation.passage_coverage {
        facts.push(format!("in one passage {coverage:.4}"));
    }
    if let Some(probability) = explanation.by_words {
        facts.push(format!("by words {probability:.2}"));
    }
    if let Some(probability) = explanation.by_meaning {
        facts.push(format!("by meaning {probability:.2}"));
    }
    if let (Some(rank), Some(score)) = (explanation.lexical_rank, explanation.lexical_score) {
        facts.push(format!("lexical rank {rank}, lexical score {score:.4}"));
    }
    if let Some(rank) = explanation.semantic_rank {
        facts.push(format!("semantic rank {rank}"));
    }
    if let Some(cosine) = explanation.similarity {
        let differs = |centroid: &f64| (centroid - cosine).abs() > 5e-5;
        let centroid = explanation.centroid_similarity.filter(differs);
        let centroid = centroid.map_or(String::new(), |cosine| format!(" (centroid {cosine:.4})"));
        facts.push(format!("similarity {cosine:.4}{centroid}"));
    }
    if let (Some(fusion), Some(fused)) = (explanation.fusion, explanation.fused_score) {
        let rescoring = explanation
            .rescoring
            .filter(|rescoring| rescoring.abs() > 5e-5);
        let rescoring = rescoring.map_or(String::new(), |rescoring| {
            format!(" ({rescoring:+.4} from rescoring)")
        });
        facts.push(format!("{fusion} {fused:.4}{rescoring}"));
        let weight = explanation.lexical_weight.unwrap_or_default();
        facts.push(format!("lexical weight {weight:.2}"));
    }
    if let Some(reranked) = explanation.reranked {
        facts.push(format!("reranked {reranked:.4}"));
    }
    facts.push(format!("found by {}", hit.found_by.join(" and ")));
    let mut lines = vec![facts.join(", ")];
    if let Some([first, last]) = explanation.chunk_lines {
        let heading = explanation.heading.as_deref();
        let heading = heading.map_or(String::new(), |heading| format!(", {}", escaped(heading)));
        lines.push(format!("  nearest chunk: lines {first}-{last}{heading}"));
    }
    for term in &explanation.terms {
        let [title, body, tags] = term.occurrences;
        let linked = term.links.map_or(String::new(), |links| {
            format!(", in links of {}", counted(u64::from(links), "note"))
        });
        lines.push(format!(
            "  {}: {title} in title, {body} in body, {tags} in tags{linked}; in {}, weight {:.4}",
            escaped(&term.term),
            counted(term.documents, "note"),
            term.weight,
        ));
    }
    lines
}
