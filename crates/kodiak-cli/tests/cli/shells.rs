//! Keys and completion in real shells on a terminal: Alt-K picks a note and puts its path
//! where the cursor is, and Tab completes a value.

#![cfg(unix)]

use tiny_terminal::Session;

use crate::completions::is_installed;
use crate::desk::Desk;

const ALT_K: &str = "\u{1b}k";
const ENTER: &str = "\r";

/// What makes a shell load the script, with a prompt that a test can wait for.
fn start(desk: &Desk, shell: &str) -> Session {
    let script = desk.ok(&["completions", shell]).stdout;
    desk.write(&format!("kodiak.{shell}"), &script);
    let (arguments, file, text): (&[&str], &str, String) = match shell {
        "bash" => (
            &["--noprofile", "--rcfile", "./start.bash", "-i"],
            "start.bash",
            "source ./kodiak.bash\nPS1='ready> '\n".to_owned(),
        ),
        "zsh" => (
            &["-d", "-i"],
            "home/.zshrc",
            "PS1='ready> '\nautoload -U compinit\ncompinit -u -D\nsource ./kodiak.zsh\n".to_owned(),
        ),
        _ => (
            &["-i"],
            "config/fish/config.fish",
            "function fish_prompt; echo -n 'ready> '; end\nfunction fish_greeting; end\n\
             source ./kodiak.fish\n"
                .to_owned(),
        ),
    };
    desk.write(file, text);
    let mut command = desk.beside(shell);
    command
        .args(arguments)
        .env("TERM", "xterm-256color")
        .env("LC_ALL", "C.UTF-8")
        // The first prompt of a new user asks questions.
        .env("ZDOTDIR", desk.path("home"));
    let session = Session::start(&command, 120, 30, None);
    session.wait_for_text("ready>");
    session
}

/// Runs what was typed, and waits until this is printed. Shells move the cursor in many
/// ways, so what is written is looked at and not the screen.
fn prints(session: &mut Session, text: &str) {
    let before = session.written().len();
    session.type_in(ENTER);
    session.wait_for(|_| {
        session
            .written()
            .get(before..)
            .is_some_and(|it| it.contains(text))
    });
}

#[test]
fn alt_k_puts_a_note_where_the_cursor_is() {
    for shell in ["bash", "zsh", "fish"] {
        if !is_installed(shell) {
            continue;
        }
        let desk = Desk::indexed();
        desk.write(
            "notes/it's a tea.md",
            "# Oolong\n\nSteep it for 4 minutes exactly.\n",
        );
        desk.ok(&["index"]);
        let mut session = start(&desk, shell);
        session.type_in("cat ");
        session.type_in(ALT_K);
        session.wait_for(|screen| screen.is_alternate);
        session.type_in("oolong");
        session.wait_for(|screen| {
            let shown = screen.to_string();
            let first = shown.lines().nth(2).unwrap_or_default();
            first.contains("Oolong")
        });
        session.type_in(ENTER);
        session.wait_for(|screen| !screen.is_alternate);
        session.wait_for(|_| session.written().contains("tea.md"));
        // The word that was put there is one that the shell takes.
        prints(&mut session, "Steep it for 4 minutes exactly.\r\n");
        // Leaving without a choice changes nothing.
        session.type_in("echo \"ke\"\"pt-");
        session.type_in(ALT_K);
        session.wait_for(|screen| screen.is_alternate);
        session.type_in("\u{1b}");
        session.wait_for(|screen| !screen.is_alternate);
        session.type_in("line\"");
        prints(&mut session, "kept-line\r\n");
    }
}

#[test]
fn tab_completes_a_value() {
    for shell in ["bash", "zsh", "fish"] {
        if !is_installed(shell) {
            continue;
        }
        let desk = Desk::indexed();
        let mut session = start(&desk, shell);
        session.type_in("echo kodiak; kodiak config get search.lim\t");
        session.wait_for(|_| session.written().contains("search.limit"));
        prints(&mut session, "10\r\n");
    }
}
