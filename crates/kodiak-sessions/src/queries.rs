//! Answered questions, kept in a separate file on this machine.
//!
//! Nothing is kept unless the owner of the index asked for it. Each question is
//! redacted before it is written. The file is replaced in one step, and only its
//! owner can read it.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::wording::Wording;
use kodiak_base::files;
use kodiak_base::{Error, Result};

/// The most questions that are kept. The oldest go first.
const MAX_QUESTIONS: usize = 1_000;
/// The longest question that is kept, in bytes.
const MAX_QUESTION_BYTES: usize = 500;
/// The lowest share of common words of a question that is suggested. It is set by judged
/// pairs (`judged/questions.tsv`), and a test holds it to that.
const ALIKE: f64 = 0.6;
/// The most questions that are suggested.
const SUGGESTED: usize = 3;

/// The file of remembered questions.
#[derive(Clone, Debug)]
pub struct QueryLog {
    path: PathBuf,
}

impl QueryLog {
    /// Creates a log in the file at `path`, which need not exist.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Remembers a question as the latest one.
    pub fn remember(&self, query: &str) -> Result<()> {
        let words: Vec<&str> = query.split_whitespace().collect();
        let query = kodiak_redact::redact(&words.join(" ")).into_owned();
        if query.is_empty() || query.len() > MAX_QUESTION_BYTES {
            return Ok(());
        }
        self.change(|queries| {
            if queries.last() == Some(&query) {
                return false;
            }
            queries.retain(|known| *known != query);
            queries.push(query);
            let surplus = queries.len().saturating_sub(MAX_QUESTIONS);
            queries.drain(..surplus);
            true
        })
    }

    /// Returns the remembered questions most like this one, without itself.
    pub fn suggestions(&self, query: &str) -> Result<Vec<String>> {
        let folded = query.to_lowercase();
        let wording = Wording::of(query);
        let mut near: Vec<(f64, String)> = self
            .read()?
            .into_iter()
            .filter(|known| known.to_lowercase() != folded)
            .map(|known| (likeness(&Wording::of(&known), &wording), known))
            .filter(|(alike, _)| *alike >= ALIKE)
            .collect();
        near.sort_by(|one, other| other.0.total_cmp(&one.0));
        Ok(near
            .into_iter()
            .map(|(_, known)| known)
            .take(SUGGESTED)
            .collect())
    }

    /// Forgets the questions that contain this text, whatever its case, or all of
    /// them. Returns how many that were.
    pub fn forget(&self, containing: Option<&str>) -> Result<usize> {
        let containing = containing.map(str::to_lowercase);
        let mut forgotten = 0;
        self.change(|queries| {
            let before = queries.len();
            queries.retain(|known| {
                let meant = |text: &String| known.to_lowercase().contains(text);
                containing.as_ref().is_some_and(|text| !meant(text))
            });
            forgotten = before - queries.len();
            forgotten > 0
        })?;
        Ok(forgotten)
    }

    /// Forgets all questions and removes the file, whatever it is.
    pub fn erase(&self) -> Result<()> {
        let folder = files::folder_of(&self.path);
        let Ok(turn) = File::open(folder) else {
            return Ok(());
        };
        // A process that has read them must not write them again.
        let _ = turn.lock();
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(Error::io("erase", &self.path)(error));
            }
            Err(_) => {}
            Ok(()) => files::sync_folder(folder),
        }
        Ok(())
    }

    /// Returns all questions, the oldest first.
    pub fn read(&self) -> Result<Vec<String>> {
        match files::read_text(&self.path, files::SMALL) {
            Ok(text) => Ok(text
                .lines()
                .filter(|line| !line.is_empty())
                .map(str::to_owned)
                .collect()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(Error::io("read", &self.path)(error)),
        }
    }

    /// Changes the questions with `change`, and writes them if it returns `true`. One
    /// process at a time does that.
    fn change(&self, change: impl FnOnce(&mut Vec<String>) -> bool) -> Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let failed = |error| Error::io("write", &self.path)(error);
        files::create_folder(folder).map_err(failed)?;
        let turn = File::open(folder).map_err(failed)?;
        // Where a folder cannot be locked, the last writer wins.
        let _ = turn.lock();
        let mut queries = self.read()?;
        if !change(&mut queries) {
            return Ok(());
        }
        let mut text = queries.join("\n");
        if !text.is_empty() {
            text.push('\n');
        }
        files::replace(&self.path, text.as_bytes()).map_err(failed)
    }
}

/// Returns the share of the informative words of the shorter question that the other has.
fn likeness(one: &Wording, other: &Wording) -> f64 {
    let (short, long) = if one.len() < other.len() {
        (one, other)
    } else {
        (other, one)
    };
    if short.len() == 0 {
        return 0.0;
    }
    short.shared_with(long) as f64 / short.len() as f64
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::judged;
    use super::*;

    #[test]
    fn the_threshold_is_the_one_that_judges_best() {
        let pairs = judged::read(include_str!("judged/questions.tsv")).into_iter();
        let alike: Vec<(bool, f64)> = pairs
            .map(|pair| {
                (
                    pair.same,
                    likeness(&Wording::of(pair.one), &Wording::of(pair.other)),
                )
            })
            .collect();
        // A suggestion too many costs as much as one that is missing.
        let best = judged::best(&alike, 1);
        assert!(best.contains(&ALIKE), "{ALIKE}, and the best are {best:?}");
        let wrong = judged::cost(&alike, ALIKE, 1);
        assert!(
            wrong <= 6,
            "{wrong} of {} are judged otherwise",
            alike.len()
        );
    }

    fn log() -> (tempfile::TempDir, QueryLog) {
        let folder = tempfile::tempdir().unwrap();
        let log = QueryLog::new(folder.path().join("brain-queries.txt"));
        (folder, log)
    }

    #[test]
    fn what_worked_is_suggested_and_forgotten() {
        let (_folder, log) = log();
        assert_eq!(log.suggestions("caching").unwrap(), [] as [&str; 0]);
        for query in [
            "what did we learn about caching",
            "rate  limiting\nin the api",
            "what did we learn about caching",
        ] {
            log.remember(query).unwrap();
        }
        assert_eq!(
            log.read().unwrap(),
            [
                "rate limiting in the api",
                "what did we learn about caching"
            ]
        );
        let found = log.suggestions("what did we lern about cachin").unwrap();
        assert_eq!(found, ["what did we learn about caching"]);
        assert!(log.suggestions("bread").unwrap().is_empty());
        assert_eq!(log.forget(Some("CACHING")).unwrap(), 1);
        assert_eq!(log.forget(None).unwrap(), 1);
        assert_eq!(log.forget(None).unwrap(), 0);
        assert!(log.read().unwrap().is_empty());
    }

    #[test]
    fn the_oldest_go_first_and_long_ones_are_not_kept() {
        let (_folder, log) = log();
        let many: Vec<String> = (0..MAX_QUESTIONS)
            .map(|number| format!("query {number}"))
            .collect();
        fs::write(log.path(), many.join("\n")).unwrap();
        log.remember("one more").unwrap();
        log.remember(&"x".repeat(MAX_QUESTION_BYTES + 1)).unwrap();
        let known = log.read().unwrap();
        assert_eq!(known.len(), MAX_QUESTIONS);
        assert_eq!(known[0], "query 1");
        assert_eq!(known[MAX_QUESTIONS - 1], "one more");
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_reads_it() {
        use std::os::unix::fs::PermissionsExt;
        let (folder, log) = log();
        log.remember("private").unwrap();
        let mode = fs::metadata(log.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn secrets_are_not_kept() {
        let (_folder, log) = log();
        log.remember("why does password=hunter2Xq9zR81kLm fail")
            .unwrap();
        assert!(!log.read().unwrap()[0].contains("hunter2Xq9zR81kLm"));
    }
}
