//! Shows an answer in a pager, if the user asks for one.

use std::io::{self, Write};
use std::process::{Command, Stdio};

/// The pager that is used if the environment names none.
const USUAL: &str = "less";
/// The options of `less`, unless its own variable has some: leave if everything fits the
/// window, show colours, and keep the text on the screen afterwards.
const LESS: &str = "FRX";

/// Shows a text in the pager that the environment names. Returns false if it could not
/// be started.
pub(super) fn show(text: &str) -> io::Result<bool> {
    let named = ["KODIAK_PAGER", "PAGER"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok())
        .filter(|command| !command.trim().is_empty());
    let command = named.unwrap_or_else(|| USUAL.to_owned());
    let mut words = command.split_whitespace();
    let Some(program) = words.next() else {
        return Ok(false);
    };
    let mut pager = Command::new(program);
    pager.args(words).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        pager.env("LESS", LESS);
    }
    let mut child = match pager.spawn() {
        Ok(child) => child,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    if let Some(mut input) = child.stdin.take() {
        // The user may leave before everything is read.
        match input.write_all(text.as_bytes()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error),
            _ => {}
        }
    }
    child.wait()?;
    Ok(true)
}
