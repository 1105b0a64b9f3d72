//! Bytes with a version and a checksum, and the numbers in them.

use super::Damage;

/// The version of what a frame contains.
const VERSION: u8 = 1;
/// The number of bytes of the checksum.
const CHECKSUM: usize = 4;

/// Returns the checksum of bytes.
fn checksum(bytes: &[u8]) -> [u8; CHECKSUM] {
    let mut sum = [0; CHECKSUM];
    sum.copy_from_slice(&blake3::hash(bytes).as_bytes()[..CHECKSUM]);
    sum
}

/// Writes numbers into a frame.
#[derive(Debug)]
pub(super) struct Writer(Vec<u8>);

impl Writer {
    pub(super) fn new() -> Self {
        let mut bytes = vec![VERSION];
        bytes.extend([0; CHECKSUM]);
        Self(bytes)
    }

    /// Appends a number, seven bits per byte, the lowest first.
    pub(super) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Returns the frame with its checksum.
    pub(super) fn finish(mut self) -> Vec<u8> {
        let sum = checksum(&self.0[1 + CHECKSUM..]);
        self.0[1..=CHECKSUM].copy_from_slice(&sum);
        self.0
    }
}

/// Reads numbers from a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Opens a frame. Fails if it is of another version or its checksum is wrong.
    pub(super) fn open(frame: &'a [u8]) -> Result<Self, Damage> {
        match frame {
            [] => return Err(Damage("it is empty")),
            [VERSION, ..] => {}
            _ => return Err(Damage("it has an unknown version")),
        }
        let (sum, content) = frame[1..]
            .split_at_checked(CHECKSUM)
            .ok_or(Damage("it is cut off"))?;
        if checksum(content) != sum {
            return Err(Damage("its checksum is wrong"));
        }
        Ok(Self(content))
    }

    pub(super) fn number(&mut self) -> Result<u64, Damage> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first().ok_or(Damage("it is cut off"))?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Damage("a number in it is too large"))
    }

    /// Returns a number that fits into 32 bits.
    pub(super) fn small(&mut self) -> Result<u32, Damage> {
        let number = self.number()?;
        u32::try_from(number).map_err(|_| Damage("a number in it is too large"))
    }

    /// Returns the number of things that follow, each of which takes at least one byte.
    pub(super) fn count(&mut self) -> Result<usize, Damage> {
        let count = self.number()?;
        if count > self.0.len() as u64 {
            return Err(Damage("it is cut off"));
        }
        Ok(count as usize)
    }

    /// Returns all that follows.
    pub(super) fn rest(self) -> &'a [u8] {
        self.0
    }

    /// Fails if something follows.
    pub(super) fn end(self) -> Result<(), Damage> {
        if self.0.is_empty() {
            return Ok(());
        }
        Err(Damage("it is too long"))
    }
}
