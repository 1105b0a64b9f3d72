//! Runs a program on a pseudo-terminal and reads what its screen shows, for tests.
//!
//! The screen understands as much as the picker writes: text, places, clearing and the
//! alternate screen. The program gets a controlling terminal by `setsid` of util-linux,
//! so a [`Session`] works on Linux only.

#![cfg(unix)]
#![expect(
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a helper that cannot do its work ends the test"
)]

mod screen;

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcgetattr, tcsetwinsize};

pub use screen::Screen;

/// How long something may take on a busy machine before the test fails.
const PATIENCE: Duration = Duration::from_mins(1);
/// How long to wait for the last bytes of a program that has ended.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// How long the thread that reads waits before it checks whether it should end.
const CHECK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};

/// Opens a new terminal of this size. Returns the end of the person, and the end of
/// programs, which is not yet the controlling terminal of any.
pub fn open(columns: u16, rows: u16) -> (File, File) {
    // No program may hold the end of the person, or closing it would not hang up.
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let terminal = openpt(flags).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let size = Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&terminal, size).unwrap();
    let program_end = rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty());
    (terminal.into(), program_end.unwrap().into())
}

/// A program on a terminal.
#[derive(Debug)]
pub struct Session {
    terminal: File,
    child: Child,
    written: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
    is_hung_up: Arc<AtomicBool>,
    columns: u16,
    rows: u16,
    before: String,
}

impl Session {
    /// Starts a program on a new terminal of this size. Standard input and error are the
    /// terminal, and standard output too unless `stdout` is something else.
    pub fn start(command: &Command, columns: u16, rows: u16, stdout: Option<Stdio>) -> Self {
        let (terminal, program_end) = open(columns, rows);
        let stream = || Stdio::from(program_end.try_clone().unwrap());
        let before = modes(&terminal);
        let mut alone = Command::new("/usr/bin/setsid");
        alone
            .arg("--ctty")
            .arg(command.get_program())
            .args(command.get_args())
            .env_clear()
            .envs(
                command
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            );
        if let Some(folder) = command.get_current_dir() {
            alone.current_dir(folder);
        }
        let child = alone
            .stdin(stream())
            .stdout(stdout.unwrap_or_else(stream))
            .stderr(stream())
            .spawn()
            .unwrap();
        // Reading ends when the program has closed the last copy, and so must not hold one.
        drop((alone, program_end));
        let written = Arc::new(Mutex::new(Vec::new()));
        let (mut reading, keeping) = (terminal.try_clone().unwrap(), Arc::clone(&written));
        let is_hung_up = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&is_hung_up);
        let reader = thread::spawn(move || {
            let mut bytes = [0; 4096];
            while !is_over.load(Ordering::SeqCst) {
                let mut ready = [PollFd::new(&reading, PollFlags::IN)];
                if poll(&mut ready, Some(&CHECK)).unwrap_or_default() == 0 {
                    continue;
                }
                // It fails when the program has closed the terminal.
                let Ok(count) = reading.read(&mut bytes) else {
                    return;
                };
                keeping.lock().unwrap().extend_from_slice(&bytes[..count]);
            }
        });
        Self {
            terminal,
            child,
            written,
            reader: Some(reader),
            is_hung_up,
            columns,
            rows,
            before,
        }
    }

    /// Takes the terminal away, as closing its window does.
    pub fn hang_up(&mut self) {
        self.is_hung_up.store(true, Ordering::SeqCst);
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
        }
        self.terminal = File::open("/dev/null").unwrap();
    }

    /// Types something.
    pub fn type_in(&mut self, keys: &str) {
        self.terminal.write_all(keys.as_bytes()).unwrap();
    }

    /// Returns what the screen shows now.
    pub fn screen(&self) -> Screen {
        Screen::after(&self.written.lock().unwrap(), self.columns, self.rows)
    }

    /// Waits until the screen is as wanted, and returns it.
    pub fn wait_for(&self, wanted: impl Fn(&Screen) -> bool) -> Screen {
        let end = Instant::now() + PATIENCE;
        loop {
            let screen = self.screen();
            if wanted(&screen) {
                return screen;
            }
            assert!(Instant::now() < end, "the screen shows:\n{screen}");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until the screen shows a text, and returns it.
    pub fn wait_for_text(&self, text: &str) -> Screen {
        self.wait_for(|screen| screen.to_string().contains(text))
    }

    /// Sends a signal to the program, given by its name without `SIG`.
    pub fn signal(&self, name: &str) {
        let signal = match name {
            "HUP" => Signal::HUP,
            "INT" => Signal::INT,
            "TERM" => Signal::TERM,
            other => panic!("SIG{other}"),
        };
        let process = Pid::from_child(&self.child);
        kill_process(process, signal).unwrap();
    }

    /// Waits for the end of the program. Returns its exit code, or 128 and the number of
    /// the signal that ended it.
    pub fn end(&mut self) -> i32 {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                self.read_the_rest();
                let signal = status.signal().map(|signal| 128 + signal);
                return status.code().or(signal).unwrap();
            }
            assert!(Instant::now() < end, "it does not end:\n{}", self.screen());
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until what the program wrote last is read. A process that it has left behind
    /// may keep the terminal open, and is not waited for.
    fn read_the_rest(&self) {
        let end = Instant::now() + LAST_WORDS;
        while self
            .reader
            .as_ref()
            .is_some_and(|reader| !reader.is_finished())
            && Instant::now() < end
        {
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Returns the modes that the terminal had at first, and those that it has now.
    pub fn modes(&self) -> (String, String) {
        (self.before.clone(), modes(&self.terminal))
    }

    /// Returns everything that was written so far.
    pub fn written(&self) -> String {
        String::from_utf8_lossy(&self.written.lock().unwrap()).into_owned()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the modes of a terminal.
fn modes(terminal: impl std::os::fd::AsFd) -> String {
    let modes = tcgetattr(terminal).unwrap();
    format!(
        "{:?} {:?} {:?} {:?}",
        modes.input_modes, modes.output_modes, modes.control_modes, modes.local_modes
    )
}
