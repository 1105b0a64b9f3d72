//! Figures as tables for people; what a user gets is marked with a star.

use super::compare::{Change, Comparison, Mean, Report};
use super::figures::{Row, Subject};

const SUBJECT: &str = "set                  split        mode      fusion  typos";
const FIGURES: &str = "queries  nDCG@10  R@10   R@100  MRR@10  p50 ms  p95 ms";
const CHANGE: &str = "queries  baseline  now     change   better  worse  equal  p";

/// What stands where there is nothing to say.
const NONE: &str = "–";

/// The figures of a run.
pub(super) fn render(rows: &[Row]) -> String {
    let mut text = format!("  {SUBJECT}  {FIGURES}\n");
    for row in rows {
        text.push_str(&line(row));
        text.push('\n');
    }
    text.push_str("* what a user gets; times are for a hundred hits with snippets\n");
    text
}

/// One row of them.
pub(super) fn line(row: &Row) -> String {
    format!(
        "{}  {:>7}  {:>7.4}  {:.3}  {:.3}  {:.4}  {:>6.1}  {:>6.1}",
        subject(&row.subject, row.default),
        row.queries,
        row.ndcg_at_10,
        row.recall_at_10,
        row.recall_at_100,
        row.mrr_at_10,
        row.p50_ms,
        row.p95_ms,
    )
}

/// A run beside an earlier one; nothing if no row is in both.
pub(super) fn render_comparison(report: &Report) -> String {
    if report.rows.is_empty() {
        return String::new();
    }
    let mut text = format!("\n  {SUBJECT}  {CHANGE}\n");
    for Comparison {
        subject: about,
        default,
        change: changed,
    } in &report.rows
    {
        let line = format!("{}  {}\n", subject(about, *default), change(changed));
        text.push_str(&line);
    }
    if let Some(Mean {
        rows,
        change: changed,
    }) = &report.mean
    {
        let title = format!("mean of {rows} marked with a star");
        text.push_str(&format!("* {title:<58}  {}\n", change(changed)));
    }
    let changes = report.rows.iter().map(|row| &row.change);
    let mut changes = changes.chain(report.mean.iter().map(|mean| &mean.change));
    if changes.any(|change| change.significant) {
        text.push_str("! luck alone would give this in less than one of twenty cases\n");
    }
    text
}

fn subject(subject: &Subject, default: bool) -> String {
    format!(
        "{} {:<20} {:<12} {:<9} {:<7} {:<5}",
        if default { '*' } else { ' ' },
        subject.name,
        subject.split,
        subject.mode,
        subject.fusion.as_deref().unwrap_or(NONE),
        if subject.typo { "fixed" } else { "kept" },
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
