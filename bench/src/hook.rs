//! Asks a hook prompts that it should and should not know something about.
//!
//! The turns of each conversation of LoCoMo become the memories of a project. Its
//! questions are asked there, and in another conversation, where they are foreign. A
//! folder of notes is asked judged queries, and queries that no note answers.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use kodiak::access::Guard;
use kodiak::embed::{Embedder, OnnxEmbedder};
use kodiak::engine::{EngineBuilder, ToSync};
use kodiak::source::Source;
use kodiak::{Engine, Job};
use kodiak_hook::{Event, Hook, HookOptions, Told, Verdict};
use kodiak_memory::{MEMORY_SOURCE, MemoryFolder, MemoryOptions};
use kodiak_notes::MarkdownFolder;
use kodiak_notes::markdown::FolderOptions;
use serde_json::{Value, json};

use crate::clock;
use crate::report::Report;

/// The name of the source of notes.
const NOTES: &str = "notes";
/// The file with the vectors of evaluations, in the folder of models.
const CACHE: &str = "eval-embeddings.db";
/// How long a search waits for the model.
const PATIENCE: Duration = Duration::from_mins(1);
/// The number of prompts of a session whose tokens are counted.
const PROMPTS: usize = 50;

/// What to measure.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// LoCoMo in BEIR layout, with a group for each conversation; it is only read.
    #[arg(long, value_name = "SET")]
    locomo: Option<PathBuf>,
    /// A folder of notes; it is only read.
    #[arg(long, value_name = "FOLDER", requires = "queries")]
    notes: Option<PathBuf>,
    /// The folder with `meaning-queries.tsv`, `wordy-queries.tsv` and
    /// `absent-queries.tsv` over the notes.
    #[arg(long, value_name = "FOLDER")]
    queries: Option<PathBuf>,
    /// The folder of installed models, where vectors are cached; without one, words alone
    /// are measured.
    #[arg(long, value_name = "FOLDER")]
    models: Option<PathBuf>,
    /// The name of the model.
    #[arg(long, default_value = "all-minilm-l6-v2")]
    model: String,
    /// The program whose CPU time is measured, in a new process for each prompt.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// The number of such prompts.
    #[arg(long, default_value_t = 100)]
    runs: usize,
}

/// A prompt, and what answers it.
struct Prompt {
    text: String,
    /// The folder that the agent works in.
    folder: String,
    /// The keys of the documents that answer; none for a foreign prompt.
    right: HashSet<String>,
}

/// What came of prompts.
#[derive(Default)]
struct Figures {
    prompts: usize,
    told: usize,
    answered: usize,
    items: usize,
    right: usize,
    /// The items whose first document is right by itself.
    exact: usize,
    tokens: usize,
}

/// Measures what is told, with the model and by words alone.
pub(crate) fn measure(options: &Options, report: &mut Report) -> Result<()> {
    let embedder = match &options.models {
        Some(models) => {
            let installed = kodiak::model::find(models, &options.model)?;
            let installed = installed.context("the model is not installed")?;
            Some(Arc::new(OnnxEmbedder::new(installed)) as Arc<dyn Embedder>)
        }
        None => None,
    };
    for embedder in [None].into_iter().chain(embedder.map(Some)) {
        let way = if embedder.is_some() {
            "with a model"
        } else {
            "by words alone"
        };
        if let Some(set) = &options.locomo {
            let place = tempfile::tempdir()?;
            let (own, foreign) = locomo(set, place.path())?;
            let memories = place.path().join("memory");
            let source = MemoryFolder::new(MEMORY_SOURCE, &memories, MemoryOptions::default())?;
            let engine = engine(place.path(), Box::new(source), embedder.as_ref(), options)?;
            let hook = Hook::new(&engine, HookOptions::default());
            let name = format!("LoCoMo {way}");
            rows(&name, &hook, &own, &foreign, report)?;
            sessions(&name, &hook, &own, report)?;
            if let (Some(program), Some(models), true) =
                (&options.program, &options.models, embedder.is_some())
            {
                drop(engine);
                cpu(&name, program, models, place.path(), &own, options, report)?;
            }
        }
        if let (Some(notes), Some(queries)) = (&options.notes, &options.queries) {
            let place = tempfile::tempdir()?;
            let source = MarkdownFolder::new(NOTES, notes, FolderOptions::default())?;
            let engine = engine(place.path(), Box::new(source), embedder.as_ref(), options)?;
            let asked = HookOptions {
                sources: vec![NOTES.to_owned()],
                ..HookOptions::default()
            };
            let hook = Hook::new(&engine, asked);
            let mut own = judged(&queries.join("meaning-queries.tsv"), notes)?;
            own.extend(judged(&queries.join("wordy-queries.tsv"), notes)?);
            let foreign = judged(&queries.join("absent-queries.tsv"), notes)?;
            rows(&format!("notes {way}"), &hook, &own, &foreign, report)?;
        }
    }
    Ok(())
}

/// Indexes a source.
fn engine(
    place: &Path,
    source: Box<dyn Source>,
    embedder: Option<&Arc<dyn Embedder>>,
    options: &Options,
) -> Result<Engine> {
    // However busy the machine is, what is measured here is what is told.
    let builder = Engine::builder(place.join("index.db")).deadline(PATIENCE);
    let mut builder: EngineBuilder = builder.sources([source]);
    if let (Some(embedder), Some(models)) = (embedder, &options.models) {
        builder = builder
            .model(Arc::clone(embedder))
            .cache(models.join(CACHE));
    }
    let engine = builder.open()?;
    let (guard, job) = (Guard::local(), Job::default());
    engine.sync(&guard, ToSync::All, &job)?;
    if embedder.is_some() {
        engine.embed(&guard, None, &job)?;
    }
    Ok(engine)
}

/// Writes the turns of a set as memories. Returns the questions where they belong, and
/// in another conversation.
fn locomo(set: &Path, place: &Path) -> Result<(Vec<Prompt>, Vec<Prompt>)> {
    let folder = place.join("memory");
    fs::create_dir(&folder)?;
    let mut keys: HashMap<String, String> = HashMap::new();
    let mut groups: Vec<String> = Vec::new();
    for (number, turn) in lines(&set.join("corpus.jsonl"))?.iter().enumerate() {
        let turn: Value = serde_json::from_str(turn)?;
        let group = turn["group"].as_str().context("a turn without a group")?;
        if !groups.iter().any(|known| known == group) {
            groups.push(group.to_owned());
        }
        // Turns are in the order of their files.
        let id = format!("memory-{number:08}");
        let front = json!({"id": id, "project": project(group), "session": group});
        let front = front.as_object().into_iter().flatten();
        let front: String = front
            .map(|(name, value)| format!("{name}: {value}\n"))
            .collect();
        let text = turn["text"].as_str().unwrap_or_default();
        fs::write(
            folder.join(format!("{id}.md")),
            format!("---\n{front}---\n{text}"),
        )?;
        keys.insert(turn["_id"].as_str().unwrap_or_default().to_owned(), id);
    }
    ensure!(groups.len() > 1, "the set has no two conversations");
    let mut right: HashMap<String, HashSet<String>> = HashMap::new();
    for line in lines(&set.join("qrels.tsv"))?.iter().skip(1) {
        let mut cells = line.split('\t');
        if let (Some(query), Some(turn)) = (cells.next(), cells.next())
            && let Some(key) = keys.get(turn)
        {
            right
                .entry(query.to_owned())
                .or_default()
                .insert(key.clone());
        }
    }
    let (mut own, mut foreign) = (Vec::new(), Vec::new());
    for (number, line) in lines(&set.join("queries.jsonl"))?.iter().enumerate() {
        let query: Value = serde_json::from_str(line)?;
        let text = query["text"].as_str().unwrap_or_default().to_owned();
        let group = query["group"]
            .as_str()
            .context("a question without a group")?;
        let at = groups.iter().position(|known| known == group).unwrap_or(0);
        let other = &groups[(at + 1 + number % (groups.len() - 1)) % groups.len()];
        let id = query["_id"].as_str().unwrap_or_default();
        own.push(Prompt {
            text: text.clone(),
            folder: project(group),
            right: right.remove(id).unwrap_or_default(),
        });
        foreign.push(Prompt {
            text,
            folder: project(other),
            right: HashSet::new(),
        });
    }
    Ok((own, foreign))
}

/// Returns the folder of a conversation.
fn project(group: &str) -> String {
    format!("/locomo/{group}")
}

/// Reads judged queries over notes.
fn judged(path: &Path, notes: &Path) -> Result<Vec<Prompt>> {
    let name = notes.file_name().unwrap_or_default().to_string_lossy();
    let inside = format!("{name}/");
    let mut prompts = Vec::new();
    for line in lines(path)?.iter().filter(|line| !line.trim().is_empty()) {
        let (text, targets) = line.split_once('\t').unwrap_or((line, ""));
        let targets = targets.split(',').map(str::trim);
        let targets = targets.map(|target| target.trim_start_matches(&*inside).to_owned());
        prompts.push(Prompt {
            text: text.trim().to_owned(),
            folder: "/nowhere".to_owned(),
            right: targets.filter(|target| !target.is_empty()).collect(),
        });
    }
    Ok(prompts)
}

fn lines(path: &Path) -> Result<Vec<String>> {
    let file = File::open(path).with_context(|| format!("could not read {}", path.display()))?;
    Ok(BufReader::new(file).lines().collect::<Result<_, _>>()?)
}

fn event(prompt: &Prompt) -> Event {
    Event {
        name: "UserPromptSubmit".to_owned(),
        session_id: Some("bench".to_owned()),
        cwd: Some(prompt.folder.clone().into()),
        prompt: Some(prompt.text.clone()),
        ..Event::default()
    }
}

/// Asks prompts, each in a session of its own.
fn asked(hook: &Hook<'_>, prompts: &[Prompt]) -> Result<Figures> {
    let mut figures = Figures::default();
    for prompt in prompts {
        let considered = hook.consider(&event(prompt), &Told::default())?;
        figures.prompts += 1;
        let Some(context) = &considered.context else {
            continue;
        };
        figures.told += 1;
        figures.tokens += context.tokens();
        let is_right = |address: &String| {
            let key = address.splitn(4, '/').nth(3).unwrap_or_default();
            prompt
                .right
                .iter()
                .any(|right| key.starts_with(right.as_str()))
        };
        let right = context
            .items
            .iter()
            .filter(|item| item.iter().any(is_right));
        let right = right.count();
        figures.items += context.items.len();
        figures.right += right;
        figures.answered += usize::from(right > 0);
        let first = considered.candidates.iter();
        let first = first.filter(|one| one.verdict == Verdict::Told);
        let mut exact: Vec<_> = first.filter(|one| is_right(&one.hit.uri)).collect();
        exact.dedup_by_key(|one| one.hit.row);
        figures.exact += exact.len();
    }
    Ok(figures)
}

fn rows(
    name: &str,
    hook: &Hook<'_>,
    own: &[Prompt],
    foreign: &[Prompt],
    report: &mut Report,
) -> Result<()> {
    let (own, foreign) = (asked(hook, own)?, asked(hook, foreign)?);
    let percent = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
    report.add(
        format!("{name}: items that are right"),
        percent(own.right, own.items),
        "%",
        format!("{} of {}", own.right, own.items),
    );
    report.add(
        format!("{name}: items that are right by their first document"),
        percent(own.exact, own.items),
        "%",
        format!("{} of {}", own.exact, own.items),
    );
    report.add(
        format!("{name}: own prompts with a right item"),
        percent(own.answered, own.prompts),
        "%",
        format!(
            "{} of {}; {} were told something",
            own.answered, own.prompts, own.told
        ),
    );
    report.add(
        format!("{name}: foreign prompts with any item"),
        percent(foreign.told, foreign.prompts),
        "%",
        format!("{} of {}", foreign.told, foreign.prompts),
    );
    report.add(
        format!("{name}: tokens of what is told"),
        own.tokens as f64 / own.told.max(1) as f64,
        "",
        "mean of the prompts with an item",
    );
    Ok(())
}

/// Asks the first questions of each conversation in one session, where each item is told
/// once.
fn sessions(name: &str, hook: &Hook<'_>, own: &[Prompt], report: &mut Report) -> Result<()> {
    let mut by_folder: HashMap<&str, Vec<&Prompt>> = HashMap::new();
    for prompt in own {
        by_folder.entry(&prompt.folder).or_default().push(prompt);
    }
    let mut totals = Vec::new();
    for prompts in by_folder.values() {
        let (mut told, mut tokens) = (Told::default(), 0);
        for prompt in prompts.iter().take(PROMPTS) {
            if let Some(context) = hook.prompt(&event(prompt), &told)? {
                told.add(context.documents());
                tokens += context.tokens();
            }
        }
        totals.push(tokens);
    }
    totals.sort_unstable();
    report.add(
        format!("{name}: tokens of a session of {PROMPTS} prompts"),
        totals.get(totals.len() / 2).copied().unwrap_or(0) as f64,
        "",
        format!(
            "median of {} sessions; {} to {}",
            totals.len(),
            totals.first().unwrap_or(&0),
            totals.last().unwrap_or(&0)
        ),
    );
    Ok(())
}

/// Runs the program for prompts, each in a new process.
fn cpu(
    name: &str,
    program: &Path,
    models: &Path,
    place: &Path,
    own: &[Prompt],
    options: &Options,
    report: &mut Report,
) -> Result<()> {
    let config = place.join("config.toml");
    let memories = place.join("memory");
    let text = format!(
        "model = \"{}\"\n[[source]]\nname = \"{MEMORY_SOURCE}\"\nkind = \"memory\"\npath = \"{}\"\n",
        options.model,
        memories.display()
    );
    fs::write(&config, text)?;
    let input = place.join("event.json");
    let step = (own.len() / options.runs.max(1)).max(1);
    let mut used: Vec<f64> = Vec::new();
    let mut told = 0;
    for (number, prompt) in own.iter().step_by(step).take(options.runs).enumerate() {
        let event = json!({
            "hook_event_name": "UserPromptSubmit",
            "session_id": format!("session-{number}"),
            "cwd": prompt.folder,
            "prompt": prompt.text,
        });
        File::create(&input)?.write_all(event.to_string().as_bytes())?;
        let mut command = Command::new(program);
        command
            .arg("hook")
            .arg("--index")
            .arg(place.join("index.db"))
            .arg("--config")
            .arg(&config)
            .env_clear()
            .env("HOME", place)
            .env("KODIAK_MODELS", models)
            .stdin(Stdio::from(File::open(&input)?));
        let (cpu, output) = clock::run_for_output(&mut command)?;
        used.push(cpu.as_secs_f64() * 1e3);
        told += usize::from(!output.is_empty());
    }
    used.sort_by(f64::total_cmp);
    for (what, share) in [("median", 0.5), ("95th percentile", 0.95)] {
        let at = ((used.len() as f64 * share) as usize).min(used.len().saturating_sub(1));
        report.add(
            format!("{name}: CPU time of a prompt, {what}"),
            used.get(at).copied().unwrap_or(f64::NAN),
            "ms",
            format!("{} new processes; {told} told something", used.len()),
        );
    }
    Ok(())
}
