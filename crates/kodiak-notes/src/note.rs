//! From the text of a file to a document.
//!
//! This module knows the meaning of the frontmatter fields and the origin of title, tags
//! and dates. `markdown` reads the files.

use unicode_normalization::UnicodeNormalization;

use kodiak_text::document::{Document, Markup, Thread, Timestamp};
use kodiak_text::markup::tags::Tags;
use kodiak_text::markup::{self, heading};

use super::frontmatter;
use super::markdown::readable;
use super::speaker::speaker;
use kodiak::source::fields::{list_in, take_date, take_list, take_string, take_text};

/// Makes a document of a file's text. Every text gives a document; problems are
/// in [`Document::problem`]. `front` followed by `body` is the text. If the
/// text does not say when it was changed, `modified` is used.
pub fn document_from_text(source: &str, key: &str, text: &str, modified: Timestamp) -> Document {
    let mut document = interpret(source, key, text, modified);
    if document.kind.is_empty() {
        document.kind = "note".to_owned();
    }
    if document.title.is_empty() {
        document.title = name_title(divide_name(key).0, key);
    }
    document
}

/// Makes a document of a file's text as [`document_from_text`] does, but leaves the
/// title and the kind empty where the text does not say them.
pub fn interpret(source: &str, key: &str, text: &str, modified: Timestamp) -> Document {
    let (_, extension) = divide_name(key);
    let markup = Markup::of_extension(extension);
    let divided = match markup {
        Markup::Markdown => frontmatter::divide(text),
        Markup::Org | Markup::Plain | Markup::Verbatim => frontmatter::divide_mark(text),
    };
    let mut fields = divided.fields;

    let written_title =
        take_text(&mut fields, &["title"]).and_then(|title| heading::plain_title(&title));
    let mut tags = Tags::default();
    for tag in take_list(&mut fields, &["tags", "tag", "keywords"]) {
        tags.add(&tag);
    }
    let (found_title, lines) = markup::read(markup, divided.body, &mut tags);
    let kind = take_text(&mut fields, &["kind", "memory_kind"])
        .or_else(|| take_string(&mut fields, &["type"]));
    let updated_at = take_date(&mut fields, &["updated_at", "updated", "modified"]);
    // These stay among the fields, where filters look for them.
    let thread = list_in(&fields, &["thread", "session"]).into_iter().next();
    let author = Some(list_in(&fields, &["author", "speaker"]).join(", "))
        .filter(|names| !names.is_empty())
        .or_else(|| {
            thread
                .as_ref()
                .and(speaker(divided.body))
                .map(str::to_owned)
        });
    let project = list_in(&fields, &["project"]).into_iter().next();

    Document {
        source: source.to_owned(),
        key: key.to_owned(),
        fallback_key: None,
        kind: kind.unwrap_or_default(),
        title: written_title.or(found_title).unwrap_or_default(),
        front: divided.front.to_owned(),
        body: divided.body.to_owned(),
        markup,
        lines: Some(lines),
        category: take_text(&mut fields, &["category", "auto_category"]),
        tags: tags.into_list(),
        created_at: take_date(&mut fields, &["created_at", "created", "date"]),
        updated_at: updated_at.unwrap_or(modified),
        fields,
        thread: thread.map(|name| Thread {
            name,
            position: None,
        }),
        author,
        project,
        hash: *blake3::hash(text.as_bytes()).as_bytes(),
        problem: divided.problem,
    }
}

/// Splits the file name in a key into its stem and its extension. A name such
/// as `.md` has no extension.
pub fn divide_name(key: &str) -> (&str, &str) {
    let name = key.rsplit('/').next().unwrap_or(key);
    match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => (stem, extension),
        _ => (name, ""),
    }
}

/// Returns a title made from the file's name. It is in composed form (NFC),
/// because macOS may return decomposed names, and a query with `ü` would not
/// match those.
fn name_title(stem: &str, key: &str) -> String {
    [stem, key]
        .into_iter()
        .map(|name| readable(name).trim().nfc().collect::<String>())
        .find(|title| !title.is_empty())
        .unwrap_or_else(|| "untitled".to_owned())
}

#[cfg(test)]
#[path = "note_tests.rs"]
mod tests;
