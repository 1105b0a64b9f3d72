//! The kinds of work that are stopped, and what each may leave behind.

use std::fmt::Write;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, ensure};

use super::place::Place;
use super::{Done, Signal};

/// Work that writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Sync,
    Rebuild,
    Embed,
    Remember,
    Page,
    Rename,
    PurgeMemory,
    Transcripts,
    PurgeSession,
    PurgeTurn,
}

impl Kind {
    pub(super) const ALL: [Self; 10] = [
        Self::Sync,
        Self::Rebuild,
        Self::Embed,
        Self::Remember,
        Self::Page,
        Self::Rename,
        Self::PurgeMemory,
        Self::Transcripts,
        Self::PurgeSession,
        Self::PurgeTurn,
    ];

    /// Returns its name in the table.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Sync => "index",
            Self::Rebuild => "index --rebuild",
            Self::Embed => "index --rebuild --embeddings",
            Self::Remember => "remember",
            Self::Page => "page edit",
            Self::Rename => "tag rename",
            Self::PurgeMemory => "forget --purge of a memory",
            Self::Transcripts => "index of a session",
            Self::PurgeSession => "forget --purge of a session",
            Self::PurgeTurn => "forget --purge of a turn",
        }
    }
}

/// Everything that must be there, and what must not.
pub(super) struct World<'a> {
    place: &'a Place,
    notes: usize,
    /// Counts the pieces of work.
    round: usize,
    /// The number in the tag of all notes.
    tag: usize,
    /// The number in the text of the page.
    page: usize,
    /// What was remembered: the id and the text.
    memories: Vec<(String, String)>,
    /// The sessions: the name, and what was said.
    sessions: Vec<(String, Vec<String>)>,
    purged: Vec<String>,
    /// The id of a note that was opened and stays.
    kept: String,
}

/// A piece of work that can be started.
struct Task {
    arguments: Vec<String>,
    /// The text that is purged, if it is a purge.
    secret: Option<String>,
    /// The id under which the document that is purged is among those that were opened.
    opened: Option<String>,
}

impl<'a> World<'a> {
    /// Fills a place with notes, a page and a session, and indexes them.
    pub(super) fn new(place: &'a Place, notes: usize) -> Result<Self> {
        let mut world = Self {
            place,
            notes,
            round: 0,
            tag: 0,
            page: 0,
            memories: Vec::new(),
            sessions: Vec::new(),
            purged: Vec::new(),
            kept: String::new(),
        };
        for note in 0..notes {
            fs::write(world.note(note), note_text(note, 0))?;
        }
        fs::write(place.path("notes/page.md"), "version0\n")?;
        world.say("first", "a session that stays")?;
        place.finish(&["add", "notes", "--writable"])?;
        place.finish(&["add", "--transcripts"])?;
        world.kept = world.open("notes/0.md")?;
        Ok(world)
    }

    fn note(&self, number: usize) -> PathBuf {
        self.place.path(&format!("notes/{number}.md"))
    }

    /// Does a piece of work without stopping it. Returns how long it takes.
    pub(super) fn whole(&mut self, kind: Kind) -> Result<Duration> {
        let task = self.prepare(kind)?;
        let took = self.run(&task)?;
        self.check(kind, &task)?;
        Ok(took)
    }

    fn run(&self, task: &Task) -> Result<Duration> {
        let arguments: Vec<&str> = task.arguments.iter().map(String::as_str).collect();
        self.place.finish(&arguments)
    }

    /// Begins a piece of work, stops it, has something finish it, and checks the result.
    pub(super) fn stopped(
        &mut self,
        kind: Kind,
        signal: Signal,
        after: Duration,
        random: &mut fastrand::Rng,
    ) -> Result<Done> {
        let task = self.prepare(kind)?;
        let arguments: Vec<&str> = task.arguments.iter().map(String::as_str).collect();
        self.place.stop(&arguments, signal, after)?;
        let done = self.look(kind, &task)?;
        let journal = self.place.path("data/kodiak/index.db.erasing");
        if kind_is_purge(kind) && journal.exists() {
            // What was begun is finished by any command that writes.
            match random.usize(..4) {
                0 => self.place.succeed(&["index"])?,
                1 => self.place.succeed(&["doctor", "--fix"])?,
                2 => {
                    let id = format!("other{}", self.round);
                    let text = format!("other words of round {}", self.round);
                    self.place.succeed(&["remember", &text, "--id", &id])?;
                    self.memories.push((id, text));
                }
                _ => self.place.succeed(&arguments)?,
            }
        } else if kind != Kind::Remember || done == Done::Nothing {
            // An id can be taken once.
            self.run(&task)?;
        }
        self.check(kind, &task)?;
        if self.round.is_multiple_of(10) {
            self.place.succeed(&["index"])?;
            self.place.succeed(&["doctor"])?;
        }
        Ok(done)
    }

    /// Changes what has to be changed before, and returns the command.
    fn prepare(&mut self, kind: Kind) -> Result<Task> {
        self.round += 1;
        let round = self.round;
        let secret = format!("zwielicht{round}quasarblau");
        let id = format!("m{round}");
        let mut task = Task {
            arguments: words("index"),
            secret: None,
            opened: None,
        };
        match kind {
            Kind::Sync => {
                for note in (0..self.notes).step_by(7) {
                    fs::write(self.note(note), note_text(note, self.tag))?;
                }
                fs::write(
                    self.place.path(&format!("notes/new{round}.md")),
                    "new words\n",
                )?;
            }
            Kind::Rebuild => task.arguments = words("index --rebuild"),
            Kind::Embed => task.arguments = words("index --rebuild --embeddings"),
            Kind::Remember => {
                let text = format!("memory of round {round}");
                task.arguments = vec!["remember".to_owned(), text.clone()];
                task.arguments.extend(["--id".to_owned(), id.clone()]);
                self.memories.push((id, text));
            }
            Kind::Page => {
                self.page += 1;
                task.arguments = words("page edit notes/page.md --text");
                task.arguments.push(format!("version{}", self.page));
            }
            Kind::Rename => {
                self.tag += 1;
                let (from, to) = (self.tag - 1, self.tag);
                task.arguments = words(&format!("tag rename t{from} t{to}"));
            }
            Kind::Transcripts => {
                self.say("first", &format!("said in round {round}"))?;
                self.say(&format!("s{round}"), &format!("another session {round}"))?;
            }
            Kind::PurgeMemory => {
                self.place.succeed(&["remember", &secret, "--id", &id])?;
                task.opened = Some(self.open(&id)?);
                task.arguments = words(&format!("forget --purge {id}"));
                task.secret = Some(secret);
            }
            Kind::PurgeSession | Kind::PurgeTurn => {
                let name = format!("p{round}");
                self.say(&name, "before it")?;
                self.say(&name, &secret)?;
                self.say(&name, "after it")?;
                self.place.succeed(&["index"])?;
                let (_, said) = self.sessions.last_mut().expect("it was just added");
                if kind == Kind::PurgeSession {
                    self.sessions.pop();
                    task.arguments = words(&format!("forget --purge --session {name}"));
                } else {
                    said.remove(1);
                    task.arguments = words(&format!("forget --purge claude-code/{name}/{name}-1"));
                }
                task.secret = Some(secret);
            }
        }
        if let Some(secret) = &task.secret {
            self.repeat(secret)?;
            let known = self.place.files_with(secret)?;
            ensure!(!known.is_empty(), "{secret} is nowhere");
            self.purged.push(secret.clone());
        }
        Ok(task)
    }

    /// Has the index of a visited folder, and a question that was asked, say it as well.
    fn repeat(&self, secret: &str) -> Result<()> {
        let copies = self.place.path("copies");
        fs::create_dir_all(&copies)?;
        let copy = copies.join("copy.md");
        fs::write(&copy, format!("{secret}\n"))?;
        self.place.succeed(&["search", secret, "--in", "copies"])?;
        fs::remove_file(copy)?;
        let questions = self.place.path("data/kodiak/brain-queries.txt");
        fs::write(questions, format!("where is {secret}\n"))?;
        Ok(())
    }

    /// Opens a document. Returns its id among those that were opened.
    fn open(&self, name: &str) -> Result<String> {
        let before = self.opened()?;
        self.place.succeed(&["open", name])?;
        let mut added = self.opened()?;
        added.retain(|id| !before.contains(id));
        ensure!(added.len() == 1, "{name} was opened as {added:?}");
        Ok(added.remove(0))
    }

    /// Returns the ids of the documents that were opened.
    fn opened(&self) -> Result<Vec<String>> {
        let path = self.place.path("data/kodiak/index.db.opened");
        let text = match fs::read_to_string(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            text => text?,
        };
        let opened: serde_json::Value = serde_json::from_str(&text)?;
        let documents = opened["documents"].as_array().into_iter().flatten();
        let ids = documents.filter_map(|one| one["id"].as_str());
        Ok(ids.map(str::to_owned).collect())
    }

    /// Adds a turn to the transcript of a session.
    fn say(&mut self, session: &str, text: &str) -> Result<()> {
        let known = self.sessions.iter().position(|(name, _)| name == session);
        let at = known.unwrap_or(self.sessions.len());
        if known.is_none() {
            self.sessions.push((session.to_owned(), Vec::new()));
        }
        let said = &mut self.sessions[at].1;
        said.push(text.to_owned());
        let path = self
            .place
            .path(&format!("claude/projects/p/{session}.jsonl"));
        let mut lines = fs::read_to_string(&path).unwrap_or_default();
        let number = lines.lines().count();
        let _ = writeln!(
            lines,
            "{{\"type\":\"user\",\"uuid\":\"{session}-{number}\",\"sessionId\":\"{session}\",\
             \"timestamp\":\"2026-08-22T10:00:00Z\",\"cwd\":\"/p/one\",\
             \"message\":{{\"content\":\"{text}\"}}}}"
        );
        fs::write(path, lines)?;
        Ok(())
    }

    /// Returns what a stopped process had done. Fails if something is half written.
    fn look(&self, kind: Kind, task: &Task) -> Result<Done> {
        let read = |path: PathBuf| fs::read_to_string(path).ok();
        let share = |done: usize, all: usize| match done {
            0 => Done::Nothing,
            _ if done == all => Done::All,
            _ => Done::Some,
        };
        if let Some(secret) = &task.secret {
            let begun = self.place.path("data/kodiak/index.db.erasing").exists();
            let left = !self.place.files_with(secret)?.is_empty();
            return Ok(match (begun, left) {
                (true, _) => Done::Some,
                (false, true) => Done::Nothing,
                (false, false) => Done::All,
            });
        }
        Ok(match kind {
            Kind::Rename => {
                let mut renamed = 0;
                for note in 0..self.notes {
                    let now = read(self.note(note));
                    let is = |tag| now.as_ref() == Some(&note_text(note, tag));
                    ensure!(is(self.tag) || is(self.tag - 1), "{note}.md is {now:?}");
                    renamed += usize::from(is(self.tag));
                }
                share(renamed, self.notes)
            }
            Kind::Page => {
                let now = read(self.place.path("notes/page.md"));
                let is = |version| now == Some(format!("version{version}\n"));
                ensure!(is(self.page) || is(self.page - 1), "the page is {now:?}");
                share(usize::from(is(self.page)), 1)
            }
            Kind::Remember => {
                let (id, text) = self.memories.last().expect("it was just added");
                let found = read(self.memory(id));
                let whole = found
                    .as_ref()
                    .is_none_or(|found| found.ends_with(&format!("{text}\n")));
                ensure!(whole, "{id} is {found:?}");
                share(usize::from(found.is_some()), 1)
            }
            // Whether the index was changed shows in nothing but the index.
            _ => Done::Some,
        })
    }

    fn memory(&self, id: &str) -> PathBuf {
        self.place.path(&format!("data/kodiak/memory/{id}.md"))
    }

    /// Checks a piece of work that is finished.
    fn check(&self, kind: Kind, task: &Task) -> Result<()> {
        if let Some(secret) = &task.secret {
            let left = self.place.files_with(secret)?;
            ensure!(left.is_empty(), "{secret} is still in {left:?}");
            let journal = self.place.path("data/kodiak/index.db.erasing");
            ensure!(!journal.exists(), "the journal is still there");
        }
        if let Some(id) = &task.opened {
            let opened = self.opened()?;
            ensure!(!opened.contains(id), "{id} is still among the opened");
            ensure!(
                opened.contains(&self.kept),
                "the note that was opened first is not in {opened:?}"
            );
        }
        if matches!(kind, Kind::Rename | Kind::Sync) {
            self.check_notes()?;
        }
        Ok(())
    }

    fn check_notes(&self) -> Result<()> {
        for note in 0..self.notes {
            let now = fs::read_to_string(self.note(note))?;
            ensure!(now == note_text(note, self.tag), "{note}.md is {now:?}");
        }
        Ok(())
    }

    /// Checks that nothing was lost and nothing came back.
    pub(super) fn check_everything(&self) -> Result<()> {
        self.place.succeed(&["index"])?;
        self.place.succeed(&["doctor"])?;
        self.check_notes()?;
        for (id, text) in &self.memories {
            let found = fs::read_to_string(self.memory(id))?;
            ensure!(found.ends_with(&format!("{text}\n")), "{id} is {found:?}");
        }
        for (name, said) in &self.sessions {
            let copy = format!("data/kodiak/transcripts/claude-code/{name}.jsonl");
            let copy = fs::read_to_string(self.place.path(&copy))?;
            for text in said {
                ensure!(copy.contains(text.as_str()), "{name} lacks {text:?}");
            }
            ensure!(copy.lines().count() == said.len() + 1, "{name} is {copy}");
        }
        for secret in &self.purged {
            let left = self.place.files_with(secret)?;
            ensure!(left.is_empty(), "{secret} is in {left:?}");
        }
        Ok(())
    }

    /// Counts the temporary files that stopped processes left behind.
    pub(super) fn litter(&self) -> Result<usize> {
        let mut count = 0;
        for folder in ["notes", "data"] {
            let mut folders = vec![self.place.path(folder)];
            while let Some(folder) = folders.pop() {
                for entry in fs::read_dir(folder)? {
                    let entry = entry?;
                    let name = entry.file_name().to_string_lossy().into_owned();
                    if entry.file_type()?.is_dir() {
                        folders.push(entry.path());
                    }
                    let temporary = entry.path().extension().is_some_and(|it| it == "tmp");
                    count += usize::from(temporary && name.starts_with(".kodiak-"));
                }
            }
        }
        Ok(count)
    }
}

fn kind_is_purge(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::PurgeMemory | Kind::PurgeSession | Kind::PurgeTurn
    )
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

fn note_text(note: usize, tag: usize) -> String {
    let filler = "words and more words\r\n".repeat(300 * (note % 5));
    format!("---\r\ntags: [t{tag}, keep]\r\n---\r\nnote{note} #t{tag}/sub\r\n{filler}end")
}
