//! Opens a file in the editor that `VISUAL` or `EDITOR` names, or else in `vi`. Beside a
//! server, an editor needs its own window.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use crate::failure::refusal;
#[cfg(feature = "server")]
use crate::opener;
use crate::paths;

/// How an editor is told the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Syntax {
    /// `+7 file`.
    Plus,
    /// `-g file:7`.
    Goto,
    /// `file:7`.
    Colon,
    /// `--line 7 file`.
    Option(&'static str),
    /// The editor is not known, or takes no line.
    None,
}

/// The variables that name the editor, the preferred one first.
const VARIABLES: [&str; 2] = ["VISUAL", "EDITOR"];

/// The editors that open a window.
#[cfg(feature = "server")]
const WITH_WINDOW: [&str; 14] = [
    "code",
    "code-insiders",
    "codium",
    "vscodium",
    "cursor",
    "windsurf",
    "subl",
    "sublime_text",
    "zed",
    "zeditor",
    "mate",
    "kate",
    "gvim",
    "mvim",
];

/// Returns the editors that variables name, the preferred one first.
fn named() -> impl Iterator<Item = String> {
    let named = |name| std::env::var(name).ok();
    let named = VARIABLES.into_iter().filter_map(named);
    named.filter(|editor| !editor.trim().is_empty())
}

/// Opens a file at a line in a window, and does not wait until it is closed. If the editor
/// that is named needs the terminal, which is the server's, the desktop opens the file with
/// its default program.
#[cfg(feature = "server")]
pub(crate) fn open_beside(file: &Path, line: usize) -> anyhow::Result<()> {
    let has_window = |editor: &String| WITH_WINDOW.contains(&program(editor));
    let Some(editor) = named().find(has_window) else {
        return opener::open_file(file);
    };
    let mut command = command(&editor);
    command.args(arguments(syntax(&editor), file, line));
    opener::start(command).map_err(|error| {
        refusal(
            format!("could not run the editor `{editor}`: {error}"),
            "check VISUAL and EDITOR",
        )
    })
}

/// Opens a file at a line and waits until the editor ends.
pub(crate) fn open(file: &Path, line: usize) -> anyhow::Result<()> {
    let Some(editor) = named().next().or_else(usual) else {
        return Err(refusal(
            "no editor is set, and there is no vi",
            "set VISUAL or EDITOR, for example EDITOR=nano",
        ));
    };
    let mut command = command(&editor);
    command.args(arguments(syntax(&editor), file, line));
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(refusal(
            format!("the editor `{editor}` failed: {status}"),
            "check VISUAL and EDITOR",
        )),
        Err(error) => Err(refusal(
            format!("could not run the editor `{editor}`: {error}"),
            "check VISUAL and EDITOR",
        )),
    }
}

/// Returns the program that opens files where no editor is named: `vi`, or else the opener
/// of the desktop.
fn usual() -> Option<String> {
    let opener = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let mut programs = ["vi", opener].into_iter();
    let found = programs.find(|program| paths::program_on_path(program).is_some());
    found.map(str::to_owned)
}

/// Returns the command that runs an editor. The variable may have arguments and
/// quotes, as for git and others, so a shell reads it.
fn command(editor: &str) -> Command {
    if cfg!(windows) {
        let mut words = editor.split_whitespace();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words);
        return command;
    }
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &format!("{editor} \"$@\""), "sh"]);
    command
}

/// Returns the name of the program that an editor is.
fn program(editor: &str) -> &str {
    // A path with spaces is in quotes.
    let editor = editor.trim();
    let program = match editor.chars().next() {
        Some(quote @ ('"' | '\'')) => editor[1..].split(quote).next(),
        _ => editor.split_whitespace().next(),
    };
    let program = program.unwrap_or_default();
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    name.strip_suffix(".exe").unwrap_or(name)
}

/// Returns how an editor is told the line.
fn syntax(editor: &str) -> Syntax {
    match program(editor) {
        "vi" | "vim" | "nvim" | "gvim" | "mvim" | "view" | "nano" | "pico" | "emacs"
        | "emacsclient" | "micro" | "kak" | "joe" | "jed" | "mg" | "ne" => Syntax::Plus,
        "code" | "code-insiders" | "codium" | "vscodium" | "cursor" | "windsurf" => Syntax::Goto,
        "subl" | "sublime_text" | "zed" | "zeditor" | "hx" | "helix" => Syntax::Colon,
        "mate" | "kate" | "idea" => Syntax::Option("--line"),
        _ => Syntax::None,
    }
}

fn arguments(syntax: Syntax, file: &Path, line: usize) -> Vec<OsString> {
    let plain = || file.as_os_str().to_owned();
    let at_line = || {
        let mut file = plain();
        file.push(format!(":{line}"));
        file
    };
    match syntax {
        Syntax::Plus => vec![format!("+{line}").into(), plain()],
        Syntax::Goto => vec!["-g".into(), at_line()],
        Syntax::Colon => vec![at_line()],
        Syntax::Option(option) => vec![option.into(), line.to_string().into(), plain()],
        Syntax::None => vec![plain()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn editors_are_told_the_line_in_their_own_way() {
        for (editor, expected) in [
            ("vim", "+7 /a b.md"),
            ("/usr/bin/nvim -u NONE", "+7 /a b.md"),
            ("nano", "+7 /a b.md"),
            ("emacsclient -t", "+7 /a b.md"),
            ("code --wait", "-g /a b.md:7"),
            ("'/Applications/Sublime Text/subl' -w", "/a b.md:7"),
            ("\"/opt/my zed/zed\"", "/a b.md:7"),
            ("hx", "/a b.md:7"),
            ("mate -w", "--line 7 /a b.md"),
            ("ed", "/a b.md"),
            ("my-vim-wrapper", "/a b.md"),
        ] {
            let arguments = arguments(syntax(editor), Path::new("/a b.md"), 7);
            let arguments: Vec<_> = arguments.iter().map(|one| one.to_str().unwrap()).collect();
            assert_eq!(arguments.join(" "), expected, "{editor}");
        }
    }
}
