//! The name that was probably meant.

/// The candidate nearest to `typed`, if one is near enough to be a slip.
pub(crate) fn nearest<'a>(typed: &str, candidates: &'a [String]) -> Option<&'a str> {
    let most = (typed.chars().count() / 3).max(1);
    candidates
        .iter()
        .map(|candidate| {
            let (typed, known) = (typed.to_lowercase(), candidate.to_lowercase());
            (distance(&typed, &known), candidate)
        })
        .filter(|&(distance, _)| distance <= most)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate.as_str())
}

/// How many letters must be put in, left out, replaced or swapped with their
/// neighbour.
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=other.len()).collect()];
    for (i, &left) in one.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &right) in other.iter().enumerate() {
            let mut best = (rows[i][j] + usize::from(left != right))
                .min(rows[i][j + 1] + 1)
                .min(row[j] + 1);
            if i > 0 && j > 0 && left == other[j - 1] && one[i - 1] == right {
                best = best.min(rows[i - 1][j - 1] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[one.len()][other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_other_names_are_not() {
        let known = ["notes".to_owned(), "journal".to_owned()];
        assert_eq!(nearest("ntoes", &known), Some("notes"));
        assert_eq!(nearest("Jurnal", &known), Some("journal"));
        assert_eq!(nearest("recipes", &known), None);
        assert_eq!(nearest("", &known), None);
    }

    #[test]
    fn distances() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("ab", "ba"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
