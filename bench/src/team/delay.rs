//! A network that is slow: a proxy before a server that passes on what it reads later.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// The number of bytes that are read at once.
const PIECE: usize = 64 << 10;

/// A proxy that runs until the program ends.
pub(super) struct Slow {
    /// The address of the server by way of the proxy.
    pub(super) address: String,
}

impl Slow {
    /// Starts a proxy that adds this to a round trip: half of it each way, however much is
    /// sent at once. Takes and returns addresses with a user, a host, a port and a database.
    pub(super) fn network(address: &str, round_trip: Duration) -> Result<Self> {
        let (user, rest) = address.split_once('@').context("the address has no user")?;
        let (server, database) = rest
            .split_once('/')
            .context("the address has no database")?;
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = format!("{user}@{}/{database}", listener.local_addr()?);
        let server = server.to_owned();
        std::thread::spawn(move || {
            for near in listener.incoming().flatten() {
                if let Ok(far) = TcpStream::connect(&server) {
                    let _ = join(near, far, round_trip / 2);
                }
            }
        });
        Ok(Self { address })
    }
}

/// Passes on what both ends send, each on its own threads.
fn join(near: TcpStream, far: TcpStream, delay: Duration) -> std::io::Result<()> {
    for end in [&near, &far] {
        end.set_nodelay(true)?;
    }
    let (other_near, other_far) = (near.try_clone()?, far.try_clone()?);
    pass(near, far, delay);
    pass(other_far, other_near, delay);
    Ok(())
}

/// Passes on what one end sends, so much later.
fn pass(mut from: TcpStream, mut to: TcpStream, delay: Duration) {
    let (send, receive) = mpsc::channel::<(Instant, Vec<u8>)>();
    std::thread::spawn(move || {
        let mut piece = vec![0; PIECE];
        while let Ok(length @ 1..) = from.read(&mut piece) {
            if send
                .send((Instant::now(), piece[..length].to_vec()))
                .is_err()
            {
                break;
            }
        }
    });
    std::thread::spawn(move || {
        for (read, bytes) in receive {
            std::thread::sleep((read + delay).saturating_duration_since(Instant::now()));
            if to.write_all(&bytes).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Write);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The delay of a round trip in the test.
    const ROUND_TRIP: Duration = Duration::from_millis(20);

    #[test]
    fn every_round_trip_takes_longer_and_no_byte_is_lost() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut end, _) = listener.accept().unwrap();
            let mut piece = [0; 100];
            while let Ok(length @ 1..) = end.read(&mut piece) {
                end.write_all(&piece[..length]).unwrap();
            }
        });
        let slow = Slow::network(&format!("postgres://me@{server}/notes"), ROUND_TRIP).unwrap();
        let place = slow.address.strip_prefix("postgres://me@").unwrap();
        let mut client = TcpStream::connect(place.strip_suffix("/notes").unwrap()).unwrap();
        for number in 0..5_u8 {
            let begun = Instant::now();
            client.write_all(&[number; 7]).unwrap();
            let mut back = [0; 7];
            client.read_exact(&mut back).unwrap();
            assert_eq!(back, [number; 7]);
            assert!(begun.elapsed() >= ROUND_TRIP);
        }
    }
}
