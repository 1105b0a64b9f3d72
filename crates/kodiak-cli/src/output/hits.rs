//! Renders the hits of an answer for people.

use std::fmt::Write;

use kodiak::search::{Answer, Duplicate, Explanation, Hit};
use unicode_width::UnicodeWidthStr;

use super::escape::escaped;
use super::phrases::counted;
use super::style::{BOLD, DIM, MATCH, Painter};
use super::wrap::{Marked, wrap};
use crate::places::Places;

/// The maximum number of tags shown for a hit.
const MAX_TAGS: usize = 8;
/// The indentation of all lines of a hit but its first.
const INDENT: &str = "   ";
/// The maximum number of columns of text.
const MAX_COLUMNS: usize = 100;
/// The maximum number of lines of a title and of a snippet.
const MAX_TITLE_LINES: usize = 2;
const MAX_SNIPPET_LINES: usize = 3;
/// The maximum number of copies of a hit that are named.
const MAX_COPIES: usize = 3;

/// How hits are laid out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout<'a> {
    pub(crate) painter: Painter,
    /// The width of the terminal, in columns.
    pub(crate) width: usize,
    /// Whether paths are links to their files.
    pub(crate) links: bool,
    pub(crate) places: &'a Places,
}

impl Layout<'_> {
    /// Returns the number of columns for text beside the indentation.
    fn columns(&self) -> usize {
        self.width
            .saturating_sub(INDENT.len())
            .clamp(20, MAX_COLUMNS)
    }
}

/// Renders the hits below the heading, with a blank line between them. Those that
/// are probably not relevant are set apart if they are all at the end and others
/// are relevant.
pub(crate) fn hits(answer: &Answer, heading: Option<&str>, layout: Layout<'_>) -> String {
    let mut text = String::new();
    if let Some(heading) = heading {
        let line = layout.painter.paint(DIM, &escaped(heading));
        let _ = writeln!(text, "{line}\n");
    }
    let apart = answer.hits.is_sorted_by_key(|hit| !hit.probable)
        && !answer.hits.iter().any(|hit| hit.elsewhere);
    for (number, hit) in answer.hits.iter().enumerate() {
        if number > 0 {
            text.push('\n');
        }
        if hit.elsewhere && (number == 0 || !answer.hits[number - 1].elsewhere) {
            let line = layout.painter.paint(DIM, "from other projects:");
            let _ = writeln!(text, "{line}\n");
        }
        if apart && number > 0 && answer.hits[number - 1].probable && !hit.probable {
            let line = layout.painter.paint(DIM, "less likely:");
            let _ = writeln!(text, "{line}\n");
        }
        one(&mut text, number + 1, hit, layout);
    }
    text
}

fn one(text: &mut String, number: usize, hit: &Hit, layout: Layout<'_>) {
    let painter = layout.painter;
    let title = match &hit.alias {
        Some(alias) => format!("{} (alias \"{alias}\")", hit.title),
        None => hit.title.clone(),
    };
    let title = escaped(&title);
    let title: Vec<Marked> = title.chars().map(|character| (character, false)).collect();
    let number = format!("{number}. ");
    let columns = layout.columns() + INDENT.len() - number.len();
    let mut lines = wrap(&title, columns, MAX_TITLE_LINES).into_iter();
    let plain = |line: Vec<Marked>| line.into_iter().map(|(character, _)| character).collect();
    let first: String = lines.next().map(plain).unwrap_or_default();
    let _ = writeln!(text, "{}", painter.paint(BOLD, &format!("{number}{first}")));
    for line in lines {
        let line: String = plain(line);
        let _ = writeln!(text, "{INDENT}{}", painter.paint(BOLD, &line));
    }
    let _ = writeln!(text, "{INDENT}{}", place(hit, layout));
    for line in wrap(&marked(hit), layout.columns(), MAX_SNIPPET_LINES) {
        let _ = writeln!(text, "{INDENT}{}", painted(&line, painter));
    }
    for corrected in &hit.corrects {
        let line = escaped(&corrected.to_string()).into_owned();
        let _ = writeln!(text, "{INDENT}{}", painter.paint(DIM, &line));
    }
    if let Some(copies) = copies(&hit.also_in, layout) {
        let _ = writeln!(text, "{INDENT}{}", painter.paint(DIM, &copies));
    }
    if let Some(command) = hit.turn.as_ref().and_then(|turn| turn.resume.as_ref()) {
        let line = format!("resume: {}", escaped(command));
        let _ = writeln!(text, "{INDENT}{}", painter.paint(DIM, &line));
    }
    let explained = hit.explanation.iter();
    for line in explained.flat_map(|found| explain(hit, found)) {
        let _ = writeln!(text, "{INDENT}{}", painter.paint(DIM, &line));
    }
}

/// Renders where a hit is: path and line, id, and as many tags as fit.
fn place(hit: &Hit, layout: Layout<'_>) -> String {
    let path = format!("{}:{}", escaped(&layout.places.shown(hit)), hit.line);
    let mut rest = format!("  {}", hit.id);
    if hit.archived {
        rest.push_str("  (archived)");
    }
    if let Some(newer) = &hit.superseded_by {
        rest.push_str(&format!("  (superseded by {newer})"));
    }
    if let Some(turn) = &hit.turn {
        let _ = write!(rest, "  {}", escaped(&turn.role));
        if let Some(at) = &hit.created_at {
            let _ = write!(rest, ", {}", at.get(..10).unwrap_or(at));
        }
        if turn.origin_gone {
            rest.push_str("  (original gone)");
        }
    }
    if hit.changed {
        rest.push_str("  (changed since it was indexed)");
    }
    let room = layout.columns().saturating_sub(path.width() + rest.width());
    let tags = (1..=hit.tags.len().min(MAX_TAGS))
        .rev()
        .map(|number| format!("  [{}]", escaped(&tags(&hit.tags, number))))
        .find(|tags| tags.width() <= room);
    rest.push_str(&tags.unwrap_or_default());
    let path = layout.painter.paint(DIM, &path);
    let path = match layout.places.address(hit) {
        Some(address) if layout.links => link(&address, &path),
        _ => path,
    };
    format!("{path}{}", layout.painter.paint(DIM, &rest))
}

/// Renders where else a hit's text is: as many copies as fit on the line, at least
/// one, and how many more there are.
fn copies(copies: &[Duplicate], layout: Layout<'_>) -> Option<String> {
    let shown = copies.iter().take(MAX_COPIES);
    let shown = shown.map(|copy| layout.places.shown_copy(copy));
    let shown: Vec<String> = shown.map(|path| escaped(&path).into_owned()).collect();
    let line = |number: usize| {
        let (last, others) = shown.get(..number)?.split_last()?;
        let first = others.join(", ");
        let more = copies.len() - number;
        Some(match (first.is_empty(), more) {
            (true, 0) => format!("also in {last}"),
            (false, 0) => format!("also in {first} and {last}"),
            (true, more) => format!("also in {last} and {more} more"),
            (false, more) => format!("also in {first}, {last} and {more} more"),
        })
    };
    let fitting = (2..=shown.len()).rev().filter_map(line);
    let fitting = fitting.filter(|line| line.width() <= layout.columns());
    fitting.chain(line(1)).next()
}

/// Makes text a link, as terminals understand it (OSC 8).
fn link(address: &str, text: &str) -> String {
    format!("\u{1b}]8;;{address}\u{1b}\\{text}\u{1b}]8;;\u{1b}\\")
}

/// Renders the first tags, and how many more there are.
fn tags(tags: &[String], number: usize) -> String {
    let (shown, more) = tags.split_at(number);
    let mut text = shown.join(", ");
    if !more.is_empty() {
        let _ = write!(text, " … +{}", more.len());
    }
    text
}

/// Returns the snippet as characters that are matched or not. Each piece is escaped
/// by itself, because escaping changes lengths and the marks are byte ranges of the
/// unescaped text.
fn marked(hit: &Hit) -> Vec<Marked> {
    let mut characters = Vec::new();
    let mut add = |text: &str, matched: bool| {
        characters.extend(escaped(text).chars().map(|character| (character, matched)));
    };
    let mut shown = 0;
    for mark in &hit.marks {
        let (Some(before), Some(matched)) = (
            hit.snippet.get(shown..mark.start),
            hit.snippet.get(mark.clone()),
        ) else {
            continue;
        };
        add(before, false);
        add(matched, true);
        shown = mark.end;
    }
    add(hit.snippet.get(shown..).unwrap_or_default(), false);
    characters
}

/// Renders a line with its matches highlighted.
fn painted(line: &[Marked], painter: Painter) -> String {
    let runs = line.chunk_by(|(_, one), (_, other)| one == other);
    let runs = runs.map(|run| {
        let text: String = run.iter().map(|(character, _)| character).collect();
        match run.first() {
            Some((_, true)) => painter.paint(MATCH, &text),
            _ => text,
        }
    });
    runs.collect()
}

fn explain(hit: &Hit, explanation: &Explanation) -> Vec<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_copies_are_named_as_fit() {
        let places = Places::default();
        let copy = |path: &&str| Duplicate {
            id: "a1b2c3".to_owned(),
            source: "notes".to_owned(),
            path: (*path).to_owned(),
            title: String::new(),
        };
        let line = |paths: &[&str], width| {
            let found: Vec<Duplicate> = paths.iter().map(copy).collect();
            let layout = Layout {
                painter: Painter::new(false),
                width,
                links: false,
                places: &places,
            };
            copies(&found, layout)
        };
        assert_eq!(line(&[], 80), None);
        let expected = [
            "also in notes/a",
            "also in notes/a and notes/b",
            "also in notes/a, notes/b and notes/c",
            "also in notes/a, notes/b, notes/c and 1 more",
            "also in notes/a, notes/b, notes/c and 2 more",
        ];
        for (number, expected) in (1..).zip(expected) {
            let paths = &["a", "b", "c", "d", "e"][..number];
            assert_eq!(line(paths, 80).as_deref(), Some(expected));
        }
        let narrow = line(&["a", "b", "c", "d"], 42);
        assert_eq!(narrow.unwrap(), "also in notes/a, notes/b and 2 more");
        let long = "x".repeat(60);
        assert_eq!(
            line(&[&long, "b"], 40).unwrap(),
            format!("also in notes/{long} and 1 more")
        );
    }

    #[test]
    fn a_link_encloses_what_is_shown() {
        assert_eq!(
            link("file:///a%20b", "a b"),
            "\u{1b}]8;;file:///a%20b\u{1b}\\a b\u{1b}]8;;\u{1b}\\"
        );
    }

    #[test]
    fn neighbours_are_painted_together() {
        let line = [('a', true), ('b', true), (' ', false), ('c', false)];
        assert_eq!(painted(&line, Painter::new(false)), "ab c");
        let painted = painted(&line, Painter::new(true));
        assert_eq!(painted, format!("{MATCH}ab{MATCH:#} c"));
    }
}
