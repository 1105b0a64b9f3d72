//! Rendered text is harmless whatever the input, and right for real notes.

mod allowed;

use proptest::prelude::*;

use self::allowed::check;
use crate::{Format, Meaning, Note, Rendered, WINDOW};

fn rendered(text: &str) -> Rendered {
    let note = Note::read(text, Format::Markdown, 1).with_id("0a1b2c");
    let meanings: Vec<Meaning> = note
        .links()
        .iter()
        .map(|link| match link.target.as_str() {
            target if target.contains(".png") => Meaning::Image("a \"b\"/c.png".to_owned()),
            target if target.contains("missing") => Meaning::Nothing,
            _ => Meaning::Note("d4e5f6".to_owned()),
        })
        .collect();
    note.render(&meanings)
}

fn html(text: &str) -> String {
    let html = rendered(text).html;
    check(&html);
    html.replace('\n', "")
}

#[test]
fn notes_are_rendered() {
    for (text, expected) in [
        (
            "# Hi *there*\n\ntext",
            "<h1 data-line=\"1\">Hi <em>there</em></h1><p data-line=\"3\">text</p>",
        ),
        (
            "a\n- [x] b\n- [ ] c",
            "<p data-line=\"1\">a</p><ul data-line=\"2\"><li data-line=\"2\"><input type=\"checkbox\" disabled checked aria-label=\"done\"> b</li><li data-line=\"3\"><input type=\"checkbox\" disabled aria-label=\"to do\"> c</li></ul>",
        ),
        (
            "3. a\n4. b",
            "<ol start=\"3\" data-line=\"1\"><li data-line=\"1\">a</li><li data-line=\"2\">b</li></ol>",
        ),
        (
            "~~a~~ `<b>`",
            "<p data-line=\"1\"><del>a</del> <code>&lt;b&gt;</code></p>",
        ),
        (
            "```Rust ignore\nlet a = 1 < 2;\n```",
            "<pre data-line=\"1\"><code class=\"language-rust\">let a = 1 &lt; 2;</code></pre>",
        ),
        (
            "```\"><script>\nx\n```",
            "<pre data-line=\"1\"><code>x</code></pre>",
        ),
        (
            "[[Ramen|the soup]] and [b](b.md)",
            "<p data-line=\"1\"><a href=\"#/note/d4e5f6\" data-id=\"d4e5f6\">the soup</a> and <a href=\"#/note/d4e5f6\" data-id=\"d4e5f6\">b</a></p>",
        ),
        (
            "[[missing]]",
            "<p data-line=\"1\"><span class=\"broken\">missing</span></p>",
        ),
        (
            "[a](https://b.c/?d&e \"t\")",
            "<p data-line=\"1\"><a rel=\"noopener noreferrer\" target=\"_blank\" href=\"https://b.c/?d&amp;e\">a</a></p>",
        ),
        (
            "<me@a.b>",
            "<p data-line=\"1\"><a rel=\"noopener noreferrer\" target=\"_blank\" href=\"mailto:me@a.b\">me@a.b</a></p>",
        ),
        (
            "See (https://a.b/c_d).",
            "<p data-line=\"1\">See (<a rel=\"noopener noreferrer\" target=\"_blank\" href=\"https://a.b/c_d\">https://a.b/c_d</a>).</p>",
        ),
        ("[a](javascript:alert(1))", "<p data-line=\"1\">a</p>"),
        (
            "![alt](c.png)",
            "<p data-line=\"1\"><img data-file=\"a &quot;b&quot;/c.png\" alt=\"alt\"></p>",
        ),
        (
            "![[c.png|300]]",
            "<p data-line=\"1\"><img data-file=\"a &quot;b&quot;/c.png\" alt=\"c.png\"></p>",
        ),
        (
            "![[Ramen]]",
            "<p data-line=\"1\"><a class=\"embed\" href=\"#/note/d4e5f6\" data-id=\"d4e5f6\">Ramen</a></p>",
        ),
        ("![alt](missing)", "<p data-line=\"1\">alt</p>"),
        (
            "![alt](https://a/b.gif)",
            "<p data-line=\"1\"><a rel=\"noopener noreferrer\" target=\"_blank\" href=\"https://a/b.gif\">alt</a></p>",
        ),
        (
            "[![alt](https://a/b.gif)](https://c)",
            "<p data-line=\"1\"><a rel=\"noopener noreferrer\" target=\"_blank\" href=\"https://c\">alt</a></p>",
        ),
        (
            "# A b\n[x](#a-b) [[#A b]] [y](#c)",
            "<h1 data-line=\"1\">A b</h1><p data-line=\"2\"><a href=\"#/note/0a1b2c?line=1\" data-id=\"0a1b2c\">x</a> <a href=\"#/note/0a1b2c?line=1\" data-id=\"0a1b2c\">#A b</a> <span class=\"broken\">y</span></p>",
        ),
        (
            "> [!Tip]- Title\n> text",
            "<blockquote class=\"callout\" data-callout=\"tip\" data-line=\"1\"><p data-line=\"1\">Titletext</p></blockquote>",
        ),
        (
            "|a|b|\n|-|:-:|\n|c|d|",
            "<div class=\"table\" data-line=\"1\"><table data-line=\"1\"><thead><tr data-line=\"1\"><th>a</th><th class=\"center\">b</th></tr></thead><tbody><tr data-line=\"3\"><td>c</td><td class=\"center\">d</td></tr></tbody></table></div>",
        ),
        (
            "a[^x]\n\n[^x]: b",
            "<p data-line=\"1\">a<sup class=\"footnote-reference\" data-footnote=\"1\">1</sup></p><div class=\"footnote\" data-footnote=\"1\" data-line=\"3\"><p data-line=\"3\">b</p></div>",
        ),
        (
            "#tag a<br>b<kbd>c</kbd>",
            "<p data-line=\"1\">#tag a<br>b<kbd>c</kbd></p>",
        ),
        (
            "<details><summary>a</summary>\n\n*b*\n\n</details>\n\nc",
            "<details data-line=\"1\"><summary data-line=\"1\">a</summary><p data-line=\"3\"><em>b</em></p></details><p data-line=\"7\">c</p>",
        ),
        (
            "<div onclick=x style=y>a</div>",
            "<div data-line=\"1\">a</div>",
        ),
        (
            "a <a href='b.md' onclick=x>c *d*</a> <a href=https://e.f/?g&amp;h>i</a>",
            "<p data-line=\"1\">a <a href=\"#/note/d4e5f6\" data-id=\"d4e5f6\">c <em>d</em></a> <a rel=\"noopener noreferrer\" target=\"_blank\" href=\"https://e.f/?g&amp;h\">i</a></p>",
        ),
        (
            "<a href=missing>a</a> <a href=javascript:x>b</a> <a href=#c>d</a> <a name=e>f</a>",
            "<p data-line=\"1\"><span class=\"broken\">a</span> b <span class=\"broken\">d</span> f</p>",
        ),
        (
            "<a href=b.md>c <a href=d.md>e</a> f [g](h.md)",
            "<p data-line=\"1\"><a href=\"#/note/d4e5f6\" data-id=\"d4e5f6\">c e</a> f <a href=\"#/note/d4e5f6\" data-id=\"d4e5f6\">g</a></p>",
        ),
        (
            "<a href=b.md>c\n\nd",
            "<p data-line=\"1\"><a href=\"#/note/d4e5f6\" data-id=\"d4e5f6\">c</a></p><p data-line=\"3\">d</p>",
        ),
        (
            "<p align=center>\n<img\n src=\"c.png\" alt='a \"b\"' width=1 onerror=x>\n</p>",
            "<div data-line=\"1\"><img data-file=\"a &quot;b&quot;/c.png\" alt=\"a &quot;b&quot;\"></div>",
        ),
        (
            "a <img src=https://a/b.gif alt=c> <img src=missing> <img src=data:x alt=d>",
            "<p data-line=\"1\">a <a rel=\"noopener noreferrer\" target=\"_blank\" href=\"https://a/b.gif\">c</a> missing d</p>",
        ),
        (
            "<table border=1><thead><tr><th>a<th>b</tr></thead>\n<tr><td>c</td><td>d<sub>e</sub><tr><td>f</table>g",
            "<table data-line=\"1\"><thead><tr data-line=\"1\"><th>a</th><th>b</th></tr></thead><tr data-line=\"1\"><td>c</td><td>d<sub>e</sub></td></tr><tr data-line=\"1\"><td>f</td></tr></table>g",
        ),
        (
            "<table>a<tr>b<td>c</td>d</tr><caption>e</caption><b>f</b></table>",
            "<table data-line=\"1\"><tr data-line=\"1\"><td>a</td></tr><tr data-line=\"1\"><td>b</td><td>c</td><td>d</td></tr><tr data-line=\"1\"><td>e<b>f</b></td></tr></table>",
        ),
        (
            "<table>\n\n*a*\n\n<tr><td>\n\n|b|\n|-|\n|c|\n\n</td></tr></table>\n\nd",
            "<table data-line=\"1\"><tr data-line=\"1\"><td><p data-line=\"3\"><em>a</em></p></td></tr><tr data-line=\"5\"><td><div class=\"table\" data-line=\"7\"><table data-line=\"7\"><thead><tr data-line=\"7\"><th>b</th></tr></thead><tbody><tr data-line=\"9\"><td>c</td></tr></tbody></table></div></td></tr></table><p data-line=\"13\">d</p>",
        ),
        ("<tr><td>a</td><tbody>b", "ab"),
        (
            "a <table><tr><td>b</td></tr></table> c",
            "<p data-line=\"1\">a b c</p>",
        ),
        (
            "<b>a\n\nc",
            "<p data-line=\"1\"><b>a</b></p><p data-line=\"3\">c</p>",
        ),
    ] {
        assert_eq!(html(text), expected, "{text}");
    }
}

#[test]
fn no_space_comes_between_words() {
    let text = "a<b>b</b>c *d*e [f](javascript:g)h [[Ramen]]i ~~j~~k";
    let html = rendered(text).html;
    check(&html);
    assert!(!html.trim_end().contains('\n'), "{html}");
}

#[test]
fn headings_are_listed() {
    let text = "# A\n\nb\n\n## C `d` [e](f.md)\n";
    let headings = rendered(text).headings;
    let listed: Vec<_> = headings
        .iter()
        .map(|one| (one.level, &*one.text, one.line))
        .collect();
    assert_eq!(listed, [(1, "A", 1), (2, "C d e", 5)]);
}

#[test]
fn plain_text_keeps_its_lines() {
    let note = Note::read("a <b>\n  c\n\n\nhttps://d.e x\n", Format::Plain, 1).after_lines(2);
    let found = note.render(&[]);
    check(&found.html);
    assert_eq!(
        found.html,
        "<p class=\"plain\" data-line=\"3\">a &lt;b&gt;\n  c</p>\n<p class=\"plain\" data-line=\"7\"><a \
         rel=\"noopener noreferrer\" target=\"_blank\" href=\"https://d.e\">https://d.e</a> x</p>\n"
    );
    assert_eq!((found.from, found.to), (3, 7));
}

#[test]
fn lines_are_counted_from_the_beginning_of_the_file() {
    let text = "a\n\n".repeat(200_000);
    let note = Note::read(&text, Format::Markdown, 300_001).after_lines(10);
    let found = note.render(&[]);
    check(&found.html);
    assert!(
        found.from < 300_011 && found.to > 300_011,
        "{} {}",
        found.from,
        found.to
    );
    assert!(
        found
            .html
            .contains(&format!("data-line=\"{}\"", found.from))
    );
    assert!(found.html.contains("data-line=\"300011\""));
    let code = format!("a\n\n```sh\n{}```\n\nafter\n", "echo\n".repeat(100_000));
    let found = Note::read(&code, Format::Markdown, 50_000).render(&[]);
    check(&found.html);
    let expected = format!(
        "<pre data-line=\"{}\"><code class=\"language-sh\">echo",
        found.from
    );
    assert!(found.html.starts_with(&expected), "{}", &found.html[..80]);
}

/// What a hostile note may have many of.
const REPEATED: [&str; 40] = [
    "[",
    "]",
    "![",
    ">",
    "> ",
    "*",
    "**",
    "_",
    "`",
    "```\n",
    "<",
    "<b>",
    "<div>\n",
    "<!--",
    "</",
    "[a](",
    "[[",
    "![[",
    "](",
    "- ",
    "1. ",
    "  - a\n",
    "|a",
    "|-",
    "\\",
    "&",
    "&#",
    "[^1]",
    "~~",
    "<script>",
    "<svg><style>",
    "\n\n",
    "# ",
    "a\n===\n",
    "http",
    "https://a-",
    "https://a)",
    "[a](b) ",
    "(((",
    "<a <a ",
];

#[test]
fn nothing_repeated_is_slow_or_harmful() {
    for repeated in REPEATED {
        let text = repeated.repeat(WINDOW / repeated.len());
        check(&rendered(&text).html);
        let text = format!("{}a{}", &text[..text.len() / 2], "]".repeat(WINDOW / 4));
        check(&rendered(&text).html);
    }
}

#[test]
fn nested_and_huge_notes_are_bounded() {
    let deep: String = (0..2_000)
        .map(|depth| format!("{}- a\n", "  ".repeat(depth % 90)))
        .collect();
    check(&rendered(&deep).html);
    let quotes = format!("{} a\n", ">".repeat(5_000)).repeat(20);
    check(&rendered(&quotes).html);
    let wide = format!(
        "|{}\n|{}\n{}",
        "a|".repeat(2_000),
        "-|".repeat(2_000),
        "|b\n".repeat(5_000)
    );
    let wide = rendered(&wide).html;
    check(&wide);
    // With `<thead>`, and what is said of the others.
    assert!(wide.matches("<th").count() == 102 && wide.len() < 10_000_000);
    assert!(wide.contains("<th>1900 more columns are not shown</th>"));
    let long = format!("|a|b|\n|-|-|\n{}", "|c|d|\n".repeat(30_000));
    let found = rendered(&long);
    check(&found.html);
    assert_eq!(found.html.matches("<tr").count(), 5_001);
    // The part ends there, and the rows that follow are in another.
    assert_eq!(found.to, 5_002);
    let next = Note::read(&long, Format::Markdown, found.to + 1).render(&[]);
    check(&next.html);
    assert!(next.to > found.to && next.html.contains("|c|d|"));
    let nested = long.replace("\n|", "\n> |").replacen('|', "> |", 1);
    check(&rendered(&nested).html);
    for html in [
        "<tr><td>a".repeat(40_000),
        "<td>".repeat(50_000),
        "<table>".repeat(30_000),
        "<table><tr><td>".repeat(10_000),
        "<tr>b<table>a</td>".repeat(10_000),
        "<a href=b.md><img src=c.png>".repeat(7_000),
    ] {
        let html = rendered(&format!("<table>\n{html}\n</table>\n\n|a|\n|-|\n|b|\n")).html;
        check(&html);
        assert!(html.matches("<td").count() < 20_000 && html.matches("<tr").count() < 5_010);
        assert!(html.len() < 4_000_000);
    }
    let items = rendered(&"-\n".repeat(90_000));
    check(&items.html);
    assert!(items.to <= 10_000 && items.html.len() < 2_000_000);
    let links: String = (0..100_000)
        .map(|number| format!("[[{number}]] "))
        .collect();
    let note = Note::read(&links, Format::Markdown, 1);
    assert_eq!(note.links().len(), 2_000);
    let linked = note.render(&vec![Meaning::Note("abc".to_owned()); 2_000]);
    check(&linked.html);
    // What the others mean is not known.
    assert!(!linked.html.contains("broken"));
    let large = "word [[link]] *b* \n\n".repeat(550_000);
    let part = Note::read(&large, Format::Markdown, 900_000).render(&[]);
    check(&part.html);
    assert!(part.html.len() < 4 * WINDOW);
}

#[test]
fn hostile_html_gets_nowhere() {
    for hostile in [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<svg onload=alert(1)><a xlink:href=javascript:alert(1)>x</a></svg>",
        "<svg><style><img src=x onerror=alert(1)></style></svg>",
        "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=alert(1)&gt;\">",
        "<style>*{background:url(//evil)}</style>",
        "<form action=//evil><input name=a><button>b</button></form>",
        "<base href=//evil>",
        "<meta http-equiv=refresh content='0;url=//evil'>",
        "<object data=//evil></object><embed src=//evil>",
        "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
        "<a href=\"jav&#x09;ascript:alert(1)\">x</a>",
        "<a href=\"javascript&colon;alert(1)\">x</a>",
        "<a href=\"&#106;avascript:alert(1)\">x</a>",
        "<a href=\" javascript:alert(1)\">x</a>",
        "<a href='java\nscript:alert(1)'>x</a>",
        "<a href=JAVASCRIPT&amp;colon;alert(1) href=https://x>x</a>",
        "<a href='https://x\" onclick=\"alert(1)'>x</a>",
        "<a href=data:text/html,x>x</a><a href=vbscript:x>y</a><a href=//evil>z</a>",
        "<a href=\\\\evil>x</a><a href=blob:x>y</a><a href=file:///etc/passwd>z</a>",
        "<img src=\"x.png\" alt='\"><script>alert(1)</script>'>",
        "<img src='a.png\" onerror=\"alert(1)'>",
        "<img src=javascript:alert(1)><img srcset=//evil><img src=//evil/x.png>",
        "<img src=data:image/svg+xml,x alt=y>",
        "<table background=//evil><tr><td onclick=alert(1)>x</table>",
        "<table><svg><tr><style></table><img src=x onerror=alert(1)>",
        "<table><math><mtext></table><mglyph><svg><mtext><textarea><path id=\"</textarea><img onerror=alert(1) src=1>\">",
        "<table><form><tr><td><input></table>",
        "[x](jav&#x09;ascript:alert(1))",
        "[x](javascript&colon;alert(1))",
        "[x](&#106;avascript:alert(1))",
        "[x](<java\tscript:alert(1)>)",
        "[x]( javascript:alert(1))",
        "[x][y]\n\n[y]: javascript:alert(1)",
        "<javascript:alert(1)>",
        "![x](data:image/svg+xml,<svg/onload=alert(1)>)",
        "![\"onerror=alert(1)](a.png)",
        "[[javascript:alert(1)|x]]",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "[x](vbscript:msgbox)",
        "`<img src=x onerror=alert(1)>`",
        "<textarea><p title=\"</textarea><img src=x onerror=alert(1)>\">",
        "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">",
        "<details open ontoggle=alert(1)>x",
        "<x onclick=alert(1)>y</x>",
        "<b\u{0}\u{c}onclick=alert(1)>y",
        "<!--><img src=x onerror=alert(1)>-->",
        "<![CDATA[<img src=x onerror=alert(1)>]]>",
        "<?x ><img src=x onerror=alert(1)>?>",
        "<p id=location name=cookie class=x style=y>z</p>",
    ] {
        for text in [
            hostile.to_owned(),
            format!("a {hostile} b"),
            format!("> - {hostile}\n\n|{hostile}|\n|-|\n"),
        ] {
            let html = rendered(&text).html;
            check(&html);
            assert!(
                !html.contains("href=\"javascript") && !html.contains("<img src"),
                "{html}"
            );
        }
    }
}

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        proptest::sample::select(REPEATED.to_vec()).prop_map(str::to_owned),
        proptest::sample::select(vec![
            "\n",
            "\n\n",
            "    ",
            "\t",
            ":",
            "javascript:",
            "https://",
            "</div>",
            "</details>\n",
            "<details>\n",
            "</b>",
            "<svg>",
            "</svg>",
            "<style>",
            "<p>",
            "<td>",
            "<tr>",
            "<table>",
            "</table>\n",
            "</td>",
            "<a href=b.md>",
            "<a href='https://c",
            "</a>",
            "<img src=c.png alt=d>",
            "\r\n",
            "\0",
            "> [!note] ",
            "[^1]: ",
            "| a | b |\n|---|---|\n",
            "```rust\n",
            "---\n",
            "on=",
            "\"",
            "'",
            "&lt;",
            "&#60;",
            "\u{202e}",
            "é",
            "漢",
        ])
        .prop_map(str::to_owned),
        "\\PC{0,6}",
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_note_is_harmless(text in pieces(), line in 1_usize..20) {
        let found = rendered(&text);
        check(&found.html);
        let lines = text.split('\n').count();
        prop_assert!(found.from == 1 && found.to <= lines.max(1));
        let mut lines_of = found.html.split("data-line=\"").skip(1);
        prop_assert!(lines_of.all(|after| {
            let line: usize = after.split('"').next().unwrap().parse().unwrap();
            (found.from..=found.to.max(1)).contains(&line)
        }), "{}", found.html);
        let plain = Note::read(&text, Format::Plain, line).render(&[]);
        check(&plain.html);
    }
}
