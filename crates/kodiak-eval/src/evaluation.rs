//! Runs an evaluation, from its options to its figures.
//!
//! Owns what is read before the measurement and what is computed from the rows
//! after it. The measurement is left to [`super::measure`].

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use kodiak::embed::Embedder;
use kodiak::rerank::Reranker;
use kodiak::search::Mode;

use super::beir::{self, TestSet, split_label};
use super::cached_embedder::CachedEmbedder;
use super::compare::{self, Baseline, Report};
use super::error::refusal;
use super::event::{Event, Listener};
use super::figures::{Figures, Row, Try};
use super::floors::{self, Floor};
use super::measure::Measuring;
use super::memory::{BenchmarkFile, MemoryRun, is_benchmark};
use super::notes::JudgedNotes;
use super::relevance::{self, RelevanceFigures};
use super::runner::Setting;
use super::variant::Variant;

/// The options of an evaluation.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Folders that each are a test set or contain several, and the files of memory
    /// benchmarks. With queries, one folder of notes.
    pub folders: Vec<PathBuf>,
    /// Files of judged queries over the notes of the only folder.
    pub queries: Vec<PathBuf>,
    /// The sizes of the random collections that the queries are also asked of.
    pub sizes: Vec<NonZeroUsize>,
    /// The seed of these collections.
    pub seed: u64,
    /// Whether the figures of the default search over notes have a curve.
    pub curve: bool,
    /// The search modes to measure, or all if it is empty.
    pub modes: Vec<Mode>,
    /// The splits to measure, or all if it is empty.
    pub splits: Vec<String>,
    /// The maximum number of queries per split, or all if it is `None`.
    pub limit_queries: Option<usize>,
    /// The file of an earlier run to compare with.
    pub compare: Option<PathBuf>,
    /// Other parameters to measure, such as `k1=0.9,b=0.4`.
    pub tries: Vec<String>,
    /// The file of minimum figures.
    pub floors: Option<PathBuf>,
    /// The folder for temporary indexes.
    pub scratch: PathBuf,
}

/// The models to measure with.
#[derive(Clone, Debug, Default)]
pub struct Models {
    /// The embedding models. The figures are those of the first; each of the others
    /// is compared with it. There may be none.
    pub embedders: Vec<Arc<CachedEmbedder>>,
    /// The reranker, whose figures are compared with those without it.
    pub reranker: Option<Arc<dyn Reranker>>,
}

/// An evaluation whose files have been read and whose sets have been found.
#[derive(Debug)]
pub struct Evaluation {
    options: Options,
    baseline: Option<Baseline>,
    floors: Option<Vec<Floor>>,
    /// The parameters to measure. The first are the current ones.
    variants: Vec<Variant>,
    sets: Vec<TestSet>,
    benchmarks: Vec<BenchmarkFile>,
    notes: Option<JudgedNotes>,
}

impl Evaluation {
    /// Reads the files and folders that the options name. This comes before the
    /// measurement, which takes long, so that a misspelt name fails early.
    pub fn prepare(options: Options, listener: &Listener<'_>) -> Result<Self> {
        let baseline = options.compare.as_deref().map(compare::read);
        let baseline = baseline.transpose()?;
        let floors = options.floors.as_deref().map(floors::read);
        let floors = floors.transpose()?;
        let variants = variants(&options.tries)?;
        let notes = JudgedNotes::read(&options, listener)?;
        // With queries, the folder is not a test set.
        let (sets, benchmarks) = match &notes {
            Some(_) => (Vec::new(), Vec::new()),
            None => (sets(&options, listener)?, benchmarks(&options)),
        };
        Ok(Self {
            options,
            baseline,
            floors,
            variants,
            sets,
            benchmarks,
            notes,
        })
    }

    /// Reports whether any of the wanted modes can use a model.
    pub fn compares_meanings(&self) -> bool {
        let modes = &self.options.modes;
        let lexical = |mode: &Mode| matches!(mode, Mode::Lexical | Mode::Like);
        modes.is_empty() || !modes.iter().all(lexical)
    }

    /// Measures every set, with or without a model, and compares the figures with
    /// the baseline, with other parameters and with other models.
    pub fn run(&self, models: &Models, listener: &Listener<'_>) -> Result<Figures> {
        let embedder = models.embedders.first();
        let reranked = models.reranker.as_deref();
        let reranked = reranked.map(|reranker| Variant::reranked(reranker.name()));
        let variants: Vec<Variant> = self.variants.iter().cloned().chain(reranked).collect();
        let measuring = Measuring {
            settings: &wanted_settings(&self.options.modes, embedder.is_some()),
            embedder,
            reranker: models.reranker.as_ref(),
            variants: &variants,
            options: &self.options,
            listener,
        };
        if let Some(notes) = &self.notes {
            return self.run_notes(notes, &measuring, models, listener);
        }
        let mut rows = measuring.all(&self.sets)?.into_iter();
        let mut figures = Figures::of(rows.next().unwrap_or_default());
        figures.model = embedder.map(|embedder| embedder.identity().name.clone());
        let memory = MemoryRun {
            options: &self.options,
            embedder,
            listener,
        };
        for benchmark in &self.benchmarks {
            figures.memory.extend(memory.measure(benchmark)?);
        }
        if figures.sets.is_empty() && figures.memory.is_empty() {
            let splits = self.sets.iter().flat_map(|set| &set.splits);
            let known: BTreeSet<&str> = splits.map(|split| split_label(split)).collect();
            let known: Vec<&str> = known.into_iter().collect();
            return Err(refusal(
                "nothing was measured: no set has a split of that name",
                format!("known splits: {}", known.join(", ")),
            ));
        }
        if let Some(baseline) = &self.baseline {
            let report = compare::compare(&figures.sets, baseline);
            send_notices(&report, listener);
            figures.comparison = Some(report.rows);
            figures.comparison_means = report.means;
        }
        let today = Baseline::of(&figures.sets);
        for (variant, rows) in variants.iter().skip(1).zip(rows) {
            let mut tried = Try::of(variant.text.clone(), rows, &today);
            if let Some(reranker) = models.reranker.as_deref().filter(|_| variant.rerank) {
                tried.set_reranker(reranker.name());
            }
            figures.tries.push(tried);
        }
        for other in models.embedders.iter().skip(1) {
            let rows = self.rows_of(other, listener)?;
            let text = format!("model={}", other.identity().name);
            figures.tries.push(Try::of(text, rows, &today));
        }
        Ok(figures)
    }

    /// Asks the queries over notes, also with each of the other models.
    fn run_notes(
        &self,
        notes: &JudgedNotes,
        measuring: &Measuring<'_>,
        models: &Models,
        listener: &Listener<'_>,
    ) -> Result<Figures> {
        let mut figures = Figures::of(Vec::new());
        let embedder = models.embedders.first();
        figures.model = embedder.map(|embedder| embedder.identity().name.clone());
        figures.notes = measuring.notes(notes)?.into_iter().flatten().collect();
        let settings = self.settings_with_model();
        for other in models.embedders.iter().skip(1) {
            let variant = Variant::of_model(&other.identity().name);
            let measuring = Measuring {
                variants: &[variant],
                ..self.measuring_with(other, &settings, listener)
            };
            let rows = measuring.notes(notes)?;
            figures.notes.extend(rows.into_iter().flatten());
        }
        Ok(figures)
    }

    /// Returns the wanted settings that use a model.
    fn settings_with_model(&self) -> Vec<Setting> {
        let settings = wanted_settings(&self.options.modes, true).into_iter();
        settings
            .filter(|setting| setting.compares_meanings())
            .collect()
    }

    /// Returns a measurement of the current parameters with another model.
    fn measuring_with<'a>(
        &'a self,
        embedder: &'a Arc<CachedEmbedder>,
        settings: &'a [Setting],
        listener: &'a Listener<'a>,
    ) -> Measuring<'a> {
        Measuring {
            settings,
            embedder: Some(embedder),
            reranker: None,
            // The first has the current parameters.
            variants: &self.variants[..1],
            options: &self.options,
            listener,
        }
    }

    /// Measures every set with another model, in the modes that use one.
    fn rows_of(&self, embedder: &Arc<CachedEmbedder>, listener: &Listener<'_>) -> Result<Vec<Row>> {
        let settings = self.settings_with_model();
        let measuring = self.measuring_with(embedder, &settings, listener);
        let rows = measuring.all(&self.sets)?.into_iter().next();
        Ok(rows.unwrap_or_default())
    }

    /// Checks how well the relevance of hits tells questions that a set answers from
    /// others.
    pub fn relevance(
        &self,
        embedder: Option<&Arc<CachedEmbedder>>,
        listener: &Listener<'_>,
    ) -> Result<RelevanceFigures> {
        relevance::measure(&self.sets, embedder, &self.options, listener)
    }

    /// Fails unless the figures reach every floor.
    pub fn hold(&self, figures: &Figures, listener: &Listener<'_>) -> Result<()> {
        let Some(floors) = &self.floors else {
            return Ok(());
        };
        let concerned = concerning(floors, figures.model.as_deref(), listener);
        let settings = wanted_settings(&self.options.modes, figures.model.is_some());
        hold(
            &concerned,
            &figures.sets,
            &settings,
            &self.options,
            listener,
        )
    }
}

/// Returns the current parameters, followed by those to try.
fn variants(tries: &[String]) -> Result<Vec<Variant>> {
    let tries = tries.iter().map(|text| Variant::read(text));
    std::iter::once(Ok(Variant::default()))
        .chain(tries)
        .collect()
}

/// Returns the sets in all folders, and sends a notice for each folder that is
/// skipped.
fn sets(options: &Options, listener: &Listener<'_>) -> Result<Vec<TestSet>> {
    let mut sets = Vec::new();
    let folders = options.folders.iter();
    for folder in folders.filter(|path| !is_benchmark(path)) {
        let found = beir::find(folder)?;
        for folder in found.passed_over {
            let message = format!("skipped {}: no corpus", folder.display());
            listener(Event::Notice(&message));
        }
        sets.extend(found.sets);
    }
    Ok(sets)
}

/// Returns the files of memory benchmarks.
fn benchmarks(options: &Options) -> Vec<BenchmarkFile> {
    let files = options.folders.iter().filter(|path| is_benchmark(path));
    files
        .map(|path| BenchmarkFile { path: path.clone() })
        .collect()
}

/// Sends a notice for everything that could not be compared.
fn send_notices(report: &Report, listener: &Listener<'_>) {
    for notice in &report.notices {
        listener(Event::Notice(notice));
    }
    if report.rows.is_empty() {
        listener(Event::Warning(
            "nothing was compared: the baseline has no query in common with this run",
        ));
    }
}

/// Returns the floors for runs with this model, or with none. Sends a notice if
/// there are others.
fn concerning<'a>(
    floors: &'a [Floor],
    model: Option<&str>,
    listener: &Listener<'_>,
) -> Vec<&'a Floor> {
    let concerned = floors.iter().filter(|floor| floor.concerns(model));
    let concerned: Vec<&Floor> = concerned.collect();
    let others = floors.len() - concerned.len();
    if others > 0 {
        let plural = if others == 1 { "" } else { "s" };
        let this = model.map_or("no model".to_owned(), |name| format!("the model {name}"));
        listener(Event::Notice(&format!(
            "{others} floor{plural} for other models not checked: this run uses {this}"
        )));
    }
    concerned
}

/// Fails unless every floor is reached. Floors of modes and splits that were not
/// measured are not checked.
fn hold(
    floors: &[&Floor],
    rows: &[Row],
    settings: &[Setting],
    options: &Options,
    listener: &Listener<'_>,
) -> Result<()> {
    let asked = |floor: &&Floor| {
        let mut modes = settings.iter().map(|setting| setting.name());
        (options.splits.is_empty() || options.splits.contains(&floor.split))
            && (options.modes.is_empty() || modes.any(|mode| mode == floor.mode))
    };
    let missed = floors::missed(floors.iter().copied().filter(asked), rows);
    if missed.is_empty() {
        return Ok(());
    }
    for complaint in &missed {
        listener(Event::Warning(complaint));
    }
    Err(refusal(
        "not every floor was reached",
        "use `--compare` with an earlier run to see which figures fell",
    ))
}

fn wanted_settings(modes: &[Mode], with_model: bool) -> Vec<Setting> {
    let wanted = |setting: &Setting| modes.is_empty() || modes.contains(&setting.mode);
    let possible = |setting: Setting| {
        if with_model {
            Some(setting)
        } else {
            setting.without_model()
        }
    };
    Setting::ALL
        .into_iter()
        .filter_map(possible)
        .filter(wanted)
        .collect()
}

#[cfg(test)]
#[path = "evaluation_tests.rs"]
mod tests;
