use std::fs;

use kodiak::source::Source;

use super::*;

/// Two conversations about the same matters, with a copy, an aside and a title.
const CORPUS: [(&str, &str, &str, &str); 12] = [
    (
        "a/1",
        "a",
        "",
        "Ana: I adopted a grey cat named Pebble last week.",
    ),
    (
        "a/2",
        "a",
        "",
        "Ben: Lovely! Does Pebble get along with your dog?",
    ),
    ("a/3", "a", "", "Ana: They sleep in one basket by now."),
    (
        "a/4",
        "a",
        "",
        "Ben: My sister started to paint landscapes in March.",
    ),
    ("a/5", "a", "", "Ana: What does she paint?"),
    (
        "a/6",
        "a",
        "",
        "Ben: Mostly lakes and mountains, with old boats.",
    ),
    (
        "b/1",
        "b",
        "",
        "Cem: I adopted a black cat named Soot yesterday.",
    ),
    ("b/2", "b", "", "Dora: Congratulations! A cat at last."),
    (
        "b/3",
        "b",
        "",
        "Cem: I adopted a black cat named Soot yesterday.",
    ),
    (
        "b/4",
        "b",
        "",
        "Dora: I paint portraits of cats, by the way.",
    ),
    (
        "b/5",
        "b",
        "Boats",
        "Cem: The old boats on the lake are for sale.",
    ),
    ("b/6", "b", "", "Dora: How much are the boats?"),
];

const QUERIES: [(&str, &str, &str); 5] = [
    ("a", "Who adopted a cat?", "a/1"),
    ("a", "What does the sister paint?", "a/6"),
    ("b", "What is the name of the cat?", "b/1"),
    ("b", "boats for sale", "b/5"),
    ("b", "portraits", "b/4"),
];

fn write_set(folder: &Path, grouped: bool) {
    let corpus = CORPUS.iter().enumerate();
    let corpus: Vec<String> = corpus
        .map(|(number, (id, group, title, text))| {
            let date = format!("2026-01-{:02}", number / 3 + 1);
            json!({"_id": id, "group": group, "title": title, "text": text, "date": date})
                .to_string()
        })
        .collect();
    let (mut queries, mut judged) = (Vec::new(), Vec::new());
    for (number, (group, text, relevant)) in QUERIES.iter().enumerate() {
        let id = format!("q{number}");
        judged.push(format!("{id}\t{relevant}\t1"));
        queries.push(if grouped {
            json!({"_id": id, "text": text, "group": group}).to_string()
        } else {
            json!({"_id": id, "text": text}).to_string()
        });
    }
    fs::write(folder.join("corpus.jsonl"), corpus.join("\n")).unwrap();
    fs::write(folder.join("queries.jsonl"), queries.join("\n")).unwrap();
    fs::write(folder.join("qrels.tsv"), judged.join("\n")).unwrap();
}

#[test]
fn recalling_inside_a_project_finds_what_an_evaluation_finds() {
    let place = tempfile::tempdir().unwrap();
    write_set(place.path(), true);
    let scratch = tempfile::tempdir().unwrap();
    let rows = compare_recall(place.path(), scratch.path(), None).unwrap();
    let [judged, usual] = &rows[..] else {
        panic!("{rows:?}");
    };
    assert_eq!((judged.asked, usual.asked), (Asked::Judged, Asked::Usual));
    assert_eq!(judged.different, Vec::<String>::new(), "{judged:?}");
    // The two memories of one text are one hit; the turns are too short for that.
    assert_eq!(usual.different, ["q2"], "{usual:?}");
    for row in &rows {
        assert!(row.difference() < 1e-9, "{row:?}");
        assert_eq!(row.queries, 5);
        assert!(row.recalled.hit_at_1 >= 0.6, "{row:?}");
    }
}

#[test]
fn a_memory_says_what_its_document_says() {
    let document = Document {
        body: "Ana: It says \"---\": yes.\n".to_owned(),
        title: "A: title".to_owned(),
        created_at: date::parse("2026-01-02"),
        thread: Some(kodiak::Thread {
            name: "a \"b\"".to_owned(),
            position: None,
        }),
        ..Document::default()
    };
    let text = memory("memory-1", &document);
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("memory-1.md"), text).unwrap();
    let folder = MemoryFolder::new("memory", place.path(), MemoryOptions::default()).unwrap();
    let entry = folder.list().unwrap().entries.pop().unwrap();
    let mut found = Vec::new();
    folder
        .read(&entry, &mut |document| found.push(document))
        .unwrap();
    let read = found.pop().unwrap();
    assert_eq!(read.key, "memory-1");
    assert_eq!(read.body, document.body);
    assert_eq!(read.title, document.title);
    assert_eq!(read.created_at, document.created_at);
    assert_eq!(read.updated_at, document.updated_at);
    assert_eq!(read.project.as_deref(), Some("a \"b\""));
    assert_eq!(read.thread, document.thread);
    assert_eq!(read.author.as_deref(), Some("Ana"));
}

#[test]
fn a_set_without_groups_has_no_projects() {
    let place = tempfile::tempdir().unwrap();
    write_set(place.path(), false);
    let error = compare_recall(place.path(), place.path(), None).unwrap_err();
    assert!(error.to_string().contains("has a group"), "{error:#}");
}

#[test]
fn a_difference_is_the_largest_of_all_figures() {
    let row = RecallRow {
        asked: Asked::Usual,
        queries: 1,
        evaluated: RecallFigures {
            ndcg_at_10: 0.5,
            hit_at_1: 0.5,
            mrr: 0.5,
        },
        recalled: RecallFigures {
            ndcg_at_10: 0.5,
            hit_at_1: 0.6,
            mrr: 0.2,
        },
        different: Vec::new(),
    };
    assert!((row.difference() - 0.3).abs() < 1e-9);
}
