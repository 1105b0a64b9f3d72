//! Tests of snippets.

use proptest::prelude::*;

use super::excerpt::{MAX_CHARACTERS, excerpt, excerpt_of};
use super::*;
use crate::text::is_mark;

fn term(term: &str, weight: f64) -> PlannedTerm {
    PlannedTerm {
        term: term.into(),
        prefix: false,
        typed: None,
        documents: 1,
        weight,
        common: false,
        frequent: false,
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
    let snippet = Finder::terms(terms, Stemming::English).snippet(document).0;
    let mut text = snippet.text.clone();
    for mark in snippet.marks.iter().rev() {
        text.insert(mark.end, ']');
        text.insert(mark.start, '[');
    }
    (snippet.line, text)
}

#[test]
fn stop_words_are_marked_only_beside_another_match() {
    let common = |word: &str| PlannedTerm {
        common: true,
        frequent: true,
        ..term(word, 0.1)
    };
    let note = document("One of the pots is blue.\n\nThe state of the art of glazing.\n");
    let art = [
        common("of"),
        common("the"),
        term("state", 2.0),
        term("art", 2.0),
    ];
    assert_eq!(
        shown(&art, &note),
        (3, "[The] [state] [of] [the] [art] [of] glazing.".to_owned())
    );
    // They may decide what is shown where nothing else matches.
    let absent = [common("of"), term("submarin", 3.0)];
    let unmarked = "One of the pots is blue. The state of the art of glazing.";
    assert_eq!(shown(&absent, &note), (1, unmarked.to_owned()));
    // One that is rare here is marked like any other word.
    let rare = PlannedTerm {
        frequent: false,
        ..common("blue")
    };
    let marked = shown(&[rare, common("of")], &note).1;
    assert!(marked.starts_with("One of the pots is [blue]."), "{marked}");
    // Lines match by the words that are marked.
    let lines = |terms: &[PlannedTerm]| {
        let finder = Finder::terms(terms, Stemming::English);
        finder.snippet(&note).0.lines
    };
    assert_eq!(lines(&art), [3]);
    assert_eq!(lines(&absent), [0; 0]);
    assert_eq!(lines(&[common("of")]), [1, 3]);
    // A query of stop words alone has nothing better.
    let alone = shown(&[common("of")], &note).1;
    assert!(alone.starts_with("One [of] the pots"), "{alone}");
}

#[test]
fn the_line_and_the_words_that_match() {
    let mut note = document("# Heading\n\nFirst the inbox.\nThen weekly reviews of it.\n");
    note.front = "---\ntitle: x\n---\n".into();
    let terms = [term("week", 1.0), term("review", 1.0)];
    assert_eq!(
        shown(&terms, &note),
        (7, "First the inbox. Then weekly [reviews] of it.".into())
    );
    let terms = [term("weekli", 1.0), term("review", 1.0)];
    assert_eq!(
        shown(&terms, &note),
        (7, "First the inbox. Then [weekly] [reviews] of it.".into())
    );
}

#[test]
fn the_excerpt_with_the_rarest_words_wins() {
    let filler = "Nothing to see here. ".repeat(40);
    let note = document(&format!(
        "common common common {filler}\nRare common word\n{filler}"
    ));
    let (line, text) = shown(&[term("common", 0.1), term("rare", 5.0)], &note);
    assert_eq!(line, 2);
    assert!(text.starts_with("[Rare] [common] word Nothing"), "{text}");
    assert!(text.ends_with("Nothing to see here."), "{text}");
}

#[test]
fn the_opening_stands_in_for_the_body() {
    let note = document("Something else altogether.");
    for word in ["focu", "titl"] {
        assert_eq!(
            shown(&[term(word, 1.0)], &note).1,
            "Something else altogether."
        );
    }
    let nothing = document("");
    assert_eq!(shown(&[term("focu", 1.0)], &nothing).1, "");
    let mut note = note;
    note.front = "---\ntitle: The title\ntags: [deep-work, focus]\n---\n".into();
    assert_eq!(shown(&[term("focu", 1.0)], &note).0, 3);
    assert_eq!(
        shown(&[term("zzz", 1.0)], &note).1,
        "Something else altogether."
    );
}

#[test]
fn the_title_is_not_shown_again() {
    for (body, line, expected) in [
        (
            "# The title\n\nOpening words. More.",
            4,
            "Opening words. More.",
        ),
        ("The title\n===\n\nOpening words.", 4, "Opening words."),
        ("\n\n# *The* title #\n\n## Part\n\nText", 6, "Part: Text"),
        ("# The title\n", 4, ""),
        ("Some text, no title.", 1, "Some text, no [title]."),
    ] {
        let mut note = document(body);
        note.front = "---\nx: y\n---\n".into();
        let found = shown(&[term("titl", 1.0)], &note);
        let line = if line == 1 { 4 } else { line };
        assert_eq!(found, (line, expected.to_owned()), "{body}");
    }
    let note = document("# The title\n\nOpening. The title again.");
    let found = shown(&[term("titl", 1.0)], &note);
    assert_eq!(found, (3, "Opening. The [title] again.".into()));
    assert_eq!(shown(&[term("zzz", 1.0)], &document("")).1, "");
}

#[test]
fn a_line_of_tags_is_not_prose() {
    let mut note = document("# The title\n\nOpening words.\n\n#deep-work #focus\n");
    assert_eq!(
        shown(&[term("focu", 1.0)], &note),
        (5, "Opening words.".into())
    );
    let only = document("# The title\n\n#deep-work #focus\n");
    assert_eq!(shown(&[term("focu", 1.0)], &only), (3, String::new()));
    note.title = "Focus".into();
    assert_eq!(
        shown(&[term("focu", 1.0)], &note).1,
        "The title: Opening words."
    );
}

#[test]
fn tags_at_the_end_of_a_line_are_not_prose() {
    for (body, expected) in [
        // The sentence before them is shown, whether it matches or not.
        (
            "Not zero messages. #deep-work #focus\n",
            "Not zero messages. #deep-work #focus",
        ),
        (
            "Zero messages #deep-work #focus\n",
            "Zero messages #deep-work #focus",
        ),
        ("Zero messages. #focus", "Zero messages. #focus"),
        // A sentence elsewhere says more than the tags.
        ("Zero. #x #focus\n\nThen I focus.\n", "Then I [focus]."),
        // A tag in a sentence belongs to it.
        ("Then ask #focus about it.\n", "Then ask #[focus] about it."),
        ("This is for #focus\n", "This is for #[focus]"),
    ] {
        let note = document(body);
        assert_eq!(shown(&[term("focu", 1.0)], &note).1, expected, "{body}");
    }
}

#[test]
fn the_keywords_of_an_org_file_are_not_prose() {
    let mut note =
        document("#+title: The title\n#+filetags: :deep-work:focus:\n\n* Daily\nWash by hand.\n");
    note.markup = Markup::Org;
    let opening = "* Daily Wash by hand.".to_owned();
    assert_eq!(shown(&[term("focu", 1.0)], &note), (2, opening.clone()));
    assert_eq!(shown(&[term("zzz", 1.0)], &note), (4, opening));
    let found = shown(&[term("wash", 1.0)], &note);
    assert_eq!(found, (5, "* Daily [Wash] by hand.".into()));
    note.body = "#+title: The title\n".into();
    assert_eq!(shown(&[term("zzz", 1.0)], &note).1, "");
}

#[test]
fn snippets_are_prose() {
    let note = document(
        "# The title\n\n## Five steps\n\n1. **Capture** everything: a *paper* slip.\n\
         2. [Clarify](https://example.org/clarify) each item\n3. Organise\n",
    );
    assert_eq!(
        shown(&[term("captur", 1.0), term("clarifi", 1.0)], &note),
        (
            5,
            "[Capture] everything: a paper slip. [Clarify] each item; Organise".into()
        )
    );
}

#[test]
fn a_match_that_is_seen_wins_over_one_in_an_address() {
    let links = "- [one](https://example.org/wombat-pages/wombat.html)\n".repeat(20);
    let note = document(&format!("{links}\nThe wombat digs.\n"));
    let (line, text) = shown(&[term("wombat", 1.0)], &note);
    assert_eq!((line, text.as_str()), (22, "The [wombat] digs."));
    let found = shown(&[term("wombat", 1.0)], &document(&links));
    assert_eq!(found, (1, "one".into()));
}

const COFFEE: &str = "# The title\n\n\
    | Method | Coffee | Water |\n|---|---|---|\n\
    | French press | 30 g | 500 ml |\n| Moka pot | 16 g | 140 ml |\n| Cold brew | 80 g | 1 l |\n\n\
    Pour-over: bloom with 45 ml for 40 seconds. Moka needs a low flame.\n";

#[test]
fn the_row_that_matches_is_shown() {
    let note = document(COFFEE);
    for (word, line, expected) in [
        ("french", 5, "[French] press · 30 g · 500 ml"),
        ("cold", 7, "[Cold] brew · 80 g · 1 l"),
        // If nothing else does.
        ("method", 3, "[Method] · Coffee · Water"),
        // A sentence says more.
        (
            "moka",
            9,
            "Pour-over: bloom with 45 ml for 40 seconds. [Moka] needs a low flame.",
        ),
    ] {
        let found = shown(&[term(word, 1.0)], &note);
        assert_eq!(found, (line, expected.to_owned()));
    }
    // Of two sentences the first, also if a table is beside it.
    let note = document(&format!("Filtered water.\n\n{COFFEE}\nCooler water.\n"));
    assert_eq!(
        shown(&[term("water", 1.0)], &note),
        (1, "Filtered [water].".into())
    );
    let note = document(COFFEE);
    // Two words in a row say more than one in a sentence.
    let found = shown(&[term("moka", 1.0), term("pot", 1.0)], &note);
    assert_eq!(found, (6, "[Moka] [pot] · 16 g · 140 ml".into()));
    // What is said about the table is not followed by it.
    let note = document(&format!("Ratios that I use.\n\n{COFFEE}"));
    let found = shown(&[term("ratio", 1.0)], &note);
    assert_eq!(found, (1, "[Ratios] that I use.".into()));
    // The opening is what is said beside tables.
    let note = document(COFFEE);
    let (_, text) = shown(&[term("titl", 1.0)], &note);
    assert!(text.starts_with("Pour-over: bloom"), "{text}");
}

#[test]
fn the_link_that_matches_is_shown() {
    let note = document(
        "# The title\n\n- [Sourdough bread](https://a.b/1)\n- [[Rye bread]]\n- [Cakes](https://a.b/2)\n\n\
         Buy flour.\n",
    );
    let found = shown(&[term("bread", 1.0)], &note);
    assert_eq!(found, (3, "Sourdough [bread]".into()));
    let found = shown(&[term("rye", 1.0)], &note);
    assert_eq!(found, (4, "[Rye] bread".into()));
    assert_eq!(shown(&[term("titl", 1.0)], &note).1, "Buy flour.");
}

#[test]
fn boxes_keep_their_state() {
    let note = document("# The title\n\n- [ ] call the baker\n- [x] buy flour\n");
    assert_eq!(
        shown(&[term("flour", 1.0)], &note),
        (4, "[x] buy [flour]".into())
    );
    assert_eq!(
        shown(&[term("baker", 1.0)], &note),
        (3, "[ ] call the [baker]; [x] buy flour".into())
    );
}

#[test]
fn snippets_begin_and_end_with_sentences() {
    let note = document(
        "The first sentence is only here to be left out of the answer. It is followed by a \
         second, e.g. this one, which nobody needs. The kettle boils on Mr. Smith's stove at noon. \
         A fourth sentence tells what became of the tea afterwards, which is too long to be \
         shown in full, since it goes on for more words than there is room for in one snippet.",
    );
    assert_eq!(
        shown(&[term("kettl", 1.0)], &note).1,
        "The [kettle] boils on Mr. Smith's stove at noon. A fourth sentence tells what became of \
         the tea afterwards, which is too long to be shown in full, since it goes on for more \
         words than there is room…"
    );
    assert_eq!(
        shown(&[term("second", 1.0)], &note).1,
        "It is followed by a [second], e.g. this one, which nobody needs. The kettle boils on \
         Mr. Smith's stove at noon."
    );
    let endless = "word ".repeat(100) + "kettle " + &"word ".repeat(100);
    let (_, text) = shown(&[term("kettl", 1.0)], &document(&endless));
    assert!(
        text.starts_with("…word word") && text.ends_with("word…"),
        "{text}"
    );
    assert!(text.contains("[kettle]"));
}

#[test]
fn a_snippet_of_a_long_body_is_made_from_what_is_near() {
    let filler = "Nothing *to see* here.\n\n".repeat(50_000);
    let note = document(&format!("{filler}The **kettle** boils.\n\n{filler}"));
    let (line, text) = shown(&[term("kettl", 1.0)], &note);
    assert_eq!(line, 100_001);
    assert!(
        text.starts_with("The [kettle] boils. Nothing to see"),
        "{text}"
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
    let snippet = Finder::literal(&["prod".into()]).snippet(&note).0;
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
        let snippet = Finder::terms(&terms, Stemming::English).snippet(&note).0;
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

proptest! {
    #[test]
    fn what_is_marked_was_matched(
        pieces in prop::collection::vec(
            (
                0..18_usize,
                "(alpha|Beta|gamma|delta|数据库)",
                "( |\\. |\\n|\\n\\n|\\n- |\\n- \\[ \\] |\\n> |, )",
            ),
            1..60,
        ),
    ) {
        let mut body = String::new();
        let mut seen = false;
        for (wrapping, word, space) in pieces {
            let (before, after) = [
                ("", ""), ("**", "**"), ("*", "*"), ("`", "`"), ("[", "](https://x.org/gamma)"),
                ("[[page|", "]]"), ("~~", "~~"), ("<b>", "</b>"), ("![", "](x.png)"), ("", "[^1]"),
                ("| ", " |"), ("_", "_"), ("\n\n| ", " | x |\n|---|---|\n"), ("\n| ", " | y |\n"),
                ("\n- [", "](https://x.org/y)\n"), ("<!-- gamma -->", ""), ("## ", ""), ("&amp; ", " &lt;"),
            ][wrapping];
            seen |= matches!(word.as_str(), "alpha" | "Beta");
            body.extend([before, &word, after, &space]);
        }
        let note = document(&body);
        let terms = [term("alpha", 1.0), term("beta", 1.0)];
        let snippet = Finder::terms(&terms, Stemming::English).snippet(&note).0;
        for mark in &snippet.marks {
            let marked = snippet.text.get(mark.clone());
            let rest = marked.unwrap().to_lowercase().replace("alpha", "").replace("beta", "");
            prop_assert_eq!(rest, "", "{} in {}", marked.unwrap(), snippet.text);
        }
        prop_assert_eq!(!snippet.marks.is_empty(), seen, "{} from {}", snippet.text, body);
        let line = body.lines().nth(snippet.line - 1).unwrap_or_default().to_lowercase();
        prop_assert!(!seen || line.contains("alpha") || line.contains("beta"), "{}", line);
    }
}

proptest! {
    #[test]
    fn an_excerpt_is_the_same_whether_all_prose_is_rendered_or_enough(
        body in "([a-z]{1,9}[.!?,]?|[*_`~=\\[\\]()|<>!#&-]{1,2}|\\n| |\\n\\n|\\n- |https://a.b/c|数据库。|e\u{301}|\\PC){0,400}",
        at in 0..1_200_usize,
        length in 0..160_usize,
        markup in prop::sample::select(vec![Markup::Markdown, Markup::Plain]),
    ) {
        let floor = |at: usize| body.floor_char_boundary(at.min(body.len()));
        let span = floor(at)..floor(at + length).max(floor(at));
        let mut note = document(&body);
        note.markup = markup;
        let found = Match { range: span.clone(), term: 0, weight: 1.0, marked: true };
        let matches = [found];
        let matches = if span.is_empty() { &[] } else { &matches[..] };
        prop_assert_eq!(
            excerpt(&note, matches, &span),
            excerpt_of(&note, matches, &span, plain::Enough::ALL),
        );
    }

    #[test]
    fn the_terms_of_a_body_are_those_that_match_in_it(
        body in "((alpha|Betas|gamma|delta|数据库|datum)[ .\\n]){0,40}",
    ) {
        let mut prefix = term("dat", 1.0);
        prefix.prefix = true;
        let terms = [term("alpha", 1.0), term("beta", 1.0), term("alpha", 1.0), prefix];
        let finder = Finder::terms(&terms, Stemming::English);
        let (_, contained) = finder.snippet(&document(&body));
        let has = |word: &str| body.contains(word);
        // A repeated term has the number of the first.
        let expected = vec![has("alpha"), has("Betas"), false, has("datum")];
        prop_assert_eq!(contained, Some(Contained(expected)));
    }
}

#[test]
fn the_terms_of_a_body_that_was_not_read_to_its_end_are_unknown() {
    let terms = [term("tea", 1.0), term("milk", 1.0)];
    let finder = Finder::terms(&terms, Stemming::English);
    let body = "tea ".repeat(MAX_MATCHES) + "milk";
    assert_eq!(finder.snippet(&document(&body)).1, None);
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

#[test]
fn a_y_may_have_become_an_i() {
    for word in [
        "lying", "Dying", "tying", "untying", "vying", "flies", "cries", "dyes",
    ] {
        assert_not_ruled_out(word);
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
