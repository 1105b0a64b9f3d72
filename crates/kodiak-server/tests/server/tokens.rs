//! The cost of tools and answers in tokens.

use kodiak_server::ToolSet;
use serde_json::{Value, json};

use crate::desk::{Desk, call, reader, writer};
use crate::wire::Wire;

/// Counts the tokens of a text as a widely used model does.
fn counted(text: &str) -> usize {
    tiktoken_rs::cl100k_base()
        .unwrap()
        .encode_ordinary(text)
        .len()
}

/// Returns what a client's model is told of the tools, and the instructions.
async fn told(sets: &[ToolSet], writing: bool) -> String {
    let desk = Desk::with_examples();
    let mut options = desk.options(if writing { writer() } else { reader() });
    options.sets = sets.to_vec();
    options.memory_source = Some("notes".to_owned());
    let server = kodiak_server::Server::new(desk.indexed(&["notes"]), options);
    let mut wire = Wire::new(&server);
    let info = wire.initialize().await;
    let tools = wire.ask("tools/list", json!({})).await;
    let instructions = info["result"]["instructions"].as_str().unwrap();
    format!("{}{instructions}", tools["result"]["tools"])
}

#[tokio::test]
async fn the_default_tools_cost_little() {
    for writing in [false, true] {
        let tokens = counted(&told(&[ToolSet::Default], writing).await);
        assert!(tokens <= 1_200, "{tokens}");
    }
}

#[tokio::test]
async fn schemas_are_plain() {
    let told = told(ToolSet::ALL, true).await;
    for odd in [
        "anyOf",
        "oneOf",
        "allOf",
        "\"null\"",
        "\"format\"",
        "$ref",
        "$defs",
    ] {
        assert!(!told.contains(odd), "{odd}");
    }
}

/// Returns both forms of an answer.
fn forms(server: &kodiak_server::Server, name: &str, arguments: Value) -> Vec<String> {
    let answer = call(server, name, arguments);
    assert!(!answer.failed, "{}", answer.text);
    let structured = answer.structured.map(|value| value.to_string());
    std::iter::once(answer.text).chain(structured).collect()
}

#[test]
fn answers_stay_within_their_budget_and_say_what_was_cut() {
    let desk = Desk::new();
    for number in 0..40 {
        let line = format!("The bread of day {number} rose well, and 42 % of it was water.\n");
        desk.write(
            &format!("notes/bread-{number}.md"),
            &format!("# Bread number {number}\n\n{}", line.repeat(400 + number)),
        );
    }
    let server = desk.server(reader());
    for budget in [100, 500, 2_000, 10_000] {
        let search = json!({"query": "bread water", "limit": 40, "max_tokens": budget});
        for form in forms(&server, "search", search) {
            let tokens = counted(&form);
            assert!(tokens <= budget + 60, "{tokens} of {budget}");
            assert!(budget >= 10_000 || form.contains("cut"), "{form}");
        }
        let get = json!({"ids": ["notes/bread-1.md", "notes/bread-2.md"], "max_tokens": budget});
        let text = &forms(&server, "get", get)[0];
        assert!(
            counted(text) <= budget + 60,
            "{} of {budget}",
            counted(text)
        );
        assert!(text.contains("[cut: get "), "{text}");
    }
    let all = json!({"queries": ["bread"], "max_tokens": 100_000});
    assert!(counted(&forms(&server, "note_search", all)[0]) < 25_000);
    let big = json!({"ids": ["notes/bread-39.md"], "max_tokens": 100_000});
    assert!(counted(&forms(&server, "get", big)[0]) < 25_000);
}

#[test]
fn titles_and_tags_without_end_do_not_hide_what_follows() {
    let desk = Desk::new();
    let tags: Vec<String> = (0..2_000).map(|number| format!("tag{number}")).collect();
    let title = "Bread and water ".repeat(20_000);
    let text = format!(
        "---\ntags: [{}]\ntitle: {title}\n---\nBread.\n",
        tags.join(", ")
    );
    desk.write("notes/endless.md", &text);
    desk.write("notes/short.md", "# Bread\n\nBread and water.\n");
    let server = desk.server(reader());
    for name in ["search", "timeline"] {
        let arguments = match name {
            "search" => json!({"query": "bread water"}),
            _ => json!({}),
        };
        for form in forms(&server, name, arguments) {
            assert!(
                form.contains("\"Bread\"") && counted(&form) < 2_000,
                "{}",
                counted(&form)
            );
            assert!(!form.contains("were cut"), "{form}");
        }
    }
    let read = &forms(
        &server,
        "get",
        json!({"ids": ["notes/endless.md", "notes/short.md"]}),
    )[0];
    assert!(counted(read) < 2_100, "{}", counted(read));
}

#[test]
fn the_rest_of_a_cut_text_can_be_got() {
    let desk = Desk::new();
    let lines: Vec<String> = (1..=500)
        .map(|number| format!("line {number} is here"))
        .collect();
    desk.write("notes/long.md", &lines.join("\n"));
    let server = desk.server(reader());
    let mut wanted = "notes/long.md".to_owned();
    let mut read = String::new();
    for _ in 0..100 {
        let text = call(&server, "get", json!({"ids": [wanted], "max_tokens": 500})).text;
        let (_, framed) = text.split_once("\n<<<").unwrap();
        let (mark, framed) = framed.split_once('\n').unwrap();
        let (body, rest) = framed.split_once(&format!("{mark}>>>")).unwrap();
        read.push_str(body);
        let Some(rest) = rest.strip_prefix("\n[cut: get ") else {
            break;
        };
        wanted = rest.split_once(' ').unwrap().0.to_owned();
    }
    let read: Vec<&str> = read.lines().collect();
    assert_eq!(read, lines);
}
