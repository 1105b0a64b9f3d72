//! The commonest outputs as a person sees them, on a small and on a large terminal.
//!
//! Each must fit the window: what was printed first is still there.

use insta::assert_snapshot;

use crate::desk::Desk;
use crate::screen::{LARGE, SMALL, Shown, Window};

/// Runs the program on a terminal. Nothing may scroll away.
pub(crate) fn on(desk: &Desk, window: Window, arguments: &[&str]) -> Shown {
    let shown = desk.on_terminal(window, arguments);
    assert_eq!(shown.scrolled(), 0, "{shown}");
    shown
}

#[test]
fn a_search_with_many_hits() {
    let desk = Desk::indexed();
    let query = ["search", "how do I sleep better"];
    assert_snapshot!(on(&desk, SMALL, &query), @r#"
    1. Better sleep
       notes/better-sleep.md:8  44ba39  [health, sleep, habits]
       Insomnia since the move, so I experimented for ten weeks and wrote down what
       changed anything. Worked: Same wake-up time on weekends too (6:45). Hardest
       and most effective.

    2. Bullet journal
       notes/productivity/bullet-journal.md:28  60d202  [notebook, planning, analog]
       Kept: sleep hours, see Better sleep. Pairs nicely with GTD methodology: the
       notebook is the inbox, lists live on the computer.

    3.  Coffee brewing…       notes/cook…coffee-brewing.md:22  …way: Better sleep.
    4.  1:1 with Jonas        notes/meet…e-on-one-jonas.md:19  …home, sleeps four…
    less likely:
    5.  GTD methodology       notes/productivity/gtd.md:9  …do it after three…
    6.  Template…             notes/templates.md:18  To do: [ ] ask before…
    7.  Inbox zero            notes/prod…vity/inbox-zero.md:3  …or do. #email #gtd
    8.  Pomodoro technique    notes/prod…ivity/pomodoro.md:23  …better
    9.  Regular expressions…  notes/prog…ar-expressions.md:22  And no, I shall not…
    10. Shell snippets        notes/prog…snippets.markdown:11  …do mv -- "$f"…
    "#);
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

    7.  Inbox zero                      notes/productivity/inbox-zero.md:3  …reply, defer or do. #email #gtd
    8.  Pomodoro technique              notes/productivity/pomodoro.md:23  4 · 6 · 50/10 suits programming better
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
    assert_snapshot!(on(&desk, LARGE, &query), @r#"
    exit: Some(1)
    nothing found for "zyzzyva"
    "#);
    let filtered = ["search", "coffee", "--tag", "travel"];
    assert_snapshot!(on(&desk, SMALL, &filtered), @r#"
    exit: Some(1)
    nothing found for "coffee"
    2 notes match without --tag travel
    "#);
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

    4. Postmortem: parcel…   notes/prog…racking-outage.md:28  …pages returned an…
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
    assert_snapshot!(on(&desk, SMALL, &query), @r#"
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
    4.  1:1 with Jonas        notes/meet…e-on-one-jonas.md:24  …normal energy. Gave…
    5.  Finding the guilty…   notes/prog…ming/git-bisect.md:3  …ten steps. # start…
    6.  Postmortem: parcel…   notes/prog…racking-outage.md:82  …had no step "hand…
    7.  Productivity…         notes/prod…y/reading-list.md:11  Notes in GTD…
    8.  Inbox zero            notes/prod…vity/inbox-zero.md:1  Not zero messages…
    9.  Pomodoro technique    notes/prod…ivity/pomodoro.md:12  …and waits until the…
    10. 2025-11-03            notes/journal/2025-11-03.md:10  …at 74 starts a new…
    "#);
    assert_snapshot!(on(&desk, LARGE, &query), @r#"
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
       notes/meetings/one-on-one-jonas.md:24  e13193  [one-on-one, mentoring, projects/atlas]
       Back to normal energy. Gave his first talk in front of 60 people, voice trembled for two minutes
       only. Salary conversation due in July, collect examples until then.

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

    8.  Inbox zero                      notes/productivity/inbox-zero.md:1  Not zero messages, but zero messages about…
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

/// Remembers two things, and returns what differs from run to run with what to show
/// instead.
pub(crate) fn remembered(desk: &Desk) -> Vec<(String, &'static str)> {
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
    keeping a copy without secrets (about 27 bytes) in
      [DESK]/data/kodiak/transcripts
    hint: use --no-keep to keep no copy
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
