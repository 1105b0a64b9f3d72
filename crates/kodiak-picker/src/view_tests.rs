#![expect(clippy::unicode_not_nfc, reason = "screens show what was written")]

use insta::assert_snapshot;
use proptest::prelude::*;
use ratatui_core::backend::TestBackend;
use ratatui_core::terminal::Terminal;

use super::*;
use crate::list::{Problem, Results};
use crate::note::Note;
use crate::state::{Event, Key};

/// Returns the screen as text, without what a wide character covers.
fn screen(state: &mut State, columns: u16, rows: u16) -> String {
    state.handle(Event::Resize { columns, rows });
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    let mut cursor = None;
    terminal
        .draw(|frame| cursor = draw(state, frame.buffer_mut()))
        .unwrap();
    let buffer = terminal.backend().buffer();
    let mut text = String::new();
    for y in 0..rows {
        let mut line = String::new();
        let mut covered = 0;
        for x in 0..columns {
            let symbol = buffer[(x, y)].symbol();
            if covered > 0 {
                covered -= 1;
                continue;
            }
            covered = symbol.width().saturating_sub(1);
            line.push_str(symbol);
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    if let Some(cursor) = cursor {
        text.push_str(&format!("cursor: {},{}", cursor.x, cursor.y));
    }
    text
}

fn item(title: &str, place: &str, line: usize, words: &[&str]) -> Item {
    Item {
        uri: place.to_owned(),
        title: title.to_owned(),
        place: place.to_owned(),
        line,
        lines: if words.is_empty() { vec![] } else { vec![line] },
        words: words.iter().map(|&word| word.to_owned()).collect(),
        probable: true,
        ..Item::default()
    }
}

const TEXT: &str = "# Ramen broth, the two-day version\n\n#soup #japanese #weekend\n\n\
    Bones: 1.5 kg pork trotters (split), 1 kg chicken backs. Blanch ten minutes, scrub off \
    the brown scum under cold water. Skipping this makes the broth grey.\n\n\
    - Day one: simmer, never boil.\n- Day two: skim, strain, reduce.\n";

/// Returns a state with hits in several scripts.
fn state() -> State {
    let mut state = State::new("broth", Vec::new());
    state.begin();
    let mut unlikely = item(
        "Rust ownership notes",
        "notes/programming/rust-ownership.md",
        33,
        &["broth"],
    );
    unlikely.probable = false;
    let ramen = item(
        "Ramen broth, the two-day version",
        "notes/cooking/ramen-broth.md",
        5,
        &["broth"],
    );
    let items = vec![
        ramen.clone(),
        item(
            "成都吃什么：麻婆豆腐和回锅肉",
            "notes/travel/chengdu-food.md",
            3,
            &["豆腐"],
        ),
        item("שלום עולם", "notes/עברית/שלום.md", 1, &["עולם"]),
        item("مرحبا بالعالم", "notes/arabic.md", 2, &["مرحبا"]),
        item(
            "Cafe\u{301} 👩‍👩‍👧 and 🍜 with a title that is much longer than any terminal is wide, so that it must be cut",
            "notes/a/very/long/path/of/folders/that/goes/on/and/on/emoji.md",
            3,
            &["x"],
        ),
        item(
            "evil\u{1b}[2J\u{202e}title",
            "notes/evil\u{7}.md",
            1,
            &["x"],
        ),
        unlikely,
    ];
    state.handle(Event::Found {
        number: 1,
        stage: Stage::Full,
        found: Ok(Results {
            total: 19,
            by_meaning: true,
            items,
            notice: None,
        }),
    });
    state.handle(Event::Loaded(Note::new(&ramen, TEXT)));
    state
}

#[test]
fn a_small_screen_has_the_note_below() {
    assert_snapshot!(screen(&mut state(), 80, 24), @r"
    > broth                                              7 of 19 · words and meaning
    ────────────────────────────────────────────────────────────────────────────────
    ▌ Ramen broth, the two-day version               notes/cooking/ramen-broth.md:5
      成都吃什么：麻婆豆腐和回锅肉                   notes/travel/chengdu-food.md:3
      שלום עולם                                               notes/עברית/שלום.md:1
      مرحبا بالعالم                                               notes/arabic.md:2
      Café 👩‍👩‍👧 and 🍜 with a title that is …  …olders/that/goes/on/and/on/emoji.md:3
      evil\u{1b}[2J\u{202e}title                               notes/evil\u{7}.md:1
      Rust ownership notes                   notes/programming/rust-ownership.md:33

    ────────────────────────────────────────────────────────────────────────────────
       1  # Ramen broth, the two-day version
       2
       3  #soup #japanese #weekend
       4
    ▌  5  Bones: 1.5 kg pork trotters (split), 1 kg chicken backs. Blanch ten
    ▌     minutes, scrub off the brown scum under cold water. Skipping this makes
    ▌     the broth grey.
       6
       7  - Day one: simmer, never boil.
       8  - Day two: skim, strain, reduce.


    Enter open   Esc leave   F1 keys   Tab source   Ctrl-Y copy path   Ctrl-O folder
    cursor: 7,0
    ");
}

#[test]
fn a_large_screen_has_the_note_beside() {
    assert_snapshot!(screen(&mut state(), 200, 50), @r"
    > broth                                                                                                                                                                      7 of 19 · words and meaning
    ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
    ▌ Ramen broth, the two-day version                         notes/cooking/ramen-broth.md:5 │   1  # Ramen broth, the two-day version
      成都吃什么：麻婆豆腐和回锅肉                             notes/travel/chengdu-food.md:3 │   2
      שלום עולם                                                         notes/עברית/שלום.md:1 │   3  #soup #japanese #weekend
      مرحبا بالعالم                                                         notes/arabic.md:2 │   4
      Café 👩‍👩‍👧 and 🍜 with a title that is much …  …/of/folders/that/goes/on/and/on/emoji.md:3 │▌  5  Bones: 1.5 kg pork trotters (split), 1 kg chicken backs. Blanch ten minutes, scrub off the brown scum
      evil\u{1b}[2J\u{202e}title                                         notes/evil\u{7}.md:1 │▌     under cold water. Skipping this makes the broth grey.
      Rust ownership notes                             notes/programming/rust-ownership.md:33 │   6
                                                                                              │   7  - Day one: simmer, never boil.
                                                                                              │   8  - Day two: skim, strain, reduce.
                                                                                              │
                                                                                              │
                                                                                              │
                                                                                              │
                                                                                              │
                                                                                              │
                                                                                              │
                                                                                              │
                                                                                              │
                                                                                              │
                                                                                              │
                                                                                              │
                                                                                              │
                                                                                              │
                                                                                              │
                                                                                              │
                                                                                              │
                                                                                              │
                                                                                              │
                                                                                              │
                                                                                              │
                                                                                              │
                                                                                              │
                                                                                              │
                                                                                              │
                                                                                              │
                                                                                              │
                                                                                              │
                                                                                              │
                                                                                              │
                                                                                              │
                                                                                              │
                                                                                              │
                                                                                              │
                                                                                              │
                                                                                              │
                                                                                              │
                                                                                              │
    Enter open   Esc leave   F1 keys   Tab source   Ctrl-Y copy path   Ctrl-O folder
    cursor: 7,0
    ");
}

#[test]
fn wide_characters_and_other_directions_in_a_note() {
    let mut state = state();
    state.handle(Event::Key(Key::Down));
    let text = "# 成都吃什么\n\n中午：苍蝇馆子里的麻婆豆腐和回锅肉，花椒麻得舌头发抖。下午：人民公园喝盖碗茶，顺便看老人打麻将。\n\
        שלום עולם, this is mixed\nمرحبا بالعالم\ne\u{301}e\u{301}e\u{301} 👩‍👩‍👧 🍜\n\tindented\u{1b}[31m\n";
    let chosen = state.list().item().unwrap().clone();
    state.handle(Event::Loaded(Note::new(&chosen, text)));
    assert_snapshot!(screen(&mut state, 60, 20), @r"
    > broth                          7 of 19 · words and meaning
    ────────────────────────────────────────────────────────────
    ▌ 成都吃什么：麻婆豆腐和回锅…  …es/travel/chengdu-food.md:3
      שלום עולם                           notes/עברית/שלום.md:1
      مرحبا بالعالم                           notes/arabic.md:2
      Café 👩‍👩‍👧 and 🍜 with a titl…  …t/goes/on/and/on/emoji.md:3
      evil\u{1b}[2J\u{202e}title           notes/evil\u{7}.md:1
      Rust ownership notes         …amming/rust-ownership.md:33
    ────────────────────────────────────────────────────────────
       1  # 成都吃什么
       2
    ▌  3  中午：苍蝇馆子里的麻婆豆腐和回锅肉，花椒麻得舌头发抖。
    ▌     下午：人民公园喝盖碗茶，顺便看老人打麻将。
       4  שלום עולם, this is mixed
       5  مرحبا بالعالم
       6  ééé 👩‍👩‍👧 🍜
       7      indented\u{1b}[31m


    Enter open   Esc leave   F1 keys   Tab source
    cursor: 7,0
    ");
}

#[test]
fn keys_are_listed() {
    let mut state = state();
    state.handle(Event::Key(Key::Function(1)));
    assert_snapshot!(screen(&mut state, 80, 24), @r#"
    > broth                                              7 of 19 · words and meaning
    ────────────────────────────────────────────────────────────────────────────────
      Enter        open the note at the line
      Esc          leave
      Up, Down     select another note; also Ctrl-P and Ctrl-N
      PgUp, PgDn   go a page up or down
      Home, End    go to the first or the last note
      Tab          search only the next source; Shift-Tab for the previous
      Ctrl-Y       copy the path
      Ctrl-O       open the folder
      F2           show or hide the note
      Left, Right  move the cursor; Ctrl-A and Ctrl-E to the ends
      Ctrl-W       delete a word
      Ctrl-U       delete everything before the cursor
      -word        leave out notes with a word
      "a phrase"   find words in this order
      ?, F1        list the keys; ? only before anything is typed






    Enter open   Esc leave   F1 keys   Tab source   Ctrl-Y copy path   Ctrl-O folder
    cursor: 7,0
    "#);
}

#[test]
fn what_is_said_where_there_is_no_hit() {
    let said = |query: &str, found: Result<Results, Problem>| {
        let mut state = State::new(query, Vec::new());
        state.begin();
        state.handle(Event::Found {
            number: 1,
            stage: Stage::Words,
            found,
        });
        screen(&mut state, 60, 8)
    };
    assert_snapshot!(said("xyz", Ok(Results::default())), @r#"
    > xyz                                                      …
    ────────────────────────────────────────────────────────────
      Nothing found for "xyz".




    Enter open   Esc leave   F1 keys   Tab source
    cursor: 5,0
    "#);
    assert_snapshot!(said("", Ok(Results::default())), @"
    >                                               recent notes
    ────────────────────────────────────────────────────────────
      There are no notes yet.
      Run `kodiak add FOLDER` to add some, or `kodiak index`.



    Enter open   Esc leave   F1 keys   Tab source
    cursor: 2,0
    ");
    let damaged = Problem {
        text: "the index /data/kodiak/index.db is damaged: database disk image is malformed".into(),
        hints: vec!["run `kodiak doctor --fix`".into()],
    };
    assert_snapshot!(said("xyz", Err(damaged)), @"
    > xyz                                                      …
    ────────────────────────────────────────────────────────────
      the index /data/kodiak/index.db is damaged: database disk
      image is malformed
      hint: run `kodiak doctor --fix`


    Enter open   Esc leave   F1 keys   Tab source
    cursor: 5,0
    ");
}

#[test]
fn a_source_alone_and_a_notice() {
    let mut state = State::new("xyz", Vec::new());
    state.begin();
    state.handle(Event::Sources(vec!["notes".into(), "work".into()]));
    state.handle(Event::Key(Key::Tab));
    state.handle(Event::Found {
        number: 2,
        stage: Stage::Full,
        found: Ok(Results {
            notice: Some("the source 'notes' is missing".into()),
            ..Results::default()
        }),
    });
    assert_snapshot!(screen(&mut state, 60, 8), @r#"
    > xyz                                          notes · words
    ────────────────────────────────────────────────────────────
      Nothing found for "xyz".
      Only notes was searched; Tab searches the next source.



    the source 'notes' is missing
    cursor: 5,0
    "#);
}

#[test]
fn a_query_that_is_too_long_shows_its_end() {
    let mut state = State::new(&format!("{}最後", "word ".repeat(30)), Vec::new());
    state.begin();
    let shown = screen(&mut state, 40, 6);
    let first = shown.lines().next().unwrap();
    assert!(
        first.ends_with("word 最後") && first.width() <= 40,
        "{shown}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_screen_is_too_small(columns in 1..140u16, rows in 1..40u16, query in "\\PC{0,30}", help: bool) {
        let mut state = state();
        state.handle(Event::Paste(query));
        if help {
            state.handle(Event::Key(Key::Function(1)));
        }
        let shown = screen(&mut state, columns, rows);
        prop_assert!(!shown.contains(|sign: char| kodiak::escape::is_harmful(sign) && sign != '\n'));
    }
}
