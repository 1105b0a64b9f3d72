//! The rows of a source as files of notes.
//!
//! Owns what a path may be, which names the trash has, and what a look for changes finds:
//! the source has one container, whose version grows with every change of a row. SQL and
//! locks are up to `kodiak-postgres`.

use std::path::PathBuf;
use std::time::Instant;

use kodiak::source::fields::list_in;
use kodiak::source::{
    Container, DEFAULT_MAX_BYTES, Entry, FileCopy, Known, Listing, Located, Look, Presence,
    Reading, Trashed, Version,
};
use kodiak_base::{Error, Result};
use kodiak_notes::files::{
    Added, AddingTurn, Interpret, NoteFiles, name_in_trash, path_in_trash, require_size, trash_path,
};
use kodiak_notes::frontmatter;
use kodiak_notes::markdown::names;
use kodiak_notes::note::document_from_text;
use kodiak_postgres::{Files, ListedFile, Outcome, PostgresIndex};
use kodiak_text::date;
use kodiak_text::document::Document;

/// The key of the container that stands for all files of a source.
const ALL: &str = "";

/// The files of a source of a team.
#[derive(Clone, Debug)]
pub struct TeamFiles {
    files: Files,
    location: String,
}

impl TeamFiles {
    /// Returns the files of a source that are kept beside an index.
    pub fn new(index: &PostgresIndex, source: impl Into<String>) -> Self {
        let files = index.files(source);
        Self {
            location: files.location().to_owned(),
            files,
        }
    }

    /// Returns the path of a file that belongs to this source, given as
    /// [`NoteFiles::file`] returns it.
    fn path_of<'f>(&self, file: &'f std::path::Path) -> Option<&'f str> {
        let inside = file.to_str()?.strip_prefix(&self.location)?;
        inside.strip_prefix('/')
    }

    fn add(
        &self,
        path: &str,
        text: &str,
        since: Option<Version>,
        repeats: &mut dyn FnMut(&str, &str) -> bool,
    ) -> Result<Added> {
        require_path(path)?;
        require_size(path, text, DEFAULT_MAX_BYTES)?;
        let author = author_in(text);
        let file = (path, text, author.as_deref());
        let mut is_wanted = |path: &str, text: &str| !repeats(path, text);
        let outcome = self.files.add(file, date::now(), since, &mut is_wanted)?;
        Ok(match outcome {
            Outcome::Added => Added::Created,
            Outcome::Taken => Added::Taken,
            Outcome::Unwanted => Added::Repeats,
        })
    }
}

impl NoteFiles for TeamFiles {
    fn name(&self) -> &str {
        self.files.source()
    }

    fn location(&self) -> String {
        self.location.clone()
    }

    fn is_certain(&self) -> bool {
        true
    }

    fn list(&self) -> Result<Listing> {
        let (files, version) = self.files.list()?;
        Ok(Listing {
            entries: files.into_iter().map(entry).collect(),
            containers: vec![container(version)],
            left_out: Vec::new(),
        })
    }

    fn read(
        &self,
        entry: &Entry,
        interpret: Interpret<'_>,
        emit: &mut dyn FnMut(Document),
    ) -> Result<Reading> {
        let Some(file) = self.files.get(&entry.key)? else {
            return Ok(Reading::Gone);
        };
        emit(interpret(
            self.name(),
            &file.path,
            &file.text,
            file.updated_at,
        ));
        Ok(Reading::Read {
            version: file.version,
        })
    }

    fn presence(&self, path: &str) -> Presence {
        let found = self.presences(&[path]);
        found.into_iter().next().unwrap_or(Presence::Unknown)
    }

    fn presences(&self, paths: &[&str]) -> Vec<Presence> {
        let owned: Vec<String> = paths.iter().map(|&path| path.to_owned()).collect();
        let Ok(listed) = self.files.listed(&owned) else {
            return vec![Presence::Unknown; paths.len()];
        };
        let of = |path: &&str| {
            let mut listed = listed.iter();
            let found = listed.find(|one| one.path == **path);
            found.map_or(Presence::Gone, |one| Presence::There(one.version))
        };
        paths.iter().map(of).collect()
    }

    fn changes_since(&self, known: &dyn Known, _: Instant) -> Result<Look> {
        let containers = known.containers()?;
        let Some(&version) = containers.get(ALL) else {
            return Ok(Look::default());
        };
        let changed = self.files.changes_since(version)?;
        if !changed.complete {
            return Ok(Look::default());
        }
        let mut look = Look {
            finished: true,
            ..Look::default()
        };
        if changed.version != version {
            look.entries = changed.written.into_iter().map(entry).collect();
            look.gone = changed.gone;
            look.containers = vec![container(changed.version)];
        }
        Ok(look)
    }

    fn locate(&self, files: &[PathBuf]) -> Result<Vec<Located>> {
        let paths = files.iter().filter_map(|file| self.path_of(file));
        let paths: Vec<String> = paths.map(str::to_owned).collect();
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let listed = self.files.listed(&paths)?;
        let located = paths.into_iter().map(|key| Located {
            entry: listed
                .iter()
                .find(|one| one.path == key)
                .cloned()
                .map(entry),
            key,
        });
        Ok(located.collect())
    }

    fn with_word(&self, word: &str) -> Result<Vec<String>> {
        self.files.with_word(word)
    }

    fn file(&self, path: &str) -> PathBuf {
        self.files.file(path)
    }

    fn text(&self, path: &str) -> Result<String> {
        let found = self.files.get(path)?;
        found.map(|file| file.text).ok_or_else(|| no_file(path))
    }

    fn create(&self, path: &str, text: &dyn Fn() -> Result<String>) -> Result<bool> {
        require_path(path)?;
        let added = self.add(path, &text()?, None, &mut |_, _| false)?;
        Ok(added == Added::Created)
    }

    fn rewrite(
        &self,
        path: &str,
        seen: [u8; 32],
        change: &mut dyn FnMut(&str) -> Result<String>,
    ) -> Result<()> {
        let old = self.text(path)?;
        if *blake3::hash(old.as_bytes()).as_bytes() != seen {
            return Err(Error::Conflict {
                key: path.to_owned(),
                path: self.file(path),
            });
        }
        let text = change(&old)?;
        if text == old {
            return Ok(());
        }
        require_size(path, &text, DEFAULT_MAX_BYTES)?;
        let author = author_in(&text);
        self.files
            .rewrite(path, (&text, author.as_deref()), seen, date::now())
    }

    fn rename(&self, path: &str, new: &str) -> Result<bool> {
        require_path(new)?;
        self.files.rename(path, new)
    }

    fn delete(&self, path: &str) -> Result<()> {
        let name = |number| name_in_trash(path, number);
        self.files.delete(path, date::now(), name)
    }

    fn read_trash(&self, visit: &mut dyn FnMut(Trashed, &str)) -> Result<()> {
        for file in self.files.trash()? {
            let trashed = Trashed {
                title: document_from_text(self.name(), &file.path, &file.text, 0).title,
                name: file.name,
                key: file.path,
                deleted_at: Some(file.deleted_at),
            };
            visit(trashed, &file.text);
        }
        Ok(())
    }

    fn restore(&self, name: &str) -> Result<String> {
        self.files.restore(name)
    }

    fn copy_in_trash(&self, name: &str) -> Result<Option<FileCopy>> {
        let hash = self.files.trashed_hash(name)?;
        Ok(hash.map(|hash| FileCopy {
            name: trash_path(name),
            hash,
        }))
    }

    fn copies(&self, path: &str) -> Result<Vec<FileCopy>> {
        let (own, trashed) = self.files.copies(path)?;
        let own = own.map(|hash| FileCopy {
            name: path.to_owned(),
            hash,
        });
        let trashed = trashed.into_iter().map(|(name, hash)| FileCopy {
            name: trash_path(&name),
            hash,
        });
        Ok(own.into_iter().chain(trashed).collect())
    }

    fn erase_copy(&self, copy: &FileCopy) -> Result<PathBuf> {
        match path_in_trash(&copy.name) {
            Some(name) => self.files.erase_trashed(name, copy.hash)?,
            None => self.files.erase(&copy.name, copy.hash)?,
        }
        Ok(self.file(&copy.name))
    }

    fn turn(&self) -> Result<Box<dyn AddingTurn + '_>> {
        Ok(Box::new(TeamTurn {
            files: self,
            since: None,
        }))
    }
}

/// The turn to add a file. It holds nothing: what others add in the meantime is compared in
/// the transaction that adds the file.
#[derive(Debug)]
struct TeamTurn<'a> {
    files: &'a TeamFiles,
    /// The version of the source when the writer began to look at what there is.
    since: Option<Version>,
}

impl AddingTurn for TeamTurn<'_> {
    fn waiting(&mut self) -> Result<Vec<String>> {
        let (paths, version) = self.files.files.not_indexed()?;
        self.since = Some(version);
        Ok(paths)
    }

    fn set_waiting(&mut self, _: &[String]) -> Result<()> {
        Ok(())
    }

    fn create(
        &mut self,
        path: &str,
        text: &str,
        repeats: &mut dyn FnMut(&str, &str) -> bool,
    ) -> Result<Added> {
        self.files.add(path, text, self.since, repeats)
    }
}

fn entry(file: ListedFile) -> Entry {
    Entry {
        key: file.path,
        version: file.version,
        size_hint: file.size,
    }
}

fn container(version: Version) -> Container {
    Container {
        key: ALL.to_owned(),
        version,
    }
}

/// Returns the name of who wrote a text, as the text says.
pub(crate) fn author_in(text: &str) -> Option<String> {
    let names = list_in(&frontmatter::divide(text).fields, &["author"]).join(", ");
    Some(names).filter(|names| !names.is_empty())
}

/// Returns the id of a memory, as its text says.
pub(crate) fn id_in(text: &str) -> Option<String> {
    let ids = list_in(&frontmatter::divide(text).fields, &["id"]);
    ids.into_iter().next()
}

fn require_path(path: &str) -> Result<()> {
    names::check(path).map_err(|detail| Error::BadKey {
        key: path.to_owned(),
        detail: detail.to_owned(),
    })
}

fn no_file(path: &str) -> Error {
    Error::NoDocument {
        reference: path.to_owned(),
        suggestions: Vec::new(),
    }
}
