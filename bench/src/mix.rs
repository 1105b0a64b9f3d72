//! Measures searches over a mix of notes, memories, session records and transcripts,
//! beside the same texts as notes alone.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, ensure};
use kodiak::Engine;
use kodiak::access::Guard;
use kodiak::engine::{Job, ToSync};
use kodiak::search::{Mode, Request};
use kodiak_memory::{MemoryFolder, MemoryOptions};
use kodiak_notes::MarkdownFolder;
use kodiak_notes::markdown::FolderOptions;
use kodiak_sessions::transcripts::Agent;
use kodiak_sessions::{SessionOptions, SessionRecords, TranscriptOptions, TranscriptSource};

use crate::clock::process_cpu_ms;
use crate::report::{Report, median};
use crate::zipf::Generator;

const SEED: u64 = 17;
/// The number of words of a document.
const WORDS: usize = 60;
/// The number of words of a note's title.
const TITLE_WORDS: usize = 9;
/// The number of turns of a session, each of which is a document.
const TURNS: usize = 50;
/// The number of different queries of each kind.
const QUERIES: usize = 25;

/// Makes a query of a kind.
type MakeQuery = fn(&mut Generator) -> String;

/// What to measure.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The number of documents.
    #[arg(long, default_value_t = 100_000)]
    documents: usize,
}

/// Indexes the same texts twice, as notes and as a mix, and searches both in turns.
pub(crate) fn measure(options: &Options, report: &mut Report) -> Result<()> {
    let place = tempfile::tempdir()?;
    let mut generator = Generator::new(SEED);
    let texts: Vec<String> = (0..options.documents)
        .map(|_| generator.words(WORDS))
        .collect();
    let notes = notes(place.path(), &texts)?;
    let mixed = mixed(place.path(), &texts)?;
    for (engine, what) in [(&notes, "notes"), (&mixed, "mix")] {
        let (synced, used) =
            process_cpu_ms(|| engine.sync(&Guard::local(), ToSync::All, &Job::default()));
        let report_of = synced?;
        let added: usize = report_of.synced.iter().map(|(_, one)| one.added).sum();
        ensure!(added == texts.len(), "{what}: {added} of {}", texts.len());
        let per_document = used * 1e3 / texts.len() as f64;
        report.add(
            format!("{what}: index"),
            per_document,
            "us",
            "CPU per document",
        );
    }
    let kinds: [(&str, MakeQuery); 3] = [
        ("rare word", Generator::rare_word),
        ("six words", |generator| generator.words(6)),
        ("two words", |generator| generator.words(2)),
    ];
    for (kind, query) in kinds {
        let queries: Vec<String> = (0..QUERIES).map(|_| query(&mut generator)).collect();
        let mut times = [Vec::new(), Vec::new()];
        // The first round warms the caches and is not counted.
        for round in 0..4 {
            for query in &queries {
                for (engine, times) in [&notes, &mixed].into_iter().zip(&mut times) {
                    let request = Request {
                        mode: Mode::Lexical,
                        refresh: false,
                        ..Request::new(query.as_str())
                    };
                    let (answer, used) =
                        process_cpu_ms(|| engine.search(&Guard::local(), &request));
                    answer?;
                    if round > 0 {
                        times.push(used);
                    }
                }
            }
        }
        let [alone, mix] = times.map(median);
        let detail = format!(
            "CPU, warm; notes alone {alone:.2} ms, {:.2} times",
            mix / alone
        );
        report.add(format!("mix: {kind}"), mix, "ms", detail);
    }
    Ok(())
}

fn notes(place: &Path, texts: &[String]) -> Result<Engine> {
    let root = place.join("notes");
    write_notes(&root, texts)?;
    let source = MarkdownFolder::new("notes", &root, FolderOptions::default())?;
    let engine = Engine::builder(place.join("notes.db"));
    Ok(engine.source(source).refresh(Duration::ZERO).open()?)
}

/// A quarter each of notes, memories, session records and turns.
fn mixed(place: &Path, texts: &[String]) -> Result<Engine> {
    let root = place.join("mix");
    let (notes, rest) = texts.split_at(texts.len() / 4);
    let (memories, rest) = rest.split_at(texts.len() / 4);
    let (records, turns) = rest.split_at(texts.len() / 4);
    write_notes(&root.join("notes"), notes)?;
    write_memories(&root.join("memory"), memories)?;
    write_records(&root.join("records"), records)?;
    write_turns(&root.join("agent/projects/-p"), turns)?;
    let builder = Engine::builder(place.join("mix.db")).refresh(Duration::ZERO);
    Ok(builder
        .source(MarkdownFolder::new(
            "notes",
            &root.join("notes"),
            FolderOptions::default(),
        )?)
        .source(MemoryFolder::new(
            "memory",
            &root.join("memory"),
            MemoryOptions::default(),
        )?)
        .source(SessionRecords::new(
            "sessions",
            &root.join("records"),
            SessionOptions::default(),
        )?)
        .source(TranscriptSource::new(
            "agent",
            Agent::ClaudeCode,
            &root.join("agent"),
            TranscriptOptions::default(),
        )?)
        .open()?)
}

/// Writes each text as a note. Its title are its first words, as those of memories
/// and turns are: the longer the titles, the more there is to search.
fn write_notes(root: &Path, texts: &[String]) -> Result<()> {
    std::fs::create_dir_all(root)?;
    for (number, text) in texts.iter().enumerate() {
        let title: Vec<&str> = text.split(' ').take(TITLE_WORDS).collect();
        let note = format!("# {}\n\n{text}\n", title.join(" "));
        std::fs::write(root.join(format!("{number}.md")), note)?;
    }
    Ok(())
}

fn write_memories(root: &Path, texts: &[String]) -> Result<()> {
    std::fs::create_dir_all(root)?;
    for (number, text) in texts.iter().enumerate() {
        let memory = format!(
            "---\nid: memory-{number}\nproject: /src/{}\n---\n{text}\n",
            number % 7
        );
        std::fs::write(root.join(format!("{number}.md")), memory)?;
    }
    Ok(())
}

fn write_records(root: &Path, texts: &[String]) -> Result<()> {
    std::fs::create_dir_all(root)?;
    for (number, text) in texts.iter().enumerate() {
        let record = serde_json::json!({
            "id": format!("{number:016x}"), "version": 1,
            "classification": {"type": "coding"}, "content": {"summary": text},
        });
        std::fs::write(
            root.join(format!("{number:016x}-v1.json")),
            record.to_string(),
        )?;
    }
    Ok(())
}

fn write_turns(root: &Path, texts: &[String]) -> Result<()> {
    std::fs::create_dir_all(root)?;
    for (session, turns) in texts.chunks(TURNS).enumerate() {
        let mut lines = String::new();
        for (turn, text) in turns.iter().enumerate() {
            writeln!(
                lines,
                r#"{{"type":"user","uuid":"u{turn}","sessionId":"session-{session}","cwd":"/p","isSidechain":false,"timestamp":"2026-08-22T10:00:{turn:02}.000Z","message":{{"role":"user","content":"{text}"}}}}"#
            )?;
        }
        std::fs::write(root.join(format!("session-{session}.jsonl")), lines)?;
    }
    Ok(())
}
