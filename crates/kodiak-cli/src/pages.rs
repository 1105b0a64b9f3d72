//! Pages: which sources can be written to, and the note that was meant in one of
//! them. Used by `page` and `tag`.

use std::time::Duration;

use kodiak::access::Guard;
use kodiak::engine::{Event, Job, ToSync};
use kodiak::search::Found;
use kodiak::store::StoredDocument;
use kodiak::{Engine, Error, Reference};
use kodiak_notes::{Notes, PAGES_SOURCE, Saved, TagRenaming};

use crate::assemble::Purpose;
use crate::config::{Config, Kind, RegisteredSource};
use crate::context::Context;
use crate::failure::refusal;
use crate::listener::{Listener, Summaries};
use crate::output::Output;
use crate::output::phrases::{counted, secrets_left_out};
use crate::paths;
use crate::registration::Home;
use crate::registry;
use crate::verbs::get::find_within;

/// How long to wait for another process that writes the index. The file is
/// written by then, and the next search finds it.
const PATIENCE: Duration = Duration::from_secs(10);

/// An engine for a verb that writes, with the settings it was built from.
pub(crate) struct Desk {
    pub(crate) config: Config,
    pub(crate) engine: Engine,
}

impl Desk {
    /// Builds an engine. Finishes an erasing and the renaming of a tag that were
    /// interrupted, if there are any.
    pub(crate) fn for_writing(context: &Context<'_>, verb: &str) -> anyhow::Result<Self> {
        let desk = Self::for_reading(context, verb)?;
        finish_erasing(context.output, &desk.engine)?;
        finish_renaming(context.output, &desk.config, &desk.engine)?;
        Ok(desk)
    }

    /// Builds an engine for a verb that only lists.
    pub(crate) fn for_reading(context: &Context<'_>, verb: &str) -> anyhow::Result<Self> {
        let config = context.config()?;
        let purpose = Purpose::of(verb).patience(PATIENCE);
        let engine = context.engine(&config, purpose)?;
        Ok(Self { config, engine })
    }

    /// Returns the guard of the owner of this machine for writing to a source. Documents in
    /// an index of a team record their writer.
    pub(crate) fn writer_of(&self, source: &str) -> Guard {
        let server = self.config.source(source).and_then(|it| it.server.as_ref());
        match server.and_then(|server| server.user()) {
            Some(user) => Guard::local().writing_as(user),
            None => Guard::local(),
        }
    }

    /// Returns the names of the sources that can be written to.
    pub(crate) fn writable(&self) -> Vec<String> {
        let mut names = Notes::new(&self.engine).writable_sources(&Guard::local());
        // Memories are not pages.
        names.retain(|name| {
            let source = self.config.source(name);
            source.is_none_or(|source| !source.kind.is_memory())
        });
        names
    }

    /// Finds the note that was typed, in the sources that can be written to. A name with
    /// lines is refused: the action applies to the whole note.
    pub(crate) fn find_whole(
        &self,
        output: &Output,
        typed: &str,
    ) -> anyhow::Result<StoredDocument> {
        let found = self.look_up(output, typed)?;
        require_whole(&found, typed)?;
        Ok(found.document)
    }

    /// Finds the note that was typed, with or without lines, in the sources that can be
    /// written to.
    pub(crate) fn find(&self, output: &Output, typed: &str) -> anyhow::Result<StoredDocument> {
        Ok(self.look_up(output, typed)?.document)
    }

    fn look_up(&self, output: &Output, typed: &str) -> anyhow::Result<Found> {
        let names = self.writable();
        let guard = Guard::local().among(names.iter());
        let look = || find_within(&guard, &self.engine, &self.config, typed);
        let error = match look() {
            Ok(found) => return Ok(found),
            Err(error) if is_unknown(&error) => error,
            Err(error) => return Err(error),
        };
        let elsewhere = find_within(&Guard::local(), &self.engine, &self.config, typed);
        if let Ok(found) = elsewhere {
            return Err(unwritable(&self.config, &found.document.source));
        }
        if names.is_empty() {
            return Err(error);
        }
        // It may be newer than the index.
        work(output, |job| {
            Ok(self
                .engine
                .sync(&Guard::local(), ToSync::Only(&names), job)?)
        })?;
        look()
    }

    /// Reports the secrets that were left out of a change, and whether it is not in the
    /// index yet.
    pub(crate) fn report_index(output: &Output, saved: &Saved) {
        if let Some(left_out) = secrets_left_out(saved.secrets_left_out) {
            output.notice(&left_out);
        }
        if !saved.indexed {
            output.warning("the index is not up to date yet; run `kodiak index` to update it");
        }
    }
}

/// Fails if lines of a note were asked for.
fn require_whole(found: &Found, typed: &str) -> anyhow::Result<()> {
    match found.asked {
        None => Ok(()),
        Some(_) => Err(refusal(
            format!("'{typed}' means some lines of a note, and this takes whole notes"),
            format!(
                "leave the lines out: {}/{}",
                found.document.source, found.document.key
            ),
        )),
    }
}

/// Fails if one of the names means some lines of a document. A name that leads nowhere is
/// left to the lookup.
pub(crate) fn require_whole_names(
    engine: &Engine,
    config: &Config,
    names: &[String],
) -> anyhow::Result<()> {
    for name in names {
        let has_lines = name.parse::<Reference>().is_ok_and(|it| it.lines.is_some());
        if has_lines && let Ok(found) = find_within(&Guard::local(), engine, config, name) {
            require_whole(&found, name)?;
        }
    }
    Ok(())
}

/// Finishes an erasing that was interrupted, if there is one, and says so. An erasing that
/// cannot be finished yet is reported and does not stop other work.
pub(crate) fn finish_erasing(output: &Output, engine: &Engine) -> anyhow::Result<()> {
    let finished = work(output, |job| {
        Ok(engine.eraser(&Guard::local()).finish(job)?)
    });
    match finished {
        Ok(_) => Ok(()),
        Err(error) => match error.downcast_ref() {
            Some(Error::NotErased { source }) => {
                output.warning(&crate::listener::unfinished_erasing(source));
                Ok(())
            }
            _ => Err(error),
        },
    }
}

/// Finishes the renaming of a tag that was interrupted, if there is one, and says
/// so.
pub(crate) fn finish_renaming(
    output: &Output,
    config: &Config,
    engine: &Engine,
) -> anyhow::Result<()> {
    let resumed = work(output, |job| {
        Ok(Notes::new(engine).resume_tag_rename(&Guard::local(), job)?)
    })?;
    if let Some(resumed) = resumed {
        report_renaming(output, config, &resumed);
    }
    Ok(())
}

/// Runs work that may have to wait for another process, and says so.
pub(crate) fn work<T>(
    output: &Output,
    work: impl FnOnce(&Job<'_>) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let listener = Listener::new(output, Summaries::Never);
    // The progress of a single page is not shown.
    let event = |event: Event<'_>| match event {
        Event::Listing { .. } | Event::Found { .. } | Event::Indexed { .. } => {}
        event => listener.event(event),
    };
    let done = work(&Job::new(&event));
    listener.end();
    done
}

fn is_unknown(error: &anyhow::Error) -> bool {
    let known = error.downcast_ref::<Error>();
    matches!(
        known,
        Some(Error::NoDocument { .. } | Error::NoIndex { .. })
    )
}

/// Returns the error that a source is only read, with the way to change that.
pub(crate) fn unwritable(config: &Config, name: &str) -> anyhow::Error {
    let error = Error::NotWritable {
        name: name.to_owned(),
    };
    let hint = match config.source(name) {
        Some(source) if source.kind == Kind::Bear => {
            "Bear's notes are changed in Bear: `kodiak open` opens one".to_owned()
        }
        Some(source) if source.kind == Kind::Transcripts => {
            "transcripts are written by their agent, and only read here".to_owned()
        }
        Some(source) if source.kind == Kind::Sessions => {
            let quoted = quoted(source);
            format!(
                "`kodiak sessions add` adds records; to allow it, run `kodiak add --sessions {quoted} --writable`"
            )
        }
        Some(source) if source.kind.is_memory() => {
            "memories are not pages: see `kodiak remember` and `kodiak forget`, or open its file \
             with `kodiak open`"
                .to_owned()
        }
        Some(source) => {
            format!(
                "to allow it, run `kodiak add {} --writable`",
                quoted(source)
            )
        }
        None => return error.into(),
    };
    refusal(error.to_string(), hint)
}

fn quoted(source: &RegisteredSource) -> String {
    let path = source.path.display().to_string();
    if path.contains(|c: char| c.is_whitespace() || "'\"$&;()*?".contains(c)) {
        return format!("'{}'", path.replace('\'', "'\\''"));
    }
    path
}

/// Returns the source for a new page: the one asked for, else the one named
/// `pages`, else the first that can be written to. If there is none, makes one.
pub(crate) fn place(context: &Context<'_>, asked: Option<&str>) -> anyhow::Result<String> {
    let config = context.config()?;
    if let Some(name) = asked {
        registry::named(&config, &[name.to_owned()])?;
        return match config.source(name) {
            Some(source) if WORKSPACE.is(source) => Ok(source.name.clone()),
            _ => Err(unwritable(&config, name)),
        };
    }
    if let Some(source) = WORKSPACE.find(&config) {
        return Ok(source.name.clone());
    }
    let folder = paths::pages_folder(config.pages.as_deref())?;
    WORKSPACE.make(context, &folder, |config, known| {
        unwritable(config, &known.name)
    })
}

/// The source that new pages go to.
const WORKSPACE: Home<'static> = Home {
    kind: Kind::Markdown,
    name: PAGES_SOURCE,
    writable: true,
    verb: "page new",
    what: "new pages go to",
};

/// Prints the outcome of renaming a tag. Returns whether every note was changed.
pub(crate) fn report_renaming(output: &Output, config: &Config, done: &TagRenaming) -> bool {
    let TagRenaming { from, to, .. } = done;
    let earlier = done.earlier.as_ref();
    let earlier = earlier.is_none_or(|earlier| report_renaming(output, config, earlier));
    let notes = counted(done.files as u64, "note");
    let how = if done.resumed {
        "finished renaming"
    } else {
        "renamed"
    };
    if done.files > 0 {
        output.notice(&format!("{how} #{from} to #{to} in {notes}"));
    } else if done.left.is_empty() && done.read_only.is_empty() {
        output.notice(&format!("no note has #{from}"));
    }
    if let Some(left_out) = secrets_left_out(done.secrets_left_out) {
        output.notice(&left_out);
    }
    for left in &done.left {
        output.warning(&format!(
            "{}/{} still has #{from}: {}",
            left.source, left.key, left.reason
        ));
    }
    for (source, count) in &done.read_only {
        let notes = counted(*count as u64, "note");
        let have = if *count == 1 { "has" } else { "have" };
        let error = unwritable(config, source);
        output.partial_failure(&error.context(format!("{notes} still {have} #{from}")));
    }
    if !done.indexed {
        output.warning("the index is not up to date yet; run `kodiak index` to update it");
    }
    earlier && done.left.is_empty() && done.read_only.is_empty()
}
