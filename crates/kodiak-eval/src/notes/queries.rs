//! Reads a file of judged queries: one a line, followed by a tab and its targets.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::error::{explained, refusal};

const FORMAT: &str = "each line is a query, a tab and the paths of the notes that answer it, \
                      separated by commas; or only a query that no note answers";

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Query {
    pub(super) text: String,
    /// The prefixes of the paths that answer it, each once.
    pub(super) targets: Vec<String>,
}

/// Reads the queries of a file.
pub(super) fn read(path: &Path) -> Result<Vec<Query>> {
    let bytes = fs::read(path).with_context(|| format!("could not read {}", path.display()))?;
    let queries = parse(&bytes).map_err(|(line, problem)| {
        refusal(
            format!("{}, line {line}: {problem}", path.display()),
            FORMAT,
        )
    })?;
    if queries.is_empty() {
        let problem = format!("{} has no query", path.display());
        return Err(explained(anyhow::Error::msg(problem), FORMAT));
    }
    Ok(queries)
}

/// Returns the name of a file of queries for people: `meaning` for
/// `meaning-queries.tsv`.
pub(super) fn label(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let short = stem.strip_suffix("-queries");
    short
        .filter(|short| !short.is_empty())
        .unwrap_or(&stem)
        .to_owned()
}

/// Parses the content of a file. An error has the number of the line.
fn parse(bytes: &[u8]) -> Result<Vec<Query>, (usize, &'static str)> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let lines = bytes.split(|&byte| byte == b'\n').zip(1..);
    let mut queries = Vec::new();
    for (line, number) in lines {
        let line = str::from_utf8(line).map_err(|_| (number, "not valid UTF-8"))?;
        let parsed = parse_line(line).map_err(|problem| (number, problem))?;
        queries.extend(parsed);
    }
    Ok(queries)
}

/// Parses a line, which has no query if it is blank.
fn parse_line(line: &str) -> Result<Option<Query>, &'static str> {
    let mut cells = line.split('\t').map(str::trim);
    let text = cells.next().unwrap_or_default();
    let listed = cells.next().unwrap_or_default();
    if cells.any(|cell| !cell.is_empty()) {
        return Err("more than a query and its targets");
    }
    let mut targets: Vec<String> = Vec::new();
    for target in listed.split(',').map(str::trim) {
        let target = target.trim_start_matches("./");
        if !target.is_empty() && !targets.iter().any(|known| known == target) {
            targets.push(target.to_owned());
        }
    }
    match (text.is_empty(), targets.is_empty()) {
        (true, true) => Ok(None),
        (true, false) => Err("targets without a query"),
        _ => Ok(Some(Query {
            text: text.to_owned(),
            targets,
        })),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Refusal;

    fn query(text: &str, targets: &[&str]) -> Query {
        Query {
            text: text.to_owned(),
            targets: targets.iter().map(|&target| target.to_owned()).collect(),
        }
    }

    #[test]
    fn lines_have_targets_or_none() {
        let file = "\u{feff}soft eggs\tcook/eggs.md\r\n\r\n  \t \nwhales\nferry \t ./a.md,, b/ ,a.md,\n\
                    helm of a boat\t\n";
        let expected = [
            query("soft eggs", &["cook/eggs.md"]),
            query("whales", &[]),
            query("ferry", &["a.md", "b/"]),
            query("helm of a boat", &[]),
        ];
        assert_eq!(parse(file.as_bytes()).unwrap(), expected);
        assert_eq!(parse(b"").unwrap(), []);
        assert_eq!(parse(b"last line").unwrap(), [query("last line", &[])]);
    }

    #[test]
    fn a_wrong_line_is_named() {
        let folder = tempfile::tempdir().unwrap();
        for (content, expected) in [
            (
                &b"eggs\ta.md\n\nfine\n\xff\ta.md\n"[..],
                "line 4: not valid UTF-8",
            ),
            (b"eggs\n\ta.md\n", "line 2: targets without a query"),
            (
                b"eggs\ta.md\tb.md\n",
                "line 1: more than a query and its targets",
            ),
        ] {
            let path = folder.path().join("odd.tsv");
            fs::write(&path, content).unwrap();
            let error = read(&path).unwrap_err();
            let expected = format!("{}, {expected}", path.display());
            assert_eq!(error.to_string(), expected);
            let hint = error.downcast_ref::<Refusal>().unwrap().hint();
            assert!(hint.starts_with("each line is a query"), "{hint}");
        }
        let path = folder.path().join("empty.tsv");
        fs::write(&path, "\n\r\n").unwrap();
        let error = read(&path).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("{} has no query", path.display())
        );
    }

    #[test]
    fn labels_are_short() {
        for (path, expected) in [
            ("a/meaning-queries.tsv", "meaning"),
            ("wordy.tsv", "wordy"),
            ("-queries.tsv", "-queries"),
            ("my-queries-2.tsv", "my-queries-2"),
        ] {
            assert_eq!(label(Path::new(path)), expected);
        }
    }

    proptest! {
        #[test]
        fn whatever_is_written_is_read_back(
            written in prop::collection::vec(
                ("[^\\s,\u{feff}][^\t\r\n]{0,20}", prop::collection::btree_set("[a-z/]{1,9}", 0..4)),
                1..8,
            ),
            ending in prop::sample::select(vec!["\n", "\r\n", "\n\n"]),
        ) {
            let mut file = String::new();
            let mut expected = Vec::new();
            for (text, targets) in written {
                let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
                file.push_str(&format!("{text}\t{}{ending}", targets.join(",")));
                expected.push(query(text.trim(), &targets));
            }
            prop_assert_eq!(parse(file.as_bytes()), Ok(expected));
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Err((line, _)) = parse(&bytes) {
                prop_assert!(line >= 1 && line <= bytes.split(|&byte| byte == b'\n').count());
            }
        }
    }
}
