//! All tags and attributes that a rendered note may have.

/// The tags that may occur, with the attributes that they may have.
const TAGS: [(&str, &[&str]); 54] = [
    ("p", &["data-line", "class"]),
    ("h1", &["data-line"]),
    ("h2", &["data-line"]),
    ("h3", &["data-line"]),
    ("h4", &["data-line"]),
    ("h5", &["data-line"]),
    ("h6", &["data-line"]),
    ("blockquote", &["data-line", "class", "data-callout"]),
    ("ul", &["data-line"]),
    ("ol", &["data-line", "start"]),
    ("li", &["data-line"]),
    ("pre", &["data-line"]),
    ("div", &["data-line", "class", "data-footnote"]),
    ("table", &["data-line"]),
    ("thead", &[]),
    ("tbody", &[]),
    ("tr", &["data-line"]),
    ("th", &["class"]),
    ("td", &["class"]),
    ("hr", &["data-line"]),
    ("details", &["data-line"]),
    ("summary", &["data-line"]),
    ("dl", &["data-line"]),
    ("dt", &["data-line"]),
    ("dd", &["data-line"]),
    ("code", &["class"]),
    ("a", &["href", "data-id", "rel", "target", "class"]),
    ("img", &["data-file", "alt"]),
    ("span", &["class"]),
    ("input", &["type", "disabled", "checked", "aria-label"]),
    ("sup", &["class", "data-footnote"]),
    ("br", &[]),
    ("wbr", &[]),
    ("b", &[]),
    ("i", &[]),
    ("em", &[]),
    ("strong", &[]),
    ("u", &[]),
    ("s", &[]),
    ("del", &[]),
    ("ins", &[]),
    ("sub", &[]),
    ("kbd", &[]),
    ("mark", &[]),
    ("small", &[]),
    ("q", &[]),
    ("cite", &[]),
    ("dfn", &[]),
    ("abbr", &[]),
    ("var", &[]),
    ("samp", &[]),
    ("ruby", &[]),
    ("rt", &[]),
    ("rp", &[]),
];

/// Fails unless the text is well-formed HTML of allowed elements, with lines that never
/// go back.
pub(super) fn check(html: &str) {
    let mut open: Vec<&str> = Vec::new();
    let (mut rest, mut last_line) = (html, 0);
    while let Some(at) = rest.find('<') {
        assert!(!rest[..at].contains('>'), "a bare sign in {}", &rest[..at]);
        let end = rest[at..].find('>').expect("a tag that ends") + at;
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "in {html}");
            continue;
        }
        let (name, mut attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        let (_, allowed) = TAGS
            .iter()
            .find(|(known, _)| *known == name)
            .unwrap_or_else(|| panic!("<{tag}> in {html}"));
        while !attributes.is_empty() {
            let length = attributes.find([' ', '=']).unwrap_or(attributes.len());
            let (attribute, after) = attributes.split_at(length);
            assert!(allowed.contains(&attribute), "{attribute} in <{tag}>");
            let value = if let Some(after) = after.strip_prefix("=\"") {
                let (value, after) = after.split_once('"').unwrap();
                attributes = after.trim_start();
                value
            } else {
                attributes = after.trim_start();
                ""
            };
            match attribute {
                "href" => assert!(
                    ["#/note/", "http://", "https://", "mailto:"]
                        .iter()
                        .any(|beginning| value.to_ascii_lowercase().starts_with(beginning)),
                    "{value}"
                ),
                "data-line" => {
                    let line: usize = value.parse().unwrap();
                    assert!(line >= last_line, "line {line} after {last_line} in {html}");
                    last_line = line;
                }
                "class" => assert!(
                    value.starts_with("language-")
                        || [
                            "broken",
                            "callout",
                            "embed",
                            "footnote",
                            "footnote-reference",
                            "plain",
                            "table",
                            "left",
                            "center",
                            "right",
                        ]
                        .contains(&value),
                    "{value}"
                ),
                _ => {}
            }
        }
        if !["br", "wbr", "hr", "img", "input"].contains(&name) {
            open.push(name);
        }
        assert!(open.len() < 60);
    }
    assert!(!rest.contains('>'));
    assert_eq!(open, [""; 0], "in {html}");
}
