//! Tests of the file: what is written is read back, and damage is detected.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use proptest::prelude::*;

use super::format::{GROUP, HEADER};
use super::*;

/// A chunk of a document, and its vector.
type Entry = (Slot, Vec<f32>);

fn origin(dimensions: usize) -> Origin {
    Origin {
        model: "bear@0123456789ab".to_owned(),
        dimensions,
        generation: [7; 16],
    }
}

fn entry(document: i64, chunk: i64, vector: &[f32]) -> Entry {
    (Slot { chunk, document }, vector.to_vec())
}

fn entries() -> Vec<Entry> {
    vec![
        entry(2, 10, &[1.0, 0.0, 0.0]),
        entry(2, 11, &[0.0, 1.0, 0.0]),
        entry(5, 3, &[0.0, 0.6, 0.8]),
        entry(9, 12, &[-1.0, 0.0, 0.0]),
    ]
}

fn given(entries: &[Entry]) -> impl Iterator<Item = Result<Entry>> {
    entries.iter().cloned().map(Ok)
}

/// Writes a file with `entries` into a temporary folder.
fn written() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index.vectors");
    VectorFile::write(&path, &origin(3), 12, given(&entries())).unwrap();
    (folder, path)
}

fn slots(file: &VectorFile) -> Vec<Slot> {
    (0..file.len()).map(|at| file.slot(at)).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn check_content(file: &VectorFile) {
    assert_eq!(file.upto(), 12);
    assert_eq!(file.len(), 4);
    assert!(!file.is_empty());
    let expected: Vec<Slot> = entries().into_iter().map(|(slot, _)| slot).collect();
    assert_eq!(slots(file), expected);
    assert_eq!(file.of_document(2), 0..2);
    assert_eq!(file.of_document(5), 2..3);
    assert_eq!(file.of_document(9), 3..4);
    for missing in [i64::MIN, 0, 3, 10] {
        assert!(file.of_document(missing).is_empty());
    }
    for (at, slot) in expected.into_iter().enumerate() {
        assert_eq!(file.row_of(slot), Some(at));
        let elsewhere = Slot {
            document: slot.document + 1,
            ..slot
        };
        assert_eq!(file.row_of(elsewhere), None);
        let chunk = slot.chunk + 50;
        assert_eq!(file.row_of(Slot { chunk, ..slot }), None);
    }
    for (at, (_, vector)) in entries().iter().enumerate() {
        let itself = file.similarity(at, &QuantizedQuery::new(vector));
        assert!((itself - 1.0).abs() < 0.003, "{at}: {itself}");
        assert!(file.holds(at, vector), "{at}");
        assert!(!file.holds(at, &[0.6, 0.8, 0.0]), "{at}");
        assert!(!file.holds(at, &vector[..2]), "{at}");
    }
    for (rows, expected) in [
        (0..2, [1.0, 1.0, 0.0]),
        (2..4, [-1.0, 0.6, 0.8]),
        (1..1, [0.0; 3]),
    ] {
        let sum = file.sum(rows);
        assert_eq!(sum.len(), expected.len());
        for (sum, expected) in sum.iter().zip(expected) {
            assert!((sum - expected).abs() < 0.01, "{sum} {expected}");
        }
    }
    // A vector beside the file can be as precise, to the bit.
    for (at, (_, vector)) in entries().iter().enumerate() {
        assert_eq!(file.sum(at..at + 1), rounded(vector), "{at}");
    }
    let query = QuantizedQuery::new(&[0.0, 2.0, 0.0]);
    assert!(file.similarity(0, &query).abs() < 1e-6);
    assert!((file.similarity(2, &query) - 0.6).abs() < 0.01);
}

#[test]
fn what_is_written_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index.vectors");
    assert!(VectorFile::open(&path, &origin(3)).unwrap().is_none());
    check_content(&VectorFile::write(&path, &origin(3), 12, given(&entries())).unwrap());
    check_content(&VectorFile::open(&path, &origin(3)).unwrap().unwrap());
    check_content(&VectorFile::in_memory(&origin(3), 12, given(&entries())).unwrap());
    assert_eq!(names(folder.path()), ["index.vectors"]);
}

#[test]
fn every_group_is_found_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index.vectors");
    let vector = |at: usize| [1.0, (at % 251) as f32 / 100.0, (at % 17) as f32 - 8.0];
    for count in [1, GROUP - 1, GROUP, GROUP + 1, 2 * GROUP + 5] {
        let entries: Vec<Entry> = (0..count)
            .map(|at| entry(at as i64 / 3, at as i64, &vector(at)))
            .collect();
        VectorFile::write(&path, &origin(3), 0, given(&entries)).unwrap();
        let file = VectorFile::open(&path, &origin(3)).unwrap().unwrap();
        assert_eq!(file.len(), count);
        for at in 0..count {
            let itself = file.similarity(at, &QuantizedQuery::new(&vector(at)));
            assert!((itself - 1.0).abs() < 0.001, "{at} of {count}: {itself}");
        }
    }
}

#[test]
#[should_panic(expected = "out of bounds")]
fn there_is_nothing_after_the_last_row() {
    let file = VectorFile::in_memory(&origin(3), 12, given(&entries())).unwrap();
    file.similarity(file.len(), &QuantizedQuery::new(&[1.0, 0.0, 0.0]));
}

#[test]
fn sums_put_every_component_in_its_place() {
    let vectors: Vec<Vec<f32>> = (1..4)
        .map(|number| {
            (0..100)
                .map(|at| (number as f32 * at as f32).sin())
                .collect()
        })
        .collect();
    let entries: Vec<Entry> = (1..)
        .zip(&vectors)
        .map(|(at, one)| entry(at, at, one))
        .collect();
    let file = VectorFile::in_memory(&origin(100), 3, given(&entries)).unwrap();
    let sum = file.sum(0..3);
    assert_eq!(sum.len(), 100);
    for at in 0..100 {
        let expected: f32 = vectors
            .iter()
            .map(|one| one[at] / one.iter().map(|number| number * number).sum::<f32>().sqrt())
            .sum();
        assert!(
            (sum[at] - expected).abs() < 0.005,
            "{at}: {} {expected}",
            sum[at]
        );
    }
}

#[test]
fn a_file_of_another_origin_is_not_used() {
    let (_folder, path) = written();
    let others = [
        Origin {
            model: "bear@ffffffffffff".to_owned(),
            ..origin(3)
        },
        Origin {
            generation: [8; 16],
            ..origin(3)
        },
        origin(4),
    ];
    for other in others {
        assert!(VectorFile::open(&path, &other).unwrap().is_none());
    }
}

#[test]
fn a_file_without_vectors_is_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index.vectors");
    VectorFile::write(&path, &origin(3), 0, given(&[])).unwrap();
    let file = VectorFile::open(&path, &origin(3)).unwrap().unwrap();
    assert!(file.is_empty());
    assert!(file.of_document(1).is_empty());
    let query = QuantizedQuery::new(&[1.0, 0.0, 0.0]);
    assert_eq!(file.nearest(&[query], None, 5, None), Some(Vec::new()));
}

#[test]
fn vectors_without_direction_are_similar_to_nothing() {
    let odd = [
        entry(1, 1, &[0.0, 0.0]),
        entry(2, 2, &[f32::NAN, f32::INFINITY]),
        entry(3, 3, &[f32::NAN, -1.0]),
    ];
    let file = VectorFile::in_memory(&origin(2), 3, given(&odd)).unwrap();
    let query = QuantizedQuery::new(&[0.0, 1.0]);
    let similarities: Vec<f32> = (0..3).map(|at| file.similarity(at, &query)).collect();
    assert_eq!(similarities[..2], [0.0, 0.0]);
    assert!((similarities[2] + 1.0).abs() < 1e-6);
    let nothing = QuantizedQuery::new(&[0.0, f32::NAN]);
    let found = file.nearest(&[nothing], None, 5, None).unwrap();
    assert!(found.iter().all(|near| near.similarity == 0.0));
}

#[test]
fn vectors_without_dimensions_do_no_harm() {
    let empty = [entry(1, 1, &[]), entry(1, 2, &[])];
    let file = VectorFile::in_memory(&origin(0), 2, given(&empty)).unwrap();
    assert_eq!(file.len(), 2);
    let found = file
        .nearest(&[QuantizedQuery::new(&[])], None, 5, None)
        .unwrap();
    assert_eq!((found.len(), found[0].chunk), (1, 1));
}

#[test]
fn a_query_of_another_length_finds_nothing() {
    let file = VectorFile::in_memory(&origin(3), 12, given(&entries())).unwrap();
    // Both have the padded length of a row.
    for length in [2, 64] {
        let query = QuantizedQuery::new(&vec![1.0; length]);
        assert!(file.similarity(0, &query) == 0.0);
        assert_eq!(file.nearest(&[query], None, 5, None), Some(Vec::new()));
    }
}

#[test]
fn vectors_that_cannot_be_stored_are_refused() {
    let refused = |dimensions, entries: &[Entry]| {
        let error = VectorFile::in_memory(&origin(dimensions), 1, given(entries)).unwrap_err();
        assert!(matches!(error, Error::VectorFile { .. }), "{error:?}");
        error.to_string()
    };
    let (low, high) = (entry(1, 5, &[1.0]), entry(2, 4, &[1.0]));
    let message = refused(1, &[high.clone(), low.clone()]);
    assert!(
        message.contains("chunk 5 of document 1 came after chunk 4 of document 2"),
        "{message}"
    );
    refused(1, &[entry(1, 6, &[1.0]), low.clone()]);
    refused(1, &[low.clone(), low.clone()]);
    let message = refused(1, &[low, entry(2, 6, &[1.0, 0.0])]);
    assert!(
        message.contains("chunk 6 has 2 dimensions, not 1"),
        "{message}"
    );
    refused(100_000, &[]);
}

#[test]
fn a_write_that_fails_leaves_the_old_file() {
    let (folder, path) = written();
    let before = fs::read(&path).unwrap();
    let broken = || Error::NoDocument {
        reference: "17".to_owned(),
        suggestions: Vec::new(),
    };
    let failing = given(&entries())
        .take(2)
        .chain(std::iter::once_with(|| Err(broken())))
        .collect::<Vec<_>>();
    let error = VectorFile::write(&path, &origin(3), 99, failing.into_iter()).unwrap_err();
    assert!(matches!(error, Error::NoDocument { .. }), "{error:?}");
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(names(folder.path()), ["index.vectors"]);
}

#[test]
fn where_nothing_can_be_written_the_error_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("missing").join("index.vectors");
    let error = VectorFile::write(&path, &origin(3), 12, given(&entries())).unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error:?}");
    // A folder blocks the name but not the content.
    let path = folder.path().join("folder");
    fs::create_dir_all(path.join("full")).unwrap();
    let error = VectorFile::write(&path, &origin(3), 12, given(&entries())).unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error:?}");
    assert_eq!(names(folder.path()), ["folder"]);
    let error = VectorFile::open(&path, &origin(3)).unwrap_err();
    assert!(matches!(error, Error::VectorFile { .. }), "{error:?}");
}

#[test]
fn who_has_the_old_file_open_keeps_it() {
    let (_folder, path) = written();
    let old = VectorFile::open(&path, &origin(3)).unwrap().unwrap();
    let fewer = [entry(4, 40, &[0.0, 0.0, 1.0])];
    let new = VectorFile::write(&path, &origin(3), 40, given(&fewer)).unwrap();
    check_content(&old);
    assert_eq!(new.upto(), 40);
    let opened = VectorFile::open(&path, &origin(3)).unwrap().unwrap();
    assert_eq!(slots(&opened), slots(&new));
    fs::remove_file(&path).unwrap();
    check_content(&old);
}

#[test]
fn what_a_killed_writer_left_is_removed_after_a_while() {
    let (folder, path) = written();
    let leave = |name: &str, age: Duration| {
        let file = fs::File::create(folder.path().join(name)).unwrap();
        file.set_modified(SystemTime::now() - age).unwrap();
    };
    let day = Duration::from_hours(24);
    leave("index.vectors.1-0.unfinished", day);
    leave("index.vectors.2-0.unfinished", Duration::ZERO);
    leave("other.vectors.1-0.unfinished", day);
    leave("index.vectors.old", day);
    // No process can have the greatest number.
    leave(".kodiak-2147483647-0.tmp", Duration::ZERO);
    VectorFile::write(&path, &origin(3), 12, given(&entries())).unwrap();
    assert_eq!(
        names(folder.path()),
        [
            "index.vectors",
            "index.vectors.2-0.unfinished",
            "index.vectors.old",
            "other.vectors.1-0.unfinished"
        ]
    );
}

/// Opens a file with these bytes.
fn opened(bytes: &[u8]) -> Result<Option<VectorFile>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index.vectors");
    fs::write(&path, bytes).unwrap();
    VectorFile::open(&path, &origin(3))
}

/// Returns the complaint about a file with these bytes.
fn complaint(bytes: &[u8]) -> String {
    match opened(bytes) {
        Err(error @ Error::VectorFile { .. }) => error.to_string(),
        other => panic!("not noticed: {other:?}"),
    }
}

#[test]
fn every_kind_of_damage_has_its_name() {
    let (_folder, path) = written();
    let good = fs::read(&path).unwrap();
    let changed = |change: fn(&mut Vec<u8>)| {
        let mut bytes = good.clone();
        change(&mut bytes);
        complaint(&bytes)
    };
    assert!(complaint(b"").contains("shorter than its header"));
    assert!(changed(|bytes| bytes.truncate(HEADER - 1)).contains("shorter than its header"));
    assert!(changed(|bytes| bytes[0] ^= 1).contains("does not begin"));
    assert!(changed(|bytes| bytes[12] ^= 1).contains("header has changed"));
    assert!(changed(|bytes| bytes.truncate(bytes.len() - 1)).contains("bytes, not"));
    assert!(changed(|bytes| bytes.truncate(HEADER)).contains("bytes, not"));
    assert!(changed(|bytes| bytes.push(0)).contains("bytes, not"));
    assert!(changed(|bytes| *bytes.last_mut().unwrap() ^= 1).contains("list of documents"));
    assert!(changed(|bytes| bytes.fill(0)).contains("does not begin"));
}

#[test]
fn a_file_of_another_version_is_not_read() {
    let (_folder, path) = written();
    let mut bytes = fs::read(&path).unwrap();
    bytes[8] += 1;
    let covered = HEADER - 16;
    let sum = format::checksum(&bytes[..covered]);
    bytes[covered..HEADER].copy_from_slice(&sum);
    assert!(complaint(&bytes).contains("has format 3, not 2"));
}

#[test]
fn a_header_that_promises_too_much_is_not_believed() {
    let (_folder, path) = written();
    let mut bytes = fs::read(&path).unwrap();
    let mut header = Header::decode(&bytes).unwrap();
    header.vectors = u64::MAX;
    bytes[..HEADER].copy_from_slice(&header.encode());
    assert!(complaint(&bytes).contains("longer than a file can be"));
}

proptest! {
    /// Scores must not depend on which vectors a file has.
    #[test]
    fn a_vector_beside_a_file_is_as_near_as_in_it(
        vectors in prop::collection::vec(prop::collection::vec(-1.0_f32..1.0, 70), 1..9),
        query in prop::collection::vec(-1.0_f32..1.0, 70),
    ) {
        let entries: Vec<Entry> = (1..).zip(&vectors).map(|(at, vector)| entry(7, at, vector)).collect();
        let file = VectorFile::in_memory(&origin(70), 12, given(&entries)).unwrap();
        let query = QuantizedQuery::new(&query);
        for (at, vector) in vectors.iter().enumerate() {
            let (inside, beside) = (file.similarity(at, &query), query.similarity(vector));
            prop_assert_eq!(inside.to_bits(), beside.to_bits(), "{} {}", inside, beside);
        }
        let rounded: Vec<Vec<f32>> = vectors.iter().map(|vector| rounded(vector)).collect();
        let sums = (0..70).map(|at| rounded.iter().fold(0.0, |sum, one| sum + one[at]));
        prop_assert_eq!(file.sum(0..vectors.len()), sums.collect::<Vec<f32>>());
        prop_assert_eq!(query.similarity(&[1.0]).to_bits(), 0.0_f32.to_bits());
    }

    #[test]
    fn a_changed_bit_is_noticed_and_in_the_matrix_when_asked_for(at in any::<prop::sample::Index>(), bit in 0_u8..8) {
        let (_folder, path) = written();
        let mut bytes = fs::read(&path).unwrap();
        let matrix = HEADER..HEADER + 4 * (2 * 64 + size_of::<ErrorBoundBytes>());
        let at = at.index(bytes.len());
        bytes[at] ^= 1_u8 << bit;
        match opened(&bytes) {
            Ok(Some(file)) => {
                prop_assert!(matrix.contains(&at));
                let query = QuantizedQuery::new(&[1.0, 0.0, 0.0]);
                prop_assert_eq!(file.nearest(&[query], None, 9, None).unwrap().len(), 3);
                let whole = entries().iter().enumerate().all(|(at, (_, vector))| file.holds(at, vector));
                prop_assert!(!whole);
            }
            Ok(None) => prop_assert!(false, "taken for another's"),
            Err(error) => {
                let noticed = matches!(error, Error::VectorFile { .. });
                prop_assert!(noticed && !matrix.contains(&at));
            }
        }
    }

    #[test]
    fn a_file_cut_anywhere_is_noticed(at in any::<prop::sample::Index>()) {
        let (_folder, path) = written();
        let bytes = fs::read(&path).unwrap();
        complaint(&bytes[..at.index(bytes.len())]);
    }

    #[test]
    fn any_bytes_are_an_error_and_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        complaint(&bytes);
    }
}
