//! Messages of a program without databases about an index in one.

use crate::desk::Desk;

#[test]
fn an_address_is_refused_with_what_to_install() {
    let desk = Desk::with_notes();
    let address = "postgres://ada:hunter2@db.example/notes";
    for line in [
        &["search", "x", "--index", address][..],
        &["add", "notes", "--index", address],
        &["mcp", "install", "claude-code", "--index", address],
        &["token", "list", "--index", address],
        &["team", "init"],
    ] {
        let run = desk.run(line);
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains("--features team"), "{run}");
        assert!(!run.to_string().contains("hunter2"), "{run}");
    }
}
