//! Dependencies between the crates point one way, and the library knows no kind of source.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Each crate with the crates of this workspace that it may use, as ARCHITECTURE.md says.
const WALLS: [(&str, &[&str]); 19] = [
    ("kodiak-base", &[]),
    ("kodiak-redact", &[]),
    ("kodiak-render", &[]),
    ("kodiak-text", &["kodiak-base"]),
    ("kodiak-rank", &["kodiak-base"]),
    (
        "kodiak-models",
        &["kodiak-base", "kodiak-rank", "onnx-writer"],
    ),
    (
        "kodiak-store",
        &["kodiak-base", "kodiak-models", "kodiak-rank", "kodiak-text"],
    ),
    (
        "kodiak-postgres",
        &[
            "kodiak-base",
            "kodiak-models",
            "kodiak-rank",
            "kodiak-store",
            "kodiak-text",
        ],
    ),
    (
        "kodiak",
        &[
            "kodiak-base",
            "kodiak-models",
            "kodiak-rank",
            "kodiak-store",
            "kodiak-text",
        ],
    ),
    (
        "kodiak-notes",
        &["kodiak", "kodiak-base", "kodiak-store", "kodiak-text"],
    ),
    (
        "kodiak-bear",
        &["kodiak", "kodiak-base", "kodiak-store", "kodiak-text"],
    ),
    (
        "kodiak-memory",
        &[
            "kodiak",
            "kodiak-base",
            "kodiak-notes",
            "kodiak-redact",
            "kodiak-store",
            "kodiak-text",
        ],
    ),
    (
        "kodiak-sessions",
        &[
            "kodiak",
            "kodiak-base",
            "kodiak-notes",
            "kodiak-rank",
            "kodiak-redact",
            "kodiak-store",
            "kodiak-text",
        ],
    ),
    ("kodiak-eval", &["kodiak", "kodiak-memory", "kodiak-notes"]),
    ("kodiak-hook", &["kodiak", "kodiak-memory"]),
    ("kodiak-picker", &["kodiak"]),
    (
        "kodiak-server",
        &[
            "kodiak",
            "kodiak-memory",
            "kodiak-notes",
            "kodiak-render",
            "kodiak-sessions",
        ],
    ),
    (
        "kodiak-team",
        &[
            "kodiak",
            "kodiak-base",
            "kodiak-memory",
            "kodiak-notes",
            "kodiak-postgres",
            "kodiak-server",
            "kodiak-store",
            "kodiak-text",
        ],
    ),
    (
        "kodiak-cli",
        &[
            "kodiak",
            "kodiak-bear",
            "kodiak-eval",
            "kodiak-hook",
            "kodiak-memory",
            "kodiak-notes",
            "kodiak-picker",
            "kodiak-postgres",
            "kodiak-server",
            "kodiak-sessions",
            "kodiak-team",
        ],
    ),
];

/// The features on top of the library, each with the other features that it builds on.
const FEATURES: [(&str, &[&str]); 4] = [
    ("kodiak-notes", &[]),
    ("kodiak-bear", &[]),
    // Both keep their files as folders of notes.
    ("kodiak-memory", &["kodiak-notes"]),
    ("kodiak-sessions", &["kodiak-notes"]),
];

/// The kinds of sources, as they would be named in code.
const KINDS: [&str; 7] = [
    "\"markdown\"",
    "\"pages\"",
    "\"bear\"",
    "\"memory\"",
    "\"article\"",
    "\"sessions\"",
    "\"transcripts\"",
];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns the dependencies of a crate, without those of its tests.
fn dependencies(name: &str) -> BTreeSet<String> {
    let manifest = fs::read_to_string(crates().join(name).join("Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    let mut tables = vec![manifest["dependencies"].as_table().unwrap()];
    if let Some(targets) = manifest.get("target") {
        let targets = targets.as_table().unwrap().values();
        tables.extend(targets.filter_map(|target| target.get("dependencies")?.as_table()));
    }
    tables
        .into_iter()
        .flat_map(|table| table.keys().cloned())
        .collect()
}

#[test]
fn dependencies_point_one_way() {
    let ours: BTreeSet<String> = fs::read_dir(crates())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for (name, allowed) in WALLS {
        let used = dependencies(name);
        let used: BTreeSet<&str> = used.intersection(&ours).map(String::as_str).collect();
        assert_eq!(used, allowed.iter().copied().collect(), "{name}");
    }
    // A crate of the library that is not listed has no walls.
    let listed = |name: &&String| WALLS.iter().any(|(listed, _)| listed == name);
    let unlisted = ours.iter().filter(|name| name.starts_with("kodiak"));
    let unlisted: Vec<&String> = unlisted.filter(|name| !listed(name)).collect();
    assert!(unlisted.is_empty(), "{unlisted:?}");
}

#[test]
fn features_know_the_library_and_not_each_other() {
    let is_feature = |name: &&str| FEATURES.iter().any(|(feature, _)| feature == name);
    for (name, _) in WALLS {
        let used = dependencies(name);
        let used: BTreeSet<&str> = used.iter().map(String::as_str).collect();
        let features: BTreeSet<&str> = used.iter().copied().filter(is_feature).collect();
        if let Some((_, others)) = FEATURES.iter().find(|(feature, _)| *feature == name) {
            assert_eq!(features, others.iter().copied().collect(), "{name}");
            assert!(used.contains("kodiak"), "{name}");
            continue;
        }
        // The program, the server, the hook, the team and the evaluation are made of features. The
        // picker knows the library alone.
        let surfaces = [
            "kodiak-cli",
            "kodiak-eval",
            "kodiak-hook",
            "kodiak-picker",
            "kodiak-server",
            "kodiak-team",
        ];
        let surface = surfaces.contains(&name);
        let may_use_features = surface && name != "kodiak-picker";
        assert!(
            may_use_features || features.is_empty(),
            "{name}: {features:?}"
        );
        assert_eq!(surface, used.contains("kodiak"), "{name}");
    }
}

#[test]
fn the_library_names_no_kind_of_source() {
    let mut folders = vec![crates().join("kodiak/src")];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let stem = path.file_stem().unwrap().to_str().unwrap();
            if path.extension().is_none_or(|ending| ending != "rs") || stem.ends_with("tests") {
                continue;
            }
            files += 1;
            let text = fs::read_to_string(&path).unwrap();
            let code = text
                .split("#[cfg(test)]\nmod tests")
                .next()
                .unwrap_or_default();
            let kind = KINDS.iter().find(|kind| code.contains(**kind));
            assert_eq!(kind, None, "{}", path.display());
        }
    }
    assert!(files > 80, "{files}");
}

#[test]
fn search_names_no_kind_of_source() {
    let folder = crates().join("kodiak/src/search");
    let kinds = ["bear", "transcripts", "sessions", "memory", "markdown"];
    let mut files = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        files += 1;
        let text = fs::read_to_string(&path).unwrap();
        // What is imported from the sources, also over several lines.
        let imported = text.split("source::").skip(1);
        for imported in imported.map(|rest| rest.split(';').next().unwrap_or_default()) {
            let mut words = imported.split(|c: char| !c.is_alphanumeric() && c != '_');
            let kind = words.find(|word| kinds.contains(word));
            assert_eq!(kind, None, "{}: {imported}", path.display());
        }
    }
    assert!(files > 20, "{files}");
}
