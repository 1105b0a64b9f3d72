//! Clients that search at once: each asks as soon as it has its answer.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use kodiak::Guard;
use kodiak::search::{Mode, Request};

use super::indexes::{Index, used};
use crate::all::{Kind, Texts};
use crate::clock::process_cpu_ms;
use crate::report::Report;
use crate::server::percentile;

/// The number of different queries, so that few are asked twice.
const QUERIES: usize = 4_000;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// Six words, as they follow each other in a document.
    Lexical,
    /// The same by words and meaning.
    Hybrid,
}

impl Question {
    fn name(self) -> &'static str {
        match self {
            Self::Lexical => "words",
            Self::Hybrid => "hybrid",
        }
    }

    fn request(self, query: &str) -> Request {
        let mode = match self {
            Self::Lexical => Mode::Lexical,
            Self::Hybrid => Mode::Hybrid,
        };
        Request {
            mode,
            limit: 10,
            ..Request::new(query)
        }
    }
}

/// Clients that search.
pub(super) struct Load {
    pub(super) clients: usize,
    pub(super) question: Question,
    /// How long they go on.
    pub(super) stage: Duration,
}

/// Returns the queries, other ones for every number of documents.
fn queries(index: &Index<'_>) -> Result<Vec<String>> {
    let texts = Texts::Generated(index.documents).sample()?;
    Ok(Kind::SixWords.queries(&texts, QUERIES))
}

fn search(index: &Index<'_>, request: &Request) -> Result<()> {
    let answer = index.engine.search(&Guard::local(), request)?;
    ensure!(
        !answer.hits.is_empty(),
        "nothing is found for {}",
        request.query
    );
    ensure!(
        (request.mode == Mode::Hybrid) == answer.retrievers.semantic.is_some(),
        "it was not searched as asked: {:?}",
        answer.notices
    );
    Ok(())
}

/// Measures the first searches of a process, which keeps nothing of the index yet, and the
/// round trips of one.
pub(super) fn first(
    index: &Index<'_>,
    name: &dyn Fn(&str) -> String,
    report: &mut Report,
) -> Result<()> {
    let queries = queries(index)?;
    for (question, query) in [Question::Lexical, Question::Hybrid]
        .into_iter()
        .zip(&queries)
    {
        let (request, begun) = (question.request(query), Instant::now());
        search(index, &request)?;
        let wall = begun.elapsed().as_secs_f64() * 1e3;
        let what = format!("first search, {}", question.name());
        report.add(name(&what), wall, "ms", "wall, of a new process");
    }
    for question in [Question::Lexical, Question::Hybrid] {
        let mut trips = Vec::new();
        for query in queries.iter().rev().take(50) {
            trips.extend(index.round_trips(&question.request(query))?);
        }
        if let Some(most) = trips.iter().max() {
            let mean = trips.iter().sum::<usize>() as f64 / trips.len() as f64;
            let what = format!("round trips, {}", question.name());
            report.add(name(&what), mean, "", format!("mean of 50, at most {most}"));
        }
    }
    Ok(())
}

impl Load {
    /// Has the clients search, and reports how long they waited.
    pub(super) fn run(
        &self,
        index: &Index<'_>,
        name: &dyn Fn(&str) -> String,
        report: &mut Report,
    ) -> Result<()> {
        let queries = queries(index)?;
        let next = AtomicUsize::new(0);
        let before = index.server_ms();
        let (begun, client) = (Instant::now(), || -> Result<Vec<f64>> {
            let mut times = Vec::new();
            let begun = Instant::now();
            while begun.elapsed() < self.stage {
                let query = &queries[next.fetch_add(1, Ordering::Relaxed) % queries.len()];
                let asked = Instant::now();
                search(index, &self.question.request(query))?;
                times.push(asked.elapsed().as_secs_f64() * 1e3);
            }
            Ok(times)
        });
        let (times, ours) = process_cpu_ms(|| {
            std::thread::scope(|scope| {
                let clients = (0..self.clients).map(|_| scope.spawn(client));
                let clients: Vec<_> = clients.collect();
                let ended = clients.into_iter().map(|client| {
                    let times = client.join();
                    times.unwrap_or_else(|_| Err(anyhow::anyhow!("a client has panicked")))
                });
                ended.collect::<Result<Vec<_>>>()
            })
        });
        let (mut times, wall) = (times?.concat(), begun.elapsed().as_secs_f64());
        let theirs = index.server_ms().zip(before).map(|(now, then)| now - then);
        let count = times.len() as f64;
        let clients = self.clients;
        let what = format!("{clients} at once, {}", self.question.name());
        let detail = format!(
            "{:.0} a second, each {}",
            count / wall,
            used(ours, theirs, count)
        );
        let (p50, p95) = (percentile(&mut times, 50), percentile(&mut times, 95));
        report.add(name(&format!("{what}, p50")), p50, "ms", detail);
        report.add(name(&format!("{what}, p95")), p95, "ms", "");
        Ok(())
    }
}
