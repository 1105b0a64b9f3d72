//! A closer look at the best candidates: words as typed, and dates.

use kodiak::access::Guard;
use kodiak::search::{Mode, Router};

use crate::collection::{Collection, ask_in, paths};
use crate::embedders::tiny;

/// Returns the paths that a query finds in a mode, best first.
fn found(notes: &Collection, query: &str, mode: Mode) -> Vec<String> {
    let store = notes.store();
    let router = Router::new(&store, &[], Guard::local()).with_embedder(Some(tiny()));
    paths(&router.search(&ask_in(mode, query)).unwrap())
}

#[test]
fn a_word_as_typed_outranks_its_relative() {
    let notes = Collection::new(&[
        (
            "plant.md",
            "# Plant\n\nThe organization of the plant this year, and more of it.",
        ),
        (
            "church.md",
            "# Church\n\nThe organ of the church this year, and more of it.",
        ),
        (
            "team.md",
            "# Team\n\nThe members of the team this year, and more of it.",
        ),
    ]);
    notes.sync_and_embed(&*tiny());
    for mode in [Mode::Lexical, Mode::Hybrid] {
        for (query, expected) in [("organ", "church.md"), ("organization", "plant.md")] {
            assert_eq!(found(&notes, query, mode)[0], expected, "{query} {mode:?}");
        }
    }
}

#[test]
fn a_note_of_the_named_period_comes_first() {
    let note = |date: &str| format!("---\ndate: {date}\n---\nWe decided on the new roof today.\n");
    let files = [
        ("winter.md", note("2024-01-15")),
        ("spring.md", note("2024-03-20")),
        ("later.md", note("2025-06-02")),
    ];
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (*name, text.as_str()))
        .collect();
    let notes = Collection::new(&files);
    notes.sync_and_embed(&*tiny());
    for mode in [Mode::Lexical, Mode::Hybrid] {
        for (query, expected) in [
            (
                "what did we decide about the roof in March 2024",
                "spring.md",
            ),
            ("what did we decide about the roof in January", "winter.md"),
            ("what did we decide about the roof on 2 June", "later.md"),
        ] {
            assert_eq!(found(&notes, query, mode)[0], expected, "{query} {mode:?}");
        }
    }
}

/// Every note mentions the year, so it weighs nothing as a word. In a title it
/// still tells the notes apart.
#[test]
fn a_year_tells_titles_apart_even_if_every_note_mentions_it() {
    let months = ["October", "November", "December"];
    let years = 2018..2024;
    let files: Vec<(String, String)> = years
        .clone()
        .flat_map(|year| months.map(|month| (year, month)))
        .map(|(year, month)| {
            let others: Vec<String> = years.clone().map(|year| year.to_string()).collect();
            let body = format!(
                "Looking back from November and December: {}",
                others.join(", ")
            );
            (
                format!("{month}-{year}.md"),
                format!("# {month} {year}\n\n{body}.\n"),
            )
        })
        .collect();
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    let notes = Collection::new(&files);
    notes.sync_and_embed(&*tiny());
    for mode in [Mode::Lexical, Mode::Hybrid] {
        for (path, _) in &files {
            let query = path
                .trim_end_matches(".md")
                .replace('-', " ")
                .to_lowercase();
            assert_eq!(found(&notes, &query, mode)[0], *path, "{query} {mode:?}");
        }
    }
}

#[test]
fn a_note_that_tells_a_time_answers_when() {
    let notes = Collection::new(&[
        (
            "plain.md",
            "Ana moved to the house by the lake, the lake she likes.",
        ),
        (
            "dated.md",
            "Ana moved to the house by the lake last week, she said.",
        ),
        (
            "other.md",
            "Ben stayed in the flat by the river, the river he likes.",
        ),
    ]);
    notes.sync_and_embed(&*tiny());
    for mode in [Mode::Lexical, Mode::Hybrid] {
        let first = found(&notes, "When did Ana move to the lake?", mode)[0].clone();
        assert_eq!(first, "dated.md", "{mode:?}");
    }
}

#[test]
fn a_period_counts_also_if_its_month_is_misspelt() {
    let note = |date: &str| format!("---\ndate: {date}\n---\nThe new roof.\n");
    // Without a period, the names decide.
    let files = [
        ("first.md", note("2024-01-15")),
        ("third.md", note("2024-11-20")),
        ("second.md", note("2024-03-20")),
        // The index has to know the word, or nothing is corrected.
        ("other.md", "A list: November, December".to_owned()),
    ];
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (*name, text.as_str()))
        .collect();
    let notes = Collection::new(&files);
    notes.sync_and_embed(&*tiny());
    for mode in [Mode::Lexical, Mode::Hybrid] {
        for query in ["the new roof november 2024", "the new roof novembre 2024"] {
            let found = found(&notes, query, mode);
            let roofs: Vec<&String> = found.iter().filter(|path| *path != "other.md").collect();
            assert_eq!(roofs[0], "third.md", "{query} {mode:?}");
        }
    }
}
