//! The parameters of tools, and the schemas that describe them: plain types, so
//! that every client's model takes them.

use serde_json::{Map, Value, json};

/// A parameter of a tool.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// What it is for; empty if its name says so.
    pub description: &'static str,
    /// Whether a call must have it.
    pub required: bool,
}

/// What a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A text.
    Text,
    /// A text that is written, which may be long.
    Prose,
    /// One of several words.
    Choice(&'static [&'static str]),
    /// A list of texts.
    Texts,
    /// A whole number of at least one and at most this.
    Number(usize),
    /// Yes or no.
    Flag,
    /// Names with texts.
    Fields,
}

impl Parameter {
    /// Makes a parameter that a call may leave out.
    pub const fn new(name: &'static str, kind: Kind, description: &'static str) -> Self {
        Self {
            name,
            kind,
            description,
            required: false,
        }
    }

    /// Makes it one that a call must have.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    fn schema(&self) -> Value {
        let mut schema = match self.kind {
            Kind::Text | Kind::Prose => json!({"type": "string"}),
            Kind::Choice(words) => json!({"type": "string", "enum": words}),
            Kind::Texts => json!({"type": "array", "items": {"type": "string"}}),
            Kind::Number(_) => json!({"type": "integer", "minimum": 1}),
            Kind::Flag => json!({"type": "boolean"}),
            Kind::Fields => {
                json!({"type": "object", "additionalProperties": {"type": "string"}})
            }
        };
        if !self.description.is_empty() {
            schema["description"] = self.description.into();
        }
        schema
    }
}

/// Returns the schema of an object with these parameters and no others.
pub fn schema(parameters: &[Parameter]) -> Map<String, Value> {
    let properties: Map<String, Value> = parameters
        .iter()
        .map(|parameter| (parameter.name.to_owned(), parameter.schema()))
        .collect();
    let required: Vec<&str> = parameters
        .iter()
        .filter(|parameter| parameter.required)
        .map(|parameter| parameter.name)
        .collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.into());
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    schema.insert("additionalProperties".to_owned(), false.into());
    schema
}
