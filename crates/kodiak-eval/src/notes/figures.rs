//! Holds what was found for each query, and the figures of a file's queries.

use std::time::Duration;

use kodiak::search::Answer;
use serde::Serialize;

use super::folder::NotesFolder;
use super::{JudgedFile, JudgedQuery};
use crate::figures::Way;
use crate::metrics::{percentile, round};
use crate::runner::Setting;

/// An answer is right if a target is among this many first hits.
const RIGHT: usize = 3;

/// The queries of one file, searched in one way in collections of one size.
#[derive(Debug, Serialize)]
pub(crate) struct NotesRow {
    /// The name of the file.
    pub(super) name: String,
    /// The parameters that were tried, absent for the current ones.
    #[serde(rename = "try", skip_serializing_if = "Option::is_none")]
    pub(super) tried: Option<String>,
    /// The number of notes that each query was asked of.
    pub(super) notes: usize,
    /// Whether these are all notes of the folder, and not drawn from them.
    pub(super) whole: bool,
    #[serde(flatten)]
    pub(super) way: Way,
    /// Whether this is the default search.
    pub(super) default: bool,
    /// The model of semantic retrieval.
    pub(super) model: Option<String>,
    #[serde(flatten)]
    pub(super) counts: Counts,
    pub(super) p50_ms: f64,
    pub(super) p95_ms: f64,
    pub(super) per_query: Vec<Asked>,
    /// The shares of denied and refused queries at other lines, if requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) curve: Vec<CurvePoint>,
}

/// The number of queries by what was answered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(super) struct Counts {
    pub(super) queries: usize,
    /// The number of queries that no note answers.
    pub(super) absent: usize,
    /// The number of queries with a target as the first hit.
    #[serde(rename = "hit@1")]
    pub(super) first: usize,
    #[serde(rename = "hit@3")]
    pub(super) among_three: usize,
    #[serde(rename = "hit@10")]
    pub(super) among_ten: usize,
    /// Of the queries with a target among the first three, those whose answer has no
    /// relevant hit. `None` if relevance is not judged.
    pub(super) denied: Option<usize>,
    /// Of the queries that no note answers, those whose answer has no relevant hit.
    /// `None` if relevance is not judged.
    pub(super) refused: Option<usize>,
}

/// What was answered to one query.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Asked {
    pub(super) query: String,
    /// Whether no note answers it.
    pub(super) absent: bool,
    /// The rank of the first target among the hits, from one.
    pub(super) rank: Option<usize>,
    /// The probability that the notes answer it.
    pub(super) answered: Option<f64>,
    /// Whether a hit contains every informative word of it.
    pub(super) contained: Option<bool>,
    /// The number of hits that are probably relevant.
    pub(super) relevant: Option<usize>,
    /// The number of hits.
    pub(super) hits: usize,
    /// The path of the first hit.
    pub(super) top: Option<String>,
    /// The highest similarity of a hit.
    pub(super) similarity: Option<f64>,
    #[serde(skip)]
    pub(super) took: Duration,
}

/// The shares of queries whose answer is less probable than a line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct CurvePoint {
    pub(super) line: f64,
    /// Of the queries with a target among the first three.
    pub(super) denied: Option<f64>,
    /// Of the queries that no note answers.
    pub(super) refused: Option<f64>,
}

impl Asked {
    /// Creates the record of an answer to a query. A target that was collapsed
    /// into a hit with the same text has the rank of that hit, which names it.
    pub(super) fn new(
        query: &JudgedQuery,
        folder: &NotesFolder,
        answer: &Answer,
        took: Duration,
    ) -> Self {
        let is_target = |path: &str| folder.is_target(path, &query.targets);
        let rank = answer.hits.iter().position(|hit| {
            is_target(&hit.path) || hit.also_in.iter().any(|copy| is_target(&copy.path))
        });
        let similarities = answer.hits.iter().filter_map(|hit| hit.similarity);
        Self {
            query: query.text.clone(),
            absent: query.targets.is_empty(),
            rank: rank.map(|place| place + 1),
            answered: answer.answered,
            contained: answer.contained,
            relevant: answer.relevant,
            hits: answer.hits.len(),
            top: answer.hits.first().map(|hit| hit.path.clone()),
            similarity: similarities.reduce(f64::max),
            took,
        }
    }

    /// Reports whether a target is among the first hits.
    fn is_among(&self, first: usize) -> bool {
        self.rank.is_some_and(|rank| rank <= first)
    }

    /// Reports whether the answer says that nothing relevant was found.
    fn is_empty(&self) -> bool {
        self.relevant
            .map_or(self.hits == 0, |relevant| relevant == 0)
    }

    /// Returns the probability that the notes answer the query, zero without a hit.
    fn probability(&self) -> Option<f64> {
        self.answered.or((self.hits == 0).then_some(0.0))
    }
}

impl Counts {
    pub(super) fn of(asked: &[Asked]) -> Self {
        let count = |wanted: &dyn Fn(&Asked) -> bool| asked.iter().filter(|it| wanted(it)).count();
        let judged = asked.iter().any(|it| it.relevant.is_some());
        let denied = count(&|it| it.is_among(RIGHT) && it.is_empty());
        let refused = count(&|it| it.absent && it.is_empty());
        Self {
            queries: asked.len(),
            absent: count(&|it| it.absent),
            first: count(&|it| it.is_among(1)),
            among_three: count(&|it| it.is_among(RIGHT)),
            among_ten: count(&|it| it.is_among(10)),
            denied: judged.then_some(denied),
            refused: judged.then_some(refused),
        }
    }
}

/// Returns the shares of queries below each of the lines .05, .10, … .95.
fn curve(asked: &[Asked]) -> Vec<CurvePoint> {
    let probabilities = |wanted: &dyn Fn(&Asked) -> bool| -> Vec<f64> {
        let wanted = asked.iter().filter(|it| wanted(it));
        wanted.filter_map(Asked::probability).collect()
    };
    let right = probabilities(&|it| it.is_among(RIGHT));
    let absent = probabilities(&|it| it.absent);
    let below = |all: &[f64], line: f64| {
        let below = all.iter().filter(|&&probability| probability < line);
        (!all.is_empty()).then(|| round(below.count() as f64 / all.len() as f64, 4))
    };
    let lines = (1..20).map(|step| f64::from(step) / 20.0);
    lines
        .map(|line| CurvePoint {
            line,
            denied: below(&right, line),
            refused: below(&absent, line),
        })
        .collect()
}

/// How the queries of a row were asked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manner<'a> {
    pub(super) setting: Setting,
    /// The parameters that were tried, empty for the current ones.
    pub(super) tried: &'a str,
    pub(super) model: Option<&'a str>,
    pub(super) reranker: Option<&'a str>,
    /// The number of notes that each query was asked of.
    pub(super) notes: usize,
    pub(super) whole: bool,
    /// Whether the default search gets a curve.
    pub(super) curve: bool,
}

impl NotesRow {
    /// Creates the row of a file's queries.
    pub(super) fn new(file: &JudgedFile, manner: Manner<'_>, asked: Vec<Asked>) -> Self {
        let setting = manner.setting;
        let mut took: Vec<Duration> = asked.iter().map(|it| it.took).collect();
        took.sort_unstable();
        let milliseconds = |percent| round(percentile(&took, percent).as_secs_f64() * 1000.0, 2);
        let draws = manner.curve && setting.is_default();
        Self {
            name: file.label.clone(),
            tried: Some(manner.tried.to_owned()).filter(|text| !text.is_empty()),
            notes: manner.notes,
            whole: manner.whole,
            way: Way {
                mode: setting.name().to_owned(),
                fusion: setting.fusion.map(|fusion| fusion.name().to_owned()),
                rerank: manner.reranker.map(str::to_owned),
                typo: setting.typo,
            },
            default: setting.is_default(),
            model: manner
                .model
                .filter(|_| setting.compares_meanings())
                .map(str::to_owned),
            counts: Counts::of(&asked),
            p50_ms: milliseconds(50),
            p95_ms: milliseconds(95),
            curve: if draws { curve(&asked) } else { Vec::new() },
            per_query: asked,
        }
    }
}
