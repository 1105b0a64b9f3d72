//! Moves messages over a pair of streams, one a line.
//!
//! A line that is too long or not a message is answered with an error and logged
//! once in a row; the next line is read as if nothing had happened. Before a
//! client has begun, what needs no answer is ignored.

use std::io;
use std::sync::Arc;

use rmcp::model::{ClientRequest, ErrorData, GetMeta, JsonRpcMessage};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;

use super::activity::Activity;
use crate::options::Log;

/// The longest line that is read, in bytes: room for a page that is written.
const LONGEST: usize = 16 * 1024 * 1024;

/// Messages over a pair of streams.
pub(super) struct Lines<R, W> {
    input: BufReader<R>,
    output: Arc<Mutex<Option<W>>>,
    /// The line as far as it is read. It survives a read that is dropped.
    line: Vec<u8>,
    /// Whether the rest of a line that is too long is skipped.
    skipping: bool,
    /// Whether a client has begun.
    begun: bool,
    activity: Activity,
    log: Log,
    logged: String,
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
            skipping: false,
            begun: false,
            activity,
            log,
            logged: String::new(),
        }
    }

    /// Reads a line into `line`. Returns false if it was too long, and `None` at
    /// the end.
    async fn read(&mut self) -> Option<bool> {
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
                return Some(whole);
            }
        }
    }

    /// Returns the message of a line, or the error that answers it. A line that
    /// needs no answer has neither.
    fn message(&mut self) -> Result<Option<RxJsonRpcMessage<RoleServer>>, ErrorData> {
        let line = std::mem::take(&mut self.line);
        let line = line.trim_ascii();
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        if line.is_empty() {
            return Ok(None);
        }
        let message = match serde_json::from_slice(line) {
            Ok(message) => message,
            Err(error) if error.is_data() => {
                return Err(ErrorData::invalid_request(
                    "this is not a message of the protocol",
                    None,
                ));
            }
            Err(_) => return Err(ErrorData::parse_error("this is not JSON", None)),
        };
        if !self.begun {
            match &message {
                JsonRpcMessage::Request(request) => self.begun = begins(&request.request),
                // What comes before the beginning would end the server.
                _ => return Ok(None),
            }
        }
        Ok(Some(message))
    }

    async fn refuse(&mut self, error: ErrorData) -> io::Result<()> {
        let message = format!("a message was refused: {}", error.message);
        if self.logged != message {
            (self.log)(&message);
            self.logged = message;
        }
        let refusal = TxJsonRpcMessage::<RoleServer>::error(error, None);
        write(&self.output, &refusal).await
    }
}

/// Tells whether a client begins with this request. Asking what a server is like
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
        let output = Arc::clone(&self.output);
        self.activity.touch();
        async move { write(&output, &message).await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let whole = self.read().await?;
            self.activity.touch();
            let read = if whole {
                self.message()
            } else {
                let message = format!("a message must not be longer than {LONGEST} bytes");
                Err(ErrorData::invalid_request(message, None))
            };
            match read {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(error) => self.refuse(error).await.ok()?,
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.lock().await.take();
        Ok(())
    }
}
