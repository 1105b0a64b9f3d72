//! Measures an index in PostgreSQL beside one in SQLite: filling, searches of many clients,
//! with and without a slow network, writes of several writers, and merging.
//!
//! `postgres` starts a server and counts its CPU time, `delay` is a slow network, `indexes`
//! fills the two indexes, `load` has many clients search, `writes` has several write, and
//! `alike` compares the answers of both to judged queries.

mod alike;
mod delay;
mod indexes;
mod load;
mod postgres;
mod writes;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;

use crate::report::Report;
use delay::Slow;
use indexes::{Index, filled};
use load::{Load, Question};
use postgres::Server;

/// The options of the measurement.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The number of generated documents; may be repeated.
    #[arg(long, default_values_t = [100_000])]
    documents: Vec<usize>,
    /// The number of clients that search at once; may be repeated.
    #[arg(long, default_values_t = [1, 8, 64])]
    clients: Vec<usize>,
    /// The milliseconds that a round trip to the server takes longer; may be repeated.
    #[arg(long, default_values_t = [0, 10])]
    delay: Vec<u64>,
    /// The seconds for which each number of clients search.
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// The number of writers at once; may be repeated.
    #[arg(long, default_values_t = [1, 8])]
    writers: Vec<usize>,
    /// The number of documents that all writers write together, one by one.
    #[arg(long, default_value_t = 512)]
    writes: usize,
    /// The address of a PostgreSQL server, in which the schema `kodiak_bench` is created
    /// and deleted [default: one that is started, as `tests/postgres/install` has it]
    #[arg(long, value_name = "ADDRESS")]
    postgres: Option<String>,
    /// Leave SQLite out.
    #[arg(long)]
    alone: bool,
    /// Measure no speed, and compare the answers of both to the queries of this judged set in
    /// BEIR layout; may be repeated.
    #[arg(long, value_name = "SET")]
    alike: Vec<PathBuf>,
    /// The model's folder for answers by words and meaning. Its vectors are cached there.
    #[arg(long, requires = "alike", value_name = "FOLDER")]
    model: Option<PathBuf>,
    /// The number of queries of each split that are compared at most.
    #[arg(long, default_value_t = usize::MAX, hide_default_value = true)]
    queries: usize,
}

/// Measures every size in both indexes.
pub(crate) fn measure(options: &Options, report: &mut Report) -> Result<()> {
    let server = match &options.postgres {
        Some(address) => Server::at(address)?,
        None => Server::start()?,
    };
    if !options.alike.is_empty() {
        return alike::measure(&options.alike, &server, options, report);
    }
    for &count in &options.documents {
        if !options.alone {
            let index = filled(Index::sqlite()?, count, report)?;
            searches(&index, "", options, report)?;
            writes::measure(&index, options, report)?;
        }
        let index = filled(Index::postgres(&server, None)?, count, report)?;
        for &delay in &options.delay {
            // Every number of clients begins with a server of ours that keeps nothing yet.
            let slow = match delay {
                0 => None,
                delay => Some(Slow::network(
                    server.address(),
                    Duration::from_millis(delay),
                )?),
            };
            let mut far = Index::postgres(&server, slow.as_ref())?;
            far.name.clone_from(&index.name);
            far.documents = count;
            searches(&far, &format!(", {delay} ms"), options, report)?;
        }
        writes::measure(&index, options, report)?;
        index.delete()?;
    }
    Ok(())
}

/// Has every number of clients search, by words and by words and meaning.
fn searches(
    index: &Index<'_>,
    network: &str,
    options: &Options,
    report: &mut Report,
) -> Result<()> {
    let name = |what: &str| format!("{}{network}: {what}", index.name);
    load::first(index, &name, report)?;
    for &clients in &options.clients {
        for question in [Question::Lexical, Question::Hybrid] {
            let load = Load {
                clients,
                question,
                stage: Duration::from_secs(options.seconds),
            };
            load.run(index, &name, report)?;
        }
    }
    Ok(())
}
