//! Prints the measured rows as a table or as JSON.

use std::borrow::Cow;
use std::io::Write;

use serde::{Deserialize, Serialize};

/// Everything measured in one run.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(crate) struct Report {
    pub(crate) rows: Vec<Row>,
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
    /// Adds a row and prints it at once, because runs are long.
    pub(crate) fn add(
        &mut self,
        what: impl Into<String>,
        value: f64,
        unit: &'static str,
        detail: impl Into<String>,
    ) {
        let row = Row::new(what, value, unit, detail);
        let _ = writeln!(std::io::stderr(), "{}", row.line());
        self.rows.push(row);
    }

    /// Prints the whole report to standard output.
    pub(crate) fn print(&self, json: bool) -> anyhow::Result<()> {
        let mut output = std::io::stdout().lock();
        if json {
            serde_json::to_writer_pretty(&mut output, self)?;
            writeln!(output)?;
            return Ok(());
        }
        for row in &self.rows {
            writeln!(output, "{}", row.line())?;
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
