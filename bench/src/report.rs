//! Prints the measured rows as a table or as JSON.
//!
//! Rows go to standard output, each once. With JSON, which is printed whole at the end,
//! they go to standard error as they are measured.

use std::borrow::Cow;
use std::io::Write;

use serde::{Deserialize, Serialize};

/// Everything measured in one run.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Report {
    pub(crate) rows: Vec<Row>,
    /// Whether the report is printed as JSON.
    #[serde(skip)]
    json: bool,
}

/// One measurement.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Row {
    pub(crate) what: String,
    pub(crate) value: f64,
    pub(crate) unit: Cow<'static, str>,
    pub(crate) detail: String,
}

impl Report {
    /// Creates an empty report that is printed as JSON or as a table.
    pub(crate) fn new(json: bool) -> Self {
        Self {
            rows: Vec::new(),
            json,
        }
    }

    /// Adds a row and prints it at once, because runs are long.
    pub(crate) fn add(
        &mut self,
        what: impl Into<String>,
        value: f64,
        unit: &'static str,
        detail: impl Into<String>,
    ) {
        let row = Row::new(what, value, unit, detail);
        let line = row.line();
        let _ = if self.json {
            writeln!(std::io::stderr(), "{line}")
        } else {
            writeln!(std::io::stdout(), "{line}")
        };
        self.rows.push(row);
    }

    /// Prints the whole report if it is printed as JSON; rows of a table are printed as
    /// they are added.
    pub(crate) fn finish(&self) -> anyhow::Result<()> {
        if self.json {
            let mut output = std::io::stdout().lock();
            serde_json::to_writer_pretty(&mut output, self)?;
            writeln!(output)?;
        }
        Ok(())
    }
}

impl Row {
    pub(crate) fn new(
        what: impl Into<String>,
        value: f64,
        unit: &'static str,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            what: what.into(),
            value,
            unit: Cow::Borrowed(unit),
            detail: detail.into(),
        }
    }

    fn line(&self) -> String {
        format!(
            "{:<44} {:>10.2} {:<4} {}",
            self.what, self.value, self.unit, self.detail
        )
    }
}

/// Returns the median.
pub(crate) fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(0.0)
}
