//! Opens addresses of other applications, such as `bear://…`, folders, and pages in the
//! browser.
//!
//! On macOS, the program `open` hands an address to its application. Elsewhere a
//! program of this name may do something else, so those that are known to are not
//! used. Whether an application takes the address shows when it is opened.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::refusal;
use crate::paths;

/// The program that opens addresses.
const PROGRAM: &str = "open";
/// What else a program of this name may be: it opens files in a desktop without
/// Bear, or a virtual terminal.
const OTHERS: [&str; 4] = ["xdg-open", "openvt", "run-mailcap", "gio"];

/// Opens an address of Bear. `instead` is what to do where there is no Bear.
pub(crate) fn open(address: &str, instead: &str) -> anyhow::Result<()> {
    let Some(program) = program() else {
        return Err(refusal(
            "notes of Bear can only be opened and created on macOS: there is no `open` for its addresses",
            instead,
        ));
    };
    let output = Command::new(&program)
        .arg(address)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| {
            let message = format!("could not run {}: {error}", program.display());
            refusal(message, "check whether the text is too long for a command")
        })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().next().unwrap_or_default().trim();
    let message = match said {
        "" => format!("Bear could not be opened: {}", output.status),
        said => format!("Bear could not be opened: {said}"),
    };
    Err(refusal(message, "check whether Bear is installed"))
}

/// The program that opens folders where people see them.
const FOLDERS: &str = if cfg!(target_os = "macos") {
    "open"
} else if cfg!(windows) {
    "explorer"
} else {
    "xdg-open"
};

/// Opens a folder where people see it. It does not wait until the folder is closed.
pub(crate) fn open_folder(folder: &Path) -> anyhow::Result<()> {
    let Some(program) = paths::program_on_path(FOLDERS) else {
        let message = format!("folders cannot be opened: there is no `{FOLDERS}`");
        return Err(refusal(message, "open it in another program"));
    };
    let mut child = Command::new(&program)
        .arg(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| {
            let message = format!("could not run {}: {error}", program.display());
            refusal(message, "open it in another program")
        })?;
    // Whether it succeeds is seen on the screen.
    std::thread::spawn(move || child.wait());
    Ok(())
}

fn program() -> Option<PathBuf> {
    let program = paths::program_on_path(PROGRAM)?;
    (!is_another(&program)).then_some(program)
}

/// Reports whether a program leads to one that does not know Bear.
fn is_another(program: &Path) -> bool {
    let real = program.canonicalize();
    let name = real.as_deref().unwrap_or(program).file_name();
    OTHERS.iter().any(|other| name == Some(other.as_ref()))
}
