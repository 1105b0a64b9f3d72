//! From a session node to a document.
//!
//! The body is exactly the text that is embedded. Decisions, lessons and quirks are also
//! fields, each part a separate list in the same order, so that they can be filtered by and
//! read back.

use std::path::Path;

use serde_json::Value;

use super::KIND;
use super::name::FileName;
use super::node::{Decision, Lesson, Node, Quirk};
use kodiak::project;
use kodiak_text::document::{Document, Markup, Timestamp};
use kodiak_text::markup::tags::Tags;

/// The longest title in characters. Most summaries are longer.
const TITLE: usize = 100;

/// The names of the fields that hold the parts of decisions, lessons and quirks. The field
/// with the lesson.
pub(crate) const LESSON: &str = "lesson";
/// The field with the observation about a model.
pub(crate) const QUIRK: &str = "quirk";
const DECISION: [&str; 2] = ["decision", "decision.why"];
const LESSONS: [&str; 4] = [
    LESSON,
    "lesson.level",
    "lesson.confidence",
    "lesson.actionable",
];
const QUIRKS: [&str; 3] = [QUIRK, "quirk.model", "quirk.frequency"];

/// Turns a node into a document. `home` replaces a leading `~`; `modified` is used where
/// the node does not say when the session was.
pub(super) fn of(
    source: &str,
    key: &str,
    node: &Node,
    home: Option<&Path>,
    modified: Timestamp,
) -> Document {
    let mut tags = Tags::default();
    for tag in &node.tags {
        tags.add(tag);
    }
    let mut problems = node.problems.clone();
    if let (Some(said), Some(name)) = (node.version, FileName::of(key))
        && said != name.version
    {
        let expected = name.version;
        problems.push(format!(
            "version is {said}, but the name of the file says {expected}"
        ));
    }
    let project = node
        .project
        .as_deref()
        .map(|written| located(written, home));
    let mut fields = node.rest.clone();
    let mut set = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    set("type", Value::from(node.kind.clone()));
    if let Some(outcome) = &node.outcome {
        set("outcome", Value::from(outcome.clone()));
    }
    if let Some(project) = &project {
        set("project", Value::from(project.clone()));
    }
    if let Some(session) = node.session() {
        set("session", Value::from(session));
    }
    set("file", Value::from(key));
    let lists = [
        (DECISION[0], list(&node.decisions, |it| &it.what)),
        (DECISION[1], list(&node.decisions, |it| &it.why)),
        (LESSONS[0], list(&node.lessons, |it| &it.summary)),
        (LESSONS[1], list(&node.lessons, |it| &it.level)),
        (LESSONS[2], list(&node.lessons, |it| &it.confidence)),
        (LESSONS[3], list(&node.lessons, |it| &it.actionable)),
        (QUIRKS[0], list(&node.quirks, |it| &it.observation)),
        (QUIRKS[1], list(&node.quirks, |it| &it.model)),
        (QUIRKS[2], list(&node.quirks, |it| &it.frequency)),
    ];
    for (name, values) in lists {
        set(name, values);
    }
    let at = node.timestamp.or(node.analyzed_at);
    Document {
        source: source.to_owned(),
        key: node.id.clone(),
        kind: KIND.to_owned(),
        title: title(&node.summary),
        body: node.text(),
        markup: Markup::Verbatim,
        category: Some(node.kind.clone()),
        tags: tags.into_list(),
        created_at: node.timestamp,
        // Not when the file was written: a copy of the tree means the same.
        updated_at: at.unwrap_or(modified),
        fields,
        project,
        problem: (!problems.is_empty()).then(|| problems.join("; ")),
        ..Document::default()
    }
}

/// Reads decisions, lessons and quirks back from the stored fields of a document.
pub fn parts_of(fields: &[(String, String)]) -> (Vec<Decision>, Vec<Lesson>, Vec<Quirk>) {
    let values = |name: &str| -> Vec<String> {
        let named = fields.iter().filter(|(field, _)| field == name);
        named.map(|(_, value)| value.clone()).collect()
    };
    let at = |list: &[String], index: usize| list.get(index).cloned().unwrap_or_default();
    let [what, why] = DECISION.map(values);
    let decisions = what.into_iter().enumerate().map(|(index, what)| Decision {
        what,
        why: at(&why, index),
    });
    let [summary, level, confidence, actionable] = LESSONS.map(values);
    let lessons = summary
        .into_iter()
        .enumerate()
        .map(|(index, summary)| Lesson {
            summary,
            level: at(&level, index),
            confidence: at(&confidence, index),
            actionable: at(&actionable, index),
        });
    let [observation, model, frequency] = QUIRKS.map(values);
    let quirks = observation
        .into_iter()
        .enumerate()
        .map(|(index, observation)| Quirk {
            observation,
            model: at(&model, index),
            frequency: at(&frequency, index),
        });
    (decisions.collect(), lessons.collect(), quirks.collect())
}

fn list<T>(items: &[T], part: impl Fn(&T) -> &String) -> Value {
    items
        .iter()
        .map(|item| Value::from(part(item).clone()))
        .collect()
}

/// Returns the project that a node names: the project of a path, or the name as it is.
fn located(written: &str, home: Option<&Path>) -> String {
    let path = project::expanded(written, home);
    if path.is_absolute() {
        return project::of(&path);
    }
    written.to_owned()
}

/// Returns the beginning of a summary as a title: its first line, up to the end of a
/// word.
fn title(summary: &str) -> String {
    let line = summary.lines().map(str::trim).find(|line| !line.is_empty());
    let line = line.unwrap_or(summary);
    let Some((cut, _)) = line.char_indices().nth(TITLE) else {
        return line.to_owned();
    };
    let beginning = &line[..cut];
    let end = beginning.rfind(char::is_whitespace).unwrap_or(cut);
    format!(
        "{}…",
        beginning[..end].trim_end_matches([' ', ',', ';', ':'])
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_the_beginning_of_the_summary() {
        assert_eq!(title("Short."), "Short.");
        assert_eq!(title("One\ntwo"), "One");
        let long = title(&"words, ".repeat(40));
        assert!(
            long.ends_with("words…") && long.chars().count() <= TITLE,
            "{long}"
        );
        let unbroken = title(&"ü".repeat(300));
        assert_eq!(unbroken.chars().count(), TITLE + 1);
    }

    #[test]
    fn a_project_is_a_place_or_a_name() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        std::fs::create_dir_all(home.join("src/api/.git")).unwrap();
        std::fs::write(home.join("src/api/.git/HEAD"), "ref: x").unwrap();
        std::fs::create_dir_all(home.join("src/api/deep")).unwrap();
        let root = home.join("src/api").to_string_lossy().into_owned();
        assert_eq!(located("~/src/api", Some(&home)), root);
        assert_eq!(located("~/src/api/deep", Some(&home)), root);
        assert_eq!(located(&root, None), root);
        assert_eq!(located("~/src/api", None), "~/src/api");
        assert_eq!(located("api", Some(&home)), "api");
        assert_eq!(located("/none/of/these", None), "/none/of/these");
    }
}
