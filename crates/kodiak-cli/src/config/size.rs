//! Sizes of files as people write them: `10 MiB`, `500kB`, or a number of bytes.

use std::fmt;
use std::str::FromStr;

use kodiak::files::exact_size;
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size(pub(crate) u64);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("'{text}' is not a size; write sizes as \"10 MiB\" or 10485760");
        let trimmed = text.trim();
        let end = trimmed
            .find(|character: char| !character.is_ascii_digit())
            .unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(end);
        let factor = match unit.trim().to_ascii_lowercase().as_str() {
            "" | "b" | "byte" | "bytes" => 1,
            "k" | "kib" => 1 << 10,
            "m" | "mib" => 1 << 20,
            "g" | "gib" => 1 << 30,
            "kb" => 1_000,
            "mb" => 1_000_000,
            "gb" => 1_000_000_000,
            _ => return Err(bad()),
        };
        let number: u64 = number.parse().map_err(|_| bad())?;
        number.checked_mul(factor).map(Self).ok_or_else(bad)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&exact_size(self.0))
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberOrText;
        impl Visitor<'_> for NumberOrText {
            type Value = Size;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a size such as \"10 MiB\" or a number of bytes")
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Size, E> {
                let invalid = || E::invalid_value(de::Unexpected::Signed(number), &self);
                u64::try_from(number).map(Size).map_err(|_| invalid())
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Size, E> {
                Ok(Size(number))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Size, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_any(NumberOrText)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_as_people_write_them() {
        for (text, bytes) in [
            ("10 MiB", 10 << 20),
            ("10mib", 10 << 20),
            ("2M", 2 << 20),
            ("500 kB", 500_000),
            ("7", 7),
            ("7 bytes", 7),
        ] {
            assert_eq!(text.parse::<Size>().unwrap().0, bytes, "{text}");
        }
        for text in [
            "",
            "MiB",
            "ten",
            "-1",
            "1.5 MiB",
            "99999999999999999999",
            "18446744073709551615 GiB",
        ] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_read_as_they_are_written() {
        for bytes in [0, 1, 1_000, 10 << 20, 3 << 30, u64::MAX] {
            let written = Size(bytes).to_string();
            assert_eq!(written.parse::<Size>(), Ok(Size(bytes)), "{written}");
        }
        assert_eq!(Size(10 << 20).to_string(), "10 MiB");
        assert_eq!(Size(1_000).to_string(), "1000 bytes");
    }
}
