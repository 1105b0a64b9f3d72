//! Counting documents by what they have in common.

use kodiak::store::{Filter, Writer};

use super::{note, on_both, put, rows};

#[test]
fn documents_are_counted_by_what_they_have_in_common() {
    let change = |writer: &mut dyn Writer| {
        for (key, at, tag) in [
            ("a.md", -1, "Food"),
            ("b.md", 86_400, "food"),
            ("c.md", 9, "sea"),
        ] {
            let mut document = note(key, key, "text");
            (document.created_at, document.tags) = (Some(at), vec![tag.to_owned()]);
            document.project = (at > 0).then(|| "/atlas".to_owned());
            put(writer, document);
        }
    };
    on_both(change, |sqlite, memory| {
        let [one, other] = [sqlite, memory].map(|store| {
            let reader = store.reader().unwrap();
            let mut rows: Vec<_> = rows(&*reader).into_values().collect();
            rows.sort_unstable();
            let days = reader.days(&Filter::default()).unwrap();
            (
                reader.facets(&rows).unwrap(),
                days,
                reader.facets(&[]).unwrap(),
            )
        });
        assert_eq!(one, other);
        assert_eq!(one.0.projects["/atlas"], 2);
        assert_eq!(one.0.tags.values().sum::<u64>(), 3);
        assert!(one.1.iter().eq([(&-1, &1), (&0, &1), (&1, &1)]) && one.0.days == one.1);
    });
}
