//! Computes the means over the main splits of several sets. Each set has the
//! same weight, however many queries it has.

use serde::Serialize;

use super::beir::split_label;
use super::figures::{Row, Way};
use super::metrics::Metrics;

/// The mean figures of one way of searching over several sets. Times are left
/// out, because a mean over small and large sets says nothing.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct MeanRow {
    #[serde(flatten)]
    pub(super) way: Way,
    pub(super) default: bool,
    pub(super) sets: usize,
    #[serde(flatten)]
    pub(super) metrics: Metrics,
}

/// Returns the means of each way of searching that was measured on several sets.
pub(super) fn means(rows: &[Row]) -> Vec<MeanRow> {
    let main = rows
        .iter()
        .filter(|row| row.subject.split == split_label(""));
    let groups = grouped(main, |row| &row.subject.way);
    groups.iter().map(|rows| mean(rows)).collect()
}

/// Groups the items by way of searching, in the order in which the ways first
/// occur, and drops groups with a single item.
pub(super) fn grouped<T>(items: impl Iterator<Item = T>, way: fn(&T) -> &Way) -> Vec<Vec<T>> {
    let mut groups: Vec<Vec<T>> = Vec::new();
    for item in items {
        let group = groups.iter_mut().find(|group| way(&group[0]) == way(&item));
        match group {
            Some(group) => group.push(item),
            None => groups.push(vec![item]),
        }
    }
    groups.retain(|group| group.len() > 1);
    groups
}

fn mean(rows: &[&Row]) -> MeanRow {
    let mean = |figure: fn(&Row) -> f64| {
        let sum: f64 = rows.iter().map(|row| figure(row)).sum();
        sum / rows.len() as f64
    };
    let metrics = Metrics {
        queries: rows.iter().map(|row| row.metrics.queries).sum(),
        ndcg_at_10: mean(exact_ndcg),
        recall_at_10: mean(|row| row.metrics.recall_at_10),
        recall_at_100: mean(|row| row.metrics.recall_at_100),
        mrr_at_10: mean(|row| row.metrics.mrr_at_10),
    };
    MeanRow {
        way: rows[0].subject.way.clone(),
        default: rows[0].default,
        sets: rows.len(),
        metrics: metrics.rounded(),
    }
}

/// Returns the mean nDCG over the queries instead of the row's rounded one, so
/// that it equals the mean that a comparison computes.
fn exact_ndcg(row: &Row) -> f64 {
    row.per_query.values().sum::<f64>() / row.per_query.len().max(1) as f64
}

#[cfg(test)]
mod tests {

    use super::super::figures::Subject;
    use super::*;

    fn row(name: &str, split: &str, mode: &str, ndcg_at_10: f64) -> Row {
        Row {
            subject: Subject {
                name: name.to_owned(),
                split: split.to_owned(),
                way: Way {
                    mode: mode.to_owned(),
                    fusion: None,
                    rerank: None,
                    typo: true,
                },
            },
            default: mode == "auto",
            model: None,
            metrics: Metrics {
                queries: 10,
                ndcg_at_10,
                recall_at_10: 0.5,
                recall_at_100: 1.0,
                mrr_at_10: ndcg_at_10 / 2.0,
            },
            p50_ms: 1.0,
            p95_ms: 1.0,
            per_query: [("q1".to_owned(), ndcg_at_10)].into(),
        }
    }

    #[test]
    fn sets_count_the_same_and_only_by_their_main_split() {
        let rows = [
            row("one", "test", "auto", 0.3),
            row("one", "test", "like", 0.1),
            row("one", "typo", "auto", 0.9),
            row("two", "test", "auto", 0.8),
            row("two", "test", "like", 0.2),
            row("two", "test", "hybrid", 0.2),
        ];
        let means = means(&rows);
        let found: Vec<(&str, bool, usize, usize, f64)> = means
            .iter()
            .map(|mean| {
                let way = mean.way.mode.as_str();
                let Metrics {
                    queries,
                    ndcg_at_10,
                    ..
                } = mean.metrics;
                (way, mean.default, mean.sets, queries, ndcg_at_10)
            })
            .collect();
        assert_eq!(
            found,
            [("auto", true, 2, 20, 0.55), ("like", false, 2, 20, 0.15)]
        );
        let Metrics {
            recall_at_10,
            recall_at_100,
            mrr_at_10,
            ..
        } = means[0].metrics;
        assert_eq!((recall_at_10, recall_at_100, mrr_at_10), (0.5, 1.0, 0.275));
    }

    #[test]
    fn of_one_set_there_is_no_mean() {
        let rows = [
            row("one", "test", "auto", 0.3),
            row("one", "typo", "auto", 0.9),
        ];
        assert!(means(&rows).is_empty() && means(&[]).is_empty());
    }
}
