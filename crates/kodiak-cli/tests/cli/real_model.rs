//! What the model that people get makes of the example notes. It is too large
//! for the repository: see [`Desk::with_real_model`].

use serde_json::{Value, json};

use crate::desk::{Desk, REAL_MODEL};
use crate::eval::{assert_reached, judged};

#[test]
#[ignore = "needs KODIAK_TEST_MODEL"]
fn with_the_real_model_the_example_notes_are_found_by_meaning() {
    let desk = Desk::with_real_model();
    let set = judged();
    let set = set.to_str().unwrap();
    let figures = desk.json(&["eval", set, "--json"]);
    let rows = figures["sets"].as_array().unwrap();
    let by_word = |floor: &Value| floor["mode"] == "lexical" || floor["mode"] == "like";
    assert_reached(rows, |floor| {
        floor["model"] == REAL_MODEL || (floor["model"].is_null() && by_word(floor))
    });
    let floors = judged().join("floors.json");
    desk.ok(&["eval", set, "--floors", floors.to_str().unwrap()]);
    // Whatever the floors are: by meaning more is found than by word.
    let ndcg = |mode: &str, fusion: Value| {
        let row = rows.iter().find(|row| {
            row["split"] == "meaning" && row["mode"] == mode && row["fusion"] == fusion
        });
        row.unwrap()["ndcg@10"].as_f64().unwrap()
    };
    let lexical = ndcg("lexical", Value::Null);
    for (mode, fusion) in [
        ("semantic", Value::Null),
        ("hybrid", json!("convex")),
        ("hybrid", json!("rrf")),
        ("auto", json!("convex")),
    ] {
        let found = ndcg(mode, fusion);
        assert!(found > 2.0 * lexical, "{mode}: {found} against {lexical}");
    }
}

#[test]
#[ignore = "needs KODIAK_TEST_MODEL"]
fn the_first_command_of_the_readme() {
    let desk = Desk::with_real_model();
    desk.copy_examples();
    let search = ["search", "productivity", "systems", "--in", "notes"];
    let mut run = desk.ok(&search);
    // A search does not embed for longer than some seconds. A machine so slow is
    // told how to go on, which is what its user would do.
    if run.stderr.contains("not embedded yet: run `kodiak index`") {
        desk.ok(&["index"]);
        run = desk.ok(&search);
    }
    for note in ["gtd.md", "pomodoro.md", "bullet-journal.md"] {
        let path = format!("notes/productivity/{note}");
        assert!(run.stdout.contains(&path), "{note}: {run}");
    }
    let ran = format!("searched by words and meaning ({REAL_MODEL})");
    assert!(run.stderr.contains(&ran), "{run}");
    let answer = desk.json(&[&search[..], &["--json"]].concat());
    assert_eq!(answer["retrievers"]["semantic"], REAL_MODEL);
    assert_eq!(answer["embedded"], 1.0);
}
