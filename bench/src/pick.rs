//! Measures the picker: types queries into its state machine at a steady pace, with its
//! threads behind it and a screen without a terminal.
//!
//! Wall time counts here, because it is what people wait for.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::Args;
use kodiak::search::Request;
use kodiak::{Engine, Error};
use kodiak_picker::{
    Effect, Event, Host, Item, Key, Problem, Searcher, Stage, State, Worker, view,
};
use ratatui_core::backend::TestBackend;
use ratatui_core::terminal::Terminal;

use crate::report::Report;
use crate::scale::fill;
use crate::zipf::Generator;

/// The size of the screen: a large one.
const COLUMNS: u16 = 200;
const ROWS: u16 = 50;
/// The frame that people see stutter.
const LONGEST_FRAME_MS: f64 = 50.0;
/// When the first results must be there, in milliseconds from the start.
const FIRST_MS: f64 = 50.0;
/// When hits by words must be there, in milliseconds from their key, for 95 of 100 keys.
const WORDS_MS: f64 = 20.0;
/// The frames between two keys that are awaited at the end.
const LAST_WAIT: Duration = Duration::from_secs(10);

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The number of notes.
    #[arg(long, default_value_t = 100_000)]
    notes: usize,
    /// The number of queries that are typed.
    #[arg(long, default_value_t = 60)]
    queries: usize,
    /// The keys that are typed in a second.
    #[arg(long, default_value_t = 60)]
    keys: u32,
}

/// Knows no files.
struct Nowhere;

impl Host for Nowhere {
    fn place(&self, source: &str, path: &str) -> String {
        format!("{source}/{path}")
    }

    fn path(&self, item: &Item) -> String {
        item.uri.clone()
    }

    fn open_folder(&self, _: &Item) -> Result<String, String> {
        Err("there is no folder".to_owned())
    }

    fn explain(&self, error: Error) -> Problem {
        Problem {
            text: error.to_string(),
            hints: Vec::new(),
        }
    }
}

/// A picker without a terminal, and what was measured of it.
struct Picker {
    state: State,
    worker: Worker,
    terminal: Terminal<TestBackend>,
    events: Receiver<Event>,
    /// When each query was typed, by its number, until its hits by words are drawn.
    typed: Vec<(u64, Instant)>,
    words: Vec<f64>,
    superseded: usize,
    frames: Vec<f64>,
}

/// Indexes notes and types queries.
pub(crate) fn measure(options: &Options, report: &mut Report) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("index.db");
    let mut generator = Generator::new(7);
    fill(&path, (0..options.notes).map(|_| generator.document()))?;
    let queries = generator.queries(options.queries);

    let started = Instant::now();
    let mut picker = Picker::start(&path)?;
    picker.wait_until(Instant::now() + LAST_WAIT, |state| {
        state.list().stage().is_some()
    })?;
    let first = ms(started.elapsed());
    let pace = Duration::from_secs(1) / options.keys.max(1);
    let mut next = Instant::now();
    for query in &queries {
        let keys = query.chars().map(Key::Char);
        for key in keys.chain([Key::Down, Key::Control('u')]) {
            picker.press(key)?;
            next += pace;
            picker.wait_until(next, |_| false)?;
        }
    }
    picker.wait_until(Instant::now() + LAST_WAIT, |state| !state.is_searching())?;

    let what = |part: &str| format!("{} notes: {part}", options.notes);
    report.add(
        what("first results"),
        first,
        "ms",
        "wall, from the start of the picker",
    );
    let detail = format!(
        "{} keys a second, {} answered, {} superseded before",
        options.keys,
        picker.words.len(),
        picker.superseded
    );
    add(
        report,
        &what("key to hits by words"),
        &mut picker.words,
        &detail,
    );
    let detail = format!("{COLUMNS} by {ROWS}, {} frames", picker.frames.len());
    add(report, &what("frame"), &mut picker.frames, &detail);
    let slow = picker.frames.iter();
    let slow = slow.filter(|&&frame| frame > LONGEST_FRAME_MS).count();
    report.add(what("frames over 50 ms"), slow as f64, "", "0 is the aim");
    let keys = picker.words.len() + picker.superseded;
    report.add(
        what("superseded"),
        picker.superseded as f64,
        "keys",
        format!("of {keys}, followed by another before their answer"),
    );
    let words = at(&picker.words, 0.95).unwrap_or(f64::MAX);
    let mut broken = Vec::new();
    if first > FIRST_MS {
        broken.push(format!("the first results took {first:.0} ms"));
    }
    if words > WORDS_MS {
        broken.push(format!("hits by words took {words:.0} ms (p95)"));
    }
    if slow > 0 {
        broken.push(format!(
            "{slow} frames took more than {LONGEST_FRAME_MS} ms"
        ));
    }
    ensure!(
        broken.is_empty(),
        "required and not so: {}",
        broken.join("; ")
    );
    Ok(())
}

impl Picker {
    fn start(index: &std::path::Path) -> Result<Self> {
        let engine = Engine::builder(index).open()?;
        let searcher = Searcher {
            history: engine.history(),
            engine,
            request: Request::default(),
            host: Arc::new(Nowhere),
        };
        let (send, events) = mpsc::channel();
        let worker = Worker::start(&searcher, move |event| drop(send.send(event)));
        let mut picker = Self {
            state: State::new("", Vec::new()),
            worker,
            terminal: Terminal::new(TestBackend::new(COLUMNS, ROWS))?,
            events,
            typed: Vec::new(),
            words: Vec::new(),
            superseded: 0,
            frames: Vec::new(),
        };
        picker.state.handle(Event::Resize {
            columns: COLUMNS,
            rows: ROWS,
        });
        let effects = picker.state.begin();
        picker.perform(effects, Instant::now());
        Ok(picker)
    }

    /// Presses a key and draws.
    fn press(&mut self, key: Key) -> Result<()> {
        self.frame(vec![Event::Key(key)])
    }

    /// Draws a frame for each batch of events, until a moment or until `done`.
    fn wait_until(&mut self, end: Instant, done: impl Fn(&State) -> bool) -> Result<()> {
        while !done(&self.state) {
            let left = end.saturating_duration_since(Instant::now());
            match self.events.recv_timeout(left) {
                Ok(event) => {
                    let mut events = vec![event];
                    events.extend(self.events.try_iter());
                    self.frame(events)?;
                }
                Err(RecvTimeoutError::Timeout) => return Ok(()),
                Err(RecvTimeoutError::Disconnected) => anyhow::bail!("the threads have ended"),
            }
        }
        Ok(())
    }

    /// Handles events and draws what has become of the state.
    fn frame(&mut self, events: Vec<Event>) -> Result<()> {
        let started = Instant::now();
        let mut answered = None;
        for event in events {
            if let Event::Found {
                number,
                stage: Stage::Words,
                ..
            } = &event
            {
                answered = Some(*number);
            }
            let effects = self.state.handle(event);
            self.perform(effects, started);
        }
        let Self {
            state, terminal, ..
        } = self;
        terminal.draw(|frame| {
            view::draw(state, frame.buffer_mut());
        })?;
        self.frames.push(ms(started.elapsed()));
        if let Some(answered) = answered {
            for (number, typed) in std::mem::take(&mut self.typed) {
                match number.cmp(&answered) {
                    std::cmp::Ordering::Less => self.superseded += 1,
                    std::cmp::Ordering::Equal => self.words.push(ms(typed.elapsed())),
                    std::cmp::Ordering::Greater => self.typed.push((number, typed)),
                }
            }
        }
        Ok(())
    }

    fn perform(&mut self, effects: Vec<Effect>, typed: Instant) {
        for effect in effects {
            match effect {
                Effect::Search(query) => {
                    self.typed.push((query.number, typed));
                    self.worker.search(&query);
                }
                Effect::Load(item) => self.worker.load(item),
                _ => {}
            }
        }
    }
}

/// Adds the median, the 95th percentile and the worst of some times.
fn add(report: &mut Report, what: &str, times: &mut [f64], detail: &str) {
    times.sort_by(f64::total_cmp);
    for (name, share) in [("p50", 0.5), ("p95", 0.95), ("worst", 1.0)] {
        let value = at(times, share).unwrap_or_default();
        report.add(format!("{what}, {name}"), value, "ms", detail);
    }
}

/// Returns the time below which this share of sorted times is.
fn at(times: &[f64], share: f64) -> Option<f64> {
    let place = (times.len() as f64 * share) as usize;
    times.get(place.min(times.len().saturating_sub(1))).copied()
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
