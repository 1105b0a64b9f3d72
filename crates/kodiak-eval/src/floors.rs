//! Reads floors, the minimum figures of a run, and checks them.
//!
//! Without floors, a ranking can get a little worse with every change
//! unnoticed.

use std::fs;
use std::path::Path;

use anyhow::Result;
use serde::Deserialize;

use super::error::refusal;
use super::figures::Row;

const HINT: &str = "write floors as {\"floors\": [{\"split\": \"test\", \"mode\": \"auto\", \
                    \"ndcg@10\": 0.7}]}, with \"name\", \"fusion\", \"typo\" and \"model\" as options";

/// The contents of a file of floors.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    floors: Vec<Floor>,
}

/// The minimum figure of some rows. A field that is left out matches any row,
/// except the model: a floor without one is for rows measured without a model.
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
        .map_err(|error| refusal(format!("{shown} is not a file of floors: {error}"), HINT))?;
    Ok(file.floors)
}

/// Returns a complaint for each row below its floor, and for each floor without
/// a row, since such a floor would check nothing.
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
    /// Reports whether a run with this model, or with none, can have a row for the
    /// floor.
    pub(super) fn concerns(&self, model: Option<&str>) -> bool {
        let lexical = ["lexical", "like"].contains(&self.mode.as_str());
        self.model.as_deref() == model || (lexical && self.model.is_none())
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
