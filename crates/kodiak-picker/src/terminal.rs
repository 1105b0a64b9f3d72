//! The terminal while the picker has it: raw mode, the alternate screen, keys and
//! signals. However the picker ends, the terminal is left as it was.

use std::fs::{File, OpenOptions};
use std::io;
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crossterm::clipboard::CopyToClipboard;
use crossterm::cursor::{MoveTo, Show};
use crossterm::event::{self, DisableBracketedPaste, EnableBracketedPaste, KeyCode, KeyModifiers};
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{execute, queue};
use ratatui_core::terminal::Terminal;

use crate::screen::Screen;
use crate::state::{Event, Key, State};
use crate::view;

/// The terminal of the process, whatever its standard streams are.
const DEVICE: &str = if cfg!(windows) { "CONOUT$" } else { "/dev/tty" };
/// How long the thread that reads keys waits before it checks whether it should end,
/// where nothing wakes it.
const CHECK: Duration = Duration::from_millis(250);

/// Whether the picker has the terminal.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// The input from outside.
#[derive(Debug)]
pub(crate) enum Message {
    /// Something happened.
    Event(Event),
    /// A signal asks the process to end.
    #[cfg_attr(not(unix), expect(dead_code, reason = "there are no signals"))]
    Signal(i32),
    /// The terminal cannot be read any more.
    Closed(io::Error),
}

/// The terminal, taken until this is dropped.
#[derive(Debug)]
pub(crate) struct Session {
    terminal: Terminal<Screen>,
    reader: Option<JoinHandle<()>>,
    is_over: Arc<AtomicBool>,
    /// Whether the screen may show something else than the last frame.
    is_uncertain: bool,
}

impl Session {
    /// Takes the terminal. Keys and signals are sent to `send`.
    pub(crate) fn enter(send: &Sender<Message>) -> io::Result<Self> {
        let device = open()?;
        let mut screen = Screen::new(device);
        IS_TAKEN.store(true, Ordering::SeqCst);
        leave_on_panic();
        let taken = signals::watch(send.clone())
            .and_then(|()| enable_raw_mode())
            .and_then(|()| execute!(screen, EnterAlternateScreen, EnableBracketedPaste));
        let terminal = taken.and_then(|()| Terminal::new(screen));
        let is_over = Arc::new(AtomicBool::new(false));
        match terminal {
            Ok(terminal) => Ok(Self {
                terminal,
                reader: Some(read_keys(send.clone(), Arc::clone(&is_over))),
                is_over,
                is_uncertain: false,
            }),
            Err(error) => {
                leave();
                Err(error)
            }
        }
    }

    /// Draws the state, as large as the screen is by now.
    ///
    /// Terminals disagree about the width of signs that consist of several characters, so
    /// the contents of the screen after such a frame are unknown. The next one begins with
    /// an empty screen, which is not seen where updates are shown at once.
    pub(crate) fn draw(&mut self, state: &mut State) -> io::Result<()> {
        queue!(self.terminal.backend_mut(), BeginSynchronizedUpdate)?;
        self.terminal.autoresize()?;
        if self.is_uncertain {
            self.terminal.clear()?;
        }
        let mut frame = self.terminal.get_frame();
        let area = frame.area();
        // This changes nothing but the layout.
        state.handle(Event::Resize {
            columns: area.width,
            rows: area.height,
        });
        let cursor = view::draw(state, frame.buffer_mut());
        let mut cells = frame.buffer_mut().content().iter();
        self.is_uncertain = cells.any(|cell| cell.symbol().chars().nth(1).is_some());
        self.terminal.apply_buffer_with_cursor(cursor)?;
        execute!(self.terminal.backend_mut(), EndSynchronizedUpdate)
    }

    /// Has the terminal copy a text.
    pub(crate) fn copy(&mut self, text: &str) -> io::Result<()> {
        execute!(
            self.terminal.backend_mut(),
            CopyToClipboard::to_clipboard_from(text)
        )
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // What is typed afterwards is for the next program, so nothing may read it.
        self.is_over.store(true, Ordering::SeqCst);
        signals::wake_reader();
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
        leave();
        signals::hand_back();
    }
}

/// Opens the terminal of this process.
fn open() -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(DEVICE)
}

/// Leaves the terminal as it was, if the picker has it. It can be called at any time and on
/// any thread. Failures are ignored: there may be no terminal any more.
fn leave() {
    if !IS_TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    if let Ok(mut device) = open() {
        // Some terminals keep what the alternate screen shows if it was resized.
        let _ = execute!(
            device,
            MoveTo(0, 0),
            Clear(ClearType::FromCursorDown),
            DisableBracketedPaste,
            LeaveAlternateScreen,
            Show
        );
    }
    let _ = disable_raw_mode();
}

/// Leaves the terminal before this thread reports a panic. Panics of other threads end
/// a search and not the picker, and their reports would be written into the screen.
fn leave_on_panic() {
    let own = thread::current().id();
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if thread::current().id() == own {
            leave();
        }
        if !IS_TAKEN.load(Ordering::SeqCst) {
            before(info);
        }
    }));
}

fn read_keys(send: Sender<Message>, is_over: Arc<AtomicBool>) -> JoinHandle<()> {
    thread::spawn(move || {
        while !is_over.load(Ordering::SeqCst) {
            let read = event::poll(CHECK).and_then(|is_ready| {
                if is_ready {
                    event::read().map(Some)
                } else {
                    Ok(None)
                }
            });
            let message = match read {
                Ok(read) => read.and_then(translated).map(Message::Event),
                Err(error) => Some(Message::Closed(error)),
            };
            let is_last = matches!(message, Some(Message::Closed(_)));
            if message.is_some_and(|message| send.send(message).is_err()) || is_last {
                return;
            }
        }
    })
}

/// Returns the picker's event for one of the terminal, if there is one.
fn translated(event: event::Event) -> Option<Event> {
    match event {
        event::Event::Key(key) if key.kind != event::KeyEventKind::Release => {
            key_of(key.code, key.modifiers).map(Event::Key)
        }
        event::Event::Paste(text) => Some(Event::Paste(text)),
        event::Event::Resize(columns, rows) => Some(Event::Resize { columns, rows }),
        _ => None,
    }
}

fn key_of(code: KeyCode, modifiers: KeyModifiers) -> Option<Key> {
    let control = modifiers.contains(KeyModifiers::CONTROL);
    let alt = modifiers.contains(KeyModifiers::ALT);
    Some(match code {
        // Some keyboards type characters with both.
        KeyCode::Char(character) if control && !alt => Key::Control(character.to_ascii_lowercase()),
        KeyCode::Char(character) if alt == control => Key::Char(character),
        KeyCode::Char(_) => return None,
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Backspace if control || alt => Key::Control('w'),
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Delete => Key::Delete,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::F(number) => Key::Function(number),
        _ => return None,
    })
}

/// Signals that ask the process to end.
#[cfg(unix)]
mod signals {
    use std::io;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::Sender;
    use std::thread;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGWINCH};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::{emulate_default_handler, raise};

    use super::{Message, leave};

    /// Whether a signal ends the process at once: the picker does not have the terminal,
    /// or it was asked to end before.
    static ENDS_AT_ONCE: AtomicBool = AtomicBool::new(false);

    /// Sends signals to `send`.
    pub(super) fn watch(send: Sender<Message>) -> io::Result<()> {
        let mut signals = Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM])?;
        ENDS_AT_ONCE.store(false, Ordering::SeqCst);
        thread::spawn(move || {
            for signal in signals.forever() {
                // Without a terminal, the thread that reads keys finds the end of its input
                // again and again and cannot be waited for.
                let at_once = ENDS_AT_ONCE.swap(true, Ordering::SeqCst) || signal == SIGHUP;
                if at_once || send.send(Message::Signal(signal)).is_err() {
                    leave();
                    let _ = emulate_default_handler(signal);
                }
            }
        });
        Ok(())
    }

    /// Lets signals end the program at once, as they do by default.
    pub(super) fn hand_back() {
        ENDS_AT_ONCE.store(true, Ordering::SeqCst);
    }

    /// Wakes the thread that reads keys: it also waits for the size to change.
    pub(super) fn wake_reader() {
        let _ = raise(SIGWINCH);
    }
}

#[cfg(not(unix))]
mod signals {
    use std::io;
    use std::sync::mpsc::Sender;

    use super::Message;

    pub(super) fn watch(_: Sender<Message>) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn hand_back() {}

    pub(super) fn wake_reader() {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_apart() {
        let none = KeyModifiers::NONE;
        let control = KeyModifiers::CONTROL;
        for (code, modifiers, expected) in [
            (KeyCode::Char('a'), none, Some(Key::Char('a'))),
            (
                KeyCode::Char('A'),
                KeyModifiers::SHIFT,
                Some(Key::Char('A')),
            ),
            (KeyCode::Char('Y'), control, Some(Key::Control('y'))),
            (
                KeyCode::Char('@'),
                control | KeyModifiers::ALT,
                Some(Key::Char('@')),
            ),
            (KeyCode::Char('k'), KeyModifiers::ALT, None),
            (KeyCode::Backspace, control, Some(Key::Control('w'))),
            (KeyCode::F(1), none, Some(Key::Function(1))),
            (KeyCode::Insert, none, None),
        ] {
            assert_eq!(key_of(code, modifiers), expected, "{code:?} {modifiers:?}");
        }
    }
}
