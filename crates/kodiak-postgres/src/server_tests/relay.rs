//! A relay between clients and a server that acts at one statement of the clients: it cuts
//! the connection before or after it, or keeps it back until the test has done something
//! else.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What is done at a statement.
pub(crate) enum Act {
    /// The connection ends, and the server never gets the statement.
    CutBefore,
    /// The connection ends once the server has answered.
    CutAfter,
    /// The statement waits: the first channel is told, and the second one waited for.
    Hold(Sender<()>, Receiver<()>),
}

/// What is done, and at which statement, counted from 1.
#[derive(Default)]
struct Plan {
    seen: usize,
    at: usize,
    act: Option<Act>,
}

/// A relay, which runs until the process ends.
pub(crate) struct Relay {
    /// The address that clients use.
    pub(crate) host: String,
    pub(crate) port: u16,
    plan: Arc<Mutex<Plan>>,
}

impl Relay {
    /// Starts a relay to a server.
    pub(crate) fn to(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let plan: Arc<Mutex<Plan>> = Arc::default();
        let (shared, server) = (Arc::clone(&plan), server.to_owned());
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (Ok(client), Ok(server)) = (client, TcpStream::connect(&server)) else {
                    continue;
                };
                for stream in [&client, &server] {
                    stream.set_nodelay(true).unwrap();
                }
                let ends = Ends { client, server };
                let (answers, shared) = (ends.again(), Arc::clone(&shared));
                let is_cut: Arc<Mutex<bool>> = Arc::default();
                let also_cut = Arc::clone(&is_cut);
                std::thread::spawn(move || {
                    let _ = pass_statements(&ends, &shared, &is_cut);
                    ends.cut();
                });
                std::thread::spawn(move || {
                    let _ = pass_answers(&answers, &also_cut);
                    answers.cut();
                });
            }
        });
        Self {
            host: "127.0.0.1".to_owned(),
            port,
            plan,
        }
    }

    /// Counts statements from here, and acts at one.
    pub(crate) fn at(&self, statement: usize, act: Act) {
        *self.plan.lock().unwrap() = Plan {
            seen: 0,
            at: statement,
            act: Some(act),
        };
    }

    /// Holds a statement back. Returns what says that it was reached, and what lets it pass.
    pub(crate) fn hold(&self, statement: usize) -> (Receiver<()>, Sender<()>) {
        let ((told, reached), (pass, wait)) = (channel(), channel());
        self.at(statement, Act::Hold(told, wait));
        (reached, pass)
    }

    /// Lets everything pass. Returns whether the statement was reached.
    pub(crate) fn pass(&self) -> bool {
        let plan = std::mem::take(&mut *self.plan.lock().unwrap());
        plan.act.is_none() && plan.at > 0
    }
}

/// The two ends of a connection.
struct Ends {
    client: TcpStream,
    server: TcpStream,
}

impl Ends {
    fn again(&self) -> Self {
        Self {
            client: self.client.try_clone().unwrap(),
            server: self.server.try_clone().unwrap(),
        }
    }

    fn cut(&self) {
        for stream in [&self.client, &self.server] {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

fn pass_statements(ends: &Ends, plan: &Mutex<Plan>, is_cut: &Mutex<bool>) -> std::io::Result<()> {
    let (mut from, mut to) = (&ends.client, &ends.server);
    let mut is_first = true;
    loop {
        // The first message of a connection has no kind.
        let mut kind = [0];
        if !is_first {
            from.read_exact(&mut kind)?;
        }
        let mut length = [0; 4];
        from.read_exact(&mut length)?;
        let mut rest = vec![0; u32::from_be_bytes(length) as usize - 4];
        from.read_exact(&mut rest)?;
        let mut message = Vec::new();
        message.extend(kind.iter().filter(|_| !is_first));
        message.extend(length);
        message.extend(rest);
        // A plain statement is one message, and others end with one.
        if !is_first && matches!(kind[0], b'Q' | b'S') {
            let due = {
                let mut plan = plan.lock().unwrap();
                plan.seen += 1;
                let is_due = plan.seen == plan.at;
                is_due.then(|| plan.act.take()).flatten()
            };
            match due {
                None => {}
                Some(Act::CutBefore) => return Ok(()),
                Some(Act::CutAfter) => *is_cut.lock().unwrap() = true,
                Some(Act::Hold(told, wait)) => {
                    let _ = told.send(());
                    let _ = wait.recv();
                }
            }
        }
        to.write_all(&message)?;
        is_first = false;
    }
}

fn pass_answers(ends: &Ends, is_cut: &Mutex<bool>) -> std::io::Result<()> {
    let (mut from, mut to) = (&ends.server, &ends.client);
    let mut bytes = [0; 1 << 14];
    loop {
        let length = from.read(&mut bytes)?;
        if length == 0 {
            return Ok(());
        }
        if *is_cut.lock().unwrap() {
            // Time for the server to do what it was sent.
            std::thread::sleep(Duration::from_millis(20));
            return Ok(());
        }
        to.write_all(&bytes[..length])?;
    }
}
