//! Several machines with sources of their own in one index.

use crate::place::on_each_server;

#[test]
#[ignore = "needs servers: tests/postgres/with starts them and sets KODIAK_TEST_POSTGRES"]
fn no_machine_removes_what_another_has_registered() {
    on_each_server(|index| {
        let (one, other) = (index.machine(), index.machine());
        one.write("notes/tea.md", "# Tea\n\nThe kettle whistles.\n");
        one.ok(&["add", "notes"]);
        other.write("papers/bread.md", "# Bread\n\nThe dough rises.\n");
        other.ok(&["add", "papers"]);
        for machine in [&one, &other] {
            assert_eq!(machine.found("kettle"), ["tea.md"]);
            assert_eq!(machine.found("dough"), ["bread.md"]);
        }
        // A sync of everything, from either side, and repairs.
        one.ok(&["index"]);
        other.ok(&["index"]);
        other.ok(&["doctor", "--fix"]);
        assert_eq!(other.found("kettle"), ["tea.md"]);
        let status = other.ok(&["status"]).stdout;
        assert!(
            status.contains("not registered on this machine"),
            "{status}"
        );
        // What is on another machine is not said to be gone or unreadable.
        let run = other.ok(&["search", "kettle"]);
        assert!(!run.stderr.contains("missing"), "{run}");
        // A rebuild would lose it.
        let refused = other.run(&["index", "--rebuild"]);
        refused.failed_with(&["other machines", "notes"]);
        // Its own changes are still found, however busy the machine is.
        one.ok(&["config", "set", "search.refresh_ms", "20000"]);
        one.write("notes/tea.md", "# Tea\n\nThe samovar sings.\n");
        assert_eq!(one.found("samovar"), ["tea.md"]);
        assert_eq!(other.found("samovar"), ["tea.md"]);
        // Asked for by name, it goes.
        other.ok(&["remove", "notes"]);
        assert!(one.found("dough") == ["bread.md"] && other.found("samovar").is_empty());
    });
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them and sets KODIAK_TEST_POSTGRES"]
fn a_name_belongs_to_one_machine() {
    on_each_server(|index| {
        let (one, other) = (index.machine(), index.machine());
        one.write("notes/tea.md", "# Tea\n\nThe kettle whistles.\n");
        one.ok(&["add", "notes"]);
        other.write("notes/bread.md", "# Bread\n\nThe dough rises.\n");
        let refused = other.run(&["add", "notes"]);
        refused.failed_with(&["another machine", "--name"]);
        // Registered by hand, or before the index was shared.
        let path = other.path("notes");
        let config = format!(
            "[[source]]\nname = \"notes\"\npath = \"{}\"\n",
            path.display()
        );
        other.write(".config/kodiak/config.toml", &config);
        for line in [&["index"][..], &["search", "kettle"], &["get", "tea.md"]] {
            other.run(line);
            assert_eq!(one.found("kettle"), ["tea.md"], "{line:?}");
            assert!(one.found("dough").is_empty(), "{line:?}");
        }
        assert_eq!(other.found("kettle"), ["tea.md"]);
        other.write(".config/kodiak/config.toml", "");
        other.ok(&["add", "notes", "--name", "bakery"]);
        assert_eq!(one.found("dough"), ["bread.md"]);
    });
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them and sets KODIAK_TEST_POSTGRES"]
fn the_config_names_the_index_and_the_command_line_wins() {
    on_each_server(|index| {
        let machine = crate::place::Machine::new();
        machine.ok(&["config", "set", "index", index.address()]);
        machine.write("notes/tea.md", "# Tea\n\nThe kettle whistles.\n");
        machine.ok(&["add", "notes"]);
        assert_eq!(index.machine().found("kettle"), ["tea.md"]);
        let elsewhere = machine.run(&["search", "kettle", "--index", "local.db"]);
        elsewhere.failed_with(&["there is no index", "local.db"]);
        // What lies beside the index is in private folders of its own.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let folder = machine.path(".cache/kodiak/servers");
            let mode = std::fs::metadata(folder).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
        }
        assert!(!machine.path(".local/share/kodiak/index.db").exists());
    });
}
