//! Help, completions, the manual, and readers that go away.

use std::io::Read;
use std::process::Stdio;

use insta::assert_snapshot;

use crate::desk::Desk;

#[test]
fn a_mistyped_option_is_an_error_with_a_tip() {
    let desk = Desk::new();
    assert_snapshot!(desk.run(&["search", "gtd", "--jsn"]), @"
    exit: 2
    --- stderr
    error: unexpected argument '--jsn' found

      tip: a similar argument exists: '--json'

    Usage: kodiak search --json <QUERY>...

    For more information, try '--help'.
    ");
    assert_snapshot!(desk.run(&["serach", "gtd"]), @"
    exit: 2
    --- stderr
    error: unrecognized subcommand 'serach'

      tip: some similar subcommands exist: 'serve', 'search'

    Usage: kodiak [OPTIONS] <COMMAND>

    For more information, try '--help'.
    ");
    assert_snapshot!(desk.run(&["search"]), @"
    exit: 2
    --- stderr
    error: there is no index at [DESK]/data/kodiak/index.db yet
    hint: run `kodiak add FOLDER`, or search a folder with `kodiak search … --in FOLDER`
    ");
    for arguments in [
        &["search", "x", "-n", "0"][..],
        &["search", "x", "-n", "many"],
        &["search", "x", "--where", "status"],
        &["search", "x", "--mode", "magic"],
        &["search", "x", "--json", "--files"],
        &["sources", "-q", "-v"],
        &["index", "--rebuild", "notes"],
        &["get"],
    ] {
        let run = desk.run(arguments);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run}");
    }
    assert_eq!(desk.run(&[] as &[&str]).code, Some(2));
}

#[test]
fn help_is_an_answer() {
    let desk = Desk::new();
    for verb in [
        "search",
        "get",
        "open",
        "note",
        "page",
        "tag",
        "add",
        "remove",
        "sources",
        "index",
        "status",
        "doctor",
        "model",
        "config",
        "eval",
        "completions",
        "man",
    ] {
        let run = desk.ok(&[verb, "--help"]);
        assert!(run.stdout.contains("Usage: kodiak"), "{run}");
        assert_eq!(run.stderr, "");
    }
    assert_snapshot!(desk.run(&["-h"]), @"
    exit: 0
    --- stdout
    Find what you wrote, on your own machine

    Usage: kodiak [OPTIONS] <COMMAND>

    Commands:
      search    Find notes
      get       Print a note, or some lines of it, or several notes
      open      Open a note at a line: a file in your editor, a note of Bear in Bear
      similar   Find the notes most similar to a note
      add       Register a folder of notes, or Bear, as a source and index it
      index     Bring the index up to date with the notes
      status    Show what is indexed, what was skipped, and what has changed since
      remember  Store something learned, unless it is already known
      recall    Search memories and sessions, current project first

    Write:
      page      Write, edit, delete and restore pages in writable sources
      tag       List tags, and change them in notes that Kodiak may write to

    Memory:
      memory    List memories, and restore forgotten ones
      forget    Move memories to the trash, or erase them

    Sessions:
      sessions  Search the records of coding sessions, and add records

    Agents:
      mcp       Serve an agent over the Model Context Protocol, and set up clients
      serve     Serve many agents and programs over HTTP

    Upkeep:
      remove    Remove a source; its files are not touched
      model     Install, list, choose and remove the models for semantic search

    `kodiak help --all` lists every command.

    Options:
      -h, --help     Print help
      -V, --version  Print version

    Options for every command:
          --index <PATH>   The index to use: a file, the folder that holds `index.db`, or the address of
                           a database [env: KODIAK_INDEX]
          --config <PATH>  The config file to use [env: KODIAK_CONFIG]
          --offline        Do not use the network: no downloads, no providers [env: KODIAK_OFFLINE]
          --model <NAME>   The model to use instead of the configured one; `none` turns off semantic
                           search [env: KODIAK_MODEL]
          --color <WHEN>   When to colour the output; `auto` is on a terminal [default: auto] [possible
                           values: auto, always, never]
      -v, --verbose        Print details
      -q, --quiet          Print only the answer, warnings and errors: no notices, no progress

    Getting started:
      kodiak add ~/notes
      kodiak search productivity systems
      kodiak                              search while you type

    Exit codes: 0 found, 1 nothing found, 2 error.
    ");
    assert!(desk.ok(&["--version"]).stdout.starts_with("kodiak "));
    let all = desk.ok(&["help", "--all"]).stdout;
    for verb in [
        "  timeline",
        "  serve",
        "  token",
        "  team",
        "  config",
        "  doctor",
        "  eval",
    ] {
        assert!(all.contains(verb), "{verb}: {all}");
    }
    assert!(!all.contains("ingest"), "{all}");
    assert_eq!(
        desk.ok(&["help", "page", "new"]).stdout,
        desk.ok(&["page", "new", "--help"]).stdout
    );
    assert_eq!(desk.ok(&["help"]).stdout, desk.ok(&["--help"]).stdout);
    assert_snapshot!(desk.run(&["help", "zebra"]), @"
    exit: 2
    --- stderr
    error: there is no command 'zebra'
    hint: run `kodiak help --all` to list every command
    ");
}

#[cfg(unix)]
#[test]
fn the_completion_script_is_one() {
    let desk = Desk::new();
    let script = desk.ok(&["completions", "bash"]).stdout;
    let file = desk.write("kodiak.bash", &script);
    match std::process::Command::new("bash")
        .arg("-n")
        .arg(&file)
        .output()
    {
        Ok(checked) => assert!(checked.status.success(), "{checked:?}"),
        // Not every machine has it.
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::NotFound),
    }
    for shell in ["zsh", "fish", "powershell", "elvish"] {
        assert!(desk.ok(&["completions", shell]).stdout.contains("kodiak"));
    }
}

#[test]
fn the_manual() {
    let desk = Desk::new();
    let page = desk.ok(&["completions", "man"]).stdout;
    assert!(page.contains(".TH kodiak 1"), "{page}");
    assert_eq!(desk.ok(&["man"]).stdout, page);
    desk.ok(&["completions", "man", "--dir", "pages"]);
    let run = desk.run(&["completions", "bash", "--dir", "pages"]);
    assert_eq!(run.code, Some(2), "{run}");
    for page in ["kodiak.1", "kodiak-search.1", "kodiak-config-show.1"] {
        assert!(desk.path("pages").join(page).exists(), "{page}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let desk = Desk::indexed();
    for arguments in [
        &["search", "*", "--json", "-n", "50"][..],
        &["search", "*", "-n", "50"],
        &["get", "gtd.md"],
        &["sources"],
        &["status"],
        &["doctor"],
        &["completions", "bash"],
        &["man"],
    ] {
        let mut command = desk.command(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let mut said = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut said)
            .unwrap();
        assert_eq!(
            child.wait().unwrap().code(),
            Some(0),
            "{arguments:?}: {said}"
        );
        assert_eq!(said, "", "{arguments:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_answer_that_cannot_be_written_is_an_error() {
    let desk = Desk::indexed();
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let mut command = desk.command(&["search", "gtd", "--json"]);
    command.stdout(full);
    let run = command.output().unwrap();
    assert_eq!(run.status.code(), Some(2));
    let said = String::from_utf8(run.stderr).unwrap();
    assert!(
        said.contains("could not write the answer: No space left"),
        "{said}"
    );
}

#[test]
fn the_help_says_which_dates_count() {
    let help = Desk::new().ok(&["search", "--help"]).stdout;
    let words: Vec<&str> = help.split_whitespace().collect();
    let help = words.join(" ");
    for said in [
        "created or last changed on or after this date",
        "created or last changed before this date",
    ] {
        assert!(help.contains(said), "{help}");
    }
}
