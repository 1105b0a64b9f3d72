//! Tokens: printed once, kept as hashes, revoked by name.

use std::fs;

use insta::assert_snapshot;
use serde_json::json;

use crate::desk::Desk;

#[test]
fn a_token_is_printed_once_and_its_hash_kept() {
    let desk = Desk::indexed();
    let run = desk.ok(&["token", "create", "laptop"]);
    let token = run.stdout.trim();
    assert!(token.starts_with("kodiak_") && token.len() == 71, "{run}");
    let file = desk.path("data/kodiak/tokens.json");
    let kept = fs::read_to_string(&file).unwrap();
    assert!(!kept.contains(&token[7..]), "{kept}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let made = desk.json(&[
        "token",
        "create",
        "atlas",
        "--write",
        "--source",
        "notes",
        "--project",
        "atlas",
        "--expires",
        "2100-01-01",
        "--json",
    ]);
    assert!(made["token"].as_str().unwrap().starts_with("kodiak_"));
    let listed = desk.json(&["token", "list", "--json"]);
    assert_eq!(listed[0]["capabilities"], json!(["read"]));
    assert_eq!(listed[1]["capabilities"], json!(["read", "write"]));
    assert_eq!(listed[1]["sources"], json!(["notes"]));
    assert_eq!(listed[1]["expires_at"], "2100-01-01T00:00:00Z");
    assert!(listed[1].get("token").is_none());
    let list = desk.ok(&["token", "list"]).stdout;
    let atlas = list.lines().nth(2).unwrap();
    let words: Vec<&str> = atlas.split_whitespace().collect();
    assert_eq!(
        words[..5],
        ["atlas", "read,", "write", "notes", "atlas"],
        "{list}"
    );
    desk.ok(&["token", "revoke", "laptop"]);
    assert!(!desk.ok(&["token", "list"]).stdout.contains("laptop"));
}

#[test]
fn what_cannot_be_a_token_is_refused() {
    let desk = Desk::indexed();
    assert_snapshot!(desk.run(&["token", "list"]), @"
    exit: 0
    --- stderr
    there is no token
    hint: run `kodiak token create NAME` to make one
    ");
    desk.ok(&["token", "create", "laptop"]);
    assert_snapshot!(desk.run(&["token", "create", "laptop"]), @"
    exit: 2
    --- stderr
    error: there is already a token named 'laptop'
    hint: choose another name, or run `kodiak token revoke laptop` first
    ");
    assert_snapshot!(desk.run(&["token", "revoke", "latpop"]), @"
    exit: 2
    --- stderr
    error: there is no token named 'latpop'
    hint: did you mean 'laptop'?
    ");
    assert_snapshot!(desk.run(&["token", "create", "x", "--source", "ntoes"]), @"
    exit: 2
    --- stderr
    error: there is no source named 'ntoes'
    hint: did you mean 'notes'?
    hint: known sources: notes
    ");
    assert_snapshot!(desk.run(&["token", "create", "x", "--expires", "yesterday"]), @"
    exit: 2
    --- stderr
    error: a token that expires at 'yesterday' would never be valid
    hint: name a date to come, such as 2030-01-31, or how long it is valid: 30d, 2w, 3m, 1y
    ");
    assert_snapshot!(desk.run(&["token", "create", "two words"]), @"
    exit: 2
    --- stderr
    error: 'two words' cannot be the name of a token
    hint: use up to 64 letters, digits and signs without spaces, such as laptop
    ");
}
