//! Connections with certificates, and what is said of those that do not fit.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::place::{Machine, Run, finish};
use crate::programs::{Postgres, give, run};
use crate::served::Served;
use crate::servers::{begin, remember};

/// The password of the user.
const PASSWORD: &str = "correct horse";

/// Makes an authority in a folder, and returns the path of its certificate.
fn authority(folder: &Path, name: &str) -> PathBuf {
    let certificate = folder.join(format!("{name}.pem"));
    openssl(&[
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
    ])
    .args([
        "-nodes",
        "-days",
        "2",
        "-subj",
        &format!("/CN={name}"),
        "-keyout",
    ])
    .arg(folder.join(format!("{name}.key")))
    .arg("-out")
    .arg(&certificate)
    .must();
    certificate
}

/// Makes the certificate of a server that is called `localhost`, and nothing else.
fn certificate(folder: &Path) {
    openssl(&[
        "req",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
    ])
    .args(["-subj", "/CN=localhost", "-keyout"])
    .arg(folder.join("server.key"))
    .arg("-out")
    .arg(folder.join("server.csr"))
    .must();
    let names = folder.join("names.txt");
    fs::write(&names, "subjectAltName=DNS:localhost\n").unwrap();
    openssl(&["x509", "-req", "-days", "2", "-CAcreateserial", "-in"])
        .arg(folder.join("server.csr"))
        .arg("-CA")
        .arg(folder.join("ours.pem"))
        .arg("-CAkey")
        .arg(folder.join("ours.key"))
        .arg("-extfile")
        .arg(names)
        .arg("-out")
        .arg(folder.join("server.pem"))
        .must();
    for name in ["server.key", "server.pem"] {
        give(&folder.join(name));
    }
}

fn openssl(arguments: &[&str]) -> Openssl {
    let mut command = Command::new("openssl");
    command.args(arguments);
    Openssl(command)
}

struct Openssl(Command);

impl Openssl {
    fn arg(mut self, argument: impl AsRef<std::ffi::OsStr>) -> Self {
        self.0.arg(argument);
        self
    }

    fn args<const N: usize>(mut self, arguments: [&str; N]) -> Self {
        self.0.args(arguments);
        self
    }

    fn must(mut self) {
        run(&mut self.0);
    }
}

/// Starts a server that the user reaches by TLS and password alone.
fn server() -> Postgres {
    let settings = [
        "ssl=on",
        "ssl_cert_file='../server.pem'",
        "ssl_key_file='../server.key'",
    ];
    let prepare = |folder: &Path| {
        authority(folder, "ours");
        authority(folder, "other");
        certificate(folder);
    };
    let database = Postgres::with_tls("tls", prepare, &settings);
    database.sql(&format!("ALTER ROLE kodiak PASSWORD '{PASSWORD}'"));
    let rules = "hostssl all kodiak all scram-sha-256\nhost all postgres 127.0.0.1/32 trust\n";
    fs::write(database.data.join("pg_hba.conf"), rules).unwrap();
    database.sql("SELECT pg_reload_conf()");
    database
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them and sets KODIAK_TEST_SERVERS"]
fn a_server_is_spoken_to_over_tls_and_must_be_the_one_that_is_named() {
    let database = server();
    let folder = database.data.parent().unwrap();
    let address = |host: &str, options: &str| {
        format!(
            "postgres://kodiak@{host}:{}/postgres?schema=team{options}",
            database.port
        )
    };
    let ours = format!("&sslrootcert={}", folder.join("ours.pem").display());
    let other = format!("&sslrootcert={}", folder.join("other.pem").display());
    let with = |address: &str, password: &str| {
        let machine = Machine::with_index(address);
        machine.write("password", password);
        private(&machine.path("password"));
        let path = machine.path("password");
        machine.ok(&[
            "config",
            "set",
            "team.password_file",
            path.to_str().unwrap(),
        ]);
        machine
    };

    let good = with(&address("localhost", &ours), PASSWORD);
    let owner = begin(&good);
    let served = Served::start(&good);
    assert_eq!(
        remember(&served, &owner, "The kettle whistles at noon."),
        201
    );
    assert_eq!(good.found("kettle").len(), 1);
    let how = "SELECT count(*) > 0 AND bool_and(s.ssl AND s.version = 'TLSv1.3')
        FROM pg_stat_ssl AS s JOIN pg_stat_activity AS a USING (pid) WHERE usename = 'kodiak'";
    assert_eq!(database.sql(how), "t");
    drop(served);

    let refused = |machine: &Machine, said: &[&str]| {
        for line in [
            &["search", "kettle"][..],
            &["remember", "Nothing."],
            &["team", "init"],
        ] {
            let run: Run = machine.run(line);
            run.failed_with(said);
            assert!(!run.to_string().contains(PASSWORD), "{run}");
        }
    };
    // Another authority, none that this machine trusts, and another name of the same server.
    refused(
        &with(&address("localhost", &other), PASSWORD),
        &["certificate", "sslrootcert"],
    );
    refused(
        &with(&address("localhost", "&sslmode=verify-full"), PASSWORD),
        &["certificate", "sslrootcert"],
    );
    refused(
        &with(&address("127.0.0.1", &ours), PASSWORD),
        &[
            "certificate",
            "not valid for name",
            "the name that the certificate has",
        ],
    );
    let none = format!("&sslrootcert={}", folder.join("none.pem").display());
    refused(&with(&address("localhost", &none), PASSWORD), &["none.pem"]);
    refused(
        &with(&address("localhost", &ours), "wrong"),
        &["password authentication failed", "PGPASSWORD"],
    );
    refused(
        &with(&address("localhost", "&sslmode=disable"), PASSWORD),
        &["no encryption", "sslmode"],
    );
    // Nothing was written by any of them.
    assert_eq!(database.sql("SELECT count(*) FROM team.documents"), "1");
    let mut command = good.command(&["search", "kettle"]);
    let run = finish(command.env("PGPASSWORD", "wrong"));
    run.failed_with(&["password authentication failed"]);
}

fn private(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}
