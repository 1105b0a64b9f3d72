//! File names for notes that are valid on every system.

use unicode_normalization::UnicodeNormalization;

use super::stays_inside;
use crate::note::divide_name;
use kodiak_base::Result;

/// The longest name made from a title, in bytes.
const MAX_STEM_LENGTH: usize = 120;
/// The longest name of a file or folder in bytes. Every file system accepts it,
/// with room for the suffix that the trash adds.
const MAX_NAME_LENGTH: usize = 240;
/// The longest key, in bytes.
const MAX_KEY_LENGTH: usize = 1_000;
/// The extensions of notes with frontmatter.
const EXTENSIONS: [&str; 3] = ["md", "markdown", "mdx"];
/// Names that Windows reserves for devices, with any extension.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];
/// Characters that Windows does not allow in names.
const FORBIDDEN: [char; 8] = ['<', '>', ':', '"', '\\', '|', '?', '*'];

/// Makes a file name, without extension, from a title. It is the title, as far
/// as every system allows that.
pub(super) fn file_stem(title: &str) -> String {
    stem_within(title, MAX_STEM_LENGTH)
}

/// Makes a file name as [`file_stem`] does, and ends it with a mark, if there is one.
pub(crate) fn marked_stem(title: &str, mark: Option<&str>) -> String {
    let Some(mark) = mark else {
        return file_stem(title);
    };
    let length = MAX_STEM_LENGTH.saturating_sub(mark.len() + 1);
    format!("{} {mark}", stem_within(title, length))
}

fn stem_within(title: &str, length: usize) -> String {
    let mut stem = String::new();
    for c in title.nfc() {
        let space = c.is_whitespace() || c.is_control() || c == '/' || FORBIDDEN.contains(&c);
        if is_invisible(c) {
            continue;
        }
        if space {
            if !stem.ends_with(' ') {
                stem.push(' ');
            }
            continue;
        }
        // A leading dot hides a file, and a leading dash looks like an option.
        if matches!(c, '.' | '-') && stem.trim().is_empty() {
            continue;
        }
        if stem.len() + c.len_utf8() > length {
            break;
        }
        stem.push(c);
    }
    // A cut emoji may end in a joiner.
    let stem = stem.trim_start().trim_end_matches(['.', ' ', '\u{200d}']);
    if stem.is_empty() {
        "untitled".to_owned()
    } else if is_device(stem) {
        format!("{stem} note")
    } else {
        stem.to_owned()
    }
}

/// Reports whether a character changes the direction of text or has no shape at
/// all. In a file name it would only deceive.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{200b}' | '\u{200e}' | '\u{200f}')
}

/// Returns the name of the `number`th file with this stem: `Ramen.md`,
/// `Ramen 2.md`.
fn numbered(stem: &str, number: u64, extension: &str) -> String {
    match number {
        1 => format!("{stem}.{extension}"),
        _ => format!("{stem} {number}.{extension}"),
    }
}

/// Gives `take` one path after the other, all in a folder and made from a stem, until it
/// takes one, and returns that. The root has an empty name.
pub(crate) fn first_free(
    folder: &str,
    stem: &str,
    extension: &str,
    take: impl Fn(&str) -> Result<bool>,
) -> Result<String> {
    let mut number = 1_u64;
    loop {
        let name = numbered(stem, number, extension);
        let path = if folder.is_empty() {
            name
        } else {
            format!("{folder}/{name}")
        };
        if take(&path)? {
            return Ok(path);
        }
        number += 1;
    }
}

/// Checks the key of a new note. The error says why it is refused.
pub fn check(key: &str) -> Result<(), &'static str> {
    if !stays_inside(key) {
        return Err("it leaves the folder");
    }
    if key.len() > MAX_KEY_LENGTH {
        return Err("it is longer than 1000 bytes");
    }
    if key.chars().any(char::is_control) {
        return Err("it has control characters");
    }
    if key.contains(FORBIDDEN) {
        return Err("it has signs that not every system allows");
    }
    for part in key.split('/') {
        if part.is_empty() || part == "." {
            return Err("it has an empty part");
        }
        if part.starts_with('.') {
            return Err("it would be hidden");
        }
        if part.ends_with(['.', ' ']) || part.starts_with(' ') {
            return Err("a part of it begins or ends with a space or ends with a dot");
        }
        if part.len() > MAX_NAME_LENGTH {
            return Err("a part of it is longer than 240 bytes");
        }
        if is_device(part) {
            return Err("a part of it is the name of a device on Windows");
        }
    }
    let (_, extension) = divide_name(key);
    let mut known = EXTENSIONS.iter();
    if !known.any(|known| known.eq_ignore_ascii_case(extension)) {
        return Err("it does not end in .md");
    }
    Ok(())
}

/// Reports whether a key contains a hidden name.
pub(super) fn is_hidden(key: &str) -> bool {
    key.split('/').any(|part| part.starts_with('.'))
}

fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).trim_end();
    let stem = stem.to_ascii_lowercase();
    let port = stem
        .strip_prefix("com")
        .or_else(|| stem.strip_prefix("lpt"));
    DEVICES.contains(&stem.as_str())
        || port.is_some_and(|number| matches!(number.as_bytes(), [b'0'..=b'9']))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn titles_become_names() {
        for (title, expected) in [
            ("Ramen broth", "Ramen broth"),
            ("Ramen: broth?", "Ramen broth"),
            ("  ../../etc/passwd ", "etc passwd"),
            ("C:\\Windows", "C Windows"),
            ("AC/DC", "AC DC"),
            ("über – Straße", "über – Straße"),
            ("U\u{308}ber", "Über"),
            ("a_b", "a_b"),
            ("a-b", "a-b"),
            ("--help", "help"),
            ("日本語", "日本語"),
            ("🐻", "🐻"),
            ("👩\u{200d}🍳", "👩\u{200d}🍳"),
            ("CON", "CON note"),
            ("lpt1", "lpt1 note"),
            ("com10", "com10"),
            ("\0\n\u{202e}", "untitled"),
            ("---", "untitled"),
            ("...", "untitled"),
            ("", "untitled"),
            (".hidden", "hidden"),
            ("Dr. ", "Dr"),
            ("one\ttwo\r\nthree", "one two three"),
        ] {
            assert_eq!(file_stem(title), expected, "{title:?}");
        }
        assert_eq!(file_stem(&"ä".repeat(300)).len(), 120);
        assert_eq!(numbered("a", 1, "md"), "a.md");
        assert_eq!(numbered("a", 2, "md"), "a 2.md");
    }

    #[test]
    fn keys_that_would_do_harm_are_refused() {
        for key in ["a.md", "a/b c/d.MD", "ü.markdown", "a..b.md", "com10.md"] {
            assert_eq!(check(key), Ok(()), "{key}");
        }
        let long = format!("{}.md", "a".repeat(300));
        for key in [
            "",
            ".",
            "..",
            "../a.md",
            "a/../b.md",
            "/a.md",
            "./a.md",
            "a/./b.md",
            "a//b.md",
            "a.md/",
            ".a.md",
            ".trash/a.md",
            "a/.b/c.md",
            "a\0.md",
            "a\n.md",
            "a\u{7f}.md",
            "a\u{85}.md",
            "a\\b.md",
            "c:a.md",
            "a?.md",
            "con.md",
            "a/NUL/b.md",
            "aux.x.md",
            "com1.md",
            "a",
            "a.txt",
            "a.org",
            "a.md.bak",
            "a /b.md",
            "a./b.md",
            ".md",
            &long,
        ] {
            assert!(check(key).is_err(), "{key:?}");
        }
    }

    proptest! {
        #[test]
        fn a_note_can_be_saved_under_any_title(title in any::<String>(), number in 1_u64..) {
            let stem = file_stem(&title);
            prop_assert_eq!(check(&numbered(&stem, number, "md")), Ok(()));
            prop_assert_eq!(file_stem(&stem), stem);
        }
    }
}
