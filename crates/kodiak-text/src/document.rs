//! The document, its id, and references to parts of it.
//!
//! Everything that a source yields is a [`Document`], whatever it was made
//! from. Everything after the source knows only documents.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};

use crate::markup::Lines;
use kodiak_base::error::{Error, Result};
use kodiak_base::files::state::FileState;
pub use kodiak_base::hex;

/// Seconds since 1970-01-01 UTC.
pub type Timestamp = i64;

/// The fields of the frontmatter that have other names of a document.
pub const ALIASES: [&str; 2] = ["aliases", "alias"];

/// The extensions of files that are notes.
pub(crate) const EXTENSIONS: [&str; 5] = ["md", "markdown", "mdx", "txt", "org"];

/// Reports whether files with this extension are notes, in any case of letters.
pub fn is_note_extension(extension: &str) -> bool {
    let mut known = EXTENSIONS.iter();
    known.any(|known| known.eq_ignore_ascii_case(extension))
}

/// The minimum number of hexadecimal digits shown of an id.
pub const SHORTEST_ID: usize = 6;

/// The identity of a document: 128 bits of BLAKE3 over the name of its source
/// and its key, so that it survives edits, rebuilds and moves to other
/// machines.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DocumentId([u8; 16]);

impl DocumentId {
    /// Returns the id of the document `key` in the source `source`.
    pub fn new(source: &str, key: &str) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(source.as_bytes());
        hasher.update(&[0]);
        hasher.update(key.as_bytes());
        let mut id = [0; 16];
        id.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        Self(id)
    }

    /// Returns all 32 hexadecimal digits.
    pub fn hex(self) -> String {
        hex(&self.0)
    }
}

/// Returns the digits of an id or of its beginning, in lower case, if a name consists of
/// at least `least` of them, after a `#` or not.
pub fn id_digits(name: &str, least: usize) -> Option<String> {
    let digits = name.strip_prefix('#').unwrap_or(name);
    let is_id = digits.len() >= least && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| digits.to_ascii_lowercase())
}

impl fmt::Debug for DocumentId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "#{}", self.hex())
    }
}

/// The version of something in a source. Equal versions mean equal content, as
/// far as the source can tell without reading it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Version(pub [u8; 16]);

impl Version {
    /// The version of an entry that must be read again: it was not read yet, or
    /// its version could not be trusted when it was.
    pub const UNKNOWN: Self = Self([0; 16]);

    /// Makes a version from a state that changes whenever the content does.
    pub fn of(state: &[u8]) -> Self {
        let mut version = [0; 16];
        version.copy_from_slice(&blake3::hash(state).as_bytes()[..16]);
        Self(version)
    }

    /// Returns the version of a file in this state, of which at most `max_bytes` are
    /// read.
    pub fn of_file(state: &FileState, max_bytes: u64) -> Self {
        Self::of(state.fingerprint(max_bytes).as_ref())
    }

    /// Reports whether the version is known.
    pub fn is_known(self) -> bool {
        self != Self::UNKNOWN
    }

    /// Reports whether an entry with this indexed version is certainly the same,
    /// given its version `now`.
    pub fn is_same_as(self, now: Self) -> bool {
        self.is_known() && self == now
    }

    /// Reports whether an entry with this indexed version has certainly changed,
    /// given its version `now`. An unknown version is not evidence of a change.
    pub fn differs_from(self, now: Self) -> bool {
        self.is_known() && now.is_known() && self != now
    }
}

/// How the text of a document is marked up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Markup {
    /// Markdown, in any dialect.
    #[default]
    Markdown,
    /// Org mode.
    Org,
    /// Plain text.
    Plain,
    /// Plain text that is embedded exactly as it is: without title and headings,
    /// and divided only where it exceeds what a model reads.
    Verbatim,
}

impl Markup {
    /// Returns the name it is stored under.
    pub fn name(self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::Org => "org",
            Self::Plain => "plain",
            Self::Verbatim => "verbatim",
        }
    }

    /// Returns the markup with this name; Markdown for an unknown name.
    pub fn named(name: &str) -> Self {
        let all = [Self::Markdown, Self::Org, Self::Plain, Self::Verbatim];
        let known = all.into_iter().find(|markup| markup.name() == name);
        known.unwrap_or_default()
    }

    /// Returns the markup of a file with this extension.
    pub fn of_extension(extension: &str) -> Self {
        if extension.eq_ignore_ascii_case("org") {
            Self::Org
        } else if extension.eq_ignore_ascii_case("txt") {
            Self::Plain
        } else {
            Self::Markdown
        }
    }
}

/// The conversation or session a document is part of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    /// Its name within the source, ignoring ASCII case.
    pub name: String,
    /// The document's position in it, where known. Otherwise its date
    /// determines the order.
    pub position: Option<i64>,
}

/// One thing that was written: a note, a page, a memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// The name of the source it comes from.
    pub source: String,
    /// Its name inside the source; for files the path from the root, with `/`.
    pub key: String,
    /// Its key if another entry has a document with `key`, for sources whose
    /// authors choose keys. Without one, the entry read later wins.
    pub fallback_key: Option<String>,
    /// Its kind: `note` unless its frontmatter says otherwise.
    pub kind: String,
    /// Its title, never empty.
    pub title: String,
    /// Its frontmatter block as written, delimiters and all; empty if none.
    /// `front` followed by `body` is the file.
    pub front: String,
    /// Its text, without the frontmatter.
    pub body: String,
    /// How `body` is marked up.
    pub markup: Markup,
    /// The lines of `body`, classified, if the source has already read them.
    pub lines: Option<Lines>,
    /// The category its author gave it.
    pub category: Option<String>,
    /// Its tags without `#`, each once, in the order they appear.
    pub tags: Vec<String>,
    /// When it was written, where known.
    pub created_at: Option<Timestamp>,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Every other field of its frontmatter.
    pub fields: Map<String, Value>,
    /// The conversation or session it is part of.
    pub thread: Option<Thread>,
    /// Who wrote or said it, where known.
    pub author: Option<String>,
    /// The project it belongs to.
    pub project: Option<String>,
    /// The BLAKE3 hash of everything that was read of it: for a file, of the
    /// whole file.
    pub hash: [u8; 32],
    /// A problem that did not prevent indexing, such as broken frontmatter.
    pub problem: Option<String>,
}

impl Document {
    /// Returns its id.
    pub fn id(&self) -> DocumentId {
        DocumentId::new(&self.source, &self.key)
    }

    /// Returns its frontmatter fields as names and plain values. A list gives one pair
    /// per element; names inside a mapping are joined with a dot.
    pub fn flat_fields(&self) -> Vec<(String, String)> {
        fn flatten(name: &str, value: &Value, rows: &mut Vec<(String, String)>) {
            match value {
                Value::Null => {}
                Value::Array(values) => values.iter().for_each(|value| flatten(name, value, rows)),
                Value::Object(fields) => {
                    for (inner, value) in fields {
                        flatten(&format!("{name}.{inner}"), value, rows);
                    }
                }
                Value::String(text) => rows.push((name.to_owned(), text.clone())),
                other => rows.push((name.to_owned(), other.to_string())),
            }
        }
        let mut rows = Vec::new();
        for (name, value) in &self.fields {
            flatten(name, value, &mut rows);
        }
        rows
    }

    /// Returns its title and its aliases, as they are searched.
    pub fn titles(&self) -> Cow<'_, str> {
        let mut aliases = ALIASES.iter().filter_map(|name| {
            let mut fields = self.fields.iter();
            fields.find(|(known, _)| known.eq_ignore_ascii_case(name))
        });
        let Some(first) = aliases.next() else {
            return Cow::Borrowed(&self.title);
        };
        let mut titles = self.title.clone();
        for (_, value) in std::iter::once(first).chain(aliases) {
            push_texts(value, &mut titles);
        }
        Cow::Owned(titles)
    }

    /// Returns the number of lines in the file before the body.
    pub fn front_lines(&self) -> usize {
        newlines(&self.front)
    }
}

/// Adds a value, or the elements of a list, each after a space.
fn push_texts(value: &Value, text: &mut String) {
    match value {
        Value::Null | Value::Object(_) => {}
        Value::Array(values) => values.iter().for_each(|value| push_texts(value, text)),
        Value::String(value) => text.extend([" ", value]),
        other => text.extend([" ", &other.to_string()]),
    }
}

/// Returns the number of line breaks in a text.
pub fn newlines(text: &str) -> usize {
    text.bytes().filter(|&byte| byte == b'\n').count()
}

/// The characters that are percent-encoded in an address: all but the
/// unreserved characters of RFC 3986.
pub const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The name in addresses that stands for a search: `kodiak://search/QUERY`. No source can
/// have it.
pub const SEARCH_SOURCE: &str = "search";

/// Returns the address of a document, such as `kodiak://notes/gtd.md`. Reserved
/// characters are percent-encoded.
pub fn uri(source: &str, key: &str) -> String {
    const RESERVED_IN_PATH: &AsciiSet = &RESERVED.remove(b'/');
    let source = utf8_percent_encode(source, RESERVED);
    let key = utf8_percent_encode(key, RESERVED_IN_PATH);
    format!("kodiak://{source}/{key}")
}

/// A reference to a document, as a person or an agent types it, with the lines
/// wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// An id or its beginning, a path, or an address, as typed.
    pub target: String,
    /// The lines wanted; all lines if `None`.
    pub lines: Option<LineRange>,
}

impl Reference {
    /// Returns a reference to a whole document. Nothing in `target` is taken for
    /// lines.
    pub fn whole(target: &str) -> Self {
        Self {
            target: target.trim().to_owned(),
            lines: None,
        }
    }
}

impl FromStr for Reference {
    type Err = Error;

    /// Reads `a1b2c3`, `#a1b2c3:10-20`, `notes/gtd.md:7` or
    /// `kodiak://notes/gtd.md`. A colon that is not followed by digits belongs
    /// to the name.
    fn from_str(text: &str) -> Result<Self> {
        let text = text.trim();
        if let Some((target, range)) = text.rsplit_once(':')
            && range.starts_with(|c: char| c.is_ascii_digit())
            && !target.is_empty()
        {
            return Ok(Self {
                target: target.to_owned(),
                lines: Some(range.parse()?),
            });
        }
        Ok(Self {
            target: text.to_owned(),
            lines: None,
        })
    }
}

/// Lines of a file, counted from one, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineRange {
    /// The first line.
    pub from: usize,
    /// The last line; `usize::MAX` for the end of the file.
    pub to: usize,
}

impl LineRange {
    /// Returns a line of the range that a file with so many lines lacks: the first of the
    /// range, or its last. The end of the file is never beyond it.
    pub fn beyond(&self, line_count: usize) -> Option<usize> {
        if self.from > line_count {
            return Some(self.from);
        }
        Some(self.to).filter(|to| *to > line_count && *to != usize::MAX)
    }
}

impl FromStr for LineRange {
    type Err = Error;

    /// Reads `7`, `10-20`, `10:20`, `10..20` or, for the rest, `10-`.
    fn from_str(text: &str) -> Result<Self> {
        let bad = || Error::BadRange {
            input: text.to_owned(),
        };
        let number = |part: &str| part.trim().parse::<usize>().map_err(|_| bad());
        let ends = ["..", "-", ":"]
            .iter()
            .find_map(|separator| text.split_once(separator));
        let (from, to) = match ends {
            None => (number(text)?, number(text)?),
            Some((from, "")) => (number(from)?, usize::MAX),
            Some((from, to)) => (number(from)?, number(to)?),
        };
        if from == 0 || to < from {
            return Err(bad());
        }
        Ok(Self { from, to })
    }
}

#[cfg(test)]
mod tests {
    use percent_encoding::percent_decode_str;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ids_depend_on_source_and_key_and_nothing_else() {
        let id = DocumentId::new("notes", "gtd.md");
        assert_eq!(id, DocumentId::new("notes", "gtd.md"));
        assert_ne!(id, DocumentId::new("note", "sgtd.md"));
        assert_eq!(id.hex().len(), 32);
    }

    #[test]
    fn lines_beyond_the_end_are_named() {
        for (range, beyond) in [
            ("4", None),
            ("2-4", None),
            ("2-5", Some(5)),
            ("5", Some(5)),
            ("5-9", Some(5)),
            ("2-", None),
            ("5-", Some(5)),
        ] {
            let range: LineRange = range.parse().unwrap();
            assert_eq!(range.beyond(4), beyond, "{range:?}");
        }
    }

    #[test]
    fn an_unknown_version_says_nothing() {
        let (one, other) = (Version::of(b"one"), Version::of(b"other"));
        assert!(one.is_known() && one == Version::of(b"one"));
        assert!(one.differs_from(other) && !one.differs_from(one));
        assert!(!one.differs_from(Version::UNKNOWN) && !Version::UNKNOWN.differs_from(one));
    }

    #[test]
    fn a_markup_is_known_by_its_name_and_by_extensions() {
        for markup in [
            Markup::Markdown,
            Markup::Org,
            Markup::Plain,
            Markup::Verbatim,
        ] {
            assert_eq!(Markup::named(markup.name()), markup);
        }
        for (extension, markup) in [
            ("md", Markup::Markdown),
            ("ORG", Markup::Org),
            ("txt", Markup::Plain),
            ("", Markup::Markdown),
        ] {
            assert_eq!(Markup::of_extension(extension), markup, "{extension}");
        }
    }

    #[test]
    fn addresses_encode_what_they_cannot_hold() {
        assert_eq!(
            uri("notes", "a b/ü#1.md"),
            "kodiak://notes/a%20b/%C3%BC%231.md"
        );
    }

    proptest! {
        #[test]
        fn an_address_is_plain_and_leads_back_to_its_document(source: String, key: String) {
            let address = uri(&source, &key);
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/:%".contains(&byte);
            prop_assert!(address.bytes().all(plain), "{}", address);
            let rest = address.strip_prefix("kodiak://").unwrap();
            let (found_source, found_key) = rest.split_once('/').unwrap();
            let decode = |text| percent_decode_str(text).decode_utf8().unwrap();
            prop_assert_eq!(decode(found_source), source);
            prop_assert_eq!(decode(found_key), key);
        }
    }

    #[test]
    fn references_with_and_without_lines() {
        let with = |target: &str, from, to| Reference {
            target: target.into(),
            lines: Some(LineRange { from, to }),
        };
        assert_eq!(
            "a1b2c3:10-20".parse::<Reference>().unwrap(),
            with("a1b2c3", 10, 20)
        );
        assert_eq!(
            "#a1b2c3:7".parse::<Reference>().unwrap(),
            with("#a1b2c3", 7, 7)
        );
        assert_eq!(
            "x.md:3-".parse::<Reference>().unwrap(),
            with("x.md", 3, usize::MAX)
        );
        let plain = "kodiak://notes/gtd.md".parse::<Reference>().unwrap();
        assert_eq!(plain.lines, None);
        assert_eq!("a: b".parse::<Reference>().unwrap().target, "a: b");
        assert!("a1b2c3:20-10".parse::<Reference>().is_err());
        assert!("a1b2c3:0".parse::<Reference>().is_err());
    }
}
