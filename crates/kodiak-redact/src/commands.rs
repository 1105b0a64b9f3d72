//! Passwords on command lines.
//!
//! Owns the programs that take a password behind a flag that means something else
//! elsewhere. Options that say what they are, such as `--password`, are names.

use std::ops::Range;

use super::reading::{Cursor, char_end, count, find, joins};
use super::values::stands_for_another;

/// How a program takes a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flag {
    /// Only right behind the flag; alone, the flag asks for it.
    Attached(&'static str),
    /// Behind the flag, or in the next argument.
    Next(&'static str),
    /// The same, behind a user and this sign.
    Login(&'static str, u8),
    /// From a program before it, which prints it: `echo … | sudo -S`.
    Piped,
}

use Flag::{Attached, Login, Next, Piped};

/// The programs, in lower case, and their flags.
pub(super) const COMMANDS: &[(&str, Flag)] = &[
    ("mysql", Attached("-p")),
    ("mysqldump", Attached("-p")),
    ("mysqladmin", Attached("-p")),
    ("mysqlimport", Attached("-p")),
    ("mariadb", Attached("-p")),
    ("mariadb-dump", Attached("-p")),
    ("sshpass", Next("-p")),
    ("redis-cli", Next("-a")),
    ("mongosh", Next("-p")),
    ("mongodump", Next("-p")),
    ("mongorestore", Next("-p")),
    ("docker login", Next("-p")),
    ("podman login", Next("-p")),
    ("registry login", Next("-p")),
    ("az login", Next("-p")),
    ("ldapsearch", Next("-w")),
    ("ldapmodify", Next("-w")),
    ("ldapadd", Next("-w")),
    ("sqlcmd", Next("-P")),
    ("unzip", Next("-P")),
    ("ipmitool", Next("-P")),
    ("ssh-keygen", Next("-N")),
    ("7z", Attached("-p")),
    ("smbclient", Login("-U", b'%')),
    ("curl", Login("-u", b':')),
    ("http", Login("-a", b':')),
    ("| sudo -s", Piped),
    ("|sudo -s", Piped),
    ("--password-stdin", Piped),
];

/// How much of a command is read.
const LONGEST_COMMAND: usize = 600;

/// Returns the password that the program named at `found` is given.
pub(super) fn password(text: &[u8], found: &Range<usize>, flag: Flag) -> Option<Range<usize>> {
    let (sign, attached, login) = match flag {
        Attached(sign) => (sign, true, None),
        Next(sign) => (sign, false, None),
        Login(sign, between) => (sign, false, Some(between)),
        Piped => return printed_before(text, found.start),
    };
    if joins(text, found.start) || text.get(found.end) != Some(&b' ') {
        return None;
    }
    let limit = text.len().min(found.end + LONGEST_COMMAND);
    let mut at = found.end;
    while at < limit {
        let mut rest = Cursor { text, at };
        rest.skip_spaces();
        let argument = rest.at;
        if text[argument..].starts_with(b"--password") {
            return None;
        }
        if rest.skip(sign.as_bytes()) {
            let spaced = matches!(rest.peek(), Some(b' '));
            if !spaced || !attached {
                rest.skip_spaces();
                return value(text, rest.at, login).filter(|value| {
                    // A separate number is a port.
                    let number = text[value.clone()].iter().all(u8::is_ascii_digit);
                    !(spaced && number)
                });
            }
        }
        at = argument_end(text, argument, limit)?;
    }
    None
}

/// Returns the end of the argument at `at`, unless the command ends before.
fn argument_end(text: &[u8], at: usize, limit: usize) -> Option<usize> {
    let byte = *text.get(at)?;
    // A backslash continues the command on the next line.
    if text[at..].starts_with(b"\\\n") {
        return Some(at + 2);
    }
    if matches!(byte, b'\n' | b'\r' | b'|' | b';' | b'&' | b'\\' | b'>') {
        return None;
    }
    let rest = &text[at..limit];
    let length = match byte {
        b'"' | b'\'' => {
            let within = count(&rest[1..], LONGEST_COMMAND, |sign| {
                sign != byte && sign != b'\n'
            });
            within + 2
        }
        _ => count(rest, LONGEST_COMMAND, |sign| {
            !sign.is_ascii_whitespace() && !matches!(sign, b'|' | b';' | b'\\')
        }),
    };
    Some(at + length.max(1))
}

/// Returns what is printed on this line before `at`.
fn printed_before(text: &[u8], at: usize) -> Option<Range<usize>> {
    let lowest = at.saturating_sub(200);
    let line = text[lowest..at].iter().rposition(|byte| *byte == b'\n');
    let start = line.map_or(lowest, |line| lowest + line + 1);
    let line = &text[start..at];
    let program = [&b"echo "[..], b"printf "];
    let (program, begin) = program
        .iter()
        .find_map(|name| Some((name, find(line, name)?)))?;
    let mut from = start + begin + program.len();
    while text[from..].starts_with(b"-") {
        from += count(&text[from..], 8, |byte| byte != b' ') + 1;
    }
    value(text, from, None).filter(|value| value.end < at)
}

/// Returns the argument at `at`, without its quotes, if it is a password, or the
/// password in it if a user and a sign come first.
fn value(text: &[u8], at: usize, login: Option<u8>) -> Option<Range<usize>> {
    let mut rest = Cursor { text, at };
    let quote = rest.quote();
    let escaped = rest.peek() == Some(b'\\');
    rest.skip_quote();
    let mut start = rest.at;
    let length = count(&text[start..], 256, |byte| match quote {
        Some(_) if escaped => !matches!(byte, b'\\' | b'\n'),
        Some(quote) => byte != quote && byte != b'\n',
        None => !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b'\\' | b'`' | b';'),
    });
    let end = char_end(text, start + length);
    if let Some(between) = login {
        start += text[start..end].iter().position(|byte| *byte == between)? + 1;
    }
    let bytes = &text[start..end];
    let secret = bytes.len() >= 4 && !bytes.starts_with(b"-") && !stands_for_another(bytes);
    secret.then_some(start..end)
}
