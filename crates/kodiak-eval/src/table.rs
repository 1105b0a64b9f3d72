//! Renders figures as tables for people. A star marks the default search.

use super::compare::{Change, Comparison, Mean};
use super::figures::{Row, Subject, Way};
use super::means::MeanRow;
use super::metrics::Metrics;

const SUBJECT: &str = "set                  split        mode      fusion  typos";
const FIGURES: &str = "queries  nDCG@10  R@10   R@100  MRR@10  p50 ms  p95 ms";
const CHANGE: &str = "queries  baseline  now     change   better  worse  equal  p";

/// The content of an empty cell.
const NONE: &str = "–";

/// Renders the figures of a run, with their means below.
pub(super) fn render(rows: &[Row], means: &[MeanRow]) -> String {
    let mut text = format!("  {SUBJECT}  {FIGURES}\n");
    for row in rows {
        text.push_str(&line(row));
        text.push('\n');
    }
    for mean in means {
        text.push_str(&format!(
            "{}  {}\n",
            mean_of(mean.sets, "sets", &mean.way, mean.default),
            measured(&mean.metrics),
        ));
    }
    text.push_str("* the default search; times are for 100 hits with snippets\n");
    text
}

/// Renders one row of the figures.
pub(super) fn line(row: &Row) -> String {
    format!(
        "{}  {}  {:>6.1}  {:>6.1}",
        subject(&row.subject, row.default),
        measured(&row.metrics),
        row.p50_ms,
        row.p95_ms,
    )
}

fn measured(metrics: &Metrics) -> String {
    format!(
        "{:>7}  {:>7.4}  {:.3}  {:.3}  {:.4}",
        metrics.queries,
        metrics.ndcg_at_10,
        metrics.recall_at_10,
        metrics.recall_at_100,
        metrics.mrr_at_10,
    )
}

/// Renders the comparison of two runs, below a heading with the parameters that
/// were tried. Returns an empty text if the runs have no row in common.
pub(super) fn render_comparison(tried: &str, rows: &[Comparison], means: &[Mean]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut text = String::from("\n");
    if !tried.is_empty() {
        text.push_str(&format!("{tried}\n"));
    }
    text.push_str(&format!("  {SUBJECT}  {CHANGE}\n"));
    for Comparison {
        subject: about,
        default,
        change: changed,
    } in rows
    {
        let line = format!("{}  {}\n", subject(about, *default), change(changed));
        text.push_str(&line);
    }
    for Mean {
        way,
        default,
        rows: count,
        change: changed,
    } in means
    {
        let title = mean_of(*count, "rows", way, *default);
        text.push_str(&format!("{title}  {}\n", change(changed)));
    }
    let changes = rows.iter().map(|row| &row.change);
    let mut changes = changes.chain(means.iter().map(|mean| &mean.change));
    if changes.any(|change| change.significant) {
        text.push_str("! significant: p < 0.05 in a paired randomisation test\n");
    }
    text
}

fn subject(subject: &Subject, default: bool) -> String {
    let title = format!("{:<20} {:<12}", subject.name, subject.split);
    searched(&title, &subject.way, default)
}

fn mean_of(count: usize, things: &str, way: &Way, default: bool) -> String {
    searched(&format!("mean of {count} {things}"), way, default)
}

fn searched(title: &str, way: &Way, default: bool) -> String {
    format!(
        "{} {title:<33} {:<9} {:<7} {:<5}",
        if default { '*' } else { ' ' },
        way.mode,
        way.fusion.as_deref().unwrap_or(NONE),
        if way.typo { "fixed" } else { "kept" },
    )
}

fn change(change: &Change) -> String {
    format!(
        "{:>7}  {:>8.4}  {:.4}  {:>+7.4}  {:>6}  {:>5}  {:>5}  {:.4}{}",
        change.queries,
        change.baseline,
        change.now,
        change.difference,
        change.better,
        change.worse,
        change.equal,
        change.p,
        if change.significant { " !" } else { "" },
    )
}
