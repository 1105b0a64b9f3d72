//! Passwords and keys in sentences: "my password is …", "the passphrase for … is …".
//!
//! Most sentences about a password say something else about it, so that a value must
//! not be a word: it has digits among its letters or signs inside, or it is several
//! words that make no sentence.

use std::ops::Range;

use super::reading::count;
use super::values::{is_random, stands_for_another};

/// Words between a name and its value: "is", "was", "lautet".
const LINKS: &[&str] = &["is", "was", "are", "ist", "war", "lautet", "est"];
/// Words that tell what a password is for.
const PREPOSITIONS: &[&str] = &[
    "for", "of", "on", "to", "in", "at", "from", "für", "von", "zu", "zum",
];
/// Words between a link and a value.
const FILLERS: &[&str] = &[
    "now",
    "still",
    "just",
    "currently",
    "actually",
    "probably",
    "set",
    "to",
    "simply",
    "always",
    "again",
    "still",
    "jetzt",
];
/// Words of sentences. A passphrase has none of them.
const FUNCTION_WORDS: &[&str] = &[
    "a",
    "an",
    "the",
    "is",
    "are",
    "was",
    "were",
    "be",
    "been",
    "not",
    "no",
    "never",
    "always",
    "too",
    "very",
    "and",
    "or",
    "but",
    "if",
    "when",
    "with",
    "without",
    "in",
    "on",
    "at",
    "to",
    "of",
    "for",
    "from",
    "by",
    "as",
    "it",
    "its",
    "this",
    "that",
    "which",
    "who",
    "what",
    "your",
    "my",
    "our",
    "their",
    "his",
    "her",
    "you",
    "we",
    "they",
    "must",
    "should",
    "can",
    "may",
    "will",
    "has",
    "have",
    "had",
    "asked",
    "stored",
    "kept",
    "used",
    "needed",
    "required",
    "hashed",
    "encrypted",
    "written",
    "read",
    "sent",
    "set",
    "same",
    "only",
    "also",
    "than",
    "then",
    "so",
    "because",
    "once",
    "per",
    "using",
    "incorrect",
    "wrong",
    "invalid",
    "expired",
    "missing",
    "empty",
    "unknown",
    "protected",
    "prompted",
    "case",
    "sensitive",
];
/// How names of algorithms and services begin that are not values.
const TERMS: &[&str] = &[
    "base64",
    "base32",
    "sha",
    "md5",
    "argon",
    "bcrypt",
    "scrypt",
    "pbkdf2",
    "utf",
    "1password",
    "oauth",
    "x509",
    "x.509",
    "rot13",
    "aes",
    "iso",
    "rfc",
    "pkcs",
    "p12",
    "ipv",
    "http",
    "ed25519",
    "rsa",
    "localhost",
    "python3",
    "k8s",
    "log4j",
    "win32",
    "x86",
    "amd64",
    "arm64",
    "i18n",
];
/// How many words are read after a name, and the longest of a value.
const WORDS: usize = 10;
const LONGEST: usize = 128;

/// Returns the password that a sentence gives after the name that ends at `at`.
pub(super) fn password_after(text: &[u8], at: usize, passphrase: bool) -> Option<Range<usize>> {
    let accepts = |value: &[u8], quoted: bool| {
        is_made_up(value)
            || ((quoted || passphrase) && is_passphrase(value, quoted))
            || (quoted && is_unusual(value))
    };
    value_after(text, at, passphrase, &accepts)
}

/// Returns the key that a sentence gives after the name that ends at `at`.
pub(super) fn key_after(text: &[u8], at: usize) -> Option<Range<usize>> {
    value_after(text, at, false, &|value, _| is_random(value, 16, 3.0))
}

fn value_after(
    text: &[u8],
    at: usize,
    phrase: bool,
    accepts: &dyn Fn(&[u8], bool) -> bool,
) -> Option<Range<usize>> {
    // "The password's …"
    let mut linked = text[at..].starts_with(b"'s ");
    let mut first = true;
    let mut at = if linked { at + 2 } else { at };
    for _ in 0..WORDS {
        let spaces = count(&text[at..], 4, |byte| byte == b' ');
        if spaces == 0 {
            return None;
        }
        let start = at + spaces;
        if let Some(value) = quoted(text, start) {
            let is_value = (linked || first) && accepts(&text[value.clone()], true);
            return is_value.then_some(value);
        }
        let length = word_length(&text[start..]);
        let word = &text[start..start + length];
        let name = String::from_utf8_lossy(word).to_lowercase();
        if linked {
            if FILLERS.contains(&name.as_str()) {
                at = start + length;
                continue;
            }
            return value_at(text, start, phrase, accepts);
        }
        if name == "to"
            && let Some(value) = value_at(text, start + length + 1, false, accepts)
        {
            return Some(value);
        }
        linked = LINKS.contains(&name.trim_end_matches(':')) || (!first && name.ends_with(':'));
        if first && !linked && !PREPOSITIONS.contains(&name.as_str()) {
            return None;
        }
        if !linked && (length == 0 || name.ends_with(['.', ';', ',', '?', '!'])) {
            return None;
        }
        first = false;
        at = start + length;
    }
    None
}

/// Returns the value at `start`: a word, or the words to the end of the sentence.
fn value_at(
    text: &[u8],
    start: usize,
    phrase: bool,
    accepts: &dyn Fn(&[u8], bool) -> bool,
) -> Option<Range<usize>> {
    let rest = text.get(start..)?;
    if phrase {
        let length = count(rest, LONGEST, |byte| {
            byte.is_ascii_lowercase() || byte == b' '
        });
        let ends = rest
            .get(length)
            .is_none_or(|byte| b".,\n\r\\\"'`".contains(byte));
        if ends && accepts(&rest[..length], false) {
            return Some(start..start + length);
        }
    }
    let mut length = word_length(rest);
    while length > 0 && matches!(rest[length - 1], b'.' | b',' | b';' | b':' | b')' | b'?') {
        length -= 1;
    }
    let value = start..start + length;
    accepts(&text[value.clone()], false).then_some(value)
}

/// Returns what is between the quotes at `at`.
fn quoted(text: &[u8], at: usize) -> Option<Range<usize>> {
    const QUOTES: &[(&str, &str)] = &[
        ("\"", "\""),
        ("'", "'"),
        ("`", "`"),
        ("\\\"", "\\"),
        ("\\\\\\\"", "\\"),
        ("\u{201c}", "\u{201d}"),
        ("\u{201e}", "\u{201c}"),
        ("\u{2018}", "\u{2019}"),
    ];
    let rest = &text[at..];
    let (open, close) = QUOTES
        .iter()
        .find(|(open, _)| rest.starts_with(open.as_bytes()))?;
    let within = &rest[open.len()..rest.len().min(open.len() + LONGEST)];
    let end = within
        .windows(close.len())
        .position(|part| part == close.as_bytes() || part[0] == b'\n')?;
    let value = at + open.len()..at + open.len() + end;
    (within.get(end) != Some(&b'\n') && end > 0).then_some(value)
}

fn word_length(text: &[u8]) -> usize {
    count(text, LONGEST, |byte| {
        !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'`' | b'\\' | b'<' | b'>' | b'|')
    })
}

/// Reports whether a word is none of a language: digits among its letters, signs
/// inside it, or words joined by dashes.
fn is_made_up(word: &[u8]) -> bool {
    if !(5..=64).contains(&word.len()) || stands_for_another(word) {
        return false;
    }
    let Ok(word) = std::str::from_utf8(word) else {
        return false;
    };
    let lower = word.to_lowercase();
    let is_term = |term: &&str| {
        let rest = lower.strip_prefix(term);
        rest.is_some_and(|rest| {
            term.ends_with(|sign: char| sign.is_ascii_digit())
                || !rest.starts_with(char::is_alphabetic)
        })
    };
    if word.contains(char::is_whitespace) || TERMS.iter().any(is_term) {
        return false;
    }
    let letters = word.chars().filter(|sign| sign.is_alphabetic()).count();
    let digits = word.chars().filter(char::is_ascii_digit).count();
    // Codes of standards, tickets and variables are written in capitals.
    let code = digits > 0
        && word.len() < 12
        && word
            .chars()
            .all(|sign| !sign.is_lowercase() && !"!@#$%^*+~".contains(sign));
    let number = word.split_once('-').is_some_and(|(first, _)| {
        !first.is_empty() && first.chars().all(|sign| sign.is_ascii_digit())
    });
    let inside = word.trim_end_matches(['!', '*']);
    let signs = inside.chars().any(|sign| "!@#$%^*+~".contains(sign));
    let joined = word
        .split(['-', '.', '_'])
        .filter(|part| part.len() > 2)
        .count()
        >= 4;
    letters > 0 && !code && !number && (digits > 0 || signs || (joined && !word.contains('/')))
}

/// Reports whether several words make no sentence.
fn is_passphrase(text: &[u8], quoted: bool) -> bool {
    let Ok(text) = std::str::from_utf8(text) else {
        return false;
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    let least = if quoted { 3 } else { 4 };
    let word = |word: &&str| {
        word.len() > 2 && word.chars().all(char::is_lowercase) && !FUNCTION_WORDS.contains(word)
    };
    (least..=10).contains(&words.len()) && words.iter().all(word)
}

/// Reports whether a quoted word is one that is not said about passwords.
fn is_unusual(word: &[u8]) -> bool {
    const USUAL: &[&str] = &[
        "string",
        "password",
        "passwords",
        "secret",
        "hidden",
        "optional",
        "accepted",
        "rejected",
        "changed",
        "changeme",
        "undefined",
        "default",
        "disabled",
        "enabled",
        "hunter",
        "plaintext",
        "masked",
        "forgotten",
        "strong",
        "stronger",
        "weaker",
        "admin",
        "number",
        "boolean",
        "object",
        "username",
        "verified",
        "unchanged",
        "rotated",
        "hashing",
        "salted",
        "shared",
    ];
    let Ok(word) = std::str::from_utf8(word) else {
        return false;
    };
    (6..=32).contains(&word.len())
        && word.chars().all(|sign| sign.is_ascii_lowercase())
        && !USUAL.contains(&word)
        && !FUNCTION_WORDS.contains(&word)
}
