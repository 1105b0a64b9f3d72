//! Serves one client over standard input and output, and ends with it: when the
//! input ends, when the process that started the server is gone although another
//! one holds the pipe, and when nothing has happened for long.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

use super::activity::Activity;
use super::handler::Handler;
use super::lines::{self, Input, Output};
use crate::error::{Error, Result};
use crate::server::Server;

/// How often the server looks whether its parent is there.
const GLANCE: Duration = Duration::from_secs(1);
/// The most requests that are worked on at once.
const THREADS: usize = 16;

/// How long a server lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lifetime {
    /// How long it may be idle; without a limit if `None`.
    pub idle: Option<Duration>,
    /// Whether it ends with the process that started it.
    pub with_parent: bool,
}

/// Why a server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The client closed the input.
    Closed,
    /// The process that started the server is gone.
    Orphaned,
    /// Nothing has happened for long.
    Idle,
}

/// Serves a client over standard input and output until it ends.
pub fn serve_stdio(server: &Server, lifetime: Lifetime) -> Result<Ended> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(THREADS)
        .enable_all()
        .build()
        .map_err(Error::Start)?;
    let ended = runtime.block_on(async {
        let (input, output) = pipes()
            .unwrap_or_else(|| (Box::new(tokio::io::stdin()), Box::new(tokio::io::stdout())));
        serve(server, input, output, lifetime).await
    });
    // A read of standard input cannot be ended.
    runtime.shutdown_background();
    Ok(ended)
}

/// Returns standard input and output as pipes that need no thread to wait for them. They
/// are reopened, so that other processes that have them do not find them changed.
#[cfg(target_os = "linux")]
fn pipes() -> Option<(Input, Output)> {
    let options = tokio::net::unix::pipe::OpenOptions::new();
    let input = options.open_receiver("/proc/self/fd/0").ok()?;
    let output = options.open_sender("/proc/self/fd/1").ok()?;
    Some((Box::new(input), Box::new(output)))
}

/// Returns nothing: pipes cannot be reopened here.
#[cfg(not(target_os = "linux"))]
fn pipes() -> Option<(Input, Output)> {
    None
}

/// Serves a client over a pair of streams until it ends.
pub async fn serve_streams<R, W>(server: &Server, input: R, output: W, lifetime: Lifetime) -> Ended
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    serve(server, Box::new(input), Box::new(output), lifetime).await
}

async fn serve(server: &Server, input: Input, output: Output, lifetime: Lifetime) -> Ended {
    let activity = Activity::default();
    let handler = Handler::new(server.clone(), activity.clone());
    tokio::select! {
        () = lines::serve(handler, activity.clone(), input, output) => Ended::Closed,
        ended = end(&activity, lifetime) => ended,
    }
}

/// Waits until a server has to end by itself.
async fn end(activity: &Activity, lifetime: Lifetime) -> Ended {
    let parent = parent();
    let glance = lifetime.idle.map_or(GLANCE, |idle| idle.min(GLANCE));
    loop {
        tokio::time::sleep(glance.max(Duration::from_millis(10))).await;
        if lifetime.with_parent && parent != self::parent() {
            return Ended::Orphaned;
        }
        if lifetime.idle.is_some_and(|idle| activity.idle() >= idle) {
            return Ended::Idle;
        }
    }
}

/// Returns the number of the process that started this one, or of the one that
/// took its place.
#[cfg(unix)]
fn parent() -> Option<u32> {
    let parent = rustix::process::getppid()?;
    u32::try_from(parent.as_raw_nonzero().get()).ok()
}

/// Returns nothing: a process does not learn here that its parent is gone.
#[cfg(not(unix))]
fn parent() -> Option<u32> {
    None
}
