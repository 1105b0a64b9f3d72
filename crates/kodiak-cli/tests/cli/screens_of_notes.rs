//! Notes, lists, the status and the help as a person sees them, on a small and on a large
//! terminal.

use insta::assert_snapshot;
use unicode_width::UnicodeWidthStr;

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

/// What the help says is a snapshot of the tests of arguments.
#[test]
fn the_help() {
    let desk = Desk::new();
    let words = |text: &str| {
        let words = text.split_whitespace().map(str::to_owned);
        words.collect::<Vec<_>>()
    };
    let help = desk.ok(&["--help"]).stdout;
    // It is longer than these windows, which a reader of help scrolls.
    for (window, scrolled) in [(SMALL, 38), (LARGE, 19)] {
        let shown = desk.on_terminal(window, &["--help"]);
        assert_eq!(shown.scrolled(), scrolled);
        assert_eq!(words(&shown.text()), words(&help));
        // Each line is broken at the last word that has room, and the next one indented.
        let widest = shown.lines.iter().map(|line| line.width()).max();
        let columns = usize::from(window.columns);
        assert!(
            (columns - 10..=columns).contains(&widest.unwrap()),
            "{shown}"
        );
        for (line, next) in shown.lines.iter().zip(&shown.lines[1..]) {
            let is_rest = next.starts_with(&" ".repeat(20));
            let word = words(next).into_iter().next().filter(|_| is_rest);
            if let Some(word) = word {
                assert!(line.width() + 1 + word.width() > columns, "{shown}");
            }
        }
    }
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
