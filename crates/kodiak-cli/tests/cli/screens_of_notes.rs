//! Notes, lists, the status and the help as a person sees them, on a small and on a large
//! terminal.

use insta::assert_snapshot;

use crate::desk::Desk;
use crate::screen::{LARGE, SMALL};
use crate::screens::on;

#[test]
fn a_note() {
    let desk = Desk::indexed();
    let note = ["get", "notes/productivity/inbox-zero.md"];
    assert_snapshot!(on(&desk, SMALL, &note), @"
    # Inbox zero

    Not zero messages, but zero messages about which I have not decided: delete, delegate, reply, defer or do. #email #gtd
    ");
    assert_snapshot!(on(&desk, LARGE, &note), @"
    # Inbox zero

    Not zero messages, but zero messages about which I have not decided: delete, delegate, reply, defer or do. #email #gtd
    ");
    let lines = ["get", "gtd:1-9", "--line-numbers"];
    assert_snapshot!(on(&desk, SMALL, &lines), @"
    1  ---
    2  title: GTD methodology
    3  tags: [gtd, habits, planning]
    4  kind: article
    5  created: 2023-02-18
    6  updated: 2025-09-07
    7  ---
    8
    9  Getting things done, the way I actually do it after three restarts.
    ");
    assert_snapshot!(on(&desk, LARGE, &lines), @"
    1  ---
    2  title: GTD methodology
    3  tags: [gtd, habits, planning]
    4  kind: article
    5  created: 2023-02-18
    6  updated: 2025-09-07
    7  ---
    8
    9  Getting things done, the way I actually do it after three restarts.
    ");
}

#[test]
fn links_of_a_note() {
    let desk = Desk::indexed();
    let links = ["links", "gtd", "-n", "4"];
    assert_snapshot!(on(&desk, SMALL, &links), @r#"
    links to 2 notes
      Weekly review checklist  notes/productivity/weekly-review-checklist.md  d7aa9b
      Bullet journal  notes/productivity/bullet-journal.md  60d202
    linked from 3 notes
      Bullet journal  notes/productivity/bullet-journal.md  60d202  "GTD…
      Productivity reading list  notes/productivity/reading-list.md  090058
      Weekly review checklist  notes/productivity/weekly-review-checklist.md  d7aa9b
    "#);
    assert_snapshot!(on(&desk, LARGE, &links), @r#"
    links to 2 notes
      Weekly review checklist  notes/productivity/weekly-review-checklist.md  d7aa9b
      Bullet journal  notes/productivity/bullet-journal.md  60d202
    linked from 3 notes
      Bullet journal  notes/productivity/bullet-journal.md  60d202  "GTD methodology"
      Productivity reading list  notes/productivity/reading-list.md  090058  "GTD methodology"
      Weekly review checklist  notes/productivity/weekly-review-checklist.md  d7aa9b  "GTD methodology"
    "#);
}

#[test]
fn lists_of_memories_and_pages() {
    let desk = Desk::new();
    let kettle = "The kettle needs descaling every three months; vinegar works better than anything \
                  that is sold for it, and costs less.";
    for (id, text) in [
        ("kettle", kettle),
        ("tare", "Never boil the tare: it turns bitter."),
    ] {
        desk.ok(&["remember", text, "--id", id]);
    }
    assert_snapshot!(on(&desk, SMALL, &["memory", "list"]), @"
    id      written   kind    what
    cfe23b  just now  memory  Never boil the tare: it turns bitter.
    d389b7  just now  memory  The kettle needs descaling every three months…
    ");
    assert_snapshot!(on(&desk, LARGE, &["memory", "list"]), @"
    id      written   kind    what
    cfe23b  just now  memory  Never boil the tare: it turns bitter.
    d389b7  just now  memory  The kettle needs descaling every three months; vinegar works better than anything that is…
    ");
    for (name, text) in [
        ("kitchen", "# Kitchen\n"),
        (
            "garden/in-spring",
            "---\ntags: [garden, spring]\n---\n# What to sow in spring\n",
        ),
    ] {
        let file = desk.write(&format!("wiki/{name}.md"), text);
        let file = std::fs::File::options().write(true).open(file).unwrap();
        file.set_modified(std::time::SystemTime::now()).unwrap();
    }
    desk.ok(&["add", "wiki", "--writable"]);
    assert_snapshot!(on(&desk, SMALL, &["page", "list"]), @"
    id      changed   title                  path                      tags
    8ae4f6  just now  What to sow in spring  wiki/garden/in-spring.md  garden…
    3f742e  just now  Kitchen                wiki/kitchen.md
    ");
    assert_snapshot!(on(&desk, LARGE, &["page", "list"]), @"
    id      changed   title                  path                      tags
    8ae4f6  just now  What to sow in spring  wiki/garden/in-spring.md  garden, spring
    3f742e  just now  Kitchen                wiki/kitchen.md
    ");
}

#[test]
fn the_help() {
    let desk = Desk::new();
    // It is longer than these windows, which a reader of help scrolls.
    assert_snapshot!(desk.on_terminal(SMALL, &["--help"]), @"
    (39 rows have scrolled away)
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
      mcp       Serve an agent over the Model Context Protocol, and configure clients
      serve     Serve many agents and programs over HTTP

    Upkeep:
      remove    Remove a source; its files are not touched
      model     Install, list, choose and remove the models for semantic search

    `kodiak help --all` lists every command.

    Options:
      -h, --help     Print help
      -V, --version  Print version

    Options for every command:
          --index <PATH>   The index to use: a file, the folder that holds
                           `index.db`, or the address of a database [env:
                           KODIAK_INDEX]
          --config <PATH>  The config file to use [env: KODIAK_CONFIG]
          --offline        Do not use the network: no downloads, no providers [env:
                           KODIAK_OFFLINE]
          --model <NAME>   The model to use instead of the configured one; `none`
                           turns off semantic search [env: KODIAK_MODEL]
          --color <WHEN>   When to colour the output; `auto` is on a terminal
                           [default: auto] [possible values: auto, always, never]
      -v, --verbose        Print details
      -q, --quiet          Print only the answer, warnings and errors: no notices,
                           no progress

    Getting started:
      kodiak add ~/notes
      kodiak search productivity systems
      kodiak                              search while you type

    Exit codes: 0 found, 1 nothing found, 2 error.
    ");
    assert_snapshot!(desk.on_terminal(LARGE, &["--help"]), @"
    (19 rows have scrolled away)
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
      mcp       Serve an agent over the Model Context Protocol, and configure clients
      serve     Serve many agents and programs over HTTP

    Upkeep:
      remove    Remove a source; its files are not touched
      model     Install, list, choose and remove the models for semantic search

    `kodiak help --all` lists every command.

    Options:
      -h, --help     Print help
      -V, --version  Print version

    Options for every command:
          --index <PATH>   The index to use: a file, the folder that holds `index.db`, or the address of a database [env:
                           KODIAK_INDEX]
          --config <PATH>  The config file to use [env: KODIAK_CONFIG]
          --offline        Do not use the network: no downloads, no providers [env: KODIAK_OFFLINE]
          --model <NAME>   The model to use instead of the configured one; `none` turns off semantic search [env:
                           KODIAK_MODEL]
          --color <WHEN>   When to colour the output; `auto` is on a terminal [default: auto] [possible values: auto,
                           always, never]
      -v, --verbose        Print details
      -q, --quiet          Print only the answer, warnings and errors: no notices, no progress

    Getting started:
      kodiak add ~/notes
      kodiak search productivity systems
      kodiak                              search while you type

    Exit codes: 0 found, 1 nothing found, 2 error.
    ");
}

#[test]
fn the_status() {
    let desk = Desk::indexed();
    assert_snapshot!(on(&desk, SMALL, &["status"]), @"
    42 notes, 1929 distinct words
    semantic search: off
    index: [DESK]/data/kodiak/index.db ([SIZE])

    notes: 42 notes, indexed just now
      [DESK]/notes
    ");
    assert_snapshot!(on(&desk, LARGE, &["status"]), @"
    42 notes, 1929 distinct words
    semantic search: off
    index: [DESK]/data/kodiak/index.db ([SIZE])

    notes: 42 notes, indexed just now
      [DESK]/notes
    ");
}

#[test]
fn models() {
    let desk = Desk::new();
    assert_snapshot!(on(&desk, SMALL, &["model", "list"]), @"
    name                               state          size      good for
    all-minilm-l6-v2                   not installed  22.6 MiB  notes remembered in…
    granite-embedding-30m-english      not installed  32.0 MiB  documentation in…
    granite-embedding-30m-english-f32  not installed  62.2 MiB  comparing it with…
    bge-small-en-v1.5                  not installed  33.1 MiB  claims to find…
    snowflake-arctic-embed-s           not installed  33.1 MiB  claims to find…
    bge-base-en-v1.5                   not installed  -         not measured…
    nomic-embed-text-v1.5              not installed  -         not measured…
    mxbai-embed-large-v1               not installed  -         not measured…
    snowflake-arctic-embed-m-v2.0      not installed  -         not measured…
    embeddinggemma-300m                not installed  -         not measured…
    multilingual-e5-small              not installed  -         not measured…
    ms-marco-minilm-l6-v2              not installed  -         not measured…
    bge-reranker-base                  not installed  -         not measured…
    jina-reranker-v1-tiny-en           not installed  -         not measured…
    no model is in use: searches use words only
    ");
    assert_snapshot!(on(&desk, LARGE, &["model", "list"]), @"
    name                               state          size      languages  good for
    all-minilm-l6-v2                   not installed  22.6 MiB  en         notes remembered in other words, in English; the…
    granite-embedding-30m-english      not installed  32.0 MiB  en         documentation in English; on notes, found less…
    granite-embedding-30m-english-f32  not installed  62.2 MiB  en         comparing it with eight-bit weights
    bge-small-en-v1.5                  not installed  33.1 MiB  en         claims to find answers to English questions; on…
    snowflake-arctic-embed-s           not installed  33.1 MiB  en         claims to find answers to English questions; on…
    bge-base-en-v1.5                   not installed  -         en         not measured; claims to find answers to English…
    nomic-embed-text-v1.5              not installed  -         en         not measured; claims to find long English texts
    mxbai-embed-large-v1               not installed  -         en         not measured; claims to find answers to English…
    snowflake-arctic-embed-m-v2.0      not installed  -         many       not measured; claims to find long texts in many…
    embeddinggemma-300m                not installed  -         many       not measured; claims to find texts in many…
    multilingual-e5-small              not installed  -         many       not measured; claims to find texts in many…
    ms-marco-minilm-l6-v2              not installed  -         en         not measured; claims to reorder answers to…
    bge-reranker-base                  not installed  -         en zh      not measured; claims to reorder answers in…
    jina-reranker-v1-tiny-en           not installed  -         en         not measured; claims to reorder long English…
    no model is in use: searches use words only
    ");
}
