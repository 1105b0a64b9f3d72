//! Bodies as people write them and as accidents make them: where they are cut.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;

const CAPACITY: u32 = 254 * token_estimate::TOKEN;

/// Cuts a body as an index does and checks what holds for every one.
fn cut(title: &str, body: &str) -> Vec<Chunk> {
    cut_by(ChunkOptions::default(), title, body)
}

/// Cuts a body in this way and checks what holds for every one, however it is
/// cut.
fn cut_by(chunking: ChunkOptions, title: &str, body: &str) -> Vec<Chunk> {
    cut_in(Markup::Markdown, chunking, title, body)
}

fn cut_in(markup: Markup, chunking: ChunkOptions, title: &str, body: &str) -> Vec<Chunk> {
    let found = chunking.chunks(title, markup, body);
    let mut covered = 0;
    let mut last_start = None;
    for chunk in &found {
        let Range { start, end } = chunk.range;
        let text = &body[start..end];
        if body.trim().is_empty() {
            assert_eq!((start, end), (0, 0));
        } else {
            assert!(!text.trim().is_empty(), "{chunk:?} is blank");
        }
        assert!(last_start < Some(start), "{chunk:?} is out of order");
        assert!(end > covered || end == 0, "{chunk:?} adds nothing");
        if start > covered {
            assert_eq!(body[covered..start].trim(), "", "left out before {chunk:?}");
        }
        assert_eq!(chunk.start_line, 1 + newlines(&body[..start]));
        assert_eq!(chunk.end_line, 1 + newlines(&body[..end]));
        let shown = chunking.embedded_text(title, &chunk.heading, text);
        // Measured alone, a text may seem a little stranger than in its place.
        let weight = token_estimate::of(&shown);
        assert!(
            weight <= chunking.capacity() * 5 / 4,
            "{chunk:?} weighs {weight}"
        );
        last_start = Some(start);
        covered = end;
    }
    assert_eq!(body[covered..].trim(), "", "left out at the end");
    found
}

fn headings(found: &[Chunk]) -> Vec<&str> {
    found.iter().map(|chunk| chunk.heading.as_str()).collect()
}

fn sentences(count: usize) -> String {
    let sentence = |at| format!("Sentence number {at} of the text is about bread and the oven. ");
    (0..count).map(sentence).collect()
}

fn weight_of(body: &str, chunk: &Chunk) -> u32 {
    token_estimate::of(&body[chunk.range.clone()])
}

#[test]
fn small_documents_are_one_chunk() {
    for (body, range, lines, heading) in [
        ("Some text.", 0..10, (1, 1), ""),
        ("\n \n  Some text.\n\n", 3..15, (3, 3), ""),
        ("# One\r\n\r\ntext\r\n", 0..13, (1, 3), "One"),
        ("# One\n## Two\ntext", 0..17, (1, 3), "One"),
        ("# One\n# Two\ntext", 0..16, (1, 3), ""),
        ("## A\n\n# B\ntext", 0..14, (1, 4), ""),
    ] {
        let expected = Chunk {
            range,
            start_line: lines.0,
            end_line: lines.1,
            heading: heading.to_owned(),
        };
        assert_eq!(cut("Title", body), [expected], "{body:?}");
    }
}

#[test]
fn a_title_alone_is_found_and_nothing_is_not() {
    for blank in ["", " \n\t\r\n", "\u{3000}\n\u{A0}"] {
        assert_eq!(cut("", blank), []);
        assert_eq!(cut(" ", blank), []);
        let found = cut("Title", blank);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].range, 0..0);
        assert_eq!((found[0].start_line, found[0].end_line), (1, 1));
    }
}

#[test]
fn small_sections_share_a_chunk_and_its_path_is_what_they_share() {
    let mut body = String::from("# Bread\n\n");
    for part in ["Dough", "Oven"] {
        let _ = write!(body, "## {part}\n\n");
        for step in 0..8 {
            let _ = write!(body, "### Step {step}\n\n{}\n\n", sentences(1));
        }
    }
    let found = cut("Bread", &body);
    assert!(found.len() <= 3, "{}", found.len());
    assert_eq!(headings(&found), ["Bread", "Bread › Oven"]);
    assert!(body[found[1].range.clone()].starts_with("## Oven"));
}

#[test]
fn sections_are_cut_apart_where_they_start() {
    for (markup, body) in [
        (
            Markup::Markdown,
            format!(
                "# A\n\n{0}\n\n## *B* ##\n\n{0}\n\n## C\n\n{0}",
                sentences(9)
            ),
        ),
        (
            Markup::Plain,
            format!(
                "A\n===\n\n{0}\n\nB\n---\n{0}\n\nC\n-----\n\n{0}",
                sentences(9)
            ),
        ),
        (
            Markup::Org,
            format!("* A\n\n{0}\n** B :tag:\n{0}\n\n** C\n\n{0}", sentences(9)),
        ),
    ] {
        let found = cut_in(markup, ChunkOptions::default(), "", &body);
        assert_eq!(headings(&found), ["A", "A › B", "A › C"], "{body}");
    }
}

#[test]
fn what_looks_like_a_heading_in_code_or_lists_heads_nothing() {
    let long = sentences(9);
    for body in [
        format!("# A\n\n```sh\n# B\n```\n\n{long}\n\n{long}"),
        format!("# A\n\n- # B\n\n{long}\n\n{long}"),
        format!("# A\n\n* B\n\n{long}\n\n* C\n\n{long}"),
        format!("# A\n\n<!--\n# B\n-->\n\n{long}\n\n{long}"),
        format!("#+title: x\n* A\n#+begin_src sh\n# B\n#+END_SRC\n{long}\n\n{long}"),
    ] {
        let markup = if body.starts_with("#+") {
            Markup::Org
        } else {
            Markup::Markdown
        };
        let found = cut_in(markup, ChunkOptions::default(), "", &body);
        assert!(found.len() > 1);
        assert!(
            headings(&found)[1..].iter().all(|path| *path == "A"),
            "{body}"
        );
    }
}

#[test]
fn markdown_that_resembles_org_is_markdown() {
    let long = sentences(9);
    let body = format!("text\n\n* One\n** Two\n\n# A\n\n{long}\n\n{long}\n\n## B\n\n{long}");
    let found = cut("", &body);
    assert_eq!(headings(&found), ["", "A"], "{found:?}");
}

#[test]
fn a_heading_stays_with_what_it_heads() {
    for length in 1..20 {
        let before = sentences(length);
        let body = format!(
            "{before}\n\n## A\n\n### B\n\n{}\n\n## C\n\nEnd.",
            sentences(20)
        );
        for chunk in cut("", &body) {
            let last = body[chunk.range.clone()].lines().last().unwrap();
            assert!(!last.starts_with('#'), "{chunk:?}");
        }
    }
}

#[test]
fn code_stays_whole_where_it_fits() {
    let code: String = (0..12).map(|at| format!("let x{at} = {at};\n\n")).collect();
    let fence = format!("```rust\n{code}```");
    for length in 1..20 {
        let body = format!("{}\n\n{fence}\n\n{}", sentences(length), sentences(7));
        let whole = |chunk: &Chunk| body[chunk.range.clone()].contains(&fence);
        assert!(cut("", &body).iter().any(whole), "{length}");
    }
    let body = format!("```\n{}```\n", code.repeat(10));
    let found = cut("", &body);
    assert!(found.len() > 2);
    for chunk in &found[1..] {
        assert!(body[chunk.range.clone()].starts_with("let"), "{chunk:?}");
    }
}

#[test]
fn a_section_is_cut_evenly_between_sentences_and_overlaps() {
    for length in 18..60 {
        let body = sentences(length);
        let found = cut("Title", &body);
        let weights: Vec<u32> = found.iter().map(|chunk| weight_of(&body, chunk)).collect();
        let (least, most) = (weights.iter().min(), weights.iter().max());
        assert!(found.len() > 1);
        assert!(least > most.map(|most| most / 2).as_ref(), "{weights:?}");
        for pair in found.windows(2) {
            let (before, after) = (&pair[0].range, &pair[1].range);
            assert!(body[after.clone()].starts_with("Sentence number"));
            assert!(body[before.clone()].ends_with("oven."));
            let repeated = &body[after.start..before.end.max(after.start)];
            assert!(!repeated.is_empty() && token_estimate::of(repeated) < CAPACITY / 5);
        }
    }
}

/// What each chunk repeats of the one before, in tokens.
fn repeated(chunking: ChunkOptions, body: &str) -> Vec<u32> {
    let found = cut_by(chunking, "Title", body);
    let pairs = found.windows(2);
    let repeated = pairs.map(|pair| {
        let (before, after) = (&pair[0].range, &pair[1].range);
        token_estimate::of(&body[after.start..before.end.max(after.start)]) / token_estimate::TOKEN
    });
    repeated.collect()
}

#[test]
fn as_much_is_repeated_as_was_asked_for_in_whole_sentences() {
    let body = sentences(120);
    let chunking = |overlap| ChunkOptions {
        overlap: Some(overlap),
        ..ChunkOptions::default()
    };
    // A sentence has a dozen tokens.
    for overlap in [20, 40, 80] {
        let repeated = repeated(chunking(overlap), &body);
        assert!(repeated.len() > 5);
        for tokens in repeated {
            assert!((overlap - 15..=overlap + 5).contains(&tokens), "{tokens}");
        }
    }
    for overlap in [0, 5] {
        let repeated = repeated(chunking(overlap), &body);
        assert!(repeated.iter().all(|&tokens| tokens == 0), "{repeated:?}");
    }
    // Never more than half, whatever is asked for.
    let repeated = repeated(chunking(10_000), &body);
    assert!(repeated.iter().all(|tokens| (100..=135).contains(tokens)));
}

#[test]
fn smaller_chunks_are_more() {
    let body = format!("# Bread\n\n{}", sentences(60));
    let count = |tokens| {
        let chunking = ChunkOptions {
            tokens,
            ..ChunkOptions::default()
        };
        cut_by(chunking, "Title", &body).len()
    };
    assert!(count(64) > count(128) && count(128) > count(254) && count(254) > count(510));
}

#[test]
fn without_the_path_there_is_more_room() {
    let body = format!("# {}\n\n{}", "Bread and more ".repeat(20), sentences(60));
    let count = |path| {
        let chunking = ChunkOptions {
            path,
            ..ChunkOptions::default()
        };
        cut_by(chunking, "A title of some length", &body).len()
    };
    assert!(count(true) > count(false));
}

#[test]
fn sections_do_not_overlap() {
    let body = format!("# A\n\n{0}\n\n# B\n\n{0}", sentences(10));
    let found = cut("", &body);
    assert_eq!(found.len(), 2);
    assert!(found[0].range.end < found[1].range.start);
}

#[test]
fn lists_and_tables_are_cut_between_items_and_rows() {
    let item = |at| format!("- Item {at} of a list. It has two sentences.\n");
    let row = |at| format!("| cell {at} | another. Cell | {at} |\n");
    for body in [
        (0..100).map(item).collect::<String>(),
        (0..100).map(row).collect::<String>(),
    ] {
        let found = cut("", &body);
        assert!(found.len() > 3);
        for chunk in found {
            assert!(body[chunk.range.end..].starts_with('\n'), "{chunk:?}");
        }
    }
}

#[test]
fn scripts_without_spaces_are_cut_between_sentences() {
    let body = "小麦粉と水と塩をよく混ぜてから、一時間ほど休ませる。".repeat(40);
    let found = cut("", &body);
    assert!(found.len() > 3);
    for chunk in found {
        assert!(body[chunk.range].ends_with('。'));
    }
    let body = "उसने रोटी बनाई और सबको खिलाई।".repeat(60);
    for chunk in cut("", &body) {
        assert!(body[chunk.range].ends_with('।'));
    }
}

#[test]
fn endless_titles_and_headings_leave_room() {
    let body = format!(
        "# {}\n\n## {}\n\n{}",
        "a b ".repeat(5000),
        "ü".repeat(9999),
        sentences(30)
    );
    for title in ["", "t", &"title ".repeat(5000), &"字".repeat(5000)] {
        let found = cut(title, &body);
        let text = found.last().unwrap();
        assert!(weight_of(&body, text) > CAPACITY / 3);
    }
}

/// In its place, a text is weighed as the words before it suggest. Alone it may be
/// heavier.
#[test]
fn strange_text_after_familiar_text_fits() {
    let english = "the bread of the baker and the oven of the house, ".repeat(30);
    let words = |many: usize| -> String {
        let word = |at: usize| format!("gebäckstück{} verkaufen anzubieten ", at % 7);
        (0..many).map(word).collect()
    };
    let list: String = (0..60)
        .map(|_| "- bäckerei.üblich abgeholt.über\n")
        .collect();
    let code: String = (0..20).map(|_| "herstellen abgeholter\n").collect();
    for heading in [
        "",
        "# 字字字字字字字字字\n\n",
        "# é字é字é字é字é字é字é字\n\n",
    ] {
        for strange in [
            words(200),
            list.clone(),
            format!("```\n{code}```\n"),
            format!("{}\n\n{list}\n\n{english}\n\n{}", words(90), words(90)),
        ] {
            let body = format!("{english}\n\n{heading}{strange}\n\n{english}");
            for tokens in [64, 128, 254, 430, 600] {
                for title in ["", "字é字é字é字é字é字é字é字é字é字é字é"] {
                    let chunking = ChunkOptions {
                        tokens,
                        ..ChunkOptions::default()
                    };
                    cut_by(chunking, title, &body);
                }
            }
        }
    }
}

/// What is weighed again is only what was too heavy.
#[test]
fn familiar_text_is_cut_alike_whatever_follows() {
    let english = "the bread of the baker and the oven of the house.\n\n".repeat(120);
    let strange = "verkaufen abgeholte mitgeteilt ".repeat(200);
    let alone = cut("", &english);
    let followed = cut("", &format!("{english}# Zweitens\n\n{strange}"));
    let kept = alone.len() - 1;
    assert!(kept > 2);
    assert_eq!(followed[..kept], alone[..kept]);
}

/// Anything but linear time would not end.
#[test]
fn accidents_take_linear_time() {
    let stairs = |at: usize| format!("{} x\n", "*".repeat(at));
    for (name, body) in [
        ("one line", "lorem ipsum dolor ".repeat(200_000)),
        ("one word", "x".repeat(3_000_000)),
        ("one number", "7".repeat(1_000_000)),
        ("signs", "#".repeat(1_000_000)),
        ("characters", "漢".repeat(300_000)),
        ("headings", "# a b\n".repeat(100_000)),
        ("empty headings", "#\n".repeat(100_000)),
        ("underlined", "x\n--\n".repeat(100_000)),
        ("underlined at last", "x. Y\n".repeat(100_000) + "==="),
        ("tiny lines", "a\n".repeat(200_000)),
        ("tiny paragraphs", "a\n\n".repeat(200_000)),
        ("fences", "```\nx\n```\n".repeat(50_000)),
        ("one fence", "```\n".to_owned() + &"a\n".repeat(200_000)),
        ("deep headlines", (1..1000).map(stairs).collect()),
        ("quotes", ">".repeat(100_000)),
        ("blank", " \n".repeat(500_000) + "x"),
    ] {
        for markup in [Markup::Markdown, Markup::Org] {
            let found = ChunkOptions::default().chunks("Title", markup, &body);
            assert!(!found.is_empty(), "{name}");
        }
    }
}

#[test]
fn hashes_stay_the_same_when_chunking_changes() {
    let mut bytes = 1_u32.to_le_bytes().to_vec();
    bytes.extend(b"text");
    assert_eq!(text_hash("text")[..], blake3::hash(&bytes).as_bytes()[..16]);
    assert_ne!(text_hash("text"), text_hash("texts"));
}

fn markdown() -> impl Strategy<Value = String> {
    let block = prop_oneof![
        4 => "(\\p{L}{1,9}[ ,.]{1,2}){1,60}",
        1 => "((the|of|and|to|for) [a-z]{2,9} ){1,60}",
        1 => "([a-zäöü]{6,12}[ .]){1,80}",
        2 => "#{1,7} ?[a-zé字 #]{0,20}",
        1 => "[a-z字]{1,9}\n(===|---|-)",
        1 => "(```|~~~~)[a-z]{0,3}\n([a-z(){};\t ]{0,30}\n){0,30}(```|~~~~)?",
        2 => "([ ]{0,5}([-*+]|[0-9]{1,2}\\.) [a-zü. ]{0,60}\n){1,20}",
        1 => "(\\|[a-z0-9 ]{0,9}\\|[0-9.]{1,6}\\|\n){1,30}",
        1 => "(> ){1,3}[a-zé. ]{0,90}",
        1 => "\\*{1,4} [a-z ]{1,9}(:a:b:)?",
        1 => "#\\+(title: x|begin_src|end_src)",
        1 => "<!--|-->|<pre>|</pre>",
        1 => "[A-Za-z0-9+/]{0,900}",
        1 => "[\u{4E00}-\u{4E20}，。]{0,400}",
        1 => "\\PC{0,200}",
        1 => "[ \t\u{A0}\u{3000}\u{200B}]{0,5}",
    ];
    let ending = prop_oneof![3 => Just("\n\n"), 2 => Just("\n"), 1 => Just("\r\n"), 1 => Just("")];
    proptest::collection::vec((block, ending), 0..40).prop_map(|blocks| {
        let blocks = blocks.into_iter();
        blocks.map(|(block, ending)| block + ending).collect()
    })
}

fn any_options() -> impl Strategy<Value = ChunkOptions> {
    let overlap = proptest::option::of(0_u32..300);
    let options = (64_u32..600, overlap, any::<bool>(), any::<bool>());
    options.prop_map(|(tokens, overlap, path, noise)| ChunkOptions {
        tokens,
        overlap,
        path,
        noise,
    })
}

#[test]
fn a_heading_below_exotic_spaces_takes_no_weight_from_the_text_above() {
    let chunking = ChunkOptions {
        tokens: 64,
        path: false,
        ..ChunkOptions::default()
    };
    let body = "AØA𐊀ߊA𞸤.ᳩa𝝐ℤ𞹋,ಀਪA,𞹟ᳩ𖄀ⴭ.𐡠าΆༀਅØ ഽA..\n\n\
                0. .üü.a ü aaaüaü.a üaa aüü a\n\
                00. üa aaaaaa.....a aüaaaüaa ü a ü.a.aaaaü.aaüüü..\n\n\n\
                \u{3000}\n𑅶 Aꬨᢇa𝼥ー𐺰.\n字字a字a字字\n===\n\n";
    cut_by(chunking, "", body);
}

proptest! {
    #[test]
    fn however_it_is_cut_all_is_covered_in_order(
        chunking in any_options(),
        title in "\\PC{0,80}",
        body in markdown(),
    ) {
        cut_by(chunking, &title, &body);
    }

    #[test]
    fn any_markdown_is_covered_in_order(title in "\\PC{0,80}", body in markdown()) {
        cut(&title, &body);
        cut_in(Markup::Org, ChunkOptions::default(), &title, &body);
        cut(&title, &body.replace('\n', "\r\n"));
    }

    #[test]
    fn any_bytes_are_covered_in_order(bytes in proptest::collection::vec(any::<u8>(), 0..4000)) {
        cut("Title", &String::from_utf8_lossy(&bytes));
    }
}
