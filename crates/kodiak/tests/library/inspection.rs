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

/// Returns notes with these names and texts, embedded.
fn embedded(files: &[(&str, &str)]) -> Collection {
    let notes = Collection::new(files);
    notes.sync_and_embed(&*tiny());
    notes
}

/// The index has only the letters of such names, and titles weigh more than bodies.
#[test]
fn a_name_with_its_sign_outranks_titles_with_its_letters() {
    let notes = embedded(&[
        ("c.md", "# C\n\nPointers in C, arrays in C."),
        ("sharp.md", "# C sharp\n\nGenerics in C# and queries."),
        (
            "templates.md",
            "# Templates\n\nTemplates in C++ are slow to compile.",
        ),
        ("net.md", "# Net\n\nA fishing net, a net of a fisher."),
        ("platform.md", "# Platform\n\nUpgrade to .NET 9."),
    ]);
    for mode in [Mode::Auto, Mode::Lexical, Mode::Hybrid] {
        for (query, expected) in [
            ("C++", "templates.md"),
            ("c#", "sharp.md"),
            ("C", "c.md"),
            (".NET", "platform.md"),
            ("net", "net.md"),
            ("upgrade .net", "platform.md"),
        ] {
            assert_eq!(found(&notes, query, mode)[0], expected, "{query} {mode:?}");
        }
    }
}

#[test]
fn the_numbers_of_a_date_or_an_address_count_in_their_order() {
    let notes = embedded(&[
        ("frost.md", "# 2025-11-03\n\nFirst frost."),
        (
            "talks.md",
            "# Talks\n\n2025-03-11: the failure modes got praise.",
        ),
        ("router.md", "# 12.0.0.10\n\nThe router."),
        (
            "printer.md",
            "# Printer\n\nAnswers at 10.0.0.12, in the hall.",
        ),
    ]);
    for mode in [Mode::Auto, Mode::Lexical, Mode::Hybrid] {
        for (query, expected) in [
            ("2025-03-11", "talks.md"),
            ("2025-11-03", "frost.md"),
            ("10.0.0.12", "printer.md"),
            ("12.0.0.10", "router.md"),
        ] {
            assert_eq!(found(&notes, query, mode)[0], expected, "{query} {mode:?}");
        }
    }
}

#[test]
fn a_date_in_words_finds_the_note_of_the_day_before_that_of_the_month() {
    let mut files = vec![("2020-12-03.md".to_owned(), "Dentist.".to_owned())];
    for month in ["october", "november", "december"] {
        let text = format!("# {month} 2020 look back\n\nWhat 2020 was like, 3 times better.");
        files.push((format!("{month}.md"), text));
    }
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    let notes = embedded(&files);
    for mode in [Mode::Auto, Mode::Lexical, Mode::Hybrid] {
        for (query, expected) in [
            ("3 December 2020", "2020-12-03.md"),
            ("December 3rd, 2020", "2020-12-03.md"),
            ("december 2020", "december.md"),
        ] {
            assert_eq!(found(&notes, query, mode)[0], expected, "{query} {mode:?}");
        }
    }
}
