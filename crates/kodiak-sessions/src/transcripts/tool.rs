//! Keeps a short form of the tool calls of an agent.
//!
//! Two thirds of a transcript are tool traffic. The line of a call names the action and its
//! object: the command, the path, the pattern. Of an output, the beginning and the lines
//! that tell of errors are kept. Secrets are replaced before anything is cut or put on one
//! line: part of a key does not look like one.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use kodiak_redact::{redact, redact_field};

/// The longest line of a call, value in it, and value that is only context.
const MAX_LINE_LENGTH: usize = 1000;
const MAX_VALUE_LENGTH: usize = 600;
const MAX_ASIDE_LENGTH: usize = 120;
/// The length of the beginning of an output.
const OUTPUT: usize = 240;
/// The number and length of error lines of one output, and how much of an output
/// is searched for them.
const ERRORS: usize = 12;
const MAX_ERROR_LENGTH: usize = 300;
const SEARCHED: usize = 256 * 1024;

/// The number of bytes searched for secrets beyond the kept part of a text: the length of a
/// private key.
pub(super) const AROUND: usize = 16 * 1024;

/// The names of values that describe a call, the most important first.
const TELLING: &[&str] = &[
    "command",
    "cmd",
    "script",
    "file_path",
    "filePath",
    "path",
    "paths",
    "notebook_path",
    "pattern",
    "glob",
    "query",
    "url",
    "description",
    "subject",
    "prompt",
    "skill",
    "old_string",
    "new_string",
];

/// The input of a tool: names and values, each cut to a bearable length.
#[derive(Debug, Default)]
pub(super) struct ToolInput(pub(super) Vec<(String, String)>);

/// Returns the beginning of a text, cut between characters.
pub(super) fn head(text: &str, length: usize) -> &str {
    &text[..text.floor_char_boundary(length)]
}

/// Returns the beginning of a text without its secrets, cut afterwards.
pub(super) fn clean_head(text: &str, length: usize) -> String {
    let clean = redact(head(text, length + AROUND));
    head(&clean, length).to_owned()
}

impl ToolInput {
    /// Makes an input of a command with its arguments. A shell that only runs a
    /// line is left out.
    pub(super) fn of_command(command: &[String]) -> Self {
        let shell = |name: &str| {
            let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
            matches!(
                name,
                "bash" | "sh" | "zsh" | "fish" | "pwsh" | "powershell" | "cmd"
            )
        };
        let line = match command {
            [program, flag, line] if shell(program) && flag.starts_with('-') => line.clone(),
            _ => command.join(" "),
        };
        Self(vec![(
            "command".to_owned(),
            clean_head(&line, MAX_VALUE_LENGTH),
        )])
    }

    /// Returns one line that describes the call.
    pub(super) fn line(&self, name: &str) -> String {
        let place = |key: &str| TELLING.iter().position(|known| *known == key);
        let mut values: Vec<&(String, String)> = self
            .0
            .iter()
            .filter(|(_, value)| !value.trim().is_empty())
            .collect();
        values.sort_by_key(|(key, _)| place(key).unwrap_or(usize::MAX));
        let mut line = name.to_owned();
        for (at, (key, value)) in values.iter().enumerate() {
            line.push_str(if at == 0 { ": " } else { "; " });
            match place(key) {
                Some(_) => push_flat(&mut line, value),
                None if key.is_empty() => push_flat(&mut line, value),
                None => {
                    line.push_str(key);
                    line.push('=');
                    push_flat(&mut line, head(value, MAX_ASIDE_LENGTH));
                }
            }
            if line.len() > MAX_LINE_LENGTH {
                break;
            }
        }
        line.truncate(line.floor_char_boundary(MAX_LINE_LENGTH));
        line
    }
}

/// Adds a text on one line.
fn push_flat(line: &mut String, text: &str) {
    for (at, word) in text.split_whitespace().enumerate() {
        if at > 0 {
            line.push(' ');
        }
        line.push_str(word);
    }
}

impl<'de> Deserialize<'de> for ToolInput {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = ToolInput;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("anything")
            }

            /// Some agents write JSON into a string.
            fn visit_str<E>(self, text: &str) -> Result<ToolInput, E> {
                if text.trim_start().starts_with('{')
                    && let Ok(input) = serde_json::from_str(text)
                {
                    return Ok(input);
                }
                let text = clean_head(text, MAX_VALUE_LENGTH);
                Ok(ToolInput(vec![(String::new(), text)]))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<ToolInput, A::Error> {
                let mut values = Vec::new();
                while let Some((key, Flat(value))) = fields.next_entry::<String, Flat>()? {
                    let value = match (key.as_str(), value) {
                        ("command" | "cmd", FlatValue::List(list)) => {
                            ToolInput::of_command(&list).0.remove(0).1
                        }
                        (_, FlatValue::List(list)) => list.join(" "),
                        (_, FlatValue::One(one)) => one,
                    };
                    let value = redact_field(&key, &value).into_owned();
                    values.push((key, value));
                }
                Ok(ToolInput(values))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<ToolInput, A::Error> {
                while items.next_element::<IgnoredAny>()?.is_some() {}
                Ok(ToolInput::default())
            }

            fn visit_unit<E>(self) -> Result<ToolInput, E> {
                Ok(ToolInput::default())
            }

            fn visit_bool<E>(self, _: bool) -> Result<ToolInput, E> {
                Ok(ToolInput::default())
            }

            fn visit_i64<E>(self, _: i64) -> Result<ToolInput, E> {
                Ok(ToolInput::default())
            }

            fn visit_u64<E>(self, _: u64) -> Result<ToolInput, E> {
                Ok(ToolInput::default())
            }

            fn visit_f64<E>(self, _: f64) -> Result<ToolInput, E> {
                Ok(ToolInput::default())
            }
        }
        deserializer.deserialize_any(Any)
    }
}

/// A value of an input as text.
struct Flat(FlatValue);

enum FlatValue {
    One(String),
    List(Vec<String>),
}

impl FlatValue {
    fn into_one(self) -> String {
        match self {
            Self::One(one) => one,
            Self::List(list) => list.join(" "),
        }
    }
}

impl<'de> Deserialize<'de> for Flat {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Flat;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("anything")
            }

            fn visit_str<E>(self, text: &str) -> Result<Flat, E> {
                Ok(Flat(FlatValue::One(clean_head(text, MAX_VALUE_LENGTH))))
            }

            fn visit_bool<E>(self, flag: bool) -> Result<Flat, E> {
                Ok(Flat(FlatValue::One(flag.to_string())))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Flat, E> {
                Ok(Flat(FlatValue::One(number.to_string())))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Flat, E> {
                Ok(Flat(FlatValue::One(number.to_string())))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Flat, E> {
                Ok(Flat(FlatValue::One(number.to_string())))
            }

            fn visit_unit<E>(self) -> Result<Flat, E> {
                Ok(Flat(FlatValue::One(String::new())))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Flat, A::Error> {
                let mut list = Vec::new();
                let mut length = 0;
                while let Some(Flat(item)) = items.next_element::<Flat>()? {
                    if length < MAX_VALUE_LENGTH {
                        let item = item.into_one();
                        length += item.len();
                        list.push(item);
                    }
                }
                Ok(Flat(FlatValue::List(list)))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Flat, A::Error> {
                let mut text = String::new();
                while let Some((name, Flat(value))) = fields.next_entry::<String, Flat>()? {
                    if text.len() < MAX_VALUE_LENGTH {
                        text.push_str(&redact_field(&name, &value.into_one()));
                        text.push(' ');
                    }
                }
                text.truncate(text.floor_char_boundary(MAX_VALUE_LENGTH));
                Ok(Flat(FlatValue::One(text.trim_end().to_owned())))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

/// The kept part of an output.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Output {
    /// Its beginning, on one line.
    pub(super) head: String,
    /// The lines that tell of errors.
    pub(super) errors: Vec<String>,
}

/// Chooses the kept part of an output, without its secrets.
pub(super) fn output(text: &str, failed: bool) -> Output {
    let text = head(text, SEARCHED).trim_start();
    // The beginning is read as a whole, because a key may have many lines. Further
    // down, only lines that tell of errors are kept, and none of those is part of one.
    let near = head(text, OUTPUT + AROUND);
    let near = match near.rfind('\n') {
        Some(end) if near.len() < text.len() => &near[..end],
        _ => near,
    };
    let clean = redact(near);
    let mut kept = Output::default();
    if !failed {
        push_flat(&mut kept.head, head(&clean, OUTPUT));
    }
    let first = clean.lines().map(|line| Cow::Borrowed(line.trim()));
    let others = text[near.len()..].lines().map(str::trim);
    let others = others.filter(|line| tells_of_error(line)).map(redact);
    let lines = first.chain(others).filter(|line| !line.is_empty());
    for (at, line) in lines.enumerate() {
        // The first lines of a failure say what failed, whatever their words.
        if tells_of_error(&line) || (failed && at < 3) {
            kept.errors.push(head(&line, MAX_ERROR_LENGTH).to_owned());
            if kept.errors.len() >= ERRORS {
                break;
            }
        }
    }
    kept
}

/// Reports whether a line of an output is about something that went wrong.
fn tells_of_error(line: &str) -> bool {
    const MARKS: &[&str] = &[
        "error:",
        "error[",
        "Error:",
        "ERROR",
        "panicked at",
        "Traceback",
        "Exception",
        "FAILED",
        "fatal:",
        "failed:",
        "Failed to",
        "failed to",
        "cannot ",
        "Cannot ",
        "not found",
        "No such file",
        "denied",
        "undefined reference",
        "Segmentation fault",
    ];
    line.len() < 4 * MAX_ERROR_LENGTH && MARKS.iter().any(|mark| line.contains(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(json: &str) -> String {
        let input: ToolInput = serde_json::from_str(json).unwrap();
        input.line("Tool")
    }

    #[test]
    fn a_call_says_what_was_done_to_what() {
        assert_eq!(
            line(r#"{"timeout":5,"description":"Run tests","command":"cargo  test\n--lib"}"#),
            "Tool: cargo test --lib; Run tests; timeout=5"
        );
        assert_eq!(line(r#"{"command":["bash","-lc","ls -l"]}"#), "Tool: ls -l");
        assert_eq!(
            line(r#""{\"cmd\":[\"git\",\"status\"]}""#),
            "Tool: git status"
        );
        assert_eq!(line(r#""*** Begin Patch""#), "Tool: *** Begin Patch");
        assert_eq!(line("{}"), "Tool");
        assert_eq!(line("[1]"), "Tool");
        assert_eq!(
            line(r#"{"edits":[{"path":"a.rs"},{"path":"b.rs"}]}"#),
            "Tool: edits=a.rs b.rs"
        );
    }

    #[test]
    fn long_inputs_are_cut_between_characters() {
        let json = format!("{{\"command\":\"{}\"}}", "ü".repeat(5000));
        assert!(line(&json).len() <= MAX_LINE_LENGTH);
    }

    #[test]
    fn errors_are_kept_and_outputs_cut() {
        let text = format!(
            "Compiling\n{}\nerror[E0308]: mismatched types\n",
            "ok\n".repeat(1000)
        );
        let kept = output(&text, false);
        assert_eq!(kept.errors, ["error[E0308]: mismatched types"]);
        assert!(kept.head.len() <= OUTPUT);
        let kept = output("boom\nat line 3\n", true);
        assert_eq!(kept.errors, ["boom", "at line 3"]);
        assert!(kept.head.is_empty());
    }

    /// A private key as a tool shows it, with what precedes each line.
    fn key(before: &str) -> (Vec<String>, String) {
        let body: Vec<String> = (0..24)
            .map(|line| format!("{line:02}qK7/{}Zx+3", "aB9dE5gH7jK".repeat(5)))
            .collect();
        let first = "-----BEGIN EC PRIVATE KEY-----".to_owned();
        let last = "-----END EC PRIVATE KEY-----".to_owned();
        let lines = std::iter::once(first)
            .chain(body.iter().cloned())
            .chain([last]);
        let text: Vec<String> = lines
            .enumerate()
            .map(|(at, line)| before.replace('N', &(at + 1).to_string()) + &line)
            .collect();
        (body, text.join("\n"))
    }

    #[test]
    fn keys_are_gone_before_a_value_is_cut() {
        for before in ["", "     N\u{2192}", "N: ", "N| ", "+", "-", "> ", "    "] {
            let (body, key) = key(before);
            let gone = |text: &str| {
                assert!(
                    text.contains("[redacted:private-key]"),
                    "{before:?}: {text}"
                );
                let left = body.iter().find(|line| text.contains(&line[..20]));
                assert_eq!(left, None, "{before:?}: {text}");
            };
            let escaped = serde_json::to_string(&key).unwrap();
            gone(&line(&format!("{{\"content\":{escaped}}}")));
            gone(&line(&format!(
                "{{\"edits\":[{{\"new_string\":{escaped}}}]}}"
            )));
            gone(&line(
                &serde_json::to_string(&format!("write {key}")).unwrap(),
            ));
            gone(&line(&format!(
                "{{\"command\":[\"bash\",\"-c\",{escaped}]}}"
            )));
            gone(&output(&key, false).head);
            gone(
                &output(&format!("error: it is\n{key}\nnot found"), true)
                    .errors
                    .join("\n"),
            );
        }
    }

    #[test]
    fn names_of_fields_say_what_their_values_are() {
        for json in [
            r#"{"password":"hunter2x"}"#,
            r#"{"env":{"DB_PASSWORD":"hunter2x"}}"#,
            r#"{"command":["mysql","-u","root","-phunter2x"]}"#,
            r#"{"env":[{"name":"a","password":"hunter2x"}]}"#,
        ] {
            let line = line(json);
            assert!(!line.contains("hunter2x"), "{line}");
        }
    }

    #[test]
    fn a_token_across_the_cut_is_gone() {
        let token = format!("ghp_{}", "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hI5");
        for length in 180..OUTPUT {
            let text = format!("{} {token} end", "w ".repeat(length / 2));
            let kept = output(&text, false).head;
            assert!(!kept.contains("ghp_aB"), "{kept}");
        }
        let far = format!(
            "{}\nerror: {} {token}",
            "ok\n".repeat(9000),
            "w ".repeat(140)
        );
        let kept = output(&far, false).errors;
        assert_eq!(kept.len(), 1);
        assert!(!kept[0].contains("ghp_aB"), "{kept:?}");
    }
}
