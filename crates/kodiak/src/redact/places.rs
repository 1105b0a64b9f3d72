//! Values that are secret because of where they are.
//!
//! Owns private key blocks, web tokens, credentials in headers, in addresses and on
//! command lines, and tokens that begin with their owner's number.

use std::ops::Range;

use super::names::{is_random, stands_for_another};
use super::{Secret, is_word};

/// A place where a secret may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    PrivateKey,
    WebToken,
    Address,
    Authorization,
    Bearer,
    Telegram,
    Discord,
    DiscordWebhook,
    AzureClient,
    Signature,
    CurlUser,
    Cookie,
}

/// What the automaton looks for, in lower case.
pub(super) const PLACES: &[(&str, Place)] = &[
    ("-----begin ", Place::PrivateKey),
    ("eyj", Place::WebToken),
    ("://", Place::Address),
    ("authorization", Place::Authorization),
    ("bearer ", Place::Bearer),
    (":aa", Place::Telegram),
    // The numbers of Discord's users, in Base64, begin in one of these ways.
    ("mt", Place::Discord),
    ("mj", Place::Discord),
    ("mz", Place::Discord),
    ("nd", Place::Discord),
    ("nt", Place::Discord),
    ("nj", Place::Discord),
    ("nz", Place::Discord),
    ("od", Place::Discord),
    ("ot", Place::Discord),
    ("/api/webhooks/", Place::DiscordWebhook),
    ("q~", Place::AzureClient),
    ("sig=", Place::Signature),
    (" -u ", Place::CurlUser),
    (" --user ", Place::CurlUser),
    ("cookie:", Place::Cookie),
];

/// How far the end of a private key is looked for, and the longest value.
const LONGEST_KEY: usize = 1 << 16;
const LONGEST_VALUE: usize = 4096;

/// Returns the secret at a place that was found at `found`.
pub(super) fn secret_at(
    text: &[u8],
    found: Range<usize>,
    place: Place,
    endless: &mut usize,
) -> Option<Secret> {
    let (range, kind) = match place {
        Place::PrivateKey => (private_key(text, found, endless)?, "private-key"),
        Place::WebToken => (web_token(text, found.start)?, "jwt"),
        Place::Address => (address(text, &found)?, "url-password"),
        Place::Authorization => (authorization(text, found.end)?, "authorization"),
        Place::Bearer => (bearer(text, found)?, "bearer-token"),
        Place::Telegram => (telegram(text, &found)?, "telegram-token"),
        Place::Discord => (discord(text, found.start)?, "discord-token"),
        Place::DiscordWebhook => (webhook(text, found.end)?, "discord-webhook"),
        Place::AzureClient => (azure_client(text, &found)?, "azure-secret"),
        Place::Signature => (signature(text, &found)?, "url-signature"),
        Place::CurlUser => (curl_user(text, &found)?, "password"),
        Place::Cookie => (cookie(text, found.end)?, "cookie"),
    };
    Some(Secret { range, kind })
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}

fn is_token(byte: u8) -> bool {
    is_word(byte) || byte == b'-'
}

fn count(text: &[u8], belongs: impl Fn(u8) -> bool) -> usize {
    let within = &text[..text.len().min(LONGEST_VALUE)];
    within.iter().take_while(|byte| belongs(**byte)).count()
}

/// Returns the whole block, its first and last line included. Of a block without
/// an end, the lines that look like one belong to it.
fn private_key(text: &[u8], found: Range<usize>, endless: &mut usize) -> Option<Range<usize>> {
    let line = &text[found.end..text.len().min(found.end + 64)];
    let label_end = find(line, b"-----")?;
    let label = &line[..label_end];
    if find(label, b"PRIVATE KEY").is_none() || label.contains(&b'\n') {
        return None;
    }
    let body = found.end + label_end + 5;
    let window = &text[body..text.len().min(body + LONGEST_KEY)];
    let end = if body < *endless {
        None
    } else {
        find(window, b"-----END ")
    };
    if let Some(end) = end {
        let rest = &window[end + 9..window.len().min(end + 9 + 64)];
        let close = find(rest, b"-----").map_or(rest.len(), |close| close + 5);
        return Some(found.start..char_end(text, body + end + 9 + close));
    }
    *endless = (*endless).max(body + window.len());
    let belongs = |byte: u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'\\' | b'\n' | b'\r')
    };
    let mut end = body;
    for part in window[..window.len().min(LONGEST_VALUE)].split_inclusive(|byte| *byte == b'\n') {
        let header = part.len() < 80 && part.contains(&b':');
        if !header && !part.iter().all(|byte| belongs(*byte)) {
            break;
        }
        end += part.len();
    }
    // A header that was cut off at the limit may end inside of a character.
    end = char_end(text, end);
    while end > body && text[end - 1].is_ascii_whitespace() {
        end -= 1;
    }
    Some(found.start..end)
}

/// Moves a position to the end of the character that it is in.
pub(super) fn char_end(text: &[u8], mut at: usize) -> usize {
    while at < text.len() && text[at] & 0b1100_0000 == 0b1000_0000 {
        at += 1;
    }
    at
}

/// Returns a JSON web token: three parts, the first two of which are objects. A
/// token may have been cut off in its last part.
fn web_token(text: &[u8], start: usize) -> Option<Range<usize>> {
    if !text[start..].starts_with(b"eyJ") || (start > 0 && is_token(text[start - 1])) {
        return None;
    }
    let head = count(&text[start..], is_token);
    let second = start + head + 1;
    if head < 12 || text.get(second - 1) != Some(&b'.') || !text[second..].starts_with(b"eyJ") {
        return None;
    }
    let body = count(&text[second..], is_token);
    let mut end = second + body;
    if text.get(end) == Some(&b'.') {
        let last = count(&text[end + 1..], is_token);
        end += if last > 0 { 1 + last } else { 0 };
    }
    Some(start..end)
}

/// Returns the password in an address with user and password.
fn address(text: &[u8], found: &Range<usize>) -> Option<Range<usize>> {
    if found.start == 0 || !text[found.start - 1].is_ascii_alphanumeric() {
        return None;
    }
    let within = &text[found.end..text.len().min(found.end + 512)];
    let ends = |byte: &u8| {
        byte.is_ascii_whitespace()
            || matches!(
                byte,
                b'/' | b'?' | b'#' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b')' | b'(' | b','
            )
    };
    let authority = within.iter().position(ends).unwrap_or(within.len());
    let authority = &within[..authority];
    let at = authority.iter().rposition(|byte| *byte == b'@')?;
    let colon = authority[..at].iter().position(|byte| *byte == b':')?;
    let password = found.end + colon + 1..found.end + at;
    let bytes = &text[password.clone()];
    let lower = bytes.to_ascii_lowercase();
    let named = [
        &b"password"[..],
        b"pass",
        b"passwd",
        b"pwd",
        b"secret",
        b"token",
        b"pw",
    ]
    .contains(&lower.as_slice());
    let code = bytes.iter().any(|byte| matches!(byte, b'{' | b'}' | b'$'));
    let host = authority
        .get(at + 1)
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'[');
    let secret = !bytes.is_empty() && host && !named && !code && !stands_for_another(bytes);
    secret.then_some(password)
}

/// Skips the quotes, separators and spaces between a header and its value.
fn header_value(text: &[u8], at: usize) -> Option<usize> {
    let within = &text[at..text.len().min(at + 16)];
    let gap = within
        .iter()
        .take_while(|byte| {
            matches!(
                byte,
                b'"' | b'\'' | b'`' | b'\\' | b' ' | b':' | b'=' | b',' | b']'
            )
        })
        .count();
    let gap_bytes = &within[..gap];
    let separated = gap_bytes
        .iter()
        .any(|byte| matches!(byte, b':' | b'=' | b','));
    separated.then_some(at + gap)
}

fn is_credential(byte: u8) -> bool {
    is_token(byte) || matches!(byte, b'.' | b'+' | b'/' | b'=' | b'~' | b':')
}

fn authorization(text: &[u8], at: usize) -> Option<Range<usize>> {
    let start = header_value(text, at)?;
    let word = count(&text[start..], |byte| {
        byte.is_ascii_alphabetic() || byte == b'-'
    });
    let scheme = text[start..start + word].to_ascii_lowercase();
    let known = [
        &b"bearer"[..],
        b"basic",
        b"token",
        b"digest",
        b"apikey",
        b"key",
        b"negotiate",
        b"bot",
    ];
    let value = if known.contains(&scheme.as_slice()) && text.get(start + word) == Some(&b' ') {
        start + word + 1
    } else {
        start
    };
    let mut end = value + count(&text[value..], is_credential);
    while end > value && matches!(text[end - 1], b'.' | b':') {
        end -= 1;
    }
    let bytes = &text[value..end];
    let schemed = value > start;
    let mixed = bytes
        .iter()
        .any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
    let secret = if schemed {
        bytes.len() >= 8 && mixed && !stands_for_another(bytes)
    } else {
        is_random(bytes, 16, 3.0)
    };
    secret.then_some(value..end)
}

fn bearer(text: &[u8], found: Range<usize>) -> Option<Range<usize>> {
    if found.start > 0 && is_token(text[found.start - 1]) {
        return None;
    }
    let mut end = found.end + count(&text[found.end..], is_credential);
    while end > found.end && matches!(text[end - 1], b'.' | b':') {
        end -= 1;
    }
    let value = found.end..end;
    is_random(&text[value.clone()], 16, 3.0).then_some(value)
}

/// Returns a bot's token: its number, a colon, and 35 characters that begin with `AA`.
fn telegram(text: &[u8], found: &Range<usize>) -> Option<Range<usize>> {
    let digits = text[..found.start]
        .iter()
        .rev()
        .take(12)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let start = found.start - digits;
    let free = start == 0 || !is_word(text[start - 1]) || text[..start].ends_with(b"bot");
    let rest = count(&text[found.start + 1..], is_token);
    let fits = (8..=11).contains(&digits) && free && (34..=36).contains(&rest);
    fits.then_some(start..found.start + 1 + rest)
}

/// Returns a bot's token: its number in Base64, a moment and a signature.
fn discord(text: &[u8], start: usize) -> Option<Range<usize>> {
    if !matches!(text[start], b'M' | b'N' | b'O')
        || (start > 0 && (is_token(text[start - 1]) || text[start - 1] == b'.'))
    {
        return None;
    }
    let head = count(&text[start..], is_token);
    let second = start + head + 1;
    if !(23..=28).contains(&head) || text.get(second - 1) != Some(&b'.') {
        return None;
    }
    let middle = count(&text[second..], is_token);
    let third = second + middle + 1;
    if !(6..=7).contains(&middle) || text.get(third - 1) != Some(&b'.') {
        return None;
    }
    let last = count(&text[third..], is_token);
    (27..=45).contains(&last).then_some(start..third + last)
}

fn webhook(text: &[u8], at: usize) -> Option<Range<usize>> {
    let digits = count(&text[at..], |byte| byte.is_ascii_digit());
    let token = at + digits + 1;
    if digits < 15 || text.get(token - 1) != Some(&b'/') {
        return None;
    }
    let length = count(&text[token..], is_token);
    (length >= 40).then_some(token..token + length)
}

/// Returns a secret of an application in Azure: three characters, a digit, `Q~`, and
/// more than thirty.
fn azure_client(text: &[u8], found: &Range<usize>) -> Option<Range<usize>> {
    let belongs = |byte: u8| is_token(byte) || matches!(byte, b'.' | b'~');
    let before = text[..found.start]
        .iter()
        .rev()
        .take(5)
        .take_while(|byte| belongs(**byte))
        .count();
    let rest = count(&text[found.end..], belongs);
    let digit = found.start > 0 && text[found.start - 1].is_ascii_digit();
    let exact = text[found.start] == b'Q';
    (before == 4 && digit && exact && (30..=36).contains(&rest))
        .then_some(found.start - 4..found.end + rest)
}

/// Returns the signature of a signed address.
fn signature(text: &[u8], found: &Range<usize>) -> Option<Range<usize>> {
    if found.start == 0 || !matches!(text[found.start - 1], b'?' | b'&' | b';') {
        return None;
    }
    let length = count(&text[found.end..], |byte| {
        is_token(byte) || matches!(byte, b'%' | b'+' | b'/' | b'=')
    });
    let value = found.end..found.end + length;
    is_random(&text[value.clone()], 32, 3.5).then_some(value)
}

/// Returns the password that `curl` is given.
fn curl_user(text: &[u8], found: &Range<usize>) -> Option<Range<usize>> {
    let lowest = found.start.saturating_sub(400);
    let before = text[lowest..found.start]
        .rsplit(|byte| *byte == b'\n')
        .next()?;
    find(before, b"curl")?;
    let quoted = usize::from(matches!(text.get(found.end), Some(b'"' | b'\'')));
    let start = found.end + quoted;
    let length = count(&text[start..], |byte| {
        !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b'\\')
    });
    let user = &text[start..start + length];
    let colon = user.iter().position(|byte| *byte == b':')?;
    let value = start + colon + 1..char_end(text, start + length);
    let bytes = &text[value.clone()];
    (bytes.len() >= 4 && !stands_for_another(bytes)).then_some(value)
}

/// Returns the rest of the line if something in it is random: a session may be
/// taken over with any of its cookies.
fn cookie(text: &[u8], at: usize) -> Option<Range<usize>> {
    let start = at + count(&text[at..], |byte| byte == b' ');
    let length = count(&text[start..], |byte| {
        !matches!(byte, b'\n' | b'\r' | b'"' | b'\'' | b'\\' | b'`')
    });
    let line = &text[start..start + length];
    let mut values = line
        .split(|byte| matches!(byte, b';' | b' '))
        .filter_map(|part| {
            let equals = part.iter().position(|byte| *byte == b'=')?;
            Some(&part[equals + 1..])
        });
    let random = values.any(|value| is_random(value, 16, 3.0));
    random.then(|| start..char_end(text, start + length))
}
