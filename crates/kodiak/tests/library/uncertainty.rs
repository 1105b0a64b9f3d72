//! Uncertain answers: what is said of hits that are probably not what was meant.

use std::sync::Arc;

use kodiak::embed::Identity;
use kodiak::search::{Answer, Caveat, Mode, Request, Uncertainty};
use kodiak::store::Filter;

use crate::collection::{Collection, ask, ask_in, paths};
use crate::embedders::Scripted;

/// A model whose relevance is known. Every query has the same vector; documents are
/// farther from it the more often they say "far", and all are far.
fn distant() -> Arc<Scripted> {
    let identity = Identity {
        name: "all-minilm-l6-v2".to_owned(),
        revision: "0123456789ab".to_owned(),
        dimensions: 8,
    };
    Scripted::named(identity, |text, role| {
        let cosine = match role {
            kodiak::embed::Role::Query => 1.0,
            kodiak::embed::Role::Document => 0.11 - 0.0005 * text.matches("far").count() as f32,
        };
        let mut vector = vec![0.0; 8];
        vector[0] = cosine;
        vector[1] = (1.0 - cosine * cosine).sqrt();
        Ok(vector)
    })
}

fn heading(answer: &Answer) -> Option<String> {
    let uncertainty = answer.notices.uncertainty();
    uncertainty.map(Uncertainty::heading)
}

fn notes() -> Collection {
    Collection::new(&[
        ("lists.md", "# Lists\n\nWhat has to be done today.\n"),
        ("days.md", "# Days\n\nA calendar, far off.\n"),
        (
            "lead.md",
            "# Leading\n\nManagement of every task, far far far away.\n",
        ),
    ])
}

#[test]
fn what_no_document_contains_is_said_of_the_searched_ones() {
    let (notes, model) = (notes(), distant());
    notes.sync_and_embed(&*model);
    let one = |query: &str| Request {
        limit: 1,
        ..ask_in(Mode::Semantic, query)
    };
    let answer = notes.answer_with(&model, &one("tax advice"));
    assert_eq!(paths(&answer), ["lists.md"]);
    assert_eq!((answer.relevant, answer.contained), (Some(0), Some(false)));
    assert_eq!(
        heading(&answer).unwrap(),
        "nothing contains \"tax advice\"; closest in meaning:"
    );
    // A document beyond the limit contains both words.
    let answer = notes.answer_with(&model, &one("task management"));
    assert_eq!(paths(&answer), ["lists.md"]);
    assert_eq!(
        heading(&answer).unwrap(),
        "no clear match for \"task management\"; closest in meaning:"
    );
    // Among the hits it makes them certain, and outside the filter it is not
    // searched.
    let all = ask_in(Mode::Semantic, "task management");
    let answer = notes.answer_with(&model, &all);
    assert_eq!((answer.contained, heading(&answer)), (Some(true), None));
    let filtered = Request {
        filter: Filter {
            paths: vec!["days.md".to_owned()],
            ..Filter::default()
        },
        ..all
    };
    let answer = notes.answer_with(&model, &filtered);
    assert_eq!(
        heading(&answer).unwrap(),
        "nothing contains \"task management\"; closest in meaning:"
    );
    // Words that are excluded or required make no claim about the others.
    let answer = notes.answer_with(&model, &ask_in(Mode::Hybrid, "tax advice -calendar"));
    assert_eq!(
        heading(&answer).unwrap(),
        "nothing contains \"tax advice\"; closest in meaning:"
    );
    let answer = notes.answer_with(&model, &ask_in(Mode::Hybrid, "today AND (tax OR lists)"));
    assert_eq!(paths(&answer), ["lists.md"]);
    let said = heading(&answer);
    assert!(said.is_none_or(|said| said.starts_with("no clear match for ")));
}

#[test]
fn hits_that_are_too_irrelevant_are_counted_and_not_denied() {
    let (notes, model) = (notes(), distant());
    notes.sync_and_embed(&*model);
    let strict = |query: &str, least| Request {
        min_relevance: least,
        ..ask_in(Mode::Hybrid, query)
    };
    let all = notes.answer_with(&model, &strict("lists calendar", 0.0));
    let best = all.hits.iter().filter_map(|hit| hit.relevance);
    let best = best.fold(0.0, f64::max);
    let answer = notes.answer_with(&model, &strict("lists calendar", 1.0));
    assert_eq!(answer.hits, []);
    assert_eq!(
        answer.notices.0,
        [Caveat::BelowMinRelevance {
            count: all.hits.len(),
            best,
            least: 1.0,
        }]
    );
    // The titles would be suggested if nothing had been found.
    assert_eq!(answer.suggestions, []);
    assert_eq!(answer.relevant, Some(0));
    // What remains is an answer.
    let some = notes.answer_with(&model, &strict("lists calendar", best));
    assert!(!some.hits.is_empty() && !some.notices.all_left_out());
}

#[test]
fn words_alone_are_uncertain_too() {
    let notes = Collection::new(&[
        ("bread.md", "# Bread\n\nFlour, water, salt and patience.\n"),
        (
            "soup.md",
            "# Soup\n\nWater with salt, and bread beside it.\n",
        ),
    ]);
    notes.sync();
    let answer = notes.answer(&ask("gauge symmetry of quantum chromodynamics with salt"));
    assert_eq!(
        heading(&answer).unwrap(),
        "nothing contains all of \"gauge symmetry of quantum chromodynamics with salt\"; \
         closest by words:"
    );
    assert_eq!(heading(&notes.answer(&ask("salt water"))), None);
}
