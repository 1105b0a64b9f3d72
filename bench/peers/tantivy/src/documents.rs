//! Generated documents inside one process: those of `bench scale`, and the very
//! queries that it asks.

use std::hint::black_box;

use anyhow::Result;
use tantivy::collector::TopDocs;
use tantivy::query::QueryParser;
use tantivy::{Index, Searcher, TantivyDocument, doc};

use crate::clock::{cpu_ms, process_cpu_ms};
use crate::notes::{Fields, schema};
use crate::report::{Report, median};
use crate::zipf::Generator;

/// How a query of one kind is made.
type MakeQuery = fn(&mut Generator) -> String;

/// Where `bench scale` starts.
const SEED: u64 = 7;
/// Memory for the writer.
const WRITER_BYTES: usize = 100_000_000;
/// How many hits are asked for.
const LIMITS: [usize; 2] = [10, 50];

/// Indexes `count` documents and asks `queries` queries of each kind.
pub(crate) fn measure(count: usize, queries: usize) -> Result<()> {
    let mut report = Report::default();
    let mut generator = Generator::new(SEED);
    let (schema, fields) = schema();
    let index = Index::create_from_tempdir(schema)?;
    let (filled, used) = process_cpu_ms(|| fill(&index, &fields, count, &mut generator));
    filled?;
    let each = used / count as f64 * 1e3;
    report.add("index", each, "us", "CPU per document, all threads");

    let searcher = index.reader()?.searcher();
    let parser = QueryParser::for_index(&index, vec![fields.title, fields.body]);
    // In the order of `bench scale`: the queries are what the generator says
    // after the documents.
    let kinds: [(&str, MakeQuery); 4] = [
        ("rare word", |generator| generator.rare_word()),
        ("common word", |generator| generator.words(1)),
        ("six natural words", |generator| generator.words(6)),
        ("all of three words", |generator| {
            let mut word = || generator.word();
            format!("{} AND {} AND {}", word(), word(), word())
        }),
    ];
    for (name, make) in kinds {
        let asked: Vec<String> = (0..queries).map(|_| make(&mut generator)).collect();
        for limit in LIMITS {
            for with_texts in [false, true] {
                let mut times = Vec::new();
                for query in &asked {
                    let search = || ask(&searcher, &parser, query, limit, with_texts);
                    let (answer, used) = cpu_ms(search);
                    answer?;
                    times.push(used);
                }
                let texts = if with_texts { ", texts read" } else { "" };
                let what = format!("{name}, top {limit}{texts}");
                report.add(what, median(times), "ms", "CPU, median");
            }
        }
    }
    report.print(true)
}

fn fill(index: &Index, fields: &Fields, count: usize, generator: &mut Generator) -> Result<()> {
    let mut writer = index.writer_with_num_threads(1, WRITER_BYTES)?;
    for number in 0..count {
        let (title, body) = generator.document();
        writer.add_document(doc!(
            fields.path => format!("{number}.md"),
            fields.title => title,
            fields.body => body,
        ))?;
    }
    writer.commit()?;
    writer.wait_merging_threads()?;
    Ok(())
}

/// Ranks, and reads what is stored of the hits if an answer needs it.
fn ask(
    searcher: &Searcher,
    parser: &QueryParser,
    query: &str,
    limit: usize,
    with_texts: bool,
) -> Result<()> {
    let query = parser.parse_query(query)?;
    let hits = searcher.search(&query, &TopDocs::with_limit(limit).order_by_score())?;
    for (_, address) in black_box(&hits) {
        if with_texts {
            black_box(searcher.doc::<TantivyDocument>(*address)?);
        }
    }
    Ok(())
}
