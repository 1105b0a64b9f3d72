use super::*;

fn target(written: &str, wiki: bool) -> Option<LinkTarget> {
    LinkTarget::read(&Written {
        target: written,
        text: "text",
        wiki,
    })
}

#[test]
fn targets_are_read_as_they_are_written() {
    for (written, path, name) in [
        ("weekly-review.md", "weekly-review.md", "weekly-review"),
        ("./a.md", "a.md", "a"),
        ("../sub/A.md#heading", "../sub/a.md", "a"),
        ("/top/b.md?x=1", "/top/b.md", "b"),
        ("my%20note.md \"title\"", "my note.md", "my note"),
        ("<my note.md> \"title\"", "my note.md", "my note"),
        ("notes/Über", "notes/uber", "uber"),
        ("a//b.org", "a/b.org", "b"),
    ] {
        let target = target(written, false).unwrap();
        assert_eq!((target.path(), target.name()), (path, name), "{written}");
        assert!(!target.is_titled());
    }
    for (written, path, titled) in [
        ("GTD methodology", "gtd methodology", true),
        ("GTD methodology#Inbox", "gtd methodology", true),
        ("v1.2 notes", "v1.2 notes", true),
        ("folder/Note", "folder/note", false),
        ("file:a.org::*Heading", "a.org", true),
        ("Meeting: Bob", "meeting: bob", true),
        ("in a table\\", "in a table", true),
    ] {
        let target = target(written, true).unwrap();
        assert_eq!((target.path(), target.is_titled()), (path, titled));
    }
}

#[test]
fn what_is_elsewhere_is_no_target() {
    for written in [
        "https://example.org/a.md",
        "mailto:me@example.org",
        "#heading",
        "picture.png",
        "",
        "..",
        "%ff.md",
    ] {
        assert_eq!(target(written, false), None, "{written}");
    }
    for written in ["#heading", "https://example.org", " "] {
        assert_eq!(target(written, true), None, "{written}");
    }
    assert_eq!(target(&"x".repeat(501), true), None);
}

/// Resolves a link in `from` among notes given as keys, each with the title behind a
/// bar if it has one.
#[track_caller]
fn assert_resolves(written: &str, wiki: bool, from: &str, keys: &[&str], expected: Option<&str>) {
    let target = target(written, wiki).unwrap();
    let notes = keys
        .iter()
        .map(|key| key.split_once('|').unwrap_or((key, "")));
    let notes: Vec<_> = notes.map(|(key, title)| Named { key, title }).collect();
    // As a store does: only those that have the name.
    let named: Vec<Named<'_>> = notes
        .into_iter()
        .filter(|note| {
            names(note.key, note.title)
                .iter()
                .any(|one| one == target.name())
        })
        .collect();
    let found = target.resolve(from, &named).map(|at| named[at].key);
    assert_eq!(found, expected, "{written} in {from}");
}

#[test]
fn a_path_is_relative_to_the_link_then_to_the_root() {
    let notes = ["a.md", "sub/a.md", "sub/deep/b.md", "C.txt"];
    let path = |written, from, expected| assert_resolves(written, false, from, &notes, expected);
    path("a.md", "x.md", Some("a.md"));
    path("a.md", "sub/x.md", Some("sub/a.md"));
    path("../a.md", "sub/x.md", Some("a.md"));
    path("/a.md", "sub/x.md", Some("a.md"));
    path("sub/a.md", "other/x.md", Some("sub/a.md"));
    path("a", "sub/x.md", Some("sub/a.md"));
    path("c", "sub/x.md", Some("C.txt"));
    // Whose path ends so, if there is only one.
    path("b.md", "x.md", Some("sub/deep/b.md"));
    path("../deep/b.md", "x.md", Some("sub/deep/b.md"));
    path("other/b.md", "x.md", None);
    path("none.md", "x.md", None);
    assert_resolves("a.md", false, "x.md", &["sub/a.md", "other/a.md"], None);
    // With and without extension.
    assert_resolves("a.md", false, "x.md", &["a.md", "a.txt"], Some("a.md"));
    assert_resolves("a", false, "x.md", &["a.md", "a.txt"], None);
}

#[test]
fn a_wiki_link_names_a_file_or_a_title() {
    let notes = [
        "gtd.md|GTD methodology",
        "sub/Weekly review.md|Checklist",
        "v1.2 notes.md",
    ];
    let wiki = |written, expected| assert_resolves(written, true, "x.md", &notes, expected);
    wiki("GTD", Some("gtd.md"));
    wiki("gtd methodology", Some("gtd.md"));
    wiki("Weekly review", Some("sub/Weekly review.md"));
    wiki("checklist#Monday", Some("sub/Weekly review.md"));
    wiki("v1.2 notes", Some("v1.2 notes.md"));
    wiki("v1", None);
    // A path is not a title.
    assert_resolves("gtd%20methodology", false, "x.md", &notes, None);
}

#[test]
fn of_two_notes_with_one_name_the_one_in_the_same_folder_or_none_is_meant() {
    let notes = ["a/plan.md", "b/plan.md"];
    assert_resolves("plan", true, "a/x.md", &notes, Some("a/plan.md"));
    assert_resolves("plan", true, "b/x.md", &notes, Some("b/plan.md"));
    assert_resolves("plan", true, "x.md", &notes, None);
    assert_resolves("b/plan", true, "x.md", &notes, Some("b/plan.md"));
    // A file name counts before a title.
    let titled = ["plan.md|Other", "other.md|Plan"];
    assert_resolves("plan", true, "sub/x.md", &titled, Some("plan.md"));
    let ambiguous = ["a/plan.md", "b/plan.md", "c.md|Plan"];
    assert_resolves("plan", true, "x.md", &ambiguous, None);
}

#[test]
fn each_distinct_text_counts_once_for_a_target() {
    let body = "[one](a.md) [One](a.md#x) [two words\nhere](a.md) [b](b.md) [[A|three]]";
    let found = outgoing(Markup::Markdown, &Lines::of(Markup::Markdown, body), body);
    let shown: Vec<_> = found
        .iter()
        .map(|link| (link.target.path(), link.texts.as_str()))
        .collect();
    let expected = [
        ("a", "three"),
        ("a.md", "one\ntwo words here"),
        ("b.md", "b"),
    ];
    assert_eq!(shown, expected);
}

#[test]
fn hostile_texts_are_bounded() {
    use std::fmt::Write;

    let mut body = format!("[{}](a.md)\n\n", "x".repeat(900));
    for number in 0..MAX_TARGETS + 10 {
        write!(body, "[text {number}](a.md) [[n{number}]]\n\n").unwrap();
    }
    let found = outgoing(Markup::Markdown, &Lines::of(Markup::Markdown, &body), &body);
    assert_eq!(found.len(), MAX_TARGETS);
    assert!(found.iter().all(|link| link.texts.len() <= 2 * MAX_TEXTS));
    let first = &found[0];
    assert_eq!(first.target.path(), "a.md");
    assert!(
        first
            .texts
            .starts_with(&format!("{}\ntext 0", "x".repeat(MAX_TEXT)))
    );
}

#[test]
fn links_within_a_source_are_listed_as_written() {
    let shown = |markup: Markup, body: &str| -> Vec<(String, Option<String>)> {
        let found = within_source(markup, &Lines::of(markup, body), body);
        let found = found.into_iter();
        found
            .map(|link| {
                (
                    link.path,
                    link.target.map(|target| target.path().to_owned()),
                )
            })
            .collect()
    };
    let note = |path: &str, target: &str| (path.to_owned(), Some(target.to_owned()));
    let body = "[a](Über%20uns.md#x) [b](pic.png) [[Plan]] [c](https://a.example) [[#here]] \
                [d](#here) [[mailto:a@b.example]] [[../Up]] ![e](f.png) [g](mailto:a@b.example)";
    let expected = [
        note("Über uns.md", "uber uns.md"),
        ("pic.png".to_owned(), None),
        note("Plan", "plan"),
        note("../Up", "../up"),
    ];
    assert_eq!(shown(Markup::Markdown, body), expected);
    let body = "[[file:A.org::*Heading][a]] [[id:12][b]] [[*Heading]] [[https://a.example][c]]";
    assert_eq!(shown(Markup::Org, body), [note("A.org", "a.org")]);
    let many = "[[x]] ".repeat(MAX_TARGETS + 5);
    assert_eq!(shown(Markup::Markdown, &many).len(), MAX_TARGETS);
}

#[test]
fn several_notes_of_one_name_are_not_none() {
    let several = ["a/plan.md", "b/plan.md"];
    let named = several.map(|key| Named { key, title: "" });
    let plan = target("plan", true).unwrap();
    assert_eq!(plan.resolved("x.md", &named), Resolved::Several);
    assert_eq!(plan.resolved("a/x.md", &named), Resolved::One(0));
    assert_eq!(plan.resolved("x.md", &[]), Resolved::Nothing);
    assert!(plan.is_alias(" Plan ") && !plan.is_alias("plans"));
    assert!(!target("plan", false).unwrap().is_alias("plan"));
}
