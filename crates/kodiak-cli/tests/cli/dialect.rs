//! The words that Kodiak is described with.
//!
//! `CONTRIBUTING.md` has a table of words that are not used any more, each with
//! the one that is. Documents and help are held to it, and to the names that
//! `eval --try` knows.

use std::fs;
use std::path::{Path, PathBuf};

use crate::desk::Desk;

/// The head of the table in `CONTRIBUTING.md`.
const HEAD: &str = "| not this | this |";

/// A retired word or phrase, and what to write instead.
struct Retired {
    phrase: String,
    instead: String,
}

/// Reads the table and returns it with the text around it.
fn table(contributing: &str) -> Result<(Vec<Retired>, String), String> {
    let mut lines = contributing.lines();
    let mut around = String::new();
    loop {
        match lines.next() {
            Some(HEAD) => break,
            Some(line) => around.push_str(line),
            None => return Err(format!("there is no table `{HEAD}`")),
        }
        around.push('\n');
    }
    let mut retired = Vec::new();
    for line in lines.by_ref() {
        let cells: Vec<&str> = line.trim().split('|').map(str::trim).collect();
        let ["", phrases, instead, ""] = cells[..] else {
            break;
        };
        // The line below the head.
        if phrases.bytes().all(|byte| byte == b'-') {
            continue;
        }
        for phrase in phrases.split(',') {
            retired.push(Retired {
                phrase: phrase.trim().to_owned(),
                instead: instead.to_owned(),
            });
        }
    }
    for line in lines {
        around.push_str(line);
        around.push('\n');
    }
    if retired.is_empty() {
        return Err(format!("the table `{HEAD}` is empty"));
    }
    match retired.iter().find(|it| words(&it.phrase).is_empty()) {
        Some(it) => Err(format!("'{}' has no word in it", it.phrase)),
        None => Ok((retired, around)),
    }
}

/// The words of a text in lower case, with the numbers of their lines. A phrase
/// may go on in the next line.
fn words(text: &str) -> Vec<(usize, String)> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '\'' | '’');
    let lines = text.lines().zip(1..);
    let words = lines.flat_map(|(line, number)| {
        let words = line.split(move |c| !is_part(c));
        words.map(move |word| (number, word))
    });
    words
        .map(|(number, word)| {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric());
            (number, word.replace('’', "'").to_lowercase())
        })
        .filter(|(_, word)| !word.is_empty())
        .collect()
}

/// Returns a line for each retired word or phrase in a text.
fn offences(name: &str, text: &str, retired: &[Retired]) -> Vec<String> {
    let text = words(text);
    let mut found = Vec::new();
    for Retired { phrase, instead } in retired {
        let phrase_words = words(phrase);
        for window in text.windows(phrase_words.len()) {
            let pairs = window.iter().zip(&phrase_words);
            if pairs.clone().all(|((_, word), (_, wanted))| word == wanted) {
                let line = window[0].0;
                found.push(format!("{name}:{line}: not '{phrase}', but: {instead}"));
            }
        }
    }
    found
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(name: &str) -> String {
    let path = root().join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The documents for people, by name, `CONTRIBUTING.md` without its table.
fn documents() -> (Vec<Retired>, Vec<(String, String)>) {
    let (retired, around) = table(&read("CONTRIBUTING.md")).unwrap();
    let mut documents = vec![("CONTRIBUTING.md".to_owned(), around)];
    for name in ["README.md", "ARCHITECTURE.md", "CHANGELOG.md"] {
        documents.push((name.to_owned(), read(name)));
    }
    let before = documents.len();
    for entry in fs::read_dir(root().join("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if Path::new(&name).extension().is_some_and(|it| it == "md") {
            let name = format!("docs/{name}");
            documents.push((name.clone(), read(&name)));
        }
    }
    assert!(documents.len() > before, "docs/ has no document");
    (retired, documents)
}

/// The help of a command and of every command below it, by name.
fn help(desk: &Desk, command: &[&str], pages: &mut Vec<(String, String)>) {
    let text = desk.ok(&[command, &["--help"]].concat()).stdout;
    let listed = match command {
        [] => desk.ok(&["help", "--all"]).stdout,
        _ => text.clone(),
    };
    let commands = listed
        .lines()
        .skip_while(|line| *line != "Commands:")
        .take_while(|line| *line != "Options:")
        // A description that continues in the next line is indented further.
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help");
    for name in commands {
        help(desk, &[command, &[name]].concat(), pages);
    }
    let name = [&["kodiak"], command, &["--help"]].concat().join(" ");
    pages.push((name, text));
}

#[test]
fn documents_use_no_retired_word() {
    let (retired, documents) = documents();
    let offences: Vec<String> = documents
        .iter()
        .flat_map(|(name, text)| offences(name, text, &retired))
        .collect();
    assert!(offences.is_empty(), "{}", offences.join("\n"));
}

#[test]
fn help_uses_no_retired_word() {
    let (retired, _) = documents();
    let mut pages = Vec::new();
    help(&Desk::new(), &[], &mut pages);
    for name in ["search", "eval", "model install", "config show"] {
        let name = format!("kodiak {name} --help");
        assert!(pages.iter().any(|(page, _)| *page == name), "{name}");
    }
    let offences: Vec<String> = pages
        .iter()
        .flat_map(|(name, text)| offences(name, text, &retired))
        .collect();
    assert!(offences.is_empty(), "{}", offences.join("\n"));
}

#[test]
fn documents_try_only_what_can_be_tried() {
    let help = Desk::new().ok(&["eval", "--help"]).stdout;
    // The paragraph lists every name with its present value.
    let (_, names) = help.split_once("Parameters to try").unwrap();
    let known = |name: &str| {
        let mut pairs = names.split_whitespace().filter_map(|it| it.split_once('='));
        pairs.any(|(known, _)| known == name)
    };
    let (_, documents) = documents();
    let mut seen = 0;
    for (document, text) in documents {
        let tried = text.match_indices("--try ").filter_map(|(at, found)| {
            let rest = &text[at + found.len()..];
            let given = rest.split(|c: char| c.is_whitespace() || c == '`').next()?;
            given.contains('=').then_some(given)
        });
        let tried = tried.flat_map(|given| given.split(','));
        let tried = tried.filter_map(|pair| pair.split('=').next());
        // The rows of tables that begin with a name and its value, as in
        // "| `k1` (1.2) |".
        let rows = text.lines().filter_map(|line| line.strip_prefix("| `"));
        let rows = rows.filter(|row| row.contains("` ("));
        let rows = rows.filter_map(|row| row.split('`').next());
        for name in tried.chain(rows) {
            assert!(known(name), "{document}: `eval --try` knows no '{name}'");
            seen += 1;
        }
    }
    assert!(seen > 0, "no document tries anything");
}

#[test]
fn a_table_that_is_missing_or_empty_is_an_error() {
    assert!(table("# Contributing\n").is_err());
    assert!(table(&format!("{HEAD}\n|---|---|\n\nText\n")).is_err());
    assert!(table(&format!("{HEAD}\n|---|---|\n| old, | new |\n")).is_err());
    let text = format!("above\n{HEAD}\n|---|---|\n| old, `older` | new |\n\n| a | b |\n");
    let (retired, around) = table(&text).unwrap();
    let phrases: Vec<&str> = retired.iter().map(|it| it.phrase.as_str()).collect();
    assert_eq!(phrases, ["old", "`older`"]);
    assert_eq!(around, "above\n| a | b |\n");
}

#[test]
fn whole_words_are_found_in_any_case_and_across_lines() {
    let text = format!("{HEAD}\n| shut out | excluded |\n| sift | prune |\n| kodiak's | ours |\n");
    let (retired, _) = table(&text).unwrap();
    let found = |text: &str| offences("text", text, &retired);
    assert_eq!(
        found("one\n```\n`Sift`\n```\n> Shut\nout Kodiak’s"),
        [
            "text:5: not 'shut out', but: excluded",
            "text:3: not 'sift', but: prune",
            "text:6: not 'kodiak's', but: ours",
        ]
    );
    assert_eq!(found("shut the outer sifter of Kodiak"), [""; 0]);
}
