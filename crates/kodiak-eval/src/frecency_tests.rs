use super::*;

/// Measures the judged queries over the example notes, without a model.
fn judged(seed: u64, count: usize) -> Vec<FrecencyRow> {
    let judged = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/judged");
    let scratch = tempfile::tempdir().unwrap();
    measure_frecency(&judged, Histories { seed, count }, scratch.path(), None).unwrap()
}

#[test]
fn no_judged_hit_that_is_ahead_moves_down() {
    let rows = judged(1, 4);
    assert_eq!(rows.len(), 10, "five splits, two habits");
    for row in &rows {
        assert_eq!(row.ahead, 0, "{row:?}");
        assert!(row.largest_lead < FRECENCY_MARGIN, "{row:?}");
        assert!(row.answers >= 4 * 18, "{row:?}");
    }
    // Openings do move hits, or this would show nothing.
    for habit in [Habit::Found, Habit::Wanted] {
        let of_habit = rows.iter().filter(|row| row.habit == habit);
        let pairs: usize = of_habit.map(|row| row.pairs).sum();
        assert!(pairs > 20, "{habit:?}: {pairs}");
    }
    let gain = |habit: Habit| -> f64 {
        let of_habit = rows.iter().filter(|row| row.habit == habit);
        of_habit.map(|row| row.ndcg_after - row.ndcg_before).sum()
    };
    for habit in [Habit::Found, Habit::Wanted] {
        assert!(gain(habit).abs() / 5.0 < 0.02, "{habit:?}: {rows:?}");
    }
}

#[test]
fn the_seed_decides_what_was_opened() {
    assert_eq!(judged(7, 1), judged(7, 1));
}

#[test]
fn a_hit_that_passes_too_much_would_be_noticed() {
    let note = |key: &str| kodiak::Document {
        source: SOURCE.to_owned(),
        key: key.to_owned(),
        body: format!("apple {key}"),
        ..kodiak::Document::default()
    };
    let scratch = tempfile::tempdir().unwrap();
    let variant = Variant::default();
    let collection = Collection::of(
        vec![note("a"), note("b"), note("c")],
        scratch.path(),
        variant.chunking,
        variant.stemming,
        None,
        &|_| {},
    )
    .unwrap();
    let request = Request::new("apple");
    let answer = collection.engine().search(&Guard::local(), &request);
    let mut hits = answer.unwrap().hits;
    for (hit, relevance) in hits.iter_mut().zip([0.9, 0.88, 0.5]) {
        hit.relevance = Some(relevance);
    }
    let query = JudgedQuery {
        id: "q".to_owned(),
        text: request.query,
        filter: kodiak::store::Filter::default(),
        judged: [(hits[2].path.clone(), 1)].into(),
    };
    let mut row = FrecencyRow::new("set", "test", Habit::Found);
    let close = [&hits[1], &hits[0], &hits[2]].map(Clone::clone);
    row.add(&query, &hits, &close);
    assert_eq!((row.changed, row.pairs, row.ahead), (1, 1, 0));
    let far = [&hits[2], &hits[0], &hits[1]].map(Clone::clone);
    row.add(&query, &hits, &far);
    assert_eq!((row.changed, row.pairs, row.ahead), (2, 3, 2));
    assert!((row.largest_lead - 0.4).abs() < 1e-9);
    assert!((row.ndcg_after - 1.5).abs() < 1e-9 && row.ndcg_before < row.ndcg_after);
}
