//! A server answers as SQLite does, however the documents got there.

use std::path::Path;
use std::sync::Arc;

use kodiak::Embedder;
use kodiak::embed::{EmbedError, Identity, Limits, Role};
use kodiak_eval::{Alike, CachedEmbedder, compare_stores};
use kodiak_postgres::{Address, PostgresIndex};

use crate::place::on_each_server;

/// The number of dimensions of [`Words`], one for each byte.
const DIMENSIONS: usize = 256;

/// An embedder whose vectors say which words a text has.
struct Words(Identity);

impl Embedder for Words {
    fn identity(&self) -> &Identity {
        &self.0
    }

    fn minimum_similarity(&self) -> f32 {
        0.1
    }

    fn limits(&self) -> Limits {
        Limits {
            max_tokens: 256,
            max_batch: 16,
            concurrency: 1,
        }
    }

    fn embed(&self, texts: &[&str], _: Role) -> Result<Vec<Vec<f32>>, EmbedError> {
        let vector = |text: &&str| {
            let mut vector = vec![0.01_f32; DIMENSIONS];
            let text = text.to_lowercase();
            let words = text.split(|one: char| !one.is_alphanumeric());
            // Some scripts have no spaces.
            let letters = text.char_indices().filter(|(_, one)| !one.is_ascii());
            let letters = letters.map(|(at, one)| &text[at..at + one.len_utf8()]);
            for part in words.filter(|word| !word.is_empty()).chain(letters) {
                let hash = blake3::hash(part.as_bytes());
                for [at, sign] in hash.as_bytes().as_chunks::<2>().0.iter().take(4) {
                    vector[usize::from(*at)] += if sign % 2 == 0 { 1.0 } else { -1.0 };
                }
            }
            let length = vector.iter().map(|one| one * one).sum::<f32>().sqrt();
            vector.iter().map(|one| one / length).collect()
        };
        Ok(texts.iter().map(vector).collect())
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them and sets KODIAK_TEST_POSTGRES"]
fn judged_queries_have_the_answers_of_sqlite_after_commits_deletions_and_merges() {
    let set = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/judged");
    let scratch = tempfile::tempdir().unwrap();
    let words = Words(Identity {
        name: "words".to_owned(),
        revision: "1".to_owned(),
        dimensions: DIMENSIONS,
    });
    let embedder = Arc::new(CachedEmbedder::new(Arc::new(words), scratch.path()).unwrap());
    on_each_server(|index| {
        let report = compare_stores(&Alike {
            set: &set,
            other: &|| {
                let address = Address::parse(index.address())?;
                Ok(Arc::new(PostgresIndex::new(address)))
            },
            embedder: Some(&embedder),
            scratch: scratch.path(),
            most: usize::MAX,
        })
        .unwrap();
        assert_eq!(report.problems, [""; 0]);
        assert!(report.documents > 30, "{}", report.documents);
        assert_eq!(report.rows.len(), 10, "{:?}", report.rows);
        for row in &report.rows {
            assert!(row.queries > 0 && row.hits > row.queries, "{row:#?}");
            assert_eq!(row.different, [], "{} {}", row.split, row.mode);
        }
    });
}
