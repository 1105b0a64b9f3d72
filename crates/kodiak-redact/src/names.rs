//! Values that are secret because of what they are called.
//!
//! Owns the names (`password`, `api_key`, `"clientSecret"`, `--token`). `assignments`
//! finds the value that a name is given, `sentences` the one it is said to have, and
//! `values` decides whether that is a secret.

use std::ops::Range;

use super::assignments::{fallback, separator, value};
use super::reading::{ends_escape, is_word};
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
/// tokens, what is public.
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

/// The longest name that is read.
pub(super) const LONGEST_NAME: usize = 96;

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
