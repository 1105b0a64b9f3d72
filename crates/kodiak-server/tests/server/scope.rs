//! No combination of arguments returns anything from outside a scope: a call is
//! answered as if only what is in scope existed. `two_worlds` asks the same of
//! generated notes, of the other ways in, and of a model.

use kodiak::access::Guard;
use kodiak::engine::ToSync;
use kodiak::{Cancel, DocumentId};
use kodiak_server::tool::parameter::{Kind, Parameter};
use kodiak_server::{Server, Tool};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value, json};

use crate::desk::{Desk, call, call_with, reader, timeless, writer};

/// Words of what is outside. No argument has one of them, so no answer may.
const OUTSIDE: [&str; 6] = [
    "quokka",
    "marzipan",
    "xylophone",
    "private.md",
    "diary",
    "/work/hidden",
];

/// What arguments are made of: words inside and outside, misspelt, ids, paths,
/// names, dates, and what is none of them.
const TEXTS: [&str; 47] = [
    "",
    "bread",
    "quokkka",
    "marzapin",
    "xylophnoe",
    "qu*",
    "quok",
    "marzi",
    "bread xylo",
    "br",
    "crossi",
    "q",
    "\"bread rises\"",
    "bread OR zebra",
    "zebra",
    "-bread",
    "title:zebra",
    "secrets",
    "work",
    "notes",
    "work/bread.md",
    "secrets/privat.md",
    "kodiak://secrets/privat.md",
    "kodiak://work/bread.md",
    "privat",
    "zebra note",
    "../secrets/privat.md",
    "#000000",
    "ffff",
    "bread.md:1-3",
    "*",
    "/work/atlas",
    "/work/hiden",
    "hiden",
    "atlas",
    "animals",
    "food",
    "note",
    "memory",
    "2020",
    "today",
    "9999",
    "1-5",
    "kitchen",
    "zoo",
    "\u{0}",
    "The soup needs some patience.",
];

/// Writes the same inside with and without an outside, and returns both. The
/// outside is another source, or also in the same one.
fn desks(same_source: bool) -> (Desk, Desk) {
    let (full, inside) = (Desk::new(), Desk::new());
    for desk in [&full, &inside] {
        for (name, text) in [
            ("bread", "# Bread\n\nThe bread rises for an hour. #food\n"),
            (
                "soup",
                "# Soup\n\nOnions, carrots and patience. #food/soup\n",
            ),
            (
                "zebra",
                "# Zebra crossing\n\nLook left and right. #animals\n",
            ),
        ] {
            let front = "---\nproject: /work/atlas\ncategory: kitchen\n---\n";
            desk.write(&format!("work/{name}.md"), &format!("{front}{text}"));
        }
    }
    for desk in [&full, &inside] {
        let memory = "---\nid: oven\nproject: /work/atlas\n---\nThe oven needs an hour.\n";
        desk.write("memory/oven.md", memory);
    }
    let memory = "---\nid: quokka\nproject: /work/hidden\n---\nThe soup needs some patience.\n";
    full.write("memory/quokka.md", memory);
    let hidden = [
        (
            "private",
            "kind: diary\nproject: /work/hidden\ncategory: zoo",
        ),
        ("private.md.d/zebra quokka", "tags: [quokka, food/marzipan]"),
        ("bread", "project: /work/hidden\ntags: [xylophone]"),
    ];
    for (name, fields) in hidden {
        let text = format!(
            "---\n{fields}\n---\n# Zebra note quokka {name}\n\n\
             The bread rises for an hour. Marzipan and a xylophone, a diary of secrets. #quokka\n"
        );
        full.write(&format!("secrets/{name}.md"), &text);
        if same_source {
            full.write(&format!("work/outside/{name}-private.md"), &text);
        }
    }
    (full, inside)
}

/// A call: a tool, and texts for some of its parameters.
type Planned = (usize, Vec<(usize, Vec<usize>)>);

fn planned() -> impl Strategy<Value = Planned> {
    let argument = (0_usize..16, vec(0..TEXTS.len(), 0..3));
    (0_usize..64, vec(argument, 0..6))
}

fn arguments(tool: &Tool, planned: &[(usize, Vec<usize>)]) -> Map<String, Value> {
    let mut arguments = Map::new();
    for parameter in tool.parameters.iter().filter(|one| one.required) {
        arguments.insert(parameter.name.to_owned(), value(parameter, &[1]));
    }
    for (at, texts) in planned {
        if let Some(parameter) = tool.parameters.get(at % tool.parameters.len().max(1)) {
            arguments.insert(parameter.name.to_owned(), value(parameter, texts));
        }
    }
    arguments
}

fn value(parameter: &Parameter, texts: &[usize]) -> Value {
    let texts: Vec<&str> = texts.iter().map(|&at| TEXTS[at]).collect();
    match parameter.kind {
        Kind::Text | Kind::Prose => texts.join(" ").into(),
        Kind::Texts => texts.into(),
        Kind::Choice(words) => words[texts.len() % words.len()].into(),
        Kind::Number(most) => most.min(1 + texts.len() * 25).into(),
        Kind::Flag => (texts.len() == 1).into(),
        Kind::Fields => json!({"a": texts.join(" ")}),
    }
}

/// Returns everything that an answer says, but for the moments of indexing.
fn said(server: &Server, planned: &Planned) -> String {
    let tools = server.tools(&server.caller());
    let tool = tools[planned.0 % tools.len()];
    let answer = call_with(server, tool.name, arguments(tool, &planned.1)).unwrap();
    let structured = answer.structured.unwrap_or_default();
    timeless(&format!("{} {}\n{structured}", tool.name, answer.text))
}

fn check(text: &str) -> Result<(), TestCaseError> {
    let id = DocumentId::new("memory", "quokka").hex();
    prop_assert!(!text.contains(&id[..6]), "a memory outside: {text}");
    for word in OUTSIDE {
        prop_assert!(!text.to_lowercase().contains(word), "{word} in: {text}");
    }
    Ok(())
}

/// Checks resources and completions.
fn check_resources(server: &Server) -> Result<(), TestCaseError> {
    let (caller, cancel) = (server.caller(), Cancel::new());
    let listed = server.resources(&caller, &cancel).unwrap();
    check(&format!("{listed:?}"))?;
    for text in TEXTS {
        for address in [text.to_owned(), format!("kodiak://search/{text}")] {
            let read = server.resource(&caller, &address, &cancel);
            check(&format!("{read:?}"))?;
        }
        for (variable, source) in [("source", None), ("key", Some("secrets")), ("key", None)] {
            let completed = server.complete(&caller, variable, text, source, &cancel);
            check(&format!("{completed:?}"))?;
        }
    }
    Ok(())
}

fn test(same_source: bool, guard: impl Fn(Guard) -> Guard) {
    let (full, inside) = desks(same_source);
    let everything = full.with_memory(&["work", "secrets"]);
    let alone = inside.with_memory(&["work"]);
    let scoped = Server::new(everything.clone(), full.options(guard(reader())));
    let alone = Server::new(alone, inside.options(guard(reader())));
    check_resources(&scoped).unwrap();
    let config = Config {
        cases: 200,
        failure_persistence: None,
        ..Config::default()
    };
    let same = |calls: Vec<Planned>| {
        for call in &calls {
            let text = said(&scoped, call);
            check(&text)?;
            prop_assert_eq!(said(&alone, call), text);
        }
        Ok(())
    };
    TestRunner::new(config.clone())
        .run(&vec(planned(), 1..4), same)
        .unwrap();
    // What writes changes what is inside, so there is nothing to compare with.
    let mut options = full.options(guard(writer()));
    options.memory_source = Some("memory".to_owned());
    options.article_source = Some("memory".to_owned());
    let writing = Server::new(everything, options);
    let again = json!({"text": "The soup needs some patience."});
    if let Some(answer) = call_with(&writing, "remember", again.as_object().unwrap().clone()) {
        check(&answer.text).unwrap();
    }
    let quiet = |calls: Vec<Planned>| {
        for call in &calls {
            check(&said(&writing, call))?;
        }
        Ok(())
    };
    TestRunner::new(config)
        .run(&vec(planned(), 1..4), quiet)
        .unwrap();
    check_resources(&writing).unwrap();
}

/// Otherwise the tests below would prove nothing.
#[test]
fn without_a_scope_the_outside_is_seen() {
    let (full, _) = desks(true);
    let server = Server::new(
        full.with_memory(&["work", "secrets"]),
        full.options(reader()),
    );
    for (name, arguments) in [
        ("search", json!({"query": "quokkka"})),
        ("get", json!({"ids": ["secrets/private.md"]})),
        ("search", json!({"query": "a", "project": "hiden"})),
    ] {
        let answer = call(&server, name, arguments);
        assert!(check(&answer.text).is_err(), "{}", answer.text);
    }
    assert!(check_resources(&server).is_err());
}

#[test]
fn nothing_of_another_source_is_seen() {
    test(false, |guard| guard.within(["work"]));
}

#[test]
fn nothing_of_another_project_is_seen() {
    test(true, |guard| guard.in_project("/work/atlas"));
}

/// A token for a project is told of no source that has nothing of the project, whether
/// it may write or not.
#[test]
fn a_writer_in_a_project_is_told_of_no_other_source() {
    let desk = Desk::new();
    for name in ["work", "diary", "letters"] {
        let project = if name == "work" {
            "/work/atlas"
        } else {
            "/work/hidden"
        };
        let text = format!("---\nproject: {project}\n---\n# Bread\n\nBread of {name}.\n");
        desk.write(&format!("{name}/bread.md"), &text);
    }
    let read_only = kodiak_notes::MarkdownFolder::new(
        "letters",
        &desk.path("letters"),
        kodiak_notes::markdown::FolderOptions::default(),
    );
    let engine = desk.indexed(&["work", "diary", "plans"]);
    let guard = || writer().in_project("/work/atlas");
    let server = Server::new(engine, desk.options(guard()));
    let page = |source: Option<&str>| {
        let mut arguments = json!({"title": "New page", "content": "Text."});
        if let Some(source) = source {
            arguments["source"] = source.into();
        }
        call(&server, "page_create", arguments)
    };
    // The only one with documents of the project is meant.
    let written = page(None);
    assert!(
        !written.failed && written.text.contains("work/"),
        "{}",
        written.text
    );
    let unknown = page(Some("nowhere"));
    assert!(unknown.failed, "{}", unknown.text);
    for name in ["diary", "plans", "letters"] {
        assert!(!unknown.text.contains(name), "{}", unknown.text);
    }
    // One that is only read is one that does not exist.
    let builder = kodiak::Engine::builder(desk.path("other.db")).source(read_only.unwrap());
    let engine = builder.open().unwrap();
    engine
        .sync(&Guard::local(), ToSync::All, &kodiak::Job::default())
        .unwrap();
    let server = Server::new(engine, desk.options(guard()));
    let said = ["letters", "nowhere"].map(|source| {
        let arguments = json!({"title": "New page", "source": source});
        let answer = call(&server, "page_create", arguments);
        assert!(answer.failed, "{}", answer.text);
        answer.text.replace(source, "it")
    });
    assert_eq!(said[0], said[1]);
    // Without a project, the names help.
    let everything = Server::new(desk.indexed(&["work", "diary"]), desk.options(writer()));
    let answer = call(&everything, "page_create", json!({"title": "New page"}));
    assert!(
        answer.failed && answer.text.contains("work, diary"),
        "{}",
        answer.text
    );
}
