//! The speaker of a turn in a conversation, from the name it begins with.

/// The longest beginning before a colon that can be a name, in characters.
const MAX_NAME_LENGTH: usize = 40;

/// Returns the name before the first colon, if a text begins like a transcript.
pub fn speaker(text: &str) -> Option<&str> {
    let line = text.trim_start().lines().next()?;
    let (name, said) = line.split_once([':', '：'])?;
    if said.starts_with(|sign: char| sign != '*' && sign.is_ascii_graphic()) {
        return None;
    }
    let name = name.trim_matches(|sign: char| sign == '*' || sign.is_whitespace());
    let begins = name.chars().next().is_some_and(char::is_alphabetic);
    let inside = |sign: char| sign.is_alphanumeric() || matches!(sign, ' ' | '.' | '\'' | '-');
    let fits = begins && name.chars().all(inside) && name.chars().count() <= MAX_NAME_LENGTH;
    fits.then_some(name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_speaker_is_named_before_a_colon() {
        for (text, name) in [
            ("Caroline: Hey Mel!", Some("Caroline")),
            ("\n**Dr. O'Neil:** yes", Some("Dr. O'Neil")),
            ("用户：你好", Some("用户")),
            ("user:", Some("user")),
            ("https://example.org", None),
            ("well, this: that", None),
            ("no colon here\nbut: there", None),
            ("12: noon", None),
            (": nothing", None),
            ("", None),
        ] {
            assert_eq!(speaker(text), name, "{text}");
        }
        assert_eq!(speaker(&format!("{}: x", "a".repeat(41))), None);
    }

    proptest! {
        #[test]
        fn a_speaker_is_part_of_the_text(text in "\\PC{0,60}") {
            if let Some(name) = speaker(&text) {
                prop_assert!(!name.is_empty() && text.contains(name));
            }
        }
    }
}
