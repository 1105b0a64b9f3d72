//! Measures how fast transcripts of coding agents are indexed: generated sessions in
//! which two thirds of the characters are tool traffic, as in real ones.

use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Result;
use kodiak::Engine;
use kodiak::access::Guard;
use kodiak::engine::{Job, ToSync};
use kodiak_sessions::transcripts::Agent;
use kodiak_sessions::{TranscriptOptions, TranscriptSource};

use crate::clock::process_cpu_ms;
use crate::report::Report;
use crate::zipf::Generator;

const SEED: u64 = 31;
/// The number of turns in a session, and of words in each part of one.
const TURNS: usize = 120;
const PROMPT: usize = 30;
const ANSWER: usize = 90;
const OUTPUT: usize = 330;

/// What to measure.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The size of all sessions in megabytes.
    #[arg(long, default_value_t = 1000)]
    megabytes: usize,
}

/// Generates sessions, indexes them by word, and indexes them again after one has
/// grown.
pub(crate) fn measure(options: &Options, report: &mut Report) -> Result<()> {
    let home = tempfile::tempdir()?;
    let root = home.path().join("agent");
    let (bytes, sessions) = generate(&root.join("projects/-p"), options.megabytes)?;
    let keep = home.path().join("data/transcripts");
    let engine = Engine::builder(home.path().join("data/index.db"))
        .source(TranscriptSource::new(
            "talks",
            Agent::ClaudeCode,
            &root,
            TranscriptOptions {
                keep: Some(keep.clone()),
                ..TranscriptOptions::default()
            },
        )?)
        .open()?;
    let sync = || engine.sync(&Guard::local(), ToSync::All, &Job::default());
    let (first, milliseconds) = process_cpu_ms(sync);
    let turns: usize = first?.synced.iter().map(|(_, report)| report.added).sum();
    let megabytes = bytes as f64 / 1e6;
    let detail = format!("{megabytes:.0} MB, {sessions} sessions, {turns} turns, CPU time");
    report.add(
        "first index of transcripts",
        megabytes * 1e3 / milliseconds,
        "MB/s",
        detail,
    );
    let kept: u64 = folder_size(&keep)?;
    let share = 100.0 * kept as f64 / bytes as f64;
    report.add(
        "kept copies",
        kept as f64 / 1e6,
        "MB",
        format!("{share:.0} % of the originals"),
    );
    let grown = root.join("projects/-p/session-0.jsonl");
    let mut file = std::fs::OpenOptions::new().append(true).open(grown)?;
    let mut generator = Generator::new(SEED + 1);
    write_turn(&mut file, &mut generator, 0, TURNS)?;
    drop(file);
    let (again, milliseconds) = process_cpu_ms(sync);
    again?;
    report.add(
        "sync after one session has grown",
        milliseconds,
        "ms",
        "CPU time",
    );
    Ok(())
}

fn generate(folder: &Path, megabytes: usize) -> Result<(u64, usize)> {
    std::fs::create_dir_all(folder)?;
    let mut generator = Generator::new(SEED);
    let (mut bytes, mut session) = (0, 0);
    while bytes < megabytes as u64 * 1_000_000 {
        let path = folder.join(format!("session-{session}.jsonl"));
        let mut file = BufWriter::new(std::fs::File::create(&path)?);
        for turn in 0..TURNS {
            write_turn(&mut file, &mut generator, session, turn)?;
        }
        file.flush()?;
        bytes += std::fs::metadata(path)?.len();
        session += 1;
    }
    Ok((bytes, session))
}

/// Writes a prompt, an answer with a command, and what came of it.
fn write_turn(
    file: &mut impl Write,
    generator: &mut Generator,
    session: usize,
    turn: usize,
) -> Result<()> {
    let (prompt, answer) = (generator.words(PROMPT), generator.words(ANSWER));
    let (command, output) = (generator.words(6), generator.words(OUTPUT));
    let around = format!(
        r#""sessionId":"session-{session}","cwd":"/p","gitBranch":"main","version":"2.1.0","isSidechain":false,"userType":"external","timestamp":"2026-08-22T10:{:02}:{:02}.000Z""#,
        turn / 60 % 60,
        turn % 60
    );
    writeln!(
        file,
        r#"{{"type":"user","uuid":"u{turn}",{around},"message":{{"role":"user","content":"{prompt}"}}}}"#
    )?;
    writeln!(
        file,
        r#"{{"type":"assistant","uuid":"a{turn}",{around},"message":{{"id":"m{turn}","model":"opus","content":[{{"type":"text","text":"{answer}"}}]}}}}"#
    )?;
    writeln!(
        file,
        r#"{{"type":"assistant","uuid":"b{turn}",{around},"message":{{"id":"m{turn}","model":"opus","content":[{{"type":"tool_use","id":"t","name":"Bash","input":{{"command":"{command}"}}}}]}}}}"#
    )?;
    writeln!(
        file,
        r#"{{"type":"user","uuid":"r{turn}",{around},"toolUseResult":{{"stdout":"{output}"}},"message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t","content":"{output}"}}]}}}}"#
    )?;
    Ok(())
}

fn folder_size(folder: &Path) -> Result<u64> {
    let mut size = 0;
    for entry in std::fs::read_dir(folder)? {
        size += entry?.metadata()?.len();
    }
    Ok(size)
}
