//! Finding memories: what was corrected, what was restated, and where it belongs.

use std::collections::BTreeSet;

use kodiak::date;
use kodiak::engine::Job;
use kodiak::search::{Caveat, Mode, Request};
use kodiak::store::Filter;
use kodiak_memory::{Article, Knowledge, Memories, Memory, Recall};

use super::{Place, me, memory, remember, request, sync};

#[test]
fn what_is_superseded_ranks_below_and_is_marked() {
    let place = Place::new();
    let engine = place.engine();
    let at = |day: &str| date::parse(day);
    let old = remember(
        &engine,
        &Memory {
            created_at: at("2026-01-10"),
            ..memory("Deployment happens with capistrano from the office.")
        },
    );
    let new = remember(
        &engine,
        &Memory {
            created_at: at("2026-03-10"),
            supersedes: vec![old.id.clone()],
            ..memory("Releases are made by the pipeline.")
        },
    );
    let newest = remember(
        &engine,
        &Memory {
            created_at: at("2026-05-10"),
            supersedes: vec![new.key.clone()],
            ..memory("Nobody releases by hand: argo does.")
        },
    );
    let hits = |request: &Request| {
        let hits = engine.search(&me(), request).unwrap().hits;
        let hits = hits
            .into_iter()
            .map(|hit| (hit.card.path, hit.superseded_by));
        hits.collect::<Vec<_>>()
    };
    // The words of the oldest lead to the newest.
    assert_eq!(
        hits(&request("capistrano office")),
        [
            (newest.key.clone(), None),
            (old.key.clone(), Some(newest.id.clone())),
        ]
    );
    let all = hits(&request("releases pipeline capistrano"));
    let keys: Vec<&String> = all.iter().map(|(key, _)| key).collect();
    assert_eq!(keys, [&newest.key, &new.key, &old.key]);
    let then = |day: &str, query: &str| {
        hits(&Request {
            filter: Filter {
                as_of: Some(date::parse_end(day).unwrap()),
                ..Filter::default()
            },
            ..request(query)
        })
    };
    assert_eq!(then("2026-02", "capistrano"), [(old.key.clone(), None)]);
    assert_eq!(
        then("2026-04-01", "capistrano"),
        [
            (new.key.clone(), None),
            (old.key.clone(), Some(new.id.clone()))
        ]
    );
    assert_eq!(then("2025", "capistrano"), []);
    // What must occur, or what the filter leaves out, does not join.
    assert_eq!(hits(&request("\"capistrano\"")).len(), 1);
    let filtered = Request {
        filter: Filter {
            before: date::parse("2026-02-01"),
            ..Filter::default()
        },
        ..request("capistrano")
    };
    assert!(
        hits(&filtered)
            .iter()
            .any(|(key, newer)| *key == old.key && newer.is_some())
    );
    // In a circle nothing is the newest.
    place.write("x.md", "---\nid: x\nsupersedes: y\n---\nquokka one\n");
    place.write("y.md", "---\nid: y\nsupersedes: x\n---\nquokka two\n");
    sync(&engine);
    let circle = hits(&request("quokka"));
    assert!(circle.len() == 2 && circle.iter().all(|(_, newer)| newer.is_none()));
}

#[test]
fn restatements_are_one_hit_and_everything_else_is_there() {
    let place = Place::new();
    let engine = place.engine();
    let beginnings = ["", "Note: ", "Remember, ", "As said, ", "Again: "];
    let forms = [
        "the staging database password rotates every Friday.",
        "every Friday the staging database password rotates.",
        "the password of the staging database rotates every Friday.",
        "the staging database rotates its password every Friday.",
        "Friday is when the staging database password rotates.",
        "on Friday, the password of the staging database rotates.",
        "the database password, that of staging, rotates each Friday.",
        "rotates every Friday: the staging database password.",
        "each Friday the password for the staging database rotates.",
        "it is the staging database password that rotates on Friday.",
    ];
    let mut count = 0;
    for beginning in beginnings {
        for form in forms {
            let forced = Memory {
                force: true,
                ..memory(&format!("{beginning}{form}"))
            };
            assert!(!remember(&engine, &forced).deduplicated, "{}", forced.text);
            count += 1;
        }
    }
    assert_eq!(count, 50);
    let mut others = BTreeSet::new();
    for other in [
        "The production database runs version 17 of Postgres.",
        "Each database backup is kept for 30 days.",
        "A password needs 16 characters.",
        "Staging is in Frankfurt.",
        "The database of the shop has no replica.",
        "On Friday nobody deploys.",
        "The staging certificates are renewed by a script.",
        "Ana owns the database schema.",
        "Password resets go through the portal.",
        "Load tests run on staging only.",
    ] {
        others.insert(remember(&engine, &memory(other)).key);
    }
    let wanted = Request {
        limit: 11,
        mode: Mode::Lexical,
        ..request("staging database password Friday")
    };
    let hits = engine.search(&me(), &wanted).unwrap().hits;
    assert_eq!(hits.len(), 11);
    assert_eq!(hits[0].also_in.len(), 49);
    let rest: BTreeSet<String> = hits[1..].iter().map(|hit| hit.path.clone()).collect();
    assert_eq!(rest, others);
}

#[test]
fn the_present_project_comes_first_and_a_project_ranks_as_a_search_of_it() {
    let place = Place::new();
    let engine = place.engine();
    let turns = [
        ("Ana: we cache the rates in redis", "/src/api"),
        ("Ben: why not in memory?", "/src/api"),
        ("Ana: redis survives a restart, memory does not", "/src/api"),
        ("Ben: then redis it is, for rates and limits", "/src/api"),
        ("Cleo: the web shop caches prices in redis", "/src/web"),
        ("Cleo: redis is too slow for the search page", "/src/web"),
    ];
    for (number, (text, project)) in turns.iter().enumerate() {
        remember(
            &engine,
            &Memory {
                project: Some((*project).to_owned()),
                session: Some(format!("talk of {project}")),
                created_at: Some(1_769_817_600 + number as i64),
                ..memory(text)
            },
        );
    }
    let projects: Vec<(String, u64)> = engine.view(&me()).projects(&Filter::default()).unwrap();
    assert_eq!(
        projects,
        [("/src/api".to_owned(), 4), ("/src/web".to_owned(), 2)]
    );
    for query in [
        "redis",
        "why redis and not memory",
        "rates and limits",
        "slow",
    ] {
        let limited = Request {
            filter: Filter {
                projects: vec!["/src/api".to_owned()],
                ..Filter::default()
            },
            ..request(query)
        };
        let recalled = Memories::new(&engine).recall(
            &me(),
            &Recall {
                request: limited.clone(),
                knowledge: Knowledge::Experience,
                project: Some("/src/web".to_owned()),
            },
        );
        let searched = engine.search(&me(), &limited).unwrap();
        let ranking = |hits: &[kodiak::search::Hit]| {
            let ranked = hits
                .iter()
                .map(|hit| (hit.path.clone(), hit.score.to_bits()));
            ranked.collect::<Vec<_>>()
        };
        assert_eq!(
            ranking(&recalled.unwrap().answer.hits),
            ranking(&searched.hits),
            "{query}"
        );
    }
    let recall = |limit, project: &str| {
        let recalled = Memories::new(&engine).recall(
            &me(),
            &Recall {
                request: Request {
                    limit,
                    ..request("redis")
                },
                knowledge: Knowledge::Memories,
                project: Some(project.to_owned()),
            },
        );
        let recalled = recalled.unwrap();
        let hits = recalled.answer.hits.into_iter();
        let labels: Vec<(String, bool)> = hits
            .map(|hit| (hit.card.project.unwrap(), hit.elsewhere))
            .collect();
        (recalled.here, labels)
    };
    let (web, api) = ("/src/web".to_owned(), "/src/api".to_owned());
    let (here, hits) = recall(10, "/src/web");
    assert_eq!(here, 2);
    assert_eq!(hits[..2], [(web.clone(), false), (web.clone(), false)]);
    assert!(hits[2..].iter().all(|hit| *hit == (api.clone(), true)) && hits.len() == 5);
    // Some room is kept for the rest.
    let (here, hits) = recall(3, "/src/api");
    assert_eq!((here, hits.len()), (2, 3));
    assert_eq!(hits[2], (web, true));
    // Both searches leave out all they find, which is said once.
    let strict = Recall {
        request: Request {
            min_relevance: 1.0,
            ..request("redis")
        },
        knowledge: Knowledge::Memories,
        project: Some("/src/web".to_owned()),
    };
    let answer = Memories::new(&engine)
        .recall(&me(), &strict)
        .unwrap()
        .answer;
    assert_eq!((answer.hits.len(), answer.suggestions.len()), (0, 0));
    let left_out = |notice: &Caveat| match notice {
        Caveat::BelowMinRelevance { count, .. } => Some(*count),
        _ => None,
    };
    let counts: Vec<usize> = answer.notices.iter().filter_map(left_out).collect();
    assert_eq!(counts, [5]);
    let (here, hits) = recall(10, "/src/other");
    assert_eq!((here, hits.len()), (0, 5));
    assert!(hits.iter().all(|(_, elsewhere)| *elsewhere));
}

#[test]
fn knowledge_is_memories_articles_or_everything() {
    let place = Place::new();
    let engine = place.engine();
    remember(&engine, &memory("Buckets limit rates."));
    let article = Article {
        memory: Memory {
            source: "article".to_owned(),
            title: Some("Token buckets".to_owned()),
            category: Some("networks".to_owned()),
            ..memory("Buckets are filled with tokens at a steady rate.")
        },
        source_type: Some("web".to_owned()),
        source_ref: Some("https://example.org/buckets".to_owned()),
    };
    let article = Article {
        memory: Memory {
            source: "article".to_owned(),
            ..article.memory.clone()
        },
        ..article
    };
    let saved = Memories::new(&engine)
        .save_article(&me(), &article, &Job::default())
        .unwrap();
    assert!(
        place
            .root()
            .join(format!("articles/{}.md", saved.key))
            .exists()
    );
    let untitled = Article {
        memory: Memory {
            title: None,
            ..article.memory.clone()
        },
        ..article
    };
    Memories::new(&engine)
        .save_article(&me(), &untitled, &Job::default())
        .unwrap_err();
    let recall = |knowledge, filter: Filter| {
        let recall = Recall {
            request: Request {
                filter,
                ..request("buckets")
            },
            knowledge,
            project: None,
        };
        let hits = Memories::new(&engine)
            .recall(&me(), &recall)
            .unwrap()
            .answer
            .hits;
        let mut sources: Vec<String> = hits.into_iter().map(|hit| hit.card.source).collect();
        sources.sort();
        sources.join(" ")
    };
    let all = Filter::default;
    assert_eq!(recall(Knowledge::Everything, all()), "article memory");
    assert_eq!(recall(Knowledge::Memories, all()), "memory");
    assert_eq!(recall(Knowledge::Articles, all()), "article");
    assert_eq!(recall(Knowledge::Experience, all()), "memory");
    let networks = Filter {
        categories: vec!["networks".to_owned()],
        ..Filter::default()
    };
    assert_eq!(recall(Knowledge::Everything, networks), "article");
    let from = Memories::new(&engine)
        .observations(&me(), &[saved.key])
        .unwrap();
    let reference = (
        "source_ref".to_owned(),
        "https://example.org/buckets".to_owned(),
    );
    assert!(from.observations[0].fields.contains(&reference));
}
