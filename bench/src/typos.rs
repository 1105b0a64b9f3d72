//! Measures how often the right word is the first suggestion for a misspelt one.

use std::path::Path;

use anyhow::{Context, Result};
use kodiak::Cancel;
use kodiak::access::Guard;
use kodiak::search::Router;
use kodiak::source::MarkdownFolder;
use kodiak::store::{SqliteStore, SqliteWriter};

use crate::clock::cpu_ms;
use crate::report::{Report, median};

/// Corrects the misspellings whose right word occurs in the folder.
pub(crate) fn measure(path: &Path, pairs: &Path, most: usize, report: &mut Report) -> Result<()> {
    let text = std::fs::read_to_string(pairs)
        .with_context(|| format!("could not read {}", pairs.display()))?;
    let folder = tempfile::tempdir()?;
    let index = folder.path().join("index.db");
    let source = MarkdownFolder::new(
        "bench",
        path,
        kodiak::source::markdown::FolderOptions::default(),
    )?;
    let mut writer = SqliteWriter::open(&index, "bench")?;
    kodiak::sync::sync(&mut writer, &source, &Cancel::new(), &mut |_| {})?;
    drop(writer);

    let store = SqliteStore::open(&index)?;
    let router = Router::new(&store, &[], Guard::local());
    let mut usable = Vec::new();
    for (wrong, right) in text.lines().filter_map(|line| line.split_once('\t')) {
        let right = right.to_lowercase();
        if wrong.chars().count() >= 4 && store.word_frequency(&right)? > 0 {
            usable.push((wrong, right));
        }
    }
    anyhow::ensure!(
        !usable.is_empty(),
        "no right word of {} is in the folder",
        pairs.display()
    );
    let step = (usable.len() / most).max(1);
    let (mut first, mut tried, mut times) = (0, 0, Vec::new());
    for (wrong, right) in usable.iter().step_by(step).take(most) {
        let (suggestion, used) = cpu_ms(|| router.spelling(wrong));
        first += usize::from(suggestion?.as_deref() == Some(right.as_str()));
        tried += 1;
        times.push(used);
    }
    report.add(
        "misspelt: right word first",
        100.0 * f64::from(first as u32) / f64::from(tried),
        "%",
        format!(
            "{first} of {tried}, vocabulary of {} words",
            store.vocabulary_size()?
        ),
    );
    report.add(
        "misspelt: one correction",
        median(times),
        "ms",
        "CPU, median",
    );
    Ok(())
}
