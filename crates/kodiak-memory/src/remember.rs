//! Remembering: a new memory or article, unless it is known already.
//!
//! Nothing secret is stored: `secrets` leaves it out first. A writer
//! takes the turn at the folder, looks for duplicates among everything that is there,
//! and writes the file. The index follows, as after every write.

use std::collections::HashSet;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};

use super::Memories;
use super::duplicates::{Compared, informative_words};
use super::secrets;
use crate::folder::MemoryFolder;
use crate::folder::require_id;
use kodiak::access::{Capability, Guard};
use kodiak::engine::Job;
use kodiak::search::{Mode, Request};
use kodiak::source::{Draft, Entry, Source, Version, WritableSource};
use kodiak::tombstones;
use kodiak_base::{Error, Result};
use kodiak_notes::files::{Added, AddingTurn};
use kodiak_notes::naming;
use kodiak_notes::signing::sign_new;
use kodiak_store::{Expression, Filter, Phrase, Reader, Row};
use kodiak_text::chunk::estimated_tokens;
use kodiak_text::document::{Document, DocumentId, SHORTEST_ID, Timestamp, uri};
use kodiak_text::text::Stemming;

/// The number of similar memories that are compared closely.
const CANDIDATES: usize = 12;
/// The fields that a memory stores separately.
const OWN_FIELDS: [&str; 18] = [
    "auto_category",
    "category",
    "created",
    "created_at",
    "date",
    "decay_protected",
    "id",
    "kind",
    "memory_kind",
    "project",
    "session",
    "summary",
    "supersedes",
    "tag",
    "tags",
    "thread",
    "title",
    "type",
];
/// How long a new memory may keep its writer waiting for a model.
const EMBEDDING: Duration = Duration::from_secs(1);

/// Something to be remembered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    /// The source to write to.
    pub source: String,
    /// The text.
    pub text: String,
    /// Its id, if a certain one is wanted.
    pub id: Option<String>,
    /// Its title. Without one, the beginning of the text is shown.
    pub title: Option<String>,
    /// Its kind; that of the source if there is none.
    pub kind: Option<String>,
    /// Its category.
    pub category: Option<String>,
    /// Its tags, without `#`.
    pub tags: Vec<String>,
    /// The project it belongs to.
    pub project: Option<String>,
    /// The session it is from.
    pub session: Option<String>,
    /// A summary, which a timeline shows instead of the beginning of the text.
    pub summary: Option<String>,
    /// The memories that it supersedes, by any of their names.
    pub supersedes: Vec<String>,
    /// When it was learned, if that is not now.
    pub created_at: Option<Timestamp>,
    /// Whether retention never removes it.
    pub protected: bool,
    /// Other fields of its frontmatter.
    pub metadata: Map<String, Value>,
    /// Whether it is stored though a similar one is known. An identical text is
    /// never stored twice.
    pub force: bool,
}

/// A longer text with a reference to where it is from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Article {
    /// The fields that it shares with memories. The title is required.
    pub memory: Memory,
    /// The type of its source, such as `web` or `pdf`.
    pub source_type: Option<String>,
    /// Where it is from: an address, a path, a title.
    pub source_ref: Option<String>,
}

/// The outcome of remembering.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Remembered {
    /// The short id: of the new memory, or of the one that was known.
    pub id: String,
    /// Its own id, which stays whatever happens to its file and the index.
    #[serde(rename = "path")]
    pub key: String,
    /// Its address.
    pub uri: String,
    /// The source it is in.
    pub source: String,
    /// Whether the text, or one that says the same, was known. Then nothing was
    /// written.
    pub deduplicated: bool,
    /// How similar the known text is, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f64>,
    /// Whether it can already be found. Otherwise the next sync indexes it.
    pub indexed: bool,
    /// The approximate number of tokens of its text.
    pub tokens: usize,
    /// The number of secrets that were replaced by their kinds.
    #[serde(skip_serializing_if = "is_zero")]
    pub secrets_left_out: usize,
}

/// A memory that is there.
struct Existing {
    key: String,
    project: Option<String>,
    body: String,
}

impl Existing {
    fn read(reader: &dyn Reader, rows: &[Row]) -> Result<Vec<Self>> {
        let documents = reader.documents(rows)?.into_iter();
        let existing = documents.map(|document| Self {
            key: document.key,
            project: document.project,
            body: document.body,
        });
        Ok(existing.collect())
    }
}

impl From<Document> for Existing {
    fn from(document: Document) -> Self {
        Self {
            key: document.key,
            project: document.project,
            body: document.body,
        }
    }
}

/// A memory that others are compared with.
struct Sought<'a> {
    memory: &'a Memory,
    said: Compared,
    stemming: Stemming,
    /// The project that the caller is restricted to.
    project: Option<&'a str>,
}

impl Sought<'_> {
    /// Reports whether the caller may learn of a memory.
    fn is_visible(&self, existing: &Existing) -> bool {
        self.project.is_none() || existing.project.as_deref() == self.project
    }

    /// Reports whether a memory has the same text.
    fn is(&self, existing: &Existing) -> bool {
        self.said.is(&self.prepared(existing))
    }

    /// Returns how similar a memory is, if it says the same in the same project and is not
    /// to be superseded.
    fn similarity(&self, existing: &Existing) -> Option<f64> {
        let elsewhere = existing.project.is_some() && existing.project != self.memory.project;
        if self.memory.force || elsewhere || self.memory.supersedes.contains(&existing.key) {
            return None;
        }
        self.said.similarity(&self.prepared(existing))
    }

    /// Returns a memory and how similar it is, if it says the same.
    fn similar_to(&self, existing: Existing) -> Option<(f64, Existing)> {
        if !self.is_visible(&existing) {
            return None;
        }
        let same = self.is(&existing).then_some(1.0);
        let similarity = same.or_else(|| self.similarity(&existing))?;
        Some((similarity, existing))
    }

    fn prepared(&self, existing: &Existing) -> Compared {
        Compared::new(&existing.body, self.stemming)
    }
}

impl Memories<'_> {
    /// Remembers a text, and indexes it. If it is known already, nothing is written
    /// and the answer names the memory that says it. A caller that is restricted to a
    /// project writes into that project, and learns of no memory outside it: an id
    /// that it wants gets a mark of the project.
    pub fn remember(&self, guard: &Guard, memory: &Memory, job: &Job<'_>) -> Result<Remembered> {
        guard.require(Capability::Write)?;
        let folder = self.memory_folder(guard, &memory.source)?;
        let (mut memory, left_out) = secrets::left_out(memory)?;
        if let Some(project) = guard.project() {
            memory.project = Some(project.to_owned());
        }
        memory.id = memory.id.map(|id| naming::marked_id(guard, &id));
        self.check(guard, &mut memory)?;
        let mut turn = folder.turn()?;
        let mut waiting = self.not_indexed(folder, &mut *turn)?;
        let sought = self.sought(guard, &memory)?;
        let known = |(similarity, existing): (f64, Existing)| Remembered {
            secrets_left_out: left_out,
            ..self.known(guard, &memory, &existing, similarity)
        };
        if let Some(duplicate) = self.duplicate(guard, folder, &sought, &waiting)? {
            turn.set_waiting(&waiting)?;
            return Ok(known(duplicate));
        }
        let key = loop {
            let id = memory.id.clone();
            let id = id.unwrap_or_else(|| MemoryFolder::new_id(&memory.text));
            let path = format!("{id}.md");
            waiting.push(path.clone());
            // Written first: a crash in between leaves a name without a file,
            // which does no harm.
            turn.set_waiting(&waiting)?;
            let text = folder.compose(&id, &draft(guard, &memory, &id))?;
            let mut duplicate = None;
            let mut repeats = |path: &str, text: &str| {
                let written = folder.interpret(folder.name(), path, text, 0);
                let written = sought.similar_to(Existing::from(written));
                duplicate = written.or(duplicate.take());
                duplicate.is_some()
            };
            match turn.create(&path, &text, &mut repeats)? {
                Added::Created => break id,
                Added::Taken if memory.id.is_some() => return Err(Error::KeyTaken { key: id }),
                Added::Taken => drop(waiting.pop()),
                Added::Repeats => {
                    if let Some(duplicate) = duplicate {
                        return Ok(known(duplicate));
                    }
                }
            }
        };
        drop(turn);
        let file = folder.file(&key);
        let indexed = self.engine.index_written(&memory.source, &[file], job);
        if indexed {
            self.engine.embed_soon(EMBEDDING, job);
        }
        Ok(Remembered {
            indexed,
            secrets_left_out: left_out,
            ..self.remembered(guard, &memory.source, key, &memory.text)
        })
    }

    /// Saves an article as [`Memories::remember`] saves a memory.
    pub fn save_article(
        &self,
        guard: &Guard,
        article: &Article,
        job: &Job<'_>,
    ) -> Result<Remembered> {
        let mut memory = article.memory.clone();
        if memory
            .title
            .as_deref()
            .is_none_or(|title| title.trim().is_empty())
        {
            return Err(bad("an article needs a title"));
        }
        for (name, value) in [
            ("source_type", &article.source_type),
            ("source_ref", &article.source_ref),
        ] {
            if let Some(value) = value {
                memory.metadata.insert(name.into(), value.as_str().into());
            }
        }
        self.remember(guard, &memory, job)
    }

    /// Returns a source of memories or articles.
    pub(super) fn memory_folder(&self, guard: &Guard, source: &str) -> Result<&MemoryFolder> {
        self.engine.eraser(guard).finish_before_writing();
        let found = self.engine.view(guard).source(source)?;
        let folder = found.as_any().and_then(|any| any.downcast_ref());
        folder.ok_or_else(|| Error::NotMemories {
            name: source.to_owned(),
        })
    }

    /// Checks a request, and replaces the names of superseded memories by their ids.
    fn check(&self, guard: &Guard, memory: &mut Memory) -> Result<()> {
        if memory.text.trim().is_empty() {
            return Err(bad("there is no text"));
        }
        if let Some(id) = &memory.id {
            require_id(id)?;
            let taken = self.or_nothing(|reader| {
                reader.with_path(Some(&memory.source), id, &Filter::default(), 1)
            })?;
            if !taken.is_empty() {
                return Err(Error::KeyTaken { key: id.clone() });
            }
            let file = tombstones::of_file(&format!("{id}.md"), id);
            let eraser = self.engine.eraser(guard);
            if eraser.was_erased(&memory.source, id)? || eraser.was_erased(&memory.source, &file)? {
                return Err(bad(&format!("what had the id '{id}' was erased")));
            }
        }
        for name in memory.metadata.keys() {
            if OWN_FIELDS.iter().any(|own| own.eq_ignore_ascii_case(name)) {
                return Err(bad(&format!("'{name}' is not one of its other fields")));
            }
        }
        let mut superseded = Vec::new();
        for name in &memory.supersedes {
            superseded.push(self.memory_named(guard, name)?.key);
        }
        memory.supersedes = superseded;
        Ok(())
    }

    /// Returns the paths of memories that are not indexed yet. Of a folder that is not
    /// indexed at all, these are all.
    fn not_indexed(&self, folder: &MemoryFolder, turn: &mut dyn AddingTurn) -> Result<Vec<String>> {
        let name = folder.name();
        let mut waiting = turn.waiting()?;
        let indexed = self.or_nothing(|reader| reader.locations(&Filter::default()))?;
        if !indexed.iter().any(|(known, _)| known == name) {
            let entries = folder.list()?.entries.into_iter();
            return Ok(entries.map(|entry| entry.key).collect());
        }
        let known = self.or_nothing(|reader| {
            let mut known = Vec::new();
            for path in &waiting {
                let state = reader.entry_state(name, path)?;
                known.push(state.is_some());
            }
            Ok(known)
        })?;
        let mut known = known.into_iter();
        waiting.retain(|_| known.next() != Some(true));
        Ok(waiting)
    }

    /// Prepares a memory for comparisons.
    fn sought<'a>(&self, guard: &'a Guard, memory: &'a Memory) -> Result<Sought<'a>> {
        let stemming = self.or_nothing(|reader| Ok(Some(reader.stemming())))?;
        let stemming = stemming.unwrap_or_default();
        Ok(Sought {
            memory,
            said: Compared::new(&memory.text, stemming),
            stemming,
            project: guard.project(),
        })
    }

    /// Returns the memory that says the same, if there is one, with how similar it is.
    fn duplicate(
        &self,
        guard: &Guard,
        folder: &MemoryFolder,
        sought: &Sought<'_>,
        waiting: &[String],
    ) -> Result<Option<(f64, Existing)>> {
        let memory = sought.memory;
        let filter = guard.narrow(&Filter {
            sources: vec![memory.source.clone()],
            ..Filter::default()
        });
        let mut existing: Vec<Existing> = Vec::new();
        for path in waiting {
            existing.extend(read(folder, path)?.filter(|one| sought.is_visible(one)));
        }
        existing.extend(self.or_nothing(|reader| containing_all(reader, memory, &filter))?);
        if let Some(same) = existing.iter().position(|one| sought.is(one)) {
            return Ok(Some((1.0, existing.swap_remove(same))));
        }
        if memory.force {
            return Ok(None);
        }
        existing.extend(self.candidates(guard, memory, &filter)?);
        let mut compared = HashSet::new();
        let mut best: Option<(f64, Existing)> = None;
        for one in existing {
            if !compared.insert(one.key.clone()) {
                continue;
            }
            if let Some(similarity) = sought.similarity(&one)
                && best.as_ref().is_none_or(|(known, _)| similarity > *known)
            {
                best = Some((similarity, one));
            }
        }
        Ok(best)
    }

    /// Returns the memories that are most similar by words and, with a model, by
    /// meaning.
    fn candidates(&self, guard: &Guard, memory: &Memory, filter: &Filter) -> Result<Vec<Existing>> {
        let words = informative_words(&memory.text);
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let request = Request {
            query: words.join(" "),
            limit: CANDIDATES,
            mode: Mode::Auto,
            filter: Filter {
                sources: filter.sources.clone(),
                ..Filter::default()
            },
            exact: true,
            all_copies: true,
            refresh: false,
            ..Request::default()
        };
        // Who may write learns of a duplicate also without being allowed to search.
        let guard = guard.with_all_capabilities();
        self.or_nothing_as(&guard, |reader| {
            let answer = self.engine.view(&guard).search_as_is(reader, &request)?;
            let rows: Vec<Row> = answer.hits.iter().map(|hit| hit.row).collect();
            Existing::read(reader, &rows)
        })
    }

    fn known(
        &self,
        guard: &Guard,
        memory: &Memory,
        existing: &Existing,
        similarity: f64,
    ) -> Remembered {
        Remembered {
            deduplicated: true,
            similarity: Some((similarity * 10_000.0).round() / 10_000.0),
            indexed: true,
            ..self.remembered(guard, &memory.source, existing.key.clone(), &existing.body)
        }
    }

    fn remembered(&self, guard: &Guard, source: &str, key: String, text: &str) -> Remembered {
        let uid = DocumentId::new(source, &key).hex();
        let short = self.or_nothing_as(guard, |reader| {
            let named = reader.with_id_prefix(&uid, &Filter::default(), 1)?;
            let rows: Vec<Row> = named.iter().map(|(row, ..)| *row).collect();
            Ok(reader.documents(&rows)?.pop().map(|found| found.short_id))
        });
        let short = short.ok().flatten();
        let short = short.unwrap_or_else(|| uid[..SHORTEST_ID].to_owned());
        Remembered {
            id: short,
            uri: uri(source, &key),
            key,
            source: source.to_owned(),
            deduplicated: false,
            similarity: None,
            indexed: false,
            tokens: estimated_tokens(text),
            secrets_left_out: 0,
        }
    }

    /// Reads data that exists for a caller; without an index there is none.
    fn or_nothing_as<T: Default>(
        &self,
        guard: &Guard,
        work: impl FnOnce(&dyn Reader) -> Result<T>,
    ) -> Result<T> {
        match self.engine.view(guard).read(work) {
            Err(Error::NoIndex { .. }) => Ok(T::default()),
            other => other,
        }
    }

    /// Reads from the index; without one there is nothing.
    pub(super) fn or_nothing<T: Default>(
        &self,
        work: impl FnOnce(&dyn Reader) -> Result<T>,
    ) -> Result<T> {
        match self.engine.view(&Guard::local()).read(work) {
            Err(Error::NoIndex { .. }) => Ok(T::default()),
            other => other,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

fn bad(detail: &str) -> Error {
    Error::BadMemory {
        detail: detail.to_owned(),
    }
}

/// Returns the memory in a file, if it can be read.
fn read(folder: &MemoryFolder, path: &str) -> Result<Option<Existing>> {
    let entry = Entry {
        key: path.to_owned(),
        version: Version::UNKNOWN,
        size_hint: 0,
    };
    let mut found = None;
    folder.read(&entry, &mut |document| {
        found = Some(Existing::from(document));
    })?;
    Ok(found)
}

/// Returns the memories that contain every word looked for and are not much longer.
/// An identical one is among them.
fn containing_all(reader: &dyn Reader, memory: &Memory, filter: &Filter) -> Result<Vec<Existing>> {
    let phrase = |text: String| {
        Expression::Phrase(Phrase {
            text,
            ..Phrase::default()
        })
    };
    let words: Vec<Expression> = informative_words(&memory.text)
        .into_iter()
        .map(phrase)
        .collect();
    let required = (!words.is_empty()).then_some(Expression::All(words));
    let rows: Vec<Row> = reader
        .rows(filter, required.as_ref(), None)?
        .iter()
        .collect();
    let longest = memory.text.len() + memory.text.len() / 4 + 64;
    let bodies = reader.bodies(&rows, longest)?;
    let wanted = Compared::new(&memory.text, reader.stemming());
    let same = bodies.into_iter().filter(|(_, body)| {
        // The rest is compared once it is a candidate.
        wanted.is(&Compared::new(body, reader.stemming()))
    });
    let rows: Vec<Row> = same.map(|(row, _)| row).collect();
    Existing::read(reader, &rows)
}

fn draft(guard: &Guard, memory: &Memory, id: &str) -> Draft {
    let mut fields = memory.metadata.clone();
    sign_new(guard.writer(), &mut fields);
    for (name, value) in [
        ("project", &memory.project),
        ("session", &memory.session),
        ("summary", &memory.summary),
    ] {
        if let Some(value) = value {
            fields.insert(name.into(), value.as_str().into());
        }
    }
    if !memory.supersedes.is_empty() {
        fields.insert("supersedes".into(), memory.supersedes.clone().into());
    }
    if memory.protected {
        fields.insert("decay_protected".into(), true.into());
    }
    Draft {
        key: Some(id.to_owned()),
        folder: None,
        mark: None,
        title: memory.title.clone().unwrap_or_default(),
        body: memory.text.clone(),
        tags: memory.tags.clone(),
        kind: memory.kind.clone().filter(|kind| !kind.trim().is_empty()),
        category: memory.category.clone(),
        created_at: memory.created_at,
        fields,
    }
}
