//! Parses one line of a set's queries: the text and the filters.

use anyhow::{Context, Result, bail};
use kodiak::date;
use kodiak::store::Filter;
use serde_json::{Map, Value};

use super::corpus::THREAD;
use super::metrics::Judgements;
use super::records::{parse_object, take_identifier, take_text, take_texts};

/// A query with its judgements, at least one of them relevant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JudgedQuery {
    pub(crate) id: String,
    pub(crate) text: String,
    /// The filter that limits the search.
    pub(crate) filter: Filter,
    pub(crate) judged: Judgements,
}

/// A query without its judgements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Query {
    pub(super) id: String,
    pub(super) text: String,
    pub(super) filter: Filter,
}

impl Query {
    /// Adds the judgements to the query.
    pub(super) fn judged(self, judged: Judgements) -> JudgedQuery {
        JudgedQuery {
            id: self.id,
            text: self.text,
            filter: self.filter,
            judged,
        }
    }
}

pub(super) fn parse_query(line: &str) -> Result<Query> {
    let mut object = parse_object(line)?;
    Ok(Query {
        id: take_identifier(&mut object, "_id")?.context("no \"_id\"")?,
        text: take_text(&mut object, "text")?.context("no \"text\"")?,
        filter: take_filter(&mut object)?,
    })
}

/// Removes the filters from the object and returns them. They have the names of
/// the options on the command line. There is no "category", because published
/// sets use that name for the category of the question; "where" can filter by the
/// category of a note.
fn take_filter(object: &mut Map<String, Value>) -> Result<Filter> {
    let mut fields = take_fields(object)?;
    if let Some(group) = take_identifier(object, "group")? {
        fields.push((THREAD.to_owned(), group));
    }
    let mut limit = |field: &str| -> Result<_> {
        let text = take_text(object, field)?;
        let parsed = text.as_deref().map(date::parse_limit).transpose();
        parsed.with_context(|| format!("\"{field}\""))
    };
    Ok(Filter {
        after: limit("after")?,
        before: limit("before")?,
        tags: take_texts(object, "tags")?,
        kinds: take_texts(object, "kind")?,
        paths: take_texts(object, "path")?,
        fields,
        ..Filter::default()
    })
}

fn take_fields(object: &mut Map<String, Value>) -> Result<Vec<(String, String)>> {
    match object.remove("where") {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Object(fields)) => fields
            .into_iter()
            .map(|(name, value)| match value {
                Value::String(value) => Ok((name, value)),
                _ => bail!("\"{name}\" in \"where\" is not a string"),
            })
            .collect(),
        Some(_) => bail!("\"where\" is not an object"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(line: &str) -> String {
        format!("{:#}", parse_query(line).unwrap_err())
    }

    #[test]
    fn filters_are_those_of_a_search() {
        let query = parse_query(
            r#"{"_id": 3, "text": "jonas", "tags": ["projects", "team"], "kind": "meeting",
                "after": "2025-06", "before": "2026-01-01", "path": ["meetings/"], "group": 7,
                "where": {"status": "final"}, "category": 2}"#,
        )
        .unwrap();
        let text = str::to_owned;
        let expected = Filter {
            tags: vec![text("projects"), text("team")],
            kinds: vec![text("meeting")],
            after: date::parse("2025-06-01"),
            before: date::parse("2026"),
            paths: vec![text("meetings/")],
            fields: vec![(text("status"), text("final")), (text("thread"), text("7"))],
            ..Filter::default()
        };
        assert_eq!(query.filter, expected);
        assert!(query.filter.after.is_some() && query.filter.before.is_some());
        let bare = parse_query(r#"{"_id": "a", "text": "", "tags": null}"#).unwrap();
        assert!(bare.filter.is_empty());
    }

    #[test]
    fn a_filter_that_makes_no_sense_is_named() {
        for (filter, expected) in [
            (
                r#""after": "soon""#,
                r#""after": 'soon' is not a valid date"#,
            ),
            (r#""before": 2026"#, r#""before" is not a string"#),
            (
                r#""tags": ["a", 1]"#,
                r#""tags" is neither a string nor a list of strings"#,
            ),
            (
                r#""kind": {}"#,
                r#""kind" is neither a string nor a list of strings"#,
            ),
            (r#""where": "a=b""#, r#""where" is not an object"#),
            (
                r#""where": {"rating": 5}"#,
                r#""rating" in "where" is not a string"#,
            ),
        ] {
            let line = format!(r#"{{"_id": "a", "text": "b", {filter}}}"#);
            assert_eq!(problem(&line), expected);
        }
    }
}
