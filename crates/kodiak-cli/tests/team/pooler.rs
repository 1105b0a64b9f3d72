//! An index behind a pooler that gives a connection to one transaction after the other.

use std::fs;

use crate::place::Machine;
use crate::programs::{Postgres, Process, command, folder, free_port, give};
use crate::served::Served;
use crate::servers::{begin, remember};

/// Starts pgbouncer in front of a server.
fn pooler(database: &Postgres) -> (Process, u16) {
    let (own, port) = (folder("pooler"), free_port());
    let users = own.join("users.txt");
    fs::write(&users, "\"kodiak\" \"\"\n").unwrap();
    let config = format!(
        "[databases]\npostgres = host=127.0.0.1 port={} dbname=postgres user=kodiak\n\
         [pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
         auth_type = trust\nauth_file = {}\npool_mode = transaction\ndefault_pool_size = 8\n\
         max_client_conn = 100\n",
        database.port,
        users.display()
    );
    let path = own.join("pgbouncer.ini");
    fs::write(&path, config).unwrap();
    for file in [&users, &path] {
        give(file);
    }
    let program = ["/usr/sbin/pgbouncer", "/usr/local/bin/pgbouncer"];
    let program = program
        .iter()
        .find(|path| fs::exists(path).unwrap_or(false));
    let mut pgbouncer = command(program.unwrap_or(&"pgbouncer"));
    let process = Process::start(pgbouncer.arg(&path), own.join("log.txt"));
    (process.listening(port), port)
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them and sets KODIAK_TEST_SERVERS"]
fn a_pooler_of_transactions_is_not_noticed() {
    let database = Postgres::start("pooled", &[]);
    let (_pooler, port) = pooler(&database);
    let address = format!("postgres://kodiak@127.0.0.1:{port}/postgres?schema=team");
    let machine = Machine::with_index(&address);
    let owner = begin(&machine);
    machine.write("notes/tea.md", "# Tea\n\nThe kettle whistles. [[bread]]\n");
    machine.write("notes/bread.md", "# Bread\n\nThe dough rises.\n");
    machine.ok(&["add", "notes"]);
    assert_eq!(machine.found("kettle"), ["tea.md"]);
    machine.write("notes/tea.md", "# Tea\n\nThe samovar sings.\n");
    machine.ok(&["index"]);
    assert_eq!(machine.found("samovar"), ["tea.md"]);
    machine.ok(&["remember", "The oven is too hot.", "--id", "oven"]);
    assert_eq!(machine.found("oven").len(), 1);

    // Two servers with several clients each, so that connections are shared.
    let servers = [Served::start(&machine), Served::start(&machine)];
    std::thread::scope(|scope| {
        for client in 0..8_usize {
            let (served, owner) = (&servers[client % 2], &owner);
            scope.spawn(move || {
                for turn in 0..4 {
                    let text = format!("Client {client} says wort{client}x{turn}.");
                    assert_eq!(remember(served, owner, &text), 201, "{text}");
                }
            });
        }
    });
    assert_eq!(database.sql("SELECT count(*) FROM team.team_files"), "33");
    for client in 0..8 {
        assert_eq!(machine.found(&format!("\"wort{client}x3\"")).len(), 1);
    }
    drop(servers);
    machine.ok(&["forget", "--purge", "oven", "--yes"]);
    assert!(machine.found("oven").is_empty());
    machine.ok(&["doctor"]);
    machine.ok(&["doctor", "--fix"]);
    machine.ok(&["index", "--rebuild"]);
    let local = Machine::new();
    local.write("notes/salt.md", "# Salt\n\nSalt goes in last.\n");
    local.ok(&["add", "notes"]);
    let other = address.replace("schema=team", "schema=moved");
    local.ok(&["migrate", "--to", &other]);
    assert_eq!(Machine::with_index(&other).found("salt"), ["salt.md"]);
    // No lock is left with the pooler.
    let left = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'";
    assert_eq!(database.sql(left), "0");
}
