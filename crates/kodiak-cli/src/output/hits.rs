//! Renders the hits of an answer for people.

use std::fmt::Write;

use kodiak::search::{Answer, Explanation, Hit};

use super::escape::escaped;
use super::phrases::counted;
use super::style::{BOLD, DIM, MATCH, Painter};

/// The maximum number of tags shown for a hit.
const MAX_TAGS: usize = 8;

/// Renders the hits, with a blank line between them.
pub(crate) fn hits(answer: &Answer, painter: Painter) -> String {
    let mut text = String::new();
    for (number, hit) in answer.hits.iter().enumerate() {
        if number > 0 {
            text.push('\n');
        }
        one(&mut text, number + 1, hit, painter);
    }
    text
}

fn one(text: &mut String, number: usize, hit: &Hit, painter: Painter) {
    let title = format!("{number}. {}", escaped(&hit.title));
    let mut place = format!(
        "{}/{}:{}  {}",
        escaped(&hit.source),
        escaped(&hit.path),
        hit.line,
        hit.id
    );
    if !hit.tags.is_empty() {
        let _ = write!(place, "  [{}]", escaped(&tags(&hit.tags)));
    }
    if hit.changed {
        place.push_str("  (changed since it was indexed)");
    }
    let indent = "   ";
    let _ = writeln!(text, "{}", painter.paint(BOLD, &title));
    let _ = writeln!(text, "{indent}{}", painter.paint(DIM, &place));
    if !hit.snippet.is_empty() {
        let _ = writeln!(text, "{indent}{}", snippet(hit, painter));
    }
    for line in hit
        .explanation
        .iter()
        .flat_map(|found| explained(hit, found))
    {
        let _ = writeln!(text, "{indent}{}", painter.paint(DIM, &line));
    }
}

/// Renders the first tags, and how many more there are.
fn tags(tags: &[String]) -> String {
    let (shown, more) = tags.split_at(tags.len().min(MAX_TAGS));
    let mut text = shown.join(", ");
    if !more.is_empty() {
        let _ = write!(text, " … +{}", more.len());
    }
    text
}

/// Renders the snippet with its matches highlighted. Each piece is escaped by
/// itself, because escaping changes lengths and the marks are byte ranges of the
/// unescaped text.
fn snippet(hit: &Hit, painter: Painter) -> String {
    let mut text = String::new();
    let mut shown = 0;
    for mark in &hit.marks {
        let (Some(before), Some(matched)) = (
            hit.snippet.get(shown..mark.start),
            hit.snippet.get(mark.clone()),
        ) else {
            continue;
        };
        text.push_str(&escaped(before));
        text.push_str(&painter.paint(MATCH, &escaped(matched)));
        shown = mark.end;
    }
    text.push_str(&escaped(hit.snippet.get(shown..).unwrap_or_default()));
    text
}

fn explained(hit: &Hit, explanation: &Explanation) -> Vec<String> {
    let mut facts = vec![format!("score {:.4}", hit.score)];
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
    facts.push(format!("found by {}", hit.found_by.join(" and ")));
    let mut lines = vec![facts.join(", ")];
    if let Some([first, last]) = explanation.chunk_lines {
        let heading = explanation.heading.as_deref();
        let heading = heading.map_or(String::new(), |heading| format!(", {}", escaped(heading)));
        lines.push(format!("  nearest chunk: lines {first}-{last}{heading}"));
    }
    for term in &explanation.terms {
        let [title, body, tags] = term.occurrences;
        lines.push(format!(
            "  {}: {title} in title, {body} in body, {tags} in tags; in {}, weight {:.4}",
            escaped(&term.term),
            counted(term.documents, "note"),
            term.weight,
        ));
    }
    lines
}
