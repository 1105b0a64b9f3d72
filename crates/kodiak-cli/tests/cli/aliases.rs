//! The other names of a note, as Obsidian writes them.

use crate::desk::Desk;

#[test]
fn aliases_are_found_like_titles() {
    let desk = Desk::new();
    desk.write(
        "notes/gtd.md",
        "---\naliases: [Getting Things Done, \"Allen method\"]\n---\n# GTD\n\nInbox first.\n",
    );
    desk.write(
        "notes/ml.md",
        "---\nAlias: Machine Learning\n---\n# ML\n\nGradients.\n",
    );
    desk.write(
        "notes/list.md",
        "---\naliases:\n  - Tonkotsu\n---\n# Ramen\n\nBones.\n",
    );
    for number in 0..5 {
        let text = format!("# Diary {number}\n\nToday things were getting done, by any method.\n");
        desk.write(&format!("notes/diary-{number}.md"), text);
    }
    desk.ok(&["add", "notes", "--writable"]);
    for (query, path) in [
        ("getting things done", "gtd.md"),
        ("Getting Things", "gtd.md"),
        ("allen", "gtd.md"),
        ("machine learning", "ml.md"),
        ("tonkotsu", "list.md"),
        ("title:tonkotsu", "list.md"),
        ("tonkotus", "list.md"),
        ("gtd", "gtd.md"),
    ] {
        let found = desk.found(&[query]);
        assert_eq!(
            found.first().map(String::as_str),
            Some(path),
            "{query}: {found:?}"
        );
    }
    assert_eq!(desk.run(&["search", "tag:tonkotsu"]).code, Some(1));
    for (name, text) in [
        ("Getting Things Done", "Inbox"),
        ("getting things done", "Inbox"),
        ("Allen method:6", "Inbox"),
        ("machine learning", "Gradients"),
        ("Tonkotsu", "Bones"),
    ] {
        let run = desk.ok(&["get", name]);
        assert!(run.stdout.contains(text), "{name}: {run}");
        let run = desk.ok(&["get", name, "diary-1.md"]);
        assert!(run.stdout.contains(text), "{name}: {run}");
    }
    // The alias that matched is shown, and only then.
    let alias = |query: &str| desk.json(&["search", query, "--json"])["hits"][0]["alias"].clone();
    assert_eq!(alias("allen method"), "Allen method");
    assert_eq!(alias("tonkotus"), "Tonkotsu");
    assert_eq!(alias("machine learn"), "Machine Learning");
    assert_eq!(alias("gtd"), serde_json::Value::Null);
    assert_eq!(alias("ramen bones"), serde_json::Value::Null);
    let shown = desk.ok(&["search", "tonkotsu"]).stdout;
    assert!(
        shown.starts_with("1. Ramen (alias \"Tonkotsu\")\n"),
        "{shown}"
    );
    // One that was taken away is not found any more, and the counts agree.
    desk.configure("refresh_ms", 60_000);
    desk.write(
        "notes/list.md",
        "---\naliases: [Shoyu]\n---\n# Ramen\n\nBones.\n",
    );
    assert_eq!(desk.found(&["shoyu"]), ["list.md"]);
    assert_eq!(desk.run(&["search", "tonkotsu", "--exact"]).code, Some(1));
    assert_eq!(desk.run(&["get", "tonkotsu"]).code, Some(2));
    desk.ok(&["doctor"]);
}
