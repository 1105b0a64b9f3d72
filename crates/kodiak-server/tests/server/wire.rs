//! A client that writes and reads lines, so that tests see what is on the wire.

use std::time::Duration;

use kodiak_server::Server;
use kodiak_server::mcp::{Ended, Lifetime, serve_streams};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::task::JoinHandle;

/// What a test waits for at most, on a slow machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// A client on the other end of a pair of streams.
pub(crate) struct Wire {
    input: Lines<BufReader<ReadHalf<DuplexStream>>>,
    output: WriteHalf<DuplexStream>,
    serving: JoinHandle<Ended>,
    next: u64,
}

impl Wire {
    /// Starts to serve and connects.
    pub(crate) fn new(server: &Server) -> Self {
        Self::lasting(server, Lifetime::default())
    }

    pub(crate) fn lasting(server: &Server, lifetime: Lifetime) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let server = server.clone();
        let serving = tokio::spawn(async move {
            let (input, output) = tokio::io::split(theirs);
            serve_streams(&server, input, output, lifetime).await
        });
        let (input, output) = tokio::io::split(ours);
        Self {
            input: BufReader::new(input).lines(),
            output,
            serving,
            next: 0,
        }
    }

    /// Sends a line as it is.
    pub(crate) async fn send(&mut self, line: &[u8]) {
        self.output.write_all(line).await.unwrap();
        self.output.write_all(b"\n").await.unwrap();
    }

    /// Receives the next message.
    pub(crate) async fn receive(&mut self) -> Value {
        let line = tokio::time::timeout(PATIENCE, self.input.next_line()).await;
        let line = line
            .expect("an answer in time")
            .unwrap()
            .expect("an answer");
        serde_json::from_str(&line).unwrap()
    }

    /// Sends a request and returns its number.
    pub(crate) async fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let request =
            json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        self.send(request.to_string().as_bytes()).await;
        self.next
    }

    /// Sends a request and returns the message that answers it.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        loop {
            let message = self.receive().await;
            if message["id"] == id {
                return message;
            }
        }
    }

    /// Sends a notification.
    pub(crate) async fn tell(&mut self, method: &str, params: Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.send(message.to_string().as_bytes()).await;
    }

    /// Begins as clients of the earlier era do.
    pub(crate) async fn initialize(&mut self) -> Value {
        let answer = self
            .ask(
                "initialize",
                json!({
                    "protocolVersion": "2025-11-25",
                    "capabilities": {},
                    "clientInfo": {"name": "test", "version": "1"},
                }),
            )
            .await;
        self.tell("notifications/initialized", json!({})).await;
        answer
    }

    /// Calls a tool and returns the result.
    pub(crate) async fn call(&mut self, name: &str, arguments: Value) -> Value {
        let params = json!({"name": name, "arguments": arguments});
        self.ask("tools/call", params).await["result"].clone()
    }

    /// Closes the streams and waits until the server has ended.
    pub(crate) async fn close(self) -> Ended {
        let Self {
            input,
            output,
            serving,
            ..
        } = self;
        drop((input, output));
        Self::ended(serving).await
    }

    /// Waits until the server has ended by itself.
    pub(crate) async fn end(self) -> Ended {
        Self::ended(self.serving).await
    }

    async fn ended(serving: JoinHandle<Ended>) -> Ended {
        let ended = tokio::time::timeout(PATIENCE, serving).await;
        ended.expect("the server ends").unwrap()
    }
}

/// The metadata that requests of the present era carry.
pub(crate) fn modern(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    params
}
