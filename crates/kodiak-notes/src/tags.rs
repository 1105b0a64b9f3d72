//! Tags: listing them, and changing them in the notes that carry them.
//!
//! A renaming is planned, written to a journal, and then carried out file by
//! file. A process that dies leaves each file old or new, and the next call
//! finishes the rest.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use super::Notes;
use super::pages::{PageText, Saved};
use super::renaming::{Planned, Renaming, SUFFIX};
use crate::retag::{TagChange, below, retag, tidy_tag};
use crate::signing::signed;
use kodiak::access::{Capability, Guard};
use kodiak::engine::{Job, Journal, ToSync};
use kodiak::source::Source;
use kodiak_base::{Error, Result};
use kodiak_store::{Filter, Row};

/// The number of documents that are held in memory at once.
const DOCUMENTS_AT_ONCE: usize = 256;

/// A tag and how often it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagCount {
    /// The tag, without `#`.
    pub tag: String,
    /// The number of documents that carry it.
    pub documents: u64,
}

/// The outcome of a renaming.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagRenaming {
    /// The tag as it was.
    pub from: String,
    /// The tag as it is now.
    pub to: String,
    /// The number of files that were rewritten.
    pub files: usize,
    /// Whether a process that was interrupted had begun it.
    pub resumed: bool,
    /// The notes that still carry the tag, each with the reason.
    pub left: Vec<Left>,
    /// The number of notes that carry the tag in each source that cannot be
    /// written to.
    pub read_only: Vec<(String, usize)>,
    /// Whether the index has all of it. Otherwise the next sync does.
    pub indexed: bool,
    /// The number of secrets that were left out of the new tag: in memories and articles.
    /// Other notes are written as they are.
    pub secrets_left_out: usize,
    /// Another renaming that was interrupted, and finished before this one.
    pub earlier: Option<Box<TagRenaming>>,
}

/// A note that still carries a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// The source it is from.
    pub source: String,
    /// Its key.
    pub key: String,
    /// Why it was left.
    pub reason: String,
}

/// A note whose tags were changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retagged {
    /// Where it is.
    pub saved: Saved,
    /// The tags that were added, as they are written.
    pub added: Vec<String>,
    /// Its former text.
    pub before: PageText,
    /// The hash of its text, which [`Notes::replace`] compares.
    pub hash: [u8; 32],
}

impl Notes<'_> {
    /// Lists the tags of the documents that `filter` admits, sorted by name.
    pub fn tags(&self, guard: &Guard, filter: &Filter) -> Result<Vec<TagCount>> {
        guard.require(Capability::Read)?;
        let filter = guard.narrow(filter);
        let tags = self
            .engine
            .view(guard)
            .read(|reader| reader.tags(&filter))?;
        let tags = tags.into_iter();
        Ok(tags
            .map(|(tag, documents)| TagCount { tag, documents })
            .collect())
    }

    /// Adds tags to a note, in its frontmatter. Tags that it has stay as they are.
    pub fn add_tags(
        &self,
        guard: &Guard,
        source: &str,
        key: &str,
        tags: &[String],
        job: &Job<'_>,
    ) -> Result<Saved> {
        Ok(self
            .change_tags(guard, source, key, (tags, &[]), job)?
            .saved)
    }

    /// Removes tags from a note: from its frontmatter, and the `#` before each in
    /// its text. Tags below them stay.
    pub fn remove_tags(
        &self,
        guard: &Guard,
        source: &str,
        key: &str,
        tags: &[String],
        job: &Job<'_>,
    ) -> Result<Saved> {
        Ok(self
            .change_tags(guard, source, key, (&[], tags), job)?
            .saved)
    }

    /// Adds and removes tags of a note in one step, as [`Notes::add_tags`] and
    /// [`Notes::remove_tags`] do. `tags` has those to add and those to remove. The former
    /// text is returned, so that the change can be taken back.
    pub fn change_tags(
        &self,
        guard: &Guard,
        source: &str,
        key: &str,
        tags: (&[String], &[String]),
        job: &Job<'_>,
    ) -> Result<Retagged> {
        let writable = self.writable_with(guard, source, key)?;
        let before = PageText::of(writable.text(key)?);
        let mut text = before.text.clone();
        let (mut added, mut left_out) = (Vec::new(), 0);
        for tag in tags.0 {
            let (tag, secrets) = writable.text_without_secrets(&tidied(tag)?);
            added.push(tag);
            left_out += secrets;
        }
        let removed = tags.1.iter().map(|tag| tidied(tag));
        let removed = removed.collect::<Result<Vec<String>>>()?;
        let removals = removed.iter().map(|tag| TagChange::Remove(tag));
        for change in removals.chain(added.iter().map(|tag| TagChange::Add(tag))) {
            text = retag(key, &text, change).map_err(|detail| Error::BadDraft {
                key: key.to_owned(),
                detail,
            })?;
        }
        text = signed(guard.writer(), key, &before.text, &text)?;
        writable.replace(key, &text, before.hash)?;
        Ok(Retagged {
            saved: Saved {
                secrets_left_out: left_out,
                ..self.saved(guard, source, &[key], job)?
            },
            added,
            before,
            hash: PageText::of(text).hash,
        })
    }

    /// Renames a tag, and those below it, in every note of the sources that the
    /// caller may write to. A renaming that was interrupted is finished first.
    pub fn rename_tag(
        &self,
        guard: &Guard,
        from: &str,
        to: &str,
        job: &Job<'_>,
    ) -> Result<TagRenaming> {
        guard.require(Capability::Write)?;
        let (from, to) = (tidied(from)?, tidied(to)?);
        let journal = self.engine.journal(SUFFIX);
        let journal = journal.as_ref();
        let lock = journal.map(|journal| journal.lock(job));
        let _lock = lock.transpose()?;
        let mut earlier = None;
        let begun = journal.map(Journal::read::<Renaming>).transpose()?;
        if let Some(begun) = begun.flatten() {
            if !begun.is_within(guard) {
                return Err(Error::NotAllowed {
                    capability: Capability::Write.name(),
                });
            }
            let same = begun.from == from && (begun.to == to || begun.asked_for(&to));
            let finished = self.finish(guard, begun, journal, true, job)?;
            if same {
                return Ok(finished);
            }
            earlier = Some(Box::new(finished));
        }
        // The index must know every note that carries the tag.
        let sources = self.writable_sources(guard);
        self.engine
            .sync(&Guard::local(), ToSync::Only(&sources), job)?;
        let mut renaming = TagRenaming::default();
        let planned = self.plan(guard, &from, &to, &mut renaming)?;
        if let (Some(journal), false) = (journal, planned.files.is_empty()) {
            journal.write(&planned)?;
        }
        let left_out = renaming.secrets_left_out;
        let finished = self.finish(guard, planned, journal, false, job)?;
        renaming.left.extend(finished.left);
        Ok(TagRenaming {
            left: renaming.left,
            read_only: renaming.read_only,
            secrets_left_out: left_out,
            earlier,
            ..finished
        })
    }

    /// Finishes a renaming that a process was interrupted in, if there is one and
    /// no other process is at it.
    pub fn resume_tag_rename(&self, guard: &Guard, job: &Job<'_>) -> Result<Option<TagRenaming>> {
        guard.require(Capability::Write)?;
        let Some(journal) = self.engine.journal(SUFFIX).filter(Journal::exists) else {
            return Ok(None);
        };
        let Some(_lock) = journal.try_lock()? else {
            return Ok(None);
        };
        match journal.read::<Renaming>()? {
            Some(begun) if begun.is_within(guard) => {
                let finished = self.finish(guard, begun, Some(&journal), true, job);
                finished.map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Finds the notes that carry the tag, with the new text of each.
    fn plan(
        &self,
        guard: &Guard,
        from: &str,
        to: &str,
        renaming: &mut TagRenaming,
    ) -> Result<Renaming> {
        let mut plan = Renaming {
            from: from.to_owned(),
            to: to.to_owned(),
            asked: None,
            by: guard.writer().map(str::to_owned),
            files: Vec::new(),
        };
        let mut planned: HashSet<PathBuf> = HashSet::new();
        let mut elsewhere: Vec<(String, PathBuf)> = Vec::new();
        let mut written: BTreeSet<String> = BTreeSet::new();
        for rows in self.carrying(guard, from)?.chunks(DOCUMENTS_AT_ONCE) {
            for document in self
                .engine
                .view(&Guard::local())
                .read(|reader| reader.documents(rows))?
            {
                let (source, key) = (document.source, document.key);
                let Ok(writable) = self.writable(guard, &source) else {
                    let known = self.engine.view(guard).source(&source);
                    let root = known.map_or_else(|_| String::new(), Source::location);
                    let file = Path::new(&root).join(&key);
                    elsewhere.push((source, file));
                    continue;
                };
                // Sources may overlap.
                if !planned.insert(writable.file(&key)) {
                    continue;
                }
                // Each note gets what its source admits.
                let (clean, secrets) = writable.text_without_secrets(to);
                let change = TagChange::Rename { from, to: &clean };
                let rewritten = writable.text(&key).and_then(|text| {
                    let new = retag(&key, &text, change).map_err(|detail| Error::BadDraft {
                        key: key.clone(),
                        detail,
                    })?;
                    let new = signed(guard.writer(), &key, &text, &new)?;
                    Ok((PageText::of(text), PageText::of(new)))
                });
                match rewritten {
                    Ok((old, new)) => {
                        renaming.secrets_left_out = secrets.max(renaming.secrets_left_out);
                        written.insert(clean);
                        plan.files.push(Planned {
                            source,
                            key,
                            before: old.hash,
                            after: new.hash,
                        });
                    }
                    Err(error) => renaming.left.push(Left {
                        source,
                        key,
                        reason: reason(error),
                    }),
                }
            }
        }
        let mut read_only: BTreeMap<String, usize> = BTreeMap::new();
        for (source, file) in elsewhere {
            if !planned.contains(&file) {
                *read_only.entry(source).or_default() += 1;
            }
        }
        renaming.read_only = read_only.into_iter().collect();
        if !written.contains(to)
            && let Some(clean) = written.pop_first()
        {
            // No note gets the secret, and the journal does not either.
            plan.asked = Some(Renaming::hash_of(to));
            plan.to = clean;
        }
        Ok(plan)
    }

    /// Returns the documents that carry a tag or one below it.
    fn carrying(&self, guard: &Guard, name: &str) -> Result<Vec<Row>> {
        let everything = guard.narrow(&Filter::default());
        self.engine.view(&Guard::local()).read(|reader| {
            let mut rows: Vec<Row> = Vec::new();
            for (tag, _) in reader.tags(&everything)? {
                if below(&tag, name).is_none() {
                    continue;
                }
                let filter = Filter {
                    tags: vec![tag],
                    ..everything.clone()
                };
                let found = reader.newest(&filter, None, usize::MAX)?.best;
                rows.extend(found.into_iter().map(|found| found.row));
            }
            rows.sort_unstable();
            rows.dedup();
            Ok(rows)
        })
    }

    /// Carries out the plan and removes the journal.
    fn finish(
        &self,
        guard: &Guard,
        begun: Renaming,
        journal: Option<&Journal>,
        resumed: bool,
        job: &Job<'_>,
    ) -> Result<TagRenaming> {
        let mut renaming = TagRenaming {
            resumed,
            indexed: true,
            ..TagRenaming::default()
        };
        let mut written: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
        for planned in &begun.files {
            // The journal stays, so that the rest is done later.
            job.check()?;
            let Planned { source, key, .. } = planned;
            match self.carry_out(guard, planned, &begun) {
                Ok(file) => {
                    renaming.files += 1;
                    written.entry(source.clone()).or_default().push(file);
                }
                // Only the user can resolve it: trying again would not help.
                Err(error) => renaming.left.push(Left {
                    source: source.clone(),
                    key: key.clone(),
                    reason: reason(error),
                }),
            }
        }
        for (source, files) in written {
            renaming.indexed &= self.engine.index_written(&source, &files, job);
        }
        journal.map(Journal::remove).transpose()?;
        (renaming.from, renaming.to) = (begun.from, begun.to);
        Ok(renaming)
    }

    /// Rewrites one file, unless that is done already.
    fn carry_out(&self, guard: &Guard, planned: &Planned, begun: &Renaming) -> Result<PathBuf> {
        let writable = self.writable(guard, &planned.source)?;
        let file = writable.file(&planned.key);
        let page = PageText::of(writable.text(&planned.key)?);
        if page.hash == planned.after {
            return Ok(file);
        }
        if page.hash != planned.before {
            return Err(Error::Conflict {
                key: planned.key.clone(),
                path: file,
            });
        }
        let (to, _) = writable.text_without_secrets(&begun.to);
        let (from, to) = (&*begun.from, &*to);
        let change = TagChange::Rename { from, to };
        let text = retag(&planned.key, &page.text, change).map_err(|detail| Error::BadDraft {
            key: planned.key.clone(),
            detail,
        })?;
        let text = signed(begun.by.as_deref(), &planned.key, &page.text, &text)?;
        writable.replace(&planned.key, &text, page.hash)?;
        Ok(file)
    }
}

fn tidied(tag: &str) -> Result<String> {
    tidy_tag(tag).map_err(|detail| Error::BadTag {
        tag: tag.to_owned(),
        detail,
    })
}

/// Words why one note was left.
fn reason(error: Error) -> String {
    match error {
        Error::BadDraft { detail, .. } | Error::BadKey { detail, .. } => detail,
        Error::Conflict { .. } => "it has changed since".to_owned(),
        Error::NoDocument { .. } => "it is gone".to_owned(),
        error => error.to_string(),
    }
}
