//! Measures the real model on one query and on many texts. Neither depends on the
//! size of the index.

use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use kodiak::embed::{EmbedError, Embedder, Role};
use rayon::prelude::*;

use super::findings::Column;
use super::queries::Kind;
use crate::clock::process_cpu_ms;
use crate::embed;
use crate::report::median;

/// The number of queries to embed.
const QUERIES: usize = 25;
/// The number of texts to embed.
const TEXTS: usize = 100;

/// Embeds the texts of `folder`, whose words the model must know.
pub(crate) fn measure(model: &Path, folder: &Path, column: &mut Column) -> Result<()> {
    let embedder = embed::open(model)?;
    embedder.prepare()?;
    let texts: Vec<String> = embed::pieces(folder)?.into_iter().take(TEXTS).collect();
    let mut times = Vec::new();
    for query in Kind::SixWords.queries(&texts, QUERIES) {
        let (vector, used) = process_cpu_ms(|| embedder.embed_one(&query, Role::Query));
        vector?;
        times.push(used);
    }
    if times.is_empty() {
        column.leave_out("embed a query, embedding throughput", "no text to embed");
        return Ok(());
    }
    let detail = format!("CPU of the process, six words, median of {}", times.len());
    column.add("embed a query", median(times), "ms", detail);

    let started = Instant::now();
    let (vectors, used) = process_cpu_ms(|| {
        texts
            .par_iter()
            .map(|text| embedder.embed_one(text, Role::Document))
            .collect::<Result<Vec<_>, EmbedError>>()
    });
    vectors?;
    let count = texts.len() as f64;
    let detail = format!(
        "wall, all cores, {count} texts of about 200 tokens; CPU {:.1} ms each",
        used / count
    );
    let speed = count / started.elapsed().as_secs_f64();
    column.add("embedding throughput", speed, "/s", detail);
    Ok(())
}
