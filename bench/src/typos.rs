//! Measures spelling correction: how often the right word is the first suggestion
//! for a misspelt one, and how many right words are changed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use kodiak::Cancel;
use kodiak::access::Guard;
use kodiak::embed::Embedder;
use kodiak::search::{Mode, Request, Router};
use kodiak::store::prelude::*;
use kodiak::store::{SqliteStore, SqliteWriter};
use kodiak_notes::MarkdownFolder;

use crate::clock::cpu_ms;
use crate::embed;
use crate::report::{Report, median};

/// The number of letters of the shortest word that is corrected.
const SHORTEST: usize = 4;
/// The seed of the sample of right words.
const SEED: u64 = 1;

/// The options of the measurement.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The folder whose words are known; it is only read.
    path: PathBuf,
    /// Lines of a misspelling, a tab and the right word.
    #[arg(required_unless_present = "words")]
    pairs: Option<PathBuf>,
    /// The number of pairs to try, evenly spread over those that can be used.
    #[arg(long, default_value_t = 1_000)]
    most: usize,
    /// Lines of right words; counts how many of a sample that the folder lacks are
    /// changed.
    #[arg(long, value_name = "FILE")]
    words: Option<PathBuf>,
    /// The number of right words in the sample.
    #[arg(long, default_value_t = 150)]
    sample: usize,
    /// The folder of a model whose vocabulary tells common words.
    #[arg(long, value_name = "FOLDER")]
    model: Option<PathBuf>,
}

/// Indexes the folder, then corrects misspelt and right words.
pub(crate) fn measure(options: &Options, report: &mut Report) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let index = folder.path().join("index.db");
    let source = MarkdownFolder::new(
        "bench",
        &options.path,
        kodiak_notes::markdown::FolderOptions::default(),
    )?;
    let mut writer = SqliteWriter::open(&index, "bench")?;
    kodiak::sync::sync(&mut writer, &source, &Cancel::new(), &mut |_| {})?;
    drop(writer);

    let store = SqliteStore::open(&index)?;
    let embedder = match &options.model {
        Some(model) => Some(Arc::new(embed::open(model)?) as Arc<dyn Embedder>),
        None => None,
    };
    let router = Router::new(&store, &[], Guard::local()).with_embedder(embedder);
    if let Some(pairs) = &options.pairs {
        correct_misspelt(&store, &router, pairs, options.most, report)?;
    }
    if let Some(words) = &options.words {
        correct_right(&store, &router, words, options.sample, report)?;
    }
    Ok(())
}

/// Corrects the misspellings whose right word occurs in the folder.
fn correct_misspelt(
    store: &SqliteStore,
    router: &Router<'_>,
    pairs: &Path,
    most: usize,
    report: &mut Report,
) -> Result<()> {
    let text = read(pairs)?;
    let mut usable = Vec::new();
    for (wrong, right) in text.lines().filter_map(|line| line.split_once('\t')) {
        let right = right.to_lowercase();
        if wrong.chars().count() >= SHORTEST && store.word_frequency(&right)? > 0 {
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

/// Searches for a sample of right words that the folder lacks, and counts those
/// that another word replaces.
fn correct_right(
    store: &SqliteStore,
    router: &Router<'_>,
    words: &Path,
    sample: usize,
    report: &mut Report,
) -> Result<()> {
    let mut lacking = Vec::new();
    let text = read(words)?;
    // Sorted, so that the sample does not depend on the order of the file.
    let plain: BTreeSet<&str> = text
        .lines()
        .map(str::trim)
        .filter(|word| word.len() >= SHORTEST)
        .filter(|word| word.bytes().all(|byte| byte.is_ascii_lowercase()))
        .collect();
    for word in plain {
        if store.word_frequency(word)? == 0 {
            lacking.push(word);
        }
    }
    anyhow::ensure!(
        !lacking.is_empty(),
        "the folder has every word of {}",
        words.display()
    );
    let count = lacking.len();
    fastrand::Rng::with_seed(SEED).shuffle(&mut lacking);
    lacking.truncate(sample);
    let (mut changed, mut times) = (Vec::new(), Vec::new());
    for word in &lacking {
        let request = Request {
            mode: Mode::Lexical,
            ..Request::new(*word)
        };
        let (answer, used) = cpu_ms(|| router.search(&request));
        if let Some(corrected) = answer?.corrected {
            changed.push(format!("{word} → {corrected}"));
        }
        times.push(used);
    }
    report.add(
        "right words: changed",
        changed.len() as f64,
        "",
        format!(
            "of {}, drawn from {count} that the folder lacks: {}",
            lacking.len(),
            changed.join(", ")
        ),
    );
    report.add(
        "right words: one search",
        median(times),
        "ms",
        "CPU, median",
    );
    Ok(())
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("could not read {}", path.display()))
}
