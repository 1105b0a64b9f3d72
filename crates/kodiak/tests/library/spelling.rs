//! Which words of a query are corrected, to what, and what a correction is worth.

use kodiak::search::{Mode, Request};
use kodiak::store::Filter;

use crate::collection::{Collection, ask, ask_in, paths};
use crate::embedders::tiny;

fn corrected(notes: &Collection, query: &str) -> Option<String> {
    notes.answer(&ask(query)).corrected
}

#[test]
fn a_word_of_the_language_is_not_a_misspelling() {
    let notes = Collection::new(&[
        ("geometry.md", "The angle was stolen and brought here."),
        ("moral.md", "A moral, an angle."),
    ]);
    notes.sync();
    for query in ["ankle", "swollen", "drought", "mural"] {
        assert_eq!(corrected(&notes, query), None, "{query}");
    }
    assert_eq!(corrected(&notes, "angel"), None);
    assert_eq!(corrected(&notes, "anlge").as_deref(), Some("angle"));
    assert_eq!(corrected(&notes, "brougth").as_deref(), Some("brought"));
}

#[test]
fn a_slip_that_makes_a_rare_word_is_corrected_to_a_frequent_one() {
    let notes = Collection::new(&[
        ("one.md", "stopping the archive"),
        ("two.md", "stopping here"),
        ("three.md", "stopping there"),
    ]);
    notes.sync();
    assert_eq!(corrected(&notes, "stoping").as_deref(), Some("stopping"));
    notes.remove("three.md");
    notes.sync();
    assert_eq!(corrected(&notes, "stoping"), None);
}

#[test]
fn a_word_of_the_models_vocabulary_is_not_a_misspelling() {
    let notes = Collection::new(&[("a.md", "pomodora and pomodora"), ("b.md", "rammen")]);
    notes.sync_and_embed(&*tiny());
    assert_eq!(corrected(&notes, "pomodoro").as_deref(), Some("pomodora"));
    let lexical = |query| ask_in(Mode::Lexical, query);
    let answer = notes.answer_with(&tiny(), &lexical("pomodoro"));
    assert_eq!(answer.corrected, None);
    let answer = notes.answer_with(&tiny(), &lexical("pomodoroa"));
    assert_eq!(answer.corrected.as_deref(), Some("pomodora"));
}

#[test]
fn a_correction_occurs_in_a_document_that_the_filter_admits() {
    let notes = Collection::new(&[
        ("work/a.md", "zanzibar and terraform"),
        ("home/b.md", "potatoes"),
        ("home/c.md", "zanzibor"),
    ]);
    notes.sync();
    let inside = |folder: &str, query| {
        let filter = Filter {
            paths: vec![folder.to_owned()],
            ..Filter::default()
        };
        notes.answer(&Request {
            filter,
            ..ask(query)
        })
    };
    let answer = inside("work/", "terrafrom");
    assert_eq!(answer.corrected.as_deref(), Some("terraform"));
    let answer = inside("home/", "terrafrom");
    assert_eq!((answer.corrected, answer.total), (None, 0));
    // The next likely word that the filter admits.
    let answer = inside("home/", "zanzibur");
    assert_eq!(answer.corrected.as_deref(), Some("zanzibor"));
    assert_eq!(corrected(&notes, "zanzibur").as_deref(), Some("zanzibar"));
    // A word of other documents is a word all the same.
    assert_eq!(inside("home/", "zanzibar").corrected, None);
}

#[test]
fn a_word_inside_addresses_is_found_but_not_a_correction() {
    let notes = Collection::new(&[(
        "tool.md",
        "See [the tool](https://example.org/dynver) and <https://banmo.example.org>.",
    )]);
    notes.sync();
    for query in ["dynvar", "bammo"] {
        assert_eq!(corrected(&notes, query), None, "{query}");
    }
    assert_eq!(notes.found("dynver"), ["tool.md"]);
    notes.write("more.md", "We use dynver.");
    notes.sync();
    assert_eq!(corrected(&notes, "dynvar").as_deref(), Some("dynver"));
}

#[test]
fn four_letters_may_lack_a_fifth() {
    let notes = Collection::new(&[("a.md", "an empty coast and a note")]);
    notes.sync();
    assert_eq!(corrected(&notes, "emty").as_deref(), Some("empty"));
    // A word of the language, and a letter replaced in four.
    for query in ["cost", "nite"] {
        assert_eq!(corrected(&notes, query), None, "{query}");
    }
}

#[test]
fn a_word_of_the_language_inside_addresses_is_the_last_resort() {
    let notes = Collection::new(&[(
        "tool.md",
        "See [it](https://example.org/archaeology/journal) and <https://example.org/swollen>.",
    )]);
    notes.sync();
    assert_eq!(
        corrected(&notes, "archaelogy").as_deref(),
        Some("archaeology")
    );
    notes.write("other.md", "Archaic ideology.");
    notes.sync();
    assert_eq!(
        corrected(&notes, "archaelogy").as_deref(),
        Some("archaeology")
    );
    // A word of the language is not corrected to one in an address.
    assert_eq!(corrected(&notes, "stolen"), None);
    notes.write("note.md", "The archaealogy of things.");
    notes.sync();
    assert_eq!(
        corrected(&notes, "archaelogy").as_deref(),
        Some("archaealogy")
    );
}

#[test]
fn a_word_as_typed_ranks_above_a_corrected_one() {
    let notes = Collection::new(&[
        ("a.md", "the kubernetes manual"),
        ("b.md", "the tractor manual"),
        ("c.md", "potatoes"),
        ("d.md", "onions"),
        ("e.md", "carrots"),
    ]);
    notes.sync();
    assert_eq!(notes.found("kubernetes tractor"), ["a.md", "b.md"]);
    let answer = notes.answer(&ask("kuberentes tractor"));
    assert_eq!(answer.corrected.as_deref(), Some("kubernetes tractor"));
    assert_eq!(paths(&answer), ["b.md", "a.md"]);
}
