use proptest::prelude::*;

use super::*;

fn unit(degrees: f32) -> Vec<f32> {
    let angle = degrees.to_radians();
    vec![angle.cos(), angle.sin()]
}

fn company(vectors: &[Vec<f32>], threads: &[Vec<Row>]) -> Company {
    let rows: Vec<Row> = (1..).take(vectors.len()).collect();
    let vectors: Vec<Option<&[f32]>> = vectors.iter().map(|one| Some(one.as_slice())).collect();
    Company::of(
        &vec![0.0; rows.len()],
        &rows,
        &vectors,
        threads,
        vec![Turn::default(); rows.len()],
        &Tuning::default(),
    )
}

#[test]
fn what_is_like_the_good_gains_and_what_is_like_the_bad_loses() {
    // Two pairs, far apart: in each, one has a score of its own.
    let company = company(&[unit(0.0), unit(5.0), unit(90.0), unit(95.0)], &[]);
    let scores = company.applied(&[2.0, 0.0, -2.0, 0.0]);
    assert!(scores[1] > 0.5 && scores[3] < -0.5, "{scores:?}");
    assert!(scores[0] > scores[1] && scores[2] < scores[3], "{scores:?}");
}

#[test]
fn the_one_in_the_middle_is_the_commonest() {
    let company = company(&[unit(0.0), unit(30.0), unit(60.0)], &[]);
    let common: Vec<f64> = company.commonness().into_iter().flatten().collect();
    assert!(common[1] > common[0] && common[1] > common[2], "{common:?}");
}

#[test]
fn one_without_a_vector_keeps_its_score_and_lends_it_to_none() {
    let vector = unit(0.0);
    let vectors = [Some(vector.as_slice()), None, Some(vector.as_slice())];
    let company = Company::of(
        &[0.0; 3],
        &[1, 2, 3],
        &vectors,
        &[],
        vec![Turn::default(); 3],
        &Tuning::default(),
    );
    assert_eq!(company.applied(&[1.0, 50.0, 1.0]), [1.0, 50.0, 1.0]);
    assert_eq!(company.commonness()[1], None);
}

#[test]
fn a_neighbour_in_a_thread_lifts_what_stands_next_to_it() {
    // 5 is no candidate: who stands beside it has that side for nothing.
    let thread = vec![4, 3, 5, 1, 2];
    let vectors = vec![vec![0.0, 0.0]; 4];
    let company = company(&vectors, &[thread]);
    let scores = company.applied(&[3.0, 1.0, 1.0, 0.0]);
    let expected = [
        3.0 + 0.3 * 1.0 + 0.2 * 1.0,
        1.0 + 0.3 * 3.0,
        1.0 + 0.2 * 3.0,
        0.0 + 0.3 * 1.0,
    ];
    for (score, expected) in scores.iter().zip(expected) {
        assert!((score - expected).abs() < 1e-12, "{scores:?}");
    }
}

#[test]
fn in_a_thread_the_neighbours_are_all_the_company() {
    let alike = vec![unit(0.0); 3];
    let company = company(&alike, &[vec![9, 1, 8]]);
    let scores = company.applied(&[1.0, 3.0, 0.0]);
    assert!((scores[0] - 1.0).abs() < 1e-12, "{scores:?}");
    assert!(scores[1] < 3.0 && scores[2] > 0.0, "{scores:?}");
}

#[test]
fn the_first_of_several_threads_counts() {
    let vectors = vec![vec![0.0, 0.0]; 3];
    let company = company(&vectors, &[vec![1, 2], vec![1, 3]]);
    let scores = company.applied(&[0.0, 1.0, 2.0]);
    assert!((scores[0] - 0.3).abs() < 1e-12, "{scores:?}");
    // Seen from the other thread, it is next to the same document.
    assert!((scores[2] - 2.0).abs() < 1e-12, "{scores:?}");
}

#[test]
fn the_numbers_say_how_much_company_counts() {
    let vectors = [unit(0.0), unit(5.0)];
    let vectors: Vec<Option<&[f32]>> = vectors.iter().map(|one| Some(one.as_slice())).collect();
    let scores = |threads: &[Vec<Row>], tuning: Tuning| {
        let company = Company::of(
            &[0.0; 2],
            &[1, 2],
            &vectors,
            threads,
            vec![Turn::default(); 2],
            &tuning,
        );
        company.applied(&[2.0, 0.0])
    };
    let alone = Tuning {
        companions: 0,
        ..Tuning::default()
    };
    assert_eq!(scores(&[], alone), [2.0, 0.0]);
    let apart = Tuning {
        support: 0.0,
        ..Tuning::default()
    };
    assert_eq!(scores(&[], apart), [2.0, 0.0]);
    let stepping = Tuning {
        step_one: 0.5,
        ..Tuning::default()
    };
    assert_eq!(scores(&[vec![1, 2]], stepping), [2.0, 1.0]);
}

#[test]
fn in_a_thread_questions_lose_and_who_is_named_gains() {
    let of = |turns: Vec<Turn>, threads: &[Vec<Row>]| {
        let tuning = Tuning::default();
        let company = Company::of(&[0.0; 2], &[1, 2], &[None, None], threads, turns, &tuning);
        company.applied(&[2.0, 0.0])
    };
    let turn = |named, asking| Turn { named, asking };
    let thread = [vec![1, 2]];
    let plain = of(vec![Turn::default(); 2], &thread);
    // A question stands lower, but what follows it gains from it all the same.
    let asked = of(vec![turn(false, 1.0), turn(false, 0.0)], &thread);
    assert!((plain[0] - asked[0] - 0.5).abs() < 1e-9, "{asked:?}");
    assert!((asked[1] - plain[1]).abs() < 1e-9, "{asked:?}");
    // Who is named gains, and so do those around.
    let named = of(vec![turn(true, 0.0), turn(false, 0.0)], &thread);
    assert!((named[0] - plain[0] - 0.5).abs() < 1e-9, "{named:?}");
    assert!((named[1] - plain[1] - 0.3 * 0.5).abs() < 1e-9, "{named:?}");
    // None of it counts where nobody is speaking with anybody.
    let apart = of(vec![turn(true, 1.0); 2], &[]);
    assert_eq!(apart, of(vec![Turn::default(); 2], &[]));
}

proptest! {
    /// Whatever the vectors and threads, numbers stay numbers.
    #[test]
    fn scores_stay_finite(
        vectors in prop::collection::vec(prop::collection::vec(-1.0_f32..1.0, 3), 0..40),
        thread in prop::collection::vec(1_i64..60, 0..60),
        best in -5.0_f64..5.0,
    ) {
        let company = company(&vectors, &[thread]);
        let scores: Vec<f64> = (0..vectors.len()).map(|at| best - at as f64).collect();
        let scores = company.applied(&scores);
        prop_assert_eq!(scores.len(), vectors.len());
        prop_assert!(scores.iter().all(|score| score.is_finite()));
    }
}
