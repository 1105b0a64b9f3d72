//! Composing the file of a note: its frontmatter and its text.
//!
//! This module turns a draft into the text of a file, and keeps everything that the draft
//! does not change. It does not access files.

use serde_json::{Map, Value};

use crate::frontmatter::{self, FieldChange};
use crate::note::{divide_name, document_from_text};
use kodiak::source::Draft;
use kodiak_base::{Error, Result};
use kodiak_text::date;
use kodiak_text::document::{Document, Markup};

/// The fields for which a draft has its own members.
const OWN_PLACE: [&str; 4] = ["title", "tags", "kind", "category"];

/// Returns the text of a note's file after `draft` is applied to it. `old` is
/// its text before, which is empty for a new note.
pub(crate) fn compose(source: &str, key: &str, old: &str, draft: &Draft) -> Result<String> {
    let bad = |detail: String| Error::BadDraft {
        key: key.to_owned(),
        detail,
    };
    for name in draft.fields.keys() {
        if OWN_PLACE.iter().any(|own| own.eq_ignore_ascii_case(name)) {
            return Err(bad(format!("'{name}' is not one of its other fields")));
        }
    }
    let read = |text: &str| document_from_text(source, key, text, 0);
    let old_front = read(old).front;
    let current = read(&join(&old_front, &draft.body));
    let changes = changes(&read, &old_front, &current, draft);
    let has_frontmatter = Markup::of_extension(divide_name(key).1) == Markup::Markdown;
    if !has_frontmatter && !changes.is_empty() {
        let names: Vec<&str> = changes.iter().map(|(name, _)| name.as_str()).collect();
        return Err(bad(format!(
            "only a markdown file can hold its {}",
            names.join(", ")
        )));
    }
    let front = frontmatter::edit(&old_front, &changes).map_err(bad)?;
    let text = join(&front, &draft.body);
    if read(&text).body == draft.body {
        return Ok(text);
    }
    // A body that begins like frontmatter is only read as body behind other
    // frontmatter.
    let title = [("title".to_owned(), Some(Value::from(draft.title.as_str())))];
    let front = frontmatter::edit(&front, &title).map_err(bad)?;
    let text = join(&front, &draft.body);
    if has_frontmatter && read(&text).body == draft.body {
        return Ok(text);
    }
    Err(bad("its text would be read as something else".to_owned()))
}

/// Joins frontmatter and body, with a line break between them if one is
/// missing.
pub(crate) fn join(front: &str, body: &str) -> String {
    let block = front.trim_start_matches('\u{feff}');
    let unended = !block.is_empty() && !block.ends_with('\n') && !body.is_empty();
    format!("{front}{}{body}", if unended { "\n" } else { "" })
}

/// Returns the field changes that make a note like `current` match the draft.
fn changes(
    read: &dyn Fn(&str) -> Document,
    old_front: &str,
    current: &Document,
    draft: &Draft,
) -> Vec<FieldChange> {
    let written = frontmatter::divide(old_front).fields;
    let mut changes = Vec::new();
    let mut set = |names: &[&str], value: Value| {
        let name = present(&written, names).next();
        let name = name.unwrap_or_else(|| names[0].to_owned());
        changes.push((name, Some(value)));
    };
    if current.title != draft.title && !draft.title.trim().is_empty() {
        set(&["title"], draft.title.as_str().into());
    }
    if let Some(kind) = draft.kind.as_ref().filter(|kind| **kind != current.kind) {
        set(&["kind", "memory_kind", "type"], kind.as_str().into());
    }
    let category = draft.category.as_ref();
    if let Some(category) = category.filter(|_| draft.category != current.category) {
        let names = ["category", "auto_category"];
        set(&names, category.as_str().into());
    }
    if let Some(at) = draft
        .created_at
        .filter(|at| current.created_at != Some(*at))
    {
        let names = ["created", "created_at", "date"];
        set(&names, date::format(at).into());
    }
    changes.extend(changed_tags(read, old_front, &written, current, draft));
    for (name, value) in &draft.fields {
        let known = present(&written, &[name]).next();
        let value = Some(value).filter(|value| !value.is_null());
        let before = known.as_ref().and_then(|known| written.get(known));
        if before != value {
            let name = known.unwrap_or_else(|| name.clone());
            changes.push((name, value.cloned()));
        }
    }
    changes
}

/// Returns the changes to the fields with tags, if the draft has other tags.
fn changed_tags(
    read: &dyn Fn(&str) -> Document,
    old_front: &str,
    written: &Map<String, Value>,
    current: &Document,
    draft: &Draft,
) -> Vec<FieldChange> {
    let tags = Value::from(draft.tags.clone());
    // Read back, so that `#work` and `work` count as the same.
    let wanted = read(&frontmatter::write([("tags", &tags)])).tags;
    if current.tags == wanted || read(old_front).tags == wanted {
        return Vec::new();
    }
    let mut holding = present(written, &["tags", "tag", "keywords"]);
    let first = holding.next();
    let value = (!wanted.is_empty()).then(|| Value::from(wanted));
    let mut changes = Vec::new();
    if first.is_some() || value.is_some() {
        changes.push((first.unwrap_or_else(|| "tags".to_owned()), value));
    }
    changes.extend(holding.map(|name| (name, None)));
    changes
}

/// Returns the named fields that exist, spelt as in the file.
fn present(fields: &Map<String, Value>, names: &[&str]) -> impl Iterator<Item = String> + use<> {
    let found: Vec<String> = names
        .iter()
        .filter_map(|name| {
            let exact = fields.get_key_value(*name).map(|(key, _)| key);
            let any_case = || fields.keys().find(|key| key.eq_ignore_ascii_case(name));
            exact.or_else(any_case).cloned()
        })
        .collect();
    found.into_iter()
}

#[cfg(test)]
#[path = "compose_tests.rs"]
mod tests;
