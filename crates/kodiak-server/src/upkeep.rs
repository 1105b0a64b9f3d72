//! Work in the background: syncing at the start and when a search found that
//! something is missing, and embedding what has no vector.
//!
//! It never delays an answer: it begins a moment after the start, and what it
//! does shows in answers as a remark. While pages are open, `viewers` looks for changes
//! beside it.

mod viewers;

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use kodiak::access::Guard;
use kodiak::engine::{SyncReport, ToSync};
use kodiak::{Cancel, Error, Event, Job};

use crate::news::{About, Level};
use crate::server::Server;

pub(crate) use viewers::Viewer;
use viewers::Viewers;

/// How long the first answer has the machine to itself.
const SETTLE: Duration = Duration::from_secs(2);
/// The shortest time between two syncs.
const REST: Duration = Duration::from_secs(3);
/// How long to wait after another process was writing.
const BUSY: Duration = Duration::from_secs(30);
/// How long the end of the server waits for work to end.
const FAREWELL: Duration = Duration::from_secs(2);

/// What is asked of the background, and what it does.
#[derive(Debug, Default)]
pub(crate) struct Work {
    asked: Mutex<Asked>,
    changed: Condvar,
    doing: Mutex<Option<Doing>>,
    viewers: Viewers,
    cancel: Cancel,
}

#[derive(Debug, Default)]
struct Asked {
    sync: bool,
    stop: bool,
    running: bool,
}

/// What is being done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Doing {
    what: String,
    done: u64,
    all: u64,
}

impl Work {
    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, doing: Option<Doing>) {
        *self.doing.lock().unwrap_or_else(PoisonError::into_inner) = doing;
    }

    /// Asks for a sync, if the background thread runs. Returns whether
    /// it does.
    pub(crate) fn ask(&self) -> bool {
        let mut asked = self.asked();
        asked.sync = true;
        self.changed.notify_all();
        asked.running
    }

    /// Returns what is being done, in words.
    pub(crate) fn doing(&self) -> Option<String> {
        let doing = self.doing.lock().unwrap_or_else(PoisonError::into_inner);
        let doing = doing.as_ref()?;
        let percent = (100 * doing.done.min(doing.all)).checked_div(doing.all);
        Some(match percent {
            None => doing.what.clone(),
            Some(percent) => format!("{} ({percent} %)", doing.what),
        })
    }

    fn hear(&self, event: Event<'_>) {
        let mut doing = self.doing.lock().unwrap_or_else(PoisonError::into_inner);
        let begin = |what: String, all: u64| Some(Doing { what, done: 0, all });
        match event {
            Event::Found { source, entries } => {
                *doing = begin(format!("indexing '{source}'"), entries as u64);
            }
            Event::EmbeddingFound { chunks, .. } => {
                *doing = begin("embedding".to_owned(), chunks as u64);
            }
            Event::Indexed { entries, .. } => {
                if let Some(doing) = &mut *doing {
                    doing.done = entries as u64;
                }
            }
            Event::Embedded { chunks, .. } => {
                if let Some(doing) = &mut *doing {
                    doing.done = chunks as u64;
                }
            }
            _ => {}
        }
    }

    /// Waits until a sync is due, or asked for and not too soon. Returns false when
    /// the work is over.
    fn wait(&self, soonest: Instant, due: Instant) -> bool {
        let mut asked = self.asked();
        while !asked.stop {
            let until = if asked.sync { soonest.min(due) } else { due };
            let Some(left) = until.checked_duration_since(Instant::now()) else {
                break;
            };
            let waited = self.changed.wait_timeout(asked, left);
            asked = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        asked.sync = false;
        !asked.stop
    }

    fn stop(&self) {
        let mut asked = self.asked();
        asked.stop = true;
        asked.running = false;
        self.cancel.cancel();
        self.viewers.stop();
        self.changed.notify_all();
    }
}

/// The threads that work in the background. They stop when this is dropped.
#[derive(Debug)]
pub struct Upkeep {
    work: Arc<Work>,
    threads: Vec<JoinHandle<()>>,
}

impl Upkeep {
    /// Begins to keep the index up to date: a moment after now, whenever a search
    /// asks for it, and in this interval. While pages are open, it looks for changes every
    /// few seconds. `guard` says which sources are synced.
    pub fn begin(server: &Server, guard: Guard, interval: Duration) -> std::io::Result<Self> {
        let work = Arc::clone(server.work());
        work.asked().running = true;
        let (looking, looked, shared) = (server.clone(), guard.clone(), Arc::clone(&work));
        let looks = std::thread::Builder::new()
            .name("looks".to_owned())
            .spawn(move || viewers::run(&looking, &looked, &shared))?;
        let (server, shared) = (server.clone(), Arc::clone(&work));
        let syncs = std::thread::Builder::new()
            .name("upkeep".to_owned())
            .spawn(move || run(&server, &guard, &shared, interval))?;
        Ok(Self {
            work,
            threads: vec![looks, syncs],
        })
    }
}

impl Drop for Upkeep {
    fn drop(&mut self) {
        self.work.stop();
        // What is cut off by the end of the process is begun again by the next.
        let until = Instant::now() + FAREWELL;
        while !self.threads.iter().all(JoinHandle::is_finished) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        for thread in self.threads.drain(..).filter(JoinHandle::is_finished) {
            let _ = thread.join();
        }
    }
}

fn run(server: &Server, guard: &Guard, work: &Work, interval: Duration) {
    let mut soonest = Instant::now();
    let mut due = soonest + SETTLE;
    let mut told = Told::default();
    while work.wait(soonest, due) {
        let begun = Instant::now();
        let listener = |event: Event<'_>| work.hear(event);
        let job = Job::new(&listener).cancelled_by(work.cancel.clone());
        let engine = server.engine();
        work.set(Some(Doing {
            what: "looking for changes".to_owned(),
            ..Doing::default()
        }));
        let synced = engine.sync(guard, ToSync::Known, &job);
        if let Ok(report) = &synced {
            told.tell_synced(server, report);
        }
        let done = synced.and_then(|_| engine.embed(guard, None, &job));
        work.set(None);
        // Something may be missing for good: that must not keep a machine busy.
        soonest = Instant::now() + (begun.elapsed() * 2).max(REST);
        match done {
            Ok(embedded) => {
                let chunks = embedded.map_or(0, |report| report.embedded);
                if chunks > 0 {
                    let text = format!("{chunks} chunks were embedded");
                    server.report(Level::Info, About::Index, &text);
                }
            }
            Err(Error::Cancelled | Error::ModelMissing { .. }) => {}
            // Another process does the same at the moment, or something like it.
            Err(error @ Error::Locked { .. }) => {
                server.report(Level::Debug, About::Index, &error.to_string());
                due = Instant::now() + BUSY;
                continue;
            }
            Err(error) => {
                let text = format!("indexing failed: {error}");
                told.tell(server, Level::Error, About::Index, &text);
            }
        }
        due = Instant::now() + interval;
    }
}

/// Says what is wrong once in a row.
#[derive(Debug, Default)]
struct Told(String);

impl Told {
    fn tell(&mut self, server: &Server, level: Level, about: About<'_>, message: &str) {
        if self.0 != message {
            server.report(level, about, message);
            message.clone_into(&mut self.0);
        }
    }

    /// Says what came of a sync, source by source.
    fn tell_synced(&mut self, server: &Server, report: &SyncReport) {
        for (source, synced) in &report.synced {
            let about = About::Source(source);
            if synced.changed() {
                let (added, updated, removed) = (synced.added, synced.updated, synced.removed);
                let text =
                    format!("'{source}': {added} added, {updated} changed, {removed} removed");
                server.report(Level::Info, about, &text);
            } else {
                let text = format!("'{source}' is up to date");
                server.report(Level::Debug, about, &text);
            }
        }
        for failure in &report.failed {
            let (source, error) = (&failure.source, &failure.error);
            let logged = format!("'{source}' could not be indexed: {error}");
            if self.0 != logged {
                (server.options().log)(&logged);
                self.0 = logged;
                // Where the files are is for the log only.
                let reason = crate::failure::message(error);
                let text = format!("'{source}' could not be indexed: {reason}");
                let news = server.news();
                news.tell(Level::Warning, About::Source(source), &text);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_told_in_percent() {
        let work = Work::default();
        assert_eq!(work.doing(), None);
        work.hear(Event::Found {
            source: "notes",
            entries: 200,
        });
        work.hear(Event::Indexed {
            source: "notes",
            entries: 80,
        });
        assert_eq!(work.doing().as_deref(), Some("indexing 'notes' (40 %)"));
    }

    #[test]
    fn whoever_is_asked_to_stop_does_not_wait() {
        let work = Work::default();
        let (now, later) = (Instant::now(), Instant::now() + Duration::from_hours(1));
        assert!(!work.ask());
        assert!(work.wait(now, later));
        assert!(work.wait(later, now));
        work.stop();
        assert!(!work.wait(later, later));
    }
}
