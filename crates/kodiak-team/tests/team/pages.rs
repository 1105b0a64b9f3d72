//! Pages of a team.

use kodiak::access::Guard;
use kodiak::document::Reference;
use kodiak::source::Draft;
use kodiak::{Error, Job};
use kodiak_notes::{Notes, PAGES_SOURCE};

use crate::servers::{found, teams};

fn draft(title: &str, body: &str) -> Draft {
    Draft {
        title: title.to_owned(),
        body: body.to_owned(),
        ..Draft::default()
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn pages_are_written_changed_renamed_and_deleted_from_any_server() {
    for team in teams() {
        let (one, other) = (team.server("one"), team.server("other"));
        let (me, job) = (Guard::local(), Job::default());
        let (here, there) = (Notes::new(&one), Notes::new(&other));
        let soup = draft("Ramen", "Simmer the broth for a day.\n");
        let first = here.create(&me, PAGES_SOURCE, &soup, &job).unwrap();
        assert!(first.indexed && first.key == "Ramen.md", "{first:?}");
        let other_soup = draft("Ramen", "A broth of mushrooms.\n");
        let second = there.create(&me, PAGES_SOURCE, &other_soup, &job);
        assert_eq!(second.unwrap().key, "Ramen 2.md");
        assert_eq!(found(&one, "broth"), ["Ramen 2.md", "Ramen.md"]);

        // Of two changes of one text, the second is refused.
        let read = |engine: &kodiak::Engine, name: &str| {
            let name = Reference::whole(name);
            engine.get(&me, &name).unwrap().document
        };
        let seen = read(&other, "Ramen.md").hash;
        let changed = draft("Ramen", "Simmer the bones for a day.\n");
        here.update(&me, PAGES_SOURCE, "Ramen.md", &changed, seen, &job)
            .unwrap();
        let late = there.update(&me, PAGES_SOURCE, "Ramen.md", &soup, seen, &job);
        assert!(matches!(late, Err(Error::Conflict { .. })), "{late:?}");
        assert_eq!(found(&other, "bones"), ["Ramen.md"]);

        let renamed = there
            .rename(&me, PAGES_SOURCE, "Ramen.md", "Tonkotsu", &job)
            .unwrap();
        assert_eq!(renamed.key, "Tonkotsu.md");
        assert_eq!(found(&one, "bones"), ["Tonkotsu.md"]);
        let taken = here.rename(&me, PAGES_SOURCE, "Ramen 2.md", "Tonkotsu", &job);
        assert_eq!(taken.unwrap().key, "Tonkotsu 2.md");

        let tags = ["soup".to_owned()];
        here.add_tags(&me, PAGES_SOURCE, "Tonkotsu.md", &tags, &job)
            .unwrap();
        assert_eq!(read(&other, "Tonkotsu.md").tags, ["soup"]);
        let retagged = there.rename_tag(&me, "soup", "broths", &job).unwrap();
        assert!(retagged.files == 1 && retagged.indexed, "{retagged:?}");
        assert_eq!(read(&one, "Tonkotsu.md").tags, ["broths"]);

        there
            .delete(&me, PAGES_SOURCE, "Tonkotsu.md", &job)
            .unwrap();
        assert!(found(&one, "bones").is_empty());
        let trash = here.trash(&me, PAGES_SOURCE).unwrap();
        assert_eq!(trash.len(), 1);
        assert_eq!(
            (trash[0].key.as_str(), trash[0].title.as_str()),
            ("Tonkotsu.md", "Tonkotsu")
        );
        here.restore(&me, PAGES_SOURCE, "Tonkotsu.md", &job)
            .unwrap();
        assert_eq!(found(&other, "bones"), ["Tonkotsu.md"]);
        let again = there.restore(&me, PAGES_SOURCE, "Tonkotsu.md", &job);
        assert!(matches!(again, Err(Error::NoDocument { .. })), "{again:?}");
    }
}
