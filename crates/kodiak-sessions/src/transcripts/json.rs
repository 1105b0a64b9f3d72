//! Reads JSON whose shape is not guaranteed.
//!
//! Owns types that take any value: values of the expected form are kept, and others are
//! skipped without failing the record around them. Large values, such as images, are never
//! copied. The parsers decide which fields matter.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::tool::{self, ToolInput};

/// Implements the visits of values that are of no use, all with the same result.
macro_rules! otherwise {
    ($result:expr; $($method:ident($type:ty)),* $(,)?) => {
        $(fn $method<E>(self, _: $type) -> Result<Self::Value, E> {
            Ok($result)
        })*
    };
}

macro_rules! skip_composites {
    ($result:expr) => {
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok($result)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
            while items.next_element::<IgnoredAny>()?.is_some() {}
            Ok($result)
        }

        fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
            while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok($result)
        }
    };
}

/// A text, if the value is one.
#[derive(Debug, Default, Clone)]
pub(super) struct Text(pub(super) Option<String>);

impl Text {
    /// Returns the text; empty if there is none.
    pub(super) fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    /// Returns the text if there is one and it is not empty.
    pub(super) fn filled(&self) -> Option<&str> {
        self.0.as_deref().filter(|text| !text.is_empty())
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Text;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("anything")
            }

            fn visit_str<E>(self, text: &str) -> Result<Text, E> {
                Ok(Text(Some(text.to_owned())))
            }

            fn visit_string<E>(self, text: String) -> Result<Text, E> {
                Ok(Text(Some(text)))
            }

            otherwise!(Text(None); visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64));
            skip_composites!(Text(None));
        }
        deserializer.deserialize_any(Any)
    }
}

/// A flag; anything but `true` is not set.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Flag(pub(super) bool);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Flag;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("anything")
            }

            fn visit_bool<E>(self, flag: bool) -> Result<Flag, E> {
                Ok(Flag(flag))
            }

            otherwise!(Flag(false); visit_str(&str), visit_i64(i64), visit_u64(u64), visit_f64(f64));
            skip_composites!(Flag(false));
        }
        deserializer.deserialize_any(Any)
    }
}

/// A whole number, also one that is written as a fraction or in quotes.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Number(pub(super) Option<i64>);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Number;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("anything")
            }

            fn visit_i64<E>(self, number: i64) -> Result<Number, E> {
                Ok(Number(Some(number)))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Number, E> {
                Ok(Number(i64::try_from(number).ok()))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Number, E> {
                Ok(Number(number.is_finite().then_some(number as i64)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Number, E> {
                Ok(Number(text.trim().parse().ok()))
            }

            otherwise!(Number(None); visit_bool(bool));
            skip_composites!(Number(None));
        }
        deserializer.deserialize_any(Any)
    }
}

/// A value of any shape, read if it has the shape of `T`. A malformed part of a record does
/// not make the whole unreadable, provided it is an object where one is expected.
#[derive(Debug, Clone)]
pub(super) struct Maybe<T>(pub(super) Option<T>);

impl<T> Default for Maybe<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Maybe<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Any<T> {
            type Value = Maybe<T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("anything")
            }

            fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Maybe<T>, A::Error> {
                let fields = serde::de::value::MapAccessDeserializer::new(fields);
                T::deserialize(fields).map(|value| Maybe(Some(value)))
            }

            fn visit_unit<E>(self) -> Result<Maybe<T>, E> {
                Ok(Maybe(None))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Maybe<T>, A::Error> {
                while items.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Maybe(None))
            }

            otherwise!(Maybe(None); visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64), visit_str(&str));
        }
        deserializer.deserialize_any(Any(std::marker::PhantomData))
    }
}

/// The entries of an object with any names, in order. Those that are not objects are
/// left out.
#[derive(Debug)]
pub(super) struct Entries<T>(pub(super) Vec<(String, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
            type Value = Entries<T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Entries<T>, A::Error> {
                let mut entries = Vec::new();
                while let Some((name, value)) = fields.next_entry::<String, Maybe<T>>()? {
                    entries.extend(value.0.map(|value| (name, value)));
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Object(std::marker::PhantomData))
    }
}

/// The content of a message: a text, one block, or a list of both.
#[derive(Debug, Default)]
pub(super) struct Content(pub(super) Vec<Block>);

/// One block of a message. The field names of all agents are here, because most of
/// them mean the same.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Block {
    #[serde(rename = "type")]
    pub(super) kind: Text,
    pub(super) text: Text,
    pub(super) thinking: Text,
    pub(super) name: Text,
    #[serde(alias = "arguments", alias = "args")]
    pub(super) input: ToolInput,
    pub(super) content: Content,
    #[serde(alias = "isError")]
    pub(super) is_error: Flag,
    #[serde(rename = "functionCall")]
    pub(super) function_call: Maybe<Box<Block>>,
}

impl Block {
    fn of_text(text: &str) -> Self {
        Self {
            kind: Text(Some("text".to_owned())),
            text: Text(Some(text.to_owned())),
            ..Self::default()
        }
    }
}

impl Content {
    /// Returns the texts of the content, one after the other.
    pub(super) fn plain(&self) -> String {
        let texts = self.0.iter().map(|block| match block.text.filled() {
            Some(text) => text.to_owned(),
            None => block.content.plain(),
        });
        let texts = texts.filter(|text| !text.is_empty());
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Reports whether there is a block of this type.
    pub(super) fn has(&self, kind: &str) -> bool {
        self.0.iter().any(|block| block.kind.as_str() == kind)
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Content;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("anything")
            }

            fn visit_str<E>(self, text: &str) -> Result<Content, E> {
                // Outputs are cut off later; megabytes need not be copied for that.
                Ok(Content(vec![Block::of_text(tool::head(
                    text,
                    MAX_TEXT_BYTES,
                ))]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Content, A::Error> {
                let mut blocks = Vec::new();
                while let Some(Content(inner)) = items.next_element::<Content>()? {
                    blocks.extend(inner);
                }
                Ok(Content(blocks))
            }

            fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Content, A::Error> {
                let fields = serde::de::value::MapAccessDeserializer::new(fields);
                Block::deserialize(fields).map(|block| Content(vec![block]))
            }

            fn visit_unit<E>(self) -> Result<Content, E> {
                Ok(Content::default())
            }

            otherwise!(Content::default(); visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64));
        }
        deserializer.deserialize_any(Any)
    }
}

/// The longest text of a block that is looked at.
const MAX_TEXT_BYTES: usize = 1 << 20;

/// Reads a record. Bytes that are not UTF-8 are replaced first. Returns `None` if
/// it is not JSON, or not an object.
pub(super) fn record<T: for<'a> Deserialize<'a>>(line: &[u8]) -> Option<T> {
    if line.trim_ascii_start().first() != Some(&b'{') {
        return None;
    }
    // Records are read from a `str` alone: for bytes, every type would be compiled again.
    let text = std::str::from_utf8(line);
    let text = text.map_or_else(|_| String::from_utf8_lossy(line), Cow::Borrowed);
    serde_json::from_str(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, Deserialize)]
    #[serde(default)]
    struct Sample {
        text: Text,
        flag: Flag,
        number: Number,
        content: Content,
        inner: Maybe<Inner>,
    }

    #[derive(Debug, Default, Deserialize)]
    #[serde(default)]
    struct Inner {
        text: Text,
    }

    #[test]
    fn any_value_may_be_anywhere() {
        let values = [
            "null",
            "true",
            "1",
            "-1.5",
            "\"a\"",
            "[]",
            "{}",
            "[[{\"text\":1}]]",
            "{\"text\":[1,{}]}",
        ];
        for value in values {
            let line = format!(
                "{{\"text\":{value},\"flag\":{value},\"number\":{value},\"content\":{value},\"inner\":{value},\"other\":{value}}}"
            );
            let sample: Option<Sample> = record(line.as_bytes());
            assert!(sample.is_some(), "{line}");
        }
        let sample: Sample =
            record(br#"{"text":"a","flag":true,"number":"7","inner":{"text":"b"}}"#).unwrap();
        assert_eq!(sample.text.as_str(), "a");
        assert!(sample.flag.0);
        assert_eq!(sample.number.0, Some(7));
        assert_eq!(sample.inner.0.unwrap().text.as_str(), "b");
        let sample: Sample = record(br#"{"content":["a",{"type":"text","text":"b"},3]}"#).unwrap();
        assert_eq!(sample.content.plain(), "a\nb");
    }

    #[test]
    fn hostile_lines_are_refused_or_repaired() {
        let deep = format!(
            "{{\"content\":{}{}}}",
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        assert!(record::<Sample>(deep.as_bytes()).is_none());
        assert!(record::<Sample>(b"{\"text\":\"cut").is_none());
        assert!(record::<Sample>(b"").is_none());
        let sample: Sample = record(b"{\"text\":\"caf\xff\"}").unwrap();
        assert_eq!(sample.text.as_str(), "caf\u{fffd}");
    }
}
