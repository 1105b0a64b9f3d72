//! Asks the user before something large is done.

use std::io::{self, IsTerminal, Write};

/// Reports whether there is a terminal to ask at and to answer on.
pub(crate) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks a question and returns whether the answer is yes; `None` if there is no terminal to
/// ask at. Anything but a yes is a no.
pub(crate) fn confirmed(question: &str) -> Option<bool> {
    if !can_ask() {
        return None;
    }
    let mut beside = io::stderr().lock();
    write!(beside, "{} [y/N] ", super::escaped(question)).ok()?;
    beside.flush().ok()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).ok()?;
    let answer = answer.trim().to_lowercase();
    Some(matches!(answer.as_str(), "y" | "yes"))
}
