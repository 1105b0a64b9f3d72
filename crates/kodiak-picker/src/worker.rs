//! Searches and reads on its own threads, only ever for the newest query.
//!
//! One thread searches by words and answers at once. Another searches by words and meaning
//! as soon as no key follows, and loads the model before that. A third reads the texts of
//! documents. Searches for an older query are cancelled.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use kodiak::access::Guard;
use kodiak::history::History;
use kodiak::search::{Answer, Mode, Request};
use kodiak::store::{Contents, Filter, Row, StoredDocument, Wanted};
use kodiak::{Cancel, Engine, Error, date};

use crate::item::Item;
use crate::list::{Problem, Results, Stage};
use crate::note::Note;
use crate::state::{Event, Query};

/// The most items of an answer.
const LIMIT: usize = 100;
/// How long no key may follow before meanings are compared. Comparing for every key
/// would take the time of the words.
const PAUSE: Duration = Duration::from_millis(60);
/// How often changed files are looked for, at most.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// The functions that only the program can provide.
pub trait Host: Send + Sync {
    /// Returns where a document is, as people read it.
    fn place(&self, source: &str, path: &str) -> String;

    /// Returns the text to copy for a document: the path of its file, or its address.
    fn path(&self, item: &Item) -> String;

    /// Opens the folder that a document is in. Returns a message, also on failure.
    fn open_folder(&self, item: &Item) -> Result<String, String>;

    /// Returns the words for an error.
    fn explain(&self, error: Error) -> Problem;
}

/// The parts that a search needs.
#[derive(Clone)]
pub struct Searcher {
    /// The index.
    pub engine: Engine,
    /// The history of opened documents; `None` if it does not matter.
    pub history: Option<History>,
    /// How to search, apart from the query and the sources.
    pub request: Request,
    /// The functions that only the program can provide.
    pub host: Arc<dyn Host>,
}

impl std::fmt::Debug for Searcher {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Searcher({})", self.engine.path().display())
    }
}

/// The threads that search. They end when this is dropped.
#[derive(Debug)]
pub struct Worker {
    words: Arc<Slot<Query>>,
    full: Arc<Slot<Query>>,
    notes: Arc<Slot<Item>>,
}

impl Worker {
    /// Starts the threads. Their results are given to `send`.
    pub fn start(searcher: &Searcher, send: impl Fn(Event) + Clone + Send + 'static) -> Self {
        let worker = Self {
            words: Arc::default(),
            full: Arc::default(),
            notes: Arc::default(),
        };
        let (slot, own, tell) = (Arc::clone(&worker.words), searcher.clone(), send.clone());
        thread::spawn(move || search_words(&slot, &own, tell));
        let (slot, own, tell) = (Arc::clone(&worker.full), searcher.clone(), send.clone());
        thread::spawn(move || search_fully(&slot, &own, tell));
        let (slot, own) = (Arc::clone(&worker.notes), searcher.clone());
        thread::spawn(move || read_notes(&slot, &own, send));
        worker
    }

    /// Searches for a query, and no longer for the ones before.
    pub fn search(&self, query: &Query) {
        self.full.put(query.clone());
        self.words.put(query.clone());
    }

    /// Reads the text of a document, and no longer those before.
    pub fn load(&self, item: Item) {
        self.notes.put(item);
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.words.close();
        self.full.close();
        self.notes.close();
    }
}

fn search_words(slot: &Slot<Query>, searcher: &Searcher, send: impl Fn(Event)) {
    let mut is_first = true;
    while let Some((query, cancel)) = slot.take() {
        let found = || searcher.by_words(&query, &cancel);
        if let Some(event) = searcher.event(&query, Stage::Words, found) {
            send(event);
        }
        if is_first {
            is_first = false;
            // Tab needs them; the first answer does not.
            if let Ok(Ok(sources)) = catch_unwind(AssertUnwindSafe(|| searcher.sources())) {
                send(Event::Sources(sources));
            }
        }
    }
}

fn search_fully(slot: &Slot<Query>, searcher: &Searcher, send: impl Fn(Event)) {
    searcher.load_model(&slot.end());
    let mut looked: Option<Instant> = None;
    while let Some((query, cancel)) = slot.take() {
        if !slot.is_quiet(PAUSE) {
            continue;
        }
        let look = looked.is_none_or(|at| at.elapsed() >= LOOK_AGAIN);
        if look {
            looked = Some(Instant::now());
        }
        let found = || searcher.fully(&query, look, &cancel);
        if let Some(event) = searcher.event(&query, Stage::Full, found) {
            send(event);
        }
    }
}

fn read_notes(slot: &Slot<Item>, searcher: &Searcher, send: impl Fn(Event)) {
    while let Some((item, cancel)) = slot.take() {
        // One that cannot be read is not shown; opening it says why.
        let read = catch_unwind(AssertUnwindSafe(|| searcher.note(&item, &cancel)));
        if let Ok(Ok(Some(note))) = read {
            send(Event::Loaded(note));
        }
    }
}

impl Searcher {
    /// Searches, and returns the result, if it is not cancelled. A search that panics is
    /// reported like one that fails, and the next one is tried.
    fn event(
        &self,
        query: &Query,
        stage: Stage,
        search: impl FnOnce() -> kodiak::Result<Results>,
    ) -> Option<Event> {
        let found = match catch_unwind(AssertUnwindSafe(search)) {
            Ok(Err(Error::Cancelled)) => return None,
            Ok(found) => found.map_err(|error| self.host.explain(error)),
            Err(_) => Err(Problem {
                text: "The search failed because of a bug in Kodiak.".to_owned(),
                hints: vec!["try other words, and please report it".to_owned()],
            }),
        };
        Some(Event::Found {
            number: query.number,
            stage,
            found,
        })
    }

    fn by_words(&self, query: &Query, cancel: &Cancel) -> kodiak::Result<Results> {
        if query.text.trim().is_empty() {
            return self.recent(query, cancel);
        }
        let request = Request {
            mode: Mode::Lexical,
            refresh: false,
            ..self.request(query)
        };
        self.search(&request, cancel)
    }

    fn fully(&self, query: &Query, look: bool, cancel: &Cancel) -> kodiak::Result<Results> {
        let request = Request {
            refresh: look,
            ..self.request(query)
        };
        if !query.text.trim().is_empty() {
            return self.search(&request, cancel);
        }
        if look {
            // The newest documents, only to have changes looked for.
            let one = Request {
                limit: 1,
                ..request
            };
            self.search(&one, cancel)?;
        }
        self.recent(query, cancel)
    }

    fn request(&self, query: &Query) -> Request {
        Request {
            query: query.text.clone(),
            limit: LIMIT,
            filter: filter(query),
            as_you_type: true,
            ..self.request.clone()
        }
    }

    fn search(&self, request: &Request, cancel: &Cancel) -> kodiak::Result<Results> {
        let engine = self.engine.cancelled_by(cancel.clone());
        let mut answer = engine.search(&Guard::local(), request)?;
        if let Some(history) = &self.history {
            history.read().reorder(&mut answer.hits, date::now());
        }
        Ok(Results {
            notice: notice(&answer),
            by_meaning: answer.retrievers.semantic.is_some(),
            total: answer.total,
            items: answer
                .hits
                .into_iter()
                .map(|hit| {
                    let place = self.host.place(&hit.source, &hit.path);
                    Item::of_hit(hit, place)
                })
                .collect(),
        })
    }

    /// Returns the documents that were opened last and then those that were changed
    /// last.
    fn recent(&self, query: &Query, cancel: &Cancel) -> kodiak::Result<Results> {
        let filter = filter(query);
        let opened = self.history.as_ref().map(History::read).unwrap_or_default();
        let ids: Vec<String> = opened
            .ids()
            .take(LIMIT)
            .map(|id| format!("#{id}"))
            .collect();
        let guard = Guard::local();
        let engine = self.engine.cancelled_by(cancel.clone());
        let items = engine.view(&guard).read(|reader| {
            let mut named = reader.named(&ids, &filter)?;
            named.sort_unstable();
            let mut rows: Vec<Row> = named.into_iter().map(|(_, row)| row).collect();
            for row in reader.latest(&filter, LIMIT)? {
                if rows.len() < LIMIT && !rows.contains(&row) {
                    rows.push(row);
                }
            }
            let contents = reader.read(&Wanted {
                documents: rows.clone(),
                entries: rows,
                ..Wanted::default()
            })?;
            Ok(self.items(&contents))
        })?;
        Ok(Results {
            total: items.len(),
            items,
            ..Results::default()
        })
    }

    fn items(&self, read: &Contents) -> Vec<Item> {
        let documents = read.documents.iter();
        documents
            .map(|document| {
                let entry = read.entries.get(&document.row).map(|(key, _)| key.clone());
                let place = self.host.place(&document.source, &document.key);
                let entry = entry.unwrap_or_else(|| document.key.clone());
                Item::of_document(document, entry, place)
            })
            .collect()
    }

    fn note(&self, item: &Item, cancel: &Cancel) -> kodiak::Result<Option<Note>> {
        let guard = Guard::local();
        let engine = self.engine.cancelled_by(cancel.clone());
        engine.view(&guard).read(|reader| {
            let named = reader.with_path(Some(&item.source), &item.path, &Filter::default(), 1)?;
            let rows: Vec<Row> = named.into_iter().map(|(row, ..)| row).collect();
            let documents = reader.documents(&rows)?;
            let text = |document: &StoredDocument| format!("{}{}", document.front, document.body);
            Ok(documents.first().map(|it| Note::new(item, &text(it))))
        })
    }

    fn sources(&self) -> kodiak::Result<Vec<String>> {
        let sources = self
            .engine
            .view(&Guard::local())
            .indexed_sources()?
            .into_iter();
        let filled = sources.filter(|source| source.documents > 0);
        Ok(filled.map(|source| source.name).collect())
    }

    /// Loads the model, so that the first search by meaning does not wait for it.
    fn load_model(&self, cancel: &Cancel) {
        let request = Request {
            query: "note".to_owned(),
            limit: 1,
            mode: Mode::Semantic,
            refresh: false,
            ..Request::default()
        };
        // If it cannot be loaded, searches say so.
        let _ = catch_unwind(AssertUnwindSafe(|| self.search(&request, cancel)));
    }
}

fn filter(query: &Query) -> Filter {
    Filter {
        sources: query.sources.clone(),
        ..Filter::default()
    }
}

/// Returns the caveat about an answer that matters to a person, if there is one.
fn notice(answer: &Answer) -> Option<String> {
    if let Some(corrected) = &answer.corrected {
        return Some(format!("showing results for \"{corrected}\""));
    }
    answer.notices.sentences().into_iter().next()
}

/// Holds the newest job of a thread.
#[derive(Debug)]
struct Slot<T> {
    jobs: Mutex<Jobs<T>>,
    changed: Condvar,
}

#[derive(Debug)]
struct Jobs<T> {
    next: Option<T>,
    /// Cancels the running job.
    running: Cancel,
    /// Cancels the running job and all later ones.
    end: Cancel,
    is_closed: bool,
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self {
            jobs: Mutex::new(Jobs {
                next: None,
                running: Cancel::new(),
                end: Cancel::new(),
                is_closed: false,
            }),
            changed: Condvar::new(),
        }
    }
}

impl<T> Slot<T> {
    /// Replaces the job that waits, and cancels the one that runs.
    fn put(&self, job: T) {
        let mut jobs = self.lock();
        jobs.next = Some(job);
        jobs.running.cancel();
        self.changed.notify_all();
    }

    /// Waits for a job. Returns it with its token, or `None` at the end.
    fn take(&self) -> Option<(T, Cancel)> {
        let mut jobs = self.lock();
        loop {
            if jobs.is_closed {
                return None;
            }
            if let Some(job) = jobs.next.take() {
                jobs.running = Cancel::new();
                return Some((job, jobs.running.clone()));
            }
            let woken = self.changed.wait(jobs);
            jobs = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits a moment. Returns whether no other job came.
    fn is_quiet(&self, pause: Duration) -> bool {
        let jobs = self.lock();
        let busy = |jobs: &mut Jobs<T>| jobs.next.is_none() && !jobs.is_closed;
        let waited = self.changed.wait_timeout_while(jobs, pause, busy);
        let (jobs, _) = waited.unwrap_or_else(PoisonError::into_inner);
        jobs.next.is_none() && !jobs.is_closed
    }

    /// Returns what is cancelled at the end.
    fn end(&self) -> Cancel {
        self.lock().end.clone()
    }

    fn close(&self) {
        let mut jobs = self.lock();
        jobs.is_closed = true;
        jobs.running.cancel();
        jobs.end.cancel();
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Jobs<T>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[path = "worker_tests.rs"]
mod tests;
