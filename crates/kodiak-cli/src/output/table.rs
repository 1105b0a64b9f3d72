//! Tables that fit the width of the terminal.

use unicode_width::UnicodeWidthStr;

use super::cut;
use super::link::{Linked, linked};

/// The space between two columns.
const GAP: usize = 2;

/// Rows with headings, and which columns may be given up where the terminal is narrow.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    headings: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    /// The links of cells: the row, the column and the address.
    links: Vec<(usize, usize, String)>,
    /// The steps to make it narrower, the least important part first.
    steps: Vec<Step>,
}

/// A way to make a table narrower, with the heading of a column.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// The column is left out.
    Drop(&'static str),
    /// Its cells are cut, to no fewer than so many columns of the terminal.
    Cut(&'static str, usize),
    /// Its cells are paths, which are cut in the middle, to no fewer than so many columns.
    CutPath(&'static str, usize),
}

impl Table {
    /// Creates a table without rows.
    pub(crate) fn new<const N: usize>(headings: [&'static str; N], steps: &[Step]) -> Self {
        Self {
            headings: headings.to_vec(),
            rows: Vec::new(),
            links: Vec::new(),
            steps: steps.to_vec(),
        }
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    /// Adds a row with a link in the cell below a heading.
    pub(crate) fn push_linked(&mut self, mut row: Vec<String>, heading: &str, name: Linked) {
        if let Some(column) = self.headings.iter().position(|it| *it == heading) {
            row[column] = name.text;
            let address = name.address.map(|it| (self.rows.len(), column, it));
            self.links.extend(address);
        }
        self.push(row);
    }

    /// Renders the heading and the rows, in so many columns if there is a limit. `links`
    /// says whether cells are links.
    pub(super) fn render(&self, limit: Option<usize>, links: bool) -> (String, String) {
        let natural: Vec<usize> = (0..self.headings.len()).map(|at| self.widest(at)).collect();
        let widths = match limit {
            Some(limit) => self.fitted(&natural, limit),
            None => natural.into_iter().map(Some).collect(),
        };
        let headings: Vec<String> = self.headings.iter().map(|&it| it.to_owned()).collect();
        let cut = |column: usize, cell: &str, width: usize| {
            let is_path =
                |step: &Step| matches!(step, Step::CutPath(it, _) if *it == self.headings[column]);
            if self.steps.iter().any(is_path) {
                cut::in_the_middle(cell, width)
            } else {
                cut::at_the_end(cell, width)
            }
        };
        let plain = |_: usize, text: String| text;
        let mut text = String::new();
        for (number, row) in self.rows.iter().enumerate() {
            let painted = |column: usize, text: String| {
                let mut all = self.links.iter();
                let link = all.find(|(row, cell, _)| (*row, *cell) == (number, column));
                linked(&text, link.map(|(_, _, address)| address.as_str()), links)
            };
            text.push_str(&line(row, &widths, cut, painted));
        }
        (line(&headings, &widths, cut, plain), text)
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
            let (Step::Drop(heading) | Step::Cut(heading, _) | Step::CutPath(heading, _)) = step;
            let Some(column) = self.headings.iter().position(|it| it == heading) else {
                continue;
            };
            widths[column] = match step {
                Step::Drop(_) => None,
                Step::Cut(_, least) | Step::CutPath(_, least) => widths[column].map(|width| {
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

/// Renders a row: each cell cut to its column, then painted. The last column is not padded.
fn line(
    row: &[String],
    widths: &[Option<usize>],
    cut: impl Fn(usize, &str, usize) -> String,
    painted: impl Fn(usize, String) -> String,
) -> String {
    let mut text = String::new();
    let mut gap = 0;
    for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
        let Some(width) = width else { continue };
        let cell = cut(column, cell, *width);
        if !cell.is_empty() {
            text.extend(std::iter::repeat_n(' ', gap));
            gap = 0;
        }
        gap += width.saturating_sub(cell.width()) + GAP;
        text.push_str(&painted(column, cell));
    }
    let mut line = text.trim_end().to_owned();
    line.push('\n');
    line
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
            let (heading, rows) = table.render(limit, false);
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
    fn a_path_is_cut_in_the_middle_and_opens_its_file() {
        let steps = [Step::CutPath("path", 6)];
        let mut table = Table::new(["id", "path", "tags"], &steps);
        let name = Linked {
            text: "notes/a/b/c.md".to_owned(),
            address: Some("file:///c.md".to_owned()),
        };
        let row = vec!["a1".to_owned(), String::new(), "tea".to_owned()];
        table.push_linked(row, "path", name);
        table.push(vec!["b2".to_owned(), "d.md".to_owned(), String::new()]);
        let link = "\u{1b}]8;;file:///c.md\u{1b}\\not…b/c.md\u{1b}]8;;\u{1b}\\";
        let (heading, rows) = table.render(Some(20), true);
        assert_eq!(heading, "id  path        tags\n");
        assert_eq!(rows, format!("a1  {link}  tea\nb2  d.md\n"));
        let (_, rows) = table.render(Some(20), false);
        assert_eq!(rows, "a1  not…b/c.md  tea\nb2  d.md\n");
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
        let (_, rows) = table(&rows).render(None, false);
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
            let (heading, rows) = table.render(Some(limit), false);
            for line in heading.lines().chain(rows.lines()) {
                prop_assert!(line.width() <= limit, "{line}");
            }
        }
    }
}
