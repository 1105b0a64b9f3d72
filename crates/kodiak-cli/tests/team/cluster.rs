//! Three servers of PostgreSQL under Patroni, one of which takes writes and another of which
//! has them too before they are acknowledged.

use std::fs;
use std::path::PathBuf;

use rustix::process::{Pid, Signal, kill_process};

use crate::programs::{
    Process, command, folder, free_port, give, main_bin, modules, sql_at, until,
};

/// The number of servers.
const NODES: usize = 3;

/// A server with the process that watches it.
struct Node {
    patroni: Process,
    port: u16,
    data: PathBuf,
}

impl Node {
    /// Returns the process of the server.
    fn postmaster(&self) -> Option<Pid> {
        let text = fs::read_to_string(self.data.join("postmaster.pid")).ok()?;
        text.lines().next()?.parse().ok().and_then(Pid::from_raw)
    }

    /// Ends both processes, as a machine that loses its power does.
    fn kill(&mut self) {
        self.patroni.end(Signal::KILL);
        if let Some(postmaster) = self.postmaster() {
            let _ = kill_process(postmaster, Signal::KILL);
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.patroni.end(Signal::KILL);
        if let Some(postmaster) = self.postmaster() {
            let _ = kill_process(postmaster, Signal::QUIT);
        }
    }
}

pub(crate) struct Cluster {
    nodes: Vec<Node>,
    _etcd: Process,
}

impl Cluster {
    /// Starts a cluster, and waits until it has a leader with a synchronous replica.
    pub(crate) fn start() -> Self {
        let state = folder("etcd");
        let (client, peer) = (free_port(), free_port());
        let (client_url, peer_url) = (
            format!("http://127.0.0.1:{client}"),
            format!("http://127.0.0.1:{peer}"),
        );
        let mut etcd = command("etcd");
        etcd.arg("--data-dir")
            .arg(state.join("data"))
            .args(["--name", "one"]);
        etcd.args([
            "--listen-client-urls",
            &client_url,
            "--advertise-client-urls",
            &client_url,
        ]);
        etcd.args([
            "--listen-peer-urls",
            &peer_url,
            "--initial-advertise-peer-urls",
            &peer_url,
        ]);
        etcd.args([
            "--initial-cluster",
            &format!("one={peer_url}"),
            "--unsafe-no-fsync",
        ]);
        let etcd = Process::start(&mut etcd, state.join("log.txt")).listening(client);
        let nodes = (0..NODES).map(|number| node(number, client)).collect();
        let cluster = Self { nodes, _etcd: etcd };
        until("there is a leader with a synchronous replica", || {
            cluster.leader().is_some_and(|leader| {
                let port = cluster.nodes[leader].port;
                let synchronous = "SELECT count(*) FILTER (WHERE sync_state = 'sync') > 0
                    AND count(*) = 2 FROM pg_stat_replication";
                sql_at(port, synchronous).is_ok_and(|said| said == "t")
            })
        });
        cluster.on_leader(
            "CREATE ROLE kodiak LOGIN NOSUPERUSER; GRANT CREATE ON DATABASE postgres TO kodiak",
        );
        cluster
    }

    /// Returns which node takes writes.
    fn leader(&self) -> Option<usize> {
        let takes_writes = |node: &Node| {
            sql_at(node.port, "SELECT pg_is_in_recovery()").is_ok_and(|said| said == "f")
        };
        self.nodes.iter().position(takes_writes)
    }

    fn on_leader(&self, sql: &str) {
        let leader = self.leader().expect("there is no leader");
        sql_at(self.nodes[leader].port, sql).unwrap();
    }

    fn hosts(&self) -> String {
        let hosts = self
            .nodes
            .iter()
            .map(|node| format!("127.0.0.1:{}", node.port));
        hosts.collect::<Vec<_>>().join(",")
    }

    /// Returns the address of the cluster.
    pub(crate) fn address(&self) -> String {
        format!(
            "postgres://kodiak@{}/postgres?schema=team&target_session_attrs=read-write",
            self.hosts()
        )
    }

    /// Returns the address of the cluster for searches on any node.
    pub(crate) fn address_with_replicas(&self) -> String {
        format!("{}&replica={}", self.address(), self.hosts())
    }

    /// Ends the leader without a word.
    pub(crate) fn kill_leader(&mut self) {
        let leader = self.leader().expect("there is no leader");
        self.nodes[leader].kill();
    }
}

fn node(number: usize, etcd: u16) -> Node {
    let own = folder("node");
    let (port, rest) = (free_port(), free_port());
    let data = own.join("data");
    let (own_path, data_path) = (own.display(), data.display());
    let bin = main_bin();
    let bin = bin.display();
    // The shortest times that Patroni allows with this ttl, which is the shortest one.
    let config = format!(
        "scope: kodiak
name: node{number}
restapi: {{listen: '127.0.0.1:{rest}', connect_address: '127.0.0.1:{rest}'}}
etcd3: {{host: '127.0.0.1:{etcd}'}}
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 3
    retry_timeout: 5
    synchronous_mode: true
    postgresql: {{use_slots: true}}
  initdb: [{{encoding: UTF8}}, {{locale: C}}, {{auth: trust}}, no-sync]
postgresql:
  listen: '127.0.0.1:{port}'
  connect_address: '127.0.0.1:{port}'
  data_dir: {data_path}
  bin_dir: {bin}
  pgpass: {own_path}/pgpass
  basebackup: [{{checkpoint: fast}}, no-sync]
  authentication:
    superuser: {{username: postgres, password: none}}
    replication: {{username: postgres, password: none}}
  parameters: {{unix_socket_directories: '', fsync: 'off', full_page_writes: 'off', shared_buffers: 16MB, max_connections: 100}}
"
    );
    let path = own.join("patroni.yml");
    fs::write(&path, config).unwrap();
    give(&path);
    let mut patroni = command(modules().with_file_name("python3"));
    patroni
        .env("PYTHONPATH", modules())
        .args(["-m", "patroni"])
        .arg(&path);
    let patroni = Process::start(&mut patroni, own.join("log.txt")).listening(rest);
    Node {
        patroni,
        port,
        data,
    }
}
