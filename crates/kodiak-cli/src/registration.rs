//! Registers a folder or Bear's database: chooses its name, checks whether it is registered
//! already, and writes it to the config. Used by `add` and by verbs that
//! make a folder for what they write.

use std::path::{Path, PathBuf};

use kodiak::Error;
use kodiak::access::Guard;
use kodiak::engine::{Event, Job, SyncReport, ToSync};

use crate::assemble::{self, Purpose};
use crate::config::{
    Config, Kind, RegisteredSource, TranscriptSettings, edit, is_reserved, tidy_name,
};
use crate::context::Context;
use crate::failure::refusal;
use crate::interrupt::Working;
use crate::listener::{self, Listener, Summaries};
use crate::places::Places;
use crate::registry;

/// A source to register.
#[derive(Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) kind: Kind,
    /// The folder or file, with its links resolved.
    pub(crate) path: PathBuf,
    pub(crate) name: Option<&'a str>,
    pub(crate) globs: &'a [String],
    /// Whether notes may be written to it. A source that is writable stays so.
    pub(crate) writable: bool,
    /// How transcripts are read, if it has some.
    pub(crate) transcripts: Option<TranscriptSettings>,
}

/// Whether a source is registered already.
#[derive(Debug)]
enum Standing {
    Known(RegisteredSource),
    New(RegisteredSource),
}

/// Registers the source and indexes it. One that is registered already is
/// only brought up to date. If it cannot be indexed, nothing is registered.
pub(crate) fn register(
    context: &Context<'_>,
    wanted: &Wanted<'_>,
    purpose: Purpose<'_>,
) -> anyhow::Result<RegisteredSource> {
    // Checked before the lock is taken, so that a mistake creates neither an
    // index nor a lock file.
    check(&context.config()?, wanted)?;
    let _lock = edit::lock(&context.config_path, purpose.verb)?;
    // Checked again, now that no other process can edit the config.
    let mut config = context.config()?;
    let standing = check(&config, wanted)?;
    let output = context.output;
    let source = match &standing {
        Standing::New(source) | Standing::Known(source) => source.clone(),
    };
    match &standing {
        Standing::New(_) => {
            report_overlaps(context, &config, wanted);
            config.sources.push(source.clone());
        }
        Standing::Known(_) => {
            output.notice(&format!(
                "{} is already registered as '{}'",
                source.path.display(),
                source.name
            ));
            for known in &mut config.sources {
                if known.name == source.name {
                    *known = source.clone();
                }
            }
        }
    }
    // The config comes first: a process that waits to write the index reads there, once
    // it has the lock, which sources to keep.
    let existed = context.config_path.exists();
    let is_new = matches!(standing, Standing::New(_));
    if is_new {
        edit::add_source(&context.config_path, &source)?;
    }
    let report = match index(context, &config, &source, purpose) {
        Ok(report) => report,
        Err(error) if is_new => return Err(unregister(context, &source, existed, error)),
        Err(error) => return Err(error),
    };
    let is_brief = is_new && !output.says_everything();
    if is_brief {
        // A folder of transcripts is one of several, which are named already.
        let from = (source.kind != Kind::Transcripts)
            .then(|| Places::new(&config).shown_folder(&source.path));
        for (name, report) in &report.synced {
            output.notice(&listener::added(name, from.as_deref(), report));
        }
    } else if is_new {
        let path = source.path.display();
        output.notice(&format!("added {path} as '{}'", source.name));
    } else {
        if !wanted.globs.is_empty() {
            edit::set_globs(&context.config_path, &source.name, wanted.globs)?;
        }
        if wanted.writable {
            edit::set_writable(&context.config_path, &source.name)?;
        }
    }
    if wanted.writable {
        output.notice(&format!("'{}' is now writable", source.name));
    }
    let location = source.path.display().to_string();
    for (name, report) in report.synced.iter().filter(|_| !is_brief) {
        listener::print_summary(output, name, &location, report);
    }
    Ok(source)
}

/// A source that is made when something is first written to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Home<'a> {
    pub(crate) kind: Kind,
    /// Its name, unless that is taken.
    pub(crate) name: &'a str,
    pub(crate) writable: bool,
    /// The verb that writes to it.
    pub(crate) verb: &'a str,
    /// The phrase before its folder, such as "new pages go to".
    pub(crate) what: &'a str,
}

impl Home<'_> {
    /// Returns the source that this is in the config, if there is one: that with its name, or
    /// else the first of its kind.
    pub(crate) fn find<'a>(&self, config: &'a Config) -> Option<&'a RegisteredSource> {
        let mut fitting = config.sources.iter().filter(|source| self.is(source));
        let named = fitting.clone().find(|source| source.name == self.name);
        named.or_else(|| fitting.next())
    }

    /// Reports whether a source is suitable for these documents.
    pub(crate) fn is(&self, source: &RegisteredSource) -> bool {
        source.kind == self.kind && (source.writable || !self.writable)
    }

    /// Returns the source of a folder. Makes the folder and registers it if need be; a folder
    /// that is another source is the error that `taken` returns.
    pub(crate) fn make(
        &self,
        context: &Context<'_>,
        folder: &Path,
        taken: impl FnOnce(&Config, &RegisteredSource) -> anyhow::Error,
    ) -> anyhow::Result<String> {
        let _lock = edit::lock(&context.config_path, self.verb)?;
        let config = context.config()?;
        kodiak::files::create_folder(folder).map_err(Error::io("create the folder", folder))?;
        let folder = registry::existing_folder(folder)?;
        match registry::registered_at(&config, &folder) {
            // Another process was faster.
            Some(known) if self.is(known) => return Ok(known.name.clone()),
            Some(known) => return Err(taken(&config, known)),
            None => {}
        }
        let source = RegisteredSource {
            name: config.free_name(self.name),
            kind: self.kind,
            path: folder,
            globs: Vec::new(),
            writable: self.writable,
            transcripts: None,
            server: None,
        };
        edit::add_source(&context.config_path, &source)?;
        context.output.notice(&format!(
            "{} {}, which is now the source '{}'",
            self.what,
            source.path.display(),
            source.name
        ));
        Ok(source.name)
    }
}

/// Indexes a source of this config.
fn index(
    context: &Context<'_>,
    config: &Config,
    source: &RegisteredSource,
    purpose: Purpose<'_>,
) -> anyhow::Result<SyncReport> {
    let engine = context.engine(config, purpose)?;
    let listener = Listener::new(context.output, Summaries::Never);
    let working = Working::begin()?;
    let synced = {
        let event = |event: Event<'_>| listener.event(event);
        let job = Job::new(&event).cancelled_by(working.cancel());
        let names = std::slice::from_ref(&source.name);
        engine.sync(&Guard::local(), ToSync::Only(names), &job)
    };
    listener.end();
    working.check()?;
    let mut report = synced?;
    match report.failed.pop() {
        Some(failure) => Err(failure.error.into()),
        None => Ok(report),
    }
}

/// Takes a source that could not be indexed out of the config again, or removes the
/// config if it did not exist. Returns the error, which says so if that fails.
fn unregister(
    context: &Context<'_>,
    source: &RegisteredSource,
    existed: bool,
    error: anyhow::Error,
) -> anyhow::Error {
    let path = &context.config_path;
    let removed = if existed {
        edit::remove_source(path, &source.name)
    } else {
        std::fs::remove_file(path).map_err(Into::into)
    };
    match removed {
        Ok(()) => error,
        Err(_) => error.context(format!(
            "'{}' was not indexed but stays in the config {}",
            source.name,
            path.display()
        )),
    }
}

/// Determines whether the source is registered already, and checks that it
/// contains notes.
fn check(config: &Config, wanted: &Wanted<'_>) -> anyhow::Result<Standing> {
    let standing = standing(config, wanted)?;
    let (source, new_globs) = match &standing {
        Standing::New(source) => (source, true),
        Standing::Known(source) => (source, !wanted.globs.is_empty()),
    };
    let opened = assemble::source(config, source)?;
    // The sync reports a registered folder that has become empty.
    // Memories are written to a folder that is empty at first.
    let may_be_empty = wanted.writable || wanted.kind.is_memory();
    if new_globs && !may_be_empty && opened.list()?.entries.is_empty() {
        return Err(no_notes(wanted));
    }
    Ok(standing)
}

/// Returns the number of files of a source that is not registered yet; `None` if it is.
pub(crate) fn new_files(config: &Config, wanted: &Wanted<'_>) -> anyhow::Result<Option<usize>> {
    match standing(config, wanted)? {
        Standing::Known(_) => Ok(None),
        Standing::New(source) => {
            let listing = assemble::source(config, &source)?.list()?;
            Ok(Some(listing.entries.len()))
        }
    }
}

fn standing(config: &Config, wanted: &Wanted<'_>) -> anyhow::Result<Standing> {
    let name = wanted.name.map(tidy_name);
    if let Some(known) = registry::registered_at(config, &wanted.path) {
        if wanted.kind == Kind::Memory && known.kind != Kind::Memory {
            return Err(refusal(
                format!(
                    "{} is the source '{}', which does not hold memories",
                    wanted.path.display(),
                    known.name
                ),
                format!(
                    "run `kodiak remove {}` first; this deletes no files",
                    known.name
                ),
            ));
        }
        if let Some(name) = name.filter(|name| *name != known.name) {
            return Err(refusal(
                format!(
                    "{} is already registered as '{}'",
                    wanted.path.display(),
                    known.name
                ),
                format!(
                    "to name it '{name}', run `kodiak remove {}` first; this deletes no files",
                    known.name
                ),
            ));
        }
        let mut known = known.clone();
        if !wanted.globs.is_empty() {
            known.globs = wanted.globs.to_vec();
        }
        known.writable |= wanted.writable;
        return Ok(Standing::Known(known));
    }
    let name = match name {
        None => free_name(config, wanted),
        Some(name) if is_reserved(&name) => {
            return Err(refusal(
                format!(
                    "no source can be named '{name}': the name is reserved for search addresses"
                ),
                "choose another name with --name",
            ));
        }
        Some(name) => match config.source(&name) {
            None => name,
            Some(other) => {
                return Err(refusal(
                    format!(
                        "the name '{name}' is already used for {}",
                        other.path.display()
                    ),
                    format!("choose another name with --name, or run `kodiak remove {name}` first"),
                ));
            }
        },
    };
    Ok(Standing::New(RegisteredSource {
        name,
        kind: wanted.kind,
        path: wanted.path.clone(),
        globs: wanted.globs.to_vec(),
        writable: wanted.writable,
        transcripts: wanted.transcripts.clone(),
        server: None,
    }))
}

/// Returns the folder's name in lower case, or the name of the application, with
/// a number appended if another source has this name.
fn free_name(config: &Config, wanted: &Wanted<'_>) -> String {
    let name = match wanted.kind {
        Kind::Markdown => {
            let name = wanted.path.file_name().unwrap_or_default();
            tidy_name(&name.to_string_lossy().to_lowercase())
        }
        Kind::Bear | Kind::Sessions | Kind::Memory | Kind::Article => wanted.kind.name().to_owned(),
        Kind::Transcripts => match &wanted.transcripts {
            Some(settings) => settings.agent.clone(),
            None => wanted.kind.name().to_owned(),
        },
    };
    config.free_name(&name)
}

/// Prints a notice for each folder that contains this one or lies in it.
fn report_overlaps(context: &Context<'_>, config: &Config, wanted: &Wanted<'_>) {
    if wanted.kind != Kind::Markdown {
        return;
    }
    let folder = &wanted.path;
    for (source, _) in registry::around(config, folder) {
        context.output.notice(&format!(
            "this folder is inside the source '{}' ({}): its notes will be found twice",
            source.name,
            source.path.display()
        ));
    }
    for source in registry::inside(config, folder) {
        if source.kind != Kind::Markdown {
            continue;
        }
        context.output.notice(&format!(
            "this folder contains the source '{}' ({}): its notes will be found twice",
            source.name,
            source.path.display()
        ));
    }
}

fn no_notes(wanted: &Wanted<'_>) -> anyhow::Error {
    let (kind, globs) = (wanted.kind, wanted.globs);
    if kind == Kind::Transcripts {
        let message = format!("no sessions found in {}", wanted.path.display());
        let hint = "name the folder in which the agent keeps its sessions";
        return refusal(message, hint);
    }
    if kind == Kind::Sessions {
        return refusal(
            format!("no session records found in {}", wanted.path.display()),
            "session records are files such as 9f2c4e1ab0d37756-v1.json; to begin with an empty folder, add --writable",
        );
    }
    let message = format!("no notes found in {}", wanted.path.display());
    if kind == Kind::Bear {
        return refusal(message, "write a note in Bear, or name another database");
    }
    if globs.is_empty() {
        let known = "names of notes end in .md, .markdown, .mdx, .txt or .org";
        return refusal(
            message,
            format!("{known}; to index other files, add a pattern such as --glob '*.rst'"),
        );
    }
    refusal(
        message,
        format!("no file matches --glob {}", globs.join(" --glob ")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(name: &str, path: &str) -> RegisteredSource {
        RegisteredSource {
            name: name.into(),
            kind: Kind::Markdown,
            path: path.into(),
            globs: Vec::new(),
            writable: false,
            transcripts: None,
            server: None,
        }
    }

    #[test]
    fn names_come_from_folders_and_are_unique() {
        let mut config = Config::default();
        let name = |config: &Config, kind, path: &str| {
            let wanted = Wanted {
                kind,
                path: path.into(),
                name: None,
                globs: &[],
                writable: false,
                transcripts: None,
            };
            free_name(config, &wanted)
        };
        let folder = |config: &Config, path| name(config, Kind::Markdown, path);
        assert_eq!(folder(&config, "/x/My Notes"), "my-notes");
        config.sources.push(source("my-notes", "/x/My Notes"));
        assert_eq!(folder(&config, "/y/my notes"), "my-notes-2");
        config.sources.push(source("my-notes-2", "/y/my notes"));
        assert_eq!(folder(&config, "/z/my-notes"), "my-notes-3");
        assert_eq!(folder(&config, "/"), "notes");
        assert_eq!(name(&config, Kind::Bear, "/x/database.sqlite"), "bear");
        config.sources.push(source("bear", "/x/bear"));
        assert_eq!(name(&config, Kind::Bear, "/x/database.sqlite"), "bear-2");
    }

    #[test]
    fn a_name_belongs_to_one_folder() {
        let mut config = Config::default();
        config.sources.push(source("notes", "/a"));
        let wanted = |folder: &str, name| Wanted {
            kind: Kind::Markdown,
            path: folder.into(),
            name,
            globs: &[],
            writable: false,
            transcripts: None,
        };
        let known = standing(&config, &wanted("/a", None)).unwrap();
        assert!(matches!(known, Standing::Known(source) if source.name == "notes"));
        standing(&config, &wanted("/a", Some("other"))).unwrap_err();
        standing(&config, &wanted("/b", Some("notes"))).unwrap_err();
        let new = standing(&config, &wanted("/b", Some("my notes"))).unwrap();
        assert!(matches!(new, Standing::New(source) if source.name == "my-notes"));
    }
}
