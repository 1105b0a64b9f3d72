//! Values that are secret because of where they are.
//!
//! Owns private key blocks, web tokens, credentials in headers, in addresses and on
//! command lines, and tokens that begin with their owner's number.

use std::ops::Range;

use super::reading::{self, Cursor, char_end, ends_escape, find, is_token, is_word, joins};
use super::values::{is_encoded_login, is_random, stands_for_another};
use super::{Secret, blocks};

/// A place where a secret may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    PrivateKey,
    PrivateKeyEnd,
    Putty,
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
    CurlCookie,
    Cookie,
    CookieField,
    Login,
    PassArgument,
}

/// What the automaton looks for, in lower case.
pub(super) const PLACES: &[(&str, Place)] = &[
    ("-----begin ", Place::PrivateKey),
    ("-----begin%20", Place::PrivateKey),
    ("-----begin+", Place::PrivateKey),
    ("-----end ", Place::PrivateKeyEnd),
    ("putty-user-key-file-", Place::Putty),
    ("private-lines:", Place::Putty),
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
    ("signature=", Place::Signature),
    (" -u ", Place::CurlUser),
    (" --user ", Place::CurlUser),
    (" -b ", Place::CurlCookie),
    (" --cookie ", Place::CurlCookie),
    ("cookie:", Place::Cookie),
    ("cookie\"", Place::CookieField),
    ("cookie'", Place::CookieField),
    ("cookie\\", Place::CookieField),
    (" pass:", Place::PassArgument),
    ("auth\"", Place::Login),
    ("auth\\", Place::Login),
];

/// The longest value.
const LONGEST_VALUE: usize = 4096;

/// Returns the secret at a place that was found at `found`.
pub(super) fn secret_at(text: &[u8], found: Range<usize>, place: Place) -> Option<Secret> {
    let (range, kind) = match place {
        Place::PrivateKey => (blocks::from_first_line(text, found)?, "private-key"),
        Place::PrivateKeyEnd => (blocks::before_last_line(text, found)?, "private-key"),
        Place::Putty => (blocks::of_putty(text, found)?, "private-key"),
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
        Place::CurlCookie => (curl_cookie(text, &found)?, "cookie"),
        Place::Cookie => (cookie(text, found.end)?, "cookie"),
        Place::CookieField => (cookie(text, header_value(text, found.end - 1)?)?, "cookie"),
        Place::PassArgument => (pass_argument(text, &found)?, "password"),
        Place::Login => (login(text, &found)?, "encoded-password"),
    };
    Some(Secret { range, kind })
}

fn count(text: &[u8], belongs: impl Fn(u8) -> bool) -> usize {
    reading::count(text, LONGEST_VALUE, belongs)
}

/// Returns a JSON web token: three parts, the first two of which are objects. A
/// token may have been cut off in its last part.
fn web_token(text: &[u8], start: usize) -> Option<Range<usize>> {
    if !text[start..].starts_with(b"eyJ") || joins(text, start) {
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
                b'/' | b'?' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b')' | b'(' | b','
            )
    };
    let authority = within.iter().position(ends).unwrap_or(within.len());
    let authority = &within[..authority];
    let at = authority.iter().rposition(|byte| *byte == b'@')?;
    let Some(colon) = authority[..at].iter().position(|byte| *byte == b':') else {
        // A token may be the user.
        let user = found.end..found.end + at;
        return is_random(&text[user.clone()], 24, 3.3).then_some(user);
    };
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
    let code = bytes.iter().any(|byte| matches!(byte, b'{' | b'}')) || bytes.starts_with(b"$");
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

/// Returns the credential of an `Authorization` header, behind its scheme. A scheme
/// that is not known is one if what follows is random.
fn authorization(text: &[u8], at: usize) -> Option<Range<usize>> {
    const SCHEMES: &[&[u8]] = &[
        b"bearer",
        b"basic",
        b"token",
        b"digest",
        b"apikey",
        b"key",
        b"negotiate",
        b"bot",
    ];
    let start = header_value(text, at)?;
    let word = count(&text[start..], is_token);
    let scheme = text[start..start + word].to_ascii_lowercase();
    let spaced = word > 0 && matches!(text.get(start + word), Some(b' ' | b'='));
    let credential = |from: usize| {
        let mut end = from + count(&text[from..], is_credential);
        while end > from && matches!(text[end - 1], b'.' | b':') {
            end -= 1;
        }
        from..end
    };
    if spaced {
        let value = credential(start + word + 1);
        let bytes = &text[value.clone()];
        let mixed = bytes
            .iter()
            .any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
        let known = SCHEMES.contains(&scheme.as_slice()) && bytes.len() >= 8 && mixed;
        let issued = is_random(bytes, 16, 3.0)
            || bytes
                .split(|byte| *byte == b':')
                .any(|part| is_random(part, 16, 3.0));
        if (known && !stands_for_another(bytes)) || issued {
            return Some(value);
        }
    }
    let value = credential(start);
    is_random(&text[value.clone()], 16, 3.0).then_some(value)
}

fn bearer(text: &[u8], found: Range<usize>) -> Option<Range<usize>> {
    if joins(text, found.start) {
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
    let free = start == 0
        || !is_word(text[start - 1])
        || ends_escape(text, start - 1)
        || text[..start].ends_with(b"bot");
    let rest = count(&text[found.start + 1..], is_token);
    let fits = (8..=11).contains(&digits) && free && (34..=36).contains(&rest);
    fits.then_some(start..found.start + 1 + rest)
}

/// Returns a bot's token: its number in Base64, a moment and a signature.
fn discord(text: &[u8], start: usize) -> Option<Range<usize>> {
    if !matches!(text[start], b'M' | b'N' | b'O')
        || joins(text, start)
        || (start > 0 && text[start - 1] == b'.')
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
    // `X-Amz-Signature=` and its like.
    let name = text[..found.start].iter().rev().take(16);
    let name = name.take_while(|byte| is_token(**byte)).count();
    let before = found.start.checked_sub(name + 1);
    if !before.is_none_or(|at| b"?&; ,\n\"'".contains(&text[at])) {
        return None;
    }
    let length = count(&text[found.end..], |byte| {
        is_token(byte) || matches!(byte, b'%' | b'+' | b'/' | b'=')
    });
    let value = found.end..found.end + length;
    is_random(&text[value.clone()], 32, 3.5).then_some(value)
}

/// Reports whether the flag at `at` is one of a `curl` command.
fn is_of_curl(text: &[u8], at: usize) -> bool {
    let lowest = at.saturating_sub(400);
    let before = text[lowest..at].rsplit(|byte| *byte == b'\n').next();
    before.is_some_and(|before| find(before, b"curl").is_some())
}

/// Returns the password that `curl` is given.
fn curl_user(text: &[u8], found: &Range<usize>) -> Option<Range<usize>> {
    if !is_of_curl(text, found.start) {
        return None;
    }
    let mut rest = Cursor {
        text,
        at: found.end,
    };
    rest.skip_quote();
    let start = rest.at;
    let length = count(&text[start..], |byte| {
        !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b'\\')
    });
    let user = &text[start..start + length];
    let colon = user.iter().position(|byte| *byte == b':')?;
    let value = start + colon + 1..char_end(text, start + length);
    let bytes = &text[value.clone()];
    (bytes.len() >= 4 && !stands_for_another(bytes)).then_some(value)
}

/// Returns the cookies that `curl` is given.
fn curl_cookie(text: &[u8], found: &Range<usize>) -> Option<Range<usize>> {
    if !is_of_curl(text, found.start) {
        return None;
    }
    let mut rest = Cursor {
        text,
        at: found.end,
    };
    if rest.skip_quote() {
        return cookie(text, rest.at);
    }
    let length = count(&text[rest.at..], |byte| {
        !byte.is_ascii_whitespace() && byte != b'\\'
    });
    cookie(&text[..rest.at + length], rest.at)
}

/// Returns the password that `openssl` is given: `-passin pass:…`.
fn pass_argument(text: &[u8], found: &Range<usize>) -> Option<Range<usize>> {
    let flags = [&b"-pass"[..], b"-passin", b"-passout"];
    if !flags.iter().any(|flag| text[..found.start].ends_with(flag)) {
        return None;
    }
    let length = count(&text[found.end..], |byte| {
        !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b'\\')
    });
    let value = found.end..char_end(text, found.end + length);
    let bytes = &text[value.clone()];
    (bytes.len() >= 4 && !stands_for_another(bytes)).then_some(value)
}

/// Returns the user and the password of a registry, which are encoded.
fn login(text: &[u8], found: &Range<usize>) -> Option<Range<usize>> {
    let quoted = matches!(text.get(found.start.checked_sub(1)?), Some(b'"' | b'_'));
    let mut rest = Cursor {
        text,
        at: found.start + 4,
    };
    rest.skip_quote();
    rest.skip_spaces();
    if !quoted || !(rest.skip(b":") || rest.skip(b"=")) {
        return None;
    }
    rest.skip_spaces();
    rest.skip_quote();
    let length = count(&text[rest.at..], |byte| {
        is_token(byte) || matches!(byte, b'+' | b'/' | b'=')
    });
    let value = rest.at..rest.at + length;
    is_encoded_login(&text[value.clone()]).then_some(value)
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
