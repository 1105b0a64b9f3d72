//! Tests of snippets.

use proptest::prelude::*;

use super::*;
use crate::document::Markup;

fn term(term: &str, weight: f64) -> PlannedTerm {
    PlannedTerm {
        term: term.into(),
        prefix: false,
        documents: 1,
        weight,
        common: false,
    }
}

fn document(body: &str) -> StoredDocument {
    StoredDocument {
        row: 1,
        uid: String::new(),
        short_id: String::new(),
        source: "notes".into(),
        key: "a.md".into(),
        kind: "note".into(),
        title: "The title".into(),
        category: None,
        tags: vec!["deep-work".into(), "focus".into()],
        created_at: None,
        updated_at: 0,
        markup: Markup::default(),
        thread: None,
        author: None,
        project: None,
        hash: [0; 32],
        front: String::new(),
        body: body.into(),
    }
}

/// Returns the line and the text of a snippet, with its marks as brackets.
fn shown(terms: &[PlannedTerm], document: &StoredDocument) -> (usize, String) {
    let snippet = Finder::terms(terms, Stemming::English).snippet(document);
    let mut text = snippet.text.clone();
    for mark in snippet.marks.iter().rev() {
        text.insert(mark.end, ']');
        text.insert(mark.start, '[');
    }
    (snippet.line, text)
}

#[test]
fn the_line_and_the_words_that_match() {
    let mut note = document("# Heading\n\nFirst the inbox.\nThen weekly reviews of it.\n");
    note.front = "---\ntitle: x\n---\n".into();
    let terms = [term("week", 1.0), term("review", 1.0)];
    assert_eq!(
        shown(&terms, &note),
        (7, "Then weekly [reviews] of it.".into())
    );
    let terms = [term("weekli", 1.0), term("review", 1.0)];
    assert_eq!(
        shown(&terms, &note),
        (7, "Then [weekly] [reviews] of it.".into())
    );
}

#[test]
fn the_excerpt_with_the_rarest_words_wins() {
    let filler = "nothing to see here. ".repeat(40);
    let note = document(&format!(
        "common common common {filler}\nrare common word\n{filler}"
    ));
    let (line, text) = shown(&[term("common", 0.1), term("rare", 5.0)], &note);
    assert_eq!(line, 2);
    assert!(text.starts_with("[rare] [common] word nothing"), "{text}");
    assert!(text.ends_with('…'));
}

#[test]
fn tags_and_title_stand_in_for_the_body() {
    let note = document("Something else altogether.");
    assert_eq!(shown(&[term("focu", 1.0)], &note).1, "#deep-work #[focus]");
    assert_eq!(shown(&[term("titl", 1.0)], &note).1, "The [title]");
    let mut note = note;
    note.front = "---\ntitle: The title\ntags: [deep-work, focus]\n---\n".into();
    assert_eq!(shown(&[term("focu", 1.0)], &note).0, 3);
    assert_eq!(
        shown(&[term("zzz", 1.0)], &note).1,
        "Something else altogether."
    );
}

#[test]
fn n_grams_of_a_run_make_one_mark() {
    let note = document("我用数据库写笔记");
    let terms = [term("数据", 1.0), term("据库", 1.0)];
    assert_eq!(shown(&terms, &note).1, "我用[数据库]写笔记");
}

#[test]
fn a_lone_character_is_marked_wherever_it_stands() {
    let note = document("我喜欢喝茶。茶好");
    let mut looked_for = term("茶", 1.0);
    looked_for.prefix = true;
    assert_eq!(shown(&[looked_for], &note).1, "我喜欢喝[茶]。[茶]好");
}

#[test]
fn literal_text_is_found_inside_words() {
    let note = document("one\nReproduce the PRODuct\n");
    let snippet = Finder::literal(&["prod".into()]).snippet(&note);
    assert_eq!((snippet.line, snippet.marks.len()), (2, 2));
    assert_eq!(&snippet.text[snippet.marks[0].clone()], "prod");
}

proptest! {
    #[test]
    fn snippets_are_short_and_cut_between_characters(
        body in "([a-z]{1,9}|[\\PC]{0,4}|\\n| |数据|กขค|e\u{301}|👩\u{200d}🔬){0,200}",
        word in "[a-z]{1,3}",
    ) {
        let note = document(&body);
        let terms = [term(&word, 1.0), term("数据", 2.0), term("กขค", 1.5)];
        let snippet = Finder::terms(&terms, Stemming::English).snippet(&note);
        prop_assert!(snippet.text.chars().count() <= MAX_CHARACTERS, "{}", snippet.text);
        prop_assert!(!snippet.text.contains('\n'));
        let mut last = 0;
        for mark in &snippet.marks {
            prop_assert!(mark.start >= last && mark.start < mark.end);
            prop_assert!(snippet.text.get(mark.clone()).is_some());
            last = mark.end;
        }
        prop_assert!(snippet.line >= 1 && snippet.line <= body.matches('\n').count() + 1);
        // The body itself may begin with a mark, but an excerpt cut from it not.
        let after_cut = snippet.text.strip_prefix('…').unwrap_or("");
        prop_assert!(!after_cut.starts_with(is_mark));
    }
}

fn assert_not_ruled_out(text: &str) {
    let mut tokenizer = Tokenizer::default();
    for piece in words(text) {
        let written = &text[piece.range.clone()];
        let mut terms = Vec::new();
        let _ = tokenizer.each_term_of(text, &piece, Purpose::Document, |term| {
            terms.push(term.text.to_owned());
            ControlFlow::<()>::Continue(())
        });
        for term in &terms {
            let prefixes = PrefixFilter::of([term.as_str()].into_iter());
            assert!(prefixes.allows(written.as_bytes()), "{written} {term}");
        }
    }
}

#[test]
fn words_are_ruled_out_by_their_first_letters() {
    let prefixes = PrefixFilter::of(["databas", "ti", "v2"].into_iter());
    for (written, allowed) in [
        ("Databases", true),
        ("datab", true),
        ("datum", false),
        ("däta", true),
        ("time", true),
        ("table", true),
        ("dune", false),
        ("V2", true),
        ("é", true),
    ] {
        assert_eq!(prefixes.allows(written.as_bytes()), allowed, "{written}");
    }
}

proptest! {
    #[test]
    fn no_word_is_ruled_out_by_its_own_term(word in "[a-zA-Z0-9äÉ'_-]{1,12}") {
        assert_not_ruled_out(&word);
    }

    #[test]
    fn no_stemmed_ending_rules_a_word_out(
        word in "[a-zäé]{0,5}(ational|enci|bli|biliti|izer|ation|ator|iviti|y|ies|ied|eed|ing|ed|ll|e){1,3}(s|ly|ness|ful|ity|y)?",
    ) {
        assert_not_ruled_out(&word);
    }
}
