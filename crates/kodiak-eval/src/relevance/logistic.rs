//! Fits a logistic regression by Newton's method.

/// One observation: features, whether it is positive, and its weight.
#[derive(Clone, Debug)]
pub(super) struct Observation {
    pub(super) features: Vec<f64>,
    pub(super) positive: bool,
    pub(super) weight: f64,
}

/// The number of steps, far more than are needed to converge.
const STEPS: usize = 50;

/// The ridge penalty of each coefficient, which keeps separable data finite. The
/// weights of all observations sum up to about one per set.
const RIDGE: f64 = 1e-4;

/// Returns the intercept and the coefficients that make the observations most
/// likely. A coefficient that would be negative is set to zero: all features are
/// evidence for relevance, so a negative sign is an accident of the sets.
pub(super) fn fit(observations: &[Observation]) -> Vec<f64> {
    let features = observations.first().map_or(0, |one| one.features.len());
    let mut used: Vec<usize> = (0..features).collect();
    loop {
        let weights = newton(observations, &used);
        let worst = (0..used.len())
            .filter(|&at| weights[at + 1] < 0.0)
            .min_by(|&one, &other| weights[one + 1].total_cmp(&weights[other + 1]));
        let Some(worst) = worst else {
            let mut all = vec![0.0; features + 1];
            all[0] = weights[0];
            for (at, feature) in used.iter().enumerate() {
                all[feature + 1] = weights[at + 1];
            }
            return all;
        };
        used.remove(worst);
    }
}

/// Returns the probability that a fit gives to these features.
pub(super) fn probability(fit: &[f64], features: &[f64]) -> f64 {
    let sum: f64 = fit[1..].iter().zip(features).map(|(a, b)| a * b).sum();
    1.0 / (1.0 + (-(fit[0] + sum)).exp())
}

fn newton(observations: &[Observation], used: &[usize]) -> Vec<f64> {
    let size = used.len() + 1;
    let mut weights = vec![0.0; size];
    for _ in 0..STEPS {
        let mut gradient: Vec<f64> = weights.iter().map(|weight| -RIDGE * weight).collect();
        gradient[0] = 0.0;
        let mut hessian = vec![vec![0.0; size]; size];
        for (at, row) in hessian.iter_mut().enumerate() {
            row[at] = if at == 0 { 1e-9 } else { RIDGE };
        }
        for one in observations {
            let mut input = vec![1.0];
            input.extend(used.iter().map(|&feature| one.features[feature]));
            let given = probability(&weights, &input[1..]);
            let error = f64::from(u8::from(one.positive)) - given;
            let curvature = one.weight * given * (1.0 - given);
            for (row, value) in input.iter().enumerate() {
                gradient[row] += one.weight * error * value;
                for (column, other) in input.iter().enumerate() {
                    hessian[row][column] += curvature * value * other;
                }
            }
        }
        let step = solve(hessian, gradient);
        let moved = step.iter().map(|part| part.abs()).fold(0.0, f64::max);
        for (weight, part) in weights.iter_mut().zip(step) {
            // A long step overshoots where nearly everything is certain.
            *weight += part.clamp(-5.0, 5.0);
        }
        if moved < 1e-9 {
            break;
        }
    }
    weights
}

/// Solves a small system of linear equations by elimination with pivots.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let size = right.len();
    for column in 0..size {
        let by_size = |one: &usize, other: &usize| {
            let one = matrix[*one][column].abs();
            one.total_cmp(&matrix[*other][column].abs())
        };
        let pivot = (column..size).max_by(by_size).unwrap_or(column);
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        let pivot = matrix[column].clone();
        if pivot[column].abs() < 1e-15 {
            continue;
        }
        let known = right[column];
        for row in column + 1..size {
            let factor = matrix[row][column] / pivot[column];
            for (value, above) in matrix[row].iter_mut().zip(&pivot) {
                *value -= factor * above;
            }
            right[row] -= factor * known;
        }
    }
    let mut solved = vec![0.0; size];
    for row in (0..size).rev() {
        let known: f64 = (row + 1..size).map(|at| matrix[row][at] * solved[at]).sum();
        if matrix[row][row].abs() >= 1e-15 {
            solved[row] = (right[row] - known) / matrix[row][row];
        }
    }
    solved
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    fn observe(truth: &[f64], count: usize) -> Vec<Observation> {
        let mut random = Rng::with_seed(5);
        let one = |_| {
            let features: Vec<f64> = truth[1..].iter().map(|_| random.f64() * 4.0).collect();
            let positive = random.f64() < probability(truth, &features);
            Observation {
                features,
                positive,
                weight: 1.0,
            }
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn known_coefficients_are_found_again() {
        let truth = [-3.0, 1.5, 0.5];
        let found = fit(&observe(&truth, 20_000));
        for (one, other) in truth.iter().zip(&found) {
            assert!((one - other).abs() < 0.15, "{found:?}");
        }
    }

    #[test]
    fn a_negative_coefficient_becomes_zero() {
        let found = fit(&observe(&[0.0, 2.0, -1.0], 5_000));
        assert!(found[2].abs() < 1e-12 && found[1] > 1.0, "{found:?}");
    }

    #[test]
    fn separable_and_empty_data_stay_finite() {
        let certain = |value: f64| Observation {
            features: vec![value],
            positive: value > 0.5,
            weight: 0.01,
        };
        let found = fit(&(0..100)
            .map(|at| certain(f64::from(at) / 100.0))
            .collect::<Vec<_>>());
        assert!(found.iter().all(|one| one.is_finite()), "{found:?}");
        assert!(probability(&found, &[1.0]) > 0.8 && probability(&found, &[0.0]) < 0.2);
        assert_eq!(fit(&[]), [0.0]);
    }
}
