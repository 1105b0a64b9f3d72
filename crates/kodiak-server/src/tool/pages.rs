//! The pages set: writing notes where Kodiak may write.

use kodiak::Error;
use kodiak::source::Draft;
use kodiak_memory::Holding;
use kodiak_memory::Memories;
use kodiak_notes::markdown::document_from_text;
use kodiak_notes::{Notes, PAGES_SOURCE, Saved};
use serde_json::{Value, json};

use super::memory::report_secrets;
use super::parameter::{Kind, Parameter};
use super::{Call, Effect, Tool, ToolAnswer, ToolSet};
use crate::failure::Refusal;
use crate::frame;

/// The most notes that are named where a tag was left; more are counted.
const MOST_LEFT: usize = 20;

pub(super) const PAGE_CREATE: Tool = Tool {
    name: "page_create",
    sets: &[ToolSet::Pages],
    description: "Write a new page. It can be found at once.",
    effect: Effect::Adds,
    parameters: &[
        Parameter::new("title", Kind::Text, "").required(),
        Parameter::new("content", Kind::Prose, "Markdown, without frontmatter"),
        Parameter::new("tags", Kind::Texts, "Without #"),
        Parameter::new("source", Kind::Text, "Where, if several can be written to"),
        Parameter::new(
            "folder",
            Kind::Text,
            "Inside the source, such as work/atlas",
        ),
        Parameter::new("again", Kind::Flag, "Write it though the title exists"),
    ],
    output: Some(schema),
    run: create,
};

pub(super) const PAGE_UPDATE: Tool = Tool {
    name: "page_update",
    sets: &[ToolSet::Pages],
    description: "Change a page: replace its text, append to it, or rename it. Its frontmatter \
                  stays.",
    effect: Effect::Changes,
    parameters: &[
        Parameter::new("id", Kind::Text, "Its id or path").required(),
        Parameter::new(
            "content",
            Kind::Prose,
            "The whole new text, without frontmatter",
        ),
        Parameter::new("append", Kind::Prose, "Text to add at the end"),
        Parameter::new("title", Kind::Text, "Its new title"),
    ],
    output: Some(schema),
    run: update,
};

pub(super) const TAG_RENAME: Tool = Tool {
    name: "tag_rename",
    sets: &[ToolSet::Pages],
    description: "Rename a tag, and those below it, in all pages.",
    effect: Effect::Changes,
    parameters: &[
        Parameter::new("from", Kind::Text, "Without #").required(),
        Parameter::new("to", Kind::Text, "").required(),
    ],
    output: Some(rename_schema),
    run: rename_tag,
};

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "indexed": {"type": "boolean"},
            "secrets_left_out": {"type": "integer"},
        },
        "required": ["path", "indexed"],
    })
}

fn rename_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "pages": {"type": "integer"},
            "left": {"type": "array", "items": {"type": "string"}},
            "indexed": {"type": "boolean"},
        },
        "required": ["pages", "left", "indexed"],
    })
}

fn create(call: &Call<'_>) -> Result<ToolAnswer, Refusal> {
    let arguments = call.arguments;
    let source = source(call)?;
    let title = arguments.text("title").unwrap_or_default();
    let draft = Draft {
        title: title.split_whitespace().collect::<Vec<_>>().join(" "),
        body: ended(arguments.text("content").unwrap_or_default(), "\n"),
        tags: arguments.texts("tags"),
        folder: arguments.text("folder").map(str::to_owned),
        created_at: Some(kodiak::date::now()),
        ..Draft::default()
    };
    if draft.title.is_empty() {
        return Err(Refusal::new("the page has no title", "give it some words"));
    }
    let notes = Notes::new(&call.engine);
    if !arguments.flag("again") {
        let folder = draft.folder.as_deref();
        let known = notes.titled(call.guard(), &source, folder, &draft.title)?;
        if let Some(page) = known.first() {
            let place = frame::place(&page.source, &page.path, None);
            return Err(Refusal::new(
                format!(
                    "there is a page {} already: {place}",
                    frame::title(&page.title)
                ),
                format!("change it with page_update, id {}, or set again", page.id),
            ));
        }
    }
    let saved = notes.create(call.guard(), &source, &draft, call.job);
    let saved = match saved {
        // That there is such a source is told only to those for whom it exists.
        Err(Error::NotWritable { name })
            if call.guard().project().is_some() && !visible(call)?.contains(&name) =>
        {
            let known = Vec::new();
            Err(Error::UnknownSource { name, known })
        }
        saved => saved,
    };
    Ok(answer("Wrote", &source, &saved?))
}

/// Returns the source that a new page goes to: the named one, or the only one.
fn source(call: &Call<'_>) -> Result<String, Refusal> {
    let mut writable = Notes::new(&call.engine).writable_sources(call.guard());
    // Memories, articles and sessions have tools of their own.
    let others = [Holding::Memories, Holding::Articles]
        .map(|holding| Memories::new(&call.engine).memory_sources(call.guard(), holding));
    let sessions = Memories::new(&call.engine).session_sources(call.guard());
    writable.retain(|name| {
        !others
            .iter()
            .flatten()
            .chain(&sessions)
            .any(|other| other == name)
    });
    match (call.arguments.text("source"), writable.as_slice()) {
        (Some(name), _) => Ok(name.to_owned()),
        (None, [only]) => Ok(only.clone()),
        (None, []) => Err(Refusal::new(
            "nothing can be written to",
            "ask the user to run `kodiak add FOLDER --writable`",
        )),
        (None, several) if several.iter().any(|name| name == PAGES_SOURCE) => {
            Ok(PAGES_SOURCE.to_owned())
        }
        (None, several) => {
            // For a caller that is restricted to a project, others do not exist.
            let known = visible(call)?;
            let mut names = several.iter().filter(|name| known.contains(name));
            match (call.guard().project(), names.clone().count()) {
                (Some(_), 1) => Ok(names.next().cloned().unwrap_or_default()),
                (Some(_), 0) => Err(Refusal::new(
                    "several sources can be written to",
                    "ask the user for the name of one, and give it as 'source'",
                )),
                _ => Err(Refusal::new(
                    "several sources can be written to",
                    format!(
                        "name one as 'source': {}",
                        names.cloned().collect::<Vec<_>>().join(", ")
                    ),
                )),
            }
        }
    }
}

/// Returns the names of the sources that exist for the caller.
fn visible(call: &Call<'_>) -> Result<Vec<String>, Refusal> {
    if call.guard().project().is_none() {
        return Ok(Notes::new(&call.engine).writable_sources(call.guard()));
    }
    let indexed = match call.view().indexed_sources() {
        Err(Error::NoIndex { .. }) => Vec::new(),
        indexed => indexed?,
    };
    Ok(indexed.into_iter().map(|source| source.name).collect())
}

fn update(call: &Call<'_>) -> Result<ToolAnswer, Refusal> {
    let arguments = call.arguments;
    let (content, append, title) = (
        arguments.text("content"),
        arguments.text("append"),
        arguments.text("title"),
    );
    if content.is_none() && append.is_none() && title.is_none() {
        return Err(Refusal::new(
            "there is nothing to change",
            "give it content, append or title",
        ));
    }
    let typed = arguments.text("id").unwrap_or_default();
    let found = call.view().find(typed)?;
    let (source, key) = (&found.document.source, &found.document.key);
    let mut saved = Saved {
        key: key.clone(),
        indexed: true,
        secrets_left_out: 0,
    };
    if content.is_some() || append.is_some() {
        let page = Notes::new(&call.engine).text(call.guard(), source, key)?;
        let text = changed(source, key, &page.text, content, append)?;
        let (guard, job) = (call.guard(), call.job);
        saved = Notes::new(&call.engine).replace(guard, source, key, &text, page.hash, job)?;
    }
    if let Some(title) = title {
        let before = saved.secrets_left_out;
        saved = Notes::new(&call.engine).rename(call.guard(), source, key, title, call.job)?;
        saved.secrets_left_out += before;
    }
    Ok(answer("Changed", source, &saved))
}

/// Returns the text of a page with other content, or with more, under the same
/// frontmatter.
fn changed(
    source: &str,
    key: &str,
    text: &str,
    content: Option<&str>,
    append: Option<&str>,
) -> Result<String, Refusal> {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let front = document_from_text(source, key, text, 0).front;
    let mut new = match content {
        Some(content) => format!("{}{}", ended(&front, newline), ended(content, newline)),
        None => text.to_owned(),
    };
    if let Some(more) = append {
        new = format!("{}{}", ended(&new, newline), ended(more, newline));
    }
    if document_from_text(source, key, &new, 0).front.trim_end() != front.trim_end() {
        return Err(Refusal::new(
            "the text begins like frontmatter",
            "leave the frontmatter out: the page keeps its own",
        ));
    }
    Ok(new)
}

/// Returns a text that ends its last line.
fn ended(text: &str, newline: &str) -> String {
    let mut text = text.to_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push_str(newline);
    }
    text
}

fn answer(verb: &str, source: &str, saved: &Saved) -> ToolAnswer {
    let path = format!("{source}/{}", saved.key);
    let mut text = format!("{verb} {}.", frame::path(source, &saved.key));
    if !saved.indexed {
        text.push_str(" It is not indexed yet; a search will find it soon.");
    }
    let mut structured = json!({"path": path, "indexed": saved.indexed});
    report_secrets(saved.secrets_left_out, &mut text, &mut structured);
    ToolAnswer::structured(text, structured)
}

fn rename_tag(call: &Call<'_>) -> Result<ToolAnswer, Refusal> {
    let from = call.arguments.text("from").unwrap_or_default();
    let to = call.arguments.text("to").unwrap_or_default();
    let done = Notes::new(&call.engine).rename_tag(call.guard(), from, to, call.job)?;
    let mut left: Vec<String> = done
        .left
        .iter()
        .map(|left| format!("{}: {}", frame::path(&left.source, &left.key), left.reason))
        .collect();
    left.extend(
        done.read_only
            .iter()
            // A source as a whole is outside a project.
            .filter(|_| call.guard().project().is_none())
            .map(|(source, count)| format!("{count} notes of {source}, which is only read")),
    );
    let more = left.len().saturating_sub(MOST_LEFT);
    left.truncate(MOST_LEFT);
    if more > 0 {
        left.push(format!("{more} more"));
    }
    let mut text = format!(
        "Renamed #{} to #{} in {} pages.",
        frame::word(&done.from),
        frame::word(&done.to),
        done.files
    );
    for one in &left {
        text.push_str(&format!("\nLeft: {one}"));
    }
    let structured = json!({"pages": done.files, "left": left, "indexed": done.indexed});
    Ok(ToolAnswer::structured(text, structured))
}
