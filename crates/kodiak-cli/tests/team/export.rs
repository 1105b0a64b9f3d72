//! The memories and pages of a team, exported as files.

use std::fs;

use crate::place::on_each_server;

#[test]
#[ignore = "needs servers: tests/postgres/with starts them and sets KODIAK_TEST_POSTGRES"]
fn an_export_has_what_was_written_and_can_be_indexed() {
    on_each_server(|index| {
        let machine = index.machine();
        machine.ok(&["team", "init"]);
        machine.ok(&["remember", "The kettle whistles at noon.", "--id", "kettle"]);
        machine.ok(&["page", "new", "Bread", "--text", "The dough rises."]);
        let first = machine.ok(&["team", "export", "out"]).stdout;
        assert!(first.contains("memory: 1 new file"), "{first}");
        assert!(first.contains("pages: 1 new file"), "{first}");
        let text = fs::read_to_string(machine.path("out/memory/kettle.md")).unwrap();
        assert!(
            text.starts_with("---\n") && text.contains("whistles at noon"),
            "{text}"
        );
        let again = machine.ok(&["team", "export", "out"]).stdout;
        assert!(
            again.contains("memory: 0 new files, 0 updated, 1 unchanged"),
            "{again}"
        );
        // A file that was changed is left, and one of another program is never touched.
        fs::write(machine.path("out/memory/kettle.md"), "mine").unwrap();
        fs::write(machine.path("out/pages/other.md"), "other").unwrap();
        let run = machine.run(&["team", "export", "out"]);
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains("memory/kettle.md"), "{run}");
        let kept = |name: &str| fs::read_to_string(machine.path(name)).unwrap();
        assert_eq!(kept("out/memory/kettle.md"), "mine");
        assert_eq!(kept("out/pages/other.md"), "other");
        // The files are notes like any others.
        fs::remove_file(machine.path("out/memory/kettle.md")).unwrap();
        machine.ok(&["team", "export", "out"]);
        let local = crate::place::Machine::new();
        let folder = machine.path("out/memory");
        local.ok(&["add", "--memory", folder.to_str().unwrap()]);
        assert!(local.ok(&["recall", "kettle"]).stdout.contains("whistles"));
        // What is forgotten goes from the export as well.
        machine.ok(&["forget", "kettle"]);
        let gone = machine
            .ok(&["team", "export", "out", "--source", "memory"])
            .stdout;
        assert!(
            gone.contains("1 removed") && !gone.contains("pages"),
            "{gone}"
        );
        assert!(!machine.path("out/memory/kettle.md").exists());
    });
}
