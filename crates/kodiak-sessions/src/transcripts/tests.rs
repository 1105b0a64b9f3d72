//! Each format, with everything that can go wrong in it, as a list of turns.

use std::fs;
use std::path::{Path, PathBuf};

use super::*;
use kodiak_text::date;

mod earlier;
mod editors;
mod kept;
mod terminals;

/// A folder with transcripts, and one for the copies.
struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("agent")).unwrap();
        Self { folder }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("agent")
    }

    fn keep(&self) -> PathBuf {
        self.folder.path().join("data/transcripts/mine")
    }

    fn write(&self, path: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    fn append(&self, path: &str, bytes: impl AsRef<[u8]>) {
        use std::io::Write;
        let mut file = fs::OpenOptions::new()
            .append(true)
            .open(self.root().join(path))
            .unwrap();
        file.write_all(bytes.as_ref()).unwrap();
    }

    fn options(&self) -> TranscriptOptions {
        TranscriptOptions {
            keep: Some(self.keep()),
            ..TranscriptOptions::default()
        }
    }

    fn source(&self, agent: Agent) -> TranscriptSource {
        let source = TranscriptSource::new("mine", agent, &self.root(), self.options()).unwrap();
        source.leave_out(&self.tombstones());
        source
    }

    fn tombstones(&self) -> Tombstones {
        Tombstones::at(self.folder.path().join("data/forgotten"))
    }

    fn documents(&self, agent: Agent) -> Vec<Document> {
        documents(&self.source(agent))
    }

    /// Returns role, time, project and text of every turn, session by session.
    fn turns(&self, agent: Agent) -> Vec<String> {
        self.documents(agent).iter().map(shown).collect()
    }
}

fn documents(source: &TranscriptSource) -> Vec<Document> {
    let mut entries = source.list().unwrap().entries;
    entries.sort_by(|one, other| one.key.cmp(&other.key));
    let mut documents = Vec::new();
    for entry in entries {
        let read = source
            .read(&entry, &mut |document| documents.push(document))
            .unwrap();
        assert!(matches!(read, Reading::Read { .. }), "{entry:?}: {read:?}");
    }
    documents
}

fn shown(document: &Document) -> String {
    let at = document.created_at.map_or("-".to_owned(), date::format);
    let at = at
        .trim_start_matches("2026-08-22T")
        .trim_end_matches('Z')
        .to_owned();
    let role = document.author.as_deref().unwrap_or("-");
    let project = document.project.as_deref().unwrap_or("-");
    format!(
        "{role} {at} {project}: {}",
        document.body.replace('\n', " | ")
    )
}

fn field<'a>(document: &'a Document, name: &str) -> &'a str {
    document
        .fields
        .get(name)
        .and_then(serde_json::Value::as_str)
        .unwrap_or_default()
}

fn all_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    files
}
