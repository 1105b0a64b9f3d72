//! The state of the picker: events in, effects out.
//!
//! It knows neither a terminal nor an index. Its caller carries out the effects
//! and reports their results as further events.

use ratatui_core::layout::Rect;

use crate::item::Item;
use crate::layout::Layout;
use crate::line::{Line, Move};
use crate::list::{List, Problem, Results, Stage};
use crate::note::Note;

/// A key that was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A character.
    Char(char),
    /// A character together with Ctrl, in lower case.
    Control(char),
    /// A function key.
    Function(u8),
    /// Enter.
    Enter,
    /// Escape.
    Escape,
    /// Tab.
    Tab,
    /// Shift and Tab.
    BackTab,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
    /// An arrow.
    Up,
    /// An arrow.
    Down,
    /// An arrow.
    Left,
    /// An arrow.
    Right,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// Home.
    Home,
    /// End.
    End,
}

/// An event, from the terminal or a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A key was pressed.
    Key(Key),
    /// A text was pasted.
    Paste(String),
    /// The screen has this size.
    Resize {
        /// The number of columns.
        columns: u16,
        /// The number of rows.
        rows: u16,
    },
    /// A search has an answer, or a part of it.
    Found {
        /// The number of the query.
        number: u64,
        /// How much of the answer it is.
        stage: Stage,
        /// The answer.
        found: Result<Results, Problem>,
    },
    /// The text of a document was read.
    Loaded(Note),
    /// The names of the sources that have documents.
    Sources(Vec<String>),
    /// Something was done, in words for people.
    Done(String),
}

/// A query to search for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Its number. Later queries have higher ones.
    pub number: u64,
    /// The typed query.
    pub text: String,
    /// The sources to search; all if there are none.
    pub sources: Vec<String>,
}

/// An effect to perform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Search; queries with lower numbers do not matter any more.
    Search(Query),
    /// Read the text of a document.
    Load(Item),
    /// Copy where a document is.
    Copy(Item),
    /// Open the folder that a document is in.
    OpenFolder(Item),
    /// End, with this choice.
    Choose(Item),
    /// End without a choice.
    Leave {
        /// Whether Ctrl-C was pressed.
        interrupted: bool,
    },
}

/// The state of the picker.
#[derive(Clone, Debug, Default)]
pub struct State {
    line: Line,
    /// The number of the newest query.
    number: u64,
    list: List,
    /// The sources that Tab chooses from.
    sources: Vec<String>,
    /// The sources that are searched if none of them is chosen; all if there are none.
    within: Vec<String>,
    /// The source that is chosen.
    source: Option<String>,
    note: Option<Note>,
    /// The address of the document whose text was asked for last, and the line.
    asked: Option<(String, usize)>,
    is_note_hidden: bool,
    is_help_shown: bool,
    message: Option<String>,
    /// Whether Enter was pressed before the answer was there.
    will_choose: bool,
    screen: Rect,
}

impl State {
    /// Creates a state with a query and the sources to search, all if there are none.
    pub fn new(query: &str, within: Vec<String>) -> Self {
        Self {
            line: Line::new(query),
            sources: within.clone(),
            within,
            ..Self::default()
        }
    }

    /// Returns the first effects.
    pub fn begin(&mut self) -> Vec<Effect> {
        vec![self.search()]
    }

    /// Handles an event, and returns the effects to perform.
    pub fn handle(&mut self, event: Event) -> Vec<Effect> {
        match event {
            Event::Key(key) => return self.press(key),
            Event::Paste(text) => {
                if self.line.insert(&text) {
                    return vec![self.search()];
                }
            }
            Event::Resize { columns, rows } => {
                self.screen = Rect::new(0, 0, columns, rows);
                self.list.show(self.rows());
            }
            Event::Found {
                number,
                stage,
                found,
            } => {
                if number != self.number || !self.list.take(number, stage, found) {
                    return Vec::new();
                }
                self.list.show(self.rows());
                if self.will_choose {
                    return self.choose();
                }
                return self.load();
            }
            Event::Loaded(note) => {
                if self.asked.as_ref().is_some_and(|(uri, _)| *uri == note.uri) {
                    self.note = Some(note);
                }
            }
            Event::Sources(sources) => {
                if self.within.is_empty() {
                    self.sources = sources;
                }
            }
            Event::Done(message) => self.message = Some(message),
        }
        Vec::new()
    }

    fn press(&mut self, key: Key) -> Vec<Effect> {
        self.message = None;
        self.will_choose = false;
        if self.is_help_shown {
            self.is_help_shown = false;
            return match key {
                Key::Control('c') => vec![Effect::Leave { interrupted: true }],
                _ => Vec::new(),
            };
        }
        let (at, rows) = (self.list.selected(), self.rows());
        match key {
            Key::Escape => vec![Effect::Leave { interrupted: false }],
            Key::Control('c') => vec![Effect::Leave { interrupted: true }],
            // As in a shell, but only where there is nothing to delete.
            Key::Control('d') if self.line.text().is_empty() => {
                vec![Effect::Leave { interrupted: false }]
            }
            Key::Enter => self.choose(),
            Key::Up | Key::Control('p' | 'k') => self.select(at.saturating_sub(1)),
            Key::Down | Key::Control('n' | 'j') => self.select(at + 1),
            Key::PageUp => self.select(at.saturating_sub(rows.max(2) - 1)),
            Key::PageDown => self.select(at + rows.max(2) - 1),
            Key::Home => self.select(0),
            Key::End => self.select(usize::MAX),
            Key::Tab => self.next_source(true),
            Key::BackTab => self.next_source(false),
            Key::Control('y') => self.with_item(Effect::Copy),
            Key::Control('o') => self.with_item(Effect::OpenFolder),
            Key::Function(1) => self.show_help(),
            Key::Char('?') if self.line.text().is_empty() => self.show_help(),
            Key::Function(2) => {
                self.is_note_hidden = !self.is_note_hidden;
                self.list.show(self.rows());
                Vec::new()
            }
            Key::Left | Key::Control('b') => self.move_cursor(Move::Left),
            Key::Right | Key::Control('f') => self.move_cursor(Move::Right),
            Key::Control('a') => self.move_cursor(Move::Start),
            Key::Control('e') => self.move_cursor(Move::End),
            Key::Char(character) => {
                self.edit(|line| line.insert(character.encode_utf8(&mut [0; 4])))
            }
            Key::Backspace | Key::Control('h') => self.edit(Line::delete_before),
            Key::Delete | Key::Control('d') => self.edit(Line::delete_after),
            Key::Control('w') => self.edit(Line::delete_word),
            Key::Control('u') => self.edit(Line::delete_all_before),
            Key::Control(_) | Key::Function(_) => Vec::new(),
        }
    }

    fn edit(&mut self, edit: impl FnOnce(&mut Line) -> bool) -> Vec<Effect> {
        if edit(&mut self.line) {
            vec![self.search()]
        } else {
            Vec::new()
        }
    }

    fn move_cursor(&mut self, to: Move) -> Vec<Effect> {
        self.line.move_to(to);
        Vec::new()
    }

    fn show_help(&mut self) -> Vec<Effect> {
        self.is_help_shown = true;
        Vec::new()
    }

    fn select(&mut self, number: usize) -> Vec<Effect> {
        self.list.select(number, self.rows());
        self.load()
    }

    /// Chooses the selected item. If the answer to the query is not there yet, its first
    /// item is chosen as soon as it is.
    fn choose(&mut self) -> Vec<Effect> {
        if !self.list.is_of(self.number) {
            self.will_choose = true;
            return Vec::new();
        }
        self.will_choose = false;
        self.with_item(Effect::Choose)
    }

    fn with_item(&self, effect: impl FnOnce(Item) -> Effect) -> Vec<Effect> {
        self.list.item().cloned().map(effect).into_iter().collect()
    }

    /// Chooses the next source, or all of them after the last one.
    fn next_source(&mut self, forwards: bool) -> Vec<Effect> {
        if self.sources.len() < 2 {
            self.message = Some(match self.sources.first() {
                Some(only) => format!("{only} is the only source"),
                None => "there is no other source".to_owned(),
            });
            return Vec::new();
        }
        // Zero stands for all sources.
        let count = self.sources.len() + 1;
        let is_chosen = |name: &String| Some(name) == self.source.as_ref();
        let at = self
            .sources
            .iter()
            .position(is_chosen)
            .map_or(0, |at| at + 1);
        let next = (at + if forwards { 1 } else { count - 1 }) % count;
        self.source = next.checked_sub(1).map(|at| self.sources[at].clone());
        vec![self.search()]
    }

    fn search(&mut self) -> Effect {
        self.number += 1;
        Effect::Search(Query {
            number: self.number,
            text: self.line.text().to_owned(),
            sources: match &self.source {
                Some(source) => vec![source.clone()],
                None => self.within.clone(),
            },
        })
    }

    /// Asks for the text of the selected item, unless it was asked for before.
    fn load(&mut self) -> Vec<Effect> {
        let Some(item) = self.list.item() else {
            self.asked = None;
            self.note = None;
            return Vec::new();
        };
        // Only the lines around the best match are kept of a text.
        let asked = Some((item.uri.clone(), item.line));
        if self.asked == asked {
            return Vec::new();
        }
        self.asked = asked;
        vec![Effect::Load(item.clone())]
    }

    fn rows(&self) -> usize {
        usize::from(self.layout().list.height)
    }

    /// Returns where things are on the screen.
    pub fn layout(&self) -> Layout {
        Layout::of(self.screen, !self.is_note_hidden)
    }

    /// Returns the line with the query.
    pub fn line(&self) -> &Line {
        &self.line
    }

    /// Returns the list.
    pub fn list(&self) -> &List {
        &self.list
    }

    /// Returns the text of the selected document, if it was read.
    pub fn note(&self) -> Option<&Note> {
        let item = self.list.item()?;
        self.note.as_ref().filter(|note| note.uri == item.uri)
    }

    /// Returns the source that is chosen.
    pub fn source(&self) -> Option<&str> {
        self.source.as_deref()
    }

    /// Returns the message about the last action.
    pub fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }

    /// Reports whether the keys are listed.
    pub fn is_help_shown(&self) -> bool {
        self.is_help_shown
    }

    /// Reports whether the answer to the query is not complete yet.
    pub fn is_searching(&self) -> bool {
        !self.list.is_of(self.number) || self.list.stage() != Some(Stage::Full)
    }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
