//! Memories of a team: remembered on one server, found and changed on another.

use kodiak::Job;
use kodiak::access::Guard;
use kodiak::engine::ToSync;
use kodiak::search::Request;
use kodiak_memory::{Article, Memories, Memory, Recall};

use crate::servers::{found, memory, remember, search, teams};

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn what_one_server_remembers_another_finds() {
    for team in teams() {
        let (one, other) = (team.server("one"), team.server("other"));
        let (me, job) = (Guard::local(), Job::default());
        let said = remember(&one, "The staging database is reset every Monday.");
        assert!(said.indexed && !said.deduplicated, "{said:?}");
        let recall = Recall {
            request: Request::new("staging"),
            ..Recall::default()
        };
        let recalled = Memories::new(&other).recall(&me, &recall).unwrap();
        assert_eq!(recalled.answer.hits[0].path, said.key);
        let again = remember(&other, "The staging database is reset every Monday!");
        assert!(again.deduplicated && again.key == said.key, "{again:?}");

        // A correction, by the other server.
        let correction = Memory {
            supersedes: vec![said.key.clone()],
            ..memory("The staging database is reset every Tuesday.")
        };
        let correction = Memories::new(&other)
            .remember(&me, &correction, &job)
            .unwrap();
        assert!(!correction.deduplicated);
        let answer = search(&one, "staging database reset");
        let old = answer.hits.iter().find(|hit| hit.path == said.key).unwrap();
        assert_eq!(old.superseded_by.as_ref(), Some(&correction.id));

        let article = Article {
            memory: Memory {
                source: "article".to_owned(),
                title: Some("Consensus".to_owned()),
                ..memory("A quorum is a majority of the replicas.")
            },
            source_ref: Some("https://example.org/raft".to_owned()),
            ..Article::default()
        };
        let article = Memories::new(&one)
            .save_article(&me, &article, &job)
            .unwrap();
        assert_eq!(found(&other, "quorum"), [article.key]);
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn forgetting_and_restoring_work_from_any_server() {
    for team in teams() {
        let (one, other) = (team.server("one"), team.server("other"));
        let (me, job) = (Guard::local(), Job::default());
        let said = remember(&one, "Badgers dig their setts in sandy soil.");
        let forgotten = Memories::new(&other)
            .forget(&me, std::slice::from_ref(&said.key), &job)
            .unwrap();
        assert!(forgotten[0].moved && forgotten[0].indexed, "{forgotten:?}");
        // It was the only one, and nothing is taken for a source that is away.
        assert!(found(&one, "badgers").is_empty());
        let report = one.sync(&me, ToSync::All, &job).unwrap();
        assert!(report.is_complete(), "{report:?}");
        let trash = Memories::new(&one).trash(&me).unwrap();
        assert_eq!(trash.len(), 1);
        assert_eq!(trash[0].document.key, said.key);
        let restored = Memories::new(&one).restore(&me, &said.key, &job).unwrap();
        assert!(restored.indexed && restored.key == said.key, "{restored:?}");
        assert_eq!(found(&other, "badgers"), std::slice::from_ref(&said.key));
        assert!(Memories::new(&other).trash(&me).unwrap().is_empty());

        // The same text again is known, and twice in the trash it has two names.
        for _ in 0..2 {
            let again = remember(&one, "Badgers dig their setts in sandy soil.");
            let names = [again.key];
            Memories::new(&other).forget(&me, &names, &job).unwrap();
        }
        assert_eq!(Memories::new(&one).trash(&me).unwrap().len(), 2);
        // An index that is filled again has what the rows have.
        let kept = remember(&one, "Otters hold hands while they sleep.");
        other.rebuild(&me, false, &job).unwrap();
        assert_eq!(found(&one, "otters"), [kept.key]);
        assert!(found(&one, "badgers").is_empty());
    }
}
