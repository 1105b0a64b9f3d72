//! A server that only asks for a password and admits no one, and one that admits everyone and
//! is too old.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;

/// A server that speaks as much of PostgreSQL's protocol as signing in takes.
pub(crate) struct Gate {
    pub(crate) address: String,
    given: mpsc::Receiver<String>,
}

impl Gate {
    pub(crate) fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, given) = mpsc::channel();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if let Some(password) = ask(stream)
                    && sender.send(password).is_err()
                {
                    return;
                }
            }
        });
        Self {
            address: format!("postgres://ada@127.0.0.1:{port}/notes"),
            given,
        }
    }

    /// Returns the passwords that were given since this was last asked.
    pub(crate) fn given(&self) -> Vec<String> {
        let mut given: Vec<String> = self.given.try_iter().collect();
        given.dedup();
        given
    }
}

/// Reads a message, whose length counts itself.
fn message(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).ok()?;
    let mut body = vec![0; u32::from_be_bytes(length) as usize - 4];
    stream.read_exact(&mut body).ok()?;
    Some(body)
}

/// Asks for a password, refuses it and returns it.
fn ask(mut stream: TcpStream) -> Option<String> {
    message(&mut stream)?;
    stream.write_all(b"R\0\0\0\x08\0\0\0\x03").ok()?;
    let mut kind = [0];
    stream.read_exact(&mut kind).ok()?;
    let password = message(&mut stream)?;
    let said = b"SFATAL\0C28P01\0Mpassword authentication failed for user \"ada\"\0\0";
    let length = u32::try_from(said.len() + 4).ok()?;
    stream.write_all(b"E").ok()?;
    stream.write_all(&length.to_be_bytes()).ok()?;
    stream.write_all(said).ok()?;
    let password = password.strip_suffix(b"\0")?;
    String::from_utf8(password.to_vec()).ok()
}

/// Starts a server of an old version that admits everyone, and returns its address.
pub(crate) fn outdated() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut admit = || -> Option<()> {
                message(&mut stream)?;
                let mut said = b"R\0\0\0\x08\0\0\0\0".to_vec();
                let version = b"server_version\x0013.4\0";
                said.push(b'S');
                said.extend(u32::try_from(version.len() + 4).ok()?.to_be_bytes());
                said.extend(version);
                said.extend(b"Z\0\0\0\x05I");
                stream.write_all(&said).ok()?;
                let mut rest = Vec::new();
                stream.read_to_end(&mut rest).ok().map(drop)
            };
            admit();
        }
    });
    format!("postgres://ada@127.0.0.1:{port}/notes")
}
