//! Checks the relevance of hits: every set is asked its own questions, and questions
//! of other sets, which it cannot answer.

mod collect;
mod report;

use std::sync::Arc;

use anyhow::Result;
use kodiak::engine;
use kodiak::search::Mode;

use crate::beir::TestSet;
use crate::cached_embedder::CachedEmbedder;
use crate::evaluation::Options;
use crate::event::{Event, Listener};
use crate::metrics::Judgements;
use crate::query::JudgedQuery;
use crate::runner::Collection;
use crate::variant::Variant;
use collect::{SetAnswers, ask, family};
pub(crate) use report::auc;
pub use report::{RelevanceFigures, RelevanceRow};

/// The most questions of one set, and of other sets asked of it.
const OWN: usize = 300;
const FOREIGN: usize = 200;

/// Checks relevance on these sets, with a model or by words alone.
pub(crate) fn measure(
    sets: &[TestSet],
    embedder: Option<&Arc<CachedEmbedder>>,
    options: &Options,
    listener: &Listener<'_>,
) -> Result<RelevanceFigures> {
    let most = options.limit_queries.unwrap_or(OWN);
    let questions: Vec<Vec<JudgedQuery>> = sets
        .iter()
        .map(|set| {
            let first = set.splits.first().map_or("", String::as_str);
            Ok(spread(set.queries(first)?, most))
        })
        .collect::<Result<_>>()?;
    let mode = if embedder.is_some() {
        Mode::Hybrid
    } else {
        Mode::Lexical
    };
    let mut answers = Vec::new();
    for (at, set) in sets.iter().enumerate() {
        let title = format!("indexing {}", set.name);
        (listener)(Event::Indexing { title: &title });
        let variant = Variant::default();
        let collection = Collection::build(
            set,
            &options.scratch,
            variant.chunking,
            variant.stemming,
            embedder,
            &|event: engine::Event<'_>| (listener)(Event::Engine(event)),
        );
        (listener)(Event::Ended);
        let collection = collection?;
        let foreign = foreign(sets, &questions, at);
        let title = format!("asking {}", set.name);
        let all = questions[at].len() + foreign.len();
        (listener)(Event::Asking {
            title: &title,
            queries: all,
        });
        let mut answered = SetAnswers {
            name: set.name.clone(),
            own: Vec::new(),
            foreign: Vec::new(),
        };
        for query in &questions[at] {
            let asked = ask(collection.engine(), mode, query, &query.judged)?;
            answered.own.push(asked);
            (listener)(Event::Asked(answered.own.len()));
        }
        let nothing = Judgements::new();
        for query in &foreign {
            let asked = ask(collection.engine(), mode, query, &nothing)?;
            answered.foreign.push(asked);
            (listener)(Event::Asked(answered.own.len() + answered.foreign.len()));
        }
        (listener)(Event::Ended);
        answers.push(answered);
    }
    Ok(report::figures(&answers))
}

/// Returns questions of sets of another family, spread evenly. A question is asked
/// where a question of the set itself is.
fn foreign(sets: &[TestSet], questions: &[Vec<JudgedQuery>], at: usize) -> Vec<JudgedQuery> {
    let own = &questions[at];
    let others: Vec<usize> = (0..sets.len())
        .filter(|&other| family(&sets[other].name) != family(&sets[at].name))
        .collect();
    let share = FOREIGN.div_ceil(others.len().max(1));
    let asked = others
        .iter()
        .flat_map(|&other| spread(questions[other].clone(), share));
    let placed = asked.enumerate().filter_map(|(number, query)| {
        let beside = own.get(number % own.len().max(1))?;
        Some(JudgedQuery {
            filter: beside.filter.clone(),
            ..query
        })
    });
    placed.collect()
}

/// Returns at most `most` of the questions, evenly spread.
fn spread(questions: Vec<JudgedQuery>, most: usize) -> Vec<JudgedQuery> {
    let step = questions.len().div_ceil(most.max(1)).max(1);
    questions.into_iter().step_by(step).collect()
}
