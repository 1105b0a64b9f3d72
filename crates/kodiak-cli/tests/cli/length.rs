//! No file of code is too long to be read in one go.

use std::fs;
use std::path::{Path, PathBuf};

/// The number of lines that no file exceeds.
const MAX_LINES: usize = 600;

/// Collects the Rust files below a folder, without what a build left there.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let path = entry.path();
        if !entry.file_type().unwrap().is_dir() {
            files.extend(Some(path).filter(|it| it.extension().is_some_and(|it| it == "rs")));
        } else if entry.file_name() != "target" {
            collect(&path, files);
        }
    }
}

#[test]
fn no_file_is_too_long() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in ["crates", "bench"] {
        collect(&root.join(folder), &mut files);
    }
    assert!(
        files
            .iter()
            .any(|file| file.ends_with("tests/cli/length.rs"))
    );
    assert!(files.iter().any(|file| file.ends_with("bench/src/main.rs")));
    let mut long = Vec::new();
    for file in files {
        let lines = fs::read_to_string(&file).unwrap().lines().count();
        if lines > MAX_LINES {
            long.push(format!("{}: {lines} lines", file.display()));
        }
    }
    assert!(long.is_empty(), "{}", long.join("\n"));
}
