//! The settings that the config may have, by their dotted names.
//!
//! `kodiak config set` changes the ones that have one value; the documentation has all of
//! them. A test compares this list with the settings that are read, and another with the
//! documentation.

use crate::nearest::nearest;

/// The settings with one value each, in the order of the documentation.
pub(crate) const KEYS: &[&str] = &[
    "model",
    "model.provider",
    "model.model",
    "model.url",
    "model.key",
    "model.dimensions",
    "model.query_prefix",
    "model.document_prefix",
    "model.batch",
    "model.concurrency",
    "model.timeout",
    "offline",
    "index",
    "pages",
    "sessions",
    "memory.path",
    "memory.retention",
    "transcripts.retention",
    "max_file_size",
    "search.limit",
    "search.fusion",
    "search.keyword",
    "search.lexical_weight",
    "search.semantic_weight",
    "search.minimum_similarity",
    "search.deadline_ms",
    "search.refresh_ms",
    "search.pager",
    "search.history",
    "search.rerank",
    "search.rerank_model",
    "search.rerank_key",
    "brain.threshold",
    "brain.remember_queries",
    "hook.sources",
    "hook.other_projects",
    "team.url",
    "team.password_file",
];

/// Returns the known setting that is meant by a name that is not known.
pub(crate) fn meant(name: &str) -> Option<&'static str> {
    let known: Vec<String> = KEYS.iter().map(|&key| key.to_owned()).collect();
    let near = nearest(name, &known).and_then(|near| KEYS.iter().find(|&&key| key == near));
    // People leave out the table.
    let last = |key: &&&str| key.rsplit('.').next() == Some(name);
    near.or_else(|| KEYS.iter().find(last)).copied()
}

/// Returns the parser's message about a key in this program's words: an unknown key
/// is followed by the one that is probably meant.
pub(super) fn explained(message: &str) -> String {
    let message = message.replace("unknown field", "unknown key");
    let Some(rest) = message.strip_prefix("unknown key `") else {
        return message;
    };
    let Some((name, expected)) = rest.split_once('`') else {
        return message;
    };
    let known: Vec<String> = quoted(expected);
    match nearest(name, &known) {
        Some(near) => format!("unknown key `{name}`, did you mean `{near}`?"),
        None => message,
    }
}

/// The highest number of hits.
pub(super) const MAX_LIMIT: usize = 100_000;

/// Turns the parser's message about the value of a setting into a requirement.
pub(super) fn allowed(key: &str, message: &str) -> String {
    let Some((_, expected)) = message.rsplit_once("expected ") else {
        return message.to_owned();
    };
    let expected = match expected {
        "usize" if key == "search.limit" => format!("a whole number from 1 to {MAX_LIMIT}"),
        "usize" | "u64" | "u32" | "u16" | "u8" => "a whole number".to_owned(),
        "f64" | "f32" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a string" => "a text".to_owned(),
        names => names.replace('`', "'"),
    };
    format!("{key} must be {expected}")
}

/// Returns the names in backticks.
fn quoted(text: &str) -> Vec<String> {
    let parts = text.split('`').skip(1).step_by(2);
    parts.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::super::Config;
    use super::*;
    use crate::failure::message;

    /// Names that other programs have for settings, which are read too.
    const ALIASES: [&str; 1] = ["semantic_search_threshold"];

    /// Returns the names that the reader knows at a place of the config.
    fn read(table: &str) -> BTreeSet<String> {
        let text = format!("{table}\nqqqqqqqqqqqqqqqqqqqqqqqq = 1");
        let error = Config::parse(&text, Path::new("x")).unwrap_err();
        let said = message(&error);
        let (_, expected) = said.split_once("expected").unwrap();
        let names = quoted(expected).into_iter();
        names.filter(|name| !ALIASES.contains(&&**name)).collect()
    }

    #[test]
    fn every_setting_that_is_read_is_known() {
        let top: BTreeSet<String> = KEYS
            .iter()
            .map(|key| key.split('.').next().unwrap().to_owned())
            // Sources are added by a verb of their own.
            .chain(["source".to_owned()])
            .collect();
        assert_eq!(read(""), top);
        let tables: BTreeSet<&str> = KEYS
            .iter()
            .filter_map(|key| key.split_once('.'))
            .map(|(table, _)| table)
            .collect();
        for table in tables {
            let inner: BTreeSet<String> = KEYS
                .iter()
                .filter_map(|key| key.strip_prefix(&format!("{table}.")))
                .map(str::to_owned)
                .collect();
            assert_eq!(read(&format!("[{table}]")), inner, "{table}");
        }
    }

    #[test]
    fn a_slip_is_recognised() {
        assert_eq!(meant("ofline"), Some("offline"));
        assert_eq!(meant("search.limt"), Some("search.limit"));
        assert_eq!(meant("deadline_ms"), Some("search.deadline_ms"));
        assert_eq!(meant("zebra"), None);
    }

    #[test]
    fn values_are_described_for_people() {
        for (said, told) in [
            (
                "invalid type: string \"five\", expected usize",
                "search.deadline_ms must be a whole number",
            ),
            (
                "unknown variant `sum`, expected `convex` or `rrf`",
                "search.deadline_ms must be 'convex' or 'rrf'",
            ),
            (
                "invalid type: integer `1`, expected a boolean",
                "search.deadline_ms must be true or false",
            ),
            (
                "model.batch must be at least 1",
                "model.batch must be at least 1",
            ),
        ] {
            assert_eq!(allowed("search.deadline_ms", said), told);
        }
    }

    #[test]
    fn what_is_meant_is_said_in_the_config_too() {
        assert_eq!(
            explained("unknown field `limt`, expected one of `limit`, `fusion`"),
            "unknown key `limt`, did you mean `limit`?"
        );
        let far = "unknown field `zebra`, expected `limit` or `fusion`";
        assert_eq!(explained(far), far.replace("field", "key"));
        assert_eq!(explained("something else"), "something else");
    }
}
