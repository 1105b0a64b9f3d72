//! Defines the figures of a run, as `--json` prints them and a later run reads
//! them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::compare::{Baseline, Comparison, Mean, compare};
use super::means::{MeanRow, means};
use super::memory::{self, MemoryRow};
use super::metrics::{Metrics, Tally, round};
use super::notes::{self, NotesRow};
use super::query::JudgedQuery;
use super::runner::Setting;
use super::table;

/// All figures of a run.
#[derive(Debug, Default, Serialize)]
pub struct Figures {
    /// The model of the run, if it had one.
    #[serde(skip)]
    pub(super) model: Option<String>,
    pub(super) sets: Vec<Row>,
    /// The figures of memory benchmarks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) memory: Vec<MemoryRow>,
    /// The figures of queries over a folder of notes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<NotesRow>,
    /// The means over the main splits of several sets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) means: Vec<MeanRow>,
    /// The comparison with an earlier run, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) comparison: Option<Vec<Comparison>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) comparison_means: Vec<Mean>,
    /// The figures with other parameters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tries: Vec<Try>,
}

/// The figures with other parameters, compared with the current ones.
#[derive(Debug, Serialize)]
pub(super) struct Try {
    #[serde(rename = "try")]
    pub(super) text: String,
    pub(super) sets: Vec<Row>,
    pub(super) comparison: Vec<Comparison>,
    pub(super) means: Vec<Mean>,
}

impl Try {
    /// Returns these rows, compared with those of today.
    pub(super) fn of(text: String, rows: Vec<Row>, today: &Baseline) -> Self {
        let report = compare(&rows, today);
        Self {
            text,
            sets: rows,
            comparison: report.rows,
            means: report.means,
        }
    }

    /// Records which reranker the rows were made with.
    pub(super) fn set_reranker(&mut self, name: &str) {
        let ways = self.sets.iter_mut().map(|row| &mut row.subject.way);
        let ways = ways.chain(self.comparison.iter_mut().map(|row| &mut row.subject.way));
        for way in ways.chain(self.means.iter_mut().map(|mean| &mut mean.way)) {
            way.rerank = Some(name.to_owned());
        }
    }
}

/// The subject of a row: a split of a set, and the way it was searched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Subject {
    pub(super) name: String,
    pub(super) split: String,
    #[serde(flatten)]
    pub(super) way: Way,
}

/// A way of searching.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Way {
    pub(super) mode: String,
    /// The fusion of the two rankings, where there were two.
    #[serde(default)]
    pub(super) fusion: Option<String>,
    /// The reranker of the best hits, if there was one.
    #[serde(default)]
    pub(super) rerank: Option<String>,
    /// Whether misspelt words were corrected.
    pub(super) typo: bool,
}

/// One split of one set, searched in one way.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    #[serde(flatten)]
    pub(super) subject: Subject,
    /// Whether this is the default search.
    pub(super) default: bool,
    /// The model of semantic retrieval. It is not part of the subject, so that
    /// runs with and without a model can be compared.
    pub(super) model: Option<String>,
    #[serde(flatten)]
    pub(super) metrics: Metrics,
    pub(super) p50_ms: f64,
    pub(super) p95_ms: f64,
    /// nDCG@10 of each query, by its id.
    pub(super) per_query: BTreeMap<String, f64>,
}

impl Figures {
    /// Returns the figures of these rows, with their means and no comparison.
    pub(super) fn of(rows: Vec<Row>) -> Self {
        Self {
            means: means(&rows),
            sets: rows,
            ..Self::default()
        }
    }

    /// Renders the figures as tables for people, with the comparisons below.
    pub fn tables(&self) -> String {
        let mut text = String::new();
        if !self.sets.is_empty() {
            text.push_str(&table::render(&self.sets, &self.means));
        }
        if !self.memory.is_empty() {
            text.push_str(&memory::table(&self.memory));
        }
        if !self.notes.is_empty() {
            text.push_str(&notes::render(&self.notes));
        }
        if let Some(comparison) = &self.comparison {
            let means = &self.comparison_means;
            text.push_str(&table::render_comparison("", comparison, means));
        }
        for tried in &self.tries {
            let (rows, means) = (&tried.comparison, &tried.means);
            text.push_str(&table::render_comparison(&tried.text, rows, means));
        }
        text
    }
}

impl Row {
    /// Creates the row of a split that was searched in one setting.
    pub(super) fn new(
        name: &str,
        split: &str,
        setting: Setting,
        model: Option<&str>,
        queries: &[JudgedQuery],
        tally: &Tally,
    ) -> Self {
        let summary = tally.summary();
        let ids = queries.iter().map(|query| query.id.clone());
        let scores = tally.per_query.iter().map(|&score| round(score, 4));
        Self {
            subject: Subject {
                name: name.to_owned(),
                split: split.to_owned(),
                way: Way {
                    mode: setting.name().to_owned(),
                    fusion: setting.fusion.map(|fusion| fusion.name().to_owned()),
                    rerank: None,
                    typo: setting.typo,
                },
            },
            default: setting.is_default(),
            model: model
                .filter(|_| setting.compares_meanings())
                .map(str::to_owned),
            metrics: summary.metrics.rounded(),
            p50_ms: round(summary.p50_ms, 2),
            p95_ms: round(summary.p95_ms, 2),
            per_query: ids.zip(scores).collect(),
        }
    }
}

impl Subject {
    /// Renders the subject: `notes word, lexical, typos kept`.
    pub(super) fn label(&self) -> String {
        let way = &self.way;
        let mut label = format!("{} {}, {}", self.name, self.split, way.mode);
        for part in [&way.fusion, &way.rerank].into_iter().flatten() {
            label.push_str(&format!(", {part}"));
        }
        if !way.typo {
            label.push_str(", typos kept");
        }
        label
    }
}
