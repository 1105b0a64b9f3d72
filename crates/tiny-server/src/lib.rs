//! A small HTTP server for tests. It listens on this machine only, remembers what
//! it was asked, and answers as it is told: completely, in part, slowly, or not at
//! all. It can also be a proxy.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// A request, as it came.
#[derive(Clone, Debug)]
pub struct Request {
    /// `GET`, `POST` or `CONNECT`.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// Names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// What to do with a request.
#[derive(Clone, Debug)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    conduct: Conduct,
}

#[derive(Clone, Debug)]
enum Conduct {
    /// Send everything.
    Whole,
    /// Close the connection after so many bytes of the body.
    Cut(usize),
    /// Pause between pieces of so many bytes.
    Drip(usize, Duration),
    /// Keep the connection open and say nothing more after so many bytes.
    Stall(usize, Duration),
    /// Close the connection without an answer.
    Drop,
    /// Be a proxy to this address.
    Tunnel(SocketAddr),
}

/// A server. It stops when it is dropped.
pub struct Server {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Request>>>,
    stopping: Arc<AtomicBool>,
}

impl Request {
    /// Returns a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Returns the body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl Reply {
    /// Answers with a status and a body.
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: body.into(),
            conduct: Conduct::Whole,
        }
    }

    /// Closes the connection without an answer.
    pub fn drop_connection() -> Self {
        Self::new(200, "").conduct(Conduct::Drop)
    }

    /// Redirects to another address.
    pub fn redirect(to: &str) -> Self {
        Self::new(302, "").header("location", to)
    }

    /// Connects the client with another address, as a proxy does.
    pub fn tunnel(to: SocketAddr) -> Self {
        Self::new(200, "").conduct(Conduct::Tunnel(to))
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl fmt::Display) -> Self {
        self.headers.push((name.to_owned(), value.to_string()));
        self
    }

    /// Closes the connection after so many bytes of the body.
    #[must_use]
    pub fn cut_after(self, bytes: usize) -> Self {
        self.conduct(Conduct::Cut(bytes))
    }

    /// Sends the body in pieces, with a pause after each.
    #[must_use]
    pub fn drip(self, bytes: usize, pause: Duration) -> Self {
        self.conduct(Conduct::Drip(bytes, pause))
    }

    /// Sends so many bytes of the body and then nothing for this long.
    #[must_use]
    pub fn stall_after(self, bytes: usize, pause: Duration) -> Self {
        self.conduct(Conduct::Stall(bytes, pause))
    }

    /// Sends the part of the body that the request asks for, with a tag.
    #[must_use]
    pub fn in_part(mut self, request: &Request, tag: &str) -> Self {
        let total = self.body.len();
        let from = request.header("range").and_then(|range| {
            let from = range.strip_prefix("bytes=")?.strip_suffix('-')?;
            from.parse::<usize>().ok()
        });
        let same = request.header("if-range").is_none_or(|known| known == tag);
        if let Some(from) = from.filter(|_| same) {
            if from >= total {
                return Self::new(416, "").header("content-range", format!("bytes */{total}"));
            }
            self.status = 206;
            self.body.drain(..from);
            let range = format!("bytes {from}-{}/{total}", total - 1);
            self = self.header("content-range", range);
        }
        self.header("etag", tag)
    }

    fn conduct(mut self, conduct: Conduct) -> Self {
        self.conduct = conduct;
        self
    }
}

impl Server {
    /// Starts a server. `answer` is given each request and its number, counted from
    /// 0.
    ///
    /// # Panics
    /// If this machine has no free port.
    pub fn start(answer: impl Fn(&Request, usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let server = Self {
            address,
            seen: Arc::default(),
            stopping: Arc::default(),
        };
        let (seen, stopping) = (Arc::clone(&server.seen), Arc::clone(&server.stopping));
        let answer = Arc::new(answer);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if stopping.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                thread::spawn(move || serve(stream, &seen, &*answer));
            }
        });
        server
    }

    /// Returns the address to ask: `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the requests so far, in order.
    pub fn seen(&self) -> Vec<Request> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        // Wakes the listener, so that it stops.
        let _ = TcpStream::connect(self.address);
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Server({})", self.address)
    }
}

/// Serves one request. Whatever goes wrong is the client's business.
fn serve(
    mut stream: TcpStream,
    seen: &Mutex<Vec<Request>>,
    answer: &(dyn Fn(&Request, usize) -> Reply + Send + Sync),
) {
    let Ok(request) = read(&stream) else { return };
    let number = {
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.push(request.clone());
        seen.len() - 1
    };
    let reply = answer(&request, number);
    let _ = write(&mut stream, &reply);
    let _ = stream.shutdown(Shutdown::Both);
}

fn read(stream: &TcpStream) -> io::Result<Request> {
    let mut reader = BufReader::new(stream);
    let mut line = || -> io::Result<String> {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    };
    let first = line()?;
    let mut parts = first.split(' ');
    let mut part = || parts.next().unwrap_or_default().to_owned();
    let (method, path) = (part(), part());
    let mut headers = Vec::new();
    loop {
        let line = line()?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let mut request = Request {
        method,
        path,
        headers,
        body: Vec::new(),
    };
    let length = request.header("content-length");
    let length: u64 = length.and_then(|text| text.parse().ok()).unwrap_or(0);
    reader.take(length).read_to_end(&mut request.body)?;
    Ok(request)
}

fn write(stream: &mut TcpStream, reply: &Reply) -> io::Result<()> {
    if let Conduct::Tunnel(to) = reply.conduct {
        return tunnel(stream, to);
    }
    if matches!(reply.conduct, Conduct::Drop) {
        return Ok(());
    }
    let mut head = format!("HTTP/1.1 {} Reason\r\nconnection: close\r\n", reply.status);
    if !reply
        .headers
        .iter()
        .any(|(name, _)| name == "content-length")
    {
        head.push_str(&format!("content-length: {}\r\n", reply.body.len()));
    }
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    stream.write_all(format!("{head}\r\n").as_bytes())?;
    match reply.conduct {
        Conduct::Cut(bytes) => stream.write_all(&reply.body[..bytes.min(reply.body.len())]),
        Conduct::Stall(bytes, pause) => {
            stream.write_all(&reply.body[..bytes.min(reply.body.len())])?;
            stream.flush()?;
            thread::sleep(pause);
            Ok(())
        }
        Conduct::Drip(bytes, pause) => {
            for piece in reply.body.chunks(bytes.max(1)) {
                stream.write_all(piece)?;
                stream.flush()?;
                thread::sleep(pause);
            }
            Ok(())
        }
        _ => stream.write_all(&reply.body),
    }
}

/// Passes everything on in both directions.
fn tunnel(stream: &mut TcpStream, to: SocketAddr) -> io::Result<()> {
    let mut other = TcpStream::connect(to)?;
    stream.write_all(b"HTTP/1.1 200 Connected\r\n\r\n")?;
    let (mut from, mut back) = (stream.try_clone()?, other.try_clone()?);
    let forward = thread::spawn(move || {
        let _ = io::copy(&mut from, &mut back);
        let _ = back.shutdown(Shutdown::Write);
    });
    io::copy(&mut other, stream)?;
    let _ = stream.shutdown(Shutdown::Both);
    let _ = forward.join();
    Ok(())
}
