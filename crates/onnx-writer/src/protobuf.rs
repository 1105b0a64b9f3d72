//! Writes as much of the protobuf wire format as an ONNX file needs.

/// A message under construction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Message {
    bytes: Vec<u8>,
}

impl Message {
    /// Appends a number.
    pub(crate) fn number(mut self, field: u32, value: i64) -> Self {
        self.key(field, 0);
        self.varint(value as u64);
        self
    }

    /// Appends a 32-bit float.
    pub(crate) fn float(mut self, field: u32, value: f32) -> Self {
        self.key(field, 5);
        self.bytes.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// Appends a text.
    pub(crate) fn text(self, field: u32, value: &str) -> Self {
        self.bytes(field, value.as_bytes())
    }

    /// Appends bytes.
    pub(crate) fn bytes(mut self, field: u32, value: &[u8]) -> Self {
        self.key(field, 2);
        self.varint(value.len() as u64);
        self.bytes.extend_from_slice(value);
        self
    }

    /// Appends a nested message.
    pub(crate) fn message(self, field: u32, value: &Self) -> Self {
        self.bytes(field, &value.bytes)
    }

    /// Returns the encoded message.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn key(&mut self, field: u32, wire_type: u32) {
        self.varint(u64::from(field << 3 | wire_type));
    }

    /// Appends a varint: seven bits per byte, the lowest first, with the highest
    /// bit set in all bytes but the last.
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_written_as_the_format_has_them() {
        let inner = Message::default().number(1, 150);
        assert_eq!(inner.clone().into_bytes(), [0x08, 0x96, 0x01]);
        let outer = Message::default().text(2, "hi").message(3, &inner);
        assert_eq!(
            outer.into_bytes(),
            [0x12, 2, b'h', b'i', 0x1a, 3, 0x08, 0x96, 0x01]
        );
        let negative = Message::default().number(16, -1).into_bytes();
        assert_eq!(negative[..3], [0x80, 0x01, 0xff]);
        assert_eq!(negative.len(), 12);
    }
}
