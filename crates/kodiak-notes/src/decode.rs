//! From the bytes of a file to its text, in the encodings that notes are found in.
//!
//! Most notes are UTF-8. A byte order mark makes a file UTF-16. In anything else, bytes
//! that are not UTF-8 are taken for Windows-1252, of which Latin-1 is a part. Lines stay
//! lines in all of them.

/// A text, and whether its file is UTF-8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decoded {
    pub(super) text: String,
    /// Whether the file has exactly this text as UTF-8. Others are only read, because
    /// writing would change their encoding.
    pub(super) is_utf8: bool,
}

/// Returns the text of a file, or `None` if it is binary.
pub(super) fn decoded(bytes: Vec<u8>) -> Option<Decoded> {
    let utf16 = match bytes.as_slice() {
        [0xff, 0xfe, rest @ ..] => Some((rest, u16::from_le_bytes as fn([u8; 2]) -> u16)),
        [0xfe, 0xff, rest @ ..] => Some((rest, u16::from_be_bytes as fn([u8; 2]) -> u16)),
        _ => None,
    };
    if let Some((rest, unit)) = utf16 {
        let (pairs, odd) = rest.as_chunks::<2>();
        let units = pairs.iter().map(|pair| unit(*pair));
        let signs =
            char::decode_utf16(units).map(|sign| sign.unwrap_or(char::REPLACEMENT_CHARACTER));
        let text: String = signs.collect();
        let is_text = odd.is_empty() && !text.contains('\0');
        return is_text.then_some(Decoded {
            text,
            is_utf8: false,
        });
    }
    if bytes.contains(&0) {
        return None;
    }
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => {
            return Some(Decoded {
                text,
                is_utf8: true,
            });
        }
        Err(error) => error.into_bytes(),
    };
    if has_many_controls(&bytes) {
        return None;
    }
    let mut text = String::with_capacity(bytes.len() + bytes.len() / 8);
    for part in bytes.utf8_chunks() {
        text.push_str(part.valid());
        text.extend(part.invalid().iter().map(|&byte| windows_1252(byte)));
    }
    Some(Decoded {
        text,
        is_utf8: false,
    })
}

/// Reports whether bytes that are not UTF-8 have more control characters than a text:
/// more than one in a hundred. Compressed data has ten.
fn has_many_controls(bytes: &[u8]) -> bool {
    let control = |byte: &&u8| matches!(byte, 1..=8 | 11 | 14..=31 | 127);
    bytes.iter().filter(control).count() * 100 > bytes.len()
}

/// Returns the character of a byte in Windows-1252. The five bytes without one are
/// control characters, as in Latin-1.
pub(super) fn windows_1252(byte: u8) -> char {
    const FROM_128: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž',
        '\u{8f}', '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}',
        'ž', 'Ÿ',
    ];
    match byte {
        128..=159 => FROM_128[usize::from(byte - 128)],
        _ => char::from(byte),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(bytes: &[u8]) -> Option<String> {
        decoded(bytes.to_vec()).map(|decoded| decoded.text)
    }

    #[test]
    fn each_encoding_is_read() {
        assert_eq!(text("grün €\n".as_bytes()).unwrap(), "grün €\n");
        assert_eq!(text(b"gr\xfcn \x80\n").unwrap(), "grün €\n");
        // One byte that is wrong spoils nothing else.
        assert_eq!(
            text("grün \u{0}".replace('\0', "x").as_bytes()).unwrap(),
            "grün x"
        );
        let mixed = ["grün ".as_bytes(), b"caf\xe9 ", "日本\n".as_bytes()].concat();
        assert_eq!(text(&mixed).unwrap(), "grün café 日本\n");
        let units: Vec<u16> = "a\r\n𝄞ü".encode_utf16().collect();
        let little = units.iter().flat_map(|unit| unit.to_le_bytes());
        let little: Vec<u8> = [0xff, 0xfe].into_iter().chain(little).collect();
        assert_eq!(text(&little).unwrap(), "a\r\n𝄞ü");
        let big = units.iter().flat_map(|unit| unit.to_be_bytes());
        let big: Vec<u8> = [0xfe, 0xff].into_iter().chain(big).collect();
        assert_eq!(text(&big).unwrap(), "a\r\n𝄞ü");
        assert!(decoded(b"a".to_vec()).unwrap().is_utf8);
        assert!(!decoded(little).unwrap().is_utf8 && !decoded(mixed).unwrap().is_utf8);
    }

    #[test]
    fn what_is_not_text_is_not() {
        assert_eq!(text(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), None);
        // UTF-16 without a mark, UTF-32, and half a unit.
        assert_eq!(text(b"a\0b\0"), None);
        assert_eq!(text(b"\xff\xfe\0\0a\0\0\0"), None);
        assert_eq!(text(b"\xff\xfea\0b"), None);
        assert_eq!(text(b"\x1f\x8b\x08\x08\xe9\x01\x02\x03\x04\xff"), None);
    }

    proptest! {
        #[test]
        fn any_utf8_is_itself(text in "[^\0]*") {
            let read = decoded(text.clone().into_bytes()).unwrap();
            prop_assert_eq!((read.text, read.is_utf8), (text, true));
        }

        #[test]
        fn lines_stay_lines(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let breaks = bytes.split(|byte| *byte == b'\n').count() - 1;
            let marked = matches!(bytes.as_slice(), [0xff, 0xfe, ..] | [0xfe, 0xff, ..]);
            if let Some(read) = decoded(bytes).filter(|_| !marked) {
                prop_assert_eq!(read.text.matches('\n').count(), breaks);
            }
        }
    }
}
