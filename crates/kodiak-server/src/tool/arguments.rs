//! The arguments of a call, read as their tool's parameters say.
//!
//! Models write `"3"` for 3 and `"a"` for `["a"]`; both are taken. What has
//! another name or cannot be read is refused, so that no filter is silently
//! ignored.

use std::ops::Range;

use serde_json::{Map, Value};

use super::parameter::{Kind, Parameter};
use crate::failure::Refusal;

/// The longest text of an argument in bytes.
const LONGEST: usize = 100_000;
/// The longest text that is written, in bytes.
const LONGEST_PROSE: usize = 10_000_000;
/// The most texts of a list.
const MOST: usize = 1_000;

/// The arguments of one call.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    values: Map<String, Value>,
}

impl Arguments {
    /// Checks arguments against the parameters of a tool. Arguments that are
    /// `null` count as absent.
    pub fn check(
        given: Map<String, Value>,
        parameters: &'static [Parameter],
    ) -> Result<Self, Refusal> {
        let mut values = Map::new();
        for (name, value) in given {
            let Some(parameter) = parameters.iter().find(|one| one.name == name) else {
                return Err(unknown(&name, parameters));
            };
            if !value.is_null() {
                values.insert(name, read(parameter, value)?);
            }
        }
        let missing = |one: &&Parameter| one.required && !values.contains_key(one.name);
        if let Some(parameter) = parameters.iter().find(missing) {
            return Err(Refusal::new(
                format!("the argument '{}' is missing", parameter.name),
                parameter.description,
            ));
        }
        Ok(Self { values })
    }

    /// Reports whether the call has this argument.
    pub fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Returns a text, if the call has it.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name).and_then(Value::as_str)
    }

    /// Returns a list of texts, empty if the call has none.
    pub fn texts(&self, name: &str) -> Vec<String> {
        let values = self.values.get(name).and_then(Value::as_array);
        let texts = values.into_iter().flatten().filter_map(Value::as_str);
        texts.map(str::to_owned).collect()
    }

    /// Returns a number, if the call has it.
    pub fn number(&self, name: &str) -> Option<usize> {
        let number = self.values.get(name).and_then(Value::as_u64)?;
        usize::try_from(number).ok()
    }

    /// Reports whether the call has this flag and it is set.
    pub fn flag(&self, name: &str) -> bool {
        self.values.get(name).and_then(Value::as_bool) == Some(true)
    }

    /// Returns the names and texts of an object, empty if the call has none.
    pub fn fields(&self, name: &str) -> Vec<(String, String)> {
        let fields = self.values.get(name).and_then(Value::as_object);
        let pairs = fields.into_iter().flatten();
        pairs
            .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
            .collect()
    }
}

fn unknown(name: &str, parameters: &'static [Parameter]) -> Refusal {
    let known: Vec<&str> = parameters.iter().map(|parameter| parameter.name).collect();
    let near = known.iter().find(|known| {
        let allowed: Range<usize> = 1..3;
        allowed.contains(&strsim::damerau_levenshtein(name, known)) || known.contains(name)
    });
    let shown: String = name.chars().take(40).collect();
    let message = format!("there is no argument '{}'", shown.escape_debug());
    Refusal::new(
        message,
        match near {
            Some(near) => format!("did you mean '{near}'? The others: {}", known.join(", ")),
            None if known.is_empty() => "this tool takes none".to_owned(),
            None => format!("it takes {}", known.join(", ")),
        },
    )
}

/// Reads a value as a parameter takes it.
fn read(parameter: &Parameter, value: Value) -> Result<Value, Refusal> {
    let name = parameter.name;
    let wrong = |wanted: &str| {
        let message = format!("the argument '{name}' must be {wanted}");
        Refusal::new(message, parameter.description)
    };
    let bounded = |text: String| {
        let most = match parameter.kind {
            Kind::Prose => LONGEST_PROSE,
            _ => LONGEST,
        };
        if text.len() > most {
            return Err(wrong(&format!("at most {most} bytes long")));
        }
        Ok(text)
    };
    Ok(match (parameter.kind, value) {
        (Kind::Text | Kind::Prose, Value::String(text)) => bounded(text)?.into(),
        (Kind::Text | Kind::Prose, Value::Number(number)) => number.to_string().into(),
        (Kind::Text | Kind::Prose, _) => return Err(wrong("a text")),
        (Kind::Choice(words), Value::String(text)) => {
            let text = text.trim().to_lowercase();
            if !words.contains(&text.as_str()) {
                return Err(wrong(&format!("one of {}", words.join(", "))));
            }
            text.into()
        }
        (Kind::Choice(words), _) => return Err(wrong(&format!("one of {}", words.join(", ")))),
        (Kind::Texts, Value::String(text)) => Value::Array(vec![bounded(text)?.into()]),
        (Kind::Texts, Value::Array(items)) => {
            if items.len() > MOST {
                return Err(wrong(&format!("a list of at most {MOST}")));
            }
            let texts = items.into_iter().map(|item| match item {
                Value::String(text) => Ok(bounded(text)?.into()),
                Value::Number(number) => Ok(number.to_string().into()),
                _ => Err(wrong("a list of texts")),
            });
            Value::Array(texts.collect::<Result<_, Refusal>>()?)
        }
        (Kind::Texts, Value::Number(number)) => Value::Array(vec![number.to_string().into()]),
        (Kind::Texts, _) => return Err(wrong("a list of texts")),
        (Kind::Number(most), value) => {
            let number = match &value {
                Value::Number(number) => number.as_u64().or_else(|| whole(number.as_f64())),
                Value::String(text) => text.trim().parse().ok(),
                _ => None,
            };
            let number = number.filter(|number| (1..=most as u64).contains(number));
            number
                .ok_or_else(|| wrong(&format!("a whole number from 1 to {most}")))?
                .into()
        }
        (Kind::Flag, Value::Bool(flag)) => flag.into(),
        (Kind::Flag, Value::String(text)) if text == "true" || text == "false" => {
            (text == "true").into()
        }
        (Kind::Flag, _) => return Err(wrong("true or false")),
        (Kind::Fields, Value::Object(fields)) => {
            if fields.len() > MOST {
                return Err(wrong(&format!("an object of at most {MOST} fields")));
            }
            let pairs = fields.into_iter().map(|(name, value)| match value {
                Value::String(text) => Ok((name, bounded(text)?.into())),
                Value::Number(number) => Ok((name, number.to_string().into())),
                Value::Bool(flag) => Ok((name, flag.to_string().into())),
                _ => Err(wrong("an object of texts")),
            });
            Value::Object(pairs.collect::<Result<_, Refusal>>()?)
        }
        (Kind::Fields, _) => return Err(wrong("an object of texts")),
    })
}

/// Returns a number that has no fraction.
fn whole(number: Option<f64>) -> Option<u64> {
    let number = number.filter(|number| number.fract() == 0.0 && (0.0..1e15).contains(number))?;
    Some(number as u64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PARAMETERS: &[Parameter] = &[
        Parameter::new("query", Kind::Text, "What to look for").required(),
        Parameter::new("tags", Kind::Texts, ""),
        Parameter::new("limit", Kind::Number(100), ""),
        Parameter::new("mode", Kind::Choice(&["auto", "lexical"]), ""),
        Parameter::new("force", Kind::Flag, ""),
    ];

    fn check(value: Value) -> Result<Arguments, Refusal> {
        let Value::Object(given) = value else {
            unreachable!("tests pass objects")
        };
        Arguments::check(given, PARAMETERS)
    }

    #[test]
    fn what_models_write_is_taken() {
        let arguments = check(json!({
            "query": "bread", "tags": "food", "limit": "7", "mode": "Lexical", "force": "true",
        }))
        .unwrap();
        assert_eq!(arguments.text("query"), Some("bread"));
        assert_eq!(arguments.texts("tags"), ["food"]);
        assert_eq!(arguments.number("limit"), Some(7));
        assert_eq!(arguments.text("mode"), Some("lexical"));
        assert!(arguments.flag("force"));
        let none = check(json!({"query": "a", "tags": null, "limit": 3.0})).unwrap();
        assert!(!none.has("tags") && none.texts("tags").is_empty());
        assert_eq!(none.number("limit"), Some(3));
    }

    #[test]
    fn everything_else_is_refused_with_what_to_do() {
        for (given, message, step) in [
            (json!({}), "'query' is missing", "What to look for"),
            (
                json!({"query": "a", "tag": "b"}),
                "no argument 'tag'",
                "did you mean 'tags'",
            ),
            (
                json!({"query": "a", "zebra": 1}),
                "no argument 'zebra'",
                "it takes query, tags",
            ),
            (json!({"query": []}), "must be a text", ""),
            (json!({"query": "a", "limit": 0}), "from 1 to 100", ""),
            (json!({"query": "a", "limit": 1.5}), "from 1 to 100", ""),
            (
                json!({"query": "a", "mode": "fuzzy"}),
                "one of auto, lexical",
                "",
            ),
            (
                json!({"query": "a", "tags": vec!["x"; 1001]}),
                "at most 1000",
                "",
            ),
            (
                json!({"query": "a".repeat(100_001)}),
                "at most 100000 bytes",
                "",
            ),
        ] {
            let refused = check(given).unwrap_err();
            assert!(refused.message.contains(message), "{refused:?}");
            assert!(refused.step.contains(step), "{refused:?}");
        }
    }
}
