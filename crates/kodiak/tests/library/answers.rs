//! Lexical searches and lookups: what they find, and that no query fails.

use kodiak::access::Guard;
use kodiak::search::{Intent, Mode, Request, Router};
use kodiak::store::Filter;
use kodiak::{Error, Reference};
use proptest::prelude::*;

use crate::collection::{Collection, ask, paths};

fn notes() -> Collection {
    let collection = Collection::new(&[
        (
            "gtd.md",
            "---\ntitle: GTD methodology\ntags: [work, planning]\n---\nCapture, clarify, weekly review.\n",
        ),
        (
            "prod.md",
            "# Productivity\n\nOn systems and habits. Productivity again.\n",
        ),
        (
            "bread.md",
            "# Sourdough\n\nFlour, water, salt, patience.\nFeed the starter daily.\n",
        ),
        ("zh.md", "# 笔记\n\n我用数据库写笔记，也喜欢喝茶。\n"),
        ("ja.md", "# 京都\n\n京都で抹茶を飲みました。\n"),
        ("th.md", "# บันทึก\n\nวันนี้กินข้าวผัดกับเพื่อน\n"),
        ("hi.md", "# चाय\n\nसुबह की चाय और हिन्दी किताब।\n"),
        ("age.md", "# Template\n\nHe is {{age:34}} years old.\n"),
        (
            "organ.md",
            "# Organisation\n\nHow the organization organizes.\n",
        ),
    ]);
    collection.sync();
    collection
}

#[test]
fn words_phrases_prefixes_and_operators() {
    let notes = notes();
    for (query, expected) in [
        ("productivity", vec!["prod.md"]),
        ("\"weekly review\"", vec!["gtd.md"]),
        ("'weekly review'", vec!["gtd.md"]),
        ("productiv*", vec!["prod.md"]),
        ("organi*", vec!["organ.md"]),
        ("organiz*", vec!["organ.md"]),
        ("flour OR capture", vec!["gtd.md", "bread.md"]),
        ("flour AND salt", vec!["bread.md"]),
        ("flour AND capture", vec![]),
        ("NEAR(flour salt, 3)", vec!["bread.md"]),
        ("NEAR(flour daily, 3)", vec![]),
        ("title:sourdough", vec!["bread.md"]),
        ("title:flour", vec![]),
        ("tag:work", vec!["gtd.md"]),
        ("{{age:34}}", vec!["age.md"]),
        ("age 34", vec!["age.md"]),
        ("数据库", vec!["zh.md"]),
        ("茶", vec!["zh.md", "ja.md"]),
        ("喝茶", vec!["zh.md"]),
        ("抹茶", vec!["ja.md"]),
        ("ข้าวผัด", vec!["th.md"]),
        ("ผัด", vec!["th.md"]),
        ("हिन्दी", vec!["hi.md"]),
        ("चाय", vec!["hi.md"]),
    ] {
        let mut found = notes.found(query);
        let mut expected = expected;
        found.sort();
        expected.sort_unstable();
        assert_eq!(found, expected, "{query}");
    }
}

#[test]
fn excluded_documents_are_not_found() {
    let notes = notes();
    assert_eq!(notes.found("flour -starter"), [] as [&str; 0]);
    assert_eq!(notes.found("flour NOT capture"), ["bread.md"]);
    // A query of exclusions only finds everything else.
    let answer = notes.answer(&ask("-flour"));
    assert_eq!(answer.total, 8);
    assert!(!paths(&answer).contains(&"bread.md".to_owned()));
}

#[test]
fn misspelt_words_are_corrected_and_the_answer_says_so() {
    let notes = notes();
    let answer = notes.answer(&ask("productivty sistems"));
    assert_eq!(answer.corrected.as_deref(), Some("productivity systems"));
    assert_eq!(paths(&answer), ["prod.md"]);
    let exact = Request {
        exact: true,
        ..ask("productivty")
    };
    let answer = notes.answer(&exact);
    assert_eq!((answer.corrected, answer.hits.len()), (None, 0));
    // Short words, stop words and words in the notes stay as they are.
    for query in ["sal", "which", "water", "starters"] {
        assert_eq!(notes.answer(&ask(query)).corrected, None, "{query}");
    }
}

#[test]
fn a_correction_never_hides_an_exact_hit() {
    let collection = Collection::new(&[
        ("common.md", "planting planting"),
        ("other.md", "planting"),
        ("exact.md", "planning a planing machine"),
    ]);
    collection.sync();
    // "planing" is rare and similar to a frequent word, but it is in the notes.
    let answer = collection.answer(&ask("planing"));
    assert_eq!(answer.corrected, None);
    assert_eq!(paths(&answer), ["exact.md"]);
}

#[test]
fn similar_titles_are_suggested_if_nothing_is_found() {
    let notes = notes();
    let answer = notes.answer(&Request {
        exact: true,
        ..ask("sourdouhg")
    });
    assert_eq!(answer.hits, []);
    assert_eq!(answer.suggestions[0].title, "Sourdough");
}

#[test]
fn the_answer_says_how_it_was_made() {
    let notes = notes();
    let answer = notes.answer(&ask("how to keep a starter alive"));
    assert_eq!(answer.intent, Intent::Semantic);
    assert_eq!(answer.retrievers.lexical.as_deref(), Some("fts5"));
    assert_eq!(answer.retrievers.semantic, None);
    let hit = &answer.hits[0];
    assert_eq!(
        (hit.path.as_str(), hit.line, hit.found_by.as_slice()),
        ("bread.md", 4, &["lexical"][..])
    );
    assert_eq!(&hit.snippet[hit.marks[0].clone()], "starter");
    assert!((hit.score - 1.0).abs() < 1e-9);
}

#[test]
fn an_empty_query_lists_the_documents_that_pass_the_filter() {
    let notes = notes();
    let all = notes.answer(&ask("*"));
    assert_eq!(all.total, 9);
    for query in ["", "  "] {
        assert_eq!(paths(&notes.answer(&ask(query))), paths(&all), "{query:?}");
    }
    // A query of signs is one, though it has no words.
    assert_eq!(notes.answer(&ask("?!")).hits, []);
    let filtered = Request {
        filter: Filter {
            tags: vec!["work".into()],
            ..Filter::default()
        },
        ..ask("")
    };
    assert_eq!(paths(&notes.answer(&filtered)), ["gtd.md"]);
}

#[test]
fn like_answers_if_full_text_fails() {
    let notes = notes();
    drop(notes.store());
    let raw = rusqlite::Connection::open(notes.index_path()).unwrap();
    raw.execute_batch(
        "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name LIKE 'documents_fts%'",
    )
    .unwrap();
    drop(raw);
    let answer = notes.answer(&ask("patience"));
    assert_eq!(paths(&answer), ["bread.md"]);
    assert_eq!(answer.retrievers.lexical.as_deref(), Some("like"));
    assert_eq!(answer.notices.len(), 1);
}

#[test]
fn hits_are_checked_against_their_files() {
    let notes = Collection::new(&[
        ("a.md", "apple one"),
        ("b.md", "apple two"),
        ("c.md", "apple three"),
    ]);
    // A change right after a file was written might go unnoticed.
    std::thread::sleep(std::time::Duration::from_millis(80));
    notes.sync();
    notes.remove("a.md");
    notes.write("b.md", "apple two, but longer");
    let answer = notes.answer(&ask("apple"));
    assert_eq!(paths(&answer), ["b.md", "c.md"]);
    assert!(answer.hits[0].changed && !answer.hits[1].changed);
    assert_eq!((answer.total, answer.notices.len()), (2, 2));
}

#[test]
fn documents_by_id_address_path_and_title() {
    let notes = notes();
    let store = notes.store();
    let router = Router::new(&store, &[], Guard::local());
    let id = notes.answer(&ask("sourdough")).hits[0].id.clone();
    for reference in [
        id.as_str(),
        &format!("#{id}"),
        "kodiak://notes/bread.md",
        "notes/bread.md",
        "bread.md",
        "./bread.md",
        "sourdough",
    ] {
        let found = router
            .get(&reference.parse::<Reference>().unwrap())
            .unwrap();
        assert_eq!(found.document.key, "bread.md", "{reference}");
        assert_eq!(
            found.text,
            "# Sourdough\n\nFlour, water, salt, patience.\nFeed the starter daily.\n"
        );
    }
    let lines = router.get(&format!("{id}:3").parse().unwrap()).unwrap();
    assert_eq!(lines.text, "Flour, water, salt, patience.\n");
    // Lines count from the top of the file, frontmatter included.
    let front = router.get(&"gtd.md:5".parse().unwrap()).unwrap();
    assert_eq!(front.text, "Capture, clarify, weekly review.\n");
    match router.get(&"braed.md".parse().unwrap()) {
        Err(Error::NoDocument { suggestions, .. }) => assert!(suggestions[0].contains("bread.md")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_percent_sign_that_is_no_escape_is_taken_literally_in_an_address() {
    let notes = Collection::new(&[("100%+faster.md", "Speed.\n")]);
    notes.sync();
    let store = notes.store();
    let router = Router::new(&store, &[], Guard::local());
    for address in [
        "kodiak://notes/100%+faster.md",
        "kodiak://notes/100%25%2Bfaster.md",
        "kodiak://notes/100%25%2bfaster.md",
    ] {
        let found = router.get(&address.parse().unwrap()).unwrap();
        assert_eq!(found.document.key, "100%+faster.md", "{address}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_string_makes_a_search_fail(
        text in prop_oneof![
            "\\PC{0,40}",
            "[\\x00-\\x7f]{0,40}",
            "(AND|OR|NOT|NEAR|\\(|\\)|\"|'|\\*|-|:|title:|tag:|a|数|ก|👩| ){0,24}",
        ],
        all: bool,
        exact: bool,
    ) {
        // One index for all cases, since making it takes the time.
        use std::sync::LazyLock;
        static NOTES: LazyLock<Collection> = LazyLock::new(notes);
        let store = NOTES.store();
        let router = Router::new(&store, &[], Guard::local());
        for mode in [Mode::Auto, Mode::Lexical, Mode::Like] {
            let request = Request { mode, all, exact, explain: true, ..ask(&text) };
            let answer = router.search(&request);
            prop_assert!(answer.is_ok(), "{:?}", answer);
            for hit in answer.unwrap().hits {
                prop_assert!(hit.snippet.chars().count() <= 200);
                for mark in hit.marks {
                    prop_assert!(hit.snippet.get(mark).is_some());
                }
            }
        }
    }
}
