//! Taking typed values out of a mapping of fields.
//!
//! This module decides how lenient to be: names in any case, numbers as texts,
//! texts as lists. `frontmatter` supplies the fields.

use serde_json::{Map, Value};

use crate::date;
use crate::document::Timestamp;

/// Takes the first of the named fields that `read` understands. A field that it
/// does not understand stays, so that nothing the author wrote is lost; an
/// empty one is removed. Names match in any case, with an exact match first.
fn take<T>(
    fields: &mut Map<String, Value>,
    names: &[&str],
    read: impl Fn(&Value) -> Option<T>,
) -> Option<T> {
    for name in names {
        let key = if fields.contains_key(*name) {
            Some((*name).to_owned())
        } else {
            fields
                .keys()
                .find(|key| key.eq_ignore_ascii_case(name))
                .cloned()
        };
        let Some((key, value)) = key.and_then(|key| fields.remove_entry(&key)) else {
            continue;
        };
        if let Some(taken) = read(&value) {
            return Some(taken);
        }
        if !is_empty(&value) {
            fields.insert(key, value);
        }
    }
    None
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// Takes the first of the named fields that is a text, a number or a boolean.
pub fn take_text(fields: &mut Map<String, Value>, names: &[&str]) -> Option<String> {
    take(fields, names, text_of)
}

/// Takes the first of the named fields that is a text.
pub fn take_string(fields: &mut Map<String, Value>, names: &[&str]) -> Option<String> {
    take(fields, names, |value| {
        value.as_str().and_then(|_| text_of(value))
    })
}

/// Takes the first of the named fields that is a date.
pub fn take_date(fields: &mut Map<String, Value>, names: &[&str]) -> Option<Timestamp> {
    take(fields, names, |value| {
        text_of(value).and_then(|text| date::parse(&text))
    })
}

/// Takes all of the named fields that are lists of texts, or texts that contain
/// a list: separated by commas, or by spaces if there is no comma.
pub fn take_list(fields: &mut Map<String, Value>, names: &[&str]) -> Vec<String> {
    let mut list = Vec::new();
    for name in names {
        list.extend(take(fields, &[name], list_of).unwrap_or_default());
    }
    list
}

/// Returns the texts of the first of the named fields that has any. The field
/// stays. A text counts as one item, whatever it contains.
pub fn list_in(fields: &Map<String, Value>, names: &[&str]) -> Vec<String> {
    let texts = |name: &&str| {
        let exact = fields.get(*name);
        let value = exact.or_else(|| {
            let mut all = fields.iter();
            all.find_map(|(key, value)| key.eq_ignore_ascii_case(name).then_some(value))
        });
        let texts: Vec<String> = match value {
            Some(Value::Array(items)) => items.iter().filter_map(text_of).collect(),
            other => other.and_then(text_of).into_iter().collect(),
        };
        (!texts.is_empty()).then_some(texts)
    };
    names.iter().find_map(texts).unwrap_or_default()
}

fn list_of(value: &Value) -> Option<Vec<String>> {
    match value {
        // Nested lists are flattened.
        Value::Array(items) => {
            let filled = items.iter().filter(|item| !is_empty(item));
            let parts: Option<Vec<_>> = filled
                .map(|item| match item {
                    Value::Array(_) => list_of(item),
                    _ => text_of(item).map(|text| vec![text]),
                })
                .collect();
            parts.map(|parts| parts.concat())
        }
        Value::String(text) if text.contains(',') => {
            Some(text.split(',').map(|part| part.trim().to_owned()).collect())
        }
        Value::String(text) => Some(text.split_whitespace().map(str::to_owned).collect()),
        _ => text_of(value).map(|text| vec![text]),
    }
}

fn text_of(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Bool(answer) => answer.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => return None,
    };
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_are_found_and_stay() {
        let Value::Object(fields) = json!({
            "Thread": 12, "session": "s", "author": ["Ana, M.D.", null, " Ben "],
            "project": {"name": "x"}, "empty": " ",
        }) else {
            unreachable!()
        };
        assert_eq!(list_in(&fields, &["thread", "session"]), ["12"]);
        assert_eq!(list_in(&fields, &["empty", "session"]), ["s"]);
        assert_eq!(list_in(&fields, &["author"]), ["Ana, M.D.", "Ben"]);
        assert_eq!(list_in(&fields, &["project", "none"]), [] as [&str; 0]);
        assert_eq!(fields.len(), 5);
    }

    #[test]
    fn fields_are_taken_by_name_and_kept_when_they_make_no_sense() {
        let Value::Object(mut fields) = json!({
            "Title": " Spaced ", "category": {"a": 1}, "auto_category": "work", "kind": "",
            "type": 5, "created": "some day", "date": 1_769_817_600, "tags": "a, b c ,,d",
            "keywords": ["x", null, 7], "tag": [["nested"]],
        }) else {
            unreachable!()
        };
        assert_eq!(
            take_text(&mut fields, &["title"]).as_deref(),
            Some("Spaced")
        );
        let category = take_text(&mut fields, &["category", "auto_category"]);
        assert_eq!(category.as_deref(), Some("work"));
        assert_eq!(take_text(&mut fields, &["kind"]), None);
        assert_eq!(take_string(&mut fields, &["type"]), None);
        let created = take_date(&mut fields, &["created_at", "created", "date"]);
        assert_eq!(created, Some(1_769_817_600));
        let tags = take_list(&mut fields, &["tags", "tag", "keywords"]);
        assert_eq!(tags, ["a", "b c", "", "d", "nested", "x", "7"]);
        assert_eq!(
            Value::Object(fields),
            json!({"category": {"a": 1}, "type": 5, "created": "some day"})
        );
    }
}
