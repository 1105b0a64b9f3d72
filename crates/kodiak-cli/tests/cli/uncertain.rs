//! Uncertain answers: hits are shown and are success, a sentence says what is
//! certain, and nothing is denied.

use serde_json::{Value, json};

use crate::desk::{Desk, Run};
use crate::http::Served;

/// A question that the example notes do not answer, with one word of theirs.
const FOREIGN: &str = "gauge symmetry of quantum chromodynamics in bread";
/// What is certain about it.
const FACT: &str = "nothing contains all of \"gauge symmetry of quantum chromodynamics in bread\"";

/// Words that no sentence about an answer with hits may have.
fn assert_denies_nothing(run: &Run) {
    let text = format!("{}{}", run.stdout, run.stderr);
    for denial in ["seems to be about", "nothing found", "did you mean"] {
        assert!(!text.contains(denial), "{run}");
    }
}

fn codes(answer: &Value) -> Vec<&str> {
    let codes = answer["notice_codes"].as_array().unwrap().iter();
    codes.map(|code| code.as_str().unwrap()).collect()
}

#[test]
fn hits_are_success_in_every_format() {
    let desk = Desk::indexed();
    let run = desk.run(&["search", FOREIGN]);
    assert_eq!(run.code, Some(0), "{run}");
    let heading = format!("{FACT}; closest by words:\n\n1. ");
    assert!(run.stdout.starts_with(&heading), "{run}");
    assert!(!run.stdout.contains("less likely"), "{run}");
    assert_denies_nothing(&run);
    for format in ["files", "line", "xml"] {
        let run = desk.run(&["search", FOREIGN, "--format", format]);
        assert_eq!(run.code, Some(0), "{run}");
        let said = format!("{FACT}; the hits are closest by words\n");
        assert!(run.stderr.contains(&said), "{run}");
        assert!(!run.stdout.contains(FACT), "{run}");
        assert_denies_nothing(&run);
    }
    let run = desk.run(&["search", FOREIGN, "--json"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run}");
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        (&answer["relevant"], &answer["contained"]),
        (&json!(0), &json!(false))
    );
    assert_eq!(codes(&answer), ["uncertain"]);
    let said = format!("{FACT}; the hits are closest by words");
    assert_eq!(answer["notices"], json!([said]));
    // Hits that are probable need no sentence, whatever follows them.
    let run = desk.ok(&["search", "water", "temperature", "for", "coffee"]);
    assert!(run.stdout.starts_with("1. "), "{run}");
    assert!(run.stdout.contains("\nless likely:\n"), "{run}");
    for nothing in [&["search", "zyzzyva"][..], &["search", "zyzzyva", "--json"]] {
        assert_eq!(desk.run(nothing).code, Some(1));
    }
}

#[test]
fn a_query_is_repeated_harmlessly() {
    let desk = Desk::indexed();
    let hostile = format!(
        "\u{1b}[2J\"gauge\nsymmetry\" \u{202e}{}bread",
        "quark ".repeat(40)
    );
    let run = desk.run(&["search", &hostile]);
    assert_eq!(run.code, Some(0), "{run}");
    let heading = run.stdout.lines().next().unwrap();
    let begun = "nothing contains all of \"[2J'gauge symmetry' quark quark ";
    assert!(heading.starts_with(begun), "{heading}");
    assert!(heading.ends_with("…\"; closest by words:"), "{heading}");
    assert!(heading.chars().count() < 160, "{heading}");
}

#[test]
fn the_words_of_a_phrase_are_hits() {
    let desk = Desk::indexed();
    for format in ["text", "json", "files", "line", "xml"] {
        let phrase = "\"technique pomodoro\"";
        let run = desk.run(&["search", phrase, "--format", format]);
        assert_eq!(run.code, Some(0), "{run}");
        assert!(run.stdout.contains("omodoro"), "{run}");
        let exact = desk.run(&["search", phrase, "--format", format, "--exact"]);
        assert_eq!(exact.code, Some(1), "{exact}");
    }
}

#[test]
fn hits_that_are_left_out_are_counted() {
    let desk = Desk::indexed();
    let strict = ["search", "pomodoro", "--min-relevance", "1"];
    let best = desk.json(&["search", "pomodoro", "--json"]);
    let count = best["hits"].as_array().unwrap().len();
    let best = best["hits"][0]["relevance"].as_f64().unwrap();
    assert!(count > 1 && best < 1.0, "{count} {best}");
    let best = (best * 100.0).floor() / 100.0;
    let said =
        format!("the minimum relevance of 1 left out all {count} hits; the best has {best:.2}");
    for format in ["text", "files", "line"] {
        let run = desk.run(&[&strict[..], &["--format", format]].concat());
        assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{run}");
        assert_eq!(run.stderr, format!("{said}\n"), "{run}");
    }
    let run = desk.run(&[&strict[..], &["--kind", "note"]].concat());
    assert_eq!(run.code, Some(1), "{run}");
    assert!(!run.stderr.contains("without --kind"), "{run}");
    assert_denies_nothing(&run);
    let run = desk.run(&[&strict[..], &["--json"]].concat());
    assert_eq!(run.code, Some(1), "{run}");
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(codes(&answer), ["below-min-relevance"]);
    assert_eq!(answer["notices"], json!([said]));
    assert_eq!(answer["relevant"], 0);
    assert_eq!(answer.get("suggestions"), None);
    // Where nothing matches, nothing was left out.
    let run = desk.run(&["search", "zyzzyva", "--min-relevance", "1"]);
    assert_eq!(run.stderr, "nothing found for \"zyzzyva\"\n", "{run}");
}

#[test]
fn memories_and_sessions_are_named() {
    let desk = Desk::new();
    desk.write("api/.git/HEAD", "ref: refs/heads/main\n");
    for folder in ["api", "."] {
        let text = format!("Bread of {folder} is baked on Mondays.");
        let mut command = desk.command(&["remember", text.as_str(), "-q"]);
        let run = desk.finish(command.current_dir(desk.path(folder)));
        assert_eq!(run.code, Some(0), "{run}");
    }
    let recall = |more: &[&str]| {
        let mut command = desk.command(&[&["recall", FOREIGN], more].concat());
        desk.finish(command.current_dir(desk.path("api")))
    };
    let fact = FACT.replace("nothing", "no memory or session");
    let run = recall(&[]);
    assert_eq!(run.code, Some(0), "{run}");
    let heading = format!("{fact}; closest by words:\n\n1. ");
    assert!(run.stdout.starts_with(&heading), "{run}");
    assert!(run.stdout.contains("\nfrom other projects:\n"), "{run}");
    assert_eq!(run.stdout.matches("closest").count(), 1, "{run}");
    assert_denies_nothing(&run);
    let run = recall(&["--json"]);
    assert_eq!(run.code, Some(0), "{run}");
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(answer["hits"].as_array().unwrap().len(), 2, "{answer}");
    assert_eq!(codes(&answer), ["uncertain"]);
    for arguments in [&["recall", "zyzzyva"][..], &["recall", "zyzzyva", "--json"]] {
        assert_eq!(desk.run(arguments).code, Some(1));
    }
}

#[test]
fn sessions_are_success() {
    let desk = Desk::new();
    let session = json!({
        "id": "aa11", "version": 1,
        "classification": {"type": "debugging"},
        "content": {"summary": "Baked bread in a cold oven", "outcome": "success"},
        "metadata": {"timestamp": "2026-02-03T04:05:06Z"},
    });
    desk.write("input", session.to_string());
    let mut command = desk.command(&["ingest", "-q"]);
    let input = std::fs::File::open(desk.path("input")).unwrap();
    assert_eq!(desk.finish(command.stdin(input)).code, Some(0));
    let run = desk.run(&["brain", FOREIGN]);
    assert_eq!(run.code, Some(0), "{run}");
    let fact = FACT.replace("nothing", "no session");
    let heading = format!("{fact}; closest by words:\n\n1. Baked bread");
    assert!(run.stdout.starts_with(&heading), "{run}");
    assert_denies_nothing(&run);
    let run = desk.run(&["brain", FOREIGN, "--json"]);
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stdout.contains("\"uncertain\""), "{run}");
    let run = desk.run(&["brain", "zyzzyva"]);
    assert_eq!(run.code, Some(1), "{run}");
    assert!(
        run.stderr.contains("nothing found for \"zyzzyva\""),
        "{run}"
    );
    assert_eq!(desk.run(&["brain", "zyzzyva", "--json"]).code, Some(1));
}

#[test]
fn similar_notes_are_success() {
    let desk = Desk::indexed();
    for format in ["text", "json", "files", "line", "xml"] {
        let run = desk.run(&["similar", "ramen-broth.md", "--format", format]);
        assert_eq!(run.code, Some(0), "{run}");
    }
    desk.write("alone/one.md", "# Alone\n\nZyzzyva.\n");
    desk.ok(&["add", "alone"]);
    for format in ["text", "json", "files", "line", "xml"] {
        let alone = ["similar", "alone/one.md", "--source", "alone", "--format"];
        let run = desk.run(&[&alone[..], &[format]].concat());
        assert_eq!(run.code, Some(1), "{run}");
    }
}

#[test]
fn servers_say_the_same() {
    let desk = Desk::indexed();
    let served = Served::start(&desk, &["--no-token"]);
    let said = format!("{FACT}; the hits are closest by words");
    let search = |body: Value| {
        let response = served.post("/api/search", "", &body);
        assert_eq!(response.status, 200, "{response:?}");
        response.json()
    };
    let answer = search(json!({"query": FOREIGN}));
    assert_eq!(answer["notices"], json!([said]));
    assert_eq!(codes(&answer), ["uncertain"]);
    let strict = search(json!({"query": "pomodoro", "min_relevance": 1}));
    assert_eq!(codes(&strict), ["below-min-relevance"]);
    assert_eq!(strict["hits"], json!([]));
    assert_eq!(strict.get("suggestions"), None);
    let answer = served.call("", "search", &json!({"query": FOREIGN}));
    let text = answer["content"][0]["text"].as_str().unwrap();
    let mut lines = text.lines();
    assert!(lines.any(|line| line == format!("Note: {said}")), "{text}");
    assert!(!text.contains("nothing relevant"), "{text}");
    let remarks = answer["structuredContent"]["remarks"].as_array().unwrap();
    assert!(remarks.contains(&json!(said)), "{remarks:?}");
}

#[test]
#[ignore = "needs KODIAK_TEST_MODEL"]
fn with_the_real_model_the_closest_in_meaning_are_shown() {
    let desk = Desk::with_real_model();
    desk.copy_examples();
    desk.ok(&["add", "notes"]);
    desk.ok(&["index"]);
    let run = desk.ok(&["search", "haskell monads"]);
    let heading = "nothing contains \"haskell monads\"; closest in meaning:\n\n1. ";
    assert!(run.stdout.starts_with(heading), "{run}");
    assert_denies_nothing(&run);
    // Notes about something in other words are an answer.
    let run = desk.ok(&["search", "task", "management"]);
    assert!(run.stdout.starts_with("1. "), "{run}");
    assert_denies_nothing(&run);
}
