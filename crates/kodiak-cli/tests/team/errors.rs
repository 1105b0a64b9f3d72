//! Errors of an index on a server say what to do next and show no password.

use std::fs;

use crate::gate::Gate;
use crate::place::{Machine, finish, on_each_server};

#[test]
fn a_server_that_cannot_be_reached_is_named() {
    // A port that was free a moment ago.
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let machine = Machine::with_index(&format!("postgres://ada@127.0.0.1:{port}/notes"));
    for line in [
        &["search", "x"][..],
        &["status"],
        &["team", "init"],
        &["serve", "127.0.0.1:0"],
        &["token", "list"],
        &["doctor"],
    ] {
        let run = machine.run(line);
        run.failed_with(&["127.0.0.1", "refused", "check the address"]);
    }
}

#[test]
fn an_address_must_not_have_a_password() {
    for address in [
        "postgres://ada:hunter2@127.0.0.1/notes",
        "postgres://ada@127.0.0.1/notes?password=hunter2",
    ] {
        let machine = Machine::with_index(address);
        for line in [
            &["search", "x"][..],
            &["team", "init"],
            &["token", "list"],
            &["mcp", "install", "claude-code"],
        ] {
            let run = machine.run(line);
            run.failed_with(&["PGPASSWORD"]);
            assert!(!run.to_string().contains("hunter2"), "{run}");
        }
        let run = machine.run(&["config", "show"]);
        assert!(!run.to_string().contains("hunter2"), "{run}");
        let machine = Machine::new();
        let run = machine.run(&["config", "set", "index", address]);
        run.failed_with(&["without a password", "PGPASSWORD"]);
        assert!(!run.to_string().contains("hunter2"), "{run}");
    }
}

#[test]
fn the_password_comes_from_the_environment_or_a_private_file() {
    let gate = Gate::open();
    let machine = Machine::with_index(&gate.address);
    let search = |variables: &[(&str, &str)]| {
        let mut command = machine.command(&["search", "x"]);
        finish(command.envs(variables.iter().copied()))
    };
    let wrong = ["password authentication failed", "PGPASSWORD"];
    search(&[("PGPASSWORD", "first")]).failed_with(&wrong);
    assert_eq!(gate.given(), ["first"]);
    // The file that clients of PostgreSQL read, and the one that the environment names.
    machine.write(".pgpass", "*:*:*:bob:none\n*:*:notes:ada:second\n");
    machine.write("other", "127.0.0.1:*:*:*:third\n");
    for name in [".pgpass", "other"] {
        private(&machine, name, true);
    }
    search(&[]).failed_with(&wrong);
    assert_eq!(gate.given(), ["second"]);
    let other = machine.path("other");
    search(&[("PGPASSFILE", other.to_str().unwrap())]).failed_with(&wrong);
    assert_eq!(gate.given(), ["third"]);
    // The file that the config names has nothing but the password.
    machine.write("password", "fourth\n");
    private(&machine, "password", true);
    let path = machine.path("password");
    machine.ok(&[
        "config",
        "set",
        "team.password_file",
        path.to_str().unwrap(),
    ]);
    search(&[]).failed_with(&wrong);
    assert_eq!(gate.given(), ["fourth"]);
    search(&[("PGPASSWORD", "first")]).failed_with(&wrong);
    assert_eq!(gate.given(), ["first"]);
    // One that others can read is refused, and its password is not sent.
    #[cfg(unix)]
    {
        private(&machine, "password", false);
        let run = search(&[]);
        run.failed_with(&["others can read", "chmod 600"]);
        assert!(gate.given().is_empty());
        assert!(!run.to_string().contains("fourth"), "{run}");
    }
}

fn private(machine: &Machine, name: &str, private: bool) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = if private { 0o600 } else { 0o644 };
        fs::set_permissions(machine.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    #[cfg(not(unix))]
    let _ = (machine, name, private);
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them and sets KODIAK_TEST_POSTGRES"]
fn a_schema_that_is_missing_can_be_created() {
    on_each_server(|index| {
        let machine = index.machine();
        machine
            .run(&["search", "x"])
            .failed_with(&["there is no index", "kodiak team init"]);
        let status = machine.ok(&["status"]);
        assert!(status.stderr.contains("kodiak team init"), "{status}");
        machine.ok(&["team", "init"]);
        assert_eq!(machine.run(&["search", "x"]).code, Some(1));
        machine.ok(&["doctor"]);
    });
}

#[test]
fn what_needs_a_server_says_so() {
    let machine = Machine::new();
    machine
        .run(&["team", "init"])
        .failed_with(&["is a file", "--index postgres://"]);
    machine
        .run(&["team", "export", "out"])
        .failed_with(&["is a file", "--index postgres://"]);
}
