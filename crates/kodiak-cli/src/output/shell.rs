//! Names that can be pasted into a shell.

use std::borrow::Cow;

/// Returns a text as one word of a shell: signs that a shell would take for itself have
/// a backslash, as the shell writes them when it completes a name. A tilde at the
/// beginning is kept, so the caller must put `./` before a name that begins with one.
pub(crate) fn word(text: &str) -> Cow<'_, str> {
    // A backslash separates folders there.
    if cfg!(windows) || !text.contains(is_special) && !text.starts_with('#') {
        return text.into();
    }
    let mut word = String::with_capacity(text.len() + 8);
    for (at, sign) in text.char_indices() {
        // A number sign begins a comment only at the beginning of a word.
        if is_special(sign) || (at == 0 && sign == '#') {
            word.push('\\');
        }
        word.push(sign);
    }
    word.into()
}

fn is_special(sign: char) -> bool {
    matches!(
        sign,
        ' ' | '!'
            | '"'
            | '$'
            | '&'
            | '\''
            | '('
            | ')'
            | '*'
            | ';'
            | '<'
            | '>'
            | '?'
            | '['
            | ']'
            | '\\'
            | '^'
            | '`'
            | '{'
            | '|'
            | '}'
    )
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn usual_names_are_left_alone() {
        for name in ["~/notes/a-b_c.md", "notes/数据.md", "a/b#12", "x=1,2+3@4%5"] {
            assert_eq!(word(name), name);
        }
        assert_eq!(word("~/My Notes/it's.md"), r"~/My\ Notes/it\'s.md");
        assert_eq!(word("#a"), r"\#a");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_shell_reads_the_word_as_the_text(text in "[ -~üé数]{0,12}") {
            let script = format!("printf %s ./{}", word(&text));
            let run = Command::new("/bin/sh").args(["-c", &script]).output().unwrap();
            let read = String::from_utf8(run.stdout).unwrap();
            prop_assert_eq!(read.strip_prefix("./"), Some(text.as_str()), "{}", script);
        }
    }
}
