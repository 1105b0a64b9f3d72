//! Measures everything at every size in one run: indexing, syncing and searching
//! generated notes and folders. Computes how the figures grow and draws them.

mod alone;
mod findings;
mod growth;
mod model;
mod plot;
mod pretend;
mod program;
mod queries;
mod texts;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use kodiak::model::{InstalledModel, install_from_folder};
use kodiak::store::SqliteStore;
use kodiak::store::prelude::*;

pub(crate) use alone::{Options as AloneOptions, run as run_alone};
pub(crate) use texts::files;
pub(crate) use texts::write as write_notes;

use crate::clusters::DIMENSIONS;
use crate::picture::save;
use alone::{Task, start};
use findings::{Column, Findings, say, thousands};
pub(crate) use pretend::Pretender;
use program::Program;
pub(crate) use queries::Kind;
pub(crate) use texts::{Texts, generated};

/// The maximum number of documents that are written as files.
const MAX_FILES: usize = 100_000;
/// The additional number of documents with `--large`.
const LARGE: usize = 1_000_000;
/// The age from which a sync trusts that a file is unchanged.
const SETTLED: Duration = Duration::from_millis(200);
/// The folder of texts for the model if none is given.
const EXAMPLES: &str = "examples/notes";

/// The options of the measurement.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The number of generated documents; may be repeated.
    #[arg(long, default_values_t = [1_000, 10_000, 100_000])]
    documents: Vec<usize>,
    /// Also measure a million, passed to the library without files.
    #[arg(long)]
    large: bool,
    /// A folder of notes to measure as well; it is only read.
    #[arg(long, value_name = "PATH")]
    folder: Option<PathBuf>,
    /// A model's folder, for the rows that need one: model.onnx,
    /// tokenizer.json and model.json.
    #[arg(long, value_name = "FOLDER")]
    model: Option<PathBuf>,
    /// The program to measure [default: the one beside this program]
    #[arg(long)]
    program: Option<PathBuf>,
    /// The folder for the plot of warm searches against size.
    #[arg(long, value_name = "DIR")]
    plots: Option<PathBuf>,
}

/// Measures everything, prints it and draws the plot.
pub(crate) fn measure(options: &Options, json: bool) -> Result<()> {
    let program = program_path(options.program.as_deref())?;
    let mut sizes = options.documents.clone();
    sizes.extend(options.large.then_some(LARGE));
    sizes.retain(|&size| size > 0);
    sizes.sort_unstable();
    sizes.dedup();
    let model = options.model.as_deref();
    let mut findings = Findings::default();
    for count in sizes {
        let mut column = Column::new(thousands(count), count, true);
        say(&format!("\n{} generated documents", column.name));
        let program = Program::new(&program)?;
        let texts = Texts::Generated(count);
        let model = usable_model(model, &program, &mut column)?;
        if count > MAX_FILES {
            without_files(&program, &texts, model.as_ref(), &mut column)?;
        } else {
            let folder = tempfile::tempdir()?;
            texts::write(folder.path(), count)?;
            std::thread::sleep(SETTLED);
            with_files(&program, folder.path(), &texts, model.as_ref(), &mut column)?;
        }
        findings.columns.push(column);
    }
    if let Some(folder) = &options.folder {
        let mut column = Column::new("folder", 0, false);
        say("\nthe folder");
        let program = Program::new(&program)?;
        let texts = Texts::Folder(folder.clone());
        let model = usable_model(model, &program, &mut column)?;
        with_files(&program, folder, &texts, model.as_ref(), &mut column)?;
        column.documents = SqliteStore::open(&program.index())?.corpus()?.documents as usize;
        column.name = format!("folder {}", thousands(column.documents));
        findings.columns.push(column);
    }
    findings.columns.push(model_column(options)?);
    if let Some(folder) = &options.plots {
        let drawing = plot::warm_searches(&findings.columns);
        save(folder, "warm-search.svg", &drawing)?;
    }
    findings.print(json)
}

/// Measures all rows for documents that are files.
fn with_files(
    program: &Program,
    folder: &Path,
    texts: &Texts,
    model: Option<&InstalledModel>,
    column: &mut Column,
) -> Result<()> {
    let sample = texts.sample()?;
    program.add(folder, column)?;
    sizes_of(program, "index size", "without vectors", column);
    program.sync(column)?;
    program.search_words(&sample, column)?;
    program.refresh(&sample, column)?;
    let key = model.map(|model| model.identity.key());
    start(Task::Embed, &program.index(), texts, key.as_deref(), column)?;
    let detail = "with vectors and the file for scanning them";
    sizes_of(program, "index size with vectors", detail, column);
    if let Some(model) = model {
        program.search_meanings(model, &sample, column)?;
    }
    search(program, texts, key.as_deref(), column)
}

/// Measures the rows for documents that are passed to the library.
fn without_files(
    program: &Program,
    texts: &Texts,
    model: Option<&InstalledModel>,
    column: &mut Column,
) -> Result<()> {
    column.leave_out(
        "first index, no-op sync, cold search, looking for changes",
        "so many documents are not written as files",
    );
    let index = program.index();
    start(Task::Fill, &index, texts, None, column)?;
    sizes_of(program, "index size", "without vectors", column);
    let key = model.map(|model| model.identity.key());
    start(Task::Embed, &index, texts, key.as_deref(), column)?;
    let detail = "with vectors and the file for scanning them";
    sizes_of(program, "index size with vectors", detail, column);
    search(program, texts, key.as_deref(), column)
}

/// Measures warm searches. Kinds of queries for which the texts have no words are
/// left out.
fn search(program: &Program, texts: &Texts, key: Option<&str>, column: &mut Column) -> Result<()> {
    start(Task::Search, &program.index(), texts, key, column)?;
    for kind in Kind::BY_WORD.into_iter().chain([Kind::Hybrid]) {
        let what = format!("warm search: {}", kind.name());
        if column.value(&what).is_none() {
            column.leave_out(what, "the texts have too few such words");
        }
    }
    Ok(())
}

/// Measures the size of all files of the index.
fn sizes_of(program: &Program, what: &str, detail: &str, column: &mut Column) {
    let index = program.index();
    let name = index.file_stem().unwrap_or_default().to_owned();
    let files = index.parent().and_then(|home| std::fs::read_dir(home).ok());
    let bytes: u64 = files
        .into_iter()
        .flatten()
        .flatten()
        .filter(|file| Path::new(&file.file_name()).file_stem() == Some(&name))
        .filter_map(|file| Some(file.metadata().ok()?.len()))
        .sum();
    column.add(what, bytes as f64 / 1e6, "MB", detail);
}

/// Installs the model where the program looks for it. Generated vectors carry its
/// name, so that a search with the model compares them.
fn usable_model(
    folder: Option<&Path>,
    program: &Program,
    column: &mut Column,
) -> Result<Option<InstalledModel>> {
    let what = "cold search: hybrid";
    let Some(folder) = folder else {
        column.leave_out(what, "needs a model, see --model");
        return Ok(None);
    };
    let model = install_from_folder(folder, None, &program.models())?;
    if model.identity.dimensions != DIMENSIONS {
        let why = format!("the model's vectors are not of {DIMENSIONS} numbers");
        column.leave_out(what, why);
        return Ok(None);
    }
    Ok(Some(model))
}

/// Measures the model alone.
fn model_column(options: &Options) -> Result<Column> {
    let mut column = Column::new("model", 0, false);
    let what = "embed a query, embedding throughput";
    let folder = options.folder.as_deref().unwrap_or(Path::new(EXAMPLES));
    match &options.model {
        None => column.leave_out(what, "needs a model, see --model"),
        Some(_) if !folder.is_dir() => {
            column.leave_out(what, format!("there is no {}", folder.display()));
        }
        Some(model) => model::measure(model, folder, &mut column)?,
    }
    Ok(column)
}

fn program_path(asked: Option<&Path>) -> Result<PathBuf> {
    let path = match asked {
        Some(path) => path.to_path_buf(),
        None => std::env::current_exe()
            .context("could not find this program")?
            .with_file_name(format!("kodiak{}", std::env::consts::EXE_SUFFIX)),
    };
    path.canonicalize().with_context(|| {
        format!(
            "there is no {}; build it with `cargo build --release`, or use --program",
            path.display()
        )
    })
}
