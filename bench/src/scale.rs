//! Measures the CPU time of searches in many generated documents, in one process.

use anyhow::Result;
use kodiak::Document;
use kodiak::access::Guard;
use kodiak::search::{Request, Router};
use kodiak::store::prelude::*;
use kodiak::store::{SqliteStore, SqliteWriter};

use crate::clock::cpu_ms;
use crate::report::{Report, median};
use crate::zipf::Generator;

/// Generates a query of one kind.
type MakeQuery = fn(&mut Generator) -> String;

/// The number of documents per transaction.
const BATCH: usize = 2_000;

/// Indexes `count` documents and runs `queries` queries of each kind, each with
/// `limit` hits.
pub(crate) fn measure(
    count: usize,
    queries: usize,
    limit: usize,
    report: &mut Report,
) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("index.db");
    let mut generator = Generator::new(7);
    let documents = (0..count).map(|_| generator.document());
    let (filled, used) = cpu_ms(|| fill(&path, documents));
    filled?;
    report.add(
        format!("{count} documents: index"),
        used / count as f64 * 1e3,
        "us",
        "CPU per document, one thread",
    );
    let store = SqliteStore::open(&path)?;
    let router = Router::new(&store, &[], Guard::local());
    let kinds: [(&str, MakeQuery); 5] = [
        ("rare word", |generator| generator.rare_word()),
        ("common word", |generator| generator.words(1)),
        ("six natural words", |generator| generator.words(6)),
        ("all of three words", |generator| {
            format!(
                "{} AND {} AND {}",
                generator.word(),
                generator.word(),
                generator.word()
            )
        }),
        ("misspelt rare word", |generator| {
            format!("{}q", generator.rare_word())
        }),
    ];
    for (name, query) in kinds {
        let (mut times, mut uncollapsed) = (Vec::new(), Vec::new());
        for at in 0..queries {
            let query = query(&mut generator);
            // In turns, so that both are first equally often.
            for all_copies in [at % 2 == 0, at % 2 == 1] {
                let request = Request {
                    query: query.clone(),
                    limit,
                    all_copies,
                    ..Request::default()
                };
                let (answer, used) = cpu_ms(|| router.search(&request));
                answer?;
                if all_copies {
                    uncollapsed.push(used);
                } else {
                    times.push(used);
                }
            }
        }
        let all: [f64; 2] = [&times, &uncollapsed].map(|times| times.iter().sum());
        let added = 100.0 * (all[0] / all[1] - 1.0);
        let worst = times.iter().copied().fold(0.0, f64::max);
        report.add(
            format!("{count} documents: {name}"),
            median(times),
            "ms",
            format!(
                "CPU, {limit} hits, median of {queries}; worst {worst:.2}; {added:+.1} % for copies"
            ),
        );
    }
    Ok(())
}

/// Writes titles and bodies into a new index.
pub(crate) fn fill(
    path: &std::path::Path,
    documents: impl Iterator<Item = (String, String)>,
) -> Result<()> {
    let mut writer = SqliteWriter::open(path, "bench")?;
    let mut analyzer = writer.analyzer();
    writer.begin()?;
    for (number, (title, body)) in documents.enumerate() {
        writer.put(&analyzer.analyze(Document {
            source: "bench".to_owned(),
            key: format!("{number}.md"),
            kind: "note".to_owned(),
            title,
            body,
            updated_at: number as i64,
            ..Document::default()
        }))?;
        if (number + 1) % BATCH == 0 {
            writer.commit()?;
            writer.begin()?;
        }
    }
    writer.commit()?;
    writer.refresh_vocabulary()?;
    writer.optimize()?;
    Ok(())
}
