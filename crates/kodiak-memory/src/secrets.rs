//! Secrets in a new memory: replaced, or refused where a name is one.
//!
//! Owns which parts of a memory are cleaned. Every way to write a memory or an
//! article goes through here; other notes are their owner's and stay as they are.

use serde_json::{Map, Value};

use super::Memory;
use kodiak::source::Draft;
use kodiak_base::{Error, Result};
use kodiak_redact::{redact, redact_field, replaced, secrets};

/// Returns a memory without secrets, and how many were left out.
pub(super) fn left_out(memory: &Memory) -> Result<(Memory, usize)> {
    let mut cleaner = Cleaner::default();
    if let Some(id) = &memory.id {
        refuse("id", id)?;
    }
    let clean = Memory {
        source: memory.source.clone(),
        text: cleaner.text(&memory.text).trim().to_owned(),
        id: memory.id.clone(),
        title: cleaner.optional(memory.title.as_ref()),
        kind: cleaner.optional(memory.kind.as_ref()),
        category: cleaner.optional(memory.category.as_ref()),
        tags: cleaner.texts(&memory.tags),
        project: cleaner.optional(memory.project.as_ref()),
        session: cleaner.optional(memory.session.as_ref()),
        summary: cleaner.optional(memory.summary.as_ref()),
        supersedes: memory.supersedes.clone(),
        created_at: memory.created_at,
        protected: memory.protected,
        metadata: cleaner.fields(&memory.metadata)?,
        force: memory.force,
    };
    Ok((clean, cleaner.count))
}

/// Returns a draft of a memory without secrets, and how many were left out.
pub(crate) fn left_out_of_draft(draft: &Draft) -> Result<(Draft, usize)> {
    let mut cleaner = Cleaner::default();
    for (what, name) in [("id", &draft.key), ("folder", &draft.folder)] {
        if let Some(name) = name {
            refuse(what, name)?;
        }
    }
    let clean = Draft {
        key: draft.key.clone(),
        folder: draft.folder.clone(),
        mark: draft.mark.clone(),
        title: cleaner.text(&draft.title),
        body: cleaner.text(&draft.body),
        tags: cleaner.texts(&draft.tags),
        kind: cleaner.optional(draft.kind.as_ref()),
        category: cleaner.optional(draft.category.as_ref()),
        created_at: draft.created_at,
        fields: cleaner.fields(&draft.fields)?,
    };
    Ok((clean, cleaner.count))
}

/// Returns a text without secrets, and how many were left out.
pub(crate) fn left_out_of_text(text: &str) -> (String, usize) {
    let mut cleaner = Cleaner::default();
    (cleaner.text(text), cleaner.count)
}

/// Fails if a name is a secret. A name must stay as it was given, and the error does
/// not repeat it.
fn refuse(what: &str, name: &str) -> Result<()> {
    match secrets(name).first() {
        None => Ok(()),
        Some(secret) => Err(Error::BadMemory {
            detail: format!(
                "its {what} looks like a secret ({}); choose another",
                secret.kind
            ),
        }),
    }
}

/// Replaces secrets and counts them.
#[derive(Debug, Default)]
struct Cleaner {
    count: usize,
}

impl Cleaner {
    fn counted(&mut self, before: &str, after: String) -> String {
        self.count += replaced(&after).saturating_sub(replaced(before));
        after
    }

    fn text(&mut self, text: &str) -> String {
        let clean = redact(text).into_owned();
        self.counted(text, clean)
    }

    fn optional(&mut self, text: Option<&String>) -> Option<String> {
        text.map(|text| self.text(text))
    }

    fn texts(&mut self, texts: &[String]) -> Vec<String> {
        texts.iter().map(|text| self.text(text)).collect()
    }

    fn fields(&mut self, fields: &Map<String, Value>) -> Result<Map<String, Value>> {
        let mut clean = Map::new();
        for (name, value) in fields {
            refuse("field name", name)?;
            clean.insert(name.clone(), self.value(name, value)?);
        }
        Ok(clean)
    }

    /// Returns a value without secrets. Its name helps to recognise them, as in a text.
    fn value(&mut self, name: &str, value: &Value) -> Result<Value> {
        Ok(match value {
            Value::String(text) => {
                let clean = redact_field(name, text).into_owned();
                self.counted(text, clean).into()
            }
            Value::Array(values) => {
                let values = values.iter().map(|one| self.value(name, one));
                Value::Array(values.collect::<Result<_>>()?)
            }
            Value::Object(fields) => Value::Object(self.fields(fields)?),
            other => other.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TOKEN: &str = "ghp_aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hI5";

    #[test]
    fn every_part_is_cleaned_and_counted() {
        let metadata = json!({"password": "hunter2x", "list": [TOKEN], "inner": {"note": TOKEN}});
        let memory = Memory {
            text: format!("one {TOKEN} and my password is hunter2"),
            title: Some(TOKEN.to_owned()),
            kind: Some(TOKEN.to_owned()),
            category: Some(TOKEN.to_owned()),
            tags: vec![TOKEN.to_owned()],
            project: Some(TOKEN.to_owned()),
            session: Some(TOKEN.to_owned()),
            summary: Some(TOKEN.to_owned()),
            metadata: metadata.as_object().unwrap().clone(),
            ..Memory::default()
        };
        let (clean, count) = left_out(&memory).unwrap();
        let shown = format!("{clean:?}");
        assert!(
            !shown.contains(TOKEN) && !shown.contains("hunter2"),
            "{shown}"
        );
        assert_eq!(count, 12);
        assert_eq!(left_out(&clean).unwrap(), (clean, 0));
    }

    #[test]
    fn names_that_are_secrets_are_refused_and_not_repeated() {
        let named = |name: &str| json!({ name: 1 }).as_object().unwrap().clone();
        for memory in [
            Memory {
                id: Some(TOKEN.to_owned()),
                ..Memory::default()
            },
            Memory {
                metadata: named(TOKEN),
                ..Memory::default()
            },
            Memory {
                metadata: json!({"a": named(TOKEN)}).as_object().unwrap().clone(),
                ..Memory::default()
            },
        ] {
            let error = left_out(&memory).unwrap_err().to_string();
            assert!(error.contains("looks like a secret"), "{error}");
            assert!(!error.contains(TOKEN), "{error}");
        }
    }
}
