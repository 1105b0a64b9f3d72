//! Connections to a server, and statements sent together.
//!
//! The client runs on a runtime of its own. A statement is sent when its future is first
//! polled, and its answer arrives over a channel, so that any thread can wait for it, whether
//! it belongs to a runtime or not.

use std::fmt;
use std::future::{Future, poll_fn};
use std::path::Path;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::task::AbortHandle;
use tokio_postgres::config::{Host, LoadBalanceHosts};
use tokio_postgres::error::SqlState;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, NoTls, Row, Socket};

use crate::address::{Address, Protection};
use crate::error::{convert, refused};
use crate::pool::Permit;
use crate::value::Query;
use crate::wait::{GivenUp, wait};
use kodiak_base::cancel::Interrupt;
use kodiak_base::error::{Cause, Error, Result};

/// The oldest server that is used.
const OLDEST: u32 = 14;

/// How long one host has to let a connection begin, with TLS and all.
const BEGINNING: Duration = Duration::from_secs(10);

/// How long the answers to what is sent together may take, unless it is said otherwise. A
/// read has a limit on the server that is a little shorter.
pub(crate) const PATIENCE: Duration = Duration::from_secs(35);

/// How long work may take that has its own limits on the server.
pub(crate) const LONG: Duration = Duration::from_mins(35);

/// A connection to a server.
pub(crate) struct Connection {
    client: Arc<Client>,
    place: Arc<Path>,
    protection: Protection,
    address: Arc<Address>,
    /// Whether it must not be used again. What interrupts it may come late.
    spent: Arc<AtomicBool>,
    /// How long answers may take, in milliseconds.
    patience: AtomicU64,
    /// Ends the connection without a word.
    abort: AbortHandle,
    _permit: Permit,
}

/// What a connection begins with: the client, the version of the server, and what ends it.
type Begun = (Client, Option<String>, AbortHandle);

/// Connects to a host.
async fn begin<T>(config: &Config, tls: T) -> std::result::Result<Begun, tokio_postgres::Error>
where
    T: MakeTlsConnect<Socket>,
    T::Stream: Send + 'static,
{
    let (client, connection) = config.connect(tls).await?;
    let version = connection.parameter("server_version").map(str::to_owned);
    let task = tokio::spawn(connection);
    Ok((client, version, task.abort_handle()))
}

/// Returns an address for each host, so that one which says nothing does not keep the others
/// from being asked.
fn hosts(config: &Config) -> Vec<Config> {
    let hosts = config.get_hosts();
    if hosts.len() < 2 || config.get_load_balance_hosts() != LoadBalanceHosts::Disable {
        return vec![config.clone()];
    }
    let of_host = |at: usize| {
        let mut one = Config::new();
        match &hosts[at] {
            Host::Tcp(name) => one.host(name),
            #[cfg(unix)]
            Host::Unix(path) => one.host_path(path),
        };
        if let Some(number) = config.get_hostaddrs().get(at) {
            one.hostaddr(*number);
        }
        let ports = config.get_ports();
        if let Some(port) = ports.get(at).or_else(|| ports.first()) {
            one.port(*port);
        }
        if let Some(user) = config.get_user() {
            one.user(user);
        }
        if let Some(password) = config.get_password() {
            one.password(password);
        }
        if let Some(database) = config.get_dbname() {
            one.dbname(database);
        }
        if let Some(options) = config.get_options() {
            one.options(options);
        }
        if let Some(name) = config.get_application_name() {
            one.application_name(name);
        }
        if let Some(time) = config.get_connect_timeout() {
            one.connect_timeout(*time);
        }
        if let Some(time) = config.get_tcp_user_timeout() {
            one.tcp_user_timeout(*time);
        }
        if let Some(time) = config.get_keepalives_interval() {
            one.keepalives_interval(time);
        }
        if let Some(retries) = config.get_keepalives_retries() {
            one.keepalives_retries(retries);
        }
        one.keepalives(config.get_keepalives())
            .keepalives_idle(config.get_keepalives_idle())
            .ssl_mode(config.get_ssl_mode())
            .ssl_negotiation(config.get_ssl_negotiation())
            .channel_binding(config.get_channel_binding())
            .target_session_attrs(config.get_target_session_attrs());
        one
    };
    (0..hosts.len()).map(of_host).collect()
}

impl Connection {
    /// Opens a connection to the first host that lets it begin.
    pub(crate) fn open(address: &Arc<Address>, permit: Permit) -> Result<Self> {
        let place: Arc<Path> = address.shown().into();
        let runtime = runtime(&place)?;
        let tls = match &address.protection {
            Protection::None => None,
            Protection::Verified(authority) => Some(address.tls(authority.as_deref())?),
        };
        let mut outcome = None;
        for config in hosts(&address.config) {
            let tls = tls.clone();
            let opened = runtime.spawn(async move {
                let begun = async {
                    match tls {
                        None => begin(&config, NoTls).await,
                        Some(tls) => begin(&config, tls).await,
                    }
                };
                tokio::time::timeout(BEGINNING, begun).await
            });
            let abort = opened.abort_handle();
            outcome = Some(match wait(opened, 2 * BEGINNING) {
                Ok(Ok(Ok(Ok(begun)))) => Ok(begun),
                Ok(Ok(Ok(Err(error)))) => Err(convert(&place, &error)),
                Ok(Ok(Err(_))) | Err(GivenUp::TooLong) => {
                    let detail = "the server accepts connections and says nothing; \
                                  check that it runs";
                    Err(refused(&place, Cause::Unreachable, detail))
                }
                Ok(Err(error)) => Err(refused(&place, Cause::Unreachable, error.to_string())),
                Err(GivenUp::Interrupted) => {
                    abort.abort();
                    return Err(interrupted(&place));
                }
            });
            if matches!(outcome, Some(Ok(_))) {
                break;
            }
        }
        let none = || {
            Err(refused(
                &place,
                Cause::Unreachable,
                "the address has no host",
            ))
        };
        let (client, version, abort) = outcome.unwrap_or_else(none)?;
        let version = version.unwrap_or_default();
        let digits = version.split(|c: char| !c.is_ascii_digit()).next();
        let major: u32 = digits.and_then(|one| one.parse().ok()).unwrap_or(0);
        if major < OLDEST {
            let detail = format!(
                "the server is PostgreSQL {version}; use PostgreSQL {OLDEST} or a later one"
            );
            return Err(refused(&place, Cause::Unreachable, detail));
        }
        Ok(Self {
            client: Arc::new(client),
            place,
            protection: address.protection.clone(),
            address: Arc::clone(address),
            spent: Arc::default(),
            patience: AtomicU64::new(millis(PATIENCE)),
            abort,
            _permit: permit,
        })
    }

    /// Sets how long answers may take.
    pub(crate) fn set_patience(&self, patience: Duration) {
        self.patience.store(millis(patience), Ordering::Relaxed);
    }

    /// Sends statements together and waits for all answers. `before` and `after` are
    /// statements without values or answers. The first that fails ends the rest.
    pub(crate) fn send(
        &self,
        before: Option<&str>,
        queries: &[Query],
        after: Option<&str>,
    ) -> Result<Vec<Vec<Row>>> {
        let client = &*self.client;
        let values: Vec<_> = queries.iter().map(Query::typed).collect();
        let plain = |sql: &'_ str| -> Sent<'_> {
            let sql = sql.to_owned();
            Box::pin(async move { client.batch_execute(&sql).await.map(|()| Vec::new()) })
        };
        let mut sent: Vec<Sent<'_>> = Vec::with_capacity(queries.len() + 2);
        sent.extend(before.map(plain));
        for (query, values) in queries.iter().zip(&values) {
            sent.push(Box::pin(client.query_typed(&query.sql, values)));
        }
        sent.extend(after.map(plain));
        let patience = Duration::from_millis(self.patience.load(Ordering::Relaxed));
        let answers = wait(in_order(sent), patience).map_err(|why| self.give_up(why))?;
        let answers: std::result::Result<Vec<_>, _> = answers.into_iter().collect();
        let mut answers = answers.map_err(|error| {
            // Another server takes writes by now.
            if error.code() == Some(&SqlState::READ_ONLY_SQL_TRANSACTION) {
                self.spent.store(true, Ordering::SeqCst);
            }
            convert(&self.place, &error)
        })?;
        if before.is_some() {
            answers.remove(0);
        }
        answers.truncate(queries.len());
        Ok(answers)
    }

    /// Sends a statement whose outcome nothing depends on, without waiting.
    pub(crate) fn send_away(&self, sql: &'static str) {
        let client = Arc::clone(&self.client);
        let mut sent = Box::pin(async move { client.batch_execute(sql).await });
        let mut context = Context::from_waker(Waker::noop());
        // The first poll sends it. The answer is read and dropped by the connection.
        let _ = sent.as_mut().poll(&mut context);
    }

    /// Reports whether it must not be used again.
    pub(crate) fn is_closed(&self) -> bool {
        self.client.is_closed() || self.spent.load(Ordering::SeqCst)
    }

    /// Ends the connection, whose server does not answer.
    fn give_up(&self, why: GivenUp) -> Error {
        self.spent.store(true, Ordering::SeqCst);
        self.abort.abort();
        match why {
            GivenUp::Interrupted => interrupted(&self.place),
            GivenUp::TooLong => {
                let detail = "the server does not answer; check that it runs, and repeat";
                refused(&self.place, Cause::Unreachable, detail)
            }
        }
    }

    /// Returns what interrupts the statement that runs. The connection is not used again: the
    /// server may hear of it once it does something else.
    pub(crate) fn interrupt(&self) -> Interrupt {
        let token = self.client.cancel_token();
        let (address, protection) = (Arc::clone(&self.address), self.protection.clone());
        let spent = Arc::clone(&self.spent);
        Box::new(move || {
            spent.store(true, Ordering::SeqCst);
            let (token, place) = (token.clone(), address.shown());
            let Ok(runtime) = runtime(place) else {
                return;
            };
            match &protection {
                Protection::None => {
                    runtime.spawn(async move {
                        tokio::time::timeout(BEGINNING, token.cancel_query(NoTls)).await
                    });
                }
                Protection::Verified(authority) => {
                    if let Ok(tls) = address.tls(authority.as_deref()) {
                        runtime.spawn(async move {
                            tokio::time::timeout(BEGINNING, token.cancel_query(tls)).await
                        });
                    }
                }
            }
        })
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the error for what another thread has ended.
pub(crate) fn interrupted(place: &Path) -> Error {
    refused(place, Cause::Busy, "it was interrupted; repeat it")
}

impl fmt::Debug for Connection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Connection")
    }
}

/// A statement that was sent, or will be at the first poll.
type Sent<'a> =
    Pin<Box<dyn Future<Output = std::result::Result<Vec<Row>, tokio_postgres::Error>> + Send + 'a>>;

/// Polls all futures in order until each has ended, so that they are sent in order and
/// none waits for the answer of another. Returns their outcomes.
async fn in_order<T>(mut futures: Vec<Pin<Box<dyn Future<Output = T> + Send + '_>>>) -> Vec<T> {
    let mut ended: Vec<Option<T>> = futures.iter().map(|_| None).collect();
    poll_fn(|context| {
        let mut pending = false;
        for (future, ended) in futures.iter_mut().zip(&mut ended) {
            if ended.is_none() {
                match future.as_mut().poll(context) {
                    Poll::Ready(outcome) => *ended = Some(outcome),
                    Poll::Pending => pending = true,
                }
            }
        }
        if pending {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    })
    .await;
    ended.into_iter().flatten().collect()
}

/// The number of threads that read what servers send, and decrypt it.
const THREADS: usize = 2;

/// Returns the runtime of all connections.
fn runtime(place: &Path) -> Result<&'static Runtime> {
    static RUNTIME: OnceLock<std::result::Result<Runtime, String>> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("kodiak-postgres")
            .enable_all()
            .build()
            .map_err(|error| error.to_string())
    });
    runtime
        .as_ref()
        .map_err(|detail| refused(place, Cause::Unreachable, detail.clone()))
}

/// Reports whether an error says that a connection was lost, or leads to a server that does
/// not take writes.
pub(crate) fn is_lost(error: &Error) -> bool {
    matches!(
        error,
        Error::Database {
            cause: Cause::Unreachable,
            ..
        }
    )
}
