//! Meaning in the program: giving notes vectors after a sync, with someone
//! watching, and the model that queries are embedded with.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kodiak::embed::{Embedder, OnnxEmbedder};
use kodiak::model::{self, InstalledModel};
use kodiak::store::{EmbeddingCache, SqliteStore, Writer};
use kodiak::sync::{EmbeddingReport, backfill};
use kodiak::{Cancel, Error};

use crate::config::Config;
use crate::context::Context;
use crate::failure;
use crate::models;
use crate::output::Output;
use crate::output::phrases::counted;
use crate::output::progress::Embedding;

/// How long to wait for another process to finish writing before vectors are
/// left to the next run.
const PATIENCE: Duration = Duration::from_secs(5);
const STEP: Duration = Duration::from_millis(100);

/// How much to embed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All of it, however long it takes.
    All,
    /// What can be done in this time.
    Within(Duration),
}

/// Gives every note vectors that lacks them. Lexical search is complete by
/// now, so whatever goes wrong here is said and no error.
pub(crate) fn embed(
    context: &Context<'_>,
    config: &Config,
    no_semantic: bool,
    extent: Extent,
    verb: &str,
) {
    let Some(model) = models::for_indexing(context, config, no_semantic) else {
        return;
    };
    embed_with(context, &OnnxEmbedder::new(model), extent, verb);
}

/// The same with a model that is at hand.
pub(crate) fn embed_with(
    context: &Context<'_>,
    embedder: &OnnxEmbedder,
    extent: Extent,
    verb: &str,
) {
    let output = context.output;
    let ended = patient_writer(context, verb).and_then(|mut writer| {
        let mut cache = open_cache(context);
        let until = match extent {
            Extent::All => None,
            Extent::Within(time) => Some(Instant::now() + time),
        };
        fill(&mut writer, embedder, cache.as_mut(), until, output)
    });
    match ended {
        Ok(report) => tell(&report, output),
        Err(error) => {
            let reason = failure::message(&error.into());
            output.warning(&format!(
                "not everything could be embedded: {reason}; `kodiak index` goes on from here"
            ));
        }
    }
}

fn fill(
    writer: &mut Writer,
    embedder: &OnnxEmbedder,
    cache: Option<&mut EmbeddingCache>,
    until: Option<Instant>,
    output: &Output,
) -> kodiak::Result<EmbeddingReport> {
    let mut progress = Embedding::new(output, &embedder.identity().name);
    backfill(
        writer,
        embedder,
        cache,
        until,
        &Cancel::new(),
        &mut |event| {
            progress.event(event);
        },
    )
}

/// The cache of vectors beside the index. Without it everything works, only
/// slower.
pub(crate) fn open_cache(context: &Context<'_>) -> Option<EmbeddingCache> {
    let path = EmbeddingCache::path_beside(&context.index_path);
    EmbeddingCache::open(&path)
        .inspect_err(|error| context.output.warning(&error.to_string()))
        .ok()
}

fn tell(report: &EmbeddingReport, output: &Output) {
    if let Some(holder) = &report.elsewhere {
        output.notice(&format!("embedding is left to {holder}"));
        return;
    }
    let parts: Vec<String> = [
        (report.embedded, "embedded"),
        (report.cached, "taken from the cache"),
    ]
    .into_iter()
    .filter(|(number, _)| *number > 0)
    .map(|(number, what)| format!("{} {what}", counted(number as u64, "passage")))
    .collect();
    if !parts.is_empty() {
        output.detail(&parts.join(", "));
    }
    if let Some(reason) = &report.stopped {
        output.warning(&format!("embedding ended early: {reason}"));
    }
    if report.left > 0 {
        output.notice(&format!(
            "{} still to embed: `kodiak index` goes on from here",
            counted(report.left as u64, "passage")
        ));
    }
    if let Some(reason) = &report.reason {
        output.warning(&format!(
            "{} could not be embedded: {reason}",
            counted(report.failed as u64, "passage")
        ));
    }
}

fn patient_writer(context: &Context<'_>, verb: &str) -> kodiak::Result<Writer> {
    let started = Instant::now();
    loop {
        match context.writer(verb) {
            Err(Error::Locked { .. }) if started.elapsed() < PATIENCE => std::thread::sleep(STEP),
            ended => return ended,
        }
    }
}

/// What queries are embedded with, or why with nothing; neither where meanings
/// are not wanted.
#[derive(Default)]
pub(crate) struct ForQueries {
    pub(crate) embedder: Option<Arc<dyn Embedder>>,
    pub(crate) absence: Option<String>,
}

/// Finds the model that made the vectors in the index. Nothing is loaded yet.
pub(crate) fn for_queries(
    context: &Context<'_>,
    config: &Config,
    store: &SqliteStore,
    no_semantic: bool,
) -> ForQueries {
    let Some(name) = config.model().filter(|_| !no_semantic) else {
        return ForQueries::default();
    };
    let absent = |reason: String| ForQueries {
        embedder: None,
        absence: Some(reason),
    };
    let serving = match store.serving() {
        Ok(Some(serving)) => serving,
        Ok(None) => return absent("nothing is embedded yet; run `kodiak index`".to_owned()),
        Err(error) => return absent(error.to_string()),
    };
    let missing = || {
        let remedy = remedy(context, name);
        format!(
            "the model {} that embedded the notes is not installed; run `kodiak {remedy}`",
            serving.name
        )
    };
    match models::for_searching(context, config, Some(&serving.key)) {
        Ok(Some(model)) => present(model),
        Ok(None) => absent(missing()),
        Err(error) => absent(failure::message(&error)),
    }
}

/// What to run where the model that embedded the notes is gone: the configured
/// one, which may be another, takes over or is brought back.
fn remedy(context: &Context<'_>, name: &str) -> String {
    let there = context
        .models_path()
        .is_ok_and(|cache| matches!(model::find(&cache, name), Ok(Some(_))));
    if there {
        "index".to_owned()
    } else if model::known(name).is_some() {
        format!("model install {name}")
    } else {
        "model install --from FOLDER".to_owned()
    }
}

fn present(model: InstalledModel) -> ForQueries {
    ForQueries {
        embedder: Some(Arc::new(OnnxEmbedder::new(model))),
        absence: None,
    }
}
