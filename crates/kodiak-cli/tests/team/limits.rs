//! Servers that cannot be used, or not for everything: too old, read-only, full, or with an
//! index of a later version.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use rustix::process::Signal;

use crate::gate::outdated;
use crate::place::Machine;
use crate::programs::{Postgres, command, folder, give, run};
use crate::served::Served;
use crate::servers::{begin, remember};

#[test]
fn a_server_that_is_too_old_says_which_is_not() {
    let machine = Machine::with_index(&outdated());
    for line in [
        &["search", "x"][..],
        &["team", "init"],
        &["remember", "Nothing."],
    ] {
        machine
            .run(line)
            .failed_with(&["PostgreSQL 13.4", "PostgreSQL 14 or a later one"]);
    }
}

/// Returns the number of rows in the tables that people's writing goes to.
fn rows(database: &Postgres) -> String {
    database.sql(
        "SELECT (SELECT count(*) FROM team.documents), (SELECT count(*) FROM team.team_files),
            (SELECT count(*) FROM team.tokens), (SELECT count(*) FROM team.segments),
            (SELECT revision FROM team.state)",
    )
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them and sets KODIAK_TEST_SERVERS"]
fn an_index_of_a_later_version_is_not_touched() {
    let database = Postgres::start("future", &[]);
    let machine = Machine::with_index(&database.address("team"));
    begin(&machine);
    machine.ok(&["remember", "The kettle whistles at noon."]);
    database.sql("INSERT INTO team.migrations (number) VALUES (99)");
    let before = rows(&database);
    for line in [
        &["search", "kettle"][..],
        &["index"],
        &["remember", "The oven is hot."],
        &["team", "init"],
        &["team", "invite", "ada", "--url", "http://x"],
        &["page", "new", "Bread", "--text", "The dough rises."],
    ] {
        let run = machine.run(line);
        run.failed_with(&["format 99"]);
        assert_eq!(rows(&database), before, "{run}");
    }
    database.sql("DELETE FROM team.migrations WHERE number = 99");
    assert_eq!(machine.found("kettle").len(), 1);
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them and sets KODIAK_TEST_SERVERS"]
fn a_server_that_only_reads_is_read() {
    let database = Postgres::start("first", &[]);
    let machine = Machine::with_index(&database.address("team"));
    let owner = begin(&machine);
    machine.ok(&["remember", "The kettle whistles at noon.", "--id", "kettle"]);
    let mut replica = Postgres::replica_of(&database, &[]);
    let sent = database.sql("SELECT pg_current_wal_lsn()");
    crate::programs::until("the replica has it", || {
        replica.sql(&format!("SELECT pg_last_wal_replay_lsn() >= '{sent}'")) == "t"
    });
    let only = format!(
        "{}&options=-c%20default_transaction_read_only=on",
        database.address("team")
    );
    let before = rows(&database);
    for address in [replica.address("team"), only] {
        let reads = Machine::with_index(&address);
        assert_eq!(reads.found("kettle").len(), 1, "{address}");
        reads.write("notes/tea.md", "# Tea\n\nThe samovar sings.\n");
        for line in [
            &["remember", "The oven is hot."][..],
            &["forget", "kettle"],
            &["forget", "--purge", "kettle", "--yes"],
            &["team", "invite", "ada", "--url", "http://x"],
            &["page", "new", "Bread", "--text", "The dough rises."],
            &["add", "notes"],
        ] {
            let run = reads.run(line);
            run.failed_with(&["only reads; name the one that writes"]);
            assert!(!run.stderr.contains("check the address"), "{run}");
        }
        let served = Served::start(&reads);
        let status = remember(&served, &owner, "The oven is hot.");
        assert!(status >= 500, "{status}");
        assert_eq!(rows(&database), before, "{address}");
    }
    replica.process.end(Signal::QUIT);
}

/// A small disk, which goes with the test.
struct Disk(PathBuf);

impl Disk {
    /// Mounts a disk of this size, if this user may.
    fn mount(size: &str) -> Option<Self> {
        let place = folder("disk");
        let options = format!("size={size}");
        let mut mount = Command::new("mount");
        mount
            .args(["-t", "tmpfs", "-o", &options, "none"])
            .arg(&place);
        if !mount.output().ok()?.status.success() {
            return None;
        }
        give(&place);
        Some(Self(place))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).output();
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them and sets KODIAK_TEST_SERVERS"]
fn a_full_disk_is_named_and_nothing_is_half_written() {
    let Some(disk) = Disk::mount("24m") else {
        // Only root may mount one.
        eprintln!("skipped: this user may not mount a disk to fill");
        return;
    };
    let database = Postgres::start("full", &[]);
    let space = disk.0.join("space");
    fs::create_dir(&space).unwrap();
    give(&space);
    database.sql(&format!(
        "CREATE TABLESPACE small LOCATION '{}'",
        space.display()
    ));
    database.sql("GRANT CREATE ON TABLESPACE small TO kodiak");
    database.sql("ALTER ROLE kodiak SET default_tablespace = small");
    let machine = Machine::with_index(&database.address("team"));
    begin(&machine);
    machine.ok(&["remember", "The kettle whistles at noon."]);
    // Everything but little is taken.
    let filler = disk.0.join("filler");
    let mut take = command("dd");
    take.args(["if=/dev/zero", "bs=64k"])
        .arg(format!("of={}", filler.display()));
    let _ = take.output().unwrap();
    run(command("truncate").args(["-s", "-256k"]).arg(&filler));
    for number in 0..400 {
        let mut words = String::new();
        for word in 0..120 {
            words.push_str(&format!(
                "w{:x} ",
                (number * 1_000 + word) * 2_654_435_761_u64
            ));
        }
        machine.write(
            &format!("notes/{number}.md"),
            &format!("# Note {number}\n\n{words}\n"),
        );
    }
    let before = rows(&database);
    let full = machine.run(&["add", "notes"]);
    full.failed_with(&["No space left", "free some space on the server"]);
    assert!(!full.stderr.contains("check the address"), "{full}");
    assert_eq!(rows(&database), before);
    assert_eq!(machine.found("kettle").len(), 1);
    // A memory may still fit, while its words do not.
    let memory = machine.run(&["remember", "The oven is hot.", "--id", "oven"]);
    let kept = usize::from(memory.code == Some(0));
    let said = ["No space left", "not up to date"];
    assert!(
        said.iter().any(|said| memory.stderr.contains(said)) || kept == 1,
        "{memory}"
    );
    // Once there is space, the same command does it all.
    fs::remove_file(&filler).unwrap();
    machine.ok(&["add", "notes"]);
    machine.ok(&["index"]);
    assert_eq!(
        database.sql("SELECT count(*) FROM team.documents"),
        (401 + kept).to_string()
    );
    assert_eq!(machine.found("oven").len(), kept);
    machine.ok(&["doctor"]);
    drop(database);
}
