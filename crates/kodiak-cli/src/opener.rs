//! Opens addresses of other applications, such as `bear://…`, folders, and pages in the
//! browser.
//!
//! On macOS, the program `open` hands an address to its application. Elsewhere a
//! program of this name may do something else, so those that are known to are not
//! used. Whether an application takes the address shows when it is opened.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::refusal;
use crate::paths;

/// The program that opens addresses.
const PROGRAM: &str = "open";
/// Other programs of this name: they open files in a desktop without Bear, or a virtual
/// terminal.
const OTHERS: [&str; 4] = ["xdg-open", "openvt", "run-mailcap", "gio"];

/// Opens an address of Bear. `instead` is the hint where there is no Bear.
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

/// The program of the desktop that opens folders where people see them, and pages in the
/// browser.
const DESKTOP: &str = if cfg!(target_os = "macos") {
    "open"
} else if cfg!(windows) {
    "explorer"
} else {
    "xdg-open"
};

/// Opens a folder where people see it. It does not wait until the folder is closed.
pub(crate) fn open_folder(folder: &Path) -> anyhow::Result<()> {
    let instead = "open it in another program";
    hand_over(folder.as_os_str(), "folders cannot be opened", instead)
}

/// Opens a file with the default program of the desktop. It does not wait until it is
/// closed.
#[cfg(feature = "server")]
pub(crate) fn open_file(file: &Path) -> anyhow::Result<()> {
    let failed = "no editor with a window is set, and files cannot be opened";
    let instead = "set VISUAL to an editor with a window, such as `code`";
    hand_over(file.as_os_str(), failed, instead)
}

/// Opens a page in the browser. It does not wait until the browser is closed. The
/// address is not repeated in an error: it may have a code in it.
#[cfg(feature = "server")]
pub(crate) fn open_page(address: &str) -> anyhow::Result<()> {
    let failed = "the browser cannot be opened";
    hand_over(address.as_ref(), failed, "open the link above in a browser")
}

/// Has the desktop open something.
fn hand_over(what: &OsStr, failed: &str, instead: &str) -> anyhow::Result<()> {
    let Some(program) = paths::program_on_path(DESKTOP) else {
        let message = format!("{failed}: there is no `{DESKTOP}`");
        return Err(refusal(message, instead));
    };
    let mut command = Command::new(&program);
    command.arg(what);
    start(command).map_err(|error| {
        let message = format!("could not run {}: {error}", program.display());
        refusal(message, instead)
    })
}

/// Starts a program beside this one. Whether it succeeds is seen on the screen.
pub(crate) fn start(mut command: Command) -> io::Result<()> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn()?;
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
