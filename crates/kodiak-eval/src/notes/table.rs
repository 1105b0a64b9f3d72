//! Lays the figures of queries over notes out for people. A star marks the default
//! search.

use super::figures::{Counts, NotesRow};

/// The content of an empty cell.
const NONE: &str = "–";

const LEGEND: &str = "\
* the default search, asked for ten hits
denied: of the queries with a target among the first three, those answered with nothing relevant
refused: of the queries that no note answers, those answered with nothing relevant
";

const CURVE: &str = "\
below: the share of these answers whose probability of answering the query is below the line
";

/// Renders the rows, those of each variant and model together, and their curves below.
pub(crate) fn render(rows: &[NotesRow]) -> String {
    let width = rows.iter().map(|row| row.name.chars().count());
    let width = width.max().unwrap_or_default().max("queries".len());
    let mut text = String::new();
    let mut tried = None;
    for row in rows {
        if tried != Some(&row.tried) {
            if let Some(parameters) = &row.tried {
                text.push_str(&format!("\n{parameters}\n"));
            }
            text.push_str(&format!(
                "    notes  {:<width$}  mode      typos  count  hit@1  hit@3  hit@10  denied  \
                 refused  p50 ms\n",
                "queries"
            ));
            tried = Some(&row.tried);
        }
        text.push_str(&line(row, width));
        text.push('\n');
    }
    text.push_str(LEGEND);
    let curves = curves(rows);
    if !curves.is_empty() {
        text.push_str(&curves);
        text.push_str(CURVE);
    }
    text
}

/// Renders one row, with the name of the file in this many columns.
pub(super) fn line(row: &NotesRow, width: usize) -> String {
    let counts = &row.counts;
    let hits = |count: usize| match counts.queries - counts.absent {
        0 => NONE.to_owned(),
        _ => count.to_string(),
    };
    let [denied, refused] = shares(counts);
    format!(
        "{} {:>7}  {:<width$}  {:<8}  {:<5}  {:>5}  {:>5}  {:>5}  {:>6}  {denied:>6}  {refused:>7}  \
         {:>6.1}",
        if row.default { '*' } else { ' ' },
        row.notes,
        row.name,
        row.way.mode,
        if row.way.typo { "fixed" } else { "kept" },
        counts.queries,
        hits(counts.first),
        hits(counts.among_three),
        hits(counts.among_ten),
        row.p50_ms,
    )
}

/// Renders how many are denied and refused, of how many.
fn shares(counts: &Counts) -> [String; 2] {
    let share = |part: Option<usize>, all: usize| match part.filter(|_| all > 0) {
        Some(part) => format!("{part}/{all}"),
        None => NONE.to_owned(),
    };
    [
        share(counts.denied, counts.among_three),
        share(counts.refused, counts.absent),
    ]
}

/// Renders the curves, those of all files over the same notes side by side.
fn curves(rows: &[NotesRow]) -> String {
    let drawn = rows.iter().filter(|row| !row.curve.is_empty());
    let drawn: Vec<&NotesRow> = drawn.collect();
    let alike = |one: &&NotesRow, other: &&NotesRow| {
        (one.notes, &one.tried, &one.model) == (other.notes, &other.tried, &other.model)
    };
    let mut text = String::new();
    for files in drawn.chunk_by(alike) {
        let tried = files[0].tried.iter().map(|tried| format!(", {tried}"));
        let tried: String = tried.collect();
        text.push_str(&format!("\n{} notes{tried}\nbelow", files[0].notes));
        let mut columns: Vec<(String, Vec<Option<f64>>)> = Vec::new();
        for row in files {
            let denied = row.curve.iter().map(|point| point.denied).collect();
            let refused = row.curve.iter().map(|point| point.refused).collect();
            columns.push((format!("{} denied", row.name), denied));
            columns.push((format!("{} refused", row.name), refused));
        }
        columns.retain(|(_, shares)| shares.iter().any(Option::is_some));
        for (title, _) in &columns {
            text.push_str(&format!("  {title}"));
        }
        text.push('\n');
        for (place, point) in files[0].curve.iter().enumerate() {
            text.push_str(&format!("{:>5.2}", point.line));
            for (title, shares) in &columns {
                let share = shares[place].map(|share| format!("{:.0} %", share * 100.0));
                let share = share.unwrap_or_else(|| NONE.to_owned());
                text.push_str(&format!("  {share:>width$}", width = title.chars().count()));
            }
            text.push('\n');
        }
    }
    text
}
