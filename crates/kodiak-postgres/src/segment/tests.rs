//! Segments of random documents: what is written is read, a merge is what would have been
//! written at once, and damage is found.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{Builder, Damage, Deleted, Members, Merge, Postings, Segment};
use kodiak_store::Row;
use kodiak_text::terms::TermIndexer;
use kodiak_text::text::Stemming;

/// Words with stems, and scripts whose words overlap.
const WORDS: &str = "(bear|bears|running|river|a|数据库|据库|库|กขค)";

type Texts = [String; 3];

fn text(words: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    prop::collection::vec(WORDS, words).prop_map(|words| words.join(" "))
}

fn documents() -> impl Strategy<Value = BTreeMap<Row, Texts>> {
    let texts = (text(0..4), text(0..20), text(0..3));
    let texts = texts.prop_map(|(title, body, tags)| [title, body, tags]);
    prop::collection::btree_map(1_i64..1_000_000, texts, 0..12)
}

fn segment<'a>(documents: impl IntoIterator<Item = (&'a Row, &'a Texts)>) -> Segment {
    let mut indexer = TermIndexer::new(Stemming::English);
    let mut builder = Builder::default();
    for (&row, texts) in documents {
        builder.add(row, &indexer.index(texts.each_ref().map(String::as_str)));
    }
    builder.finish()
}

/// Writes a segment and reads it again.
fn again(segment: &Segment) -> Segment {
    let members = Members::decode(&segment.members.encode()).unwrap();
    let terms = segment.postings.iter().map(|(term, postings)| {
        let encoded = postings.encode();
        let count = members.len();
        let read = Postings::decode(&encoded.block, &encoded.positions, count).unwrap();
        (term.clone(), read)
    });
    Segment {
        postings: terms.collect(),
        members,
    }
}

/// Merges whole segments.
fn merge(parts: &[(Segment, Deleted)]) -> Segment {
    let members: Vec<_> = parts
        .iter()
        .map(|(one, gone)| (&one.members, gone))
        .collect();
    let merge = Merge::new(&members);
    let mut terms: BTreeMap<&str, Vec<(usize, Postings)>> = BTreeMap::new();
    for (number, (segment, _)) in parts.iter().enumerate() {
        for (term, postings) in &segment.postings {
            terms
                .entry(term)
                .or_default()
                .push((number, postings.clone()));
        }
    }
    let postings = terms
        .into_iter()
        .filter_map(|(term, parts)| Some((term.to_owned(), merge.term(&parts)?)));
    Segment {
        postings: postings.collect(),
        members: merge.members.clone(),
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(documents in documents()) {
        let made = segment(&documents);
        prop_assert_eq!(again(&made), made.clone());
        let rows: Vec<Row> = documents.keys().copied().collect();
        prop_assert_eq!(made.members.rows(), &rows);
        // The order in which documents are added does not matter.
        prop_assert_eq!(segment(documents.iter().rev()), made);
    }

    #[test]
    fn places_are_those_of_the_terms(documents in documents()) {
        let made = segment(&documents);
        let mut indexer = TermIndexer::new(Stemming::English);
        let mut places = 0;
        for (row, texts) in &documents {
            let terms = indexer.index(texts.each_ref().map(String::as_str));
            let ordinal = made.members.ordinal(*row).unwrap();
            for field in 0..3 {
                let mut position = None;
                for (term, is_edge_gram) in terms.column(field) {
                    let next = position.map_or(0, |position| position + 1);
                    let here = if is_edge_gram { position.unwrap_or(0) } else { next };
                    position = Some(here);
                    let at = made.postings.binary_search_by(|one| one.0.as_str().cmp(term));
                    let postings = &made.postings[at.unwrap()].1;
                    let found = postings.ordinals().binary_search(&ordinal).unwrap();
                    let is_here = postings
                        .places_at(found)
                        .iter()
                        .any(|place| (place.field_number(), place.position()) == (field, here));
                    prop_assert!(is_here, "{} {}", term, here);
                    places += 1;
                }
                let length = made.members.lengths(ordinal)[field];
                prop_assert_eq!(length, position.map_or(0, |position| position + 1));
            }
        }
        // And there are no others. A term may have one place as two edge grams.
        let stored: usize = made.postings.iter().flat_map(|(_, one)| one.iter()).map(|(_, all)| all.len()).sum();
        prop_assert!(stored <= places);
    }

    #[test]
    fn merged_segments_are_one_that_was_written_at_once(
        documents in documents(),
        parts in prop::collection::vec((0_usize..3, any::<bool>()), 12),
    ) {
        let mut kept = BTreeMap::new();
        let mut split: [BTreeMap<Row, Texts>; 3] = Default::default();
        let mut gone = Vec::new();
        for ((row, texts), (part, goes)) in documents.iter().zip(&parts) {
            split[*part].insert(*row, texts.clone());
            if *goes {
                gone.push(*row);
                // It moves to the next part, or is gone altogether.
                if part + 1 < split.len() {
                    split[part + 1].insert(*row, texts.clone());
                    kept.insert(*row, texts.clone());
                }
            } else {
                kept.insert(*row, texts.clone());
            }
        }
        let parts: Vec<(Segment, Deleted)> = split
            .iter()
            .enumerate()
            .map(|(number, documents)| {
                let segment = segment(documents);
                let mut deleted = Deleted::default();
                for (row, (part, _)) in documents.keys().map(|row| {
                    let at = parts_of(&gone, *row, &split);
                    (row, at)
                }) {
                    if part == Some(number) {
                        deleted.insert(segment.members.ordinal(*row).unwrap());
                    }
                }
                (segment, deleted)
            })
            .collect();
        prop_assert_eq!(merge(&parts), segment(&kept));
    }

    #[test]
    fn damage_is_found_and_nothing_panics(
        documents in documents(),
        at in any::<prop::sample::Index>(),
        bit in 0_u8..8,
        cut in any::<prop::sample::Index>(),
    ) {
        let made = segment(&documents);
        let members = made.members.encode();
        let mut wrong = members.clone();
        wrong[at.index(members.len())] ^= 1 << bit;
        prop_assert!(Members::decode(&wrong).is_err());
        prop_assert!(Members::decode(&members[..cut.index(members.len())]).is_err());
        for (_, postings) in made.postings {
            let encoded = postings.encode();
            let mut wrong = encoded.clone();
            wrong.block[at.index(encoded.block.len())] ^= 1 << bit;
            prop_assert!(Postings::decode(&wrong.block, &wrong.positions, made.members.len()).is_err());
            let mut wrong = encoded.clone();
            wrong.positions[at.index(encoded.positions.len())] ^= 1 << bit;
            prop_assert!(Postings::decode(&wrong.block, &wrong.positions, made.members.len()).is_err());
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(content in prop::collection::vec(any::<u8>(), 0..60)) {
        // With a right checksum, so that what is inside is looked at.
        let mut frame = super::frame::Writer::new();
        frame.bytes(&content);
        let frame = frame.finish();
        let _ = Members::decode(&frame);
        let _ = Deleted::decode(&frame, 40);
        let _ = Postings::decode(&frame, &frame, 40);
    }

    #[test]
    fn marks_are_kept(marked in prop::collection::btree_set(0_u32..500, 0..40)) {
        let mut deleted = Deleted::default();
        for &ordinal in &marked {
            prop_assert!(deleted.insert(ordinal));
            prop_assert!(!deleted.insert(ordinal));
        }
        let read = Deleted::decode(&deleted.encode(), 500).unwrap();
        prop_assert_eq!(&read, &deleted);
        prop_assert_eq!(read.len(), marked.len());
        prop_assert!((0..500).all(|one| read.contains(one) == marked.contains(&one)));
        if let Some(&last) = marked.last() {
            prop_assert!(Deleted::decode(&deleted.encode(), last as usize).is_err());
        }
    }
}

/// Returns the part in which a document that goes was first, and that it goes.
fn parts_of(gone: &[Row], row: Row, split: &[BTreeMap<Row, Texts>; 3]) -> (Option<usize>, bool) {
    if !gone.contains(&row) {
        return (None, false);
    }
    (split.iter().position(|part| part.contains_key(&row)), true)
}

#[test]
fn frames_of_other_versions_are_refused() {
    let mut frame = Members::default().encode();
    frame[0] = 9;
    let refused = Members::decode(&frame);
    assert_eq!(refused, Err(Damage("it has an unknown version")));
    assert_eq!(Members::decode(&[]), Err(Damage("it is empty")));
}
