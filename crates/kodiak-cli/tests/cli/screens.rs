//! The commonest outputs as a person sees them, on a small and on a large terminal.
//!
//! Each must fit the window: what was printed first is still there.

use insta::assert_snapshot;

use crate::desk::Desk;
use crate::screen::{LARGE, SMALL, Shown, Window};

/// Runs the program on a terminal. Nothing may scroll away.
fn on(desk: &Desk, window: Window, arguments: &[&str]) -> Shown {
    let shown = desk.on_terminal(window, arguments);
    assert_eq!(shown.scrolled(), 0, "{shown}");
    shown
}

#[test]
fn a_search_with_many_hits() {
    let desk = Desk::indexed();
    let query = ["search", "how do I sleep better"];
    assert_snapshot!(on(&desk, SMALL, &query), @"
    1. Better sleep
       notes/better-sleep.md:8  44ba39  [health, sleep, habits]
       Insomnia since the move, so I experimented for ten weeks and wrote down what
       changed anything. Worked: Same wake-up time on weekends too (6:45). Hardest
       and most effective.

    2. Bullet journal
       notes/productivity/bullet-journal.md:28  60d202  [notebook, planning, analog]
       Kept: sleep hours, see Better sleep. Pairs nicely with GTD methodology: the
       notebook is the inbox, lists live on the computer.

    3.  Coffee brewing…       notes/cooking/coffee-brewing.md:22  …way: Better…
    4.  1:1 with Jonas        notes/meetings/one-on-one-jonas.md:19
    less likely:
    5.  GTD methodology       notes/productivity/gtd.md:9  …the way I actually do…
    6.  Template…             notes/templates.md:18  To do: [ ] ask before…
    7.  Inbox zero            notes/productivity/inbox-zero.md:3  …which I have not…
    8.  Pomodoro technique    notes/productivity/pomodoro.md:23  …better · It beats…
    9.  Regular expressions…  notes/programming/regular-expressions.md:22
    10. Shell snippets        notes/programming/shell-snippets.markdown:11
    ");
    assert_snapshot!(on(&desk, LARGE, &query), @r#"
    1. Better sleep
       notes/better-sleep.md:8  44ba39  [health, sleep, habits]
       Insomnia since the move, so I experimented for ten weeks and wrote down what changed anything.
       Worked: Same wake-up time on weekends too (6:45). Hardest and most effective.

    2. Bullet journal
       notes/productivity/bullet-journal.md:28  60d202  [notebook, planning, analog]
       Kept: sleep hours, see Better sleep. Pairs nicely with GTD methodology: the notebook is the inbox,
       lists live on the computer.

    3. Coffee brewing ratios
       notes/cooking/coffee-brewing.md:22  502307  [coffee, morning]
       No caffeine after 13:00, learnt the hard way: Better sleep.

    4. 1:1 with Jonas
       notes/meetings/one-on-one-jonas.md:19  e13193  [one-on-one, mentoring, projects/atlas]
       Tired. Newborn at home, sleeps four hours. Moved his on-call week to May. [x] Ask about the
       conference budget for him · 2025-05-20: Back to normal energy.

    less likely:

    5. GTD methodology
       notes/productivity/gtd.md:9  cfc0e8  [gtd, habits, planning]
       Getting things done, the way I actually do it after three restarts. Five steps: Capture everything
       that tugs at me: paper slip, voice memo, one inbox. Clarify each item. Is there something to do?

    6. Template placeholders
       notes/templates.md:18  c2a956  [tools, writing]
       To do: [ ] ask before overwriting; [ ] a template for Moving checklist, which I have yet to write;
       [x] plural forms ("1 year", "2 years") · Documentation draft: example.com.

    7.  Inbox zero                      notes/productivity/inbox-zero.md:3  …about which I have not decided: delete…
    8.  Pomodoro technique              notes/productivity/pomodoro.md:23  4 · 6 · 50/10 suits programming better · It…
    9.  Regular expressions I keep…     notes/programming/regular-expressions.md:22  And no, I shall not parse HTML with…
    10. Shell snippets                  notes/programming/shell-snippets.markdown:11  …in *.jpeg; do mv -- "$f"…
    "#);
}

#[test]
fn a_search_that_finds_nothing() {
    let desk = Desk::indexed();
    // However busy the machine is, all changes are looked for.
    desk.configure("refresh_ms", 60_000);
    let query = ["search", "zyzzyva"];
    assert_snapshot!(on(&desk, SMALL, &query), @r#"
    exit: Some(1)
    nothing found for "zyzzyva"
    "#);
    let filtered = ["search", "coffee", "--tag", "travel"];
    assert_snapshot!(on(&desk, LARGE, &filtered), @r#"
    exit: Some(1)
    nothing found for "coffee"
    2 notes match without --tag travel
    "#);
}

#[test]
fn an_uncertain_answer() {
    let desk = Desk::indexed();
    let query = ["search", "tax return deadline"];
    assert_snapshot!(on(&desk, SMALL, &query), @r#"
    nothing contains all of "tax return deadlines"; closest by words:

    1. GTD methodology
       notes/productivity/gtd.md:24  cfc0e8  [gtd, habits, planning]
       The calendar is holy ground. Only appointments and hard deadlines go there.
       The point is an empty head: whatever sits on a trusted list stops nagging at
       three in the morning.

    2. Unicode normalisation
       notes/programming/unicode-normalisation.md:19  08d334  [unicode, search]
       import unicodedata # strip accents for a forgiving index def fold(s): d =
       unicodedata.normalize("NFKD", s.casefold()) return "".join(c for c in d if
       not unicodedata.combining(c))

    3. Rate limiting with a Redis token bucket
       notes/programming/rate-limiting.md:23  4a1e6f  [redis, api, backend … +1]
       …redis.call('EXPIRE', KEYS[1], math.ceil(burst / rate) * 2) return ok and 1
       or 0 · The script runs atomically, so two web servers cannot spend the same
       token.

    4. Postmortem: parcel…   notes/programming/postmortem-tracking-outage.md:28
    "#);
    assert_snapshot!(on(&desk, LARGE, &query), @r#"
    nothing contains all of "tax return deadlines"; closest by words:

    1. GTD methodology
       notes/productivity/gtd.md:24  cfc0e8  [gtd, habits, planning]
       The calendar is holy ground. Only appointments and hard deadlines go there. The point is an empty
       head: whatever sits on a trusted list stops nagging at three in the morning.

    2. Unicode normalisation
       notes/programming/unicode-normalisation.md:19  08d334  [unicode, search]
       import unicodedata # strip accents for a forgiving index def fold(s): d =
       unicodedata.normalize("NFKD", s.casefold()) return "".join(c for c in d if not
       unicodedata.combining(c))

    3. Rate limiting with a Redis token bucket
       notes/programming/rate-limiting.md:23  4a1e6f  [redis, api, backend, throttling]
       …redis.call('EXPIRE', KEYS[1], math.ceil(burst / rate) * 2) return ok and 1 or 0 · The script runs
       atomically, so two web servers cannot spend the same token.

    4. Postmortem: parcel tracking outage
       notes/programming/postmortem-tracking-outage.md:28  d0eb17  [postmortem, incident, reliability]
       100 % of tracking pages returned an error between 09:00 and 12:12. About 41,000 people saw the
       apology page; the help desk took 630 calls.
    "#);
}

#[test]
fn similar_notes() {
    let desk = Desk::indexed();
    let query = ["similar", "notes/productivity/gtd.md"];
    assert_snapshot!(on(&desk, SMALL, &query), @"
    this note was compared by words, not by meaning: it is not embedded yet
    1. Weekly review checklist
       notes/productivity/weekly-review-checklist.md:21  d7aa9b  [gtd … +2]
       [ ] Go through waiting for: who owes me an answer? Nudge politely. [ ] Each
       project has at least one next action · Daydream: [ ] Someday/maybe: promote
       one, delete two; [ ] What was fun this week?

    2. Bullet journal
       notes/productivity/bullet-journal.md:30  60d202  [notebook, planning, analog]
       Pairs nicely with GTD methodology: the notebook is the inbox, lists live on
       the computer.

    3.  Template…             notes/templates.md:21  …Moving checklist, which I…
    4.  1:1 with Jonas        notes/meetings/one-on-one-jonas.md:13
    5.  Finding the guilty…   notes/programming/git-bisect.md:3  …ten steps. #…
    6.  Postmortem: parcel…   notes/programming/postmortem-tracking-outage.md:82
    7.  Productivity…         notes/productivity/reading-list.md:11
    8.  Inbox zero            notes/productivity/inbox-zero.md:3  #email #gtd
    9.  Pomodoro technique    notes/productivity/pomodoro.md:12  …and waits until…
    10. 2025-11-03            notes/journal/2025-11-03.md:10  …at 74 starts a new…
    ");
    assert_snapshot!(on(&desk, LARGE, &query), @r#"
    this note was compared by words, not by meaning: it is not embedded yet
    1. Weekly review checklist
       notes/productivity/weekly-review-checklist.md:21  d7aa9b  [gtd, checklist, friday]
       [ ] Go through waiting for: who owes me an answer? Nudge politely. [ ] Each project has at least one
       next action · Daydream: [ ] Someday/maybe: promote one, delete two; [ ] What was fun this week?

    2. Bullet journal
       notes/productivity/bullet-journal.md:30  60d202  [notebook, planning, analog]
       Pairs nicely with GTD methodology: the notebook is the inbox, lists live on the computer.

    3. Template placeholders
       notes/templates.md:21  c2a956  [tools, writing]
       [ ] a template for Moving checklist, which I have yet to write; [x] plural forms ("1 year", "2
       years") · Documentation draft: example.com. Idea from Weekly review checklist. #tools #writing

    4. 1:1 with Jonas
       notes/meetings/one-on-one-jonas.md:13  e13193  [one-on-one, mentoring, projects/atlas]
       Idea: he writes the design document for the map import. #projects/atlas; Feedback for me: I answer
       too quickly in reviews, leave juniors room to find it themselves.

    5. Finding the guilty commit with git bisect
       notes/programming/git-bisect.md:3  7880e3  [git, debugging]
       1000 commits take about ten steps. # start the search, then mark both ends git bisect start git
       bisect bad HEAD git bisect good v2.3.0 # let a script decide: 0 = good, 1 = bad, 125 = cannot test…

    6. Postmortem: parcel tracking outage
       notes/programming/postmortem-tracking-outage.md:82  d0eb17  [postmortem, incident, reliability]
       Our moving plan had no step "hand over to operations". Action items:

    7. Productivity reading list
       notes/productivity/reading-list.md:11  090058  [books, productivity, toread]
       Notes in GTD methodology. [x] Deep Work, Cal Newport. First half convinces, second half is mostly
       anecdotes. [x] Four Thousand Weeks, Oliver Burkeman. The antidote: you will never finish everything.

    8.  Inbox zero                      notes/productivity/inbox-zero.md:3  #email #gtd
    9.  Pomodoro technique              notes/productivity/pomodoro.md:12  …on the note and waits until the bell. If a…
    10. 2025-11-03                      notes/journal/2025-11-03.md:10  …somebody at 74 starts a new hobby. #journal…
    "#);
}

#[test]
fn several_notes() {
    let desk = Desk::indexed();
    let notes = [
        "get",
        "notes/cooking/coffee-brewing.md:10-13",
        "notes/better-sleep.md:8-10",
    ];
    assert_snapshot!(on(&desk, SMALL, &notes), @"
    notes/cooking/coffee-brewing.md:10-13  502307
    | Method       | Coffee | Water  | Grind       | Time      |
    |--------------|--------|--------|-------------|-----------|
    | Cone dripper | 15 g   | 250 ml | medium      | 2:45 min  |
    | French press | 30 g   | 500 ml | coarse      | 4 min     |

    notes/better-sleep.md:8-10  44ba39
    Insomnia since the move, so I experimented for ten weeks and wrote down what changed anything.

    Worked:
    ");
    assert_snapshot!(on(&desk, LARGE, &notes), @"
    notes/cooking/coffee-brewing.md:10-13  502307
    | Method       | Coffee | Water  | Grind       | Time      |
    |--------------|--------|--------|-------------|-----------|
    | Cone dripper | 15 g   | 250 ml | medium      | 2:45 min  |
    | French press | 30 g   | 500 ml | coarse      | 4 min     |

    notes/better-sleep.md:8-10  44ba39
    Insomnia since the move, so I experimented for ten weeks and wrote down what changed anything.

    Worked:
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

/// Remembers two things, and returns what differs from run to run with what to show
/// instead.
fn remembered(desk: &Desk) -> Vec<(String, &'static str)> {
    let mut names = Vec::new();
    for (text, id, path) in [
        (
            "The kettle needs descaling every three months; vinegar works better than \
             anything that is sold for it.",
            "a1a1a1",
            "20260201-000000-000-a1a1a1",
        ),
        (
            "Never boil the tare: it turns bitter.",
            "b2b2b2",
            "20260201-000000-000-b2b2b2",
        ),
    ] {
        let memory = desk.json(&["remember", text, "--tag", "kitchen", "--json"]);
        names.push((memory["path"].as_str().unwrap().to_owned(), path));
        names.push((memory["id"].as_str().unwrap().to_owned(), id));
    }
    names
}

fn renamed(shown: &Shown, names: &[(String, &'static str)]) -> String {
    let names = names.iter();
    names.fold(shown.to_string(), |text, (from, to)| text.replace(from, to))
}

#[test]
fn what_was_learned() {
    let desk = Desk::new();
    let names = remembered(&desk);
    let timeline = |window| renamed(&on(&desk, window, &["timeline"]), &names);
    assert_snapshot!(timeline(SMALL), @"
    id      written   kind    what                                           tags
    a1a1a1  just now  memory  The kettle needs descaling every three…        kitchen
    b2b2b2  just now  memory  Never boil the tare: it turns bitter.          kitchen
    ");
    assert_snapshot!(timeline(LARGE), @"
    id      written   kind    what                                                                                   tags
    a1a1a1  just now  memory  The kettle needs descaling every three months; vinegar works better than anything…     kitchen
    b2b2b2  just now  memory  Never boil the tare: it turns bitter.                                                  kitchen
    ");
    let recall = |window| renamed(&on(&desk, window, &["recall", "kettle"]), &names);
    assert_snapshot!(recall(SMALL), @"
    1. The kettle needs descaling every three months; vinegar works…
       data/kodiak/memory/20260201-000000-000-a1a1a1.md:7  a1a1a1  [kitchen]
       The kettle needs descaling every three months; vinegar works better than
       anything that is sold for it.
    ");
    assert_snapshot!(recall(LARGE), @"
    1. The kettle needs descaling every three months; vinegar works…
       data/kodiak/memory/20260201-000000-000-a1a1a1.md:7  a1a1a1  [kitchen]
       The kettle needs descaling every three months; vinegar works better than anything that is sold for
       it.
    ");
}

#[test]
fn adding_a_folder() {
    let add = |window| {
        let desk = Desk::with_model();
        desk.copy_examples();
        let text = on(&desk, window, &["add", "notes"]).to_string();
        let (said, took) = text.rsplit_once(" in ").unwrap();
        assert!(took.ends_with(" s"), "{text}");
        said.to_owned()
    };
    assert_snapshot!(add(SMALL), @"
    added [DESK]/notes as 'notes': 42 notes
    embedded 68 chunks of 42 notes
    ");
    assert_snapshot!(add(LARGE), @"
    added [DESK]/notes as 'notes': 42 notes
    embedded 68 chunks of 42 notes
    ");
}

#[test]
fn adding_transcripts() {
    let desk = Desk::new();
    let said = r#"{"type":"user","sessionId":"s1","uuid":"u1","timestamp":"2026-01-31T09:00:00Z","cwd":"/src/api","message":{"role":"user","content":"Why does the kettle whistle?"}}"#;
    desk.write("home/.claude/projects/api/s1.jsonl", format!("{said}\n"));
    let shown = on(&desk, SMALL, &["add", "--transcripts"]);
    assert_snapshot!(shown, @"
    reading 1 session of claude-code (164 bytes)
    keeping a copy without secrets (about 27 bytes) in [DESK]/data/kodiak/transcripts
    hint: --no-keep keeps none
    added claude-code: 1 note
    ");
}

#[test]
fn the_first_hits_are_seen_on_every_terminal() {
    let desk = Desk::indexed();
    for rows in [8, 12, 16, 24, 40, 60] {
        for columns in [40, 80, 120] {
            let window = Window { rows, columns };
            let shown = on(&desk, window, &["search", "how do I sleep better"]);
            let text = shown.text();
            let first = text.lines().next().unwrap();
            assert!(
                first.starts_with("1. ") && first.contains("Better"),
                "{shown}"
            );
            // The last hit has at least a line.
            let last = text.lines().rev().find(|line| !line.is_empty()).unwrap();
            assert!(rows < 16 || text.contains("\n10. "), "{last}: {shown}");
        }
    }
    // More than fit are counted.
    let window = Window {
        rows: 12,
        columns: 80,
    };
    let shown = on(&desk, window, &["search", "*", "-n", "30"]);
    assert!(shown.text().ends_with("more: --pager shows all"), "{shown}");
}

#[test]
fn a_pager_shows_all_hits_in_full() {
    let desk = Desk::indexed();
    let query = ["search", "how do I sleep better", "--pager"];
    let mut command = desk.command(&query);
    let shown = desk.show(SMALL, command.env("KODIAK_PAGER", "/usr/bin/wc -l"));
    let lines: usize = shown.text().trim().parse().unwrap();
    assert!(lines > 40, "{shown}");
    // The config may ask for it, and a missing pager is not an error.
    desk.configure("pager", true);
    let mut command = desk.command(&query[..2]);
    let shown = desk.show(SMALL, command.env("PAGER", "/missing/pager"));
    assert_eq!(shown.code, Some(0), "{shown}");
    assert!(shown.scrolled() > 0, "{shown}");
    // Off a terminal there is none.
    let mut command = desk.command(&query);
    let run = desk.finish(command.env("KODIAK_PAGER", "/usr/bin/wc -l"));
    assert!(run.stdout.starts_with("1. Better sleep"), "{run}");
}

#[test]
fn only_what_matters_is_said() {
    let desk = Desk::with_model();
    desk.copy_examples();
    desk.ok(&["add", "notes"]);
    let query = ["search", "how do I cook noodles", "-n", "2"];
    let piped = desk.ok(&query).stderr;
    for fact in ["searched by words and meaning (tiny)", "2 of about "] {
        assert!(piped.contains(fact), "{piped}");
        let shown = on(&desk, LARGE, &query);
        assert!(!shown.text().contains(fact), "{shown}");
        let shown = on(&desk, LARGE, &[&query[..], &["--verbose"]].concat());
        assert!(shown.text().contains(fact), "{shown}");
    }
}

#[test]
fn paths_are_links_that_can_be_pasted() {
    let desk = Desk::new();
    let file = desk.write(
        "home/My notes/it's tea.md",
        "# Tea\n\nThe kettle whistles.\n",
    );
    desk.write("home/My notes/-dash.md", "# Dash\n\nA kettle, dashed.\n");
    desk.ok(&["add", "home/My notes", "--name", "notes"]);
    let from = |folder: &str, arguments: &[&str]| {
        let mut command = desk.command(arguments);
        desk.show(LARGE, command.current_dir(desk.path(folder)))
    };
    // From elsewhere, below the home folder and in it.
    for (folder, expected) in [
        ("data", r"~/My\ notes/it\'s\ tea.md:3"),
        ("home", r"My\ notes/it\'s\ tea.md:3"),
        ("home/My notes", r"it\'s\ tea.md:3"),
    ] {
        let shown = from(folder, &["search", "kettle whistles", "-n", "1"]);
        assert!(shown.text().contains(expected), "{folder}: {shown}");
        // A shell passes on what the program, `cat` and `--path` take.
        let path = expected.strip_suffix(":3").unwrap();
        let program = env!("CARGO_BIN_EXE_kodiak");
        for line in [
            format!("{program} get {expected}"),
            format!("{program} get {path}"),
            format!("{program} search --path {expected} kettle"),
            format!("cat {path}"),
        ] {
            let mut command = desk.command::<&str>(&[]);
            let variables: Vec<_> = command
                .get_envs()
                .map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned)))
                .collect();
            command = std::process::Command::new("/bin/sh");
            command
                .args(["-c", &line])
                .env_clear()
                .current_dir(desk.path(folder));
            command.env("PATH", "/usr/bin:/bin");
            for (name, value) in variables {
                command.env(name, value.unwrap_or_default());
            }
            let run = desk.finish(&mut command);
            assert!(run.stdout.contains("The kettle whistles"), "{line}: {run}");
        }
    }
    let shown = from("home/My notes", &["search", "kettle dashed", "-n", "1"]);
    assert!(shown.text().contains("./-dash.md:3"), "{shown}");
    // The link has the machine and the file, whatever is shown of it.
    let host = rustix::system::uname();
    let host = host.nodename().to_str().unwrap().to_owned();
    let address = file
        .to_str()
        .unwrap()
        .replace(' ', "%20")
        .replace('\'', "%27");
    let link = format!("\u{1b}]8;;file://{host}{address}\u{1b}\\");
    let query = ["search", "kettle whistles", "-n", "1"];
    assert!(from("data", &query).raw.contains(&link));
    let mut command = desk.command(&query);
    let shown = desk.show(LARGE, command.env("NO_COLOR", "1"));
    assert!(
        shown.raw.contains(&link) && !shown.raw.contains("\u{1b}[1m"),
        "{shown}"
    );
    for arguments in [
        &["--color", "never"][..],
        &["--json"],
        &["--format", "line"],
    ] {
        let shown = from("data", &[&query[..], arguments].concat());
        assert!(!shown.raw.contains("\u{1b}]8;"), "{shown}");
    }
    assert!(!desk.ok(&query).stdout.contains('\u{1b}'));
    // A tilde that no shell has expanded, and a file that is gone.
    for arguments in [
        &["get", "~/My notes/it's tea.md:3"][..],
        &["search", "--path", "~/My notes/it's", "kettle"],
        &["similar", "~/My notes/it's tea.md"],
    ] {
        assert_eq!(desk.run(arguments).code, Some(0), "{arguments:?}");
    }
}

#[test]
fn tables_are_as_wide_as_the_terminal() {
    use unicode_width::UnicodeWidthStr;

    let desk = Desk::indexed();
    remembered(&desk);
    for arguments in [
        &["model", "list"][..],
        &["timeline"],
        &["sources"],
        &["tag", "list"],
    ] {
        for columns in [60, 80, 120] {
            let window = Window { rows: 60, columns };
            let shown = desk.on_terminal(window, arguments);
            for line in shown.raw.lines() {
                let line = line.replace("\u{1b}[1m", "").replace("\u{1b}[0m", "");
                let width = line.trim_end().width();
                assert!(width <= usize::from(columns), "{arguments:?}: {line}");
            }
        }
    }
}
