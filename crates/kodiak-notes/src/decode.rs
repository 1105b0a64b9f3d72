//! From the bytes of a file to its text, in the encodings that notes are found in.
//!
//! Most notes are UTF-8. A byte order mark makes a file UTF-16, and so do zero bytes in
//! every second place, as text in a Latin script has them. In anything else, bytes that
//! are not UTF-8 are taken for Windows-1252, of which Latin-1 is a part. Lines stay lines
//! in all of them.

/// A text, and the encoding of its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decoded {
    pub(super) text: String,
    pub(super) encoding: Encoding,
}

/// The encoding of a file. Files in others than UTF-8 are only read, because writing would
/// change their encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    Utf16,
    /// UTF-8 with bytes that are none, which are read as Windows-1252.
    Windows1252,
}

impl Encoding {
    /// Says how a file was read, unless it is UTF-8.
    pub(super) fn remark(self) -> Option<&'static str> {
        match self {
            Self::Utf8 => None,
            Self::Utf16 => Some("not UTF-8; read as UTF-16"),
            Self::Windows1252 => Some("not UTF-8; read as Windows-1252"),
        }
    }
}

/// Makes a unit of UTF-16 of two bytes.
type Unit = fn([u8; 2]) -> u16;

/// Returns the text of a file, or `None` if it is binary.
pub(super) fn decoded(bytes: Vec<u8>) -> Option<Decoded> {
    let marked: Option<(&[u8], Unit)> = match bytes.as_slice() {
        [0xff, 0xfe, rest @ ..] => Some((rest, u16::from_le_bytes)),
        [0xfe, 0xff, rest @ ..] => Some((rest, u16::from_be_bytes)),
        _ => None,
    };
    if let Some((rest, unit)) = marked {
        return utf16(rest, unit);
    }
    if bytes.contains(&0) {
        let unit = unmarked_utf16(&bytes)?;
        return utf16(&bytes, unit).filter(|decoded| {
            // Without a mark, what is not certainly a text is not one.
            !decoded.text.contains(char::REPLACEMENT_CHARACTER)
                && !has_many_controls(decoded.text.as_bytes())
        });
    }
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => {
            return Some(Decoded {
                text,
                encoding: Encoding::Utf8,
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
        encoding: Encoding::Windows1252,
    })
}

/// Decodes UTF-16 without its mark; `None` if it is not a text.
fn utf16(bytes: &[u8], unit: Unit) -> Option<Decoded> {
    let (pairs, odd) = bytes.as_chunks::<2>();
    let units = pairs.iter().map(|pair| unit(*pair));
    let signs = char::decode_utf16(units).map(|sign| sign.unwrap_or(char::REPLACEMENT_CHARACTER));
    let text: String = signs.collect();
    let is_text = odd.is_empty() && !text.contains('\0');
    is_text.then_some(Decoded {
        text,
        encoding: Encoding::Utf16,
    })
}

/// The fewest zero bytes that show UTF-16 without a mark: those of a short word.
const FEWEST_ZEROS: usize = 4;

/// Returns the byte order of bytes that may be UTF-16 without a mark: all zero bytes are in
/// the same place of their unit, and at least a quarter of the units have one.
fn unmarked_utf16(bytes: &[u8]) -> Option<Unit> {
    let (pairs, odd) = bytes.as_chunks::<2>();
    let first = pairs.iter().filter(|pair| pair[0] == 0).count();
    let second = pairs.iter().filter(|pair| pair[1] == 0).count();
    let many = |zeros: usize| odd.is_empty() && zeros >= FEWEST_ZEROS && zeros * 4 >= pairs.len();
    match (first, second) {
        (0, zeros) if many(zeros) => Some(u16::from_le_bytes),
        (zeros, 0) if many(zeros) => Some(u16::from_be_bytes),
        _ => None,
    }
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
        // Without a mark.
        assert_eq!(text(&little[2..]).unwrap(), "a\r\n𝄞ü");
        assert_eq!(text(&big[2..]).unwrap(), "a\r\n𝄞ü");
        let encoding = |bytes: Vec<u8>| decoded(bytes).unwrap().encoding;
        assert_eq!(encoding(b"a".to_vec()), Encoding::Utf8);
        assert_eq!(encoding(little), Encoding::Utf16);
        assert_eq!(encoding(big[2..].to_vec()), Encoding::Utf16);
        assert_eq!(encoding(mixed), Encoding::Windows1252);
    }

    #[test]
    fn what_is_not_text_is_not() {
        assert_eq!(text(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), None);
        // UTF-32, half a unit, and zeros in both places.
        assert_eq!(text(b"a\0b\0c"), None);
        assert_eq!(text(b"a\0\0b"), None);
        assert_eq!(text(b"\x01\0\x02\0\x03\0"), None);
        assert_eq!(text(b"some words and one zero\0"), None);
        assert_eq!(text(b"\xff\xfe\0\0a\0\0\0"), None);
        assert_eq!(text(b"\xff\xfea\0b"), None);
        assert_eq!(text(b"\x1f\x8b\x08\x08\xe9\x01\x02\x03\x04\xff"), None);
    }

    proptest! {
        #[test]
        fn any_utf8_is_itself(text in "[^\0]*") {
            let read = decoded(text.clone().into_bytes()).unwrap();
            prop_assert_eq!((read.text, read.encoding), (text, Encoding::Utf8));
        }

        #[test]
        fn lines_stay_lines(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let breaks = bytes.split(|byte| *byte == b'\n').count() - 1;
            let marked = matches!(bytes.as_slice(), [0xff, 0xfe, ..] | [0xfe, 0xff, ..]);
            let wide = |read: &Decoded| read.encoding == Encoding::Utf16;
            if let Some(read) = decoded(bytes).filter(|read| !marked && !wide(read)) {
                prop_assert_eq!(read.text.matches('\n').count(), breaks);
            }
        }
    }
}
