//! Tests whole evaluations of a small set.

use std::fs;
use std::sync::{Mutex, PoisonError};

use tempfile::TempDir;

use super::*;
use crate::Refusal;

const CORPUS: &str = concat!(
    r#"{"_id": "bear", "title": "Bears", "text": "A bear sleeps all winter."}"#,
    "\n",
    r#"{"_id": "bread", "title": "Bread", "text": "Sourdough rises overnight."}"#,
    "\n",
);
const QUERIES: &str = concat!(
    r#"{"_id": "q1", "text": "sourdough"}"#,
    "\n",
    r#"{"_id": "q2", "text": "winter"}"#,
    "\n",
);
/// The second query's judgement is wrong, so that half of nDCG is missed.
const QRELS: &str = "q1\tbread\t1\nq2\tbread\t1\n";

/// A folder with the set `small` in it, and a floor of this height.
fn folder(floor: f64) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let set = folder.path().join("small");
    fs::create_dir(&set).unwrap();
    let floors =
        format!(r#"{{"floors": [{{"split": "test", "mode": "lexical", "ndcg@10": {floor}}}]}}"#);
    for (name, content) in [
        ("corpus.jsonl", CORPUS),
        ("queries.jsonl", QUERIES),
        ("qrels.tsv", QRELS),
        ("floors.json", &floors),
    ] {
        fs::write(set.join(name), content).unwrap();
    }
    folder
}

fn options(folder: &TempDir) -> Options {
    let set = folder.path().join("small");
    Options {
        modes: vec![Mode::Lexical],
        floors: Some(set.join("floors.json")),
        folders: vec![set],
        scratch: folder.path().to_owned(),
        ..Options::default()
    }
}

/// Runs an evaluation and checks its floors. Returns the events too, each as a
/// line of text.
fn evaluate(options: Options) -> (Result<()>, Figures, Vec<String>) {
    let events = Mutex::new(Vec::new());
    let listener = |event: Event<'_>| {
        let line = match event {
            Event::Notice(text) => format!("notice: {text}"),
            Event::Warning(text) => format!("warning: {text}"),
            Event::Measured(_) => "measured".to_owned(),
            Event::Indexing { title } => title.to_owned(),
            Event::Engine(_) => return,
            Event::Asking { title, queries } => format!("{title}: {queries}"),
            Event::Asked(queries) => format!("asked {queries}"),
            Event::Ended => "ended".to_owned(),
        };
        events
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(line);
    };
    let evaluation = Evaluation::prepare(options, &listener).unwrap();
    assert!(!evaluation.compares_meanings());
    let figures = evaluation.run(&Models::default(), &listener).unwrap();
    let held = evaluation.hold(&figures, &listener);
    (held, figures, events.into_inner().unwrap())
}

#[test]
fn a_listener_receives_every_step() {
    let folder = folder(0.5);
    let mut options = options(&folder);
    options.tries = vec!["require_all_terms=yes".to_owned()];
    let (held, figures, events) = evaluate(options);
    held.unwrap();
    // Indexed once for both, because what is tried does not change the index.
    let mut expected = vec!["indexing small", "ended"];
    let asking = "searching small test, lexical: 2";
    let trying = "searching small test, lexical, require_all_terms=yes: 2";
    for title in [asking, asking, trying, trying] {
        expected.extend([title, "asked 1", "asked 2", "ended", "measured"]);
    }
    assert_eq!(events, expected);
    // With typos fixed, and kept.
    assert_eq!(figures.sets.len(), 2);
    assert_eq!(figures.tries[0].comparison.len(), 2);
    assert!(figures.tables().contains("\nrequire_all_terms=yes\n"));
    // Nothing is left of the indexes.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_missed_floor_is_reported_and_fails() {
    let (held, figures, events) = evaluate(options(&folder(0.75)));
    assert_eq!(figures.sets[0].metrics.ndcg_at_10.to_string(), "0.5");
    let refusal = held.unwrap_err();
    let refusal = refusal.downcast_ref::<Refusal>().unwrap();
    assert_eq!(refusal.to_string(), "not every floor was reached");
    assert!(refusal.hint().contains("--compare"));
    let warnings: Vec<&String> = events
        .iter()
        .filter(|line| line.starts_with("warning"))
        .collect();
    assert_eq!(
        warnings,
        [
            "warning: small test, lexical: nDCG@10 is 0.5000, below the floor of 0.75",
            "warning: small test, lexical, typos kept: nDCG@10 is 0.5000, below the floor of 0.75",
        ]
    );
}

#[test]
fn a_model_is_wanted_where_a_mode_can_use_it() {
    let folder = folder(0.5);
    for (modes, expected) in [
        (vec![], true),
        (vec![Mode::Lexical, Mode::Like], false),
        (vec![Mode::Lexical, Mode::Semantic], true),
        (vec![Mode::Auto], true),
    ] {
        let options = Options {
            modes,
            ..options(&folder)
        };
        let evaluation = Evaluation::prepare(options, &|_| {}).unwrap();
        assert_eq!(evaluation.compares_meanings(), expected);
    }
}
