//! Escapes text for HTML.

/// Adds a text that is shown, or the value of an attribute in double quotes.
pub(crate) fn push(text: &str, html: &mut String) {
    html.reserve(text.len());
    for sign in text.chars() {
        match sign {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            // A browser replaces it, too.
            '\0' => html.push('\u{fffd}'),
            // These change the direction of the text around them, beyond the element.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                html.extend(sign.escape_unicode());
            }
            sign if sign.is_control() && !matches!(sign, '\n' | '\t') => {}
            sign => html.push(sign),
        }
    }
}

/// Adds text of a piece of HTML, whose character references stay what they are.
pub(crate) fn push_with_references(text: &str, html: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        push(&rest[..at], html);
        rest = &rest[at..];
        if let Some(length) = reference(rest) {
            html.push_str(&rest[..length]);
            rest = &rest[length..];
        } else {
            html.push_str("&amp;");
            rest = &rest[1..];
        }
    }
    push(rest, html);
}

/// Returns the length of the character reference that a text begins with.
fn reference(text: &str) -> Option<usize> {
    const LONGEST: usize = 34;
    let inner = text.strip_prefix('&')?;
    let window = &inner.as_bytes()[..inner.len().min(LONGEST)];
    let end = window.iter().position(|&byte| byte == b';')?;
    let name = &window[..end];
    let digits = name.strip_prefix(b"#").unwrap_or(name);
    let is_name = !digits.is_empty() && digits.iter().all(u8::is_ascii_alphanumeric);
    // Escaped signs that change the direction come from numbers, which are left out.
    (is_name && digits.len() == name.len()).then_some(end + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(text: &str) -> String {
        let mut html = String::new();
        push(text, &mut html);
        html
    }

    #[test]
    fn nothing_stays_markup() {
        assert_eq!(
            escaped("<a href=\"x\" on='y'>&amp;\0\u{202e}\u{1b}"),
            "&lt;a href=&quot;x&quot; on=&#39;y&#39;&gt;&amp;amp;\u{fffd}\\u{202e}"
        );
    }

    #[test]
    fn references_stay_in_pieces_of_html() {
        let mut html = String::new();
        push_with_references("a&nbsp;b & c &#x3c; &lt;<&;", &mut html);
        assert_eq!(html, "a&nbsp;b &amp; c &amp;#x3c; &lt;&lt;&amp;;");
    }
}
