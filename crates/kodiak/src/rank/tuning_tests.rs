use super::*;

#[test]
fn every_name_can_be_set_to_what_it_is_and_changes_one_number() {
    for name in Tuning::NAMES {
        let mut tuning = Tuning::default();
        let shown = tuning.shown(name).unwrap();
        tuning.set(name, &shown).unwrap();
        assert_eq!(tuning, Tuning::default(), "{name}");
        let other = match name {
            "keyword" => "fused",
            "every_word" => "yes",
            "candidates" | "neighbours" | "prune_min_documents" | "rescoring_depth" => "7",
            _ => "0.625",
        };
        tuning.set(name, other).unwrap();
        let changed: Vec<&str> = Tuning::NAMES
            .into_iter()
            .filter(|name| tuning.shown(name) != Tuning::default().shown(name))
            .collect();
        assert_eq!(changed, [name]);
        assert_eq!(tuning.shown(name).as_deref(), Some(other));
    }
}

#[test]
fn what_makes_no_sense_is_refused_and_changes_nothing() {
    for (name, value, expected) in [
        ("k1", "-0.1", "a number of 0 or more"),
        ("k1", "inf", "a number of 0 or more"),
        ("k1", "NaN", "a number of 0 or more"),
        ("k1", "", "a number of 0 or more"),
        ("b", "1.1", "a number from 0 to 1"),
        ("full_coverage", "0", "a number of 0.001 or more"),
        ("candidates", "0", "a whole number of 1 or more"),
        ("candidates", "2.5", "a whole number of 1 or more"),
        ("prune_min_documents", "-1", "a whole number of 0 or more"),
        (
            "minimum_similarity",
            "2",
            "a number from -1 to 1, or 'model'",
        ),
        ("every_word", "true", "'yes' or 'no'"),
        ("keyword", "both", "'lexical-first' or 'fused'"),
    ] {
        let mut tuning = Tuning::default();
        let refused = tuning.set(name, value).unwrap_err();
        assert_eq!(
            refused.to_string(),
            format!("{name} cannot be '{value}': it is {expected}")
        );
        assert_eq!(tuning, Tuning::default());
    }
}

#[test]
fn what_is_not_known_is_told_from_what_is() {
    let refused = Tuning::default().set("k2", "1").unwrap_err().to_string();
    assert!(
        refused
            .starts_with("there is no 'k2'; known are k1, b, min_document_length, title_weight, ")
    );
    assert!(refused.ends_with(", minimum_similarity"));
    assert_eq!(Tuning::default().shown("k2"), None);
}

#[test]
fn the_model_decides_again_what_is_near_enough() {
    let mut tuning = Tuning::default();
    tuning.set("minimum_similarity", " -0.25 ").unwrap();
    assert_eq!(tuning.minimum_similarity, Some(-0.25));
    tuning.set("minimum_similarity", "model").unwrap();
    assert_eq!(tuning.minimum_similarity, None);
}
