//! Measures Bear's database as a source beside the same notes as files: a first
//! sync, a sync after one change, a search after one change, and searches where
//! nothing changed. Both are measured in turns.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use kodiak::Engine;
use kodiak::access::Guard;
use kodiak::engine::{Job, ToSync};
use kodiak::search::Request;
use kodiak::source::Source;
use kodiak_bear::{BearDatabase, BearOptions};
use kodiak_notes::{FolderOptions, MarkdownFolder};
use tiny_bear::{Bear, Generation, Note};

use crate::clock::process_cpu_ms;
use crate::report::{Report, median};
use crate::zipf::Generator;

const SEED: u64 = 23;
/// The number of notes in one folder.
const PER_FOLDER: usize = 100;
/// How old a file must be for its version to be trusted.
const TRUSTED_AGE: Duration = Duration::from_millis(60);

/// What to measure.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The number of notes.
    #[arg(long, default_value_t = 20_000)]
    documents: usize,
    /// The number of first syncs of each.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// The number of changes, and of searches, of each.
    #[arg(long, default_value_t = 20)]
    runs: usize,
    /// The program to measure.
    #[arg(long, default_value = "target/release/kodiak")]
    program: PathBuf,
}

/// Where the notes are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Files,
    Bear,
}

const PLACES: [Place; 2] = [Place::Files, Place::Bear];

impl Place {
    fn name(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Bear => "bear",
        }
    }
}

/// The same notes in both places.
struct Notes {
    home: tempfile::TempDir,
    bear: Bear,
    texts: Vec<String>,
}

impl Notes {
    fn new(count: usize) -> Result<Self> {
        let home = tempfile::tempdir()?;
        let bear = Bear::create(&home.path().join("database.sqlite"), Generation::Newer)?;
        let mut generator = Generator::new(SEED);
        let mut texts = Vec::new();
        bear.connection().execute_batch("BEGIN")?;
        for number in 0..count {
            let (title, body) = generator.note(number);
            let tags = [
                format!("area{}", number % 7),
                format!("area{}/topic{}", number % 7, number % 50),
            ];
            let text = format!("# {title}\n#{} #{}\n\n{body}\n", tags[0], tags[1]);
            let note = Note::new(&identifier(number), &title, &text);
            bear.add(&note.tagged(&[&tags[0], &tags[1]]))?;
            let path = file(home.path(), number);
            std::fs::create_dir_all(path.parent().unwrap_or(Path::new("")))?;
            std::fs::write(path, &text)?;
            texts.push(text);
        }
        bear.connection().execute_batch("COMMIT")?;
        // Bear moves its log into the database from time to time.
        let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
        bear.connection().query_row(checkpoint, [], |_| Ok(()))?;
        std::thread::sleep(TRUSTED_AGE);
        Ok(Self { home, bear, texts })
    }

    fn source(&self, place: Place) -> Result<Box<dyn Source>> {
        let home = self.home.path();
        Ok(match place {
            Place::Files => {
                let folder = home.join("notes");
                let options = FolderOptions::default();
                Box::new(MarkdownFolder::new(place.name(), &folder, options)?)
            }
            Place::Bear => {
                let database = home.join("database.sqlite");
                let options = BearOptions::default();
                Box::new(BearDatabase::new(place.name(), &database, options)?)
            }
        })
    }

    fn index(&self, place: Place) -> PathBuf {
        self.home.path().join(format!("{}/index.db", place.name()))
    }

    fn engine(&self, place: Place) -> Result<Engine> {
        let builder = Engine::builder(self.index(place)).refresh(Duration::from_mins(1));
        Ok(builder.sources([self.source(place)?]).open()?)
    }

    /// Adds a word to a note, in both places.
    fn change(&mut self, number: usize, word: &str) -> Result<()> {
        let text = &mut self.texts[number];
        text.push_str(&format!("\n{word}\n"));
        std::fs::write(file(self.home.path(), number), &*text)?;
        let modified = 1_770_000_000.0 + number as f64;
        self.bear.edit(&identifier(number), text, modified)?;
        Ok(())
    }

    /// Returns the program, told to use the index and the notes of one place.
    fn command(&self, program: &Path, place: Place, arguments: &[&str]) -> Command {
        let home = self.home.path().join(place.name());
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .env("HOME", &home)
            .env("KODIAK_CONFIG", home.join("config.toml"))
            .env("KODIAK_INDEX", self.index(place))
            .env("KODIAK_MODEL", "none")
            .env("KODIAK_OFFLINE", "1")
            .stdin(Stdio::null())
            .current_dir(self.home.path());
        command
    }
}

fn identifier(number: usize) -> String {
    format!("{number:08X}-41A2-4C55-9D0E-0A1B2C3D4E5F")
}

fn file(home: &Path, number: usize) -> PathBuf {
    let folder = format!("notes/{:04}", number / PER_FOLDER);
    home.join(folder).join(format!("{number:07}.md"))
}

/// The times of one task, in milliseconds, of both places.
#[derive(Default)]
struct Times {
    cpu: [Vec<f64>; 2],
    wall: [Vec<f64>; 2],
}

impl Times {
    fn take<T>(&mut self, place: Place, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let started = Instant::now();
        let (done, cpu) = process_cpu_ms(work);
        self.cpu[place as usize].push(cpu);
        self.wall[place as usize].push(started.elapsed().as_secs_f64() * 1e3);
        done
    }

    /// Adds a row for each place, in CPU time, and what Bear takes more or less.
    fn report(self, what: &str, report: &mut Report) {
        let runs = self.cpu[0].len();
        let wall = self.wall.map(median);
        let cpu = self.cpu.map(median);
        for place in PLACES {
            let (cpu, wall) = (cpu[place as usize], wall[place as usize]);
            let detail = format!("CPU, median of {runs}; wall {wall:.1} ms");
            report.add(format!("{what}, {}", place.name()), cpu, "ms", detail);
        }
        let detail = format!("wall {:.2}", wall[1] / wall[0]);
        report.add(format!("{what}, bear / files"), cpu[1] / cpu[0], "", detail);
    }
}

/// Measures both on generated notes.
pub(crate) fn measure(options: &Options, report: &mut Report) -> Result<()> {
    let mut notes = Notes::new(options.documents)?;
    let guard = Guard::local();
    let mut first = Times::default();
    for _ in 0..options.rounds {
        for place in PLACES {
            let folder = notes.home.path().join(place.name());
            if folder.exists() {
                std::fs::remove_dir_all(&folder)?;
            }
            std::fs::create_dir_all(&folder)?;
            let engine = notes.engine(place)?;
            let synced = first.take(place, || {
                Ok(engine.sync(&guard, ToSync::All, &Job::default())?)
            })?;
            ensure!(synced.synced[0].1.added == options.documents, "{synced:?}");
        }
    }
    first.report("first sync", report);

    let engines = [notes.engine(Place::Files)?, notes.engine(Place::Bear)?];
    let (mut unchanged, mut one, mut found) =
        (Times::default(), Times::default(), Times::default());
    for run in 0..options.runs {
        let number = run * 7919 % options.documents;
        notes.change(number, &format!("zyxsync{run}"))?;
        std::thread::sleep(TRUSTED_AGE);
        for place in PLACES {
            let engine = &engines[place as usize];
            let synced = one.take(place, || {
                Ok(engine.sync(&guard, ToSync::All, &Job::default())?)
            })?;
            ensure!(synced.synced[0].1.updated == 1, "{synced:?}");
        }
        for place in PLACES {
            let engine = &engines[place as usize];
            unchanged.take(place, || {
                Ok(engine.sync(&guard, ToSync::All, &Job::default())?)
            })?;
        }
        let word = format!("zyxfind{run}");
        notes.change(number, &word)?;
        for place in PLACES {
            let engine = &engines[place as usize];
            let request = Request {
                exact: true,
                ..Request::new(&word)
            };
            let answer = found.take(place, || Ok(engine.search(&guard, &request)?))?;
            ensure!(answer.hits.len() == 1 && answer.is_complete(), "{answer:?}");
        }
    }
    one.report("sync after one change", report);
    unchanged.report("sync without a change", report);
    found.report("search after one change", report);

    std::thread::sleep(TRUSTED_AGE);
    cold(&notes, options, report)
}

/// Measures searches in a new process, where nothing has changed.
fn cold(notes: &Notes, options: &Options, report: &mut Report) -> Result<()> {
    let program = options.program.canonicalize();
    let program =
        program.with_context(|| format!("could not find {}", options.program.display()))?;
    for place in PLACES {
        let add: &[&str] = match place {
            Place::Files => &["add", "notes", "--name", "files", "--yes"],
            Place::Bear => &["add", "--bear", "database.sqlite"],
        };
        let added = notes.command(&program, place, add).output()?;
        ensure!(added.status.success(), "could not index: {added:?}");
    }
    let mut generator = Generator::new(SEED);
    for more in [&[][..], &["--no-refresh"]] {
        let mut times = [Vec::new(), Vec::new()];
        let mut hits = [0, 0];
        for _ in 0..options.runs {
            let query = generator.words(2);
            let arguments = [&["search", "--quiet", "--json", &query][..], more].concat();
            for place in PLACES {
                let mut search = notes.command(&program, place, &arguments);
                let started = Instant::now();
                let output = search.output()?;
                times[place as usize].push(started.elapsed().as_secs_f64() * 1e3);
                let answer: serde_json::Value = serde_json::from_slice(&output.stdout)
                    .context("could not understand the program's answer")?;
                hits[place as usize] += answer["hits"].as_array().map_or(0, Vec::len);
            }
        }
        let what = [&["cold search"], more].concat().join(" ");
        let times = times.map(median);
        for place in PLACES {
            let (time, hits) = (times[place as usize], hits[place as usize]);
            let detail = format!("wall, median of {}; {hits} hits", options.runs);
            report.add(format!("{what}, {}", place.name()), time, "ms", detail);
        }
    }
    Ok(())
}
