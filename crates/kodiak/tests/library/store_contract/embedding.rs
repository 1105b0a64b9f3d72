//! Models, vectors and how much is embedded.

use std::collections::HashSet;

use kodiak::Stop;
use kodiak::embed::Identity;
use kodiak::store::vectors::Bitmap;
use kodiak::store::{
    ChunkSpan, ChunkText, Coverage, Filter, ModelNumber, Pending, Reader, Row, VectorIndex, Wanted,
    Writer,
};
use kodiak::vector::normalised;

use super::{key_of, note, on_each, put, rows, write};

/// How far a similarity may be off: vector indexes may keep eight bits.
const TOLERANCE: f32 = 0.02;

fn identity(name: &str, dimensions: usize) -> Identity {
    Identity {
        name: name.to_owned(),
        revision: "1".to_owned(),
        dimensions,
    }
}

/// Returns a vector that is a chunk's own.
fn vector_of(pending: &Pending, dimensions: usize) -> Vec<f32> {
    let numbers = pending.hash.iter().cycle().take(dimensions);
    let numbers = numbers.map(|&byte| f32::from(byte) - 127.5);
    normalised(numbers.collect()).unwrap()
}

/// Every chunk that lacks a vector, in pages of any size.
fn waiting(writer: &dyn Writer, model: ModelNumber) -> Vec<Pending> {
    let all = writer.pending(model, None, usize::from(u16::MAX)).unwrap();
    for page in [1, 2, all.len().max(1), all.len() + 1] {
        let (mut read, mut after) = (Vec::new(), None);
        loop {
            let next = writer.pending(model, after, page).unwrap();
            assert!(next.len() <= page);
            read.extend_from_slice(&next);
            match next.last() {
                Some(last) if next.len() == page => after = Some(last.place),
                _ => break,
            }
        }
        assert_eq!(read, all, "pages of {page}");
    }
    let size = writer.pending_size(model).unwrap();
    let bytes: usize = all.iter().map(|one| one.bytes).sum();
    assert_eq!((size.chunks, size.bytes), (all.len(), bytes as u64));
    assert!(all.is_sorted_by(|one, next| one.place.key() < next.place.key()));
    all
}

/// Gives every chunk that lacks one a vector; returns how many did.
fn embed(writer: &mut dyn Writer, model: ModelNumber, dimensions: usize) -> usize {
    let pending = waiting(writer, model);
    let vectors = pending.iter().map(|it| (*it, vector_of(it, dimensions)));
    let vectors: Vec<_> = vectors.collect();
    writer.put_vectors(model, &vectors).unwrap();
    vectors.len()
}

/// A note of two chunks, one of one, and one in another source.
fn fill(writer: &mut dyn Writer) {
    let section = "These words fill a section. ".repeat(40);
    let mut long = note(
        "long.md",
        "Long",
        &format!("# One\n\n{section}\n\n# Two\n\n{section}"),
    );
    long.updated_at = 1;
    put(writer, long);
    let mut short = note("short.md", "Short", "Few words.");
    short.updated_at = 2;
    put(writer, short);
    let mut chat = note("chat", "Chat", "Hello.");
    chat.source = "chats".to_owned();
    chat.updated_at = 3;
    put(writer, chat);
}

fn only(source: &str) -> Filter {
    Filter {
        sources: vec![source.to_owned()],
        ..Filter::default()
    }
}

fn coverage(chunks: u64, embedded: u64) -> Coverage {
    Coverage { chunks, embedded }
}

#[test]
fn chunks_wait_for_their_vectors() {
    on_each(|store| {
        write(store, fill);
        let mut writer = store.writer("test").unwrap();
        writer.begin().unwrap();
        let model = writer.put_model(&identity("tiny", 4)).unwrap();
        assert_eq!(writer.put_model(&identity("tiny", 4)).unwrap(), model);
        assert!(
            writer
                .unchunked(kodiak::chunk::FORMAT, 9)
                .unwrap()
                .is_empty()
        );
        let pending = waiting(&*writer, model);
        assert!(pending.len() > 3, "{pending:?}");
        // The first ones come first, then the others of the newest documents, in
        // order.
        let reader = writer.reader();
        let known = rows(reader);
        let newest = ["chat", "short.md", "long.md"];
        let hashes = newest.map(|key| reader.chunk_hashes_of(known[key]).unwrap());
        let order: Vec<_> = pending.iter().map(|one| one.hash).collect();
        let first = hashes.iter().map(|all| all[0]);
        let others = hashes.iter().flat_map(|all| all[1..].iter().copied());
        assert_eq!(order, first.chain(others).collect::<Vec<_>>());
        assert!(hashes.iter().any(|all| all.len() > 1));
        assert!(
            reader
                .chunk_hashes_of(known["chat"] + 1_000)
                .unwrap()
                .is_empty()
        );

        let analyzer = writer.analyzer();
        let parts = writer.chunk_texts(&pending).unwrap().into_iter();
        let text =
            |it: ChunkText| analyzer.embedded_text(it.markup, &it.title, &it.heading, &it.text);
        let texts: Vec<_> = parts.map(|parts| parts.map(text)).collect();
        assert_eq!(texts[0].as_deref(), Some("Chat\nHello."));
        assert_eq!(texts[1].as_deref(), Some("Short\nFew words."));
        for (pending, text) in pending.iter().zip(&texts) {
            let hash = kodiak::chunk::text_hash(text.as_deref().unwrap());
            assert_eq!(hash, pending.hash);
            let span = span_of(reader, pending.chunk).unwrap();
            assert_eq!(span.range.len(), pending.bytes);
        }
        let span = span_of(reader, pending.last().unwrap().chunk);
        let span = span.unwrap();
        assert_eq!(span.heading, "Two");
        assert!(span.lines.0 > 1 && span.lines.1 >= span.lines.0);
        assert_eq!(span_of(reader, 1_000_000), None);
        // A chunk that is gone or another by now has no text and takes no vector.
        let gone = Pending {
            chunk: 1_000_000,
            ..pending[0]
        };
        let another = Pending {
            hash: [9; 16],
            ..pending[0]
        };
        assert_eq!(writer.chunk_texts(&[gone, another]).unwrap(), [None, None]);
        let vectors = [gone, another].map(|it| (it, vec![1.0, 0.0, 0.0, 0.0]));
        writer.put_vectors(model, &vectors).unwrap();
        let failures = [gone, another].map(|it| (it, "lost".to_owned()));
        writer.put_failures(model, &failures).unwrap();
        assert_eq!(waiting(&*writer, model), pending);
        assert_eq!(writer.reader().serving().unwrap(), None);
        assert!(writer.reader().vectors().unwrap().is_none());
        writer.commit().unwrap();
        let status = store.reader().unwrap().embedding_status().unwrap();
        assert!(status.failures.is_empty());
    });
}

#[test]
fn breadth_comes_before_depth() {
    on_each(|store| {
        let section = "These words fill a section. ".repeat(40);
        let long: String = (0..12)
            .map(|number| format!("# Part {number}\n\n{section}\n\n"))
            .collect();
        // Some are of the same moment, as those of an import are.
        let notes = [("a", 1), ("b", 2), ("c", 2), ("d", 2), ("e", 3)];
        let model = write(store, |writer| {
            for (key, updated_at) in notes {
                let mut note = note(&format!("{key}.md"), key, &format!("{key} {long}"));
                note.updated_at = updated_at;
                put(writer, note);
            }
            let mut short = note("short.md", "Short", "Few words.");
            short.updated_at = 1;
            put(writer, short);
            writer.put_model(&identity("tiny", 4)).unwrap()
        });
        let (order, newest) = write(store, |writer| {
            (waiting(writer, model), writer.newest_chunk().unwrap())
        });
        let known = rows(&*store.reader().unwrap());
        let places: Vec<(&str, u32)> = order
            .iter()
            .map(|one| {
                let mut known = known.iter();
                let (key, _) = known.find(|(_, row)| **row == one.place.document).unwrap();
                (key.as_str(), one.place.ordinal)
            })
            .collect();
        let first: HashSet<&str> = places[..6].iter().map(|(key, _)| *key).collect();
        assert_eq!(first.len(), 6, "{places:?}");
        assert!(places[..6].iter().all(|(_, ordinal)| *ordinal == 0));
        assert_eq!(places[0], ("e.md", 0));
        assert_eq!(places[6], ("e.md", 1));
        assert_eq!(places[11..13], [("e.md", 2), ("e.md", 3)]);
        // What is stored later is asked for by itself, and has its place in the order.
        write(store, |writer| {
            assert_eq!(writer.pending_since(model, newest, 9).unwrap(), []);
            let mut late = note("late.md", "Late", &format!("late {long}"));
            late.updated_at = 9;
            put(writer, late);
        });
        write(store, |writer| {
            let late = writer.pending_since(model, newest, 99).unwrap();
            assert!(late.len() >= 12, "{late:?}");
            assert!(late.iter().all(|one| one.chunk > newest));
            assert_eq!(writer.pending_since(model, newest, 3).unwrap().len(), 3);
            let last = writer.newest_chunk().unwrap();
            assert_eq!(late.iter().map(|one| one.chunk).max(), Some(last));
            let order = waiting(writer, model);
            assert_eq!((order[0], order[7]), (late[0], late[1]));
            // A vector takes a chunk out of both.
            let vectors = [late[0], late[2]].map(|one| (one, vector_of(&one, 4)));
            writer.put_vectors(model, &vectors).unwrap();
            assert_eq!(waiting(writer, model).len(), order.len() - 2);
            let left = writer.pending_since(model, newest, 99).unwrap();
            assert_eq!((left.len(), left[0]), (late.len() - 2, late[1]));
        });
    });
}

#[test]
fn coverage_and_failures_are_counted() {
    on_each(|store| {
        write(store, fill);
        let reader = store.reader().unwrap();
        assert_eq!(reader.coverage(&Filter::default()).unwrap(), coverage(0, 0));
        let (model, pending) = write(store, |writer| {
            let model = writer.put_model(&identity("tiny", 4)).unwrap();
            (model, waiting(writer, model))
        });
        let all = pending.len() as u64;
        let failed = |at: usize, reason: &str| (pending[at], reason.to_owned());
        write(store, |writer| {
            let failures = [failed(0, "odd"), failed(1, "even"), failed(2, "even")];
            writer.put_failures(model, &failures).unwrap();
            let vector = (pending[0], vec![1.0, 0.0, 0.0, 0.0]);
            writer.put_vectors(model, &[vector]).unwrap();
        });
        let status = reader.embedding_status().unwrap();
        // A vector makes good for a failure before it.
        assert_eq!(status.failures, [("even".to_owned(), 2)]);
        let [(serving, vectors)] = &status.models[..] else {
            panic!("{status:?}");
        };
        assert_eq!((serving.key.as_str(), *vectors), ("tiny@1", 1));
        let expected = [
            ("chats".to_owned(), coverage(1, 1)),
            ("notes".to_owned(), coverage(all - 1, 0)),
        ];
        assert_eq!(status.sources, expected);
        assert_eq!(
            reader.coverage(&Filter::default()).unwrap(),
            coverage(all, 1)
        );
        assert_eq!(reader.coverage(&only("chats")).unwrap(), coverage(1, 1));
        assert_eq!(
            reader.coverage(&only("notes")).unwrap(),
            coverage(all - 1, 0)
        );
        assert_eq!(reader.coverage_by("tiny@1").unwrap(), coverage(all, 1));
        assert_eq!(reader.coverage_by("other@1").unwrap(), coverage(all, 0));
        write(store, |writer| embed(writer, model, 4));
        assert!(reader.embedding_status().unwrap().failures.is_empty());
        // Where all is embedded, a store may count all of it for any filter.
        let share = reader.coverage(&only("notes")).unwrap().share();
        assert!((share - 1.0).abs() < f64::EPSILON);
        // What is removed is counted no more.
        write(store, |writer| writer.remove_source("notes").unwrap());
        assert_eq!(reader.coverage_by("tiny@1").unwrap(), coverage(1, 1));
        assert_eq!(reader.embedding_status().unwrap().models[0].1, 1);
    });
}

#[test]
fn another_model_takes_over_once_it_serves() {
    on_each(|store| {
        write(store, fill);
        let reader = store.reader().unwrap();
        let first = write(store, |writer| {
            let first = writer.put_model(&identity("first", 4)).unwrap();
            embed(writer, first, 4);
            first
        });
        let second = write(store, |writer| {
            let second = writer.put_model(&identity("second", 6)).unwrap();
            assert_ne!(second, first);
            embed(writer, second, 6);
            second
        });
        let serving = |reader: &dyn Reader| reader.serving().unwrap().unwrap();
        assert_eq!(serving(&*reader).name, "first");
        assert_eq!(reader.vectors().unwrap().unwrap().model(), first);
        let models = reader.embedding_status().unwrap().models;
        let names: Vec<&str> = models.iter().map(|(it, _)| it.name.as_str()).collect();
        assert_eq!(names, ["first", "second"]);
        let row = rows(&*reader)["long.md"];
        assert_eq!(reader.vectors_of(row).unwrap()[0].len(), 4);

        write(store, |writer| writer.serve(second).unwrap());
        let now = serving(&*reader);
        assert_eq!((now.key.as_str(), now.dimensions), ("second@1", 6));
        assert_eq!(reader.vectors().unwrap().unwrap().model(), second);
        assert_eq!(reader.vectors_of(row).unwrap()[0].len(), 6);
        assert_eq!(reader.embedding_status().unwrap().models.len(), 1);
        assert_eq!(reader.coverage_by("first@1").unwrap().embedded, 0);
        let writer = store.writer("test").unwrap();
        assert!(waiting(&*writer, second).is_empty());
    });
}

fn span_of(reader: &dyn Reader, chunk: i64) -> Option<ChunkSpan> {
    let wanted = Wanted {
        spans: vec![chunk],
        ..Wanted::default()
    };
    reader.read(&wanted).unwrap().spans.remove(&chunk)
}

fn vector_of_chunk(reader: &dyn Reader, chunk: i64) -> Option<Vec<f32>> {
    let wanted = Wanted {
        chunks: vec![chunk],
        ..Wanted::default()
    };
    reader.read(&wanted).unwrap().chunks.remove(&chunk)
}

/// Returns the documents nearest to a query with their similarities: those that
/// still exist of the index over the vectors, and what it lacks.
fn nearest(reader: &dyn Reader, vectors: &dyn VectorIndex, query: &[f32]) -> Vec<(String, f32)> {
    let exist = reader.rows(&Filter::default(), None, None).unwrap();
    let queries = [query.to_vec()];
    let near = vectors.nearest(&queries, Some(&exist), 99, &Stop::default());
    let near = near.unwrap().unwrap();
    assert!(near.is_sorted_by(|one, next| one.similarity >= next.similarity));
    let mut found: Vec<_> = near
        .iter()
        .map(|near| (key_of(reader, near.document), near.similarity))
        .collect();
    for late in vectors.late() {
        assert!(span_of(reader, late.chunk).is_some());
        let similarity = kodiak::vector::dot(&late.vector, query);
        found.push((key_of(reader, late.row), similarity));
    }
    found.sort_by(|one, other| other.1.total_cmp(&one.1));
    found
}

#[test]
fn the_nearest_documents_are_found() {
    on_each(|store| {
        let unit = |at: usize| -> Vec<f32> {
            (0..4)
                .map(|number| f32::from(u8::from(number == at)))
                .collect()
        };
        write(store, |writer| {
            fill(writer);
            let model = writer.put_model(&identity("tiny", 4)).unwrap();
            let pending = waiting(writer, model);
            // The first two are the short documents' only chunks.
            let direction = |at: usize| unit(at.min(3));
            let vectors = pending.iter().zip(0..);
            let vectors: Vec<_> = vectors.map(|(it, at)| (*it, direction(at))).collect();
            writer.put_vectors(model, &vectors).unwrap();
        });
        store.writer("test").unwrap().refresh_vectors().unwrap();
        let reader = store.reader().unwrap();
        let known = rows(&*reader);
        let vectors = reader.vectors().unwrap().unwrap();
        assert_eq!(vectors.serving(), &reader.serving().unwrap().unwrap());
        let query = normalised(vec![0.9, 0.3, 0.6, 0.1]).unwrap();
        let found = nearest(&*reader, &*vectors, &query);
        let keys: Vec<&str> = found.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["chat", "long.md", "short.md"]);
        for ((_, similarity), expected) in found.iter().zip([query[0], query[2], query[1]]) {
            assert!((similarity - expected).abs() < TOLERANCE, "{found:?}");
        }
        // Queries need not have length one; each document counts by the nearest.
        let queries = [vec![5.0, 0.0, 0.0, 0.0], vec![0.0, 7.0, 0.0, 0.0]];
        let stop = Stop::default();
        let near = vectors.nearest(&queries, None, 2, &stop);
        let near = near.unwrap().unwrap();
        let similarities: Vec<f32> = near.iter().map(|near| near.similarity).collect();
        assert_eq!(near.len(), 2);
        assert!(similarities.iter().all(|one| (one - 1.0).abs() < TOLERANCE));
        let some: Bitmap = [known["long.md"]].into_iter().collect();
        let near = vectors.nearest(&queries, Some(&some), 9, &stop);
        let near = near.unwrap().unwrap();
        assert_eq!((near.len(), near[0].document), (1, known["long.md"]));
        let none = vectors.nearest(&queries, None, 0, &stop);
        assert!(none.unwrap().unwrap().is_empty());
        let stopped = Stop::default();
        stopped.cancel.cancel();
        let stopped = vectors.nearest(&queries, None, 2, &stopped);
        assert!(stopped.unwrap().is_none());

        let asked = [known["short.md"], 1_000_000, known["long.md"]];
        let chunks = vectors.chunks_of(&[unit(3)], &asked).unwrap();
        assert_eq!((chunks[0].len(), chunks[1].len()), (1, 0));
        let own = reader.vectors_of(known["long.md"]).unwrap();
        assert_eq!(chunks[2].len(), own.len());
        for ((chunk, similarity), vector) in chunks[2].iter().zip(&own) {
            assert!((similarity - vector[3]).abs() < TOLERANCE);
            let stored = vector_of_chunk(&*reader, *chunk);
            assert_eq!(stored.as_ref(), Some(vector));
        }
        assert_eq!(vector_of_chunk(&*reader, 1_000_000), None);
        assert_eq!(vectors.sum_of(known["short.md"]).unwrap(), None);
        assert_eq!(vectors.sum_of(1_000_000).unwrap(), None);
        let sum = vectors.sum_of(known["long.md"]).unwrap().unwrap();
        for (at, number) in sum.iter().enumerate() {
            let expected: f32 = own.iter().map(|vector| vector[at]).sum();
            assert!((number - expected).abs() < own.len() as f32 * TOLERANCE);
        }
    });
}

#[test]
fn what_an_index_over_vectors_lacks_is_told() {
    on_each(|store| {
        let model = write(store, |writer| {
            fill(writer);
            let model = writer.put_model(&identity("tiny", 4)).unwrap();
            embed(writer, model, 4);
            model
        });
        let reader = store.reader().unwrap();
        let all = |reader: &dyn Reader| {
            let vectors = reader.vectors().unwrap().unwrap();
            let late: Vec<Row> = vectors.late().iter().map(|late| late.row).collect();
            let rows: Vec<Row> = rows(reader).into_values().collect();
            let covered = vectors.chunks_of(&[], &rows).unwrap();
            let covered = rows.iter().zip(covered);
            let covered = covered.filter(|(_, chunks)| !chunks.is_empty());
            (covered.map(|(row, _)| *row).collect::<Vec<Row>>(), late)
        };
        assert!(all(&*reader).1.is_empty());
        write(store, |writer| {
            put(writer, note("late.md", "Late", "New words."));
            assert_eq!(embed(writer, model, 4), 1);
        });
        let (mut found, late) = all(&*reader);
        let row = rows(&*reader)["late.md"];
        assert!(late.is_empty() || late == [row], "{late:?}");
        found.extend(late);
        assert_eq!(found.iter().filter(|one| **one == row).count(), 1);
        // An index asked for now may have it or lack it, but not both.
        let now = reader.vectors().unwrap().unwrap();
        let keys = nearest(&*reader, &*now, &[1.0, 0.0, 0.0, 0.0]);
        assert_eq!(keys.iter().filter(|(key, _)| key == "late.md").count(), 1);
        // What is removed is lacked no more.
        write(store, |writer| {
            let entry = writer.reader().entry_states("notes").unwrap()["late.md"];
            writer.remove_entry("notes", entry.row.unwrap()).unwrap();
        });
        assert!(all(&*reader).1.is_empty());
        let now = reader.vectors().unwrap().unwrap();
        let keys = nearest(&*reader, &*now, &[1.0, 0.0, 0.0, 0.0]);
        assert_eq!(keys.len(), 3);
    });
}

#[test]
fn wrong_vectors_are_corrected() {
    on_each(|store| {
        let wrong = write(store, |writer| {
            fill(writer);
            assert_eq!(
                writer
                    .correct_vectors(&mut |_| panic!("no vectors"))
                    .unwrap(),
                0
            );
            let model = writer.put_model(&identity("tiny", 4)).unwrap();
            embed(writer, model, 4);
            writer
                .reader()
                .chunk_hashes_of(rows(writer.reader())["chat"])
                .unwrap()[0]
        });
        let right = vec![0.0, 0.0, 0.0, 1.0];
        let corrected = write(store, |writer| {
            writer.correct_vectors(&mut |hashes| {
                let known = hashes
                    .iter()
                    .map(|hash| (*hash == wrong).then(|| right.clone()));
                Ok(known.collect())
            })
        });
        assert_eq!(corrected.unwrap(), 1);
        let reader = store.reader().unwrap();
        let row = rows(&*reader)["chat"];
        assert_eq!(reader.vectors_of(row).unwrap(), [right]);
    });
}
