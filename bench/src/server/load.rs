//! Many clients over HTTP: one request a second each, then ten times as many.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::http::{Client, Served};
use super::{Broken, Options, Place, percentile};
use crate::report::Report;
use crate::zipf::Generator;

/// The mode of the searches that need no model.
const LEXICAL: &str = "lexical";
/// The number of searches of the client that is alone.
const ALONE: usize = 300;
/// The connections of an overload: more than can work and wait, and fewer than a
/// server takes.
const CONNECTIONS: usize = 500;
/// How often memory is looked at.
const GLANCE: Duration = Duration::from_millis(500);

/// What came of the requests of many clients.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// The times of the answers in milliseconds.
    pub(super) times: Vec<f64>,
    /// How many responses had each status other than 200.
    pub(super) refused: BTreeMap<u16, usize>,
    /// What went wrong otherwise.
    pub(super) failures: Vec<String>,
}

/// Many clients that search.
pub(super) struct Load<'a> {
    pub(super) address: &'a str,
    pub(super) queries: &'a [String],
    /// How they search.
    pub(super) mode: &'a str,
    /// How many there are.
    pub(super) clients: usize,
    /// The time between two requests of each.
    pub(super) interval: Duration,
    /// How long they go on.
    pub(super) stage: Duration,
}

pub(super) fn measure(
    place: &Place,
    options: &Options,
    report: &mut Report,
    broken: &mut Broken,
) -> Result<()> {
    let line = [
        "mcp",
        "--http",
        "127.0.0.1:0",
        "--no-token",
        "--no-semantic",
    ];
    let served = Served::start(&mut place.command(&line))?;
    let mut generator = Generator::new(11);
    let queries: Vec<String> = (0..200)
        .map(|number| generator.words(1 + number % 3))
        .collect();

    let mut client = Client::connect(&served.address)?;
    let mut times = Vec::new();
    for number in 0..ALONE {
        let started = Instant::now();
        client.search(&queries[number % queries.len()], LEXICAL)?;
        times.push(started.elapsed().as_secs_f64() * 1e3);
    }
    let alone = percentile(&mut times, 95);
    report.add("one client: p95", alone, "ms", "lexical searches over HTTP");

    let before = served.megabytes()?;
    let clients = options.clients;
    let stage = Duration::from_secs(options.seconds);
    let (outcome, memory) = std::thread::scope(|scope| {
        let served = &served;
        // The index is rebuilt at the same time.
        let rebuilding = scope.spawn(|| {
            std::thread::sleep(stage / 3);
            place.run(&["index", "--rebuild", "--no-semantic"])
        });
        let watching = scope.spawn(move || watch(served, stage));
        let load = Load {
            address: &served.address,
            queries: &queries,
            mode: LEXICAL,
            clients,
            interval: Duration::from_secs(1),
            stage,
        };
        let outcome = load.run();
        let rebuilt = rebuilding.join().unwrap_or_else(|_| Ok(()));
        (
            rebuilt.map(|()| outcome),
            watching.join().unwrap_or_default(),
        )
    });
    let mut outcome = outcome?;
    let what = |row: &str| format!("{clients} clients, one a second: {row}");
    let all = outcome.times.len() + outcome.refused.values().sum::<usize>();
    report.add(
        what("answers"),
        outcome.times.len() as f64,
        "",
        format!("of {all}"),
    );
    let wrong = all - outcome.times.len() + outcome.failures.len();
    report.add(what("errors"), wrong as f64, "", told(&outcome));
    broken.unless(wrong == 0, "no request fails at the usual rate");
    let many = percentile(&mut outcome.times, 95);
    report.add(what("p50"), percentile(&mut outcome.times, 50), "ms", "");
    report.add(
        what("p95"),
        many,
        "ms",
        format!("{:.1} times one client's", many / alone),
    );
    broken.unless(
        many <= 10.0 * alone,
        "p95 is at most ten times one client's",
    );
    let third = memory.len() / 3;
    let highest = |part: &[f64]| part.iter().copied().fold(0.0, f64::max);
    report.add(
        what("memory"),
        highest(&memory),
        "MB",
        format!(
            "before {before:.1}, highest in the first third {:.1}, in the last {:.1}",
            highest(&memory[..third]),
            highest(&memory[memory.len() - third..])
        ),
    );

    overload(&served, &queries, options, report, broken)
}

/// Has ten times as many requests come, from so many connections that more wait than
/// there is room for.
fn overload(
    served: &Served,
    queries: &[String],
    options: &Options,
    report: &mut Report,
    broken: &mut Broken,
) -> Result<()> {
    let stage = Duration::from_secs(options.overload_seconds);
    let rate = 10 * options.clients;
    let interval = Duration::from_secs_f64(CONNECTIONS as f64 / rate as f64);
    let load = Load {
        address: &served.address,
        queries,
        mode: LEXICAL,
        clients: CONNECTIONS,
        interval,
        stage,
    };
    let mut outcome = load.run();
    let what = |row: &str| format!("{rate} requests a second: {row}");
    let answers = outcome.times.len();
    let per_second = answers as f64 / stage.as_secs_f64();
    report.add(
        what("answers"),
        answers as f64,
        "",
        format!("{per_second:.0} a second, {CONNECTIONS} connections"),
    );
    let busy = outcome.refused.remove(&503).unwrap_or(0);
    report.add(what("503"), busy as f64, "", "");
    let wrong = outcome.refused.values().sum::<usize>() + outcome.failures.len();
    report.add(what("other errors"), wrong as f64, "", told(&outcome));
    report.add(
        what("p95 of answers"),
        percentile(&mut outcome.times, 95),
        "ms",
        "",
    );
    report.add(what("memory"), served.megabytes()?, "MB", "afterwards");
    broken.unless(wrong == 0, "nothing but answers and 503 under overload");
    broken.unless(answers > 0, "some are answered under overload");
    // A machine that answers all of them is not overloaded.
    let all = per_second >= 0.9 * rate as f64;
    broken.unless(busy > 0 || all, "the queue is full under overload");
    Ok(())
}

/// Describes what was refused or failed.
fn told(outcome: &Outcome) -> String {
    let refused = outcome.refused.iter();
    let mut parts: Vec<String> = refused
        .map(|(status, count)| format!("{count} x {status}"))
        .collect();
    parts.extend(outcome.failures.first().cloned());
    parts.join(", ")
}

/// Looks at the memory of a server again and again.
fn watch(served: &Served, stage: Duration) -> Vec<f64> {
    let started = Instant::now();
    let mut seen = Vec::new();
    while started.elapsed() < stage {
        seen.extend(served.megabytes());
        std::thread::sleep(GLANCE);
    }
    seen
}

impl Load<'_> {
    /// Has the clients search. One that is late does not wait.
    pub(super) fn run(&self) -> Outcome {
        let outcome = Mutex::new(Outcome::default());
        let started = Instant::now();
        std::thread::scope(|scope| {
            for client in 0..self.clients {
                let outcome = &outcome;
                scope.spawn(move || {
                    let own = self.run_one(client, started);
                    if let Ok(mut all) = outcome.lock() {
                        all.times.extend(own.times);
                        all.failures.extend(own.failures);
                        for (status, count) in own.refused {
                            *all.refused.entry(status).or_default() += count;
                        }
                    }
                });
            }
        });
        outcome.into_inner().unwrap_or_default()
    }

    fn run_one(&self, client: usize, started: Instant) -> Outcome {
        let offset = self.interval.mul_f64(client as f64 / self.clients as f64);
        let mut own = Outcome::default();
        let mut connection = None;
        for number in 0_u32.. {
            let due = offset + self.interval * number;
            if due >= self.stage {
                break;
            }
            std::thread::sleep(due.saturating_sub(started.elapsed()));
            if started.elapsed() >= self.stage {
                break;
            }
            let query = &self.queries[(client + number as usize) % self.queries.len()];
            own.search(self.address, &mut connection, query, self.mode);
        }
        own
    }
}

impl Outcome {
    fn search(&mut self, address: &str, connection: &mut Option<Client>, query: &str, mode: &str) {
        let started = Instant::now();
        let searched = match connection.take() {
            Some(client) => Ok(client),
            None => Client::connect(address),
        };
        let searched = searched.and_then(|mut client| Ok((client.search(query, mode)?, client)));
        match searched {
            Ok((200, client)) => {
                self.times.push(started.elapsed().as_secs_f64() * 1e3);
                *connection = Some(client);
            }
            Ok((status, client)) => {
                *self.refused.entry(status).or_default() += 1;
                *connection = Some(client);
            }
            Err(error) => self.failures.push(error.to_string()),
        }
    }
}
