//! Requests over HTTP: to a model hub, or to a provider of embeddings.
//!
//! Owns the rules for every request. Offline, no socket is opened. A secret goes to the
//! host it is for and to no other, and never in the clear beyond this machine. Proxies are
//! those that the caller names; requests to this machine use none. Redirects are followed
//! only on request. Interpreting an answer and trying again are left to the caller.

mod address;
mod proxy;
mod secret;

use std::fmt;
use std::io::{self, Read};
use std::time::Duration;

use ureq::config::Config;
use ureq::http::{HeaderMap, Response as HttpResponse};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body};

pub use address::Address;
pub use proxy::Proxies;
pub use secret::Secret;

/// The number of redirects that are followed.
const MAX_REDIRECTS: usize = 8;
/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(10);
/// The name under which requests are made.
const USER_AGENT: &str = concat!("kodiak/", env!("CARGO_PKG_VERSION"));

/// How requests leave this machine.
#[derive(Clone, Debug, Default)]
pub struct Network {
    /// Whether no request may be made at all.
    pub offline: bool,
    /// The proxies to use.
    pub proxies: Proxies,
}

/// Why there is no answer to a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// Requests are forbidden.
    #[error("Kodiak is offline")]
    Offline,
    /// The address is not one of HTTP.
    #[error("'{0}' is not an address: write it as https://host/path")]
    Address(String),
    /// A secret would be sent in the clear.
    #[error("a key is not sent to {host} without encryption: use https")]
    Insecure {
        /// The host that it would be sent to.
        host: String,
    },
    /// There is no connection.
    #[error("could not connect to {host}: {detail}")]
    Connect {
        /// The host.
        host: String,
        /// What went wrong.
        detail: String,
    },
    /// It took too long.
    #[error("{host} took too long to answer")]
    Timeout {
        /// The host.
        host: String,
    },
    /// The connection broke, or the answer was not HTTP.
    #[error("the connection to {host} broke: {detail}")]
    Broken {
        /// The host.
        host: String,
        /// What went wrong.
        detail: String,
    },
    /// The redirects lead nowhere, or must not be followed.
    #[error("{host} redirects to {to}, which is not followed")]
    Redirect {
        /// The host.
        host: String,
        /// Where it redirects to.
        to: String,
    },
}

/// A secret that goes with a request.
#[derive(Clone, Debug)]
pub(crate) struct Credential {
    /// The name of the header.
    pub(crate) header: &'static str,
    /// The text before the secret in the header.
    pub(crate) scheme: &'static str,
    pub(crate) secret: Secret,
    /// Whether the request makes no sense without it. Otherwise it is left out
    /// where it must not be sent.
    pub(crate) required: bool,
}

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Request<'a> {
    pub(crate) address: Address,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) credential: Option<&'a Credential>,
    /// The body of a POST; without one, the request is a GET.
    pub(crate) body: Option<&'a [u8]>,
    /// Whether redirects are followed.
    pub(crate) follow: bool,
    /// How long the whole request may take, its answer included.
    pub(crate) total: Option<Duration>,
}

/// An answer whose body is still to be read.
pub(crate) struct Response {
    pub(crate) status: u16,
    /// Where it came from, after redirects.
    pub(crate) address: Address,
    /// The headers of the answer, and before them the headers of each redirect.
    headers: Vec<HeaderMap>,
    body: Body,
}

/// Makes requests.
pub(crate) struct Client {
    network: Network,
    agent: Agent,
}

impl Client {
    /// Makes a client. Reading fails once nothing has come for `idle`. Nothing is
    /// connected yet.
    pub(crate) fn new(network: Network, idle: Duration) -> Self {
        let config = Config::builder()
            // The machine's own certificates, so that those of a company count.
            .tls_config(
                TlsConfig::builder()
                    .root_certs(RootCerts::PlatformVerifier)
                    .build(),
            )
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            // Not from the environment, which belongs to the caller.
            .proxy(None)
            .user_agent(USER_AGENT)
            .timeout_connect(Some(CONNECT))
            .timeout_per_read(Some(idle))
            .timeout_per_write(Some(idle))
            .build();
        Self {
            network,
            agent: Agent::new_with_config(config),
        }
    }

    /// Sends a request and returns the answer, whatever its status.
    pub(crate) fn send(&self, request: &Request<'_>) -> Result<Response, HttpError> {
        if self.network.offline {
            return Err(HttpError::Offline);
        }
        let mut address = request.address.clone();
        let mut headers = Vec::new();
        for _ in 0..=MAX_REDIRECTS {
            let response = self.hop(&address, request)?;
            let status = response.status().as_u16();
            let next = location(&response).filter(|_| matches!(status, 301..=303 | 307 | 308));
            headers.push(response.headers().clone());
            let Some(next) = next else {
                return Ok(Response {
                    status,
                    address,
                    headers,
                    body: response.into_body(),
                });
            };
            let to = address.join(&next);
            // A body is for the one that it was sent to.
            match to.filter(|_| request.follow && request.body.is_none()) {
                // A request that began encrypted stays encrypted.
                Some(to) if to.is_secure() || !address.is_secure() => address = to,
                _ => return Err(refused_redirect(&address, &next)),
            }
        }
        Err(refused_redirect(&request.address, "too many others"))
    }

    fn hop(
        &self,
        address: &Address,
        request: &Request<'_>,
    ) -> Result<HttpResponse<Body>, HttpError> {
        let credential = credential(address, request)?;
        let proxy = self.network.proxies.to(address);
        let fail = |error: ureq::Error| failure(address, &error);
        let proxy = proxy
            .map(|proxy| ureq::Proxy::new(proxy.expose()))
            .transpose()
            .map_err(fail)?;
        let headers = request.headers.iter();
        let headers = headers.map(|(name, value)| (*name, value.as_str()));
        let headers = headers.chain(credential.as_ref().map(|(name, value)| (*name, &**value)));
        let answer = if let Some(body) = request.body {
            let mut post = self.agent.post(address.as_str());
            for (name, value) in headers {
                post = post.header(name, value);
            }
            let post = post.config().proxy(proxy).timeout_global(request.total);
            post.build().send(body)
        } else {
            let mut get = self.agent.get(address.as_str());
            for (name, value) in headers {
                get = get.header(name, value);
            }
            let get = get.config().proxy(proxy).timeout_global(request.total);
            get.build().call()
        };
        answer.map_err(fail)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Client")
            .field("network", &self.network)
            .finish_non_exhaustive()
    }
}

impl Response {
    /// Returns a header of the answer.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.last()?.get(name)?.to_str().ok()
    }

    /// Returns a header of the answer or, if it has none, of the last redirect
    /// that has it.
    #[cfg(feature = "hub")]
    pub(crate) fn header_on_the_way(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter().rev();
        headers.find_map(|headers| headers.get(name)?.to_str().ok())
    }

    /// Returns how long to wait before another request, if the answer says so in
    /// seconds.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        let seconds: u64 = self.header("retry-after")?.trim().parse().ok()?;
        Some(Duration::from_secs(seconds))
    }

    /// Returns the body, to be read piece by piece.
    pub(crate) fn into_reader(self) -> impl Read {
        self.body.into_reader()
    }

    /// Reads the whole body. Fails if it is longer than `most`.
    #[cfg(feature = "remote")]
    pub(crate) fn read(self, most: u64) -> Result<Vec<u8>, HttpError> {
        let address = self.address.clone();
        let mut content = Vec::new();
        let mut reader = self.into_reader().take(most + 1);
        match reader.read_to_end(&mut content) {
            Ok(_) if content.len() as u64 > most => Err(HttpError::Broken {
                host: address.authority(),
                detail: "its answer is too long".to_owned(),
            }),
            Ok(_) => Ok(content),
            Err(error) => Err(reading(&address, &error)),
        }
    }
}

/// Returns the header with the secret, if it may be sent to this address.
fn credential(
    address: &Address,
    request: &Request<'_>,
) -> Result<Option<(&'static str, String)>, HttpError> {
    let Some(credential) = request.credential else {
        return Ok(None);
    };
    if !address.is_same_host(&request.address) {
        return Ok(None);
    }
    if !address.is_secure() && !address.is_loopback() {
        return if credential.required {
            Err(HttpError::Insecure {
                host: address.host().to_owned(),
            })
        } else {
            Ok(None)
        };
    }
    let value = format!("{}{}", credential.scheme, credential.secret.expose());
    Ok(Some((credential.header, value)))
}

/// Returns the failure of reading a body.
pub(crate) fn reading(address: &Address, error: &io::Error) -> HttpError {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
    if let Some(inner) = inner {
        return failure(address, inner);
    }
    let host = address.authority();
    match error.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => HttpError::Timeout { host },
        _ => HttpError::Broken {
            host,
            detail: without_number(error),
        },
    }
}

fn failure(address: &Address, error: &ureq::Error) -> HttpError {
    let host = address.authority();
    let connect = |detail: String| HttpError::Connect {
        host: address.authority(),
        detail,
    };
    match error {
        ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => {
            connect("it took too long".to_owned())
        }
        ureq::Error::Timeout(_) => HttpError::Timeout { host },
        ureq::Error::HostNotFound => connect("there is no such host".to_owned()),
        ureq::Error::InvalidProxyUrl => connect("the address of the proxy is not valid".to_owned()),
        ureq::Error::ConnectProxyFailed(detail) => {
            connect(format!("the proxy refused: {}", detail.trim()))
        }
        ureq::Error::ConnectionFailed => connect("nothing answers".to_owned()),
        ureq::Error::BadUri(_) => HttpError::Address(address.authority()),
        ureq::Error::Io(error) => match error.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => HttpError::Timeout { host },
            io::ErrorKind::ConnectionRefused
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable
            | io::ErrorKind::AddrNotAvailable => connect(without_number(error)),
            // The operating system has no kind for this.
            _ if error.to_string().starts_with("failed to lookup") => {
                connect("there is no such host".to_owned())
            }
            _ => HttpError::Broken {
                host,
                detail: without_number(error),
            },
        },
        other => HttpError::Broken {
            host,
            detail: other.to_string(),
        },
    }
}

/// Returns an error's message without the operating system's number.
fn without_number(error: &io::Error) -> String {
    let said = error.to_string();
    let end = said.find(" (os error ").unwrap_or(said.len());
    said[..end].to_lowercase()
}

fn location(response: &HttpResponse<Body>) -> Option<String> {
    let location = response.headers().get("location")?.to_str().ok()?;
    Some(location.to_owned())
}

fn refused_redirect(from: &Address, to: &str) -> HttpError {
    let to = Address::parse(to).map_or_else(|_| to.to_owned(), |to| to.authority());
    HttpError::Redirect {
        host: from.authority(),
        to,
    }
}
