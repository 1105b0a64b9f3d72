//! Links to addresses elsewhere, and the addresses in texts that become such links.

use crate::address::{self, Address};
use crate::escape;

/// The longest address in a text that becomes a link, in bytes.
const LONGEST_ADDRESS: usize = 2_000;
/// The beginning of a link elsewhere, up to its address.
const ELSEWHERE: &str = "<a rel=\"noopener noreferrer\" target=\"_blank\" href=\"";

/// Opens a link to an address that may be shown as one.
pub(crate) fn open(address: &str, html: &mut String) {
    html.push_str(ELSEWHERE);
    escape::push(address, html);
    html.push_str("\">");
}

/// Writes a text with the addresses in it as links.
pub(crate) fn linked(text: &str, html: &mut String) {
    let mut rest = text;
    let mut before = None;
    while let Some(at) = rest.find("http") {
        let (head, tail) = rest.split_at(at);
        let last = head.chars().next_back().or(before);
        let is_begun = last.is_none_or(|sign| !sign.is_alphanumeric());
        let length = if is_begun { address_length(tail) } else { 0 };
        escape::push(head, html);
        if let Address::Elsewhere(address) = address::of(&tail[..length]) {
            open(&address, html);
            escape::push(&tail[..length], html);
            html.push_str("</a>");
            rest = &tail[length..];
            before = tail[..length].chars().next_back();
        } else {
            escape::push("http", html);
            rest = &tail["http".len()..];
            before = Some('p');
        }
    }
    escape::push(rest, html);
}

/// Returns the length of the address that a text begins with; 0 without one.
fn address_length(text: &str) -> usize {
    let text = &text[..text.floor_char_boundary(LONGEST_ADDRESS)];
    let Some(host) = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"))
    else {
        return 0;
    };
    if !host.starts_with(|first: char| first.is_alphanumeric() || first == '[') {
        return 0;
    }
    let ends = |sign: char| {
        sign.is_whitespace() || sign.is_control() || matches!(sign, '<' | '>' | '"' | '`' | '|')
    };
    let mut address = text.split(ends).next().unwrap_or_default();
    // The signs of the sentence that it stands in.
    let count = |sign: char| address.matches(sign).count();
    let mut unopened = count(')').saturating_sub(count('('));
    while let Some(last) = address.chars().next_back() {
        match last {
            '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '*' | '_' | ']' => {}
            ')' if unopened > 0 => unopened -= 1,
            _ => break,
        }
        address = &address[..address.len() - last.len_utf8()];
    }
    address.len()
}
