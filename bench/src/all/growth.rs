//! Computes how figures grow with ten times as many documents.

use serde::Serialize;

use super::findings::Column;

/// The factor up to which growth counts as linear. Ten for ten times as many is
/// exactly linear; the rest is tolerance for noise.
const TOLERANCE: f64 = 1.2;

/// The growth of one row from one size to the next.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Step {
    pub(crate) what: String,
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// The value at ten times the size over the value at the size.
    pub(crate) per_tenfold: f64,
    pub(crate) more_than_linear: bool,
}

/// Returns the growth of every row between consecutive columns of generated
/// documents.
pub(crate) fn steps(columns: &[Column]) -> Vec<Step> {
    let generated: Vec<&Column> = columns.iter().filter(|column| column.generated).collect();
    let mut steps = Vec::new();
    for pair in generated.windows(2) {
        let (small, large) = (pair[0], pair[1]);
        for row in &small.rows {
            let Some(value) = large.value(&row.what) else {
                continue;
            };
            let sizes = (small.documents, large.documents);
            if let Some(per_tenfold) = per_tenfold(sizes, (row.value, value)) {
                steps.push(Step {
                    what: row.what.clone(),
                    from: small.documents,
                    to: large.documents,
                    per_tenfold,
                    more_than_linear: per_tenfold > 10.0 * TOLERANCE,
                });
            }
        }
    }
    steps
}

/// Returns the factor from one value to another, normalised to sizes ten times
/// apart. Returns `None` if a value is zero or the sizes do not grow.
fn per_tenfold(sizes: (usize, usize), values: (f64, f64)) -> Option<f64> {
    let size = sizes.1 as f64 / sizes.0 as f64;
    let factor = values.1 / values.0;
    let known = size > 1.0 && size.is_finite() && factor > 0.0 && factor.is_finite();
    known.then(|| {
        if (size - 10.0).abs() < 1e-9 {
            factor
        } else {
            factor.powf(1.0 / size.log10())
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(documents: usize, generated: bool, rows: &[(&str, f64)]) -> Column {
        let mut column = Column::new("", documents, generated);
        for &(what, value) in rows {
            column.add(what, value, "ms", "");
        }
        column
    }

    #[test]
    fn sizes_that_are_not_ten_times_apart_are_brought_to_that() {
        let close = |sizes, values, expected: f64| {
            let grown = per_tenfold(sizes, values).unwrap();
            assert!((grown - expected).abs() < 1e-9, "{grown}");
        };
        close((1_000, 10_000), (2.0, 5.0), 2.5);
        close((1_000, 100_000), (1.0, 100.0), 10.0);
        close((10, 20), (1.0, 2.0), 10.0);
        close((10, 20), (3.0, 3.0), 1.0);
    }

    #[test]
    fn what_cannot_be_told_is_not() {
        assert_eq!(per_tenfold((1_000, 10_000), (0.0, 5.0)), None);
        assert_eq!(per_tenfold((1_000, 10_000), (0.0, 0.0)), None);
        assert_eq!(per_tenfold((1_000, 10_000), (5.0, 0.0)), None);
        assert_eq!(per_tenfold((1_000, 10_000), (f64::NAN, 1.0)), None);
        assert_eq!(per_tenfold((0, 10_000), (1.0, 1.0)), None);
        assert_eq!(per_tenfold((10, 10), (1.0, 2.0)), None);
        assert_eq!(per_tenfold((10, 1), (1.0, 2.0)), None);
    }

    #[test]
    fn only_what_grows_clearly_faster_than_the_documents_is_marked() {
        let columns = [
            column(10, true, &[("even", 1.0), ("noisy", 1.0), ("steep", 1.0)]),
            column(77, false, &[("even", 9.0)]),
            column(
                100,
                true,
                &[("even", 10.0), ("noisy", 11.9), ("steep", 12.1)],
            ),
            column(1_000, true, &[("even", 90.0), ("other", 1.0)]),
        ];
        let steps = steps(&columns);
        let marks: Vec<(&str, usize, bool)> = steps
            .iter()
            .map(|step| (step.what.as_str(), step.to, step.more_than_linear))
            .collect();
        assert_eq!(
            marks,
            [
                ("even", 100, false),
                ("noisy", 100, false),
                ("steep", 100, true),
                ("even", 1_000, false),
            ]
        );
    }
}
