use proptest::prelude::*;

use super::*;

fn note() -> Note {
    Note {
        identifier: "A-1".into(),
        title: "Bread".into(),
        text: "# Bread\n#food/baking\n\nAn hour.".into(),
        tags: Some(vec!["food".into(), "food/baking".into()]),
        state: NoteState {
            created: Some(0.0),
            modified: Some(791_542_800.75),
            ..NoteState::default()
        },
        ..Note::default()
    }
}

#[test]
fn a_note_becomes_a_document() {
    let document = note().into_document("bear");
    assert_eq!((&*document.source, &*document.key), ("bear", "A-1"));
    assert_eq!((&*document.title, &*document.kind), ("Bread", "note"));
    assert_eq!(document.tags, ["food", "food/baking"]);
    assert_eq!(document.created_at, Some(978_307_200));
    assert_eq!(
        kodiak_text::date::format(document.updated_at),
        "2026-01-31T09:00:00Z"
    );
    assert!(document.fields.is_empty());
}

#[test]
fn what_bear_left_out_is_made_up_for() {
    let titles = [
        ("Own", "# Heading\n\ntext", "Own"),
        ("", "# Heading\n\ntext", "Heading"),
        (" ", "\n\nfirst line\nsecond", "first line"),
        ("", "", "untitled"),
    ];
    for (title, text, expected) in titles {
        let document = Note {
            title: title.into(),
            text: text.into(),
            ..Note::default()
        }
        .into_document("bear");
        assert_eq!(document.title, expected);
        assert_eq!((document.updated_at, document.created_at), (0, None));
    }
    // Without a table of tags, those in the text count.
    let mut untabled = note();
    untabled.tags = None;
    assert_eq!(untabled.into_document("bear").tags, ["food/baking"]);
    let mut untagged = note();
    untagged.tags = Some(Vec::new());
    assert!(untagged.into_document("bear").tags.is_empty());
}

#[test]
fn recognised_text_follows_the_text_of_the_note() {
    let mut note = note();
    note.files = vec![
        NoteFile {
            name: "scan.pdf".into(),
            text: "Invoice 4711\n".into(),
            ..NoteFile::default()
        },
        NoteFile {
            text: "sign".into(),
            ..NoteFile::default()
        },
    ];
    let document = note.into_document("bear");
    assert_eq!(
        document.body,
        "# Bread\n#food/baking\n\nAn hour.\n\n## scan.pdf (attachment)\n\nInvoice 4711\n\n\
         ## file (attachment)\n\nsign\n"
    );
    assert_eq!(document.title, "Bread");
}

#[test]
fn every_change_shows_in_the_version_and_every_shown_one_in_the_hash() {
    let version = |note: &Note| note.version(1_000);
    let changes: [fn(&mut Note); 8] = [
        |note| note.state.saves += 1,
        |note| note.state.modified = Some(1.0),
        |note| note.state.created = None,
        |note| note.state.archived = true,
        |note| note.state.pinned = true,
        |note| note.state.bytes += 1,
        |note| note.tags = Some(vec!["food".into()]),
        |note| note.files.push(NoteFile::default()),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let mut other = note();
        change(&mut other);
        assert_ne!(version(&other), version(&note()), "{number}");
        let hash = |note: Note| note.into_document("bear").hash;
        let shown = matches!(number, 3 | 4 | 6 | 7);
        assert_eq!(hash(other) != hash(note()), shown, "{number}");
    }
    let mut large = note();
    large.state.bytes = 2_000;
    assert_ne!(large.version(1_000), large.version(1_500));
    assert_eq!(note().version(1_000), note().version(1_500));
}

proptest! {
    #[test]
    fn times_are_right_to_the_second(seconds in -3_000_000_000_i64..6_000_000_000, part in 0.0..0.999) {
        let bears = (seconds - 978_307_200) as f64 + part;
        prop_assert_eq!(timestamp(bears), Some(seconds));
    }

    #[test]
    fn no_number_is_a_time_that_cannot_be_written(bits: u64) {
        if let Some(timestamp) = timestamp(f64::from_bits(bits)) {
            prop_assert!(!kodiak_text::date::format(timestamp).is_empty());
        }
    }
}
