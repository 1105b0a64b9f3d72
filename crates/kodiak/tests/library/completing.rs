//! Which last words of a query are read as beginnings, and what that finds.

use std::sync::LazyLock;

use kodiak::access::Guard;
use kodiak::search::{Answer, Caveat, Mode, Request, Router};
use kodiak::store::Filter;
use proptest::prelude::*;

use crate::collection::{Collection, ask, ask_in, paths};
use crate::embedders::{Scripted, tiny};

/// Words that begin alike or are spelt alike.
fn notes() -> Collection {
    let notes = Collection::new(&[
        ("karabiner.md", "Karabiner remaps the keyboard."),
        ("karan.md", "Karan wrote back about a keyboard."),
        ("sourdough.md", "Feed the sourdough twice."),
        ("sound.md", "The sound of the room."),
        ("hydroponics.md", "Hydroponics: lettuce grows in water."),
        ("hydro.md", "The hydro plant was closed."),
        ("negotiation.md", "A negotiation about rent."),
        ("nestia.md", "Nestia is a framework."),
        ("salvage.md", "Salvage the old wood."),
        ("salva.md", "Salva called."),
    ]);
    notes.sync();
    notes
}

fn typing(query: &str) -> Request {
    Request {
        as_you_type: true,
        ..ask(query)
    }
}

fn first(answer: &Answer) -> Option<&str> {
    answer.hits.first().map(|hit| hit.path.as_str())
}

#[test]
fn the_beginning_of_a_word_is_not_a_misspelling() {
    let notes = notes();
    for (query, path, completed) in [
        ("karab", "karabiner.md", "karabiner"),
        ("Karab", "karabiner.md", "karabiner"),
        ("kar", "karabiner.md", "karabiner"),
        ("sourd", "sourdough.md", "sourdough"),
        ("hydrop", "hydroponics.md", "hydroponics"),
        // Its stem is shorter than what was typed.
        ("negotia", "negotiation.md", "negotiation"),
        ("negotiat", "negotiation.md", "negotiation"),
        ("salvag", "salvage.md", "salvage"),
        ("keyboard karab", "karabiner.md", "keyboard karabiner"),
        ("lettuce OR karab", "karabiner.md", "lettuce OR karabiner"),
        ("keybaord karab", "karabiner.md", "keyboard karabiner"),
    ] {
        for mode in [Mode::Auto, Mode::Lexical, Mode::Hybrid] {
            for request in [
                ask_in(mode, query),
                Request {
                    mode,
                    ..typing(query)
                },
            ] {
                let answer = notes.answer(&request);
                assert_eq!(answer.completed.as_deref(), Some(completed), "{query}");
                assert!(paths(&answer).contains(&path.to_owned()), "{query}");
                let marked = |hit: &kodiak::search::Hit| !hit.marks.is_empty();
                assert!(answer.hits.iter().all(marked), "{query}: {answer:?}");
            }
        }
        let spelling = query.contains("keybaord").then_some("keyboard karab");
        assert_eq!(notes.answer(&ask(query)).corrected.as_deref(), spelling);
    }
    assert_eq!(
        first(&notes.answer(&ask("keyboard karab"))),
        Some("karabiner.md")
    );
    let answer = notes.answer(&ask("karab"));
    let hit = &answer.hits[0];
    assert_eq!(&hit.snippet[hit.marks[0].clone()], "Karabiner");
    assert_eq!((answer.hits.len(), answer.suggestions.len()), (1, 0));
    assert_eq!(answer.contained, Some(true));
}

#[test]
fn only_a_last_word_that_more_letters_may_follow_is_completed() {
    let notes = notes();
    for query in [
        "karab ",
        "karab?",
        "karab keyboard",
        "\"karab\"",
        "keyboard -karab",
        "keyboard NOT karab",
        "keyboard NEAR karab",
        "(keyboard OR karab)",
        // Too short, known, a stop word, and nothing begins so.
        "ka",
        "hydro",
        "the",
        "karabu",
    ] {
        assert_eq!(notes.answer(&ask(query)).completed, None, "{query}");
    }
    let exact = Request {
        exact: true,
        ..ask("karab")
    };
    let answer = notes.answer(&exact);
    assert_eq!((answer.completed, answer.hits.len()), (None, 0));
    // A known word means itself.
    assert_eq!(paths(&notes.answer(&ask("hydro"))), ["hydro.md"]);
    // What cannot be completed is still corrected.
    for query in ["sourdoguh", "karabinre "] {
        let request = typing(query);
        assert!(notes.answer(&request).corrected.is_some(), "{query}");
    }
    let store = notes.store();
    let router = Router::new(&store, &[], Guard::local());
    assert_eq!(router.spelling("karab").unwrap(), None);
    assert_eq!(
        router.spelling("karabinre").unwrap().as_deref(),
        Some("karabiner")
    );
}

#[test]
fn required_and_compound_words_are_completed() {
    let notes = notes();
    let all = Request {
        all: true,
        ..ask("keyboard karab")
    };
    assert_eq!(paths(&notes.answer(&all)), ["karabiner.md"]);
    assert_eq!(
        paths(&notes.answer(&ask("keyboard AND karab"))),
        ["karabiner.md"]
    );
    assert_eq!(
        paths(&notes.answer(&ask("lettuce AND keyboard_karab"))),
        [""; 0]
    );
    assert_eq!(
        paths(&notes.answer(&ask("remaps AND keyboard_karab"))),
        ["karabiner.md"]
    );
    let answer = notes.answer(&ask("keyboard-karab"));
    assert_eq!(first(&answer), Some("karabiner.md"));
    assert_eq!(answer.contained, Some(true));
    // The title is the name of the file.
    assert_eq!(paths(&notes.answer(&ask("title:karab"))), ["karabiner.md"]);
    assert_eq!(notes.answer(&ask("title:remap")).completed, None);
    assert_eq!(notes.answer(&ask("tag:karab")).completed, None);
}

#[test]
fn a_known_word_may_go_on_while_it_is_typed() {
    let notes = notes();
    let answer = notes.answer(&typing("hydro"));
    assert_eq!(paths(&answer), ["hydro.md", "hydroponics.md"]);
    assert_eq!((answer.completed, answer.corrected), (None, None));
    // A title that has the completion weighs less than the word in a text.
    notes.write("title.md", "# Hydroponics\n\nHydroponics, hydroponics.\n");
    notes.write(
        "long.md",
        format!("hydro {}", "and other plants ".repeat(200)),
    );
    notes.sync();
    let found = paths(&notes.answer(&typing("hydro")));
    let mut best = found[..2].to_vec();
    best.sort();
    assert_eq!(best, ["hydro.md", "long.md"]);
    assert_eq!(found.len(), 4);
    // A space ends the word.
    let mut ended = paths(&notes.answer(&typing("hydro ")));
    ended.sort();
    assert_eq!(ended, ["hydro.md", "long.md"]);
    // So does another word.
    assert_eq!(paths(&notes.answer(&typing("hydro closed")))[0], "hydro.md");
}

#[test]
fn forms_of_a_known_word_are_found_and_marked_too() {
    let notes = Collection::new(&[
        ("one.md", "Running late."),
        ("two.md", "He runs."),
        ("three.md", "Bread."),
    ]);
    notes.sync();
    let answer = notes.answer(&typing("running"));
    assert_eq!(paths(&answer), ["one.md", "two.md"]);
    for hit in &answer.hits {
        assert_eq!(hit.marks.len(), 1, "{hit:?}");
    }
    assert_eq!(answer.relevant, Some(2));
}

#[test]
fn one_and_two_letters_find_the_best_of_many_words() {
    let notes = notes();
    for number in 0..40 {
        let unlike = char::from(b'a' + number % 26);
        let text = format!("Item sa{unlike}{unlike}{number} so{unlike}bo.");
        notes.write(&format!("many/{number}.md"), text);
    }
    notes.write("so.md", "So");
    notes.sync();
    let typed = notes.answer(&typing("so"));
    assert_eq!(first(&typed), Some("so.md"), "{:?}", paths(&typed));
    assert_eq!((typed.hits.len(), typed.notices.sentences().len()), (10, 0));
    for query in ["s", "so", "h", "keyboard k", "the", "x", "é"] {
        let answer = notes.answer(&typing(query));
        assert_eq!(answer.completed, None, "{query}");
        let marked = |hit: &kodiak::search::Hit| !hit.marks.is_empty();
        assert!(answer.hits.iter().all(marked), "{query}");
        assert_eq!(
            answer.hits.is_empty(),
            matches!(query, "x" | "é"),
            "{query}"
        );
    }
    // A user who types an asterisk is told that not all were searched.
    let codes = |query: &str| {
        let answer = notes.answer(&ask(query));
        answer.notices.iter().map(Caveat::code).collect::<Vec<_>>()
    };
    assert_eq!(codes("s*"), ["prefix-too-short"]);
    assert_eq!(codes("ka*"), [""; 0]);
    assert_eq!(notes.answer(&ask("ka*")).total, 2);
    // All are excluded.
    let request = Request {
        limit: 100,
        ..ask("keyboard -k*")
    };
    assert_eq!(notes.answer(&request).total, 0);
}

#[test]
fn a_completion_occurs_in_a_document_that_the_filter_admits() {
    let notes = Collection::new(&[
        ("work/a.md", "karabiner and terraform"),
        ("home/b.md", "karan and sourdough"),
        ("home/c.md", "kara"),
    ]);
    notes.sync();
    let inside = |folder: &str, request: Request| {
        let filter = Filter {
            paths: vec![folder.to_owned()],
            ..Filter::default()
        };
        notes.answer(&Request { filter, ..request })
    };
    let answer = inside("work/", ask("karab"));
    assert_eq!(answer.completed.as_deref(), Some("karabiner"));
    let answer = inside("home/", ask("karab"));
    assert_eq!(answer.completed, None);
    assert_eq!(answer.corrected.as_deref(), Some("kara"));
    // "kara" is known elsewhere, so here its completions count in full.
    let answer = inside("work/", typing("kara"));
    assert_eq!(answer.completed.as_deref(), Some("karabiner"));
    assert_eq!(
        paths(&inside("home/", typing("kara"))),
        ["home/c.md", "home/b.md"]
    );
    assert_eq!(paths(&inside("work/", typing("te"))), ["work/a.md"]);
    assert_eq!(paths(&inside("home/", typing("te"))), [""; 0]);
}

#[test]
fn a_clear_completion_is_embedded_too() {
    let notes = Collection::new(&[
        ("a.md", "cook noodles for dinner"),
        ("b.md", "the museum"),
        ("c.md", "the museums"),
        ("d.md", "a musical"),
        ("e.md", "a bread, a breeze"),
    ]);
    notes.sync_and_embed(&*Scripted::tiny());
    for (query, seen) in [
        ("cook nood", vec!["cook nood", "cook noodles"]),
        ("cook OR nood", vec!["cook nood", "cook noodles"]),
        // Most documents have a form of one word, or several are as likely.
        ("visit mus", vec!["visit mus", "visit museum"]),
        ("bake bre", vec!["bake bre"]),
        ("cook nood ", vec!["cook nood"]),
    ] {
        let model = Scripted::tiny();
        notes.answer_with(&model, &ask_in(Mode::Hybrid, query));
        assert_eq!(model.queries(), seen, "{query}");
    }
}

#[test]
fn a_word_that_the_model_knows_is_also_looked_for_by_meaning() {
    let notes = Collection::new(&[
        ("a.md", "a cookery book"),
        ("b.md", "noodles for dinner"),
        ("c.md", "a cookery course"),
    ]);
    notes.sync_and_embed(&*tiny());
    let compared = |request: Request| {
        let request = Request {
            limit: 1,
            ..request
        };
        let answer = notes.answer_with(&tiny(), &request);
        assert_eq!(answer.completed.as_deref(), Some("cookery"));
        answer.retrievers.semantic.is_some()
    };
    assert!(compared(ask("cook")));
    // Otherwise words that begin so are what was meant, and fill the answer.
    assert!(!compared(ask("cooke")) && !compared(typing("cook")));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_text_that_is_being_typed_makes_a_search_fail(
        text in prop_oneof![
            "\\PC{0,40}",
            "[\\x00-\\x7f]{0,40}",
            "(AND|OR|NOT|NEAR|\\(|\\)|\"|'|\\*|-|_|:|title:|tag:|a|ka|kara|hydro|数|ก|👩| ){0,24}",
        ],
        all: bool,
        exact: bool,
        filtered: bool,
    ) {
        // One index for all cases, since making it takes the time.
        static NOTES: LazyLock<Collection> = LazyLock::new(notes);
        let store = NOTES.store();
        let router = Router::new(&store, &[], Guard::local());
        for mode in [Mode::Auto, Mode::Lexical, Mode::Like] {
            let mut request = Request { mode, all, exact, explain: true, ..typing(&text) };
            if filtered {
                request.filter.paths = vec!["h".to_owned(), "s".to_owned()];
            }
            let answer = router.search(&request);
            prop_assert!(answer.is_ok(), "{:?}", answer);
            for hit in answer.unwrap().hits {
                for mark in hit.marks {
                    prop_assert!(hit.snippet.get(mark).is_some());
                }
            }
        }
    }
}
