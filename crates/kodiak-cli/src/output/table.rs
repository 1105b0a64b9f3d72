//! Tables that fit the width of the terminal.

use unicode_width::UnicodeWidthStr;

use super::wrap::{Marked, wrap};

/// The space between two columns.
const GAP: usize = 2;

/// Rows with headings, and which columns may be given up where the terminal is narrow.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    headings: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    /// What is given up, the least important first.
    steps: Vec<Step>,
}

/// A way to make a table narrower, with the heading of a column.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// The column is left out.
    Drop(&'static str),
    /// Its cells are cut, to no fewer than so many columns of the terminal.
    Cut(&'static str, usize),
}

impl Table {
    /// Creates a table without rows.
    pub(crate) fn new<const N: usize>(headings: [&'static str; N], steps: &[Step]) -> Self {
        Self {
            headings: headings.to_vec(),
            rows: Vec::new(),
            steps: steps.to_vec(),
        }
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    /// Renders the heading and the rows, in so many columns if there is a limit.
    pub(super) fn render(&self, limit: Option<usize>) -> (String, String) {
        let natural: Vec<usize> = (0..self.headings.len()).map(|at| self.widest(at)).collect();
        let widths = match limit {
            Some(limit) => self.fitted(&natural, limit),
            None => natural.into_iter().map(Some).collect(),
        };
        let headings: Vec<String> = self.headings.iter().map(|&it| it.to_owned()).collect();
        let mut text = String::new();
        for row in &self.rows {
            text.push_str(&line(row, &widths));
        }
        (line(&headings, &widths), text)
    }

    fn widest(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        let widest = cells.map(|cell| cell.width()).max().unwrap_or(0);
        widest.max(self.headings[column].width())
    }

    /// Returns the width of each column that is shown.
    fn fitted(&self, natural: &[usize], limit: usize) -> Vec<Option<usize>> {
        let mut widths: Vec<Option<usize>> = natural.iter().copied().map(Some).collect();
        for step in &self.steps {
            let excess = total(&widths).saturating_sub(limit);
            if excess == 0 {
                break;
            }
            let (Step::Drop(heading) | Step::Cut(heading, _)) = step;
            let Some(column) = self.headings.iter().position(|it| it == heading) else {
                continue;
            };
            widths[column] = match step {
                Step::Drop(_) => None,
                Step::Cut(_, least) => widths[column].map(|width| {
                    let least = width.min(*least);
                    width.saturating_sub(excess).max(least)
                }),
            };
        }
        // What was cut before another column was left out may be wider again.
        for (column, &natural) in natural.iter().enumerate() {
            let spare = limit.saturating_sub(total(&widths));
            if let Some(width) = &mut widths[column] {
                *width = natural.min(*width + spare);
            }
        }
        widths
    }
}

/// Returns the width of a table.
fn total(widths: &[Option<usize>]) -> usize {
    let shown = widths.iter().flatten();
    let columns = shown.clone().count();
    shown.sum::<usize>() + GAP * columns.saturating_sub(1)
}

/// Renders a row. The last column is not padded.
fn line(row: &[String], widths: &[Option<usize>]) -> String {
    let mut text = String::new();
    let mut gap = 0;
    for (cell, width) in row.iter().zip(widths) {
        let Some(width) = width else { continue };
        let cell = cut(cell, *width);
        text.extend(std::iter::repeat_n(' ', gap));
        text.push_str(&cell);
        gap = width.saturating_sub(cell.width()) + GAP;
    }
    let mut line = text.trim_end().to_owned();
    line.push('\n');
    line
}

fn cut(cell: &str, width: usize) -> String {
    if cell.width() <= width {
        return cell.to_owned();
    }
    let characters: Vec<Marked> = cell.chars().map(|character| (character, false)).collect();
    let lines = wrap(&characters, width, 1);
    let first = lines.into_iter().next().unwrap_or_default();
    first.into_iter().map(|(character, _)| character).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn table(rows: &[[&str; 3]]) -> Table {
        let steps = [Step::Drop("tags"), Step::Cut("what", 6)];
        let mut table = Table::new(["id", "what", "tags"], &steps);
        for row in rows {
            table.push(row.map(str::to_owned).to_vec());
        }
        table
    }

    #[test]
    fn the_least_important_goes_first() {
        let table = table(&[["a1", "the kettle boils", "tea"], ["b2", "-", ""]]);
        let shown = |limit| {
            let (heading, rows) = table.render(limit);
            heading + &rows
        };
        let whole = "id  what              tags\na1  the kettle boils  tea\nb2  -\n";
        assert_eq!(shown(None), whole);
        assert_eq!(shown(Some(26)), whole);
        assert_eq!(shown(Some(25)), "id  what\na1  the kettle boils\nb2  -\n");
        assert_eq!(shown(Some(16)), "id  what\na1  the kettle…\nb2  -\n");
        assert_eq!(shown(Some(3)), "id  what\na1  the…\nb2  -\n");
    }

    #[test]
    fn columns_line_up_whatever_the_script() {
        // The last is an a and a combining diaeresis: one column, two characters.
        let rows = [
            ["name", "x", ""],
            ["笔记", "y", ""],
            ["ä", "z", ""],
            ["a\u{308}", "z", ""],
        ];
        let (_, rows) = table(&rows).render(None);
        assert_eq!(rows, "name  x\n笔记  y\nä     z\na\u{308}     z\n");
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_the_terminal(
            rows in prop::collection::vec(("[a-z]{2}", "[a-z 数]{0,30}", "[a-z ]{0,20}"), 0..6),
            limit in 10..80_usize,
        ) {
            let steps = [Step::Drop("tags"), Step::Cut("what", 6)];
            let mut table = Table::new(["id", "what", "tags"], &steps);
            for (id, what, tags) in rows {
                table.push(vec![id, what, tags]);
            }
            let (heading, rows) = table.render(Some(limit));
            for line in heading.lines().chain(rows.lines()) {
                prop_assert!(line.width() <= limit, "{line}");
            }
        }
    }
}
