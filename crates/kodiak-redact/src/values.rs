//! Classifies values: made up by a person, made by a machine, or standing for
//! another.
//!
//! Anything can follow a name: a type, a variable, a call, a placeholder, a word of a
//! sentence. Those are not secret.

/// Reports whether the value of a password is one: not a word, a variable, a call or
/// a placeholder.
pub(super) fn is_password(value: &[u8]) -> bool {
    if value.len() < 6 || stands_for_another(value) || is_number(value) {
        return false;
    }
    let classes = [
        value.iter().any(u8::is_ascii_lowercase),
        value.iter().any(u8::is_ascii_uppercase),
        value.iter().any(u8::is_ascii_digit),
        value.iter().any(u8::is_ascii_punctuation),
        !value.is_ascii(),
    ];
    let classes = classes.iter().filter(|one| **one).count();
    let digit = value.iter().any(u8::is_ascii_digit);
    // `pass_word`, `some.field` and `MyType` have no digit.
    let symbol = value.iter().any(|byte| {
        matches!(
            byte,
            b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'*' | b'+' | b'?'
        )
    });
    // Times, versions and numbers of lines have neither.
    let letter = value.iter().any(u8::is_ascii_alphabetic) || !value.is_ascii();
    classes >= 2
        && (letter || symbol)
        && (digit || (symbol && classes >= 3))
        && entropy(value) > 1.75
}

/// Reports whether a value is a number as code has them: `0x0f0`, `16u32`.
fn is_number(value: &[u8]) -> bool {
    let digits = value
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let kinds = [
        &b"u8"[..],
        b"u16",
        b"u32",
        b"u64",
        b"i32",
        b"i64",
        b"usize",
        b"f32",
        b"f64",
    ];
    let hexadecimal = |rest: &[u8]| rest.iter().all(u8::is_ascii_hexdigit);
    value.strip_prefix(b"0x").is_some_and(hexadecimal)
        || (digits > 0 && kinds.contains(&&value[digits..]))
}

/// Reports whether a value looks made by a machine.
pub(super) fn is_random(value: &[u8], least: usize, bits: f64) -> bool {
    // Some say how it is encoded.
    let encoded = [&b"base64:"[..], b"hex:"];
    let value = encoded
        .iter()
        .find_map(|encoding| value.strip_prefix(*encoding))
        .unwrap_or(value);
    if value.len() < least {
        return false;
    }
    let padding = value.iter().rev().take_while(|byte| **byte == b'=').count();
    let token = |byte: &u8| {
        byte.is_ascii_alphanumeric()
            || matches!(
                byte,
                b'+' | b'/'
                    | b'-'
                    | b'_'
                    | b'.'
                    | b'~'
                    | b'!'
                    | b'%'
                    | b'@'
                    | b'#'
                    | b'$'
                    | b'^'
                    | b'*'
            )
    };
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = value
        .iter()
        .filter(|byte| byte.is_ascii_alphabetic())
        .count();
    let one_piece = |value: &[u8]| {
        let mut pieces = value.split(|byte| !byte.is_ascii_alphanumeric());
        pieces.any(|piece| {
            let long = piece.len() >= 32 && piece.iter().any(u8::is_ascii_digit);
            piece.len() >= 8 && (long || is_jumbled(piece))
        })
    };
    // The cheap checks come first.
    (digits > 0 || alternates(value))
        && letters > 0
        && value[..value.len() - padding].iter().all(token)
        && one_piece(value)
        && entropy(value) >= bits
        && !stands_for_another(value)
}

/// Reports whether capitals and small letters alternate as in no name made of words.
fn alternates(value: &[u8]) -> bool {
    let pairs = || value.windows(2);
    let capitals = |pair: &[u8]| pair.iter().all(u8::is_ascii_uppercase);
    let changes = pairs()
        .filter(|pair| pair[0].is_ascii_uppercase() != pair[1].is_ascii_uppercase())
        .count();
    value.len() >= 20
        && value
            .iter()
            .all(|byte| byte.is_ascii_alphabetic() || b"+/=".contains(byte))
        && changes * 100 >= value.len() * 42
        && pairs().any(capitals)
}

/// Reports whether a piece of a value is not a word with a number: its digits are
/// among its letters, or its capitals are.
pub(super) fn is_jumbled(piece: &[u8]) -> bool {
    let class = |byte: u8| match byte {
        b'0'..=b'9' => 0,
        b'A'..=b'Z' => 1,
        _ => 2,
    };
    let changes = piece
        .windows(2)
        .filter(|pair| class(pair[0]) != class(pair[1]))
        .count();
    changes >= 3
}

/// Reports whether a value only stands for one: a variable, a placeholder, a path,
/// a call, or what this module has put there.
pub(super) fn stands_for_another(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    let has = |part: &str| lower.windows(part.len()).any(|one| one == part.as_bytes());
    let begins = [
        "$", "<", "{", "[", "%(", "%s", "./", "../", "~/", "*", "env.", "process.", "os.", "self.",
        "this.", "config.", "@",
    ];
    let contains = [
        "(",
        "[",
        "${",
        "{{",
        "://",
        "redacted",
        "xxxx",
        "****",
        "....",
        "example",
        "placeholder",
        "changeme",
        "your",
        "dummy",
        "->",
        "::",
        "process.env",
        "getenv",
        "\u{2026}",
    ];
    begins
        .iter()
        .any(|begin| lower.starts_with(begin.as_bytes()))
        // In a long encoded value, any of them may occur.
        || (value.len() < 400 && contains.iter().any(|part| has(part)))
        || value.iter().all(|byte| *byte == value[0])
        || is_file(&lower)
        || is_path(value)
}

/// Reports whether a value is a path. Base64 may begin with a slash, too.
fn is_path(value: &[u8]) -> bool {
    let encoded = |part: &[u8]| {
        part.len() >= 8
            && part.iter().any(u8::is_ascii_uppercase)
            && part.iter().any(u8::is_ascii_lowercase)
            && part.iter().any(u8::is_ascii_digit)
            && is_jumbled(part)
    };
    value.starts_with(b"/") && !value.split(|byte| *byte == b'/').any(encoded)
}

/// Reports whether a value is the name of a file.
fn is_file(value: &[u8]) -> bool {
    // The number of a line may follow.
    let number = |byte: &u8| byte.is_ascii_digit() || *byte == b':';
    let numbers = value.iter().rev().take_while(|byte| number(byte)).count();
    let value = match &value[value.len() - numbers..] {
        [b':', ..] => &value[..value.len() - numbers],
        _ => value,
    };
    let Some(dot) = value.iter().rposition(|byte| *byte == b'.') else {
        return false;
    };
    let ending = &value[dot + 1..];
    [
        "txt", "json", "yaml", "yml", "toml", "md", "rs", "py", "ts", "tsx", "js", "jsx", "html",
        "css", "pem", "key", "crt", "env", "ini", "conf", "cfg", "log", "sh", "go", "java", "rb",
        "php", "c", "h", "cpp", "xml", "sql", "db", "png", "jpg", "svg", "mjs", "cjs", "lock",
    ]
    .iter()
    .any(|known| ending == known.as_bytes())
}

/// Returns the entropy of the bytes of a value, in bits per byte.
fn entropy(value: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in value {
        counts[usize::from(*byte)] += 1;
    }
    let total = value.len() as f64;
    let bits = counts.iter().filter(|count| **count > 0).map(|count| {
        let share = f64::from(*count) / total;
        -share * share.log2()
    });
    bits.sum()
}

/// Reports whether a value is a user and a password in Base64.
pub(super) fn is_encoded_login(value: &[u8]) -> bool {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    };
    let padding = value.iter().rev().take_while(|byte| **byte == b'=').count();
    let (mut bits, mut length) = (0_u32, 0);
    let mut decoded = Vec::new();
    for byte in &value[..value.len() - padding] {
        let Some(digit) = digit(*byte) else {
            return false;
        };
        bits = bits << 6 | u32::from(digit);
        length += 6;
        if length >= 8 {
            length -= 8;
            decoded.push((bits >> length) as u8);
        }
    }
    let colon = decoded.iter().position(|byte| *byte == b':');
    let printable = |byte: &u8| !byte.is_ascii_control();
    colon.is_some_and(|at| at > 0 && at + 1 < decoded.len()) && decoded.iter().all(printable)
}
