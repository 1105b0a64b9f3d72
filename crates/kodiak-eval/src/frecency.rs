//! Measures what opened documents do to rankings on a terminal, with simulated histories.
//!
//! Each query is asked as a user asks it. The answer is then reordered by histories of
//! openings, as the program reorders it, and compared with the order before. Which
//! documents were opened is random, drawn from a seed: those that some queries find, or
//! those that some queries want. The rule itself is in `kodiak-rank`.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use fastrand::Rng;
use kodiak::access::Guard;
use kodiak::history::{History, Opened};
use kodiak::rank::rules::FRECENCY_MARGIN;
use kodiak::search::{DEFAULT_LIMIT, Hit, Request};
use serde::Serialize;

use super::beir::{TestSet, find, split_label};
use super::cached_embedder::CachedEmbedder;
use super::corpus::SOURCE;
use super::metrics::ndcg;
use super::query::JudgedQuery;
use super::runner::{Collection, Setting, request};
use super::variant::Variant;

/// The number of openings in a history.
const OPENINGS: usize = 25;
/// How long ago the first opening may be, in seconds: 90 days.
const LONGEST: i64 = 90 * 24 * 60 * 60;
/// When the queries are asked. Only the time since each opening counts.
const NOW: i64 = 1_800_000_000;

/// Which documents a simulated user opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Habit {
    /// Any of the hits of a query, whether it is right or not.
    Found,
    /// A document that a query wants.
    Wanted,
}

/// What histories of one habit do to the answers to a split.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FrecencyRow {
    /// The set.
    pub set: String,
    /// The split.
    pub split: String,
    /// Which documents were opened.
    pub habit: Habit,
    /// The number of answers: each query with each history.
    pub answers: usize,
    /// The number of answers whose order changes.
    pub changed: usize,
    /// The number of pairs of hits that change places.
    pub pairs: usize,
    /// The number of these whose first hit was ahead by the margin or more. It has to be 0.
    pub ahead: usize,
    /// The largest lead in relevance that a passed hit had.
    pub largest_lead: f64,
    /// The normalised discounted cumulative gain of the first ten hits before.
    pub ndcg_before: f64,
    /// The same afterwards.
    pub ndcg_after: f64,
}

/// The simulated histories.
#[derive(Clone, Copy, Debug)]
pub struct Histories {
    /// What they are drawn from.
    pub seed: u64,
    /// The number of histories of each habit.
    pub count: usize,
}

/// Asks the queries of every set in a folder, and reorders the answers by histories.
/// Temporary files are in `scratch`.
pub fn measure_frecency(
    folder: &Path,
    histories: Histories,
    scratch: &Path,
    embedder: Option<&Arc<CachedEmbedder>>,
) -> Result<Vec<FrecencyRow>> {
    let mut rows = Vec::new();
    for set in find(folder)?.sets {
        measure_set(&set, histories, scratch, embedder, &mut rows)
            .with_context(|| format!("could not measure {}", set.name))?;
    }
    Ok(rows)
}

fn measure_set(
    set: &TestSet,
    histories: Histories,
    scratch: &Path,
    embedder: Option<&Arc<CachedEmbedder>>,
    rows: &mut Vec<FrecencyRow>,
) -> Result<()> {
    let variant = Variant {
        collapse_copies: true,
        ..Variant::default()
    };
    let collection = Collection::build(
        set,
        scratch,
        variant.chunking,
        variant.stemming,
        embedder,
        &|_| {},
    )?;
    for split in &set.splits {
        let queries = set.queries(split)?;
        let answers = answers(&collection, &queries, &variant, embedder.is_some())?;
        for habit in [Habit::Found, Habit::Wanted] {
            let mut rng = Rng::with_seed(histories.seed);
            let mut row = FrecencyRow::new(&set.name, split_label(split), habit);
            for _ in 0..histories.count {
                let opened = simulated(habit, &queries, &answers, scratch, &mut rng)?;
                for (query, hits) in queries.iter().zip(&answers) {
                    let mut reordered = hits.clone();
                    opened.reorder(&mut reordered, NOW);
                    row.add(query, hits, &reordered);
                }
            }
            let answers = row.answers.max(1) as f64;
            row.ndcg_before /= answers;
            row.ndcg_after /= answers;
            rows.push(row);
        }
    }
    Ok(())
}

/// Asks the queries as a user does.
fn answers(
    collection: &Collection,
    queries: &[JudgedQuery],
    variant: &Variant,
    with_model: bool,
) -> Result<Vec<Vec<Hit>>> {
    let [usual, ..] = Setting::ALL;
    let setting = if with_model {
        Some(usual)
    } else {
        usual.without_model()
    };
    let setting = setting.context("there is no default way of searching")?;
    let ask = |query: &JudgedQuery| {
        let request = Request {
            limit: DEFAULT_LIMIT,
            ..request(query, setting, variant)
        };
        let answer = collection.engine().search(&Guard::local(), &request)?;
        Ok(answer.hits)
    };
    queries.iter().map(ask).collect()
}

/// Makes a history of openings, through the file that the program keeps.
fn simulated(
    habit: Habit,
    queries: &[JudgedQuery],
    answers: &[Vec<Hit>],
    scratch: &Path,
    rng: &mut Rng,
) -> Result<Opened> {
    let folder = tempfile::tempdir_in(scratch)?;
    let history = History::beside(&folder.path().join("index.db"));
    let mut ages: Vec<i64> = (0..OPENINGS).map(|_| rng.i64(0..LONGEST)).collect();
    ages.sort_unstable_by(|one, other| other.cmp(one));
    for age in ages {
        let Some(at) = rng.choice(0..queries.len()) else {
            break;
        };
        let mut keys: Vec<&str> = match habit {
            Habit::Found => answers[at].iter().map(|hit| hit.path.as_str()).collect(),
            Habit::Wanted => {
                let judged = queries[at].judged.iter();
                let wanted = judged.filter(|(_, grade)| **grade > 0);
                wanted.map(|(key, _)| key.as_str()).collect()
            }
        };
        // The order of judgements differs from run to run.
        keys.sort_unstable();
        if let Some(key) = rng.choice(keys) {
            history.record(SOURCE, key, NOW - age)?;
        }
    }
    Ok(history.read())
}

impl FrecencyRow {
    fn new(set: &str, split: &str, habit: Habit) -> Self {
        Self {
            set: set.to_owned(),
            split: split.to_owned(),
            habit,
            answers: 0,
            changed: 0,
            pairs: 0,
            ahead: 0,
            largest_lead: 0.0,
            ndcg_before: 0.0,
            ndcg_after: 0.0,
        }
    }

    /// Adds an answer, before and after it was reordered.
    fn add(&mut self, query: &JudgedQuery, hits: &[Hit], reordered: &[Hit]) {
        let before: Vec<&str> = hits.iter().map(|hit| hit.path.as_str()).collect();
        let after: Vec<&str> = reordered.iter().map(|hit| hit.path.as_str()).collect();
        self.answers += 1;
        self.changed += usize::from(before != after);
        self.ndcg_before += ndcg(&before, &query.judged, DEFAULT_LIMIT);
        self.ndcg_after += ndcg(&after, &query.judged, DEFAULT_LIMIT);
        let place = |hit: &Hit| reordered.iter().position(|other| other.row == hit.row);
        let places: Vec<Option<usize>> = hits.iter().map(place).collect();
        for (first, hit) in hits.iter().enumerate() {
            for second in first + 1..hits.len() {
                if places[first] < places[second] {
                    continue;
                }
                self.pairs += 1;
                // A hit whose relevance is not judged has to stay where it is.
                let lead = match (hit.relevance, hits[second].relevance) {
                    (Some(ahead), Some(behind)) => ahead - behind,
                    _ => f64::INFINITY,
                };
                self.ahead += usize::from(lead >= FRECENCY_MARGIN);
                self.largest_lead = self.largest_lead.max(lead);
            }
        }
    }
}

#[cfg(test)]
#[path = "frecency_tests.rs"]
mod tests;
