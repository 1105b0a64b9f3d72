//! Changing settings, and their documentation.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use insta::assert_snapshot;

use crate::desk::Desk;

#[test]
fn a_setting_is_changed_and_comments_stay() {
    let desk = Desk::new();
    desk.write(
        "config/kodiak/config.toml",
        "# mine\n[search] # how\nlimit = 3 # few\n",
    );
    assert_snapshot!(desk.run(&["config", "set", "search.limit", "20"]), @"
    exit: 0
    --- stderr
    set search.limit in [DESK]/config/kodiak/config.toml
    ");
    assert_eq!(
        fs::read_to_string(desk.config()).unwrap(),
        "# mine\n[search] # how\nlimit = 20 # few\n"
    );
    assert_snapshot!(desk.run(&["config", "set", "search.limt", "20"]), @"
    exit: 2
    --- stderr
    error: there is no setting 'search.limt'
    hint: did you mean search.limit?
    ");
    let run = desk.run(&["config", "set", "zebra", "1"]);
    assert!(
        run.stderr.contains("known settings: model, model.provider"),
        "{run}"
    );
    let run = desk.run(&["config", "set", "source", "x"]);
    assert!(run.stderr.contains("run `kodiak add`"), "{run}");
    let run = desk.run(&["config", "set", "search.limit", "many"]);
    assert_eq!(run.code, Some(2), "{run}");
    let run = desk.run(&["config", "set", "search.minimum_similarity", "-0.5"]);
    assert_eq!(run.code, Some(0), "{run}");
}

#[test]
fn a_setting_is_printed_and_removed() {
    let desk = Desk::unset();
    desk.write(
        "config/kodiak/config.toml",
        "# mine\nmodel = \"none\"\n\n[search] # how\nlimit = 3\nfusion = \"rrf\"\n",
    );
    let value = |key: &str| desk.run(&["config", "get", key]);
    assert_eq!(value("search.limit").stdout, "3\n");
    assert_eq!(value("search.fusion").stdout, "rrf\n");
    assert_eq!(value("model").stdout, "none\n");
    assert_eq!(value("model.model").stdout, "none\n");
    assert_eq!(value("offline").stdout, "false\n");
    assert_snapshot!(value("search.rerank"), @"
    exit: 1
    --- stderr
    search.rerank is not set
    ");
    assert_snapshot!(value("search.limti"), @"
    exit: 2
    --- stderr
    error: there is no setting 'search.limti'
    hint: did you mean search.limit?
    ");
    assert_snapshot!(desk.run(&["config", "unset", "search.limit"]), @"
    exit: 0
    --- stderr
    removed search.limit from [DESK]/config/kodiak/config.toml
    ");
    assert_eq!(value("search.limit").stdout, "10\n");
    assert_snapshot!(desk.run(&["config", "unset", "search.limit"]), @"
    exit: 0
    --- stderr
    search.limit was not set in [DESK]/config/kodiak/config.toml
    ");
    desk.ok(&["config", "unset", "model"]);
    desk.ok(&["config", "unset", "search.fusion"]);
    let left = fs::read_to_string(desk.config()).unwrap();
    assert!(
        !left.contains("model") && !left.contains("fusion"),
        "{left}"
    );
    assert_eq!(desk.run(&["config", "unset", "zebra"]).code, Some(2));
    desk.ok(&["config", "show"]);
    // Without a file there is nothing to remove.
    Desk::new().ok(&["config", "unset", "offline"]);
}

#[test]
fn a_setting_can_be_the_first() {
    let desk = Desk::new();
    desk.ok(&["config", "set", "offline", "true"]);
    assert_eq!(
        fs::read_to_string(desk.config()).unwrap(),
        "offline = true\n"
    );
}

/// The documentation has every setting, in a table whose first column is its name.
#[test]
fn every_setting_is_documented_with_its_default() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
    let text = fs::read_to_string(path).unwrap();
    let rows: BTreeMap<String, Vec<String>> = text
        .lines()
        .filter_map(|line| {
            let cells: Vec<String> = line
                .trim()
                .strip_prefix('|')?
                .split('|')
                .map(|cell| cell.trim().to_owned())
                .collect();
            let name = cells[0].strip_prefix('`')?.strip_suffix('`')?.to_owned();
            Some((name, cells))
        })
        .collect();
    // `config set` lists what it knows.
    let desk = Desk::new();
    let run = desk.run(&["config", "set", "zebra", "1"]);
    let (_, known) = run.stderr.split_once("known settings: ").unwrap();
    for key in known.trim().split(", ") {
        assert!(rows.contains_key(key), "docs/configuration.md has no {key}");
    }
    // What is shown without a config is the default.
    let shown = Desk::unset().ok(&["config", "show"]).stdout;
    let shown: toml_edit::DocumentMut = shown.parse().unwrap();
    let mut compared = 0;
    for (name, cells) in &rows {
        let item = match name.split_once('.') {
            Some((table, key)) => shown.get(table).and_then(|table| table.get(key)),
            None => shown.get(name),
        };
        let Some(value) = item.and_then(toml_edit::Item::as_value) else {
            continue;
        };
        let documented = cells[2].trim_matches('`').to_owned();
        let value = value.clone().decorated("", "").to_string();
        assert_eq!(documented, value, "the default of {name}");
        compared += 1;
    }
    assert!(compared >= 9, "{compared}");
    for variable in [
        "KODIAK_INDEX",
        "KODIAK_CONFIG",
        "KODIAK_MODEL",
        "KODIAK_OFFLINE",
        "KODIAK_MODELS",
        "KODIAK_PAGES",
        "KODIAK_SESSIONS",
        "KODIAK_MEMORY",
        "KODIAK_BEAR_DB",
        "KODIAK_KEY",
        "KODIAK_TOKENS",
        "HF_ENDPOINT",
        "HF_HOME",
        "HF_HUB_CACHE",
        "HF_TOKEN",
        "HF_HUB_OFFLINE",
        "HTTPS_PROXY",
        "HTTP_PROXY",
        "NO_PROXY",
        "OPENAI_API_KEY",
        "GEMINI_API_KEY",
    ] {
        assert!(text.contains(&format!("`{variable}`")), "{variable}");
    }
}
