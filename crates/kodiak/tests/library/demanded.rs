//! What a query demands or excludes holds for every hit, however it was found.

use kodiak::search::{Caveat, Mode, Request};

use crate::collection::{Collection, ask, ask_in, paths, sorted};
use crate::embedders::tiny;

const RANKED: [Mode; 4] = [Mode::Auto, Mode::Lexical, Mode::Semantic, Mode::Hybrid];

/// Notes about cooking, which the tiny model finds similar to each other.
fn cooking() -> Collection {
    let notes = Collection::new(&[
        (
            "broth.md",
            "# Ramen broth\n\nCook noodles in soup for dinner.\n",
        ),
        (
            "soup.md",
            "# Soup\n\nA recipe for dinner: noodles, broth.\n",
        ),
        ("brother.md", "# Dinner\n\nMy brother can cook a recipe.\n"),
        (
            "stew.md",
            "---\ntags: [kitchen]\n---\n# Stew\n\nCook a recipe for dinner.\n",
        ),
    ]);
    notes.sync_and_embed(&*tiny());
    notes
}

fn found(notes: &Collection, mode: Mode, query: &str) -> Vec<String> {
    sorted(paths(&notes.answer_with(&tiny(), &ask_in(mode, query))))
}

#[test]
fn every_operator_holds_in_every_mode() {
    let notes = cooking();
    // Without a demand, similar notes are found as well.
    assert_eq!(found(&notes, Mode::Auto, "noodles").len(), 4);
    for (query, demanded) in [
        ("dinner -broth", &["brother.md", "stew.md"][..]),
        ("dinner recipe cook -noodles", &["brother.md", "stew.md"]),
        ("broth*", &["broth.md", "brother.md", "soup.md"]),
        ("dinner recipe soup brothe*", &["brother.md"]),
        ("dinner -brothe*", &["broth.md", "soup.md", "stew.md"]),
        ("\"ramen broth\" dinner", &["broth.md"]),
        ("'recipe for dinner'", &["soup.md", "stew.md"]),
        ("noodles AND recipe", &["soup.md"]),
        ("ramen OR stew", &["broth.md", "stew.md"]),
        ("dinner NOT (noodles OR brother)", &["stew.md"]),
        ("NEAR(recipe dinner, 1)", &["soup.md", "stew.md"]),
        ("title:soup", &["soup.md"]),
        ("tag:kitchen dinner", &["stew.md"]),
    ] {
        for mode in RANKED {
            let hits = found(&notes, mode, query);
            for hit in &hits {
                assert!(demanded.contains(&hit.as_str()), "{query} {mode:?}: {hit}");
            }
            if mode != Mode::Semantic {
                assert_eq!(hits, demanded, "{query} {mode:?}");
            }
        }
    }
}

#[test]
fn a_missing_phrase_falls_back_to_its_words_and_says_so() {
    let notes = cooking();
    let phrase = |query: &str, exact| {
        let request = Request {
            exact,
            ..ask_in(Mode::Lexical, query)
        };
        notes.answer(&request)
    };
    let answer = phrase("\"broth ramen\"", false);
    let notice = Caveat::PhraseNotFound {
        phrase: "broth ramen".to_owned(),
    };
    assert_eq!(answer.notices.0, [notice]);
    assert_eq!(sorted(paths(&answer)), ["broth.md", "soup.md"]);
    let answer = phrase("\"broth ramen\"", true);
    assert_eq!((answer.total, answer.notices.len()), (0, 0));
    // A phrase that occurs is required, and so is an operand.
    for (query, total) in [
        ("\"ramen broth\"", 1),
        ("\"broth ramen\" AND dinner", 0),
        ("title:\"broth ramen\"", 0),
    ] {
        let answer = phrase(query, false);
        assert_eq!((answer.total, answer.notices.len()), (total, 0), "{query}");
    }
    // With `--all`, its words stay required.
    let all = Request {
        all: true,
        ..ask("\"broth ramen\"")
    };
    assert_eq!(paths(&notes.answer(&all)), ["broth.md"]);
}

#[test]
fn excluded_words_and_prefixes_mean_the_word_as_typed() {
    let notes = Collection::new(&[
        ("music.md", "The organ of the church plays music."),
        ("musics.md", "Two organs make music."),
        ("work.md", "An organization with music."),
        ("title.md", "# Organ\n\nAn organization with music."),
        ("happy.md", "A happy song of music."),
        ("happiness.md", "The happiness of music."),
    ]);
    notes.sync();
    let found = |query| sorted(notes.found(query));
    assert_eq!(
        found("music -organ"),
        ["happiness.md", "happy.md", "work.md"]
    );
    assert_eq!(
        found("music -organs"),
        ["happiness.md", "happy.md", "work.md"]
    );
    assert_eq!(
        found("music -organization"),
        ["happiness.md", "happy.md", "music.md", "musics.md"]
    );
    assert_eq!(
        found("music NOT organ"),
        ["happiness.md", "happy.md", "work.md"]
    );
    assert_eq!(
        found("music -title:organ"),
        [
            "happiness.md",
            "happy.md",
            "music.md",
            "musics.md",
            "work.md"
        ]
    );
    assert_eq!(found("-organ"), ["happiness.md", "happy.md", "work.md"]);
    assert_eq!(found("organi*"), ["title.md", "work.md"]);
    assert_eq!(
        found("organ*"),
        ["music.md", "musics.md", "title.md", "work.md"]
    );
    assert_eq!(found("happi*"), ["happiness.md"]);
    assert_eq!(found("music -happi*").len(), 5);
    assert_eq!(
        found("music -organi*"),
        ["happiness.md", "happy.md", "music.md", "musics.md"]
    );
}
