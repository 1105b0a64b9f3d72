//! Moves messages over a pair of streams, one a line.
//!
//! A line that is too long or not a message is answered with an error and logged
//! once in a row; the next line is read as if nothing had happened. Before a
//! client has begun, what needs no answer is ignored. While too much is worked on or
//! waits to be written, nothing more is read: a client that does not read is not heard.

use std::io;
use std::sync::Arc;

use rmcp::model::{ClientRequest, ErrorData, GetExtensions, GetMeta, JsonRpcMessage};
use rmcp::service::{RoleServer, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};

use super::activity::Activity;
use super::message::{self, Message, Unreadable};
use crate::options::Log;

/// The longest line that is read, in bytes: room for a page that is written.
const LONGEST: usize = 16 * 1024 * 1024;
/// The most requests that are worked on or wait for that. While there are as many, no
/// more is read. It is twice the number of those that go on until their client ends them.
const MOST_WORKING: usize = 512;
/// The most answers that wait to be written. While there are as many, no more is read.
const MOST_WAITING: usize = 256;
/// The bytes of all requests that are worked on.
const ROOM: usize = 64 * 1024 * 1024;
/// The bytes that are counted as one.
const UNIT: usize = 1024;

/// Messages over a pair of streams.
pub(super) struct Lines<R, W> {
    input: BufReader<R>,
    output: Arc<Mutex<Option<W>>>,
    /// The line as far as it is read. It survives a read that is dropped.
    line: Vec<u8>,
    /// Whether the line has ended, and is not one that was too long.
    ended: Option<bool>,
    /// Whether the rest of a line that is too long is skipped.
    skipping: bool,
    /// Whether a client has begun.
    begun: bool,
    bounds: Bounds,
    activity: Activity,
    log: Log,
    logged: String,
}

/// What a client may have under way. One that writes and never reads stops being heard,
/// and costs no more memory than this.
#[derive(Clone, Debug)]
struct Bounds {
    working: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    room: Arc<Semaphore>,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            working: Arc::new(Semaphore::new(MOST_WORKING)),
            waiting: Arc::new(Semaphore::new(MOST_WAITING)),
            room: Arc::new(Semaphore::new(ROOM / UNIT)),
        }
    }
}

impl Bounds {
    /// Waits until another line may be read.
    async fn wait(&self) {
        // Never closed.
        let _ = self.waiting.acquire().await;
        let _ = self.working.acquire().await;
    }

    /// Takes a place for a request of this length.
    async fn place(&self, length: usize) -> Option<Place> {
        let units = u32::try_from(length.div_ceil(UNIT)).ok()?;
        let working = Arc::clone(&self.working).acquire_owned().await.ok()?;
        let room = Arc::clone(&self.room);
        let room = room.acquire_many_owned(units).await.ok()?;
        Some(Place {
            _held: Arc::new((working, room)),
        })
    }

    /// Takes a place for an answer. It is sent in any case: what is worked on is bounded.
    fn answer(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.waiting).try_acquire_owned().ok()
    }
}

/// The place of a request, until it is answered.
#[derive(Clone, Debug)]
struct Place {
    _held: Arc<(OwnedSemaphorePermit, OwnedSemaphorePermit)>,
}

impl<R, W> Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(super) fn new(input: R, output: W, activity: Activity, log: Log) -> Self {
        Self {
            input: BufReader::new(input),
            output: Arc::new(Mutex::new(Some(output))),
            line: Vec::new(),
            ended: None,
            skipping: false,
            begun: false,
            bounds: Bounds::default(),
            activity,
            log,
            logged: String::new(),
        }
    }

    /// Reads a line into `line`. Returns false if it was too long, and `None` at
    /// the end.
    async fn read(&mut self) -> Option<bool> {
        if let Some(whole) = self.ended {
            return Some(whole);
        }
        loop {
            let available = self.input.fill_buf().await.ok()?;
            if available.is_empty() {
                return None;
            }
            let end = available.iter().position(|&byte| byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            if !self.skipping {
                self.line.extend_from_slice(&available[..taken]);
            }
            self.input.consume(taken);
            let too_long = self.line.len() > LONGEST;
            if too_long {
                self.line = Vec::new();
                self.skipping = true;
            }
            if end.is_some() {
                let whole = !self.skipping;
                self.skipping = false;
                self.ended = Some(whole);
                return Some(whole);
            }
        }
    }

    /// Returns the message of the line that was read, or the error that answers it. A
    /// line that needs no answer has neither.
    fn message(&mut self) -> Result<Option<Message>, Unreadable> {
        let whole = self.ended.take();
        let line = std::mem::take(&mut self.line);
        if whole == Some(false) {
            let message = format!("a message must not be longer than {LONGEST} bytes");
            return Err(ErrorData::invalid_request(message, None).into());
        }
        let line = line.trim_ascii();
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        if line.is_empty() {
            return Ok(None);
        }
        let message = message::read(line)?;
        if !self.begun {
            match &message {
                JsonRpcMessage::Request(request) => self.begun = begins(&request.request),
                // What comes before the beginning would end the server.
                _ => return Ok(None),
            }
        }
        Ok(Some(message))
    }

    /// Answers a line with an error. The answer is written beside the reading, which may
    /// be dropped at any time.
    fn refuse(&mut self, unreadable: Unreadable) {
        let Unreadable { error, id } = unreadable;
        let message = format!("a message was refused: {}", error.message);
        if self.logged != message {
            (self.log)(&message);
            self.logged = message;
        }
        let refusal = TxJsonRpcMessage::<RoleServer>::error(error, id);
        let (output, place) = (Arc::clone(&self.output), self.bounds.answer());
        tokio::spawn(async move {
            // A client that is gone does not miss it.
            let _ = write(&output, &refusal).await;
            drop(place);
        });
    }
}

/// Reports whether a client begins with this request. Asking what a server is like
/// and whether it is there is no beginning.
fn begins(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        request => request.get_meta().protocol_version().is_some(),
    }
}

async fn write<W: AsyncWrite + Unpin>(
    output: &Mutex<Option<W>>,
    message: &TxJsonRpcMessage<RoleServer>,
) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    match &mut *output.lock().await {
        Some(output) => {
            output.write_all(&line).await?;
            output.flush().await
        }
        None => Err(io::ErrorKind::NotConnected.into()),
    }
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (output, place) = (Arc::clone(&self.output), self.bounds.answer());
        self.activity.touch();
        async move {
            let written = write(&output, &message).await;
            drop(place);
            written
        }
    }

    async fn receive(&mut self) -> Option<Message> {
        loop {
            // Answers that are ready are taken first, so that they are counted.
            tokio::task::yield_now().await;
            self.bounds.wait().await;
            self.read().await?;
            self.activity.touch();
            // The line is kept until there is a place for it.
            let place = self.bounds.place(self.line.len()).await?;
            match self.message() {
                Ok(Some(mut message)) => {
                    if let JsonRpcMessage::Request(request) = &mut message {
                        request.request.extensions_mut().insert(place);
                    }
                    return Some(message);
                }
                Ok(None) => {}
                Err(unreadable) => self.refuse(unreadable),
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.lock().await.take();
        Ok(())
    }
}
