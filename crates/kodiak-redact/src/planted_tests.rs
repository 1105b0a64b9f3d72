//! Plants secrets of every kind in texts as agents see them, and counts what is left.

use std::collections::BTreeMap;

use tiny_secrets::{Random, harmless, kinds, looked_at, planted};

use super::redact;

/// The number of texts of each kind.
const TEXTS: usize = 40;

/// Returns how many texts there are of some kinds, and which still have their secret.
fn left(kinds: &[&'static str]) -> (usize, BTreeMap<&'static str, Vec<String>>) {
    let mut left: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for kind in kinds {
        let mut random = Random::new(7);
        for _ in 0..TEXTS {
            let planted = planted(kind, &mut random);
            let redacted = redact(&planted.text);
            assert_eq!(redact(&redacted), redacted, "{}", planted.text);
            let mut secrets = planted.secrets.iter();
            if secrets.any(|secret| redacted.contains(secret.as_str())) {
                left.entry(kind).or_default().push(planted.text.clone());
            }
        }
    }
    (TEXTS * kinds.len(), left)
}

#[test]
fn planted_secrets_are_gone() {
    let looked_at = looked_at();
    let others: Vec<&str> = kinds()
        .into_iter()
        .filter(|kind| !looked_at.contains(kind))
        .collect();
    assert!(looked_at.len() >= 30 && others.len() >= 30);
    for half in [looked_at, others] {
        let (all, left) = left(&half);
        let count: usize = left.values().map(Vec::len).sum();
        assert!(
            count * 100 <= all * 2,
            "{count} of {all} are left: {left:#?}"
        );
        // No kind is left as a whole because the others are gone.
        let most = left.values().map(Vec::len).max().unwrap_or(0);
        assert!(most * 10 <= TEXTS, "{left:#?}");
    }
}

#[test]
fn harmless_texts_stay() {
    let mut random = Random::new(11);
    let texts: Vec<String> = (0..3000).map(|_| harmless(&mut random)).collect();
    let touched: Vec<_> = texts.iter().filter(|text| redact(text) != **text).collect();
    assert!(touched.len() * 1000 <= texts.len() * 3, "{touched:#?}");
}

#[test]
fn what_surrounds_a_secret_stays() {
    for kind in kinds() {
        let mut random = Random::new(77);
        for _ in 0..10 {
            let planted = planted(kind, &mut random);
            let (text, redacted) = (planted.text.as_str(), redact(&planted.text));
            let first = text.split_whitespace().next().unwrap_or_default();
            let start = text.find(&planted.secrets[0]).expect("it was planted");
            // The first line of a key goes with it, and so do all cookies of a line.
            if first.len() < start && !kind.starts_with("private-key") && kind != "cookie" {
                assert!(
                    redacted.trim_start().starts_with(first),
                    "{text} => {redacted}"
                );
            }
            let last = planted.secrets.last().expect("there is one");
            let end = text.rfind(last.as_str()).expect("it was planted") + last.len();
            let after = text[end..].split_whitespace().last().unwrap_or_default();
            let goes_along = kind.ends_with("putty") || kind == "cookie";
            if after.chars().all(char::is_alphanumeric) && !goes_along {
                assert!(redacted.ends_with(after), "{text} => {redacted}");
            }
        }
    }
}

#[test]
fn the_example_notes_have_no_secrets() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/notes");
    let mut folders = vec![folder];
    let mut lines = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a note");
            for line in text.lines() {
                assert_eq!(redact(line), line, "{}", path.display());
                lines += 1;
            }
        }
    }
    assert!(lines > 300);
}
