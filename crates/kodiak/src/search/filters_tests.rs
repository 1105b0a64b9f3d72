use proptest::prelude::*;

use super::super::token::tokens;
use super::*;

/// Returns the words of a query and its filters, those that exclude with a minus sign.
fn understood(query: &str) -> (String, Vec<(String, String)>) {
    let reading = read(query);
    let filters = reading.filters.into_iter().map(|filter| {
        let sign = if filter.excluded { "-" } else { "" };
        (format!("{sign}{}", filter.field), filter.value)
    });
    (reading.words, filters.collect())
}

#[test]
fn filters_stand_anywhere_and_values_may_be_quoted() {
    for (query, words, filters) in [
        ("ramen path:cooking/", "ramen", &[("path", "cooking/")][..]),
        ("PATH:cooking ramen", "ramen", &[("path", "cooking")]),
        ("file:a.md", "", &[("path", "a.md")]),
        ("a path:\"my notes/x\" b", "a b", &[("path", "my notes/x")]),
        ("a path:'my notes' b", "a b", &[("path", "my notes")]),
        (
            "(a OR b) source:work kind:decision",
            "(a OR b)",
            &[("source", "work"), ("kind", "decision")],
        ),
        (
            "after:2026-01 before:2026-02 x",
            "x",
            &[("after", "2026-01"), ("before", "2026-02")],
        ),
        ("title:ramen path:x", "title:ramen", &[("path", "x")]),
        ("a -path:x b", "a b", &[("-path", "x")]),
        ("a NOT path:x", "a", &[("-path", "x")]),
        ("a NOT  -path:x", "a", &[("path", "x")]),
        ("NOT a path:x", "NOT a", &[("path", "x")]),
        ("a NOT (b) path:x", "a NOT (b)", &[("path", "x")]),
        (
            "-after:2026 -kind:'a b' a",
            "a",
            &[("-after", "2026"), ("-kind", "a b")],
        ),
    ] {
        let (rest, found) = understood(query);
        let rest: Vec<&str> = rest.split_whitespace().collect();
        assert_eq!(rest.join(" "), words, "{query}");
        let found = found.iter().map(|(field, value)| (&**field, &**value));
        assert_eq!(found.collect::<Vec<_>>(), filters, "{query}");
    }
}

#[test]
fn what_only_looks_like_a_filter_is_words() {
    for query in [
        "path: cooking",
        "path:",
        "path:\"\"",
        "file:///etc/hosts",
        "\"path:cooking\"",
        "mypath:x",
        "the after: party",
        "source",
        "  spaces  stay  ",
    ] {
        let reading = read(query);
        assert_eq!(reading.words, query);
        assert!(reading.filters.is_empty() && reading.caveats.is_empty());
    }
}

#[test]
fn what_cannot_be_read_is_searched_for_as_words() {
    for query in [
        "ramen before:soon",
        "x -(path:archive OR y)",
        "x NOT (y path:archive)",
        "after:2026-99",
        "NOT after:2026-99",
    ] {
        let reading = read(query);
        assert_eq!(reading.words, query);
        assert!(reading.filters.is_empty());
        let [caveat] = &reading.caveats[..] else {
            panic!("{:?}", reading.caveats)
        };
        assert_eq!(caveat.code(), "filter-not-understood");
    }
    let said = read("before:soon").caveats[0].to_string();
    assert!(
        said.contains("before:soon") && said.contains("words"),
        "{said}"
    );
}

#[test]
fn a_filter_narrows_and_never_widens() {
    let narrowed = |query: &str, filter: Filter| {
        let mut filter = filter;
        read(query).narrow(&mut filter, &["work", "home"]);
        filter
    };
    let of = |sources: &[&str], paths: &[&str]| Filter {
        sources: sources.iter().map(ToString::to_string).collect(),
        paths: paths.iter().map(ToString::to_string).collect(),
        ..Filter::default()
    };
    for (query, given, expected) in [
        ("source:work", of(&[], &[]), of(&["work"], &[])),
        (
            "source:work",
            of(&["work", "home"], &[]),
            of(&["work"], &[]),
        ),
        ("source:work", of(&["home"], &[]), of(&[NO_SOURCE], &[])),
        (
            "source:work source:home",
            of(&[], &[]),
            of(&["work", "home"], &[]),
        ),
        ("path:a/b", of(&[], &["a/"]), of(&[], &["a/b"])),
        ("path:a", of(&[], &["a/b"]), of(&[], &["a/b"])),
        ("path:a", of(&["home"], &[]), of(&["home"], &["a"])),
        ("path:work/a", of(&[], &[]), of(&["work"], &["a"])),
        ("path:work/", of(&[], &[]), of(&["work"], &[])),
        ("path:work/a", of(&["home"], &[]), of(&[NO_SOURCE], &["a"])),
        ("path:work/a path:b", of(&[], &[]), of(&[], &["a", "b"])),
    ] {
        assert_eq!(narrowed(query, given), expected, "{query}");
    }
    let excluding = |kinds: &[&str], paths: &[(Option<&str>, &str)]| Filter {
        not_kinds: kinds.iter().map(ToString::to_string).collect(),
        not_paths: paths
            .iter()
            .map(|(source, path)| (source.map(str::to_owned), (*path).to_owned()))
            .collect(),
        ..Filter::default()
    };
    for (query, expected) in [
        ("-kind:turn", excluding(&["turn"], &[])),
        ("-source:work", excluding(&[], &[(Some("work"), "")])),
        ("-path:work/a*", excluding(&[], &[(Some("work"), "a")])),
        (
            "-path:./a -path:work/",
            excluding(&[], &[(None, "a"), (Some("work"), "")]),
        ),
    ] {
        assert_eq!(narrowed(query, Filter::default()), expected, "{query}");
    }
    let outside = narrowed("-after:1970-01-02 -before:1970-01-01", Filter::default());
    assert_eq!((outside.after, outside.before), (Some(0), Some(86_400)));
    let dated = Filter {
        after: Some(10),
        before: Some(20),
        ..Filter::default()
    };
    let inside = narrowed("after:1970-01-02 before:1970-01-01", dated);
    assert_eq!((inside.after, inside.before), (Some(86_400), Some(0)));
}

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,4}",
        Just("OR".to_owned()),
        Just("(".to_owned()),
        Just(")".to_owned()),
        Just("\"".to_owned()),
        Just("-path:x".to_owned()),
        Just("NOT".to_owned()),
        Just("-(".to_owned()),
        "-(path|source|kind):[a-c/]{1,3}",
        Just("before:never".to_owned()),
        "(path|file|source|kind|PATH):(\"[a-z ]{0,4}\"|[a-z/]{0,4})",
        "(after|before):20[0-9]{2}",
        any::<String>(),
    ]
}

proptest! {
    #[test]
    fn every_string_is_read(query in any::<String>()) {
        let reading = read(&query);
        prop_assert_eq!(reading.filters.len(), reading.typed.len());
        prop_assert_eq!(reading.filters.len(), reading.dates.len());
    }

    /// What is left has no filter, and reading it again changes nothing.
    #[test]
    fn what_is_left_has_no_filters(pieces in proptest::collection::vec(piece(), 0..8)) {
        let query = pieces.join(" ");
        let reading = read(&query);
        let again = read(&reading.words);
        prop_assert!(again.filters.is_empty(), "{:?} in {:?}", again.filters, reading.words);
        prop_assert_eq!(again.words, reading.words);
    }

    /// The words of a query stay, in their order.
    #[test]
    fn words_stay(
        words in proptest::collection::vec("[a-z]{1,5}", 0..6),
        filters in proptest::collection::vec("(path|source|kind):[a-z]{1,5}", 0..6),
    ) {
        let longest = words.len().max(filters.len());
        let mixed: Vec<String> = (0..longest)
            .flat_map(|at| [words.get(at), filters.get(at)])
            .flatten()
            .cloned()
            .collect();
        let reading = read(&mixed.join(" "));
        prop_assert_eq!(reading.filters.len(), filters.len());
        prop_assert_eq!(reading.words.split_whitespace().collect::<Vec<_>>(), words);
        prop_assert_eq!(tokens(&reading.words).len(), reading.words.split_whitespace().count());
    }

    /// Nothing is admitted that was not before.
    #[test]
    fn narrowing_only_removes(
        query in proptest::collection::vec(piece(), 0..6),
        sources in proptest::collection::vec("[a-c]", 0..3),
        paths in proptest::collection::vec("[a-c/]{0,3}", 0..3),
        source in "[a-c]",
        key in "[a-c/]{1,4}",
    ) {
        let admits = |filter: &Filter| {
            let within = filter.sources.is_empty() || filter.sources.contains(&source);
            let begins = |path: &String| key.starts_with(path.as_str());
            let excluded = filter.not_paths.iter().any(|(of, path)| {
                of.as_ref().is_none_or(|of| *of == source) && begins(path)
            });
            within && !excluded && (filter.paths.is_empty() || filter.paths.iter().any(begins))
        };
        let given = Filter { sources, paths, ..Filter::default() };
        let mut filter = given.clone();
        read(&query.join(" ")).narrow(&mut filter, &["a", "b"]);
        prop_assert!(!admits(&filter) || admits(&given));
    }
}
