//! The figures that must be reached, read from a file.
//!
//! Without them a ranking can get worse by a little with every change and nobody
//! notices.

use std::fs;
use std::path::Path;

use anyhow::Result;
use serde::Deserialize;

use super::error::refusal;
use super::figures::Row;

const HINT: &str = "floors look like {\"floors\": [{\"split\": \"test\", \"mode\": \"auto\", \
                    \"ndcg@10\": 0.7}]}, with \"name\", \"fusion\", \"typo\" and \"model\" where wanted";

/// What a file of floors says.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    floors: Vec<Floor>,
}

/// What some rows must reach. What is left out may be anything, except the
/// model: without one named it is for rows that had none.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Floor {
    name: Option<String>,
    pub(super) split: String,
    pub(super) mode: String,
    fusion: Option<String>,
    typo: Option<bool>,
    model: Option<String>,
    #[serde(rename = "ndcg@10")]
    ndcg_at_10: f64,
}

/// Reads a file of floors.
pub(super) fn read(path: &Path) -> Result<Vec<Floor>> {
    let shown = path.display();
    let text = fs::read_to_string(path)
        .map_err(|error| refusal(format!("could not read the floors {shown}: {error}"), HINT))?;
    let file: File = serde_json::from_str(&text)
        .map_err(|error| refusal(format!("{shown} holds no floors: {error}"), HINT))?;
    Ok(file.floors)
}

/// What each floor has to complain of: rows below it, or that there is no row,
/// without which it would hold nothing.
pub(super) fn missed<'a>(floors: impl IntoIterator<Item = &'a Floor>, rows: &[Row]) -> Vec<String> {
    let mut complaints = Vec::new();
    for floor in floors {
        let mut measured = rows.iter().filter(|row| floor.is_for(row)).peekable();
        if measured.peek().is_none() {
            complaints.push(format!(
                "nothing was measured for the floor {}",
                floor.label()
            ));
        }
        let below = measured.filter(|row| row.metrics.ndcg_at_10 < floor.ndcg_at_10);
        complaints.extend(below.map(|row| {
            format!(
                "{}: nDCG@10 is {:.4}, below the floor of {}",
                row.subject.label(),
                row.metrics.ndcg_at_10,
                floor.ndcg_at_10
            )
        }));
    }
    complaints
}

impl Floor {
    /// Whether a run with this model, or with none, can have a row for it.
    pub(super) fn concerns(&self, model: Option<&str>) -> bool {
        let by_word = ["lexical", "like"].contains(&self.mode.as_str());
        self.model.as_deref() == model || (by_word && self.model.is_none())
    }

    fn is_for(&self, row: &Row) -> bool {
        let subject = &row.subject;
        self.model == row.model
            && self.split == subject.split
            && self.mode == subject.way.mode
            && self.name.as_ref().is_none_or(|name| *name == subject.name)
            && self.typo.is_none_or(|typo| typo == subject.way.typo)
            && (self.fusion.is_none() || self.fusion == subject.way.fusion)
    }

    fn label(&self) -> String {
        let mut parts: Vec<&str> = self.name.iter().map(String::as_str).collect();
        parts.extend([self.split.as_str(), self.mode.as_str()]);
        parts.extend(self.fusion.as_deref());
        parts.extend(
            self.typo
                .map(|typo| if typo { "typos fixed" } else { "typos kept" }),
        );
        parts.extend(self.model.as_deref());
        parts.join(", ")
    }
}

#[cfg(test)]
#[path = "floors_tests.rs"]
mod tests;
