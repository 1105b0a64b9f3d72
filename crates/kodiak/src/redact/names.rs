//! Values that are secret because of what they are called.
//!
//! Owns the names (`password`, `api_key`, `"clientSecret"`, `--token`) and how a value
//! follows a name in configuration, code, JSON, headers and command lines. `values`
//! decides whether it is one, and `sentences` reads what a name is said to be.

use std::ops::Range;

use super::reading::{Cursor, char_end, count, ends_escape, find, gap_end, is_word};
use super::values::{is_password, is_random};
use super::{Secret, sentences, shapes};

/// How much a name says about its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    /// Its value is a password, which people make up.
    Password,
    /// The same, if nothing else is in the name.
    Short,
    /// Its value is a secret that a machine made.
    Key,
    /// A secret that a machine or a person made.
    MadeUp,
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
    ("passcode", Name::Password),
    ("pass", Name::Short),
    ("pw", Name::Short),
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
    ("_pat", Name::Variable),
    ("key-data", Name::Key),
    ("key_data", Name::Key),
    ("api key", Name::Key),
    ("access key", Name::Key),
    ("secret key", Name::Key),
    ("passwort", Name::Password),
    ("kennwort", Name::Password),
];

/// Words after the part of a name that counts: its value is not the secret itself.
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
    "fingerprint",
];

/// Words before the part of a name that counts: the key of a table, the number of
/// tokens, what everybody may know.
const HARMLESS_SORTS: &[&str] = &[
    "public",
    "publishable",
    "cache",
    "primary",
    "foreign",
    "sort",
    "partition",
    "index",
    "max",
    "min",
    "count",
    "hash",
    "sha",
    "commit",
    "checksum",
    "digest",
    "position",
];

/// Words before `token` that make it a place in a list, not a key.
const HARMLESS_TOKENS: &[&str] = &[
    "next",
    "page",
    "sync",
    "etag",
    "continuation",
    "cursor",
    "pagination",
    "resume",
    "delta",
    "start",
    "end",
    "change",
    "watermark",
    "idempotency",
    "previous",
    "prev",
];

/// The longest name and value that are read.
const LONGEST_NAME: usize = 96;
const LONGEST_VALUE: usize = 2048;
/// The longest value in Base64.
const LONGEST_ENCODED: usize = 1 << 14;

/// Returns the secret value beside the name at `range`, if there is one.
pub(super) fn value_beside(text: &[u8], range: Range<usize>, name: Name) -> Option<Secret> {
    let identifier = identifier_around(text, &range)?;
    let full = &text[identifier.clone()];
    let before = &text[identifier.start..range.start];
    let after = &text[range.end..identifier.end];
    if !continues_well(after) || !names_a_secret(before, &text[range.clone()], after) {
        return None;
    }
    let name = match name {
        Name::Variable if !is_variable(full) => return None,
        // Reports of tests say `PASS:`.
        Name::Short if identifier != range || full != full.to_ascii_lowercase() => return None,
        Name::Short if full == b"pass" && !is_field(text, &identifier) => return None,
        Name::Short => Name::Password,
        // People make up some secrets of their programs.
        Name::Key if full.ends_with(b"SECRET") => Name::MadeUp,
        name => name,
    };
    let value = assigned(text, &identifier, name, after.is_empty())
        .or_else(|| said(text, &identifier, name))?;
    let kind = shapes::kind_of(&text[value.clone()]).unwrap_or(match name {
        Name::Password | Name::Short => "password",
        Name::Key | Name::MadeUp | Name::Variable => kind_named(full),
    });
    Some(Secret { range: value, kind })
}

/// Returns the value that a name is given in configuration, code or a command.
/// `whole` says that nothing follows the part of the name that counts.
fn assigned(
    text: &[u8],
    identifier: &Range<usize>,
    name: Name,
    whole: bool,
) -> Option<Range<usize>> {
    let full = &text[identifier.clone()];
    let before = &text[..identifier.start];
    // `aws configure set aws_secret_access_key …` takes it as `--name …` does.
    let flag = before.ends_with(b"-") || before.ends_with(b" set ") || full.starts_with(b"-");
    let start = separator(text, identifier, flag, whole)?;
    let is_secret = |value: &Range<usize>| {
        let bytes = &text[value.clone()];
        match name {
            Name::Password | Name::Short => is_password(bytes),
            Name::Key => is_random(bytes, 16, 3.0),
            Name::MadeUp => {
                let literal = b"=\"'".contains(&text[value.start - 1]);
                is_random(bytes, 16, 3.0) || (literal && bytes.len() >= 8 && is_password(bytes))
            }
            Name::Variable => is_random(bytes, 20, 3.3),
        }
    };
    value(text, start)
        .filter(is_secret)
        .or_else(|| fallback(text, start).filter(is_secret))
}

/// Returns the quoted value that code falls back to: `env.KEY ?? "…"`.
fn fallback(text: &[u8], start: usize) -> Option<Range<usize>> {
    let line = &text[start..text.len().min(start + LONGEST_NAME)];
    let line = &line[..count(line, LONGEST_NAME, |byte| !matches!(byte, b'\n' | b';'))];
    let at = [&b"?? "[..], b"|| ", b" or "]
        .iter()
        .find_map(|sign| Some(find(line, sign)? + sign.len()))?;
    Cursor {
        text,
        at: start + at,
    }
    .quote()?;
    value(text, start + at)
}

/// Reports whether a name is quoted, a flag, or directly assigned to.
fn is_field(text: &[u8], name: &Range<usize>) -> bool {
    let before = name.start.checked_sub(1).map(|at| text[at]);
    let after = text.get(name.end);
    after == Some(&b'=')
        || matches!(
            (before, after),
            (Some(b'"' | b'\''), Some(b'"' | b'\'' | b'\\'))
        )
}

/// Returns the value that a sentence says a name has.
fn said(text: &[u8], identifier: &Range<usize>, name: Name) -> Option<Range<usize>> {
    let full = &text[identifier.clone()];
    match name {
        Name::Password | Name::Short => {
            let phrase = full.ends_with(b"phrase");
            sentences::password_after(text, identifier.end, phrase)
        }
        Name::Key | Name::MadeUp => sentences::key_after(text, identifier.end),
        Name::Variable => None,
    }
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
    let mut start = part.start - before.take_while(|byte| is_name(byte)).count();
    if start < part.start && ends_escape(text, start) {
        start += 1;
    }
    let after = text[part.end..].iter().take(LONGEST_NAME);
    let end = part.end + after.take_while(|byte| is_name(byte)).count();
    (end - start <= LONGEST_NAME).then_some(start..end)
}

/// Reports whether a name may go on like this after the part that counts:
/// `token_prod`, `secretKey` and `password2`, but not `tokenizer`.
fn continues_well(rest: &[u8]) -> bool {
    match rest {
        [] => true,
        [b'_' | b'-' | b'.', ..] => true,
        [b's', end @ ..] => end.is_empty(),
        [first, ..] => first.is_ascii_uppercase() || first.is_ascii_digit(),
    }
}

/// Reports whether none of the words of a name says that its value is harmless.
fn names_a_secret(before: &[u8], part: &[u8], after: &[u8]) -> bool {
    let token = part.eq_ignore_ascii_case(b"token");
    let (before, after) = (words(before), words(after));
    let is_in = |words: &[String], all: &[&str]| {
        let mut words = words.iter();
        words.any(|word| all.contains(&word.as_str()))
    };
    let harmless = is_in(&after, OTHER_THINGS)
        || is_in(&before, HARMLESS_SORTS)
        || (token && is_in(&before, HARMLESS_TOKENS));
    !harmless
}

/// Returns the words of a name: `api_key`, `apiKey`.
fn words(name: &[u8]) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut previous_lower = false;
    for byte in name.iter().chain(b"_") {
        let boundary = !byte.is_ascii_alphanumeric();
        let hump = byte.is_ascii_uppercase() && previous_lower;
        if boundary || hump {
            words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
        }
        if !boundary {
            word.push(char::from(byte.to_ascii_lowercase()));
        }
        previous_lower = byte.is_ascii_lowercase();
    }
    words
}

/// Reports whether this is the name of an environment variable.
fn is_variable(name: &[u8]) -> bool {
    // The sign of a removed line is not part of it.
    let name = name.strip_prefix(b"-").unwrap_or(name);
    (name.ends_with(b"KEY") || name.ends_with(b"PAT"))
        && name
            .iter()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_')
}

/// Returns where the value begins after a name, if something there assigns one.
fn separator(text: &[u8], name: &Range<usize>, flag: bool, whole: bool) -> Option<usize> {
    let at = name.end;
    let mut rest = Cursor { text, at };
    let quoted = rest.skip_quote();
    rest.skip(b"]");
    let attached = rest.at;
    rest.skip_spaces();
    // A program that asks shows the value so far: `Secret Access Key [None]: `.
    if rest.at > attached && rest.peek() == Some(b'[') {
        let shown = count(&text[rest.at..], 40, |byte| !matches!(byte, b']' | b'\n'));
        rest.at += shown + 1;
        if text.get(rest.at) != Some(&b':') {
            return None;
        }
    }
    let colon = rest.peek() == Some(b':');
    let assigns = rest.skip(b":=") || rest.skip(b"=>") || rest.skip(b"=") || rest.skip(b":");
    if assigns {
        // `==` compares, `::` is a path.
        if matches!(rest.peek(), Some(b'=' | b':')) {
            return None;
        }
        rest.skip_spaces();
        let typed = if colon {
            after_type(text, rest.at)
        } else {
            None
        };
        return Some(typed.unwrap_or(rest.at));
    }
    if quoted && whole && rest.skip(b",") {
        // An argument after its name, as in `set("api_key", "…")`.
        rest.skip_spaces();
        return rest.quote().map(|_| rest.at);
    }
    if rest.peek() == Some(b'>') && name.start > 0 && text[name.start - 1] == b'<' {
        return Some(rest.at + 1);
    }
    let spaced = rest.at > at && text[at].is_ascii_whitespace();
    if spaced && (flag || follows_login(text, name.start)) {
        return Some(rest.at);
    }
    if whole && rest.peek() == Some(b'|') && text[..name.start].ends_with(b"| ") {
        // The next cell of a table.
        rest.at += 1;
        rest.skip_spaces();
        return Some(rest.at);
    }
    if let Some(start) = beside_value(text, attached) {
        return Some(start);
    }
    after_type(text, rest.at).filter(|_| rest.at > attached && !quoted)
}

/// Returns where the value begins that is a field beside the name: `name: DB_PASSWORD`
/// and then `value: …`.
fn beside_value(text: &[u8], at: usize) -> Option<usize> {
    let start = gap_end(text, at);
    let separated = text[at..start]
        .iter()
        .any(|byte| matches!(byte, b'\n' | b'\\' | b','));
    let mut rest = Cursor { text, at: start };
    if !separated || !rest.skip(b"value") {
        return None;
    }
    rest.skip_quote();
    if !rest.skip(b":") && !rest.skip(b"=") {
        return None;
    }
    rest.skip_spaces();
    Some(rest.at)
}

/// Reports whether a user is named before `at`, as in `.netrc`: `login … password …`.
fn follows_login(text: &[u8], at: usize) -> bool {
    let before = &text[at.saturating_sub(LONGEST_NAME)..at];
    let words = before.rsplit(|byte| byte.is_ascii_whitespace() || *byte == b'\\');
    let mut words = words.filter(|word| !word.is_empty()).take(8);
    // In a string of JSON, a line break is a letter before the word.
    let login = |word: &[u8]| {
        matches!(
            word,
            b"login" | b"nlogin" | b"user" | b"account" | b"tlogin"
        )
    };
    let user = words.next();
    user.is_some()
        && words.any(login)
        && find(before, b"machine")
            .or(find(before, b"default"))
            .or(find(before, b"login"))
            .is_some()
}

/// Returns where the quoted value begins after a type: `str = "…"`.
fn after_type(text: &[u8], at: usize) -> Option<usize> {
    let length = count(&text[at..], 48, |byte| {
        is_word(byte) || b"<>[]&'*|.: ?".contains(&byte)
    });
    let mut rest = Cursor {
        text,
        at: at + length,
    };
    let named = text[at..]
        .first()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'&' | b'*' | b'['));
    if !named || !rest.skip(b"=") {
        return None;
    }
    rest.skip_spaces();
    rest.quote().map(|_| rest.at)
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
    rest.skip_quote();
    let escaped = text.get(start) == Some(&b'\\');
    let from = rest.at;
    let within = &text[from..text.len().min(from + LONGEST_VALUE)];
    let encoded = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let long = count(within, LONGEST_VALUE, encoded) + 4 > LONGEST_VALUE;
    let longest = if long { LONGEST_ENCODED } else { LONGEST_VALUE };
    let within = &text[from..text.len().min(from + longest)];
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
    (length > 0 && length < longest).then(|| from..char_end(text, (from + length).min(text.len())))
}

/// Reports whether an ampersand before `rest` belongs to a value. It does not if it
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
