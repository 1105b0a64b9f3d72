//! Questions to the session records: what is found by meaning and by words, for
//! whom, and which lessons are the same.

use std::fs;

use kodiak::access::{Capability, Guard};
use kodiak::engine::{Engine, Job};
use kodiak::store::Filter;
use kodiak_sessions::queries::QueryLog;
use kodiak_sessions::{BrainAnswer, BrainOptions, BrainRequest, FoundBy, Sessions, Statements};

use crate::embedders::tiny;
use crate::sessions::{EXAMPLE, Tree, me, node, sync};

fn question(query: &str) -> BrainRequest {
    BrainRequest {
        query: query.to_owned(),
        ..BrainRequest::default()
    }
}

fn sessions(answer: &BrainAnswer) -> Vec<&str> {
    answer.hits.iter().map(|hit| hit.session.as_str()).collect()
}

/// Three sessions whose words the tiny model knows.
fn kitchen(tree: &Tree) -> Engine {
    tree.write(
        "ramen-v1.json",
        &node(
            "ramen",
            1,
            "Simmer pork and garlic, then add noodles",
            &["Broth needs time"],
        ),
    );
    tree.write(
        "gtd-v1.json",
        &node(
            "gtd",
            1,
            "Capture everything, then clarify the next action",
            &["Review weekly"],
        ),
    );
    tree.write(
        "lisbon-v1.json",
        &node(
            "lisbon",
            1,
            "A flight, a hotel near the beach, a ferry",
            &["Book early"],
        ),
    );
    let engine = tree.engine(Some(tiny()));
    sync(&engine);
    engine
}

#[test]
fn a_question_is_answered_by_meaning_with_decisions_and_lessons() {
    let tree = Tree::new();
    let engine = kitchen(&tree);
    let answer = Sessions::new(&engine)
        .brain(&me(), &question("task management"))
        .unwrap();
    assert_eq!(answer.found_by, FoundBy::Meaning);
    assert_eq!(sessions(&answer)[0], "gtd");
    let hit = &answer.hits[0];
    assert_eq!(hit.lessons[0].summary, "Review weekly");
    assert_eq!(hit.decisions[0].what, "Wait");
    assert_eq!(hit.outcome.as_deref(), Some("partial"));
    let distance = hit.distance.unwrap();
    assert!(
        distance > 0.0 && distance < answer.threshold.unwrap(),
        "{distance}"
    );
    let distances: Vec<f64> = answer.hits.iter().filter_map(|hit| hit.distance).collect();
    assert!(distances.is_sorted(), "{distances:?}");
}

#[test]
fn words_answer_where_nothing_is_within_the_threshold() {
    let tree = Tree::new();
    let engine = kitchen(&tree);
    let strict = BrainRequest {
        threshold: Some(0.0001),
        ..question("ferry")
    };
    let answer = Sessions::new(&engine).brain(&me(), &strict).unwrap();
    assert_eq!(
        (answer.found_by, sessions(&answer)),
        (FoundBy::Words, vec!["lisbon"])
    );
    assert_eq!(answer.threshold, Some(0.0001));
    let strict = Sessions::new(&engine).with_options(BrainOptions {
        threshold: Some(0.0001),
        ..BrainOptions::default()
    });
    let answer = strict.brain(&me(), &question("ferry")).unwrap();
    assert_eq!(
        (answer.found_by, answer.threshold),
        (FoundBy::Words, Some(0.0001))
    );
    assert_eq!(answer.hits[0].lessons[0].summary, "Book early");
    drop(engine);
    // So they do without a model.
    let answer = Sessions::new(&tree.engine(None))
        .brain(&me(), &question("ferry"))
        .unwrap();
    assert_eq!(
        (answer.found_by, sessions(&answer)),
        (FoundBy::Words, vec!["lisbon"])
    );
    assert_eq!(answer.hits[0].distance, None);
}

#[test]
fn a_question_keeps_to_its_project_and_its_guard() {
    let tree = Tree::new();
    tree.write("9f2c4e1ab0d37756-v1.json", EXAMPLE);
    let engine = kitchen(&tree);
    let within = |project: &str| BrainRequest {
        filter: Filter {
            projects: vec![project.to_owned()],
            ..Filter::default()
        },
        ..question("ferry endpoints")
    };
    let by_project = |project: &str| {
        let answer = Sessions::new(&engine)
            .brain(&me(), &within(project))
            .unwrap();
        sessions(&answer).contains(&"9f2c4e1ab0d37756")
    };
    assert!(by_project("~/src/api") && !by_project("atlas"));
    let held = me().in_project("atlas");
    let answer = Sessions::new(&engine)
        .brain(&held, &question("endpoints"))
        .unwrap();
    assert!(!sessions(&answer).contains(&"9f2c4e1ab0d37756"));
    let lessons = Sessions::new(&engine).statements(
        &held,
        Statements::Lessons,
        &Filter::default(),
        &Job::default(),
    );
    assert_eq!(lessons.unwrap().len(), 3);
    let searcher = Guard::holding([Capability::Search]);
    Sessions::new(&engine)
        .brain(&searcher, &question("ferry"))
        .unwrap_err();
    Sessions::new(&engine)
        .statements(
            &searcher,
            Statements::Quirks,
            &Filter::default(),
            &Job::default(),
        )
        .unwrap_err();
}

#[test]
fn similar_sessions_are_found_by_id_and_by_text() {
    let tree = Tree::new();
    tree.write(
        "soup-v1.json",
        &node(
            "soup",
            1,
            "Simmer garlic and noodles",
            &["Broth needs salt"],
        ),
    );
    let engine = kitchen(&tree);
    let answer = Sessions::new(&engine)
        .similar(&me(), &question("ramen"))
        .unwrap();
    assert_eq!(sessions(&answer)[0], "soup");
    assert!(!sessions(&answer).contains(&"ramen"));
    let answer = Sessions::new(&engine)
        .similar(&me(), &question("pork with garlic and noodles"))
        .unwrap();
    assert!(["ramen", "soup"].contains(&sessions(&answer)[0]));
}

#[test]
fn what_several_sessions_say_is_one_lesson() {
    let tree = Tree::new();
    let engine = tree.engine(None);
    let take_in = |text: String| {
        Sessions::new(&engine)
            .ingest(&me(), "sessions", &[text], &Job::default())
            .unwrap()
    };
    let first = take_in(node(
        "a",
        1,
        "One",
        &["Run the tests before every commit", "Read the logs"],
    ));
    assert!(first.repeated.is_empty());
    let second = take_in(node("b", 1, "Two", &["run the test before every commit!"]));
    assert_eq!(second.repeated.len(), 1);
    assert_eq!(second.repeated[0].earlier.session, "a");
    assert_eq!(
        second.repeated[0].new.text,
        "run the test before every commit!"
    );
    let groups = Sessions::new(&engine)
        .statements(
            &me(),
            Statements::Lessons,
            &Filter::default(),
            &Job::default(),
        )
        .unwrap();
    let told: Vec<(usize, usize)> = groups
        .iter()
        .map(|group| (group.sessions, group.said.len()))
        .collect();
    assert_eq!(told, [(2, 2), (1, 1)]);
    let quirks = Sessions::new(&engine)
        .statements(
            &me(),
            Statements::Quirks,
            &Filter::default(),
            &Job::default(),
        )
        .unwrap();
    assert_eq!(quirks.len(), 1);
    assert_eq!(
        (quirks[0].sessions, quirks[0].about.clone()),
        (2, vec!["m-1".to_owned()])
    );
}

#[test]
fn answered_questions_are_remembered_only_where_asked_for() {
    let tree = Tree::new();
    drop(kitchen(&tree));
    let log = tree.root.join("queries.txt");
    let engine = tree.engine(Some(tiny()));
    Sessions::new(&engine)
        .brain(&me(), &question("task management"))
        .unwrap();
    assert!(!log.exists());
    drop(engine);
    let engine = tree.engine(Some(tiny()));
    let remembering = Sessions::new(&engine).with_options(BrainOptions {
        queries: Some(log.clone()),
        ..BrainOptions::default()
    });
    remembering
        .brain(&me(), &question("task management"))
        .unwrap();
    let answer = remembering
        .brain(&me(), &question("tassk managment zyxwv"))
        .unwrap();
    assert_eq!(answer.suggestions, ["task management"]);
    // Who sees only a part neither leaves questions nor learns of others.
    let held = me().in_project("atlas");
    let answer = remembering.brain(&held, &question("tassk managment zyxwv"));
    assert!(answer.unwrap().suggestions.is_empty());
    remembering
        .brain(&held, &question("weekly review"))
        .unwrap();
    assert_eq!(fs::read_to_string(&log).unwrap(), "task management\n");
    assert_eq!(QueryLog::new(&log).forget(Some("task")).unwrap(), 1);
    assert_eq!(fs::read_to_string(&log).unwrap(), "");
}
