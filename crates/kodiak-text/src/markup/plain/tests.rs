//! Tests of prose made from markdown.

use proptest::prelude::*;

use super::*;

fn prose(body: &str) -> String {
    render(Markup::Markdown, body, 0..body.len(), "The title").text
}

#[test]
fn inline_markup_is_rendered() {
    for (body, expected) in [
        ("**Bold** and *slanted*", "Bold and slanted"),
        ("__bold__ snake_case_name", "bold snake_case_name"),
        ("**over\ntwo lines** go on", "over two lines go on"),
        ("2 * 3 * 4, 2 ** 3", "2 * 3 * 4, 2 ** 3"),
        ("~~gone~~ ==marked==", "gone marked"),
        ("the `*code*` ``a ` b``", "the *code* a ` b"),
        ("[text](https://example.org/a_(b)) end", "text end"),
        ("[**bold** text][name] end", "bold text end"),
        ("[![alt text](a.png)](https://example.org)", "alt text"),
        ("![a *cat*](cat.png \"title\")", "a cat"),
        ("[[page|shown]], [[page]]", "shown, page"),
        ("a claim[^1] is made[^note].", "a claim is made."),
        ("[just brackets] [x]", "[just brackets] [x]"),
        ("see https://www.example.org/a/b?c=d.", "see example.org."),
        ("(http://example.org/x)", "(example.org)"),
        (
            "<https://example.org/x> <me@example.org>",
            "example.org me@example.org",
        ),
        (
            "[https://example.org/long](https://example.org/long)",
            "example.org",
        ),
        ("a <b>c</b><br>d <!-- not\nshown --> e", "a c d e"),
        ("Vec<String> and 1 < 2 > 1", "Vec<String> and 1 < 2 > 1"),
        ("fish &amp; chips&nbsp;&lt;3", "fish & chips <3"),
        (r"\*stars\* and \[x]", "*stars* and [x]"),
        ("日本**語**", "日本語"),
        ("![](logo.png)", ""),
        ("how  fat whales  sat ", "how fat whales sat"),
        (
            "to https:// or http and www.",
            "to https:// or http and www.",
        ),
        ("to https://example.org", "to example.org"),
        ("xhttps://example.org/a", "xhttps://example.org/a"),
    ] {
        assert_eq!(prose(body), expected, "{body}");
    }
}

#[test]
fn blocks_are_joined_as_prose() {
    for (body, expected) in [
        ("# The title\n\nText.", "Text."),
        ("The title\n=========\n\nText.", "Text."),
        (
            "## Steps ##\n\n1. Capture\n2. Clarify\n",
            "Steps: Capture; Clarify",
        ),
        ("Two\n---\nText", "Two: Text"),
        (
            "- [x] done.\n- [ ] open\n  goes on\n",
            "[x] done. [ ] open goes on",
        ),
        ("> quoted\n> text\n\nafter", "quoted text · after"),
        ("> [!note] Heading\n> text", "Heading text"),
        ("Buy\n- eggs\n- milk", "Buy: eggs; milk"),
        ("One.\n\nTwo\n\n***\n\nThree", "One. Two · Three"),
        (
            "```rust\nlet *x = **y;\n```\nAfter.",
            "let *x = **y; · After.",
        ),
        ("Run:\n\n    git log\n\nDone.", "Run: git log · Done."),
        ("<!--\nhidden\n-->\nshown", "shown"),
        (
            "Text\n\n#one #two/three\n\nMore #tags.",
            "Text · More #tags.",
        ),
        ("Text.\n\nTags: #one #two", "Text."),
        ("[name]: https://example.org\nText [name].", "Text [name]."),
        ("Text.\n\n[^1]: The note.", "Text. The note."),
        (
            "| Week | Rounds |\n|------|:------:|\n| 1 | **5** |\n| 2 | |\n",
            "Week · Rounds; 1 · 5; 2",
        ),
        (
            "a | b\n--- | ---\nc | `d|e`\n\nAfter | all",
            "a · b; c · d|e · After | all",
        ),
    ] {
        assert_eq!(prose(body), expected, "{body}");
    }
}

#[test]
fn rows_and_links_stand_alone() {
    let body = "Bread:\n\n- [Flour](https://a.b/c)\n- [ ] Buy [salt](https://a.b/d)\n\n\
                | Week | Rounds |\n|---|---|\n| 1 | 5 |\n";
    let prose = render(Markup::Markdown, body, 0..body.len(), "");
    let alone: Vec<&str> = prose
        .alone
        .iter()
        .map(|it| &prose.text[it.clone()])
        .collect();
    assert_eq!(alone, ["Flour", "Week · Rounds", "1 · 5"]);
    assert_eq!(
        prose.text,
        "Bread: Flour; [ ] Buy salt · Week · Rounds; 1 · 5"
    );
}

#[test]
fn lines_have_shapes() {
    for (line, next, expected) in [
        ("| Week | Rounds |", "|---|---|", Shape::TableHead),
        ("Week | Rounds", "--- | ---", Shape::TableHead),
        ("| 1 | 5 |", "", Shape::TableRow),
        ("- [Flour](https://a.b/c)", "", Shape::Links),
        ("12. [[Flour]]", "", Shape::Links),
        ("- Buy [salt](https://a.b/d)", "", Shape::Prose),
        ("[Flour](https://a.b/c)", "", Shape::Prose),
        ("", "", Shape::Prose),
    ] {
        assert_eq!(Shape::of(line, next), expected, "{line}");
    }
}

#[test]
fn other_markup_is_kept() {
    let body = "* Headline\n\nSome *bold*  text.\n";
    for markup in [Markup::Org, Markup::Plain] {
        let prose = render(markup, body, 0..body.len(), "");
        assert_eq!(prose.text, "* Headline Some *bold* text.");
        assert_eq!((prose.starts, prose.ends), (vec![0, 11], vec![10]));
    }
}

#[test]
fn a_part_keeps_the_blocks_around_it() {
    let body = "Before.\n\n```\nlet a = *b;\nlet c = *d;\n```\n\nAfter *all*.";
    let at = body.find("let c").unwrap();
    let part = render(Markup::Markdown, body, at..body.len(), "");
    assert_eq!(part.text, "let c = *d; · After all.");
    let within = body.find("ter").unwrap();
    let part = render(Markup::Markdown, body, within..body.len(), "");
    assert_eq!((part.text.as_str(), part.starts.len()), ("ter all.", 0));
}

proptest! {
    #[test]
    fn every_byte_is_where_it_is_from(
        body in "([a-z]{1,5}|[*_`~=\\[\\]()|<>!\\\\#&-]{1,3}|\\n| |\\n\\n|https://a.b/c|数据|\\PC){0,60}",
        from in 0..80_usize,
        length in 0..200_usize,
    ) {
        let from = (0..=from.min(body.len())).rev().find(|&at| body.is_char_boundary(at)).unwrap();
        let to = (0..=(from + length).min(body.len())).rev().find(|&at| body.is_char_boundary(at));
        let to = to.unwrap().max(from);
        for markup in [Markup::Markdown, Markup::Plain] {
            let prose = render(markup, &body, from..to, "");
            prop_assert_eq!(prose.text.len(), prose.origins.len());
            prop_assert!(prose.starts.is_sorted() && prose.ends.is_sorted());
            for alone in &prose.alone {
                prop_assert!(!alone.is_empty() && prose.text.get(alone.clone()).is_some());
            }
            prop_assert!(prose.alone.is_sorted_by(|one, other| one.end <= other.start));
            for (at, character) in prose.text.char_indices() {
                if let Some(origin) = prose.origin(at) {
                    prop_assert!((from..to).contains(&origin) || character == ' ');
                    prop_assert!(character == ' ' || body[origin..].starts_with(character));
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn enough_is_the_beginning_of_all(
        body in "([a-z]{1,5}|[*_`~=\\[\\]()|<>!\\\\#&-]{1,3}|\\n| |\\n\\n|https://a.b/c|数据|\\PC){0,90}",
        after in 0..120_usize,
        characters in 1..60_usize,
    ) {
        for markup in [Markup::Markdown, Markup::Plain] {
            let all = render(markup, &body, 0..body.len(), "");
            let needed = Enough { after, characters };
            let some = render_enough(markup, &body, 0..body.len(), "", needed);
            prop_assert!(all.text.starts_with(&some.text));
            prop_assert_eq!(&all.origins[..some.text.len()], &some.origins[..]);
            let behind = some.text.char_indices();
            let behind = behind.filter(|&(at, _)| some.origin(at).is_some_and(|at| at >= after));
            prop_assert!(some.text == all.text || behind.count() >= characters);
            // What starts and ends before the last character is known.
            let last = some.text.len().saturating_sub(1);
            let before = |places: &[usize]| -> Vec<usize> {
                places.iter().copied().filter(|&at| at < last).collect()
            };
            prop_assert_eq!(before(&all.starts), before(&some.starts));
            prop_assert_eq!(before(&all.ends), before(&some.ends));
        }
    }
}

#[test]
fn hostile_text_takes_no_time() {
    for piece in [
        "*a ", "[", "`", "<", "**[", "[[", "![", "&", "\\", "| ", "> ", "- ",
    ] {
        let body = piece.repeat(30_000 / piece.len());
        let prose = prose(&body);
        assert!(prose.len() <= body.len() * 2);
    }
}
