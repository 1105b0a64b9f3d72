//! Asks the questions of a benchmark, haystack by haystack.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Result;
use kodiak::access::Guard;
use kodiak::chunk::ChunkOptions;
use kodiak::embed::Embedder;
use kodiak::search::{Mode, Request};
use kodiak::text::Stemming;
use kodiak::{Document, Thread};

use super::figures::{MemoryRow, TypeRow};
use super::measures::{Means, Scores};
use super::{Benchmark, BenchmarkFile, Haystack, Question, Session};
use crate::cached_embedder::CachedEmbedder;
use crate::corpus::SOURCE;
use crate::evaluation::Options;
use crate::event::{Event, Listener};
use crate::metrics::round;
use crate::relevance::auc;
use crate::runner::Collection;

/// The number of hits that are judged.
const DEPTH: usize = 50;

/// What is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Turn,
    Session,
}

impl Unit {
    const ALL: [Self; 2] = [Self::Turn, Self::Session];

    fn name(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Session => "session",
        }
    }

    fn evidence(self, question: &Question) -> Vec<&str> {
        let ids = match self {
            Self::Turn => &question.turns,
            Self::Session => &question.sessions,
        };
        ids.iter().map(String::as_str).collect()
    }
}

/// A way of asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Way {
    mode: Mode,
    /// Whether a model compares meanings.
    compares: bool,
}

/// What the questions of a benchmark gave so far, in one way.
struct Results {
    unit: Unit,
    way: Way,
    /// The id and the type of each question, with its scores.
    scores: Vec<(String, String, Scores)>,
    without_evidence: usize,
    /// The probability that there is an answer: for questions that have one, and for
    /// those that have none.
    answered: (Vec<f64>, Vec<f64>),
}

/// A run over benchmarks.
pub(crate) struct MemoryRun<'a> {
    pub(crate) options: &'a Options,
    pub(crate) embedder: Option<&'a Arc<CachedEmbedder>>,
    pub(crate) listener: &'a Listener<'a>,
}

impl MemoryRun<'_> {
    /// Measures the benchmark in a file.
    pub(crate) fn measure(&self, file: &BenchmarkFile) -> Result<Vec<MemoryRow>> {
        let benchmark = file.read()?;
        let mut results: Vec<Results> = Vec::new();
        for unit in Unit::ALL {
            results.extend(self.ways().into_iter().map(|way| Results {
                unit,
                way,
                scores: Vec::new(),
                without_evidence: 0,
                answered: (Vec::new(), Vec::new()),
            }));
        }
        let wanted = self.options.limit_queries.unwrap_or(usize::MAX);
        let all: usize = benchmark
            .haystacks
            .iter()
            .map(|it| it.questions.len())
            .sum();
        let title = format!("asking {}", benchmark.name);
        (self.listener)(Event::Asking {
            title: &title,
            queries: all.min(wanted),
        });
        let asked = self.ask_all(&benchmark, wanted, &mut results);
        (self.listener)(Event::Ended);
        asked?;
        let rows = results.into_iter();
        Ok(rows
            .map(|result| self.row(&benchmark.name, &result))
            .collect())
    }

    /// Returns the ways to ask.
    fn ways(&self) -> Vec<Way> {
        let wanted = |mode: &Mode| match self.options.modes.as_slice() {
            [] => matches!(mode, Mode::Auto | Mode::Lexical),
            modes => modes.contains(mode),
        };
        let mut ways = Vec::new();
        for mode in [Mode::Auto, Mode::Hybrid, Mode::Semantic, Mode::Lexical] {
            if !wanted(&mode) {
                continue;
            }
            let compares = mode != Mode::Lexical && self.embedder.is_some();
            if compares || matches!(mode, Mode::Auto | Mode::Lexical) {
                ways.push(Way { mode, compares });
            }
        }
        ways
    }

    fn ask_all(&self, benchmark: &Benchmark, wanted: usize, results: &mut [Results]) -> Result<()> {
        let mut done = 0;
        for haystack in &benchmark.haystacks {
            let questions = haystack.questions.len().min(wanted - done);
            let questions = &haystack.questions[..questions];
            if questions.is_empty() {
                continue;
            }
            for unit in Unit::ALL {
                let collection = Collection::of(
                    documents(haystack, unit),
                    &self.options.scratch,
                    ChunkOptions::default(),
                    Stemming::default(),
                    self.embedder,
                    &|_| {},
                )?;
                for result in results.iter_mut().filter(|result| result.unit == unit) {
                    for question in questions {
                        result.ask(&collection, question)?;
                    }
                }
            }
            done += questions.len();
            (self.listener)(Event::Asked(done));
        }
        Ok(())
    }

    fn row(&self, name: &str, result: &Results) -> MemoryRow {
        let mut by_type: BTreeMap<&str, Vec<&Scores>> = BTreeMap::new();
        for (_, kind, scores) in &result.scores {
            by_type.entry(kind).or_default().push(scores);
        }
        let (answerable, unanswerable) = &result.answered;
        let both = !answerable.is_empty() && !unanswerable.is_empty();
        let model = self.embedder.filter(|_| result.way.compares);
        MemoryRow {
            name: name.to_owned(),
            unit: result.unit.name(),
            mode: result.way.mode.name(),
            model: model.map(|model| model.identity().name.clone()),
            all: Means::of(&result.scores.iter().map(|(.., scores)| scores)),
            by_type: by_type
                .into_iter()
                .map(|(kind, scores)| TypeRow {
                    kind: kind.to_owned(),
                    means: Means::of(&scores.into_iter()),
                })
                .collect(),
            per_question: result
                .scores
                .iter()
                .map(|(id, _, scores)| (id.clone(), round(scores.reciprocal_rank, 4)))
                .collect(),
            without_evidence: result.without_evidence,
            unanswerable: unanswerable.len(),
            nothing_there_auc: both.then(|| round(auc(answerable, unanswerable), 4)),
        }
    }
}

impl Results {
    fn ask(&mut self, collection: &Collection, question: &Question) -> Result<()> {
        let evidence = self.unit.evidence(question);
        if evidence.is_empty() && !question.unanswerable {
            self.without_evidence += 1;
            return Ok(());
        }
        let engine = collection.engine();
        let request = Request {
            limit: DEPTH,
            mode: self.way.mode,
            all_copies: true,
            ..Request::new(&question.text)
        };
        let answer = engine.search(&Guard::local(), &request)?;
        if let Some(answered) = answer.answered {
            let (answerable, unanswerable) = &mut self.answered;
            if question.unanswerable {
                unanswerable.push(answered);
            } else {
                answerable.push(answered);
            }
        }
        if !question.unanswerable {
            let ranked: Vec<&str> = answer.hits.iter().map(|hit| hit.path.as_str()).collect();
            let scores = Scores::of(&ranked, &evidence);
            let asked = (question.id.clone(), question.kind.clone(), scores);
            self.scores.push(asked);
        }
        Ok(())
    }
}

/// Makes documents of a haystack: one for each turn, or one for each session.
fn documents(haystack: &Haystack, unit: Unit) -> Vec<Document> {
    let mut documents = Vec::new();
    for session in &haystack.sessions {
        match unit {
            Unit::Session => {
                let said = session.turns.iter();
                let said: Vec<String> = said
                    .map(|it| format!("{}: {}", it.speaker, it.text))
                    .collect();
                documents.push(Document {
                    key: session.id.clone(),
                    title: session.title.clone(),
                    body: said.join("\n"),
                    ..of(haystack, session, documents.len())
                });
            }
            Unit::Turn => {
                for turn in &session.turns {
                    documents.push(Document {
                        key: turn.id.clone(),
                        body: format!("{}: {}", turn.speaker, turn.text),
                        author: Some(turn.speaker.clone()),
                        ..of(haystack, session, documents.len())
                    });
                }
            }
        }
    }
    documents
}

/// Returns what all documents of a session have in common.
fn of(haystack: &Haystack, session: &Session, position: usize) -> Document {
    Document {
        source: SOURCE.to_owned(),
        kind: "note".to_owned(),
        created_at: session.at,
        thread: Some(Thread {
            name: haystack.name.clone(),
            position: Some(position as i64),
        }),
        ..Document::default()
    }
}
