//! From the path of a file to its key, and back.
//!
//! A key is the path from the root, with `/`. Names need not be UTF-8 on Unix: each byte
//! that is not is written as U+FFFD and two hexadecimal digits, so that every file has a
//! key that leads back to it. Where a name has such signs itself, they are written so, too.

use std::borrow::Cow;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use crate::decode::windows_1252;

/// The mark before the digits of a byte.
const MARK: char = char::REPLACEMENT_CHARACTER;

/// Returns the key of a path under the root, or `None` if it can have none here.
pub(super) fn key_of<'a>(root: &Path, path: &'a Path) -> Option<Cow<'a, str>> {
    // Comparing component by component takes longer than reading a folder.
    let inside = match (root.to_str(), path.to_str()) {
        (Some(root), Some(path)) if path.starts_with(root) => {
            let inside = &path[root.len()..];
            let inside = inside.strip_prefix(MAIN_SEPARATOR).unwrap_or(inside);
            if inside.contains(MARK) {
                Cow::Owned(escaped(inside.as_bytes()))
            } else {
                Cow::Borrowed(inside)
            }
        }
        _ => Cow::Owned(key_of_bytes(path.strip_prefix(root).unwrap_or(path))?),
    };
    if MAIN_SEPARATOR == '/' {
        return Some(inside);
    }
    Some(Cow::Owned(inside.replace(MAIN_SEPARATOR, "/")))
}

/// Returns the path from the root that a key is for.
pub(super) fn path_of_key(key: &str) -> Cow<'_, Path> {
    if key.contains(MARK) {
        Cow::Owned(unescaped(key))
    } else {
        Cow::Borrowed(Path::new(key))
    }
}

/// Returns the path of the file that a key of a folder of notes is for.
pub fn path_in(root: &Path, key: &str) -> PathBuf {
    root.join(path_of_key(key))
}

/// Returns a key as people read it: bytes that are not UTF-8 as Windows-1252.
pub(crate) fn readable(key: &str) -> Cow<'_, str> {
    if !key.contains(MARK) {
        return Cow::Borrowed(key);
    }
    let mut text = String::new();
    for part in bytes_of(key).utf8_chunks() {
        text.push_str(part.valid());
        text.extend(part.invalid().iter().map(|&byte| windows_1252(byte)));
    }
    Cow::Owned(text)
}

#[cfg(unix)]
#[expect(
    clippy::unnecessary_wraps,
    reason = "other systems have names without a key"
)]
fn key_of_bytes(inside: &Path) -> Option<String> {
    Some(escaped(inside.as_os_str().as_encoded_bytes()))
}

#[cfg(unix)]
fn unescaped(key: &str) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    std::ffi::OsString::from_vec(bytes_of(key)).into()
}

#[cfg(not(unix))]
fn key_of_bytes(inside: &Path) -> Option<String> {
    inside.to_str().map(|inside| escaped(inside.as_bytes()))
}

#[cfg(not(unix))]
fn unescaped(key: &str) -> PathBuf {
    String::from_utf8_lossy(&bytes_of(key)).into_owned().into()
}

fn escaped(name: &[u8]) -> String {
    let mut key = String::with_capacity(name.len());
    let push_bytes = |key: &mut String, bytes: &[u8]| {
        for byte in bytes {
            key.push(MARK);
            key.push_str(&format!("{byte:02X}"));
        }
    };
    for part in name.utf8_chunks() {
        for sign in part.valid().chars() {
            match sign {
                MARK => push_bytes(&mut key, MARK.encode_utf8(&mut [0; 4]).as_bytes()),
                _ => key.push(sign),
            }
        }
        push_bytes(&mut key, part.invalid());
    }
    key
}

/// Returns the bytes of the name that a key is for. A sign without digits stands for
/// itself.
fn bytes_of(key: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(key.len());
    let mut rest = key;
    while let Some(at) = rest.find(MARK) {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        rest = &rest[at + MARK.len_utf8()..];
        let digits = rest.get(..2).filter(|digits| is_byte(digits));
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &rest[2..];
            }
            None => bytes.extend_from_slice(MARK.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

/// Reports whether digits name a byte outside ASCII, so that no key leads out of its
/// folder.
fn is_byte(digits: &str) -> bool {
    let upper = |digit: u8| matches!(digit, b'0'..=b'9' | b'A'..=b'F');
    matches!(digits.as_bytes(), [b'8'..=b'9' | b'A'..=b'F', low] if upper(*low))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use proptest::prelude::*;

    use super::*;

    fn key(name: &[u8]) -> String {
        let path = Path::new("/root").join(OsStr::from_bytes(name));
        key_of(Path::new("/root"), &path).unwrap().into_owned()
    }

    #[test]
    fn names_that_are_not_text_have_keys() {
        assert_eq!(key(b"caf\xe9.md"), "caf\u{fffd}E9.md");
        assert_eq!(key("café.md".as_bytes()), "café.md");
        assert_eq!(
            key("a\u{fffd}b.md".as_bytes()),
            "a\u{fffd}EF\u{fffd}BF\u{fffd}BDb.md"
        );
        assert_eq!(readable("caf\u{fffd}E9.md"), "café.md");
        // Nothing that is typed becomes a separator or a way up.
        for typed in [
            "\u{fffd}2F",
            "\u{fffd}2E\u{fffd}2E",
            "\u{fffd}",
            "\u{fffd}e9",
        ] {
            assert_eq!(path_of_key(typed), Path::new(typed));
        }
    }

    proptest! {
        #[test]
        fn every_name_has_one_key_that_leads_back(
            one in prop::collection::vec(1_u8..=255, 1..12),
            other in prop::collection::vec(1_u8..=255, 1..12),
        ) {
            prop_assume!(!one.starts_with(b"/") && !other.starts_with(b"/"));
            prop_assume!(!one.contains(&b'/') && !other.contains(&b'/'));
            for name in [&one, &other] {
                let back = path_of_key(&key(name)).into_owned();
                prop_assert_eq!(back.as_os_str().as_bytes(), name.as_slice());
            }
            prop_assert_eq!(one == other, key(&one) == key(&other));
        }
    }
}
