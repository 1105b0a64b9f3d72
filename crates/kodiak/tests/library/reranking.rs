//! Reranking: what a cross-encoder changes, and what it must not.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use kodiak::Stop;
use kodiak::access::Guard;
use kodiak::model::{install_from_folder, verify};
use kodiak::rerank::{CrossEncoder, RerankError, Reranker};
use kodiak::search::{Answer, Mode, Request, Router};

use crate::collection::{Collection, ask, ask_in, paths};
use crate::embedders::tiny;

/// A reranker that scores by a function and keeps what it was given.
struct Judge {
    score: fn(&str) -> f32,
    seen: Mutex<Vec<String>>,
}

impl Judge {
    fn new(score: fn(&str) -> f32) -> Arc<Self> {
        Arc::new(Self {
            score,
            seen: Mutex::default(),
        })
    }
}

impl Reranker for Judge {
    fn name(&self) -> &'static str {
        "judge"
    }

    fn scores(&self, _: &str, texts: &[&str], _: &Stop) -> Result<Vec<f32>, RerankError> {
        let mut seen = self.seen.lock().unwrap();
        seen.extend(texts.iter().map(|&text| text.to_owned()));
        Ok(texts.iter().map(|text| (self.score)(text)).collect())
    }
}

/// A reranker that works until it is stopped.
struct Slow;

impl Reranker for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }

    fn scores(&self, _: &str, _: &[&str], stop: &Stop) -> Result<Vec<f32>, RerankError> {
        while !stop.is_reached() {
            thread::sleep(Duration::from_millis(1));
        }
        Err(RerankError::Stopped)
    }
}

fn reranked(query: &str) -> Request {
    Request {
        rerank: true,
        explain: true,
        ..ask(query)
    }
}

fn answer(notes: &Collection, reranker: Option<Arc<dyn Reranker>>, request: &Request) -> Answer {
    Router::new(&notes.store(), &[], Guard::local())
        .with_embedder(Some(tiny()))
        .with_reranker(reranker)
        .search(request)
        .unwrap()
}

fn codes(answer: &Answer) -> Vec<&str> {
    answer
        .notices
        .iter()
        .map(kodiak::search::Caveat::code)
        .collect()
}

/// Notes that all have the words of "budget for the trip", the first the most.
fn trips(count: usize) -> Collection {
    let notes = Collection::new(&[]);
    for number in 0..count {
        let often = "budget trip ".repeat(count - number);
        let text = format!("# Note {number:02}\n\n{often}\n\nmarker{number:02}");
        notes.write(&format!("{number:02}.md"), text);
    }
    notes.sync();
    notes
}

#[test]
fn a_cross_encoder_from_a_folder_reorders_the_hits() {
    let place = tempfile::tempdir().unwrap();
    let (folder, cache) = (place.path().join("cross"), place.path().join("cache"));
    tiny_model::write_cross_encoder(&folder).unwrap();
    let model = install_from_folder(&folder, None, &cache).unwrap();
    verify(&model).unwrap();
    assert!(model.settings.is_reranker());
    let reranker: Arc<dyn Reranker> = Arc::new(CrossEncoder::new(&model));
    // Both have the word; only one is about it.
    let notes = Collection::new(&[
        (
            "word.md",
            "# Noodles\n\nnoodles, noodles: tax, mortgage, loan, debt",
        ),
        (
            "meaning.md",
            "# Lunch\n\nnoodles, ramen, broth, soup, dashi, miso, garlic",
        ),
    ]);
    notes.sync();
    let query = "what goes into noodles at home";
    let before = answer(&notes, None, &ask_in(Mode::Lexical, query));
    let request = Request {
        mode: Mode::Lexical,
        ..reranked(query)
    };
    let scores = |text| {
        let scores = reranker.scores(query, &[text], &Stop::default());
        scores.unwrap()[0]
    };
    assert!(scores("ramen broth soup") > scores("tax mortgage loan") + 0.5);
    let after = answer(&notes, Some(Arc::clone(&reranker)), &request);
    assert_eq!(after.retrievers.reranker.as_deref(), Some("cross"));
    assert_eq!(codes(&after), codes(&before));
    let judged: Vec<f64> = after
        .hits
        .iter()
        .map(|hit| hit.explanation.as_ref().unwrap().reranked.unwrap())
        .collect();
    let of = |path: &str| judged[paths(&after).iter().position(|it| it == path).unwrap()];
    assert!(of("meaning.md") > of("word.md"), "{judged:?}");
}

#[test]
fn an_unusable_cross_encoder_is_refused_when_it_is_installed() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("cross");
    tiny_model::write(&folder).unwrap();
    // An embedding model that claims to be a reranker.
    let path = folder.join("model.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("\"mean\"", "\"pair\"")).unwrap();
    let error = install_from_folder(&folder, None, &place.path().join("cache")).unwrap_err();
    assert!(error.to_string().contains("instead of one"), "{error}");
}

#[test]
fn the_reranker_and_the_search_both_count() {
    let notes = trips(5);
    let before = answer(&notes, None, &ask("budget trip"));
    assert_eq!(before.hits[0].path, "00.md");
    let judge = Judge::new(|text| f32::from(u8::from(text.contains("marker01"))));
    let after = answer(&notes, Some(judge), &reranked("budget trip"));
    assert_eq!(after.hits[0].path, "01.md");
    // The rest keeps its order, and the scores stay with the places.
    let rest = |answer: &Answer| {
        let mut paths = paths(answer);
        paths.retain(|path| path != "01.md");
        paths
    };
    assert_eq!(rest(&after), rest(&before));
    let scores = |answer: &Answer| answer.hits.iter().map(|hit| hit.score).collect::<Vec<_>>();
    assert_eq!(scores(&after), scores(&before));
    // The last by far does not become the first.
    let judge = Judge::new(|text| f32::from(u8::from(text.contains("marker04"))));
    let after = answer(&notes, Some(judge), &reranked("budget trip"));
    assert_eq!(after.hits[0].path, "00.md");
}

#[test]
fn a_title_that_is_what_was_typed_stays_first() {
    let notes = trips(4);
    notes.write(
        "title.md",
        "# Budget trip\n\nbudget trip, budget trip, budget trip",
    );
    notes.sync();
    let before = answer(&notes, None, &ask("budget trip"));
    assert_eq!(before.hits[0].path, "title.md");
    let judge = Judge::new(|text| {
        if text.starts_with("Budget trip") {
            -9.0
        } else {
            9.0
        }
    });
    let after = answer(&notes, Some(judge), &reranked("budget trip"));
    assert_eq!(after.hits[0].path, "title.md");
}

#[test]
fn only_the_beginning_of_the_best_twenty_is_read() {
    let notes = trips(30);
    for number in 0..30 {
        let text = format!("# Note {number}\n\nbudget trip\n\n{}", "é ".repeat(4_000));
        notes.write(&format!("{number:02}.md"), text);
    }
    notes.sync();
    let judge = Judge::new(|_| 1.0);
    let request = Request {
        limit: 30,
        ..reranked("budget trip")
    };
    let after = answer(&notes, Some(judge.clone()), &request);
    assert_eq!(after.hits.len(), 30);
    let seen = judge.seen.lock().unwrap();
    assert_eq!(seen.len(), 20);
    assert!(
        seen.iter().all(|text| text.len() <= 2_100),
        "{}",
        seen[0].len()
    );
    // What was not reranked is not said to be.
    let judged = |hit: &kodiak::search::Hit| hit.explanation.as_ref().unwrap().reranked;
    assert!(after.hits[..20].iter().all(|hit| judged(hit).is_some()));
    assert!(after.hits[20..].iter().all(|hit| judged(hit).is_none()));
}

#[test]
fn whatever_fails_the_order_stays_and_a_notice_says_why() {
    let notes = trips(5);
    let before = answer(&notes, None, &ask("budget trip"));
    let odd = Judge::new(|_| f32::NAN);
    let cases: [(Option<Arc<dyn Reranker>>, &str); 3] = [
        (None, "the hits were not reranked: no reranker is set up"),
        (
            Some(Arc::new(Slow)),
            "the hits were not reranked: slow: it took too long",
        ),
        (Some(odd), ""),
    ];
    for (reranker, expected) in cases {
        let after = Router::new(&notes.store(), &[], Guard::local())
            .with_embedder(Some(tiny()))
            .with_reranker(reranker)
            .with_deadline(Duration::from_millis(200))
            .search(&reranked("budget trip"))
            .unwrap();
        assert_eq!(paths(&after), paths(&before));
        let said = after.notices.sentences();
        if expected.is_empty() {
            // Scores that are not numbers change nothing either.
            continue;
        }
        assert!(said.contains(&expected.to_owned()), "{said:?}");
        assert!(codes(&after).contains(&"not-reranked"));
        assert_eq!(after.retrievers.reranker, None);
    }
    // It was not asked for, or there is no query.
    let judge = Judge::new(|_| 1.0);
    answer(&notes, Some(judge.clone()), &ask("budget trip"));
    answer(&notes, Some(judge.clone()), &reranked("*"));
    assert!(judge.seen.lock().unwrap().is_empty());
}
