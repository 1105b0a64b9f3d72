//! Copies of a note become one hit that lists them, and nothing is lost.

use std::collections::HashSet;

use kodiak::search::{Answer, Hit, Mode, Request};
use proptest::prelude::*;

use crate::collection::{Collection, EVERY_MODE, ask, ask_in, assert_sound, paths, sorted};
use crate::embedders::Scripted;

/// Returns fifty ways to say that billing is deployed on Fridays at noon.
fn restatements() -> Vec<String> {
    let beginnings = ["", "Remember: ", "Note: ", "Again: ", "As before, "];
    let facts = [
        "the team deploys the billing service every Friday at noon from the release branch.",
        "every Friday at noon the team deploys the billing service from the release branch.",
        "the billing service is deployed by the team from the release branch, Fridays at noon.",
        "on Friday at noon, the team deploys its billing service from the release branch.",
        "at noon each Friday the team is deploying the billing service, from the release branch.",
        "Friday at noon: deploy of the billing service by the team, from the release branch.",
        "the team deploys the service for billing on Fridays, at noon, from its release branch.",
        "from the release branch, the team deploys the billing service at noon on Fridays.",
        "it is at noon on Friday that the team deploys the billing service (release branch).",
        "the billing service: deployed every Friday at noon, from the release branch, by the team.",
    ];
    let mut all = Vec::new();
    for beginning in beginnings {
        all.extend(facts.map(|fact| format!("{beginning}{fact}\n")));
    }
    all
}

const OTHERS: [&str; 10] = [
    "The billing service writes its invoices to a bucket that only finance can read.",
    "Deploys of the search service need two reviewers, whatever the day of the week.",
    "The release branch is cut on Wednesday evening by whoever is on call that week.",
    "Maria owns the payment provider's contract and knows whom to call when it fails.",
    "The team eats together on Friday; the place is chosen by the newest member.",
    "Staging is reset at noon, so nobody should test a migration there before lunch.",
    "The on-call phone lies in the top drawer beside the printer on the third floor.",
    "Customers in Norway get their bills in kroner, rounded to the nearest whole one.",
    "A failed deploy is rolled back first and explained in the channel afterwards.",
    "The service catalogue names an owner for each service, billing included.",
];

/// Returns fifty restatements of a fact and ten other memories.
fn memories() -> Collection {
    let notes = Collection::new(&[]);
    for (number, text) in restatements().iter().enumerate() {
        notes.write(&format!("fact/{number}.md"), text);
    }
    for (number, text) in OTHERS.iter().enumerate() {
        notes.write(&format!("other/{number}.md"), format!("{text}\n"));
    }
    notes
}

/// Returns a request that collapses copies, as searches do unless asked not to.
fn collapsed(mode: Mode, query: &str) -> Request {
    Request {
        all_copies: false,
        ..ask_in(mode, query)
    }
}

/// Returns the paths of a hit and its copies.
fn copies(hit: &Hit) -> Vec<String> {
    let copies = hit.also_in.iter().map(|copy| copy.path.clone());
    std::iter::once(hit.path.clone()).chain(copies).collect()
}

#[test]
fn a_fact_said_fifty_times_is_one_hit() {
    let notes = memories();
    let model = Scripted::tiny();
    notes.sync_and_embed(&*model);
    let query = "when does the team deploy the billing service from the release branch at noon \
        on Friday, does Maria know, is a week enough, whatever customers lunch failed phone";
    for mode in [Mode::Lexical, Mode::Auto] {
        let request = Request {
            limit: 11,
            ..collapsed(mode, query)
        };
        let answer = match mode {
            Mode::Lexical => notes.answer(&request),
            _ => notes.answer_with(&model, &request),
        };
        let facts: Vec<&Hit> = answer
            .hits
            .iter()
            .filter(|hit| hit.path.starts_with("fact/"))
            .collect();
        assert_eq!(facts.len(), 1, "{mode:?} {:?}", paths(&answer));
        assert_eq!(facts[0].also_in.len(), 49, "{mode:?}");
        let others = paths(&answer)
            .into_iter()
            .filter(|path| path.starts_with("other/"));
        assert_eq!(others.count(), 10, "{mode:?}");
        assert_eq!(answer.total, 60, "{mode:?}");
        assert_sound(&answer, &request);
    }
}

#[test]
fn copies_make_room_for_hits_by_meaning() {
    let notes = Collection::new(&[("soup.md", "Ramen with noodles in a pork broth.\n")]);
    for number in 0..30 {
        let text = "The broth of Ann needs a day of patience, bones and a low flame.\n";
        notes.write(&format!("{number}.md"), text);
    }
    let model = Scripted::tiny();
    notes.sync_and_embed(&*model);
    let answer = notes.answer_with(&model, &collapsed(Mode::Auto, "broth bones"));
    assert_eq!(answer.hits.len(), 2, "{:?}", paths(&answer));
    assert_eq!(answer.hits[0].also_in.len(), 29);
}

#[test]
fn a_copy_says_where_it_is() {
    let text = "Capture tasks in an inbox and look through them once a week.\n";
    let notes = Collection::new(&[
        ("gtd.md", &format!("---\ntitle: GTD\n---\n{text}")),
        (
            "backup/gtd (1).md",
            &format!("---\ntitle: Inbox\ntags: [old]\n---\n{text}"),
        ),
    ]);
    notes.sync();
    let answer = notes.answer(&collapsed(Mode::Auto, "gtd tasks"));
    assert_eq!(paths(&answer), ["gtd.md"]);
    assert_eq!(answer.total, 2);
    let copy = &answer.hits[0].also_in[0];
    assert_eq!(copy.path, "backup/gtd (1).md");
    assert_eq!(
        (copy.title.as_str(), copy.source.as_str()),
        ("Inbox", "notes")
    );
    assert!(!copy.id.contains('#'), "{copy:?}");
    let json = serde_json::to_value(&answer).unwrap();
    assert_eq!(json["hits"][0]["also_in"][0]["path"], "backup/gtd (1).md");

    let answer = notes.answer(&ask("gtd tasks"));
    assert_eq!(paths(&answer), ["gtd.md", "backup/gtd (1).md"]);
    let json = serde_json::to_value(&answer).unwrap();
    assert!(json["hits"][0].get("also_in").is_none());
}

#[test]
fn the_best_copy_that_still_exists_is_the_hit() {
    let text = "Capture tasks in an inbox and look through them once a week.\n";
    let notes = Collection::new(&[
        ("gtd.md", &format!("---\ntitle: GTD\n---\n{text}")),
        ("copy.md", text),
        ("other.md", text),
    ]);
    notes.sync();
    notes.remove("gtd.md");
    let answer = notes.answer(&collapsed(Mode::Auto, "gtd tasks"));
    assert_eq!(answer.hits.len(), 1);
    assert_eq!(sorted(copies(&answer.hits[0])), ["copy.md", "other.md"]);
    assert_eq!(answer.total, 2);
}

#[test]
fn a_listing_has_every_document() {
    let text = "Capture tasks in an inbox and look through them once a week.\n";
    let notes = Collection::new(&[("a.md", text), ("b.md", text)]);
    notes.sync();
    assert_eq!(
        sorted(paths(&notes.answer(&collapsed(Mode::Auto, "*")))),
        ["a.md", "b.md"]
    );
}

const SENTENCES: [&str; 6] = [
    "The ferry to the island leaves at nine and takes two hours with the wind.",
    "Noodles and garlic go into the pork broth when the oven is warm.",
    "The compiler knows who may borrow memory and for how long that lasts.",
    "Capture tasks in an inbox and review them every week with a coffee.",
    "The hotel by the museum has a view of the beach and the old harbour.",
    "Yes, thanks!",
];

fn seen(answer: &Answer) -> Vec<String> {
    answer.hits.iter().flat_map(copies).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn collapsing_loses_nothing(
        notes in prop::collection::vec((0_usize..6, 0_usize..6, 0_usize..3), 1..40),
        limit in 1_usize..12,
    ) {
        let collection = Collection::new(&[]);
        for (number, &(one, other, form)) in notes.iter().enumerate() {
            let text = format!("{} {}", SENTENCES[one], SENTENCES[other]);
            let text = match form {
                0 => text,
                1 => text.to_uppercase(),
                _ => format!("# Note {number}\n\n{}", text.replace("two", "three")),
            };
            collection.write(&format!("{number}.md"), text);
        }
        let model = Scripted::tiny();
        collection.sync_and_embed(&*model);
        for mode in EVERY_MODE {
            let query = match mode {
                Mode::Like => "the",
                _ => "the broth of the museum thanks",
            };
            let request = Request { limit, ..collapsed(mode, query) };
            let answer = collection.answer_with(&model, &request);
            let whole = Request { limit: 1_000, all_copies: true, ..request.clone() };
            let whole = collection.answer_with(&model, &whole);
            let seen = seen(&answer);
            let head: Vec<String> = paths(&whole).into_iter().take(seen.len()).collect();
            prop_assert_eq!(sorted(seen.clone()), sorted(head), "{:?}", mode);
            prop_assert_eq!(seen.iter().collect::<HashSet<_>>().len(), seen.len());
            prop_assert_eq!(answer.hits.len().min(limit), answer.hits.len());
            if seen.len() < whole.hits.len() {
                prop_assert_eq!(answer.hits.len(), limit, "{:?}", mode);
            }
        }
    }
}
