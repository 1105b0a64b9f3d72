//! The HTML of a note that is kept: a few elements without attributes, and links and
//! images, of which the addresses and the text are read.
//!
//! A tag ends at the first `>`, whatever quotes are open. What a browser would have
//! taken for an attribute is then shown as text, which is harmless.

use std::borrow::Cow;

/// Elements of which nothing is shown, not even their content.
const UNSHOWN: [&str; 22] = [
    "script",
    "style",
    "title",
    "textarea",
    "iframe",
    "noscript",
    "noembed",
    "noframes",
    "template",
    "svg",
    "math",
    "object",
    "embed",
    "select",
    "head",
    "xmp",
    "audio",
    "video",
    "canvas",
    "applet",
    "frameset",
    "plaintext",
];

/// Elements that may stand in a line.
const INLINE: [&str; 25] = [
    "b", "i", "em", "strong", "u", "s", "del", "ins", "sub", "sup", "kbd", "mark", "small", "code",
    "q", "cite", "dfn", "abbr", "var", "samp", "ruby", "rt", "rp", "br", "wbr",
];

/// Elements that may stand in a block, each with the one that is written for it.
const BLOCK: [(&str, &str); 22] = [
    ("details", "details"),
    ("summary", "summary"),
    ("blockquote", "blockquote"),
    ("ul", "ul"),
    ("ol", "ol"),
    ("li", "li"),
    ("dl", "dl"),
    ("dt", "dt"),
    ("dd", "dd"),
    ("h1", "h1"),
    ("h2", "h2"),
    ("h3", "h3"),
    ("h4", "h4"),
    ("h5", "h5"),
    ("h6", "h6"),
    ("hr", "hr"),
    ("div", "div"),
    ("p", "div"),
    ("center", "div"),
    ("section", "div"),
    ("article", "div"),
    ("figure", "div"),
];

/// Elements of tables, each with the one that is written for it.
const IN_TABLE: [(&str, &str); 7] = [
    ("table", "table"),
    ("thead", "thead"),
    ("tbody", "tbody"),
    ("tfoot", "tbody"),
    ("tr", "tr"),
    ("th", "th"),
    ("td", "td"),
];

/// The elements that have no end.
pub(crate) const VOID: [&str; 3] = ["br", "wbr", "hr"];

/// Reports whether an element stands in a line.
pub(crate) fn is_inline(name: &str) -> bool {
    INLINE.contains(&name)
}

/// A piece of HTML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// Text, with character references.
    Text(&'a str),
    /// The beginning of an element that may be written.
    Open(Element),
    /// The end of one.
    Close(Element),
    /// The beginning of a link to this address, as it is written.
    Link(Cow<'a, str>),
    /// The end of a link.
    EndOfLink,
    /// An image: where it is, and its text, both as they are written.
    Image(Cow<'a, str>, Cow<'a, str>),
}

/// An element that may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Element {
    /// Its name.
    pub(crate) name: &'static str,
    /// Where it may stand.
    pub(crate) place: Place,
}

/// Where an element may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Line,
    Block,
    Table,
}

impl Element {
    fn named(name: &str) -> Option<Self> {
        let is = |known: &&str| known.eq_ignore_ascii_case(name);
        if let Some(name) = INLINE.iter().copied().find(|known| is(known)) {
            let place = Place::Line;
            return Some(Self { name, place });
        }
        if let Some((_, name)) = BLOCK.iter().find(|(known, _)| is(known)) {
            let place = Place::Block;
            return Some(Self { name, place });
        }
        let (_, name) = IN_TABLE.iter().find(|(known, _)| is(known))?;
        let place = Place::Table;
        Some(Self { name, place })
    }
}

/// Calls `found` with each piece of a text.
pub(crate) fn pieces<'a>(html: &'a str, mut found: impl FnMut(Piece<'a>)) {
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        if at > 0 {
            found(Piece::Text(&rest[..at]));
        }
        rest = &rest[at..];
        let inner = &rest[1..];
        let (closing, name) = match inner.strip_prefix('/') {
            Some(inner) => (true, inner),
            None => (false, inner),
        };
        if inner.starts_with("!--") {
            rest = inner.find("-->").map_or("", |end| &inner[end + 3..]);
            continue;
        }
        if !name.starts_with(|first: char| first.is_ascii_alphabetic() || "!?".contains(first)) {
            found(Piece::Text("<"));
            rest = inner;
            continue;
        }
        let Some(end) = rest.find('>') else {
            found(Piece::Text(rest));
            return;
        };
        let is_end = |sign: char| sign.is_ascii_whitespace() || matches!(sign, '/' | '>');
        let attributes = &rest[..end];
        let name = name.split(is_end).next().unwrap_or_default();
        let attributes = attributes.get(1 + name.len()..).unwrap_or_default();
        rest = &rest[end + 1..];
        if name.eq_ignore_ascii_case("a") {
            if closing {
                found(Piece::EndOfLink);
            } else if let Some(address) = attribute(attributes, "href") {
                found(Piece::Link(address));
            }
            continue;
        }
        if name.eq_ignore_ascii_case("img") && !closing {
            if let Some(address) = attribute(attributes, "src") {
                let text = attribute(attributes, "alt").unwrap_or_default();
                found(Piece::Image(address, text));
            }
            continue;
        }
        match Element::named(name) {
            Some(element) if closing => found(Piece::Close(element)),
            Some(element) => found(Piece::Open(element)),
            None if !closing && UNSHOWN.iter().any(|one| one.eq_ignore_ascii_case(name)) => {
                rest = after_end(rest, name);
            }
            None => {}
        }
    }
    if !rest.is_empty() {
        found(Piece::Text(rest));
    }
}

/// Returns the value of an attribute, given what follows the name in a tag. Of several
/// the first counts, and none in a tag whose quotes do not end.
fn attribute<'a>(tag: &'a str, wanted: &str) -> Option<Cow<'a, str>> {
    let mut rest = tag;
    let mut value = None;
    loop {
        rest = rest.trim_start_matches(|sign: char| sign.is_ascii_whitespace() || sign == '/');
        if rest.is_empty() {
            return value;
        }
        let is_end = |sign: char| sign.is_ascii_whitespace() || matches!(sign, '/' | '=');
        // A name may begin with the sign that ends others.
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let length = rest[first..]
            .find(is_end)
            .map_or(rest.len(), |at| first + at);
        let (name, after) = rest.split_at(length);
        let after = after.trim_start_matches(|sign: char| sign.is_ascii_whitespace());
        let Some(after) = after.strip_prefix('=') else {
            rest = after;
            continue;
        };
        let after = after.trim_start_matches(|sign: char| sign.is_ascii_whitespace());
        let (given, left) = match after.chars().next() {
            Some(quote @ ('"' | '\'')) => after[1..].split_once(quote)?,
            _ => after.split_at(
                after
                    .find(|sign: char| sign.is_ascii_whitespace())
                    .unwrap_or(after.len()),
            ),
        };
        if value.is_none() && name.eq_ignore_ascii_case(wanted) {
            value = Some(unescaped(given));
        }
        rest = left;
    }
}

/// Returns a value with the references resolved that addresses and texts have. Any other
/// stays as it is written, which makes nothing of it.
fn unescaped(value: &str) -> Cow<'_, str> {
    if !value.contains('&') {
        return Cow::Borrowed(value);
    }
    let value = value.replace("&quot;", "\"").replace("&#39;", "'");
    let value = value.replace("&lt;", "<").replace("&gt;", ">");
    Cow::Owned(value.replace("&amp;", "&"))
}

/// Returns what follows the end of an element; nothing if it does not end.
fn after_end<'a>(text: &'a str, name: &str) -> &'a str {
    let mut rest = text;
    while let Some(at) = rest.find("</") {
        rest = &rest[at + 2..];
        let is_it = rest
            .get(..name.len())
            .is_some_and(|it| it.eq_ignore_ascii_case(name));
        if is_it {
            return rest.find('>').map_or("", |end| &rest[end + 1..]);
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(html: &str) -> String {
        let mut told = String::new();
        pieces(html, |piece| match piece {
            Piece::Text(text) => told.push_str(&format!("[{text}]")),
            Piece::Open(element) => told.push_str(&format!("+{}", element.name)),
            Piece::Close(element) => told.push_str(&format!("-{}", element.name)),
            Piece::Link(address) => told.push_str(&format!("({address}")),
            Piece::EndOfLink => told.push(')'),
            Piece::Image(address, text) => told.push_str(&format!("!{address}|{text}")),
        });
        told
    }

    #[test]
    fn a_few_elements_stay_and_others_do_not() {
        for (html, expected) in [
            ("a<B class=x>b</b >c", "[a]+b[b]-b[c]"),
            ("<p align=center>x</p>", "+div[x]-div"),
            ("<script>alert(1)</script>x", "[x]"),
            ("<SCRIPT>alert(1)</sCript foo>x", "[x]"),
            ("<style>*{}", ""),
            ("<svg><b>x</svg>y", "[y]"),
            ("<math><mi//xlink:href=x>", ""),
            ("<img src=x onerror=alert(1)>x", "!x|[x]"),
            (
                "<IMG alt='a &quot;b' / SRC = \"c d.png\">",
                "!c d.png|a \"b",
            ),
            ("<img onerror=alert(1)>x", "[x]"),
            ("<a href=javascript:x>y</a>", "(javascript:x[y])"),
            ("<a name=x>y</a>", "[y])"),
            ("<a href=a href=b>", "(a"),
            ("<a xhref=a data-href='b' =href=c>", ""),
            ("<a href=\"a>b\">c</a>", "[b\">c])"),
            ("<a title='href=x' href=y>", "(y"),
            ("<a\nhref\n=\n'x&amp;y&#x09;'>", "(x&y&#x09;"),
            ("<table><tr><td>x</table>", "+table+tr+td[x]-table"),
            ("<form><input><button>y</button></form>", "[y]"),
            ("<!-- <b> -->x<!-- ", "[x]"),
            ("<!DOCTYPE html><?php x ?>y", "[y]"),
            ("a < b <", "[a ][<][ b ][<]"),
            ("<b", "[<b]"),
            ("<br/><hr />", "+br+hr"),
            ("<scr<script>ipt>x", "[ipt>x]"),
            ("<scriptx>y</scriptx>", "[y]"),
            ("<b title=\"a>b\">c", "+b[b\">c]"),
        ] {
            assert_eq!(told(html), expected, "{html}");
        }
    }
}
