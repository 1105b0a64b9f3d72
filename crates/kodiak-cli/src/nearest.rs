//! Guesses which known name a mistyped one stands for.

use strsim::osa_distance;

/// Returns the candidate with the smallest edit distance to `typed`, if that is
/// small enough for a typing error.
pub(crate) fn nearest<'a>(typed: &str, candidates: &'a [String]) -> Option<&'a str> {
    let most = (typed.chars().count() / 3).max(1);
    candidates
        .iter()
        .map(|candidate| {
            let (typed, known) = (typed.to_lowercase(), candidate.to_lowercase());
            (osa_distance(&typed, &known), candidate)
        })
        .filter(|&(distance, _)| distance <= most)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate.as_str())
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
}
