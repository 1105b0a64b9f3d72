//! Provides the texts to index and to take queries from: generated notes or those
//! of a folder.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use fastrand::Rng;

use crate::zipf::Generator;

/// The seed of the generator.
const SEED: u64 = 7;
/// The maximum number of texts that queries are taken from.
const SAMPLE: usize = 400;
/// The number of notes in one folder.
const PER_FOLDER: usize = 1_000;
/// The extensions of notes.
const NOTES: [&str; 3] = ["md", "markdown", "txt"];

/// The origin of the texts.
#[derive(Clone, Debug)]
pub(crate) enum Texts {
    /// This many generated notes.
    Generated(usize),
    /// A folder, which is only read.
    Folder(PathBuf),
}

/// Returns the generated notes in order, as titles and bodies.
pub(crate) fn generated(count: usize) -> impl Iterator<Item = (String, String)> {
    let mut generator = Generator::new(SEED);
    (0..count).map(move |number| generator.note(number))
}

/// Writes generated notes as markdown files.
pub(crate) fn write(folder: &Path, count: usize) -> Result<()> {
    for (number, (title, body)) in generated(count).enumerate() {
        let shelf = folder.join(format!("{:04}", number / PER_FOLDER));
        if number.is_multiple_of(PER_FOLDER) {
            std::fs::create_dir_all(&shelf)?;
        }
        let path = shelf.join(format!("{number:07}.md"));
        std::fs::write(&path, format!("# {title}\n\n{body}\n"))
            .with_context(|| format!("could not write {}", path.display()))?;
    }
    Ok(())
}

impl Texts {
    /// Returns a sample of the texts, the same in every run.
    pub(crate) fn sample(&self) -> Result<Vec<String>> {
        match self {
            Self::Generated(count) => {
                let mut generator = Generator::new(SEED);
                let mut random = Rng::with_seed(SEED);
                let texts = (0..SAMPLE).map(|_| generator.note(random.usize(..*count)).1);
                Ok(texts.collect())
            }
            Self::Folder(folder) => {
                let mut files = Vec::new();
                find_notes(folder, &mut files)?;
                files.sort();
                let step = files.len().div_ceil(SAMPLE).max(1);
                let texts = files.iter().step_by(step).filter_map(|file| {
                    // A file that cannot be read is left out.
                    std::fs::read_to_string(file).ok()
                });
                Ok(texts.collect())
            }
        }
    }
}

/// Returns the notes of a folder: the name and the text of each.
pub(crate) fn files(folder: &Path) -> Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    find_notes(folder, &mut files)?;
    files.sort();
    let read = |file: PathBuf| {
        let name = file.file_stem()?.to_string_lossy().into_owned();
        // A file that cannot be read is left out.
        Some((name, std::fs::read_to_string(file).ok()?))
    };
    Ok(files.into_iter().filter_map(read).collect())
}

fn find_notes(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("could not read {}", folder.display()))?;
    for entry in entries.flatten() {
        let (path, kind) = (entry.path(), entry.file_type()?);
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        if kind.is_dir() {
            find_notes(&path, files)?;
        } else if path
            .extension()
            .is_some_and(|extension| NOTES.iter().any(|&note| extension == note))
        {
            files.push(path);
        }
    }
    Ok(())
}
