//! The default model over the example notes. It is too large
//! for the repository: see [`Desk::with_real_model`].

use serde_json::{Value, json};

use crate::desk::{Desk, REAL_MODEL};
use crate::eval::{assert_reached, judged};
use crate::sessions::{node, piped};

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
    for _ in 0..10 {
        if run.stderr.contains("not embedded yet: search it again") {
            run = desk.ok(&search);
        }
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

/// Returns the answer of a command that exits with 0.
fn answered(desk: &Desk, command: &[&str]) -> Value {
    let run = desk.ok(command);
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run}"))
}

/// The notes of a newcomer: three of them, each about something else.
fn three_notes() -> Desk {
    let desk = Desk::with_real_model();
    desk.write(
        "notes/gtd.md",
        "# GTD\n\nGetting Things Done: capture every open loop, clarify the next action, and \
         review all lists once a week.\n",
    );
    desk.write(
        "notes/bread.md",
        "# Sourdough\n\nFeed the starter, fold the dough every half hour, and bake it hot.\n",
    );
    desk.write(
        "notes/redis.md",
        "# Redis\n\nWhen memory is full, `maxmemory-policy allkeys-lru` drops the keys that were \
         read least recently.\n",
    );
    desk.ok(&["add", "notes"]);
    desk.ok(&["index"]);
    desk
}

#[test]
#[ignore = "needs KODIAK_TEST_MODEL"]
fn with_the_real_model_three_notes_answer_in_other_words() {
    let desk = three_notes();
    for (query, path) in [
        ("task management", "gtd.md"),
        ("productivity systems", "gtd.md"),
        ("how to stay on top of my todos", "gtd.md"),
        ("cache eviction", "redis.md"),
    ] {
        let answer = answered(&desk, &["search", query, "--json"]);
        assert_eq!(answer["hits"][0]["path"], path, "{query}: {answer:#}");
        assert!(
            answer["relevant"].as_u64() >= Some(1),
            "{query}: {answer:#}"
        );
    }
    let answer = desk.json(&["search", "replacing diesel glow plugs", "--json"]);
    assert_eq!(answer["relevant"], 0, "{answer:#}");
}

/// The shorter a note, the less similar it is to anything.
#[test]
#[ignore = "needs KODIAK_TEST_MODEL"]
fn with_the_real_model_notes_of_one_line_answer_in_other_words() {
    let desk = Desk::with_real_model();
    let gtd = "# GTD\n\nWrite everything down, decide the next action, review weekly.\n";
    desk.write("notes/gtd.md", gtd);
    desk.write(
        "notes/bread.md",
        "# Bread\n\n500 g flour, 350 g water, 10 g salt.\n",
    );
    let redis = "# Redis\n\nRedis keeps keys in memory and expires them with a TTL.\n";
    desk.write("notes/redis.md", redis);
    desk.ok(&["add", "notes"]);
    desk.ok(&["index"]);
    for (query, path) in [
        ("task management", "gtd.md"),
        ("productivity systems", "gtd.md"),
        ("how to stay on top of my todos", "gtd.md"),
        ("managing workload", "gtd.md"),
        ("cache eviction", "redis.md"),
    ] {
        let answer = answered(&desk, &["search", query, "--json"]);
        assert_eq!(answer["hits"][0]["path"], path, "{query}: {answer:#}");
        assert!(
            answer["relevant"].as_u64() >= Some(1),
            "{query}: {answer:#}"
        );
    }
    // What is too dissimilar to be relevant is shown all the same.
    desk.write(
        "notes/gtd.md",
        "# GTD methodology\n\nCapture everything that has your attention into an inbox. Clarify \
         each item: is it actionable? If it takes less than two minutes, do it at once. Otherwise \
         put it on a list of next actions by context, and review all lists once a week.\n",
    );
    desk.ok(&["index"]);
    let answer = answered(&desk, &["search", "productivity systems", "--json"]);
    assert_eq!(answer["hits"][0]["path"], "gtd.md", "{answer:#}");
}

#[test]
#[ignore = "needs KODIAK_TEST_MODEL"]
fn with_the_real_model_the_example_notes_answer_in_other_words() {
    let desk = Desk::with_real_model();
    desk.copy_examples();
    desk.ok(&["add", "notes"]);
    desk.ok(&["index"]);
    for (query, wanted, among) in [
        (
            "task management",
            &["productivity/gtd", "productivity/weekly-review"][..],
            5,
        ),
        (
            "productivity systems",
            &["productivity/gtd", "productivity/weekly-review"],
            5,
        ),
        ("notes about efficiency", &["productivity/"], 10),
        ("productivty", &["productivity/"], 10),
    ] {
        let answer = answered(&desk, &["search", query, "--json"]);
        let hits = answer["hits"].as_array().unwrap();
        let is_wanted = |hit: &Value| {
            let path = hit["path"].as_str().unwrap();
            wanted.iter().any(|wanted| path.starts_with(wanted))
        };
        assert!(
            hits.iter().take(among).any(is_wanted),
            "{query}: {answer:#}"
        );
        assert!(
            answer["relevant"].as_u64() >= Some(1),
            "{query}: {answer:#}"
        );
    }
}

/// "production" has the stem of "productivity" and another meaning.
#[test]
#[ignore = "needs KODIAK_TEST_MODEL"]
fn with_the_real_model_a_shared_stem_is_not_a_shared_meaning() {
    let desk = Desk::with_real_model();
    desk.copy_examples();
    desk.ok(&["add", "notes"]);
    desk.ok(&["index"]);
    let check = |query: &str, least: usize| {
        let found = desk.found(&[query]);
        let place = |path: &str| found.iter().position(|it| it.starts_with(path));
        let related = place("programming/rust-ownership").unwrap_or(found.len());
        let about = found[..related]
            .iter()
            .filter(|path| path.starts_with("productivity/"));
        assert!(about.count() >= least, "{query}: {found:#?}");
    };
    check("productivity", 5);
    check("find notes about productivity", 5);
    check("productivity tips", 5);
    // Also where no note has the word itself.
    std::fs::remove_file(desk.path("notes/productivity/reading-list.md")).unwrap();
    desk.ok(&["index"]);
    check("productivity", 4);
}

#[test]
#[ignore = "needs KODIAK_TEST_MODEL"]
fn with_the_real_model_sessions_answer_in_other_words() {
    let desk = Desk::with_real_model();
    let lines: String = [
        (
            "aa11",
            "Moved the sessions of users to Redis with an expiry",
            "Set a TTL on every key",
        ),
        (
            "bb22",
            "Memoised the price function, which was called in a loop",
            "Key by all arguments",
        ),
        (
            "cc33",
            "Put a CDN in front of the images",
            "Purge the edge after each deploy",
        ),
        (
            "dd44",
            "Renamed the columns of the invoice table",
            "Migrate in two steps",
        ),
    ]
    .map(|(id, summary, lesson)| format!("{}\n", node(id, 1, summary, &[lesson])))
    .concat();
    piped(&desk, &["ingest", "-q"], &lines);
    desk.ok(&["index"]);
    let answer = answered(
        &desk,
        &["brain", "what did we learn about caching", "--json"],
    );
    let text = answer.to_string();
    for summary in ["Redis", "Memoised", "CDN"] {
        assert!(text.contains(summary), "{summary}: {answer:#}");
    }
}
