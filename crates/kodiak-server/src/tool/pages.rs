//! The pages set: writing notes where Kodiak may write.

use kodiak_notes::markdown::document_from_text;
use kodiak_notes::{Notes, Saved};
use serde_json::{Value, json};

use super::memory::report_secrets;
use super::parameter::{Kind, Parameter};
use super::{Call, Effect, Tool, ToolAnswer, ToolSet};
use crate::answer::harmless;
use crate::failure::Refusal;
use crate::frame;
use crate::writing::{self, NewPage, Unwritten, ended};

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
            "secrets_left_out": {"type": "integer"},
        },
        "required": ["pages", "left", "indexed"],
    })
}

fn create(call: &Call<'_>) -> Result<ToolAnswer, Refusal> {
    let arguments = call.arguments;
    let text = |name: &str| arguments.text(name).map(str::to_owned);
    let page = NewPage {
        title: text("title").unwrap_or_default(),
        text: text("content").unwrap_or_default(),
        tags: arguments.texts("tags"),
        source: text("source"),
        folder: text("folder"),
        again: arguments.flag("again"),
    };
    let created = writing::create_page(&call.engine, call.guard(), page, call.job);
    let (source, saved) = created.map_err(refused)?;
    Ok(answer("Wrote", &source, &saved))
}

/// Words why a page was not written.
fn refused(unwritten: Unwritten) -> Refusal {
    match unwritten {
        Unwritten::Taken(page) => {
            let place = frame::place(&page.source, &page.path, None);
            Refusal::new(
                format!(
                    "a page named {} already exists: {place}",
                    frame::title(&page.title)
                ),
                format!("change it with page_update, id {}, or set again", page.id),
            )
        }
        Unwritten::Asked(refusal) | Unwritten::Nowhere(refusal) => refusal,
        Unwritten::Failed(error) => error.into(),
    }
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
            "the text starts with what looks like frontmatter",
            "leave the frontmatter out: the page keeps its own",
        ));
    }
    Ok(new)
}

fn answer(verb: &str, source: &str, saved: &Saved) -> ToolAnswer {
    let path = format!("{source}/{}", saved.key);
    let mut text = format!("{verb} {}.", frame::word(&path));
    if !saved.indexed {
        text.push_str(" It is not indexed yet; a search will find it soon.");
    }
    let mut structured = json!({"path": harmless(&path), "indexed": saved.indexed});
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
        .map(|left| {
            let path = format!("{}/{}", left.source, left.key);
            format!("{}: {}", frame::word(&path), frame::one_line(&left.reason))
        })
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
    let mut structured = json!({"pages": done.files, "left": left, "indexed": done.indexed});
    report_secrets(done.secrets_left_out, &mut text, &mut structured);
    Ok(ToolAnswer::structured(text, structured))
}
