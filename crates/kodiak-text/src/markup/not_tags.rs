//! Words after a `#` that are code and not tags: colours and directives.

/// Directives of a preprocessor that are never tags.
const DIRECTIVES: [&str; 6] = ["ifdef", "ifndef", "endif", "elif", "undef", "pragma"];

/// Reports whether the word after a `#` is code: a colour such as `FFFFFF`, or a directive
/// such as `ifdef`. `line_start` says whether nothing but spaces is before the `#`, and
/// `after` is the text after the word.
pub(super) fn is_code(word: &str, line_start: bool, after: &str) -> bool {
    is_color(word) || DIRECTIVES.contains(&word) || (line_start && is_directive(word, after))
}

/// Reports whether a word is a colour in hexadecimal. Words such as `cafe`, `decade`, `e2e`
/// and `b2b` have only its digits too, so short ones count if they repeat one digit, and
/// long ones if they have a number, capitals, or each digit twice.
fn is_color(word: &str) -> bool {
    let digits = word.as_bytes();
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return false;
    }
    match digits.len() {
        3 | 4 => digits.iter().all(|digit| *digit == digits[0]),
        6 | 8 => {
            let twice = digits.chunks(2).all(|pair| pair[0] == pair[1]);
            let has_number = digits.iter().any(u8::is_ascii_digit);
            let capitals = digits.iter().all(|digit| !digit.is_ascii_lowercase());
            twice || has_number || capitals
        }
        _ => false,
    }
}

/// Reports whether a word at the start of a line is a directive: words beside
/// [`DIRECTIVES`] are, if the arguments of a directive follow.
fn is_directive(word: &str, after: &str) -> bool {
    let after = after.trim();
    match word {
        "include" | "import" => after.starts_with(['<', '"']),
        "define" => after.starts_with(|c: char| c.is_ascii_uppercase() || c == '_'),
        "if" => !after.is_empty(),
        "else" => after.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_code_and_words_are_not() {
        for color in [
            "fff", "FFF", "cccc", "FFFFFF", "aabbcc", "ff0000", "61a89b", "11223344",
        ] {
            assert!(is_code(color, false, ""), "{color}");
        }
        for word in [
            "cafe", "decade", "facade", "ace", "bad", "e2e", "b2b", "2fa", "a1", "abcde", "fffff",
        ] {
            assert!(!is_code(word, true, ""), "{word}");
        }
    }

    #[test]
    fn directives_are_code() {
        for (word, line_start, after) in [
            ("ifdef", false, " in prose"),
            ("include", true, " <stdio.h>"),
            ("include", true, " \"a.h\""),
            ("define", true, " MAX 3"),
            ("if", true, " defined(X)"),
            ("else", true, ""),
        ] {
            assert!(is_code(word, line_start, after), "{word}");
        }
        for (word, line_start, after) in [
            ("include", true, " this one"),
            ("include", false, " <b>"),
            ("define", true, " terms"),
            ("import", true, ""),
            ("region", true, " x"),
            ("error", true, ""),
        ] {
            assert!(!is_code(word, line_start, after), "{word}");
        }
    }
}
