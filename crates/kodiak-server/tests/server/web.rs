//! A server over HTTP, and browsers that sign in to it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use kodiak_server::Server;
use kodiak_server::http::{HttpOptions, Limits, SignIn, listen};
use kodiak_server::token::{Grant, TokenFile, Tokens};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::desk::Desk;

/// What a test waits for at most, on a slow machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// A server over HTTP, until this is dropped.
pub(crate) struct Web {
    pub(crate) address: SocketAddr,
    pub(crate) sign_in: SignIn,
    end: Option<oneshot::Sender<()>>,
    serving: Option<std::thread::JoinHandle<()>>,
}

/// What a browser keeps of a session.
#[derive(Clone, Debug)]
pub(crate) struct Browser {
    pub(crate) cookie: String,
    pub(crate) secret: String,
}

/// A response.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// The status and the headers, in lower case.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The code of a refusal.
    pub(crate) fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap().to_owned()
    }

    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

/// Returns a file of tokens, as servers of this desk have it.
pub(crate) fn tokens(desk: &Desk) -> TokenFile {
    TokenFile::new(desk.path("tokens.json"))
}

/// Makes a token.
pub(crate) fn token(desk: &Desk, name: &str, grant: Grant) -> String {
    let now = kodiak::date::now();
    tokens(desk).create(name, grant, now, None, "test").unwrap()
}

impl Web {
    pub(crate) fn start(desk: &Desk, server: &Server) -> Self {
        Self::limited(desk, server, Limits::default())
    }

    pub(crate) fn limited(desk: &Desk, server: &Server, limits: Limits) -> Self {
        Self::having(Arc::new(tokens(desk)), server, limits)
    }

    /// Starts a server that has these tokens.
    pub(crate) fn having(tokens: Arc<dyn Tokens>, server: &Server, limits: Limits) -> Self {
        Self::with(
            server,
            HttpOptions {
                address: "127.0.0.1:0".parse().unwrap(),
                tokens: Some(tokens),
                hosts: Vec::new(),
                origins: vec!["http://app.example".to_owned()],
                limits,
            },
        )
    }

    pub(crate) fn with(server: &Server, options: HttpOptions) -> Self {
        let listening = listen(server, options).unwrap();
        let (address, sign_in) = (listening.address(), listening.sign_in());
        let (end, told) = oneshot::channel();
        let serving = std::thread::spawn(move || {
            let told = async {
                let _ = told.await;
            };
            listening.serve_until(told).unwrap();
        });
        Self {
            address,
            sign_in,
            end: Some(end),
            serving: Some(serving),
        }
    }

    /// Sends a request.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Reply {
        let mut request = format!("{method} {path} HTTP/1.1\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            request.push_str(&format!("Host: {}\r\n", self.address));
        }
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str(&format!(
            "Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ));
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let _ = stream.write_all(request.as_bytes());
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.expect("a response with a head");
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        Reply {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            head,
            body: bytes[end + 4..].to_vec(),
        }
    }

    /// Sends a JSON body.
    pub(crate) fn post(&self, path: &str, headers: &[(&str, &str)], body: &Value) -> Reply {
        let mut headers = headers.to_vec();
        headers.push(("Content-Type", "application/json"));
        self.send("POST", path, &headers, &body.to_string())
    }

    /// Signs in, as a page does.
    pub(crate) fn signed_in(&self, credentials: &Value) -> Browser {
        let reply = self.post("/session", &[], credentials);
        assert_eq!(reply.status, 200, "{reply:?}");
        let cookie = reply.header("set-cookie").unwrap();
        Browser {
            cookie: cookie.split(';').next().unwrap().to_owned(),
            secret: reply.json()["secret"].as_str().unwrap().to_owned(),
        }
    }

    /// Returns the browser of the owner.
    pub(crate) fn owner(&self) -> Browser {
        self.signed_in(&json!({"code": self.sign_in.code().unwrap()}))
    }

    /// Sends a request of a page that has signed in.
    pub(crate) fn ask(
        &self,
        browser: &Browser,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Reply {
        let origin = format!("http://{}", self.address);
        let mut headers = vec![
            ("Cookie", browser.cookie.as_str()),
            ("Kodiak-Secret", browser.secret.as_str()),
            ("Origin", origin.as_str()),
        ];
        match body {
            None => self.send(method, path, &headers, ""),
            Some(body) => {
                headers.push(("Content-Type", "application/json"));
                self.send(method, path, &headers, &body.to_string())
            }
        }
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(serving) = self.serving.take() {
            let _ = serving.join();
        }
    }
}
