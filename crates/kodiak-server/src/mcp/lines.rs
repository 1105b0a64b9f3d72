//! Serves one client over a pair of streams, one message a line.
//!
//! A line that is too long or not a message is answered with an error; only the first of
//! several in a row is logged, and the next line is read as usual. While too much work or
//! output is pending, no more lines are read, so a client that does not read is not heard.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};

use super::activity::Activity;
use super::call::{self, Call, Request, Sent, Unreadable};
use super::handler::{Context, Handler};
use super::hearing::Hearing;
use super::jsonrpc::{Id, RpcError, answer};
use super::revision::{Agreed, Rules};

/// The longest line that is read, in bytes: room for a page that is written.
const LONGEST: usize = 16 * 1024 * 1024;
/// The most requests that are worked on or whose answers wait to be written. While there
/// are as many, no more is read. It is twice the number of those that go on until their
/// client ends them.
const MOST_WORKING: u32 = 512;
/// The bytes of all requests that are worked on.
const ROOM: usize = 64 * 1024 * 1024;
/// The bytes that are counted as one.
const UNIT: usize = 1024;
/// The messages that wait to be written. The sender of another one waits.
const MOST_WAITING: usize = 16;
/// How long requests may take that are worked on when the client closes its stream.
const FINISH: Duration = Duration::from_secs(5);

/// What is read.
pub(super) type Input = Box<dyn AsyncRead + Send + Unpin>;
/// What is written to.
pub(super) type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// Serves a client until it closes its stream.
pub(super) async fn serve(handler: Handler, activity: Activity, input: Input, output: Output) {
    let (outlet, messages) = mpsc::channel(MOST_WAITING);
    let writing = tokio::spawn(write(output, messages, activity.clone()));
    let mut client = Client {
        agreed: Agreed::Nothing,
        hearing: Hearing::Only(Arc::default()),
        bounds: Bounds::default(),
        underway: Underway::default(),
        logged: String::new(),
        outlet,
        handler,
    };
    let mut input = BufReader::new(input);
    while let Some(line) = read(&mut input).await {
        activity.touch();
        client.hear(line).await;
    }
    let finish = async {
        client.finish().await;
        drop(client);
        let _ = writing.await;
    };
    let _ = tokio::time::timeout(FINISH, finish).await;
}

/// Writes messages, one a line. A client that is gone does not miss them.
async fn write(mut output: Output, mut messages: mpsc::Receiver<Value>, activity: Activity) {
    while let Some(message) = messages.recv().await {
        let mut line = message.to_string();
        line.push('\n');
        activity.touch();
        let written = output.write_all(line.as_bytes()).await;
        if written.is_err() || output.flush().await.is_err() {
            return;
        }
    }
}

/// Reads a line, which is `None` if it was too long. Returns `None` at the end.
async fn read(input: &mut BufReader<Input>) -> Option<Option<Vec<u8>>> {
    let mut line = Some(Vec::new());
    loop {
        let available = input.fill_buf().await.ok()?;
        if available.is_empty() {
            return None;
        }
        let end = available.iter().position(|&byte| byte == b'\n');
        let taken = end.map_or(available.len(), |end| end + 1);
        // The rest of a line that is too long is skipped.
        if let Some(line) = &mut line {
            line.extend_from_slice(&available[..taken]);
        }
        input.consume(taken);
        line = line.filter(|line| line.len() <= LONGEST);
        if end.is_some() {
            return Some(line);
        }
    }
}

/// Returns the message of a line, if it has one.
fn message(line: Option<&[u8]>) -> Result<Option<Sent>, Unreadable> {
    let Some(line) = line else {
        let message = format!("a message must not be longer than {LONGEST} bytes");
        return Err(RpcError::invalid_request(message).into());
    };
    let line = line.trim_ascii();
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    if line.is_empty() {
        return Ok(None);
    }
    call::read(line).map(Some)
}

/// A client on the other end.
struct Client {
    agreed: Agreed,
    hearing: Hearing,
    bounds: Bounds,
    underway: Underway,
    outlet: mpsc::Sender<Value>,
    handler: Handler,
    /// The last line of the log, which is not repeated.
    logged: String,
}

impl Client {
    /// Does what a line says.
    async fn hear(&mut self, line: Option<Vec<u8>>) {
        // The line is kept until there is a place for it.
        let length = line.as_ref().map_or(0, Vec::len);
        let Some(place) = self.bounds.place(length).await else {
            return;
        };
        match message(line.as_deref()) {
            Ok(Some(Sent::Request(request))) => self.begin(request, place).await,
            Ok(Some(Sent::Notification { method, params })) => {
                if method == "notifications/cancelled"
                    && let Some(id) = Id::read(&params["requestId"])
                {
                    self.underway.cancel(&id);
                }
            }
            Ok(Some(Sent::Response) | None) => {}
            Err(unreadable) => self.refuse(unreadable).await,
        }
    }

    /// Answers a line with an error.
    async fn refuse(&mut self, unreadable: Unreadable) {
        let message = format!("a message was refused: {}", unreadable.error.message);
        if self.logged != message {
            (self.handler.server().options().log)(&message);
            self.logged = message;
        }
        let _ = self.outlet.send(unreadable.message()).await;
    }

    /// Begins to work on a request.
    async fn begin(&mut self, request: Request, place: Place) {
        let id = request.id.clone();
        let rules = match Rules::of(&request.call, &request.meta, &self.agreed) {
            Ok(rules) => rules,
            Err(error) => {
                let _ = self.outlet.send(error.message(Some(&id))).await;
                return;
            }
        };
        self.agreed.advance(&request.call);
        let begins = matches!(request.call, Call::Initialize { .. });
        let (number, cancelled) = self.underway.add(&request);
        let (handler, underway) = (self.handler.clone(), self.underway.clone());
        let context = Context {
            caller: handler.server().caller(),
            rules,
            hearing: self.hearing.clone(),
            outlet: self.outlet.clone(),
            cancelled,
        };
        let working = tokio::spawn(async move {
            let answered = handler.answer(request, &context).await;
            // A request that was cancelled is not answered.
            if underway.remove(&id, number) {
                let _ = context.outlet.send(answer(&id, answered)).await;
            }
            drop(place);
        });
        // What follows is answered after the handshake.
        if begins {
            let _ = working.await;
        }
    }

    /// Waits until all requests are answered that have an end.
    async fn finish(&self) {
        self.underway.cancel_endless();
        let _ = self.bounds.working.acquire_many(MOST_WORKING).await;
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.underway.requests().clear();
    }
}

/// What a client may have under way. One that writes and never reads stops being heard,
/// and costs no more memory than this.
#[derive(Debug)]
struct Bounds {
    working: Arc<Semaphore>,
    room: Arc<Semaphore>,
}

/// The place of a request, until its answer was handed over to be written.
type Place = (OwnedSemaphorePermit, OwnedSemaphorePermit);

impl Default for Bounds {
    fn default() -> Self {
        Self {
            working: Arc::new(Semaphore::new(MOST_WORKING as usize)),
            room: Arc::new(Semaphore::new(ROOM / UNIT)),
        }
    }
}

impl Bounds {
    /// Takes a place for a request of this length, as soon as there is one.
    async fn place(&self, length: usize) -> Option<Place> {
        let units = u32::try_from(length.div_ceil(UNIT)).ok()?;
        let working = Arc::clone(&self.working).acquire_owned().await.ok()?;
        let room = Arc::clone(&self.room);
        Some((working, room.acquire_many_owned(units).await.ok()?))
    }
}

/// The requests that are worked on. Clones share them.
#[derive(Clone, Debug, Default)]
struct Underway(Arc<Mutex<HashMap<Id, Working>>>);

/// A request that is worked on. It is cancelled when this is dropped.
#[derive(Debug)]
struct Working {
    /// Tells it from another one of the same id.
    number: u64,
    goes_on: bool,
    _cancel: watch::Sender<()>,
}

impl Underway {
    fn requests(&self) -> MutexGuard<'_, HashMap<Id, Working>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a request, and returns its number and what ends when it is cancelled. One of
    /// the same id is cancelled: there can be only one answer.
    fn add(&self, request: &Request) -> (u64, watch::Receiver<()>) {
        let (cancel, cancelled) = watch::channel(());
        let mut requests = self.requests();
        let number = requests.get(&request.id).map_or(0, |one| one.number + 1);
        let working = Working {
            number,
            goes_on: request.call.goes_on(),
            _cancel: cancel,
        };
        requests.insert(request.id.clone(), working);
        (number, cancelled)
    }

    /// Removes a request, and reports whether it was there.
    fn remove(&self, id: &Id, number: u64) -> bool {
        let mut requests = self.requests();
        let found = requests.get(id).is_some_and(|one| one.number == number);
        found && requests.remove(id).is_some()
    }

    fn cancel(&self, id: &Id) {
        self.requests().remove(id);
    }

    /// Cancels the requests that have no end.
    fn cancel_endless(&self) {
        self.requests().retain(|_, one| !one.goes_on);
    }
}
