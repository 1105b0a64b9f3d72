//! Collects all figures: a column for each size and folder, what was left out and
//! why, and how the rows grow.

use std::fmt::Write as _;
use std::io::Write as _;

use anyhow::Result;
use serde::Serialize;

use super::growth::{self, Step};
use crate::report::Row;

/// All columns.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) columns: Vec<Column>,
}

/// The figures of one set of documents.
#[derive(Debug, Serialize)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) documents: usize,
    /// Whether the documents were generated, so that sizes can be compared.
    pub(crate) generated: bool,
    pub(crate) rows: Vec<Row>,
    pub(crate) left_out: Vec<LeftOut>,
}

/// A row that was left out, and the reason.
#[derive(Debug, Serialize)]
pub(crate) struct LeftOut {
    pub(crate) what: String,
    pub(crate) why: String,
}

impl Column {
    pub(crate) fn new(name: impl Into<String>, documents: usize, generated: bool) -> Self {
        Self {
            name: name.into(),
            documents,
            generated,
            rows: Vec::new(),
            left_out: Vec::new(),
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
        let line = format!("{}: {}", row.what, shown(row.value));
        say(&format!("{line} {} ({})", row.unit, row.detail));
        self.rows.push(row);
    }

    /// Notes that a row was left out.
    pub(crate) fn leave_out(&mut self, what: impl Into<String>, why: impl Into<String>) {
        self.left_out.push(LeftOut {
            what: what.into(),
            why: why.into(),
        });
    }

    /// Returns the value of a row in this column.
    pub(crate) fn value(&self, what: &str) -> Option<f64> {
        let row = self.rows.iter().find(|row| row.what == what)?;
        Some(row.value)
    }
}

impl Findings {
    /// Prints everything to standard output.
    pub(crate) fn print(&self, json: bool) -> Result<()> {
        #[derive(Serialize)]
        struct Everything<'a> {
            columns: &'a [Column],
            growth: &'a [Step],
        }
        let steps = growth::steps(&self.columns);
        let mut output = std::io::stdout().lock();
        if json {
            let everything = Everything {
                columns: &self.columns,
                growth: &steps,
            };
            serde_json::to_writer_pretty(&mut output, &everything)?;
            writeln!(output)?;
        } else {
            write!(output, "{}", self.table())?;
            write!(output, "{}", self.notes())?;
            write!(output, "{}", growth_table(&steps))?;
        }
        Ok(())
    }

    fn table(&self) -> String {
        let mut table = head(
            "",
            self.columns.iter().map(|column| column.name.as_str()),
            "",
        );
        for row in self.distinct() {
            let values = self.columns.iter().map(|column| {
                let value = column.value(&row.what);
                value.map_or("-".to_owned(), shown)
            });
            table += &line(&row.what, values, &row.unit);
        }
        table
    }

    /// Returns each row once, in the order in which they were measured.
    fn distinct(&self) -> Vec<&Row> {
        let mut rows: Vec<&Row> = Vec::new();
        for row in self.columns.iter().flat_map(|column| &column.rows) {
            if rows.iter().all(|known| known.what != row.what) {
                rows.push(row);
            }
        }
        rows
    }

    fn notes(&self) -> String {
        let mut notes = String::from("\nHow, at the first size that has the row:\n");
        for row in self.distinct() {
            let _ = writeln!(notes, "{}: {}", row.what, row.detail);
        }
        for column in &self.columns {
            for left in &column.left_out {
                let _ = writeln!(
                    notes,
                    "left out at {}: {}: {}",
                    column.name, left.what, left.why
                );
            }
        }
        notes
    }
}

fn growth_table(steps: &[Step]) -> String {
    let mut spans: Vec<(usize, usize)> = steps.iter().map(|step| (step.from, step.to)).collect();
    spans.dedup();
    if spans.is_empty() {
        return String::new();
    }
    let names: Vec<String> = spans
        .iter()
        .map(|&(_, to)| format!("to {}", thousands(to)))
        .collect();
    let mut table = String::from("\n");
    table += &head("growth per tenfold", names.iter().map(String::as_str), "");
    let mut known: Vec<&str> = Vec::new();
    for step in steps {
        if known.contains(&step.what.as_str()) {
            continue;
        }
        known.push(&step.what);
        let values = spans.iter().map(|&span| {
            let step = steps
                .iter()
                .find(|one| one.what == step.what && (one.from, one.to) == span);
            step.map_or("-".to_owned(), |step| {
                let mark = if step.more_than_linear { "! " } else { "" };
                format!("{mark}{:.2}x", step.per_tenfold)
            })
        });
        table += &line(&step.what, values, "");
    }
    table += "! more than linear\n";
    table
}

fn head<'a>(what: &str, names: impl Iterator<Item = &'a str>, unit: &str) -> String {
    line(what, names.map(str::to_owned), unit)
}

fn line(what: &str, values: impl Iterator<Item = String>, unit: &str) -> String {
    let mut line = format!("{what:<38}");
    for value in values {
        let _ = write!(line, " {value:>14}");
    }
    let _ = write!(line, " {unit}");
    line.trim_end().to_owned() + "\n"
}

/// Renders a value with a reasonable number of digits.
fn shown(value: f64) -> String {
    let decimals = match value.abs() {
        large if large >= 100.0 => 0,
        medium if medium >= 10.0 => 1,
        small if small >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

/// Renders a number with commas.
pub(crate) fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Prints the progress of the run to standard error.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(thousands(7), "7");
        assert_eq!(thousands(1_000), "1,000");
        assert_eq!(thousands(1_234_567), "1,234,567");
        for (value, expected) in [
            (1234.5, "1234"),
            (12.34, "12.3"),
            (1.234, "1.23"),
            (0.0123, "0.012"),
        ] {
            assert_eq!(shown(value), expected);
        }
    }

    #[test]
    fn rows_stand_in_one_line_with_their_growth_below() {
        let mut findings = Findings::default();
        for (documents, value) in [(10, 1.0), (100, 20.0)] {
            let mut column = Column::new(thousands(documents), documents, true);
            column.add("search", value, "ms", "CPU");
            findings.columns.push(column);
        }
        findings.columns[1].leave_out("sync", "no files");
        let table = findings.table();
        assert!(table.contains("search"), "{table}");
        assert!(table.ends_with("1.00           20.0 ms\n"), "{table}");
        assert!(findings.notes().contains("left out at 100: sync: no files"));
        let growth = growth_table(&growth::steps(&findings.columns));
        assert!(growth.contains("! 20.00x"), "{growth}");
    }
}
