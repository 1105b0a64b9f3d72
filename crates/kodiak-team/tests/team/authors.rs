//! Who wrote what: recorded by every write, and shown with every answer.

use kodiak::Job;
use kodiak::access::Guard;
use kodiak::document::Reference;
use kodiak::source::Draft;
use kodiak_memory::{Memories, TimelineRequest};
use kodiak_notes::{Notes, PAGES_SOURCE};

use crate::servers::{memory, teams};

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn every_memory_and_page_says_who_wrote_it() {
    for team in teams() {
        let (one, other) = (team.server("one"), team.server("other"));
        let job = Job::default();
        let [ada, ben] = ["ada", "ben"].map(|name| Guard::local().writing_as(name));
        let mut wanted = memory("The canary runs on Mondays.");
        wanted.metadata.insert("Author".into(), "eve".into());
        let said = Memories::new(&one).remember(&ada, &wanted, &job).unwrap();
        let everything = TimelineRequest {
            limit: 10,
            refresh: true,
            ..TimelineRequest::default()
        };
        let timeline = Memories::new(&other).timeline(&ben, &everything).unwrap();
        let entry = timeline.entries.iter().find(|one| one.path == said.key);
        assert_eq!(entry.unwrap().author.as_deref(), Some("ada"));

        let draft = Draft {
            title: "Runbook".to_owned(),
            body: "Ask the person on call.\n".to_owned(),
            ..Draft::default()
        };
        let notes = Notes::new(&one);
        notes.create(&ada, PAGES_SOURCE, &draft, &job).unwrap();
        let page = || {
            let name = Reference::whole("Runbook.md");
            other.get(&ben, &name).unwrap().document
        };
        let text = || {
            Notes::new(&other)
                .text(&ben, PAGES_SOURCE, "Runbook.md")
                .unwrap()
        };
        assert_eq!(page().author.as_deref(), Some("ada"));
        assert!(!text().text.contains("updated_by"));
        let seen = text();
        let new = "---\nauthor: ben\n---\nAsk nobody.\n";
        Notes::new(&other)
            .replace(&ben, PAGES_SOURCE, "Runbook.md", new, seen.hash, &job)
            .unwrap();
        assert_eq!(page().author.as_deref(), Some("ada"));
        assert!(text().text.contains("updated_by: ben"), "{}", text().text);
        notes
            .update(&ada, PAGES_SOURCE, "Runbook.md", &draft, page().hash, &job)
            .unwrap();
        assert!(!text().text.contains("updated_by"), "{}", text().text);
        let hits = other
            .search(&ben, &kodiak::search::Request::new("person on call"))
            .unwrap()
            .hits;
        assert_eq!(hits[0].author.as_deref(), Some("ada"));
    }
}
