//! A session node: the result of analysing a part of a session.
//!
//! This module reads the JSON and knows which fields are required. Everything else
//! is read as far as it can be, and whatever it does not know is kept.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

use crate::records::name;
use kodiak_text::date;
use kodiak_text::document::Timestamp;

/// The levels of lessons in the order in which analyses write them.
const LEVELS: [&str; 7] = [
    "project", "task", "user", "model", "tool", "skill", "subagent",
];

/// A session node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    /// Its id, which is the same in all versions.
    pub id: String,
    /// Its version, if it says so.
    pub version: Option<u64>,
    /// The type of the session, such as `coding`.
    pub kind: String,
    /// A summary of the events.
    pub summary: String,
    /// How it ended, such as `success`.
    pub outcome: Option<String>,
    /// The project as written: a path, or a name.
    pub project: Option<String>,
    /// When the session was.
    pub timestamp: Option<Timestamp>,
    /// When it was analysed.
    pub analyzed_at: Option<Timestamp>,
    /// What was decided.
    pub decisions: Vec<Decision>,
    /// The lessons of all levels, in the order of the file.
    pub lessons: Vec<Lesson>,
    /// Observations about models.
    pub quirks: Vec<Quirk>,
    /// Its tags, followed by its topics.
    pub tags: Vec<String>,
    /// Everything else, as written.
    pub rest: Map<String, Value>,
    /// Faults that do not keep the node from being used.
    pub problems: Vec<String>,
}

/// A decision.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Decision {
    /// What was decided.
    pub what: String,
    /// The reason; empty if none was given.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// A lesson.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Lesson {
    /// What was learned.
    pub summary: String,
    /// Its level, such as `project` or `tool`.
    pub level: String,
    /// How certain it is; empty if nothing is said about that.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub confidence: String,
    /// The action to take; empty if none is given.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub actionable: String,
}

/// Something that was noticed about a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Quirk {
    /// The observation.
    pub observation: String,
    /// The model; empty if none was named.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// How often it happens; empty if nothing is said about that.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub frequency: String,
}

impl Node {
    /// Reads a node. The error names the field that is missing or wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        // Some editors begin a file with a byte order mark.
        let text = text.trim_start_matches('\u{feff}');
        let value: Value =
            serde_json::from_str(text).map_err(|error| format!("not valid JSON: {error}"))?;
        let Value::Object(object) = value else {
            return Err("not a JSON object".to_owned());
        };
        let mut reader = Reader {
            object,
            problems: Vec::new(),
        };
        let id = reader.required(&["id"])?;
        name::check_id(&id).map_err(|detail| format!("id '{}': {detail}", id.escape_debug()))?;
        let kind = reader.required(&["classification", "type"])?;
        let summary = reader.required(&["content", "summary"])?;
        let version = reader.version();
        let outcome = reader.text(&["content", "outcome"]);
        let project = reader.text(&["classification", "project"]);
        let timestamp = reader.date(&["metadata", "timestamp"]);
        let analyzed_at = reader.date(&["metadata", "analyzedAt"]);
        let mut tags = reader.texts(&["semantic", "tags"]);
        tags.extend(reader.texts(&["semantic", "topics"]));
        Ok(Self {
            decisions: reader.decisions(),
            lessons: reader.lessons(&order_of_lessons(text)),
            quirks: reader.quirks(),
            id,
            version,
            kind,
            summary,
            outcome,
            project,
            timestamp,
            analyzed_at,
            tags,
            rest: reader.object,
            problems: reader.problems,
        })
    }

    /// Returns the id of the agent's session that the node is about, if it says so.
    pub fn session(&self) -> Option<&str> {
        self.rest.get("source")?.get("sessionId")?.as_str()
    }

    /// Returns the text that is embedded for the node: its type and summary, its
    /// decisions and its lessons.
    pub fn text(&self) -> String {
        let mut text = format!("[{}] {}", self.kind, self.summary);
        if !self.decisions.is_empty() {
            text.push_str("\n\nDecisions:");
            for Decision { what, why } in &self.decisions {
                text.push_str(&format!("\n- {what}"));
                if !why.is_empty() {
                    text.push_str(&format!(" (why: {why})"));
                }
            }
        }
        if !self.lessons.is_empty() {
            text.push_str("\n\nLessons:");
            for lesson in &self.lessons {
                text.push_str(&format!("\n- {}", lesson.summary));
            }
        }
        text
    }
}

/// Takes typed values out of a node.
struct Reader {
    object: Map<String, Value>,
    problems: Vec<String>,
}

impl Reader {
    /// Removes the value at a path. Objects that become empty are removed too.
    fn take(&mut self, path: &[&str]) -> Option<Value> {
        fn take(object: &mut Map<String, Value>, path: &[&str]) -> Option<Value> {
            match path {
                [] => None,
                [last] => object.remove(*last),
                [first, rest @ ..] => {
                    let inner = object.get_mut(*first)?.as_object_mut()?;
                    let taken = take(inner, rest);
                    if taken.is_some() && inner.is_empty() {
                        object.remove(*first);
                    }
                    taken
                }
            }
        }
        take(&mut self.object, path).filter(|value| !value.is_null())
    }

    /// Puts a value back that could not be read, so that nothing is lost.
    fn put_back(&mut self, path: &[&str], value: Value, problem: String) {
        self.problems.push(problem);
        if let [outer, inner] = path {
            let outer = self.object.entry(*outer);
            if let Value::Object(fields) = outer.or_insert_with(|| Value::Object(Map::new())) {
                fields.insert((*inner).to_owned(), value);
            }
        } else if let [name] = path {
            self.object.insert((*name).to_owned(), value);
        }
    }

    fn required(&mut self, path: &[&str]) -> Result<String, String> {
        let name = path.join(".");
        match self.take(path) {
            None => Err(format!("{name} is missing")),
            Some(Value::String(text)) if text.trim().is_empty() => Err(format!("{name} is empty")),
            Some(Value::String(text)) => Ok(text.trim().to_owned()),
            Some(_) => Err(format!("{name} is not a text")),
        }
    }

    fn text(&mut self, path: &[&str]) -> Option<String> {
        match self.take(path)? {
            Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
            other => {
                self.put_back(path, other, format!("{} is not a text", path.join(".")));
                None
            }
        }
    }

    fn version(&mut self) -> Option<u64> {
        let value = self.take(&["version"])?;
        let version = value.as_u64();
        if version.is_none() {
            let problem = "version is not a whole number".to_owned();
            self.put_back(&["version"], value, problem);
        }
        version
    }

    fn date(&mut self, path: &[&str]) -> Option<Timestamp> {
        let value = self.take(path)?;
        let read = match &value {
            Value::String(text) => date::parse(text),
            // Some programs count in milliseconds.
            Value::Number(number) => number.as_i64().map(|number| match number {
                100_000_000_000.. => number / 1000,
                seconds => seconds,
            }),
            _ => None,
        };
        if read.is_none() {
            let problem = format!("{} {value} is not a date", path.join("."));
            self.put_back(path, value, problem);
        }
        read
    }

    /// Takes a list. Another value counts as no list, with a problem.
    fn list(&mut self, path: &[&str]) -> Vec<Value> {
        match self.take(path) {
            None => Vec::new(),
            Some(Value::Array(items)) => items,
            Some(other) => {
                self.put_back(path, other, format!("{} is not a list", path.join(".")));
                Vec::new()
            }
        }
    }

    fn texts(&mut self, path: &[&str]) -> Vec<String> {
        let items = self.list(path);
        let texts = items.iter().filter_map(|item| match item {
            Value::String(text) => Some(text.trim().to_owned()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        });
        texts.filter(|text| !text.is_empty()).collect()
    }

    fn decisions(&mut self) -> Vec<Decision> {
        let items = self.list(&["content", "keyDecisions"]);
        let decision = |item: &Value| {
            Some(Decision {
                what: said(item, "what")?,
                why: part(item, "why"),
            })
        };
        let decisions: Vec<Decision> = items.iter().filter_map(decision).collect();
        self.report_lost("content.keyDecisions", "what", items.len(), decisions.len());
        decisions
    }

    fn quirks(&mut self) -> Vec<Quirk> {
        let items = self.list(&["observations", "modelQuirks"]);
        let quirk = |item: &Value| {
            Some(Quirk {
                observation: said(item, "observation")?,
                model: part(item, "model"),
                frequency: part(item, "frequency"),
            })
        };
        let quirks: Vec<Quirk> = items.iter().filter_map(quirk).collect();
        self.report_lost(
            "observations.modelQuirks",
            "observation",
            items.len(),
            quirks.len(),
        );
        quirks
    }

    fn lessons(&mut self, order: &[String]) -> Vec<Lesson> {
        let levels = match self.take(&["lessons"]) {
            None => return Vec::new(),
            Some(Value::Object(levels)) => levels,
            Some(other) => {
                let problem = "lessons is not an object".to_owned();
                self.put_back(&["lessons"], other, problem);
                return Vec::new();
            }
        };
        let mut lessons = Vec::new();
        for level in order {
            let path = format!("lessons.{level}");
            let items = match levels.get(level) {
                None | Some(Value::Null) => continue,
                Some(Value::Array(items)) => items,
                Some(_) => {
                    self.problems.push(format!("{path} is not a list"));
                    continue;
                }
            };
            let lesson = |item: &Value| {
                Some(Lesson {
                    summary: said(item, "summary")?,
                    level: level.clone(),
                    confidence: part(item, "confidence"),
                    actionable: part(item, "actionable"),
                })
            };
            let before = lessons.len();
            lessons.extend(items.iter().filter_map(lesson));
            self.report_lost(&path, "summary", items.len(), lessons.len() - before);
        }
        lessons
    }

    fn report_lost(&mut self, path: &str, field: &str, found: usize, read: usize) {
        if read < found {
            let lost = found - read;
            self.problems
                .push(format!("{path}: {lost} without {field}"));
        }
    }
}

/// Returns the text of an item of a list: the field of an object, or the item itself if it
/// is a text.
fn said(item: &Value, field: &str) -> Option<String> {
    let text = match item {
        Value::String(text) => text,
        other => other.get(field)?.as_str()?,
    };
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn part(item: &Value, field: &str) -> String {
    let text = item.get(field).and_then(Value::as_str);
    text.unwrap_or_default().trim().to_owned()
}

/// Returns the levels of the lessons in the order of the file, which a JSON value
/// does not keep.
fn order_of_lessons(text: &str) -> Vec<String> {
    #[derive(serde::Deserialize)]
    struct Levels {
        lessons: Keys,
    }
    let found = serde_json::from_str::<Levels>(text);
    found.map_or_else(
        |_| LEVELS.map(str::to_owned).to_vec(),
        |levels| levels.lessons.0,
    )
}

/// The names of an object's fields in order, each once.
struct Keys(Vec<String>);

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Names;
        impl<'de> Visitor<'de> for Names {
            type Value = Keys;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keys, A::Error> {
                let mut names: Vec<String> = Vec::new();
                while let Some((name, IgnoredAny)) = map.next_entry::<String, IgnoredAny>()? {
                    if !names.contains(&name) {
                        names.push(name);
                    }
                }
                Ok(Keys(names))
            }
        }
        deserializer.deserialize_map(Names)
    }
}

#[cfg(test)]
#[path = "node_tests.rs"]
mod tests;
