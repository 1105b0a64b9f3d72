//! File names for notes that are valid on every system.

use unicode_normalization::UnicodeNormalization;

use super::stays_inside;
use crate::source::note::divide_name;

/// The longest name made from a title, in bytes.
const MAX_SLUG_LENGTH: usize = 80;
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

/// Makes a file name, without extension, from a title.
pub(super) fn slug(title: &str) -> String {
    let mut slug = String::new();
    for c in title.nfc().flat_map(char::to_lowercase) {
        let part = if c.is_alphanumeric() { c } else { '-' };
        if part == '-' && (slug.is_empty() || slug.ends_with('-')) {
            continue;
        }
        if slug.len() + part.len_utf8() > MAX_SLUG_LENGTH {
            break;
        }
        slug.push(part);
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() {
        "untitled".to_owned()
    } else if is_device(slug) {
        format!("{slug}-note")
    } else {
        slug.to_owned()
    }
}

/// Checks the key of a new note. Returns what is wrong with it.
pub(super) fn check(key: &str) -> Result<(), &'static str> {
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

/// Tells whether a key contains a hidden name.
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
    fn slugs_are_names() {
        for (title, expected) in [
            ("Ramen broth", "ramen-broth"),
            ("  ../../etc/passwd ", "etc-passwd"),
            ("C:\\Windows", "c-windows"),
            ("über – Straße", "über-straße"),
            ("U\u{308}ber", "über"),
            ("日本語", "日本語"),
            ("CON", "con-note"),
            ("lpt1", "lpt1-note"),
            ("com10", "com10"),
            ("\0\n\u{202e}", "untitled"),
            ("---", "untitled"),
            ("", "untitled"),
            (".hidden", "hidden"),
        ] {
            assert_eq!(slug(title), expected, "{title:?}");
        }
        assert_eq!(slug(&"a".repeat(300)).len(), 80);
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
        fn a_note_can_be_saved_under_any_slug(title in any::<String>()) {
            prop_assert_eq!(check(&format!("{}.md", slug(&title))), Ok(()));
        }
    }
}
