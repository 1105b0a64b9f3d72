//! Compares the answers of a store with those of SQLite over the documents of a test set.
//!
//! SQLite indexes the set at once. The other store gets it by a detour: in several syncs,
//! each of which adds documents, some with the text of another one, replaces those, removes
//! documents that come back later, and adds copies that go again. In the end both hold the
//! same, and every query must have the same hits with the same scores. What a store has
//! counted wrongly on the way, or not merged, shows as a difference.
//!
//! The other store is opened anew for each sync and for the queries, as another process
//! does.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use kodiak::Document;
use kodiak::access::Guard;
use kodiak::engine::{Engine, Job};
use kodiak::search::{Answer, Mode, Request};
use kodiak::source::{Entry, Listing, Presence, Reading, Source, Version};
use kodiak::store::{SqliteIndex, Store};
use serde::Serialize;

use super::beir::{open, split_label};
use super::cached_embedder::CachedEmbedder;
use super::corpus::SOURCE;
use super::documents::TestDocuments;
use super::error::refusal;
use super::query::JudgedQuery;
use super::runner::filled;

/// The number of hits that are compared.
const COMPARED: usize = 10;
/// The largest difference of two scores that is due to the order in which numbers were
/// added.
const ROUNDING: f64 = 1e-9;
/// The number of syncs in which the other store gets the documents.
const ROUNDS: usize = 12;

/// Opens a store.
pub type OpenStore<'a> = dyn Fn() -> Result<Arc<dyn Store>> + 'a;

/// What is compared.
pub struct Alike<'a> {
    /// The folder of the test set.
    pub set: &'a Path,
    /// Opens the store whose answers are compared with those of SQLite. It is empty when it
    /// is opened first.
    pub other: &'a OpenStore<'a>,
    /// The model, to compare searches by words and meaning as well.
    pub embedder: Option<&'a Arc<CachedEmbedder>>,
    /// The folder for what is temporary.
    pub scratch: &'a Path,
    /// The number of queries of each split that are asked at most.
    pub most: usize,
}

/// What came of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AlikeReport {
    /// The number of documents in both stores.
    pub documents: u64,
    /// A row for each split and mode.
    pub rows: Vec<AlikeRow>,
    /// What the other store finds wrong with itself.
    pub problems: Vec<String>,
}

/// How the answers to the queries of one split compare.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AlikeRow {
    /// The split.
    pub split: String,
    /// The mode of the searches.
    pub mode: &'static str,
    /// The number of queries.
    pub queries: usize,
    /// The number of hits that were compared.
    pub hits: usize,
    /// The number of queries whose hits are the same, with equal scores in another order.
    pub reordered: usize,
    /// The largest difference between scores of the same hit.
    pub rounding: f64,
    /// The queries whose answers differ, with both answers.
    pub different: Vec<AlikeDifference>,
}

/// A query with two answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AlikeDifference {
    /// The query.
    pub query: String,
    /// The paths and scores that SQLite answers with, and the number of all hits.
    pub sqlite: (Vec<(String, f64)>, usize),
    /// Those of the other store.
    pub other: (Vec<(String, f64)>, usize),
}

/// How two answers compare.
enum Found {
    Same,
    Reordered,
    Different,
}

/// Indexes a test set in SQLite and in another store, and asks both every query.
pub fn compare_stores(alike: &Alike<'_>) -> Result<AlikeReport> {
    let set = open(alike.set)?;
    let documents = Arc::new(set.documents().collect::<Result<Vec<_>>>()?);
    let folder = tempfile::tempdir_in(alike.scratch)?;
    let steady: Arc<dyn Store> = Arc::new(SqliteIndex::new(folder.path().join("index.db")));
    let builder = Engine::builder_over(Arc::clone(&steady));
    let builder = builder.source(TestDocuments(documents.to_vec()));
    let sqlite = filled(builder, alike.embedder, &Job::default())?;
    for round in 0..ROUNDS {
        let documents = Arc::clone(&documents);
        let builder = Engine::builder_over((alike.other)()?).source(Detour { documents, round });
        filled(builder, alike.embedder, &Job::default())?;
    }
    let store = (alike.other)()?;
    let builder = Engine::builder_over(Arc::clone(&store));
    let builder = builder.source(Detour {
        documents,
        round: ROUNDS - 1,
    });
    let other = filled(builder, alike.embedder, &Job::default())?;
    let count =
        |store: &Arc<dyn Store>| Ok::<_, anyhow::Error>(store.reader()?.corpus()?.documents);
    let (here, there) = (count(&steady)?, count(&store)?);
    if here != there {
        return Err(refusal(
            format!(
                "SQLite has {here} documents of {}, the other store {there}",
                set.name
            ),
            "begin with an empty store",
        ));
    }
    let problems = store.reader()?.examine()?;
    let mut report = AlikeReport {
        documents: here,
        problems: problems.iter().map(|one| format!("{one:?}")).collect(),
        ..AlikeReport::default()
    };
    let modes = [(Mode::Lexical, "lexical"), (Mode::Hybrid, "hybrid")];
    let modes = &modes[..=usize::from(alike.embedder.is_some())];
    for split in &set.splits {
        let queries = set.queries(split)?;
        for &(mode, name) in modes {
            let mut row = AlikeRow {
                split: split_label(split).to_owned(),
                mode: name,
                ..AlikeRow::default()
            };
            for query in queries.iter().take(alike.most) {
                row.ask(query, mode, &sqlite, &other)?;
            }
            report.rows.push(row);
        }
    }
    Ok(report)
}

impl AlikeRow {
    fn ask(
        &mut self,
        query: &JudgedQuery,
        mode: Mode,
        sqlite: &Engine,
        other: &Engine,
    ) -> Result<()> {
        let request = Request {
            mode,
            limit: COMPARED,
            filter: query.filter.clone(),
            // Which of several copies stands for all depends on which was stored first.
            all_copies: true,
            ..Request::new(query.text.as_str())
        };
        let guard = Guard::local();
        let answers = [
            sqlite.search(&guard, &request)?,
            other.search(&guard, &request)?,
        ];
        let totals = [answers[0].total, answers[1].total];
        let [one, two] = answers.map(|answer| hits(&answer));
        self.queries += 1;
        self.hits += one.len();
        let found = if totals[0] == totals[1] {
            compared(&one, &two, &mut self.rounding)
        } else {
            Found::Different
        };
        match found {
            Found::Same => {}
            Found::Reordered => self.reordered += 1,
            Found::Different => self.different.push(AlikeDifference {
                query: query.text.clone(),
                sqlite: (one, totals[0]),
                other: (two, totals[1]),
            }),
        }
        Ok(())
    }
}

fn hits(answer: &Answer) -> Vec<(String, f64)> {
    let hits = answer.hits.iter();
    hits.map(|hit| (hit.path.clone(), hit.score)).collect()
}

/// Compares hits place by place. Those with equal scores may be in another order, and at the
/// end others of that score may take their places.
fn compared(one: &[(String, f64)], other: &[(String, f64)], rounding: &mut f64) -> Found {
    if one.len() != other.len() {
        return Found::Different;
    }
    let pairs = || one.iter().zip(other);
    let differences = pairs().map(|(one, other)| (one.1 - other.1).abs());
    let largest = differences.fold(0.0, f64::max);
    if largest > ROUNDING {
        return Found::Different;
    }
    *rounding = rounding.max(largest);
    if pairs().all(|(one, other)| one.0 == other.0) {
        return Found::Same;
    }
    let last = one.last().map_or(0.0, |hit| hit.1);
    let above = |hits: &[(String, f64)]| -> HashSet<String> {
        let above = hits.iter().filter(|hit| hit.1 > last + ROUNDING);
        above.map(|hit| hit.0.clone()).collect()
    };
    let of_equals = pairs().all(|(one, other)| {
        one.0 == other.0
            || pairs().any(|(_, there)| there.0 == one.0 && (there.1 - one.1).abs() <= ROUNDING)
            || one.1 <= last + ROUNDING
    });
    if of_equals && above(one) == above(other) {
        Found::Reordered
    } else {
        Found::Different
    }
}

/// The documents of a set in one of several rounds. The last one has all as they are.
#[derive(Debug)]
struct Detour {
    documents: Arc<Vec<Document>>,
    round: usize,
}

/// What an entry holds in a round.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// The document with its number.
    Itself,
    /// The text of the next document, under its own key.
    Another,
    /// A copy of a document, under a key that the set does not have.
    Copy(usize),
}

impl Detour {
    /// Returns how many documents have been added when a round ends.
    fn added(&self, rounds: usize) -> usize {
        self.documents.len() * rounds / ROUNDS
    }

    /// Returns the entries of this round.
    fn entries(&self) -> Vec<(usize, Holds)> {
        let (number, last) = (self.documents.len(), self.round + 1 == ROUNDS);
        let (before, now) = (self.added(self.round), self.added(self.round + 1));
        let mut entries = Vec::with_capacity(now);
        for document in 0..now {
            let is_new = document >= before;
            if last {
                entries.push((document, Holds::Itself));
            } else if !is_new && document % 7 == 3 && self.round % 4 == 2 {
                // It is gone in this round.
            } else if is_new && document % 3 == 1 {
                entries.push((document, Holds::Another));
            } else {
                entries.push((document, Holds::Itself));
            }
        }
        // Copies stay for two rounds.
        let copies = number / 20 + 1;
        for round in [self.round.checked_sub(1), Some(self.round)] {
            for copy in round
                .iter()
                .flat_map(|round| round * copies..(round + 1) * copies)
            {
                if !last {
                    entries.push((number + copy, Holds::Copy(copy % number.max(1))));
                }
            }
        }
        entries
    }

    /// Returns the key of an entry. Entries are sorted by key.
    fn key(number: usize) -> String {
        format!("{number:012}")
    }

    fn version(&self, number: usize, holds: Holds) -> Version {
        let of = match holds {
            Holds::Another => (number + 1) % self.documents.len(),
            _ => number,
        };
        Version::of(&of.to_le_bytes())
    }

    fn held(&self, key: &str) -> Option<(usize, Holds)> {
        let number: usize = key.parse().ok()?;
        self.entries().into_iter().find(|entry| entry.0 == number)
    }

    fn document(&self, number: usize, holds: Holds) -> Document {
        let document = |number: usize| self.documents[number].clone();
        let mut document = match holds {
            Holds::Itself => document(number),
            Holds::Another => {
                let other = document((number + 1) % self.documents.len());
                Document {
                    title: other.title,
                    body: other.body,
                    ..document(number)
                }
            }
            Holds::Copy(of) => Document {
                key: format!("copy {number}"),
                ..document(of)
            },
        };
        // A document whose hash is unchanged is not stored again.
        let text = format!("{}\0{}", document.title, document.body);
        let (hash, _) = document.hash.as_chunks_mut::<16>();
        hash.fill(Version::of(text.as_bytes()).0);
        document
    }
}

impl Source for Detour {
    fn name(&self) -> &str {
        SOURCE
    }

    fn kind(&self) -> &'static str {
        "test set"
    }

    fn location(&self) -> String {
        String::new()
    }

    fn watch_paths(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    fn list(&self) -> kodiak::Result<Listing> {
        let entry = |(number, holds): (usize, Holds)| Entry {
            key: Self::key(number),
            version: self.version(number, holds),
            size_hint: 0,
        };
        Ok(Listing {
            entries: self.entries().into_iter().map(entry).collect(),
            ..Listing::default()
        })
    }

    fn read(&self, entry: &Entry, emit: &mut dyn FnMut(Document)) -> kodiak::Result<Reading> {
        let Ok(number) = entry.key.parse::<usize>() else {
            return Ok(Reading::Gone);
        };
        let all = self.documents.len();
        // The version says which of the two texts it is.
        let holds = match number.checked_sub(all) {
            Some(copy) => Holds::Copy(copy % all.max(1)),
            None if entry.version == self.version(number, Holds::Itself) => Holds::Itself,
            None => Holds::Another,
        };
        emit(self.document(number, holds));
        Ok(Reading::Read {
            version: entry.version,
        })
    }

    fn presence(&self, entry_key: &str) -> Presence {
        match self.held(entry_key) {
            Some((number, holds)) => Presence::There(self.version(number, holds)),
            None => Presence::Gone,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn detour(number: usize, round: usize) -> Detour {
        let document = |number| Document {
            key: format!("{number}"),
            title: format!("title {number}"),
            ..Document::default()
        };
        Detour {
            documents: Arc::new((0..number).map(document).collect()),
            round,
        }
    }

    #[test]
    fn the_detour_replaces_removes_and_ends_with_everything() {
        let (mut replaced, mut removed) = (0, 0);
        let mut before: BTreeMap<usize, Version> = BTreeMap::new();
        for round in 0..ROUNDS {
            let detour = detour(100, round);
            let now: BTreeMap<usize, Version> = (detour.entries().into_iter())
                .map(|(number, holds)| (number, detour.version(number, holds)))
                .collect();
            for (number, version) in &before {
                match now.get(number) {
                    None => removed += 1,
                    Some(other) => replaced += usize::from(other != version),
                }
            }
            before = now;
        }
        assert!(replaced > 20 && removed > 60, "{replaced} {removed}");
        let last = detour(100, ROUNDS - 1);
        let entries = last.entries();
        assert_eq!(entries.len(), 100);
        for (number, (found, holds)) in entries.into_iter().enumerate() {
            assert_eq!(number, found);
            assert_eq!(last.document(found, holds).title, format!("title {number}"));
        }
        assert_eq!(detour(1, ROUNDS - 1).entries().len(), 1);
    }

    #[test]
    fn words_find_the_same_however_the_documents_got_there() {
        let scratch = tempfile::tempdir().unwrap();
        let set = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/judged");
        let index = scratch.path().join("other.db");
        let report = compare_stores(&Alike {
            set: &set,
            other: &|| Ok(Arc::new(SqliteIndex::new(&index))),
            embedder: None,
            scratch: scratch.path(),
            most: usize::MAX,
        })
        .unwrap();
        assert_eq!((report.rows.len(), report.problems), (5, Vec::new()));
        for row in &report.rows {
            assert!(row.queries > 0 && row.hits > row.queries, "{row:#?}");
            assert_eq!(row.different, [], "{}", row.split);
        }
    }

    #[test]
    fn only_equals_may_change_places() {
        let hit = |(name, score): &(&str, f64)| ((*name).to_owned(), *score);
        let is = |one: &[(&str, f64)], other: &[(&str, f64)]| {
            let [one, other] = [one, other].map(|hits| hits.iter().map(hit).collect::<Vec<_>>());
            match compared(&one, &other, &mut 0.0) {
                Found::Same => "same",
                Found::Reordered => "reordered",
                Found::Different => "different",
            }
        };
        let both = [("a", 3.0), ("b", 2.0), ("c", 2.0)];
        assert_eq!(is(&both, &both), "same");
        assert_eq!(
            is(&both, &[("a", 3.0), ("b", 2.0 + 1e-12), ("c", 2.0)]),
            "same"
        );
        assert_eq!(
            is(&both, &[("a", 3.0), ("c", 2.0), ("b", 2.0)]),
            "reordered"
        );
        assert_eq!(
            is(&both, &[("a", 3.0), ("c", 2.0), ("d", 2.0)]),
            "reordered"
        );
        assert_eq!(
            is(&both, &[("d", 3.0), ("b", 2.0), ("c", 2.0)]),
            "different"
        );
        assert_eq!(is(&both, &[("a", 3.0), ("b", 2.0)]), "different");
        assert_eq!(
            is(&both, &[("a", 3.0), ("b", 2.1), ("c", 2.0)]),
            "different"
        );
        let near = [("a", 3.0), ("b", 2.000_1), ("c", 2.0)];
        assert_eq!(is(&both, &near), "different");
    }
}
