//! Answers that know what they are worth.

use crate::desk::Desk;

#[test]
fn an_answer_knows_when_it_has_none() {
    let desk = Desk::indexed();
    let foreign = "gauge symmetry of quantum chromodynamics in bread";
    let answer = desk.json(&["search", foreign, "--json"]);
    assert_eq!(answer["relevant"], 0);
    assert_eq!(answer["contained"], false);
    assert!(!answer["hits"].as_array().unwrap().is_empty());

    let answer = desk.json(&["search", "water temperature for coffee", "--json"]);
    assert!(answer["relevant"].as_u64().unwrap() >= 1, "{answer}");
    let hits = answer["hits"].as_array().unwrap();
    let relevance = |hit: &serde_json::Value| hit["relevance"].as_f64().unwrap();
    assert!(hits.is_sorted_by(|one, other| relevance(one) >= relevance(other)));
    let best = relevance(&hits[0]);
    let limited = desk.found(&["water temperature for coffee", "--min-relevance", "0.2"]);
    assert!(
        best >= 0.2 && limited.len() < hits.len(),
        "{best} {limited:?}"
    );
    let refused = desk.run(&["search", "x", "--min-relevance", "2"]);
    assert!(refused.stderr.contains("from 0 to 1"), "{}", refused.stderr);

    // What was typed is there, so it is an answer, however unlikely.
    let typed = desk.json(&["search", "ownership", "--json"]);
    assert_eq!(typed["contained"], true);
    // So it is where the stem of the word is shorter than the prefix.
    let begun = desk.json(&["search", "backtrackin*", "--json"]);
    assert_eq!(begun["contained"], true, "{begun}");
    // Nothing was asked, so nothing is judged.
    let listed = desk.json(&["search", "--tag", "rust", "--json"]);
    assert!(listed.get("relevant").is_none() && listed["hits"][0].get("relevance").is_none());
}

#[test]
fn relevance_can_be_drawn() {
    let desk = Desk::new();
    let set = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/judged");
    let drawn = [
        "eval",
        set,
        "--relevance",
        "--no-semantic",
        "--plot",
        "plot.svg",
    ];
    assert!(desk.ok(&drawn).stdout.contains("Reliability"));
    let svg = std::fs::read_to_string(desk.path("plot.svg")).unwrap();
    assert!(svg.starts_with("<svg ") && svg.contains("<circle"), "{svg}");
    let alone = desk.run(&["eval", set, "--plot", "plot.svg"]);
    assert_eq!(alone.code, Some(2), "{alone}");
}
