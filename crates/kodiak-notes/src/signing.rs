//! Records who wrote a note when a named caller writes it.
//!
//! The name of the caller is in the field `author` of the notes that it creates, and no
//! caller chooses another. A note that it changes keeps its author, and names the caller as
//! its last editor, unless that is the author. Notes of a caller without a name record
//! nothing: the person at a machine is the author of its files.

use serde_json::{Map, Value};

use crate::compose::join;
use crate::frontmatter::{self, FieldChange};
use crate::note::divide_name;
use kodiak::source::fields::list_in;
use kodiak_base::{Error, Result};
use kodiak_text::document::Markup;

/// The field with the name of who wrote a note.
const AUTHOR: &str = "author";
/// The field with the name of who changed it last, if that is not the author.
const EDITOR: &str = "updated_by";

/// Records who writes a new note, in its fields.
pub fn sign_new(writer: Option<&str>, fields: &mut Map<String, Value>) {
    let Some(writer) = writer else {
        return;
    };
    fields.retain(|name, _| !is_ours(name));
    fields.insert(AUTHOR.to_owned(), writer.into());
}

/// Records who changes a note with this text, in the fields of a draft.
pub(crate) fn sign_change(
    writer: Option<&str>,
    path: &str,
    old: &str,
    fields: &mut Map<String, Value>,
) {
    let Some(writer) = writer.filter(|_| has_fields(path)) else {
        return;
    };
    fields.retain(|name, _| !is_ours(name));
    let editor = editor(writer, &frontmatter::divide(old).fields);
    fields.insert(EDITOR.to_owned(), editor.unwrap_or_default());
}

/// Returns a text that replaces an old one of a note, with who changes it recorded.
pub(crate) fn signed(writer: Option<&str>, path: &str, old: &str, new: &str) -> Result<String> {
    let Some(writer) = writer.filter(|_| has_fields(path) && old != new) else {
        return Ok(new.to_owned());
    };
    let bad = |detail: String| Error::BadDraft {
        key: path.to_owned(),
        detail,
    };
    let divided = frontmatter::divide(new);
    if let Some(problem) = divided.problem {
        return Err(bad(problem));
    }
    let before = frontmatter::divide(old).fields;
    let named = before
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(AUTHOR));
    let mut changes: Vec<FieldChange> = divided
        .fields
        .keys()
        .filter(|name| is_ours(name) && named.is_none_or(|(kept, _)| kept != *name))
        .filter(|name| *name != EDITOR)
        .map(|name| (name.clone(), None))
        .collect();
    if let Some((name, value)) = named
        && divided.fields.get(name) != Some(value)
    {
        changes.push((name.clone(), Some(value.clone())));
    }
    let editor = editor(writer, &before);
    if divided.fields.get(EDITOR) != editor.as_ref() {
        changes.push((EDITOR.to_owned(), editor));
    }
    if changes.is_empty() {
        return Ok(new.to_owned());
    }
    let front = frontmatter::edit(divided.front, &changes).map_err(bad)?;
    Ok(join(&front, divided.body))
}

/// Returns who is named as the last who changed a note with these fields: the writer, unless
/// it is the author.
fn editor(writer: &str, fields: &Map<String, Value>) -> Option<Value> {
    let authors = list_in(fields, &[AUTHOR]);
    (authors != [writer]).then(|| writer.into())
}

fn is_ours(name: &str) -> bool {
    [AUTHOR, EDITOR]
        .iter()
        .any(|own| name.eq_ignore_ascii_case(own))
}

/// Reports whether a file can have fields.
fn has_fields(path: &str) -> bool {
    Markup::of_extension(divide_name(path).1) == Markup::Markdown
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(value: &Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn new_notes_name_their_writer_and_no_other() {
        let wanted = fields(&json!({"Author": "eve", "updated_by": "eve", "x": 1}));
        let mut signed = wanted.clone();
        sign_new(Some("ada"), &mut signed);
        assert_eq!(Value::Object(signed), json!({"author": "ada", "x": 1}));
        let mut own = wanted.clone();
        sign_new(None, &mut own);
        assert_eq!(own, wanted);
    }

    #[test]
    fn a_draft_keeps_the_author_and_names_the_editor() {
        let old = "---\nauthor: ada\nupdated_by: bob\n---\ntext\n";
        for (writer, expected) in [
            (Some("bob"), json!({"updated_by": "bob"})),
            (Some("ada"), json!({"updated_by": null})),
            (None, json!({"author": "eve"})),
        ] {
            let mut changed = fields(&json!({"author": "eve"}));
            sign_change(writer, "a.md", old, &mut changed);
            assert_eq!(Value::Object(changed), expected);
        }
    }

    #[test]
    fn a_text_keeps_the_author_and_names_the_editor() {
        for (writer, old, new, expected) in [
            (
                "bob",
                "---\nauthor: ada\n---\none\n",
                "---\nauthor: eve\nx: 1\n---\ntwo\n",
                "---\nauthor: ada\nx: 1\nupdated_by: bob\n---\ntwo\n",
            ),
            (
                "ada",
                "---\nauthor: ada\nupdated_by: bob\n---\none\n",
                "---\nauthor: ada\nupdated_by: bob\n---\ntwo\n",
                "---\nauthor: ada\n---\ntwo\n",
            ),
            (
                "ada",
                "---\nauthor: ada\n---\none\n",
                "two\n",
                "---\nauthor: ada\n---\ntwo\n",
            ),
            (
                "bob",
                "one\n",
                "---\nAUTHOR: eve\n---\ntwo\n",
                "---\nupdated_by: bob\n---\ntwo\n",
            ),
        ] {
            let signed = signed(Some(writer), "a.md", old, new).unwrap();
            assert_eq!(signed, expected, "{new}");
        }
        let same = signed(None, "a.md", "one", "---\nauthor: eve\n---\n").unwrap();
        assert_eq!(same, "---\nauthor: eve\n---\n");
        assert_eq!(signed(Some("ada"), "a.txt", "one", "two").unwrap(), "two");
        signed(Some("ada"), "a.md", "one", "---\na: [\n---\ntwo").unwrap_err();
    }
}
