//! Measures embedding: the time per text, the time to the first vector, and how
//! both compare with onnxruntime on the same texts in the same minutes.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Context, Result};
use kodiak::embed::{Embedder, Identity, OnnxEmbedder, Role};
use kodiak::model::{InstalledModel, Settings};
use kodiak::vector::dot;
use kodiak_eval::CachedEmbedder;
use serde::Deserialize;

use crate::clock::{own_peak_megabytes, process_cpu_ms, run};
use crate::report::{Report, median};

/// The number of words that make about 200 tokens of ordinary prose.
const WORDS_PER_TEXT: usize = 150;
/// The number of processes that measure the time to the first vector.
const FIRST_RUNS: usize = 15;
/// The number of times that each text is embedded.
const ROUNDS: usize = 5;
/// The script that embeds the same texts with onnxruntime.
const YARDSTICK: &str = include_str!("../embed_onnxruntime.py");

/// The options of the measurement.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The model's folder: model.onnx, tokenizer.json and model.json.
    #[arg(long)]
    model: PathBuf,
    /// A file with a text on each line.
    #[arg(long, conflicts_with = "folder")]
    texts: Option<PathBuf>,
    /// A folder of notes, split into texts of about 200 tokens.
    #[arg(long, default_value = "examples/notes")]
    folder: PathBuf,
    /// The maximum number of texts.
    #[arg(long, default_value_t = 100)]
    count: usize,
    /// The Python that has onnxruntime, tokenizers and numpy.
    #[arg(long, default_value = "python3")]
    python: PathBuf,
    /// Compute one vector and exit: the task of a new process.
    #[arg(long, hide = true)]
    first: bool,
}

/// A model's description of itself.
#[derive(Debug, Deserialize)]
struct Description {
    name: String,
    #[serde(flatten)]
    settings: Settings,
}

/// Measures a model, or runs the measured task in its own process.
pub(crate) fn measure(options: &Options, report: &mut Report) -> Result<()> {
    let embedder = open(&options.model)?;
    if options.first {
        embedder.embed_one("how to manage my tasks", Role::Query)?;
        return Ok(());
    }
    first_vector(&options.model, report)?;
    embedder.prepare()?;
    let texts = match &options.texts {
        Some(file) => lines(file)?,
        None => pieces(&options.folder)?,
    };
    let texts: Vec<String> = texts.into_iter().take(options.count).collect();
    anyhow::ensure!(!texts.is_empty(), "there are no texts to embed");
    let yardstick = match Yardstick::start(&options.python, &options.model) {
        Ok(yardstick) => Some(yardstick),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "not compared: {error:#}");
            None
        }
    };
    one_by_one(&embedder, &texts, yardstick, report)?;
    all_cores(&embedder, &texts, report)?;
    if let Some(peak) = own_peak_megabytes() {
        report.add("peak memory", peak, "MB", "this process, all cores");
    }
    Ok(())
}

/// Opens the model in a folder, if one is named, with a cache of its vectors there.
pub(crate) fn cached(folder: Option<&Path>) -> Result<Option<Arc<CachedEmbedder>>> {
    let open = |folder| {
        Ok(Arc::new(CachedEmbedder::new(
            Arc::new(open(folder)?),
            folder,
        )?))
    };
    folder.map(open).transpose()
}

/// Opens the model in a folder.
pub(crate) fn open(folder: &Path) -> Result<OnnxEmbedder> {
    let file = folder.join("model.json");
    let content =
        std::fs::read(&file).with_context(|| format!("could not read {}", file.display()))?;
    let description: Description = serde_json::from_slice(&content)
        .with_context(|| format!("could not understand {}", file.display()))?;
    Ok(OnnxEmbedder::new(InstalledModel {
        identity: Identity {
            name: description.name,
            revision: "bench".to_owned(),
            dimensions: description.settings.dimensions,
        },
        settings: description.settings,
        folder: folder.to_path_buf(),
    }))
}

/// Measures loading and one query, in new processes.
fn first_vector(model: &Path, report: &mut Report) -> Result<()> {
    let program = std::env::current_exe()?;
    let model = model.to_string_lossy();
    let mut times = Vec::new();
    for _ in 0..FIRST_RUNS {
        let ran = run(&program, &["embed", "--first", "--model", &model], false)?;
        times.push(ran.wall.as_secs_f64() * 1e3);
    }
    let best = times.iter().copied().fold(f64::INFINITY, f64::min);
    report.add(
        "first vector",
        median(times),
        "ms",
        format!("wall, new process, median of {FIRST_RUNS}; best {best:.1}"),
    );
    Ok(())
}

/// Embeds each text alone, and right after it through the yardstick, so that other
/// load on the machine affects both. The best of several rounds counts, because
/// load only ever adds to it.
fn one_by_one(
    embedder: &OnnxEmbedder,
    texts: &[String],
    mut yardstick: Option<Yardstick>,
    report: &mut Report,
) -> Result<()> {
    let mut known = Vec::new();
    for text in texts {
        // Kodiak skips a text whose words the model can only spell out; the
        // yardstick does not.
        let vector = embedder.embed_one(text, Role::Document)?;
        if vector.iter().any(|&number| number != 0.0) {
            known.push((text, vector));
        }
    }
    let count = known.len();
    let (mut ours, mut theirs) = (vec![f64::INFINITY; count], vec![f64::INFINITY; count]);
    let mut cosines = vec![0.0; count];
    for _ in 0..ROUNDS {
        for (at, (text, vector)) in known.iter().enumerate() {
            let (again, used) = process_cpu_ms(|| embedder.embed_one(text, Role::Document));
            again?;
            ours[at] = used.min(ours[at]);
            if let Some(yardstick) = &mut yardstick {
                let reference = yardstick.embed(text)?;
                theirs[at] = reference.cpu_ms.min(theirs[at]);
                cosines[at] = f64::from(dot(vector, &reference.vector));
            }
        }
    }
    let mean = |numbers: &[f64]| numbers.iter().sum::<f64>() / count.max(1) as f64;
    let note = format!("CPU of the process, one at a time, mean of {count}, best of {ROUNDS} each");
    report.add("a text", mean(&ours), "ms", note);
    if yardstick.is_some() {
        let note = "CPU of its process, the same way";
        report.add("a text, onnxruntime", mean(&theirs), "ms", note);
        let ratio = mean(&ours) / mean(&theirs);
        report.add("ratio", ratio, "x", "less is better");
        let (mean, worst) = (mean(&cosines), cosines.iter().copied().fold(1.0, f64::min));
        let note = format!("mean, {mean:.4} in full; worst {worst:.4}");
        report.add("cosine of both vectors", mean, "", note);
    }
    Ok(())
}

/// Embeds all texts, from as many threads as there are cores.
fn all_cores(embedder: &OnnxEmbedder, texts: &[String], report: &mut Report) -> Result<()> {
    let threads = std::thread::available_parallelism()?.get();
    let next = AtomicUsize::new(0);
    let started = Instant::now();
    let (results, used) = process_cpu_ms(|| {
        std::thread::scope(|scope| {
            let work = || {
                while let Some(text) = texts.get(next.fetch_add(1, Ordering::Relaxed)) {
                    embedder.embed_one(text, Role::Document)?;
                }
                kodiak::Result::Ok(())
            };
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            workers
                .into_iter()
                .map(|worker| worker.join().expect("embedding does not panic"))
                .collect::<Vec<_>>()
        })
    });
    let wall = started.elapsed().as_secs_f64() * 1e3;
    results.into_iter().collect::<kodiak::Result<()>>()?;
    let count = texts.len() as f64;
    report.add(
        "a text, all cores",
        wall / count,
        "ms",
        format!("wall, {threads} threads; CPU {:.1}", used / count),
    );
    Ok(())
}

fn lines(file: &Path) -> Result<Vec<String>> {
    let content = std::fs::read_to_string(file)
        .with_context(|| format!("could not read {}", file.display()))?;
    let lines = content.lines().filter(|line| !line.trim().is_empty());
    Ok(lines.map(str::to_owned).collect())
}

/// Returns the words of all notes of a folder, in texts of equal length.
pub(crate) fn pieces(folder: &Path) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder)
            .with_context(|| format!("could not read {}", folder.display()))?;
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md")
                && let Ok(content) = std::fs::read_to_string(&path)
            {
                words.extend(content.split_whitespace().map(str::to_owned));
                while words.len() >= WORDS_PER_TEXT {
                    let rest = words.split_off(WORDS_PER_TEXT);
                    texts.push(words.join(" "));
                    words = rest;
                }
            }
        }
    }
    Ok(texts)
}

/// onnxruntime in a Python process, one text and one answer at a time.
struct Yardstick {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

/// The result of onnxruntime for a text.
#[derive(Debug, Deserialize)]
struct Reference {
    cpu_ms: f64,
    vector: Vec<f32>,
}

impl Yardstick {
    fn start(python: &Path, model: &Path) -> Result<Self> {
        let mut process = Command::new(python)
            .arg("-c")
            .arg(YARDSTICK)
            .arg(model)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("could not start {}", python.display()))?;
        let input = process.stdin.take().context("it has no input")?;
        let output = process.stdout.take().context("it has no output")?;
        let mut yardstick = Self {
            process,
            input,
            output: BufReader::new(output),
        };
        yardstick.embed("word")?;
        Ok(yardstick)
    }

    fn embed(&mut self, text: &str) -> Result<Reference> {
        let ended = "the script for onnxruntime ended, see above";
        writeln!(self.input, "{}", serde_json::to_string(text)?).context(ended)?;
        let mut answer = String::new();
        self.output.read_line(&mut answer)?;
        anyhow::ensure!(!answer.is_empty(), ended);
        Ok(serde_json::from_str(&answer)?)
    }
}

impl Drop for Yardstick {
    fn drop(&mut self) {
        // It may have ended already, and loses nothing.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
