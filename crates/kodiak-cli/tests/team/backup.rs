//! A dump of the schema is a whole backup, as the guide says.

use std::path::Path;
use std::process::Command;

use crate::place::{Machine, on_each_server};

/// The folders with the programs of the servers, in the order of their addresses.
const PROGRAMS: [&str; 2] = ["bin18", "bin16"];

/// Runs a program that came with a server.
fn run(server: usize, program: &str, arguments: &[&str]) {
    let servers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/postgres");
    let program = servers.join(PROGRAMS[server]).join(program);
    let run = Command::new(&program).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{}: {said}", program.display());
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them and sets KODIAK_TEST_POSTGRES"]
fn what_was_dumped_is_restored_with_tombstones_and_tokens() {
    let server = std::cell::Cell::new(0);
    on_each_server(|index| {
        let machine = index.machine();
        machine.ok(&["team", "init"]);
        machine.write("notes/tea.md", "# Tea\n\nThe kettle whistles.\n");
        machine.ok(&["add", "notes", "--yes"]);
        machine.ok(&["remember", "The oven is hot.", "--id", "oven"]);
        machine.ok(&["remember", "Rye needs water.", "--id", "rye"]);
        machine.ok(&["forget", "--purge", "rye"]);

        let number = server.replace(server.get() + 1);
        let (place, schema) = index.address().split_once("?schema=").unwrap();
        let (host, _) = place.rsplit_once('/').unwrap();
        let database = format!("restored_{schema}");
        let restored = format!("{host}/{database}");
        let dump = machine.path("notes.dump");
        let dump = dump.to_str().unwrap();
        let (only, file) = (format!("--schema={schema}"), format!("--file={dump}"));
        run(number, "pg_dump", &["--format=custom", &only, &file, place]);
        // Databases are the administrator's to create; Kodiak's user owns the new one.
        let administrator = place.replacen("//kodiak@", "//postgres@", 1);
        let at = ["--maintenance-db", &administrator];
        run(
            number,
            "createdb",
            &[&at[..], &["--owner=kodiak", &database]].concat(),
        );
        let to = format!("--dbname={restored}");
        run(number, "pg_restore", &["--exit-on-error", &to, dump]);

        let other = Machine::with_index(&format!("{restored}?schema={schema}"));
        assert_eq!(other.found("oven hot").len(), 1);
        assert_eq!(other.found("kettle whistles").len(), 1);
        assert!(other.ok(&["token", "list"]).stdout.contains("owner"));
        other.ok(&["doctor"]);
        // What was erased stays away, and what is new gets numbers that none has.
        let again = other.run(&["remember", "Rye is back.", "--id", "rye"]);
        again.failed_with(&["was erased"]);
        other.ok(&["remember", "The timer is fast.", "--id", "timer"]);
        assert_eq!(other.found("timer fast").len(), 1);
        run(
            number,
            "dropdb",
            &[&at[..], &["--force", &database]].concat(),
        );
    });
}
