use std::fs;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn entry() -> Entry {
    Entry {
        name: "kodiak".into(),
        command: "/bin/kodiak".into(),
        arguments: vec!["mcp".into()],
        variables: Vec::new(),
    }
}

const OF_JSON: [Client; 5] = [
    Client::ClaudeCode,
    Client::ClaudeDesktop,
    Client::Cursor,
    Client::Vscode,
    Client::Gemini,
];

#[test]
fn a_new_file_has_only_the_entry() {
    let text = Client::Cursor.merged("", &entry()).unwrap();
    insta::assert_snapshot!(text, @r#"
    {
      "mcpServers": {
        "kodiak": {
          "command": "/bin/kodiak",
          "args": ["mcp"]
        }
      }
    }
    "#);
    let text = Client::Vscode.merged("", &entry()).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    let expected = json!({"type": "stdio", "command": "/bin/kodiak", "args": ["mcp"]});
    assert_eq!(value, json!({"servers": {"kodiak": expected}}));
    let mut entry = entry();
    entry
        .variables
        .push(("KODIAK_PAGES".into(), "/p \"q\"".into()));
    insta::assert_snapshot!(Client::Codex.merged("", &entry).unwrap(), @r#"
    [mcp_servers.kodiak]
    command = "/bin/kodiak"
    args = ["mcp"]
    env = { KODIAK_PAGES = '/p "q"' }
    "#);
}

#[test]
fn the_rest_of_a_json_file_stays() {
    let text = r#"// mine
{
    "theme": "dark", // at night
    "mcpServers": {
        /* the other one */
        "other": { "command": "x", "args": ["-y", ] },
    },
    "last": [1, 2,
       3],
}
"#;
    insta::assert_snapshot!(Client::Gemini.merged(text, &entry()).unwrap(), @r#"
    // mine
    {
        "theme": "dark", // at night
        "mcpServers": {
            /* the other one */
            "other": { "command": "x", "args": ["-y", ] },
            "kodiak": {
                "command": "/bin/kodiak",
                "args": ["mcp"]
            },
        },
        "last": [1, 2,
           3],
    }
    "#);
}

#[test]
fn the_rest_of_a_toml_file_stays() {
    let text = "# mine\nmodel = \"o3\"  # the best\n\n[mcp_servers.other]\ncommand = 'x' # why\n\n[tui]\ntheme = \"dark\"\n";
    let merged = Client::Codex.merged(text, &entry()).unwrap();
    let added = "\n[mcp_servers.kodiak]\ncommand = \"/bin/kodiak\"\nargs = [\"mcp\"]\n";
    assert_eq!(merged.replacen(added, "", 1), text);
    assert_eq!(Client::Codex.merged(&merged, &entry()).unwrap(), merged);
    // In one line, as a dotted key, and called over HTTP before.
    for text in [
        "mcp_servers = { other = { command = 'x' } }\n",
        "mcp_servers.other.command = 'x'\n",
        "[mcp_servers]\nkodiak.url = 'http://127.0.0.1:1'\nkodiak.enabled = false\n",
        "mcp_servers = {}\n",
    ] {
        let merged = Client::Codex.merged(text, &entry()).unwrap();
        let value: ::toml::Table = ::toml::from_str(&merged).unwrap();
        let before: ::toml::Table = ::toml::from_str(text).unwrap();
        let server = &value["mcp_servers"]["kodiak"];
        assert_eq!(server["command"].as_str(), Some("/bin/kodiak"), "{merged}");
        assert_eq!(server.get("url"), None, "{merged}");
        let other = |table: &::toml::Table| table["mcp_servers"].get("other").cloned();
        assert_eq!(other(&value), other(&before), "{merged}");
    }
}

#[test]
fn an_entry_of_ones_own_is_brought_up_to_date() {
    let text = r#"{"mcpServers": {"kodiak": {
  "command": "/old/kodiak", // moved
  "args": [ "mcp" ],
  "url": "http://127.0.0.1:1/mcp",
  "disabled": true
}}}"#;
    let merged = Client::Cursor.merged(text, &entry()).unwrap();
    assert!(merged.contains("\"/bin/kodiak\", // moved"), "{merged}");
    // What is right is not written again.
    assert!(merged.contains("[ \"mcp\" ]"), "{merged}");
    assert!(!merged.contains("url"), "{merged}");
    assert!(merged.contains("\"disabled\": true"), "{merged}");
    assert_eq!(Client::Cursor.merged(&merged, &entry()).unwrap(), merged);
    let text = "[mcp_servers.kodiak]\ncommand = \"/old\" # moved\nargs = [ 'mcp' ]\n";
    let merged = Client::Codex.merged(text, &entry()).unwrap();
    assert_eq!(merged, text.replace("/old", "/bin/kodiak"));
}

#[test]
fn line_ends_and_the_byte_order_mark_stay() {
    for (client, text) in [
        (
            Client::Cursor,
            "\u{feff}{\r\n  // mine\r\n  \"a\": 1\r\n}\r\n",
        ),
        (Client::Codex, "\u{feff}# mine\r\na = 1\r\n"),
    ] {
        let merged = client.merged(text, &entry()).unwrap();
        assert!(merged.starts_with('\u{feff}'));
        assert!(!merged.replace("\r\n", "").contains('\n'), "{merged:?}");
        assert!(merged.contains("// mine") || merged.contains("# mine"));
        assert_eq!(client.merged(&merged, &entry()).unwrap(), merged);
    }
}

#[test]
fn what_does_not_parse_is_refused() {
    let deep = "[".repeat(100_000);
    for text in [
        "{",
        "[]",
        "\"text\"",
        "{\"mcpServers\": 1}",
        "{\"mcpServers\": {\"kodiak\": []}}",
        "{\"mcpServers\": {}, \"mcpServers\": {}}",
        "{'a': 1}",
        "{a: 1}",
        "{} {}",
        "{\"a\": 1 \"b\": 2}",
        deep.as_str(),
    ] {
        Client::Cursor.merged(text, &entry()).unwrap_err();
    }
    for text in [
        "a = ",
        "mcp_servers = 1",
        "[mcp_servers]\nkodiak = 1",
        "[[mcp_servers]]\na = 1",
        "[a]\n[a]\n",
    ] {
        Client::Codex.merged(text, &entry()).unwrap_err();
    }
    let refused = Client::Codex.merged("a = 1\nb = \n", &entry());
    assert!(refused.unwrap_err().starts_with("line 2: "));
}

#[test]
fn a_file_is_replaced_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("below/mcp.json");
    assert_eq!(
        save(Client::Cursor, &path, Edit::Server(&entry())).unwrap(),
        Saved::Created
    );
    assert_eq!(
        save(Client::Cursor, &path, Edit::Server(&entry())).unwrap(),
        Saved::Same
    );
    let mut texts = vec![fs::read_to_string(&path).unwrap()];
    for (number, name) in ["mcp.json.bak", "mcp.json.bak1"].into_iter().enumerate() {
        let mut entry = entry();
        entry.arguments.push(format!("--max-tokens={number}"));
        let copy = path.with_file_name(name);
        assert_eq!(
            save(Client::Cursor, &path, Edit::Server(&entry)).unwrap(),
            Saved::Replaced(copy.clone())
        );
        assert_eq!(&fs::read_to_string(copy).unwrap(), texts.last().unwrap());
        texts.push(fs::read_to_string(&path).unwrap());
    }
    // No temporary file is left.
    let left = fs::read_dir(path.parent().unwrap()).unwrap().count();
    assert_eq!(left, 3);
}

#[test]
fn a_file_that_is_refused_is_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mcp.json");
    for bytes in [&b"{ broken"[..], b"\xff\xfe{\0}\0"] {
        fs::write(&path, bytes).unwrap();
        save(Client::Cursor, &path, Edit::Server(&entry())).unwrap_err();
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
    save(Client::Cursor, folder.path(), Edit::Server(&entry())).unwrap_err();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn permissions_stay_and_links_are_refused() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mcp.json");
    fs::write(&path, "{}").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let Saved::Replaced(copy) = save(Client::Cursor, &path, Edit::Server(&entry())).unwrap() else {
        panic!("not replaced");
    };
    for file in [&path, &copy] {
        let mode = fs::metadata(file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let link = folder.path().join("link.json");
    symlink(&path, &link).unwrap();
    let refused = save(Client::Cursor, &link, Edit::Server(&entry())).unwrap_err();
    assert!(refused.to_string().ends_with("is a symbolic link"));
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
}

/// JSON of any shape, with an object at the top.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    let inner = leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z\"\\\\]{0,4}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    });
    let server = prop::collection::btree_map("[a-z]{1,8}", inner.clone(), 0..3);
    (
        prop::collection::btree_map("[a-z]{0,6}", inner, 0..5),
        server,
    )
        .prop_map(|(top, servers)| {
            let mut top: serde_json::Map<_, _> = top.into_iter().collect();
            let servers = Value::Object(servers.into_iter().collect());
            top.insert("mcpServers".into(), servers);
            Value::Object(top)
        })
}

proptest! {
    #[test]
    fn whatever_a_json_file_says_stays(value in any_json(), pretty: bool, name in "[a-z.\" ]{1,6}") {
        let text = if pretty {
            serde_json::to_string_pretty(&value).unwrap()
        } else {
            value.to_string()
        };
        let entry = Entry { name, ..entry() };
        for client in OF_JSON {
            let Ok(merged) = client.merged(&text, &entry) else {
                // Another thing has the name.
                let taken = value.get(client.section()).and_then(|it| it.get(&entry.name));
                let section = value.get(client.section());
                prop_assert!(
                    taken.is_some_and(|it| !it.is_object())
                        || section.is_some_and(|it| !it.is_object())
                );
                continue;
            };
            let said: Value = serde_json::from_str(&merged).unwrap();
            prop_assert_eq!(&said[client.section()][&entry.name]["command"], "/bin/kodiak");
            for (key, kept) in value.as_object().unwrap() {
                if key != client.section() {
                    prop_assert_eq!(&said[key], kept);
                }
            }
            prop_assert_eq!(client.merged(&merged, &entry).unwrap(), merged);
        }
    }

    #[test]
    fn no_text_ends_the_program(text in ".{0,60}") {
        for client in OF_JSON.into_iter().chain([Client::Codex]) {
            let _ = client.merged(&text, &entry());
        }
    }
}

const HOOK: &str = "/bin/kodiak hook";

#[test]
fn a_hook_joins_those_that_are_there() {
    insta::assert_snapshot!(with_hook("", HOOK).unwrap(), @r#"
    {
      "hooks": {
        "UserPromptSubmit": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "/bin/kodiak hook",
                "timeout": 5
              }
            ]
          }
        ],
        "SessionStart": [
          {
            "matcher": "clear|compact",
            "hooks": [
              {
                "type": "command",
                "command": "/bin/kodiak hook",
                "timeout": 5
              }
            ]
          }
        ]
      }
    }
    "#);
    let text = r#"{
  // mine
  "model": "opus",
  "hooks": {
    "UserPromptSubmit": [
      { "hooks": [{ "type": "command", "command": "echo hi" }] },
    ],
  },
}
"#;
    let once = with_hook(text, HOOK).unwrap();
    let (before, after) = text.split_once("    ],\n").unwrap();
    assert!(once.starts_with(before) && once.ends_with(after), "{once}");
    assert_eq!(once.matches(HOOK).count(), 2, "{once}");
    assert_eq!(with_hook(&once, HOOK).unwrap(), once);
    // Another path takes the place of the one before.
    let moved = with_hook(&once, "A=b '/my bin/kodiak' hook --offline").unwrap();
    assert_eq!(moved.matches("kodiak").count(), 2, "{moved}");
    for broken in [
        "[]",
        "{\"hooks\": []}",
        "{\"hooks\": {\"SessionStart\": {}}}",
        "{",
    ] {
        with_hook(broken, HOOK).unwrap_err();
    }
}

#[test]
fn what_was_entered_is_taken_out_to_the_byte() {
    let folder = tempfile::tempdir().unwrap();
    let texts = [
        "{}",
        "{}\n",
        "{\"mcpServers\": {}, \"hooks\": {}}",
        "\u{feff}{\r\n\t\"a\" : 1 // x\r\n}",
        "{ \"mcpServers\": { \"other\": {\"command\": \"x\"}, }, }",
        "{\"hooks\": {\"SessionStart\": [ ], \"Stop\": [{\"hooks\": []}]}}\n\n",
    ];
    for (number, text) in texts.iter().enumerate() {
        let path = folder.path().join(format!("{number}.json"));
        fs::write(&path, text).unwrap();
        save(Client::ClaudeCode, &path, Edit::Server(&entry())).unwrap();
        let part = Part::Server(Client::ClaudeCode, "kodiak");
        let removed = remove(Client::ClaudeCode, &path, part).unwrap();
        assert_eq!(removed, Removed::Changed, "{text}");
        assert_eq!(fs::read_to_string(&path).unwrap(), *text);
        save(Client::ClaudeCode, &path, Edit::Hook(HOOK)).unwrap();
        // A program that moved is entered over the one before.
        save(
            Client::ClaudeCode,
            &path,
            Edit::Hook("/usr/bin/kodiak hook"),
        )
        .unwrap();
        remove(Client::ClaudeCode, &path, Part::Hook).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), *text);
        let absent = remove(Client::ClaudeCode, &path, Part::Hook).unwrap();
        assert_eq!(absent, Removed::Absent);
    }
    let path = folder.path().join("config.toml");
    let text = "model = \"x\" # mine\n\n[mcp_servers.other]\ncommand = \"y\"\n";
    fs::write(&path, text).unwrap();
    save(Client::Codex, &path, Edit::Server(&entry())).unwrap();
    remove(Client::Codex, &path, Part::Server(Client::Codex, "kodiak")).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    // A file that there was not is gone.
    for (client, edit, part) in [
        (Client::Codex, Edit::Hook(HOOK), Part::Hook),
        (
            Client::Gemini,
            Edit::Server(&entry()),
            Part::Server(Client::Gemini, "kodiak"),
        ),
    ] {
        let path = folder.path().join(client.name());
        save(client, &path, edit).unwrap();
        assert_eq!(remove(client, &path, part).unwrap(), Removed::Deleted);
        assert!(!path.exists());
        assert_eq!(remove(client, &path, part).unwrap(), Removed::Absent);
    }
}

#[test]
fn what_changed_since_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    fs::write(&path, "{\"a\": 1}").unwrap();
    save(Client::ClaudeCode, &path, Edit::Hook(HOOK)).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let changed = text.replace("\"a\": 1", "\"a\": 2 /* two */, \"b\": [1]");
    fs::write(&path, &changed).unwrap();
    remove(Client::ClaudeCode, &path, Part::Hook).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert!(
        text.contains("2 /* two */") && text.contains("\"b\": [1]"),
        "{text}"
    );
    assert!(!text.contains("hook"), "{text}");
    let path = folder.path().join("config.toml");
    save(Client::Codex, &path, Edit::Server(&entry())).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("model = \"x\" # mine\n{text}")).unwrap();
    remove(Client::Codex, &path, Part::Server(Client::Codex, "kodiak")).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "model = \"x\" # mine\n");
}
