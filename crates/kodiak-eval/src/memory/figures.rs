//! Lays out the figures of memory benchmarks.

use std::collections::BTreeMap;

use serde::Serialize;

use super::measures::Means;

/// One benchmark, asked in one way.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct MemoryRow {
    /// The name of the benchmark.
    pub(crate) name: String,
    /// What is found: `turn` or `session`.
    pub(crate) unit: &'static str,
    /// The search mode.
    pub(crate) mode: &'static str,
    /// The model of semantic retrieval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// All questions that something answers.
    pub(crate) all: Means,
    /// The same by type of question.
    pub(crate) by_type: Vec<TypeRow>,
    /// The reciprocal rank of each question, by its id.
    pub(crate) per_question: BTreeMap<String, f64>,
    /// The number of questions that were left out because no evidence is named.
    pub(crate) without_evidence: usize,
    /// The number of questions that nothing answers.
    pub(crate) unanswerable: usize,
    /// How well the answer's own judgement tells both kinds of questions apart, as
    /// the area under the curve; absent without either kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) nothing_there_auc: Option<f64>,
}

/// The questions of one type.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TypeRow {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    #[serde(flatten)]
    pub(crate) means: Means,
}

/// Renders the rows as a table for people.
pub(crate) fn table(rows: &[MemoryRow]) -> String {
    let mut lines: Vec<Vec<String>> = Vec::new();
    let headings = [
        "benchmark",
        "unit",
        "mode",
        "questions",
        "n",
        "hit@1",
        "MRR",
        "any@5",
        "all@5",
        "evidence@5",
        "any@10",
        "all@10",
        "evidence@10",
        "ndcg_any@10",
    ];
    lines.push(headings.map(str::to_owned).to_vec());
    for row in rows {
        let first = [row.name.as_str(), row.unit, row.mode];
        lines.push(line(first, "all", &row.all));
        for one in &row.by_type {
            lines.push(line(["", "", ""], &one.kind, &one.means));
        }
    }
    let mut text = aligned(&lines);
    for row in rows {
        if let Some(auc) = row.nothing_there_auc {
            let MemoryRow {
                name,
                unit,
                mode,
                unanswerable,
                ..
            } = row;
            text.push_str(&format!(
                "{name}, {unit}s, {mode}: AUC {auc:.3} of \"nothing there\" over {unanswerable} \
                 questions that nothing answers\n"
            ));
        }
    }
    text
}

fn line(first: [&str; 3], kind: &str, means: &Means) -> Vec<String> {
    let (five, ten) = (means.at(5), means.at(10));
    let figures = [
        means.first,
        means.mrr,
        five.recall_any,
        five.recall_all,
        five.evidence_recall,
        ten.recall_any,
        ten.recall_all,
        ten.evidence_recall,
        ten.ndcg_any,
    ];
    let mut line: Vec<String> = first.map(str::to_owned).to_vec();
    line.push(kind.to_owned());
    line.push(means.questions.to_string());
    line.extend(figures.map(|figure| format!("{figure:.3}")));
    line
}

/// The number of columns that hold words and not numbers.
const WORDS: usize = 5;

fn aligned(lines: &[Vec<String>]) -> String {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for line in lines {
        let cells = line.iter().zip(&widths).enumerate();
        let cells: Vec<String> = cells
            .map(|(column, (cell, &width))| {
                if column < WORDS {
                    format!("{cell:<width$}")
                } else {
                    format!("{cell:>width$}")
                }
            })
            .collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}
