use super::*;

#[test]
fn every_name_can_be_set_to_what_it_is_and_changes_one_number() {
    for name in NAMES {
        let mut variant = Variant::default();
        let today = variant.shown(name).unwrap();
        Knob::of(&mut variant, name).unwrap().turn(&today).unwrap();
        assert_eq!(variant, Variant::default(), "{name}");
        let other = match name {
            "keyword" => "lexical-first",
            "require_all_terms" | "collapse_copies" | "chunk_noise" => "yes",
            "chunk_path" | "stemming" => "no",
            "chunk_tokens" | "chunk_overlap" => "70",
            "candidates" | "neighbours" | "prune_min_documents" | "rescoring_depth" => "7",
            _ => "0.625",
        };
        Knob::of(&mut variant, name).unwrap().turn(other).unwrap();
        let changed: Vec<&str> = NAMES
            .into_iter()
            .filter(|name| variant.shown(name) != Variant::default().shown(name))
            .collect();
        assert_eq!(changed, [name]);
        assert_eq!(variant.shown(name).as_deref(), Some(other));
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
        ("candidates", "0", "a whole number of 1 or more"),
        ("candidates", "2.5", "a whole number of 1 or more"),
        ("prune_min_documents", "-1", "a whole number of 0 or more"),
        (
            "minimum_similarity",
            "2",
            "a number from -1 to 1, or 'model'",
        ),
        ("require_all_terms", "true", "'yes' or 'no'"),
        ("keyword", "both", "'lexical-first' or 'fused'"),
        ("chunk_tokens", "63", "a whole number from 64 to 8192"),
        ("chunk_tokens", "8193", "a whole number from 64 to 8192"),
        (
            "chunk_overlap",
            "some",
            "a whole number of 0 or more, or 'fitting'",
        ),
        ("stemming", "english", "'yes' or 'no'"),
    ] {
        let mut variant = Variant::default();
        let mut knob = Knob::of(&mut variant, name).unwrap();
        assert_eq!(knob.turn(value), None, "{name}={value}");
        assert_eq!(knob.expected(), expected);
        assert_eq!(variant, Variant::default());
    }
}

#[test]
fn what_has_no_name_is_not_known() {
    assert!(Knob::of(&mut Variant::default(), "k2").is_none());
    assert_eq!(Variant::default().shown("k2"), None);
}

#[test]
fn the_model_decides_again_what_is_near_enough() {
    let mut variant = Variant::default();
    let mut turn = |value: &str| {
        let turned =
            Knob::of(&mut variant, "minimum_similarity").and_then(|mut knob| knob.turn(value));
        assert_eq!(turned, Some(()));
        variant.tuning.minimum_similarity
    };
    assert_eq!(turn("-0.25"), Some(-0.25));
    assert_eq!(turn("model"), None);
}
