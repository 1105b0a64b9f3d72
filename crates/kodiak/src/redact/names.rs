//! Values that are secret because of what they are called.
//!
//! Owns the names (`password`, `api_key`, `"clientSecret"`, `--token`), how a value
//! follows a name in configuration, code, JSON, headers and command lines, and when
//! a value is random enough to be one. Anything can follow a name: a type, a
//! variable, a call, a placeholder, a word of a sentence. Those stay.

use std::ops::Range;

use super::places::char_end;
use super::{Secret, is_word, shapes};

/// How much a name says about its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    /// Its value is a password, which people make up.
    Password,
    /// Its value is a secret that a machine made.
    Key,
    /// Any key: only the name of an environment variable counts (`STRIPE_KEY=`).
    Variable,
}

/// Parts of names, in lower case.
pub(super) const NAMES: &[(&str, Name)] = &[
    ("password", Name::Password),
    ("passwd", Name::Password),
    ("passphrase", Name::Password),
    ("_pass", Name::Password),
    ("pwd", Name::Password),
    ("secret", Name::Key),
    ("token", Name::Key),
    ("api_key", Name::Key),
    ("api-key", Name::Key),
    ("apikey", Name::Key),
    ("access_key", Name::Key),
    ("access-key", Name::Key),
    ("accesskey", Name::Key),
    ("auth_key", Name::Key),
    ("authkey", Name::Key),
    ("private_key", Name::Key),
    ("privatekey", Name::Key),
    ("secret_key", Name::Key),
    ("encryption_key", Name::Key),
    ("encryptionkey", Name::Key),
    ("signing_key", Name::Key),
    ("signingkey", Name::Key),
    ("accountkey", Name::Key),
    ("account_key", Name::Key),
    ("credential", Name::Key),
    ("_auth", Name::Key),
    ("_key", Name::Variable),
];

/// Words in a name after which its value is not the secret itself.
const OTHER_THINGS: &[&str] = &[
    "count",
    "type",
    "id",
    "ids",
    "limit",
    "length",
    "len",
    "size",
    "expiry",
    "expires",
    "expired",
    "expiration",
    "ttl",
    "url",
    "uri",
    "endpoint",
    "file",
    "path",
    "dir",
    "name",
    "names",
    "field",
    "policy",
    "reset",
    "version",
    "prefix",
    "suffix",
    "format",
    "max",
    "min",
    "usage",
    "budget",
    "window",
    "index",
    "public",
    "cache",
    "primary",
    "foreign",
    "sort",
    "partition",
    "hash",
    "alg",
    "algorithm",
    "class",
    "label",
    "hint",
    "estimate",
    "cost",
    "price",
    "kind",
    "position",
    "start",
    "end",
    "at",
    "ref",
    "arn",
    "sha",
    "commit",
    "checksum",
    "digest",
];

/// The longest name and value that are read.
const LONGEST_NAME: usize = 96;
const LONGEST_VALUE: usize = 2048;

/// Returns the secret value beside the name at `range`, if there is one.
pub(super) fn value_beside(text: &[u8], range: Range<usize>, name: Name) -> Option<Secret> {
    let identifier = identifier_around(text, &range)?;
    let full = &text[identifier.clone()];
    let after_keyword = &text[range.end..identifier.end];
    if !continues_well(after_keyword) || !names_a_secret(full) {
        return None;
    }
    if name == Name::Variable && !is_variable(full) {
        return None;
    }
    let flag = text[..identifier.start].ends_with(b"-") || full.starts_with(b"-");
    let start = separator(text, identifier.end, flag)?;
    let value = value(text, start)?;
    let bytes = &text[value.clone()];
    let secret = match name {
        Name::Password => is_password(bytes),
        Name::Key => is_random(bytes, 16, 3.0),
        Name::Variable => is_random(bytes, 20, 3.3),
    };
    let kind = shapes::kind_of(bytes).unwrap_or(match name {
        Name::Password => "password",
        Name::Key | Name::Variable => kind_named(full),
    });
    secret.then_some(Secret { range: value, kind })
}

fn kind_named(name: &[u8]) -> &'static str {
    let name = name.to_ascii_lowercase();
    let has = |part: &str| name.windows(part.len()).any(|one| one == part.as_bytes());
    if has("token") {
        "token"
    } else if has("secret") {
        "secret"
    } else {
        "key"
    }
}

/// Returns the whole name that a part of one is in.
fn identifier_around(text: &[u8], part: &Range<usize>) -> Option<Range<usize>> {
    let is_name = |byte: &u8| is_word(*byte) || matches!(byte, b'-' | b'.');
    let lowest = part.start.saturating_sub(LONGEST_NAME);
    let before = text[lowest..part.start].iter().rev();
    let start = part.start - before.take_while(|byte| is_name(byte)).count();
    let after = text[part.end..].iter().take(LONGEST_NAME);
    let end = part.end + after.take_while(|byte| is_name(byte)).count();
    (end - start <= LONGEST_NAME).then_some(start..end)
}

/// Tells whether a name may go on like this after the part that counts:
/// `token_prod`, `secretKey` and `password2`, but not `tokenizer`.
fn continues_well(rest: &[u8]) -> bool {
    match rest {
        [] => true,
        [b'_' | b'-' | b'.', ..] => true,
        [b's', end @ ..] => end.is_empty(),
        [first, ..] => first.is_ascii_uppercase() || first.is_ascii_digit(),
    }
}

/// Tells whether none of the words of a name says that its value is harmless.
fn names_a_secret(name: &[u8]) -> bool {
    let mut word = String::new();
    let mut previous_lower = false;
    for byte in name.iter().chain(b"_") {
        let boundary = !byte.is_ascii_alphanumeric();
        let hump = byte.is_ascii_uppercase() && previous_lower;
        if boundary || hump {
            if OTHER_THINGS.contains(&word.as_str()) {
                return false;
            }
            word.clear();
        }
        if !boundary {
            word.push(char::from(byte.to_ascii_lowercase()));
        }
        previous_lower = byte.is_ascii_lowercase();
    }
    true
}

/// Tells whether this is the name of an environment variable.
fn is_variable(name: &[u8]) -> bool {
    name.ends_with(b"KEY")
        && name
            .iter()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_')
}

/// Returns where the value begins after a name that ends at `at`, if something
/// there assigns one.
fn separator(text: &[u8], at: usize, flag: bool) -> Option<usize> {
    let mut rest = Cursor { text, at };
    rest.skip_quote();
    rest.skip(b"]");
    rest.skip_spaces();
    let assigns = rest.skip(b":=") || rest.skip(b"=>") || rest.skip(b"=") || rest.skip(b":");
    if assigns {
        // `==` compares, `::` is a path.
        if matches!(rest.peek(), Some(b'=' | b':')) {
            return None;
        }
        rest.skip_spaces();
        Some(rest.at)
    } else if flag && rest.at > at && text[at].is_ascii_whitespace() {
        Some(rest.at)
    } else {
        None
    }
}

/// Returns the range of the value that begins at `start`, without its quotes.
fn value(text: &[u8], start: usize) -> Option<Range<usize>> {
    let mut rest = Cursor { text, at: start };
    // Prefixes of string literals, as in `b"…"` and `@"…"`.
    if matches!(rest.peek(), Some(b'b' | b'r' | b'f' | b'@' | b'u'))
        && matches!(text.get(start + 1), Some(b'"' | b'\''))
    {
        rest.at += 1;
    }
    let quote = rest.quote();
    if quote.is_some() {
        rest.skip_quote();
    }
    let escaped = text.get(start) == Some(&b'\\');
    let from = rest.at;
    let within = &text[from..text.len().min(from + LONGEST_VALUE)];
    let mut length = 0;
    while let Some(&byte) = within.get(length) {
        let ends = match quote {
            // In a text that is itself quoted, the closing quote is escaped.
            Some(_) if escaped => matches!(byte, b'\\' | b'\n' | b'\r'),
            Some(quote) => byte == quote || matches!(byte, b'\n' | b'\r'),
            None if byte == b'&' => !is_part(&within[length + 1..]),
            None => byte.is_ascii_whitespace() || b",;\"'`)}]|<>\\".contains(&byte),
        };
        if ends {
            break;
        }
        // What a backslash escapes ends nothing.
        length += if byte == b'\\' { 2 } else { 1 };
    }
    (length > 0 && length < LONGEST_VALUE)
        .then(|| from..char_end(text, (from + length).min(text.len())))
}

/// Tells whether an ampersand before `rest` belongs to a value. It does not if it
/// joins commands, or if another parameter follows.
fn is_part(rest: &[u8]) -> bool {
    let name = rest
        .iter()
        .take_while(|byte| is_word(**byte) || **byte == b'-');
    let name = name.take(LONGEST_NAME).count();
    match rest.get(name) {
        Some(b'=') if name > 0 => false,
        _ => rest
            .first()
            .is_some_and(|byte| *byte != b'&' && !byte.is_ascii_whitespace()),
    }
}

struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip(&mut self, what: &[u8]) -> bool {
        let there = self.text[self.at..].starts_with(what);
        if there {
            self.at += what.len();
        }
        there
    }

    fn skip_spaces(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// Returns the quote here, also one that is escaped.
    fn quote(&self) -> Option<u8> {
        let escaped = self.text[self.at..]
            .iter()
            .take_while(|byte| **byte == b'\\')
            .count();
        let quote = self.text.get(self.at + escaped).copied();
        quote.filter(|quote| matches!(quote, b'"' | b'\'' | b'`') && escaped <= 7)
    }

    fn skip_quote(&mut self) {
        if self.quote().is_some() {
            while self.peek() == Some(b'\\') {
                self.at += 1;
            }
            self.at += 1;
        }
    }
}

/// Tells whether the value of a password is one: not a word, a variable, a call or
/// a placeholder.
fn is_password(value: &[u8]) -> bool {
    if value.len() < 6 || stands_for_another(value) {
        return false;
    }
    let classes = [
        value.iter().any(u8::is_ascii_lowercase),
        value.iter().any(u8::is_ascii_uppercase),
        value.iter().any(u8::is_ascii_digit),
        value.iter().any(u8::is_ascii_punctuation),
        !value.is_ascii(),
    ];
    let classes = classes.iter().filter(|one| **one).count();
    let digit = value.iter().any(u8::is_ascii_digit);
    // `pass_word`, `some.field` and `MyType` have no digit.
    let symbol = value.iter().any(|byte| {
        matches!(
            byte,
            b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'*' | b'+' | b'?'
        )
    });
    classes >= 2 && (digit || (symbol && classes >= 3)) && entropy(value) >= 2.3
}

/// Tells whether a value looks made by a machine.
pub(super) fn is_random(value: &[u8], least: usize, bits: f64) -> bool {
    if value.len() < least {
        return false;
    }
    let padding = value.iter().rev().take_while(|byte| **byte == b'=').count();
    let token = |byte: &u8| {
        byte.is_ascii_alphanumeric()
            || matches!(
                byte,
                b'+' | b'/'
                    | b'-'
                    | b'_'
                    | b'.'
                    | b'~'
                    | b'!'
                    | b'%'
                    | b'@'
                    | b'#'
                    | b'$'
                    | b'^'
                    | b'*'
            )
    };
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = value
        .iter()
        .filter(|byte| byte.is_ascii_alphabetic())
        .count();
    let one_piece = |value: &[u8]| {
        let mut pieces = value.split(|byte| !byte.is_ascii_alphanumeric());
        pieces.any(|piece| piece.len() >= 8 && is_jumbled(piece))
    };
    // The cheap checks come first.
    digits > 0
        && letters > 0
        && value[..value.len() - padding].iter().all(token)
        && one_piece(value)
        && entropy(value) >= bits
        && !stands_for_another(value)
}

/// Tells whether a piece of a value is no word with a number: its digits are
/// among its letters, or its capitals are.
fn is_jumbled(piece: &[u8]) -> bool {
    let class = |byte: u8| match byte {
        b'0'..=b'9' => 0,
        b'A'..=b'Z' => 1,
        _ => 2,
    };
    let changes = piece
        .windows(2)
        .filter(|pair| class(pair[0]) != class(pair[1]))
        .count();
    changes >= 3
}

/// Tells whether a value only stands for one: a variable, a placeholder, a path,
/// a call, or what this module has put there.
pub(super) fn stands_for_another(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    let has = |part: &str| lower.windows(part.len()).any(|one| one == part.as_bytes());
    let begins = [
        "$", "<", "{", "[", "%(", "%s", "/", "./", "../", "~/", "*", "env.", "process.", "os.",
        "self.", "this.", "config.", "@",
    ];
    let contains = [
        "(",
        "[",
        "${",
        "{{",
        "://",
        "redacted",
        "xxxx",
        "****",
        "....",
        "example",
        "placeholder",
        "changeme",
        "your",
        "dummy",
        "->",
        "process.env",
        "getenv",
        "\u{2026}",
    ];
    begins
        .iter()
        .any(|begin| lower.starts_with(begin.as_bytes()))
        || contains.iter().any(|part| has(part))
        || value.iter().all(|byte| *byte == value[0])
        || is_file(&lower)
}

/// Tells whether a value is the name of a file.
fn is_file(value: &[u8]) -> bool {
    let Some(dot) = value.iter().rposition(|byte| *byte == b'.') else {
        return false;
    };
    let ending = &value[dot + 1..];
    [
        "txt", "json", "yaml", "yml", "toml", "md", "rs", "py", "ts", "tsx", "js", "jsx", "html",
        "css", "pem", "key", "crt", "env", "ini", "conf", "cfg", "log", "sh", "go", "java", "rb",
        "php", "c", "h", "cpp", "xml", "sql", "db", "png", "jpg", "svg", "mjs", "cjs", "lock",
    ]
    .iter()
    .any(|known| ending == known.as_bytes())
}

/// Returns the entropy of the bytes of a value, in bits per byte.
fn entropy(value: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in value {
        counts[usize::from(*byte)] += 1;
    }
    let total = value.len() as f64;
    let bits = counts.iter().filter(|count| **count > 0).map(|count| {
        let share = f64::from(*count) / total;
        -share * share.log2()
    });
    bits.sum()
}
