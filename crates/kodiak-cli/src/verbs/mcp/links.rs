//! The links that sign in to the page of a server: printed when it starts, opened with
//! `--open`, and printed again on a terminal whenever Enter is pressed.

use std::io::{self, IsTerminal};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use kodiak_server::http::{Listening, SignIn};

use crate::arguments::HttpArguments;
use crate::opener;
use crate::output::Output;

/// Makes links to the page of a server.
#[derive(Debug)]
pub(super) struct Links {
    page: String,
    /// Makes codes; absent if the page needs none.
    sign_in: Option<SignIn>,
}

impl Links {
    /// Returns the links to a server, if it has a page.
    pub(super) fn to(listening: &Listening, arguments: &HttpArguments) -> Option<Self> {
        let signs_in = listening.page()?;
        Some(Self {
            page: page(listening.address(), arguments),
            sign_in: signs_in.then(|| listening.sign_in()),
        })
    }

    /// Returns a new link.
    fn link(&self) -> anyhow::Result<String> {
        Ok(match &self.sign_in {
            // What is behind the sign is sent to no server, and in no referrer.
            Some(sign_in) => format!("{}/#code={}", self.page, sign_in.code()?),
            None => format!("{}/", self.page),
        })
    }

    /// Prints a link, and opens one if asked for. On a terminal, each Enter prints
    /// another one from now on.
    pub(super) fn show(self, open: bool, output: &Output) -> anyhow::Result<()> {
        let needs_link = self.sign_in.is_some();
        if needs_link {
            let on_terminal = io::stdin().is_terminal();
            let more = if on_terminal {
                "; press Enter for another one"
            } else {
                ""
            };
            output.notice(&format!("sign in: {}", self.link()?));
            output.notice(&format!(
                "The link works once and expires after a minute{more}."
            ));
        }
        if open && let Err(error) = opener::open_page(&self.link()?) {
            // Without a browser, the link still works elsewhere, and programs can use the server.
            output.partial_failure(&error);
        }
        if needs_link && io::stdin().is_terminal() {
            let output = output.clone();
            std::thread::Builder::new()
                .name("links".to_owned())
                .spawn(move || {
                    while pressed_enter() {
                        match self.link() {
                            Ok(link) => output.notice(&format!("sign in: {link}")),
                            Err(error) => output.partial_failure(&error),
                        }
                    }
                })?;
        }
        Ok(())
    }
}

/// Returns the address of the page, as a person can use it: by the name that the server
/// was given, or else by its number.
fn page(address: SocketAddr, arguments: &HttpArguments) -> String {
    let port = address.port();
    if let Some(name) = arguments.hosts.first() {
        // A proxy that encrypts has another port.
        let encrypted = |origin: &&String| {
            let host = origin.strip_prefix("https://");
            let host = host.map(|host| host.split(':').next().unwrap_or(host));
            host.is_some_and(|host| host.eq_ignore_ascii_case(name))
        };
        return match arguments.origins.iter().find(encrypted) {
            Some(origin) => origin.clone(),
            None => format!("http://{name}:{port}"),
        };
    }
    // All addresses of the machine: this one works on it.
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    format!("http://{}", SocketAddr::new(ip, port))
}

/// Waits until Enter is pressed. Returns `false` once the terminal is gone.
///
/// A program in the background that reads from its terminal is stopped, so that it is
/// read only while the program is in the foreground and there is a line.
#[cfg(unix)]
fn pressed_enter() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    /// How often it is looked whether the program is in the foreground.
    const PAUSE: Timespec = Timespec {
        tv_sec: 1,
        tv_nsec: 0,
    };
    let terminal = rustix::stdio::stdin();
    loop {
        let own = Some(rustix::process::getpgrp());
        if rustix::termios::tcgetpgrp(terminal).ok() != own {
            std::thread::sleep(std::time::Duration::from_secs(1));
            continue;
        }
        let mut polled = [PollFd::new(&terminal, PollFlags::IN)];
        match poll(&mut polled, Some(&PAUSE)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => return read_line(),
            Err(_) => return false,
        }
    }
}

#[cfg(not(unix))]
fn pressed_enter() -> bool {
    read_line()
}

fn read_line() -> bool {
    let mut line = String::new();
    io::stdin().read_line(&mut line).is_ok_and(|read| read > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_has_an_address_that_a_person_can_use() {
        for (address, hosts, origins, expected) in [
            ("127.0.0.1:7700", &[][..], &[][..], "http://127.0.0.1:7700"),
            ("[::1]:7700", &[], &[], "http://[::1]:7700"),
            ("0.0.0.0:7700", &[], &[], "http://127.0.0.1:7700"),
            ("[::]:7700", &[], &[], "http://[::1]:7700"),
            ("192.168.1.5:80", &[], &[], "http://192.168.1.5:80"),
            (
                "0.0.0.0:7700",
                &["notes.example", "b"],
                &[],
                "http://notes.example:7700",
            ),
            (
                "127.0.0.1:7700",
                &["notes.example"],
                &["https://app.example", "https://notes.example:8443"],
                "https://notes.example:8443",
            ),
            (
                "127.0.0.1:7700",
                &["notes.example"],
                &["https://app.example"],
                "http://notes.example:7700",
            ),
        ] {
            let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
            let arguments = HttpArguments {
                no_token: false,
                hosts: owned(hosts),
                origins: owned(origins),
                request_timeout: None,
                max_waiting: None,
                session_idle: None,
            };
            assert_eq!(page(address.parse().unwrap(), &arguments), expected);
        }
    }
}
