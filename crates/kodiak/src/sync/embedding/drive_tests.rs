//! Tests of how an embedder is driven, with a scripted embedder.

use std::sync::atomic::AtomicU32;

use super::*;
use crate::embed::{Identity, Limits};

type Answer = dyn Fn(&[&str]) -> Result<Vec<Vec<f32>>, EmbedError> + Send + Sync;

struct Fake {
    identity: Identity,
    limits: Limits,
    calls: Mutex<Vec<Vec<String>>>,
    answer: Box<Answer>,
}

impl Fake {
    fn new(
        max_batch: usize,
        concurrency: usize,
        answer: impl Fn(&[&str]) -> Result<Vec<Vec<f32>>, EmbedError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            identity: Identity {
                name: "fake".to_owned(),
                revision: "0".to_owned(),
                dimensions: 1,
            },
            limits: Limits {
                max_tokens: 512,
                max_batch,
                concurrency,
            },
            calls: Mutex::default(),
            answer: Box::new(answer),
        }
    }

    /// Returns the number of texts in each call.
    fn sizes(&self) -> Vec<usize> {
        self.calls.lock().unwrap().iter().map(Vec::len).collect()
    }

    /// Embeds texts that are numbers, and returns the outcome of each.
    fn run(&self, count: usize, cancel: &Cancel, until: Option<Instant>) -> Ran {
        let drive = Drive {
            embedder: self,
            until,
            cancel,
        };
        let texts: Vec<String> = (0..count).map(|number| number.to_string()).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let mut outcomes = vec![None; count];
        let failure = drive.run(&texts, &mut |known| {
            for (index, outcome) in known {
                assert_eq!(outcomes[index].replace(outcome), None, "{index} came twice");
            }
        });
        Ran { outcomes, failure }
    }
}

impl Embedder for Fake {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn minimum_similarity(&self) -> f32 {
        0.0
    }

    fn limits(&self) -> Limits {
        self.limits
    }

    fn embed(&self, texts: &[&str], _: Role) -> Result<Vec<Vec<f32>>, EmbedError> {
        let owned = texts.iter().map(|&text| text.to_owned()).collect();
        self.calls.lock().unwrap().push(owned);
        (self.answer)(texts)
    }
}

struct Ran {
    outcomes: Vec<Option<Outcome>>,
    failure: Option<EmbedError>,
}

impl Ran {
    fn made(&self) -> usize {
        let made = self.outcomes.iter().flatten().filter(|one| one.is_ok());
        made.count()
    }
}

/// Returns vectors that identify their texts.
fn vectors(texts: &[&str]) -> Vec<Vec<f32>> {
    texts
        .iter()
        .map(|text| vec![text.parse().unwrap()])
        .collect()
}

fn bad_text(index: usize) -> EmbedError {
    EmbedError::Text {
        model: "fake".to_owned(),
        index,
        detail: "bad".to_owned(),
    }
}

fn busy(retry_after: Option<Duration>) -> EmbedError {
    EmbedError::Busy {
        model: "fake".to_owned(),
        retry_after,
        detail: "come back".to_owned(),
    }
}

#[test]
fn every_text_gets_its_own_vector_from_any_number_of_workers() {
    for (max_batch, concurrency) in [(1, 1), (1, 4), (7, 3), (32, 2), (500, 8), (0, 0)] {
        let fake = Fake::new(max_batch, concurrency, |texts| Ok(vectors(texts)));
        let ran = fake.run(100, &Cancel::new(), None);
        assert_eq!(ran.failure, None);
        for (number, outcome) in ran.outcomes.into_iter().enumerate() {
            assert_eq!(outcome, Some(Ok(vec![number as f32])));
        }
        let most = fake.sizes().into_iter().max();
        assert_eq!(most, Some(max_batch.clamp(1, 100)));
    }
}

#[test]
fn one_worker_gets_full_batches_in_order() {
    let fake = Fake::new(32, 1, |texts| Ok(vectors(texts)));
    fake.run(70, &Cancel::new(), None);
    assert_eq!(fake.sizes(), [32, 32, 6]);
    let asked = fake.calls.lock().unwrap().concat();
    let expected: Vec<String> = (0..70).map(|number| number.to_string()).collect();
    assert_eq!(asked, expected);
}

#[test]
fn nothing_to_embed_is_no_call() {
    let fake = Fake::new(4, 2, |texts| Ok(vectors(texts)));
    assert_eq!(fake.run(0, &Cancel::new(), None).failure, None);
    assert_eq!(fake.sizes(), [] as [usize; 0]);
}

#[test]
fn a_group_fills_every_workers_batch() {
    for (max_batch, concurrency, expected) in [
        (1, 2, 48),
        (32, 1, 64),
        (32, 4, 128),
        (100, 1, 100),
        (0, 0, 48),
        (usize::MAX, 2, usize::MAX),
    ] {
        let fake = Fake::new(max_batch, concurrency, |texts| Ok(vectors(texts)));
        let drive = Drive {
            embedder: &fake,
            until: None,
            cancel: &Cancel::new(),
        };
        assert_eq!(drive.group_size(48), expected);
    }
}

#[test]
fn bad_texts_are_left_out_and_the_rest_is_tried_again() {
    let fake = Fake::new(8, 1, |texts| {
        match texts.iter().position(|&text| text == "3" || text == "6") {
            Some(index) => Err(bad_text(index)),
            None => Ok(vectors(texts)),
        }
    });
    let ran = fake.run(8, &Cancel::new(), None);
    assert_eq!((ran.made(), &ran.failure), (6, &None));
    assert_eq!(fake.sizes(), [8, 7, 6]);
    for bad in [3, 6] {
        let Some(Err(reason)) = &ran.outcomes[bad] else {
            panic!("{:?}", ran.outcomes[bad]);
        };
        assert_eq!(reason, "the model fake could not embed a text: bad");
    }
}

#[test]
fn a_batch_of_bad_texts_comes_to_an_end() {
    let fake = Fake::new(8, 1, |_| Err(bad_text(0)));
    let ran = fake.run(8, &Cancel::new(), None);
    assert!(ran.outcomes.iter().all(|one| matches!(one, Some(Err(_)))));
    assert_eq!(fake.sizes(), [8, 7, 6, 5, 4, 3, 2, 1]);
}

#[test]
fn an_answer_that_does_not_fit_is_the_embedders_fault() {
    let answers: [Box<Answer>; 3] = [
        Box::new(|texts| Ok(vectors(&texts[1..]))),
        Box::new(|texts| Ok(vec![vec![1.0, 2.0]; texts.len()])),
        Box::new(|texts| Err(bad_text(texts.len()))),
    ];
    for answer in answers {
        let fake = Fake::new(4, 1, answer);
        let ran = fake.run(12, &Cancel::new(), None);
        assert_eq!(ran.outcomes, vec![None; 12]);
        let failure = ran.failure.unwrap();
        assert!(matches!(failure, EmbedError::Broken { .. }), "{failure:?}");
        assert_eq!(fake.sizes(), [4]);
    }
}

#[test]
fn a_refusal_is_met_once_by_each_worker_at_most() {
    let refused = || EmbedError::Refused {
        model: "fake".to_owned(),
        detail: "no key".to_owned(),
    };
    let fake = Fake::new(2, 3, move |_| Err(refused()));
    let ran = fake.run(100, &Cancel::new(), None);
    assert_eq!(ran.failure, Some(refused()));
    assert_eq!(ran.outcomes, vec![None; 100]);
    assert!(fake.sizes().len() <= 3, "{:?}", fake.sizes());
}

#[test]
fn a_busy_embedder_gets_the_same_batch_again() {
    let calls = AtomicU32::new(0);
    let fake = Fake::new(4, 1, move |texts| {
        match calls.fetch_add(1, Ordering::SeqCst) {
            0 | 1 | 3 => Err(busy(Some(Duration::from_millis(1)))),
            _ => Ok(vectors(texts)),
        }
    });
    let ran = fake.run(8, &Cancel::new(), None);
    assert_eq!((ran.made(), ran.failure), (8, None));
    assert_eq!(fake.sizes(), [4; 5]);
}

#[test]
fn a_pause_that_would_outlast_the_time_ends_the_run() {
    let cases = [
        // Shorter than the first pause.
        (None, Duration::from_millis(200)),
        (Some(Duration::from_hours(3)), Duration::from_hours(1)),
        (Some(Duration::MAX), Duration::from_hours(1)),
    ];
    for (retry_after, time) in cases {
        let fake = Fake::new(1, 1, move |_| Err(busy(retry_after)));
        let ran = fake.run(3, &Cancel::new(), Some(Instant::now() + time));
        assert_eq!(ran.failure, Some(busy(retry_after)));
        assert_eq!(fake.sizes(), [1]);
    }
}

#[test]
fn a_pause_ends_when_somebody_cancels() {
    let cancel = Cancel::new();
    let inner = cancel.clone();
    let fake = Fake::new(1, 2, move |_| {
        inner.cancel();
        Err(busy(Some(Duration::from_mins(4))))
    });
    let ran = fake.run(9, &cancel, None);
    assert_eq!(ran.failure, None);
    assert_eq!(ran.made(), 0);
}

#[test]
fn nobody_waits_for_ever() {
    let moment = Some(Duration::from_millis(1));
    let fake = Fake::new(1, 1, move |_| Err(busy(moment)));
    let ran = fake.run(3, &Cancel::new(), None);
    assert_eq!(ran.failure, Some(busy(moment)));
    assert_eq!(fake.sizes().len(), 1 + MAX_PAUSES as usize);
    // Nor for hours, where no time is set.
    let hour = Some(Duration::from_hours(1));
    let fake = Fake::new(1, 1, move |_| Err(busy(hour)));
    assert_eq!(fake.run(3, &Cancel::new(), None).failure, Some(busy(hour)));
    assert_eq!(fake.sizes(), [1]);
}

#[test]
fn nobody_is_called_once_it_is_over() {
    let fake = Fake::new(1, 2, |texts| Ok(vectors(texts)));
    let cancelled = Cancel::new();
    cancelled.cancel();
    assert_eq!(fake.run(9, &cancelled, None).made(), 0);
    assert_eq!(fake.run(9, &Cancel::new(), Some(Instant::now())).made(), 0);
    assert_eq!(fake.sizes(), [] as [usize; 0]);
}

#[test]
fn pauses_double_up_to_the_longest() {
    let pauses: Vec<u128> = (0..7)
        .map(|pauses| pause_after(pauses).as_millis())
        .collect();
    assert_eq!(pauses, [250, 500, 1_000, 2_000, 4_000, 8_000, 8_000]);
    assert_eq!(pause_after(u32::MAX), MAX_PAUSE);
}
