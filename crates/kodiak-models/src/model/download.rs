//! Downloading one file, piece by piece and over several connections if need be.
//!
//! A partial download is kept under a hidden name in the cache, with the tag that
//! the server gave it. The next connection, or the next process, asks for the rest
//! of the file with that tag and starts again if it is another one by then. The
//! file gets its name only when all of it is there. Whether it is the right file is
//! left to the caller.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::checksum::{self, Content};
use super::failure::Failure;
use super::record::digest;
use super::staging::PARTIAL;
use crate::http::{Address, Client, Credential, HttpError, Request, Response, reading};
use kodiak_base::error::Error;

/// The largest file that is downloaded.
const MAX_FILE_BYTES: u64 = 8 << 30;
/// The most bytes of a tag.
const MAX_TAG: u64 = 4096;
/// How many connections in a row may bring nothing.
const MAX_FRUITLESS: u32 = 5;
/// The first pause after a connection that brought nothing. Each further one is
/// twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// The longest pause that a server may ask for.
const MAX_PAUSE: Duration = Duration::from_mins(1);
/// How often progress is reported, in bytes.
const STEP: u64 = 1 << 18;

type Result<T> = std::result::Result<T, Failure>;

/// The file to download.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) address: Address,
    pub(super) credential: Option<&'a Credential>,
    /// Its name, for messages.
    pub(super) name: &'a str,
    /// Its size, if it is known beforehand.
    pub(super) bytes: Option<u64>,
}

/// A download.
#[derive(Debug)]
pub(super) struct Download<'a> {
    pub(super) client: &'a Client,
    pub(super) source: Source<'a>,
    /// The folder for partial files.
    pub(super) cache: &'a Path,
    /// When to give up.
    pub(super) until: Option<Instant>,
}

/// A downloaded file.
#[derive(Debug)]
pub(super) struct Fetched {
    pub(super) content: Content,
    /// The hash that the server announced for it, if it did.
    pub(super) announced: Option<String>,
}

/// The outcome of one connection.
enum Turn {
    /// All of the file is there.
    Complete,
    /// Some bytes came before it ended.
    Progress,
    /// Nothing came, with the reason and how long to wait.
    Nothing(String, Option<Duration>),
    /// Nothing came, and another connection would bring nothing either.
    Hopeless(String),
}

impl Download<'_> {
    /// Downloads the file to `target`. `aside` is a folder for the partial file if
    /// another process has the usual one. `progress` is told the bytes so far and
    /// in all.
    pub(super) fn run(
        &self,
        target: &Path,
        aside: &Path,
        progress: &mut dyn FnMut(u64, Option<u64>),
    ) -> Result<Fetched> {
        let mut partial = Partial::open(self.cache, aside, &self.source.address)?;
        let mut fruitless = 0;
        loop {
            let (why, wait) = match self.turn(&mut partial, progress)? {
                Turn::Complete => break,
                Turn::Progress => {
                    fruitless = 0;
                    if self.is_over() {
                        return Err(too_slow());
                    }
                    continue;
                }
                Turn::Nothing(why, wait) => (why, wait),
                Turn::Hopeless(why) => return Err(Failure::Origin(why)),
            };
            fruitless += 1;
            let pause = wait.unwrap_or(FIRST_PAUSE * 2_u32.pow(fruitless - 1));
            let left = self
                .until
                .map(|until| until.saturating_duration_since(Instant::now()));
            if fruitless >= MAX_FRUITLESS
                || pause > MAX_PAUSE
                || left.is_some_and(|left| left <= pause)
            {
                return Err(Failure::Origin(why));
            }
            thread::sleep(pause);
        }
        partial.finish(target)
    }

    fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Asks for the missing part and reads as much as arrives.
    fn turn(
        &self,
        partial: &mut Partial,
        progress: &mut dyn FnMut(u64, Option<u64>),
    ) -> Result<Turn> {
        let have = partial.length;
        let mut headers = Vec::new();
        if let Some(tag) = partial.tag.clone().filter(|_| have > 0) {
            headers.push(("range", format!("bytes={have}-")));
            headers.push(("if-range", tag));
        } else {
            partial.restart(None)?;
        }
        let request = Request {
            address: self.source.address.clone(),
            headers,
            credential: self.source.credential,
            body: None,
            follow: true,
            total: self
                .until
                .map(|until| until.saturating_duration_since(Instant::now())),
        };
        let response = match self.client.send(&request) {
            Ok(response) => response,
            Err(error @ (HttpError::Timeout { .. } | HttpError::Broken { .. })) => {
                return Ok(Turn::Nothing(error.to_string(), None));
            }
            // Who cannot be reached now is not waited for: another origin may be.
            Err(error) => return Ok(Turn::Hopeless(error.to_string())),
        };
        let total = match response.status {
            200 => {
                partial.restart(strong_tag(&response))?;
                number(response.header("content-length"))
            }
            206 => match range(&response) {
                Some((from, total)) if from == partial.length => total,
                _ => {
                    partial.restart(None)?;
                    return Ok(Turn::Nothing(
                        "the hub sent another part than asked for".to_owned(),
                        None,
                    ));
                }
            },
            // There is nothing after what is here already, or it is another file.
            416 if have > 0 => {
                if range_total(&response) == Some(have) {
                    return Ok(Turn::Complete);
                }
                partial.restart(None)?;
                return Ok(Turn::Nothing(
                    "the hub has another file by now".to_owned(),
                    None,
                ));
            }
            status => return Ok(self.refusal(status, &response)),
        };
        partial.announced = announced(&response);
        if total.is_some_and(|total| self.source.bytes.is_some_and(|bytes| bytes != total)) {
            partial.restart(None)?;
            let name = self.source.name;
            return Ok(Turn::Hopeless(format!(
                "the hub has another {name} than expected"
            )));
        }
        self.receive(partial, response, total, progress)
    }

    /// Reads a body into the partial file.
    fn receive(
        &self,
        partial: &mut Partial,
        response: Response,
        total: Option<u64>,
        progress: &mut dyn FnMut(u64, Option<u64>),
    ) -> Result<Turn> {
        let most = self
            .source
            .bytes
            .or(total)
            .unwrap_or(MAX_FILE_BYTES)
            .min(MAX_FILE_BYTES);
        let address = response.address.clone();
        let mut reader = response.into_reader();
        let mut buffer = vec![0; 1 << 16];
        let (begun, mut told) = (partial.length, partial.length);
        progress(begun, total);
        let ended = loop {
            match reader.read(&mut buffer) {
                Ok(0) => break None,
                Ok(read) => {
                    partial.append(&buffer[..read])?;
                    if partial.length > most {
                        partial.restart(None)?;
                        return Ok(Turn::Hopeless(
                            "the file is longer than it should be".to_owned(),
                        ));
                    }
                    if partial.length - told >= STEP {
                        told = partial.length;
                        progress(told, total);
                    }
                    if self.is_over() {
                        return Err(too_slow());
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => break Some(reading(&address, &error)),
            }
        };
        progress(partial.length, total);
        let missing = total.is_some_and(|total| partial.length < total);
        match ended {
            None if !missing => Ok(Turn::Complete),
            _ if partial.length > begun => Ok(Turn::Progress),
            Some(error) => Ok(Turn::Nothing(error.to_string(), None)),
            None => Ok(Turn::Nothing(
                "the connection ended too early".to_owned(),
                None,
            )),
        }
    }

    fn refusal(&self, status: u16, response: &Response) -> Turn {
        let name = self.source.name;
        let host = response.address.authority();
        match status {
            401 | 403 => Turn::Hopeless(format!(
                "{host} restricts access to {name}: accept the licence on its page, then set HF_TOKEN"
            )),
            404 | 410 => Turn::Hopeless(format!("{host} has no {name}")),
            408 | 429 | 500..=599 => Turn::Nothing(
                format!("{host} is busy (status {status})"),
                response.retry_after(),
            ),
            _ => Turn::Hopeless(format!("{host} answered with status {status}")),
        }
    }
}

/// A file that is not complete yet. The lock on it lasts as long as it is open.
#[derive(Debug)]
struct Partial {
    path: PathBuf,
    file: File,
    length: u64,
    /// The tag under which the server knows this content.
    tag: Option<String>,
    announced: Option<String>,
}

impl Partial {
    fn open(cache: &Path, aside: &Path, address: &Address) -> Result<Self> {
        let name = format!("{PARTIAL}{}", digest(&address.to_string()));
        let path = cache.join(&name);
        let file = open(&path)?;
        // Another process is downloading it: this one starts from the beginning,
        // somewhere else.
        let (path, file) = if file.try_lock().is_ok() {
            (path, file)
        } else {
            let path = aside.join(&name);
            let file = open(&path)?;
            (path, file)
        };
        let mut partial = Self {
            tag: kodiak_base::files::read_text(tag_file(&path), MAX_TAG).ok(),
            announced: None,
            length: 0,
            path,
            file,
        };
        let end = partial.file.seek(SeekFrom::End(0));
        partial.length = end.map_err(Error::io("read", &partial.path))?;
        Ok(partial)
    }

    /// Starts over, with the server's present tag of the content.
    fn restart(&mut self, tag: Option<String>) -> Result<()> {
        let mut empty = || {
            // First the tag: without it, nothing is resumed.
            match fs::remove_file(tag_file(&self.path)) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            self.file.set_len(0)?;
            self.file.rewind()?;
            match &tag {
                Some(tag) => kodiak_base::files::replace(tag_file(&self.path), tag.as_bytes()),
                None => Ok(()),
            }
        };
        empty().map_err(Error::io("write", &self.path))?;
        (self.length, self.tag) = (0, tag);
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let written = self.file.write_all(bytes);
        written.map_err(Error::io("write", &self.path))?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Gives the complete file its name.
    fn finish(self, target: &Path) -> Result<Fetched> {
        let finish = || {
            kodiak_base::files::publish(&self.path, target)?;
            let _ = fs::remove_file(tag_file(&self.path));
            checksum::of_file(target)
        };
        let content = finish().map_err(Error::io("write", target))?;
        Ok(Fetched {
            content,
            announced: self.announced,
        })
    }
}

fn open(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let file = kodiak_base::files::own::open_safely(path, &mut options);
    file.map_err(|error| Error::io("create", path)(error).into())
}

fn tag_file(partial: &Path) -> PathBuf {
    partial.with_extension("tag")
}

fn too_slow() -> Failure {
    Failure::Origin("the download takes too long; it continues next time".to_owned())
}

fn number(text: Option<&str>) -> Option<u64> {
    text?.trim().parse().ok()
}

/// Returns the tag of the content, unless it only promises that the content is
/// equivalent.
fn strong_tag(response: &Response) -> Option<String> {
    let tag = response.header("etag")?;
    (tag.starts_with('"') && tag.len() > 2).then(|| tag.to_owned())
}

/// Returns the hash that a hub announces for a large file: its tag there is the
/// SHA-256 of the content.
fn announced(response: &Response) -> Option<String> {
    let tag = response
        .header_on_the_way("x-linked-etag")?
        .trim_matches('"');
    let hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    (tag.len() == 64 && tag.bytes().all(hex)).then(|| tag.to_owned())
}

/// Returns where a part begins, and the size of the whole if it is known:
/// `bytes 10-19/20`.
fn range(response: &Response) -> Option<(u64, Option<u64>)> {
    let rest = response
        .header("content-range")?
        .trim()
        .strip_prefix("bytes ")?;
    let (part, total) = rest.split_once('/')?;
    let (from, _) = part.split_once('-')?;
    Some((from.trim().parse().ok()?, number(Some(total))))
}

/// Returns the size of the whole where no part was sent: `bytes */20`.
fn range_total(response: &Response) -> Option<u64> {
    let rest = response.header("content-range")?.trim();
    number(rest.strip_prefix("bytes */"))
}
