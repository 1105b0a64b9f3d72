//! Figures as a table for people; what a user gets is marked with a star.

use super::Row;

const HEADER: &str = "set                  split        mode     typos  queries  nDCG@10  R@10   R@100  MRR@10  p50 ms  p95 ms";

/// The whole table.
pub(super) fn render(rows: &[Row]) -> String {
    let mut text = format!("  {HEADER}\n");
    for row in rows {
        text.push_str(&line(row));
        text.push('\n');
    }
    text.push_str("* what a user gets; times are for a hundred hits with snippets\n");
    text
}

/// One row of it.
pub(super) fn line(row: &Row) -> String {
    format!(
        "{} {:<20} {:<12} {:<8} {:<5}  {:>7}  {:>7.4}  {:.3}  {:.3}  {:.4}  {:>6.1}  {:>6.1}",
        if row.default { '*' } else { ' ' },
        row.name,
        row.split,
        row.mode,
        if row.typo { "fixed" } else { "kept" },
        row.queries,
        row.ndcg_at_10,
        row.recall_at_10,
        row.recall_at_100,
        row.mrr_at_10,
        row.p50_ms,
        row.p95_ms,
    )
}
