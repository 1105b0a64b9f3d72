//! Searches while you type, in a terminal.
//!
//! ```text
//! keys, signals → Message ┐                ┌ Effect → Worker (searches, reads)
//! Worker → Event ─────────┴→ State::handle ┴ Effect → terminal, program
//!                                └→ view::draw → screen
//! ```
//!
//! * [`state`] decides everything, and knows neither a terminal nor an index; `line` is the
//!   query, `list` the documents found, `note` the text beside them;
//! * [`view`] draws the state on the parts of the screen that `layout` gives it;
//! * [`worker`] searches on its own threads, always for the newest query;
//! * `terminal` takes the terminal and leaves it as it was, however the picker ends, and
//!   `screen` writes cells to it.
//!
//! Nothing is printed and no environment is read. The program says where documents are and
//! how errors are worded, and opens the chosen document.

mod item;
mod layout;
mod line;
mod list;
mod note;
mod screen;
pub mod state;
mod terminal;
pub mod view;
pub mod worker;

use std::io;
use std::sync::mpsc;

pub use item::Item;
pub use layout::Layout;
pub use line::{Line, Move};
pub use list::{List, Problem, Results, Stage};
pub use note::{Note, Row};
pub use state::{Effect, Event, Key, Query, State};
pub use worker::{Host, Searcher, Worker};

use terminal::{Message, Session};

/// How the picker ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// A document was chosen.
    Chosen(Box<Item>),
    /// The user left without a choice.
    Left,
    /// Ctrl-C was pressed.
    Interrupted,
    /// A signal with this number asked the process to end.
    Signal(i32),
}

/// Runs the picker on the terminal of this process until something is chosen or the
/// user leaves. It begins with a query, and searches these sources, all if there are
/// none. The terminal is then as it was before.
pub fn run(searcher: &Searcher, query: &str, sources: Vec<String>) -> io::Result<Ended> {
    let (send, receive) = mpsc::channel();
    let sending = send.clone();
    let worker = Worker::start(searcher, move |event| {
        // Nothing is received after the end.
        let _ = sending.send(Message::Event(event));
    });
    let mut state = State::new(query, sources);
    // The first search runs while the terminal gets ready.
    let begun = state.begin();
    let mut session = Session::enter(&send)?;
    if let Some(ended) = perform(begun, searcher, &worker, &mut state, &mut session)? {
        return Ok(ended);
    }
    loop {
        session.draw(&mut state)?;
        let Ok(first) = receive.recv() else {
            return Ok(Ended::Left);
        };
        // A frame for all that has happened, however much that is.
        for message in std::iter::once(first).chain(receive.try_iter()) {
            let event = match message {
                Message::Event(event) => event,
                Message::Signal(signal) => return Ok(Ended::Signal(signal)),
                Message::Closed(error) => return Err(error),
            };
            let effects = state.handle(event);
            if let Some(ended) = perform(effects, searcher, &worker, &mut state, &mut session)? {
                return Ok(ended);
            }
        }
    }
}

/// Performs an effect. Returns how the picker ends, if it does.
fn perform(
    effects: Vec<Effect>,
    searcher: &Searcher,
    worker: &Worker,
    state: &mut State,
    session: &mut Session,
) -> io::Result<Option<Ended>> {
    for effect in effects {
        match effect {
            Effect::Search(query) => worker.search(&query),
            Effect::Load(item) => worker.load(item),
            Effect::Copy(item) => {
                let path = searcher.host.path(&item);
                session.copy(&path)?;
                state.handle(Event::Done(format!("copied {path}")));
            }
            Effect::OpenFolder(item) => {
                let (Ok(done) | Err(done)) = searcher.host.open_folder(&item);
                state.handle(Event::Done(done));
            }
            Effect::Choose(item) => return Ok(Some(Ended::Chosen(Box::new(item)))),
            Effect::Leave { interrupted: true } => return Ok(Some(Ended::Interrupted)),
            Effect::Leave { interrupted: false } => return Ok(Some(Ended::Left)),
        }
    }
    Ok(None)
}
