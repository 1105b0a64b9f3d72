//! `kodiak page`: writes, changes, deletes and restores pages.

use std::path::{Path, PathBuf};

use kodiak::access::Guard;
use kodiak::search::Card;
use kodiak::source::{Draft, Trashed};
use kodiak::store::Filter;
use kodiak::{Error, Reference};
use kodiak_notes::Notes;
use kodiak_notes::markdown::{document_from_text, path_in};
use serde::Serialize;

use super::{Outcome, note};
use crate::arguments::{
    DeleteArguments, EditArguments, ListPagesArguments, NewPageArguments, PageVerb,
    RenamePageArguments, RestoreArguments,
};
use crate::config::Kind;
use crate::context::Context;
use crate::edited::EditedCopy;
use crate::editor;
use crate::failure::refusal;
use crate::output::escape::escaped;
use crate::output::phrases::ago;
use crate::output::table::{Step, Table};
use crate::pages::{self, Desk, work};
use crate::places::{Places, Reader};
use crate::registry;

pub(super) fn run(verb: &PageVerb, context: &Context<'_>) -> anyhow::Result<Outcome> {
    match verb {
        PageVerb::New(arguments) => create(arguments, context),
        PageVerb::Edit(arguments) => edit(arguments, context),
        PageVerb::Rename(arguments) => rename(arguments, context),
        PageVerb::List(arguments) if arguments.trash => list_trash(arguments, context),
        PageVerb::List(arguments) => list(arguments, context),
        PageVerb::Delete(arguments) => delete(arguments, context),
        PageVerb::Restore(arguments) => restore(arguments, context),
    }
}

fn joined(words: &[String]) -> String {
    let words: Vec<&str> = words
        .iter()
        .flat_map(|word| word.split_whitespace())
        .collect();
    words.join(" ")
}

/// The name that means Bear where no source has it.
const BEAR: &str = "bear";

/// Reports whether a source is Bear, which creates its notes itself.
fn is_bear(source: &str, context: &Context<'_>) -> anyhow::Result<bool> {
    let config = context.config()?;
    Ok(match config.source(source) {
        Some(source) => source.kind == Kind::Bear,
        None => source == BEAR,
    })
}

fn create_in_bear(arguments: &NewPageArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    for (option, given) in [
        ("--folder", arguments.folder.is_some()),
        ("--edit", arguments.edit),
    ] {
        if given {
            return Err(refusal(
                format!("Bear creates the note, so {option} has no effect"),
                format!("leave out {option}"),
            ));
        }
    }
    let (title, text) = (&arguments.title, &arguments.text);
    note::create(title, &arguments.tags, text, context.output)
}

fn create(arguments: &NewPageArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    if let Some(source) = &arguments.source
        && is_bear(source, context)?
    {
        return create_in_bear(arguments, context);
    }
    let title = joined(&arguments.title);
    if title.is_empty() {
        return Err(refusal("the page has no title", "type some words"));
    }
    let mut body = note::typed_text(&arguments.text)?;
    if !body.is_empty() && !body.ends_with('\n') {
        body.push('\n');
    }
    let source = pages::place(context, arguments.source.as_deref())?;
    let desk = Desk::for_writing(context, "page new")?;
    let folder = arguments.folder.as_deref();
    let known = Notes::new(&desk.engine).titled(&Guard::local(), &source, folder, &title)?;
    if let Some(page) = known.first().filter(|_| !arguments.again) {
        let places = Places::new(&desk.config);
        let place = places.told(&page.source, &page.path, context.output.reader_beside());
        return Err(refusal(
            format!(
                "a page named \"{}\" already exists: {}",
                page.title, place.text
            ),
            format!(
                "run `kodiak page edit {}` to change it, or add --again to write another one",
                page.id
            ),
        ));
    }
    let draft = Draft {
        title,
        body,
        tags: arguments.tags.clone(),
        folder: arguments.folder.clone(),
        created_at: Some(kodiak::date::now()),
        ..Draft::default()
    };
    let saved = work(context.output, |job| {
        Ok(Notes::new(&desk.engine).create(&desk.writer_of(&source), &source, &draft, job)?)
    })?;
    print_place(&desk, context, &source, &saved.key)?;
    Desk::report_index(context.output, &saved);
    if arguments.edit {
        open(&desk, context, &source, &saved.key, 1)?;
    }
    Ok(Outcome::Done)
}

fn file_of(desk: &Desk, source: &str, key: &str) -> PathBuf {
    if is_kept(desk, source) {
        // It has no file, and every verb that takes a note takes this name.
        return Path::new(source).join(key);
    }
    let root = desk.config.source(source).map(|source| source.path.clone());
    path_in(&root.unwrap_or_default(), key)
}

/// Prints where a page is: for a program its absolute path, for a person one that can be
/// pasted.
fn print_place(desk: &Desk, context: &Context<'_>, source: &str, key: &str) -> anyhow::Result<()> {
    let output = context.output;
    let places = Places::new(&desk.config);
    let name = match output.reader() {
        Reader::Person if !is_kept(desk, source) => {
            places.linked_at(source, key).render(output.links())
        }
        _ => file_of(desk, source, key).display().to_string(),
    };
    output.answer(&format!("{name}\n"))
}

/// Says what happened to a page.
fn tell(what: &str, desk: &Desk, context: &Context<'_>, source: &str, key: &str) {
    let output = context.output;
    let name = Places::new(&desk.config).told(source, key, output.reader_beside());
    output.notice_of(&format!("{what} "), &name, "");
}

/// Reports whether an index on a server keeps a source.
fn is_kept(desk: &Desk, source: &str) -> bool {
    let source = desk.config.source(source);
    source.is_some_and(|source| source.server.is_some())
}

fn edit(arguments: &EditArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let desk = Desk::for_writing(context, "page edit")?;
    let reference: kodiak::Result<Reference> = arguments.page.parse();
    let line = reference.ok().and_then(|reference| reference.lines);
    let found = desk.find(context.output, &arguments.page)?;
    let (source, key) = (&found.source, &found.key);
    if arguments.text.is_none() && arguments.append.is_none() {
        let line = line.map_or(1, |lines| lines.from);
        return if is_kept(&desk, source) {
            edit_copy(&desk, context, source, key, line)
        } else {
            open(&desk, context, source, key, line)
        };
    }
    let page = Notes::new(&desk.engine).text(&Guard::local(), source, key)?;
    let newline = if page.text.contains("\r\n") {
        "\r\n"
    } else {
        "\n"
    };
    let ended = |mut text: String| {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push_str(newline);
        }
        text
    };
    let front = document_from_text(source, key, &page.text, 0).front;
    let text = match (&arguments.text, &arguments.append) {
        (Some(text), _) => format!("{}{}", ended(front.clone()), ended(note::typed_text(text)?)),
        (None, Some(more)) => {
            let more = ended(note::typed_text(more)?);
            format!("{}{more}", ended(page.text.clone()))
        }
        (None, None) => page.text.clone(),
    };
    if document_from_text(source, key, &text, 0).front.trim_end() != front.trim_end() {
        return Err(refusal(
            "the text starts with what looks like frontmatter",
            "leave the frontmatter out: the page keeps its own",
        ));
    }
    let saved = work(context.output, |job| {
        let guard = desk.writer_of(source);
        Ok(Notes::new(&desk.engine).replace(&guard, source, key, &text, page.hash, job)?)
    })?;
    tell("changed", &desk, context, source, key);
    Desk::report_index(context.output, &saved);
    Ok(Outcome::Done)
}

/// Opens a copy of a page without a file in the editor, and saves what was made of it. If
/// it cannot be saved, the copy stays.
fn edit_copy(
    desk: &Desk,
    context: &Context<'_>,
    source: &str,
    key: &str,
    line: usize,
) -> anyhow::Result<Outcome> {
    let notes = Notes::new(&desk.engine);
    let page = notes.text(&Guard::local(), source, key)?;
    let copy = EditedCopy::write(context.index.beside(), (source, key), &page.text)?;
    editor::open(copy.path(), line)?;
    let limit = desk.config.max_file_size.0;
    let text = kodiak::files::read_text(copy.path(), limit);
    let text = text.map_err(Error::io("read", copy.path()))?;
    if text == page.text {
        tell("nothing changed in", desk, context, source, key);
        return Ok(Outcome::Done);
    }
    let guard = desk.writer_of(source);
    let saved = work(context.output, |job| {
        Ok(notes.replace(&guard, source, key, &text, page.hash, job)?)
    });
    let eraser = desk.engine.eraser(&guard);
    let saved = match saved {
        Err(error) if eraser.was_erased(source, key).unwrap_or_default() => {
            return Err(error.context("could not save the page, which was purged"));
        }
        Err(error) => {
            let kept = copy.keep();
            return Err(error.context(format!(
                "could not save the page; what you wrote is in {}",
                kept.display()
            )));
        }
        Ok(saved) => saved,
    };
    tell("changed", desk, context, source, key);
    Desk::report_index(context.output, &saved);
    Ok(Outcome::Done)
}

/// Opens a page in the editor and indexes what was made of it.
fn open(
    desk: &Desk,
    context: &Context<'_>,
    source: &str,
    key: &str,
    line: usize,
) -> anyhow::Result<Outcome> {
    // Also checks that it is a file that may be written to.
    let before = Notes::new(&desk.engine).text(&Guard::local(), source, key)?;
    let edited = editor::open(&file_of(desk, source, key), line);
    let after = Notes::new(&desk.engine).text(&Guard::local(), source, key);
    let indexed = work(context.output, |job| {
        Ok(Notes::new(&desk.engine).reindex(&Guard::local(), source, &[key], job)?)
    })?;
    edited?;
    let what = match after {
        Ok(after) if after == before => "nothing changed in",
        _ => "changed",
    };
    tell(what, desk, context, source, key);
    if !indexed {
        let message = "the index is not up to date yet; run `kodiak index` to update it";
        context.output.warning(message);
    }
    Ok(Outcome::Done)
}

fn rename(arguments: &RenamePageArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let desk = Desk::for_writing(context, "page rename")?;
    let found = desk.find_whole(context.output, &arguments.page)?;
    let (source, key) = (&found.source, &found.key);
    let title = joined(&arguments.title);
    let saved = work(context.output, |job| {
        Ok(Notes::new(&desk.engine).rename(&desk.writer_of(source), source, key, &title, job)?)
    })?;
    print_place(&desk, context, source, &saved.key)?;
    Desk::report_index(context.output, &saved);
    Ok(Outcome::Done)
}

fn delete(arguments: &DeleteArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let desk = Desk::for_writing(context, "page delete")?;
    // All are looked up first, so that a misspelt one leaves the others alone.
    let found = arguments.pages.iter();
    let found = found
        .map(|page| desk.find_whole(context.output, page))
        .collect::<anyhow::Result<Vec<_>>>()?;
    for document in found {
        let (source, key) = (&document.source, &document.key);
        let saved = work(context.output, |job| {
            Ok(Notes::new(&desk.engine).delete(&Guard::local(), source, key, job)?)
        })?;
        context
            .output
            .notice(&format!("moved {source}/{key} to the trash"));
        Desk::report_index(context.output, &saved);
    }
    Ok(Outcome::Done)
}

/// The sources asked for, or all that can be written to.
fn chosen(desk: &Desk, asked: &[String]) -> anyhow::Result<Vec<String>> {
    if asked.is_empty() {
        return Ok(desk.writable());
    }
    for source in registry::named(&desk.config, asked)? {
        if !source.writable {
            return Err(pages::unwritable(&desk.config, &source.name));
        }
    }
    Ok(asked.to_vec())
}

fn restore(arguments: &RestoreArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let desk = Desk::for_writing(context, "page restore")?;
    let asked: Vec<String> = arguments.source.iter().cloned().collect();
    let mut trash: Vec<(String, Trashed)> = Vec::new();
    for source in chosen(&desk, &asked)? {
        let trashed = Notes::new(&desk.engine).trash(&Guard::local(), &source)?;
        trash.extend(trashed.into_iter().map(|one| (source.clone(), one)));
    }
    let (source, trashed) = meant(&trash, &arguments.page)?;
    let saved = work(context.output, |job| {
        let guard = Guard::local();
        Ok(Notes::new(&desk.engine).restore(&guard, source, &trashed.name, job)?)
    })?;
    print_place(&desk, context, source, &saved.key)?;
    Desk::report_index(context.output, &saved);
    Ok(Outcome::Done)
}

/// Returns the page in the trash that was typed: by its path with or without its
/// source, else by its title. Of several with one path, the one deleted last.
fn meant<'a>(
    trash: &'a [(String, Trashed)],
    typed: &str,
) -> anyhow::Result<(&'a str, &'a Trashed)> {
    type Fits<'f> = &'f dyn Fn(&(String, Trashed)) -> bool;
    let typed = typed.trim();
    let named: Fits<'_> =
        &|(source, one)| typed == one.name || typed == format!("{source}/{}", one.name);
    let keyed: Fits<'_> =
        &|(source, one)| typed == one.key || typed == format!("{source}/{}", one.key);
    let titled: Fits<'_> = &|(_, one)| typed == one.title;
    let alike: Fits<'_> = &|(_, one)| typed.to_lowercase() == one.title.to_lowercase();
    for fits in [named, keyed, titled, alike] {
        let found: Vec<_> = trash.iter().filter(|one| fits(one)).collect();
        let Some((source, first)) = found.first() else {
            continue;
        };
        let same = |(other, one): &&&(String, Trashed)| other == source && one.key == first.key;
        if found.iter().filter(same).count() == found.len() {
            return Ok((source, first));
        }
        let candidates = found
            .iter()
            .map(|(source, one)| format!("{source}/{}", one.name));
        return Err(Error::Ambiguous {
            reference: typed.to_owned(),
            candidates: candidates.collect(),
        }
        .into());
    }
    Err(refusal(
        format!("there is no page '{typed}' in the trash"),
        "run `kodiak page list --trash` to list the trash",
    ))
}

fn list(arguments: &ListPagesArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let desk = Desk::for_reading(context, "page list")?;
    let filter = Filter {
        sources: chosen(&desk, &arguments.sources)?,
        tags: arguments.tags.clone(),
        ..Filter::default()
    };
    let limit = arguments.limit as usize;
    let guard = Guard::local().among(filter.sources.iter());
    let pages = match desk.engine.view(&guard).list(&filter, limit) {
        Err(Error::NoIndex { .. }) => Vec::new(),
        pages => pages?,
    };
    if arguments.json {
        let listed = pages.into_iter().map(|page| Card {
            file: Some(
                file_of(&desk, &page.source, &page.path)
                    .display()
                    .to_string(),
            ),
            ..page
        });
        let listed: Vec<_> = listed.collect();
        context.output.json(&listed)?;
        return Ok(Outcome::Done);
    }
    if pages.is_empty() {
        context.output.notice("there are no pages");
        context
            .output
            .hint("write one with `kodiak page new TITLE`");
        return Ok(Outcome::Done);
    }
    let now = kodiak::date::now();
    let steps = [
        Step::Cut("tags", 12),
        Step::Cut("title", 24),
        Step::Drop("tags"),
        Step::CutPath("path", 24),
        Step::Drop("changed"),
        Step::Cut("title", 12),
        Step::CutPath("path", 8),
    ];
    let places = Places::new(&desk.config);
    let reader = context.output.reader();
    let mut table = Table::new(["id", "changed", "title", "path", "tags"], &steps);
    for page in &pages {
        let row = vec![
            page.id.clone(),
            kodiak::date::parse(&page.updated_at).map_or_else(String::new, |then| ago(then, now)),
            escaped(&page.title).into_owned(),
            String::new(),
            escaped(&page.tags.join(", ")).into_owned(),
        ];
        table.push_linked(row, "path", places.told(&page.source, &page.path, reader));
    }
    context.output.table(&table)?;
    Ok(Outcome::Done)
}

/// A page in the trash as `--json` prints it.
#[derive(Debug, Serialize)]
struct ListedTrash {
    source: String,
    /// Its path in the trash.
    name: String,
    /// The path that it had.
    path: String,
    title: String,
    deleted_at: Option<String>,
}

fn list_trash(arguments: &ListPagesArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let desk = Desk::for_reading(context, "page list")?;
    let mut trash: Vec<(String, Trashed)> = Vec::new();
    for source in chosen(&desk, &arguments.sources)? {
        let trashed = Notes::new(&desk.engine).trash(&Guard::local(), &source)?;
        trash.extend(trashed.into_iter().map(|one| (source.clone(), one)));
    }
    trash.sort_by_key(|(_, one)| std::cmp::Reverse(one.deleted_at));
    trash.truncate(arguments.limit as usize);
    if arguments.json {
        let listed = trash.into_iter().map(|(source, one)| ListedTrash {
            source,
            name: one.name,
            path: one.key,
            title: one.title,
            deleted_at: one.deleted_at.map(kodiak::date::format),
        });
        let listed: Vec<_> = listed.collect();
        context.output.json(&listed)?;
        return Ok(Outcome::Done);
    }
    if trash.is_empty() {
        context.output.notice("the trash is empty");
        return Ok(Outcome::Done);
    }
    let now = kodiak::date::now();
    let steps = [
        Step::Cut("title", 20),
        Step::CutPath("path", 24),
        Step::Drop("deleted"),
        Step::Cut("title", 12),
        Step::CutPath("path", 8),
    ];
    let mut table = Table::new(["deleted", "title", "path"], &steps);
    for (source, one) in &trash {
        table.push(vec![
            one.deleted_at.map_or(String::new(), |at| ago(at, now)),
            escaped(&one.title).into_owned(),
            escaped(&format!("{source}/{}", one.name)).into_owned(),
        ]);
    }
    context.output.table(&table)?;
    Ok(Outcome::Done)
}
