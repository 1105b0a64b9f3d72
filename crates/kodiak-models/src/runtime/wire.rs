//! A check that a file has the structure of an ONNX model, before it is loaded.
//!
//! ONNX files are protobuf messages without a magic number, and `rten` reads any bytes: a
//! length beyond the end or a number that never ends can keep it busy forever. This check
//! follows keys and lengths only and skips the weights. `graph` interprets the model.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

/// The maximum depth of nested messages: graphs may contain graphs.
const DEEPEST: usize = 32;

/// The messages that are read when a model is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Message {
    Model,
    Graph,
    Node,
    Attribute,
    Tensor,
    Value,
    Type,
    TensorType,
    Sequence,
    Shape,
    /// A message without messages in it.
    Plain,
}

/// The content of a length-delimited field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Message(Message),
    /// A sequence of variable-length numbers.
    Numbers,
    /// Text, weights and everything that is skipped.
    Bytes,
}

impl Message {
    /// Returns the content of a field, according to the ONNX definition.
    fn content(self, field: u64) -> Content {
        match (self, field) {
            (Self::Model, 7) | (Self::Attribute, 6) => Content::Message(Self::Graph),
            (Self::Model, 8 | 14) | (Self::Tensor, 13) | (Self::Shape, 1) => {
                Content::Message(Self::Plain)
            }
            (Self::Graph, 1) => Content::Message(Self::Node),
            (Self::Graph | Self::Attribute, 5) => Content::Message(Self::Tensor),
            (Self::Graph, 11..=13) => Content::Message(Self::Value),
            (Self::Node, 5) => Content::Message(Self::Attribute),
            (Self::Value, 2) | (Self::Sequence, 1) => Content::Message(Self::Type),
            (Self::Type, 1) => Content::Message(Self::TensorType),
            (Self::Type, 4) => Content::Message(Self::Sequence),
            (Self::TensorType, 2) => Content::Message(Self::Shape),
            (Self::Tensor, 1 | 5 | 7) | (Self::Attribute, 8) => Content::Numbers,
            _ => Content::Bytes,
        }
    }
}

/// Checks a whole file. The error describes the fault.
pub(super) fn check(file: &Path) -> Result<(), String> {
    let file = kodiak_base::files::open(file).map_err(|error| error.to_string())?;
    let end = file.metadata().map_err(|error| error.to_string())?.len();
    let mut walk = Walk {
        reader: BufReader::new(file),
        position: 0,
        has_graph: false,
    };
    walk.message(Message::Model, end, 0)
        .map_err(|detail| format!("it is not an ONNX model: {detail}"))?;
    if walk.has_graph {
        Ok(())
    } else {
        Err("it is not an ONNX model: it has no graph".to_owned())
    }
}

struct Walk {
    reader: BufReader<File>,
    position: u64,
    has_graph: bool,
}

impl Walk {
    fn message(&mut self, message: Message, end: u64, depth: usize) -> Result<(), String> {
        if depth > DEEPEST {
            return Err("it has messages inside each other without end".to_owned());
        }
        while self.position < end {
            let key = self.number(end)?;
            let (field, wire_type) = (key >> 3, key & 7);
            let length = match wire_type {
                0 => {
                    self.number(end)?;
                    continue;
                }
                1 => 8,
                2 => self.number(end)?,
                5 => 4,
                _ => return Err(format!("byte {} starts no field", self.position)),
            };
            let until = self
                .position
                .checked_add(length)
                .filter(|&until| until <= end)
                .ok_or_else(|| format!("byte {} starts a field too long", self.position))?;
            match message.content(field) {
                Content::Message(inner) if wire_type == 2 => {
                    self.has_graph |= inner == Message::Graph;
                    self.message(inner, until, depth + 1)?;
                }
                Content::Numbers if wire_type == 2 => {
                    while self.position < until {
                        self.number(until)?;
                    }
                }
                _ => self.skip_to(until)?,
            }
        }
        Ok(())
    }

    /// Reads a variable-length number: seven bits per byte, ten bytes at most.
    fn number(&mut self, end: u64) -> Result<u64, String> {
        let start = self.position;
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let mut byte = [0];
            if self.position >= end || self.reader.read_exact(&mut byte).is_err() {
                return Err(format!("the number at byte {start} is cut off"));
            }
            self.position += 1;
            number |= u64::from(byte[0] & 0x7f) << shift;
            if byte[0] < 0x80 {
                return Ok(number);
            }
        }
        Err(format!("the number at byte {start} does not end"))
    }

    fn skip_to(&mut self, until: u64) -> Result<(), String> {
        self.reader
            .seek_relative((until - self.position) as i64)
            .map_err(|error| error.to_string())?;
        self.position = until;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn checked(content: &[u8]) -> Result<(), String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("model.onnx");
        std::fs::write(&file, content).unwrap();
        check(&file)
    }

    fn tiny() -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        tiny_model::write(folder.path()).unwrap();
        std::fs::read(folder.path().join("model.onnx")).unwrap()
    }

    #[test]
    fn a_model_passes() {
        assert_eq!(checked(&tiny()), Ok(()));
    }

    #[test]
    fn what_has_another_structure_is_told_apart() {
        let endless = [0xff; 5_000];
        let too_long = [0x3a, 0x7f, 0x0a];
        let nested: Vec<u8> = (0..100).fold(Vec::new(), |inner, level| {
            // A graph in an attribute of a node of a graph, from the inside out.
            let field = [0x0a, 0x2a, 0x32][level % 3];
            let mut outer = vec![field];
            let mut length = inner.len();
            while length >= 0x80 {
                outer.push(length as u8 | 0x80);
                length >>= 7;
            }
            outer.push(length as u8);
            outer.extend(inner);
            outer
        });
        let cases: [(&[u8], &str); 5] = [
            (b"", "no graph"),
            (b"PK\x03\x04 a zip archive", "byte"),
            (&endless, "does not end"),
            (&too_long, "too long"),
            (&[&[0x08, 0x07][..], &nested].concat(), ""),
        ];
        for (content, expected) in cases {
            let error = checked(content).unwrap_err();
            assert!(error.starts_with("it is not an ONNX model: "), "{error}");
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn a_model_that_was_cut_off_does_not_pass() {
        let whole = tiny();
        for length in (0..whole.len()).step_by(997) {
            assert!(checked(&whole[..length]).is_err(), "{length}");
        }
    }

    proptest! {
        #[test]
        fn anything_comes_to_an_end(content in prop::collection::vec(any::<u8>(), 0..2_000)) {
            if let Err(error) = checked(&content) {
                prop_assert!(error.starts_with("it is not an ONNX model: "), "{}", error);
            }
        }
    }
}
