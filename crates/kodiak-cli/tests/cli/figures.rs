//! The figures of the README are those of the pages that say how they were measured.

use std::fs;
use std::path::Path;

fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(name);
    fs::read_to_string(path).unwrap()
}

/// Returns the cells of the first row of a page whose first cell is this.
fn row<'a>(page: &'a str, first: &str) -> Vec<&'a str> {
    let rows = page.lines().filter_map(|line| line.strip_prefix('|'));
    let mut rows = rows.map(|row| {
        let cells = row.trim_end_matches('|').split('|');
        cells
            .map(|cell| cell.trim().trim_matches('*'))
            .collect::<Vec<_>>()
    });
    let found = rows.find(|cells| cells[0] == first);
    found.unwrap_or_else(|| panic!("no row begins with {first}"))
}

/// Returns the column of 100,000 or another number of notes, as a number.
fn measured(first: &str, notes: &str) -> f64 {
    let page = page("docs/performance.md");
    let table = &page[page.find("## How it grows").unwrap()..];
    let column = row(table, "").iter().position(|it| *it == notes).unwrap();
    row(table, first)[column].parse().unwrap()
}

#[test]
fn quality_is_what_the_page_about_it_says() {
    let (readme, quality) = (page("README.md"), page("docs/quality.md"));
    let readme = &readme[readme.find("## How it compares").unwrap()..];
    let quality_table = &quality[quality.find("## Figures").unwrap()..];
    let column = |name: &str| {
        let heading = row(quality_table, "set");
        heading.iter().position(|it| *it == name).unwrap()
    };
    let columns = [column("plain FTS5"), column("`lexical`"), column("`auto`")];
    let rows = readme.lines().filter(|line| line.starts_with("| "));
    let mut compared = 0;
    for line in rows.skip(1) {
        let first = line.split('|').nth(1).unwrap().trim();
        let name = match first {
            "LoCoMo, turns of conversations" => "LoCoMo turns",
            name => name,
        };
        if name.is_empty() {
            break;
        }
        let stated = &row(readme, first)[1..];
        let measured = columns.map(|column| row(quality_table, name)[column]);
        assert_eq!(stated, measured, "{name}");
        compared += 1;
    }
    assert_eq!(compared, 7);
    // What is said below the table.
    assert!(readme.contains("plain FTS5 reaches .361 and Kodiak .576"));
    assert!(quality.contains("misspelt, `lexical` reaches .512 and plain FTS5 .361."));
    assert!(quality.contains("one word of each: LoCoMo turns .576"));
}

#[test]
fn costs_are_what_the_page_about_them_says() {
    let readme = page("README.md");
    let cold = |kind: &str| measured(&format!("cold search: {kind}, ms"), "100,000");
    let kinds = [
        "rare word",
        "six natural words",
        "phrase",
        "prefix",
        "typo",
        "Chinese",
    ];
    let words = kinds.map(cold);
    let fastest = words.iter().copied().fold(f64::MAX, f64::min).round();
    let slowest = words.iter().copied().fold(0.0, f64::max).round();
    let model = cold("hybrid").round();
    let looking = measured("looking for changes, ms", "100,000").round();
    let first_index = measured("first index, s", "10,000").round();
    let size = measured("index size, MB", "10,000").round();
    let embedded = measured("index size with vectors, MB", "10,000").round();
    for (label, stated) in [
        (
            "a search in a new process, 100,000 notes, with `--no-refresh`",
            format!("{fastest} to {slowest} ms by words, {model} ms with the model"),
        ),
        (
            "looking for changes among these notes, unless `--no-refresh` is given",
            format!("up to {looking} ms more"),
        ),
        (
            "indexing 10,000 notes of 170 words, until words are searchable",
            format!("{first_index} s"),
        ),
        (
            "on disk, 10,000 such notes",
            format!("{size} MB, {embedded} MB with embeddings"),
        ),
    ] {
        assert_eq!(row(&readme, label)[1], stated);
    }
}
