//! The questions in a prompt, as texts to search for.
//!
//! A prompt is not a query: it may have a pasted log in it, be a command of the client, or
//! have been written by a machine. People ask at the beginning or at the end and paste in
//! between, so the first and the last sentence are asked, each by itself: a hit has to
//! contain the words of one of them, and would never contain all of a long prompt.

use kodiak::rank::rules::QUESTION_WORDS;
use kodiak::text::word_count;

/// The bytes of a prompt that are read, at its beginning and at its end.
const READ: usize = 16 * 1024;
/// The most words of a question. More are a list, and no document has half of them.
const MAX_WORDS: usize = 40;

/// Returns the questions of a prompt, each once: none, one or two.
pub fn questions(prompt: &str) -> Vec<String> {
    let prompt = prompt.trim();
    if is_command(prompt) {
        return Vec::new();
    }
    let prose = prose(&both_ends(prompt));
    let mut asked = sentences(&prose)
        .into_iter()
        .map(plain)
        .filter(|sentence| word_count(sentence) >= QUESTION_WORDS);
    let first = asked.next();
    let last = asked
        .next_back()
        .filter(|last| Some(last) != first.as_ref());
    first.into_iter().chain(last).collect()
}

/// Reports whether a prompt is a command of the client, such as `/clear`. A path is
/// not one.
fn is_command(prompt: &str) -> bool {
    let word = prompt.split_whitespace().next().unwrap_or_default();
    word.strip_prefix('/').is_some_and(|name| {
        let sign = |sign: char| sign.is_alphanumeric() || "-_:.".contains(sign);
        name.starts_with(char::is_alphabetic) && name.chars().all(sign)
    })
}

/// Returns a text without its middle if it is long.
fn both_ends(text: &str) -> String {
    if text.len() <= 2 * READ {
        return text.to_owned();
    }
    let (head, tail) = (
        text.floor_char_boundary(READ),
        text.ceil_char_boundary(text.len() - READ),
    );
    format!("{}\n\n{}", &text[..head], &text[tail..])
}

/// Returns the text that a person wrote: without fenced code, quoted lines, and elements
/// such as `<task-notification>`, in which clients wrap the output of machines.
fn prose(text: &str) -> String {
    let mut prose = String::with_capacity(text.len());
    let mut fence: Option<&str> = None;
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find('\n').map_or(rest.len(), |at| at + 1);
        let line = rest[..end].trim();
        let fences = ["```", "~~~"].into_iter();
        let opens = fences.into_iter().find(|mark| line.starts_with(mark));
        match (fence, opens) {
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) => {}
            (None, Some(mark)) => fence = Some(mark),
            (None, None) => {
                if let Some(after) = after_element(rest) {
                    rest = after;
                    continue;
                }
                if !line.starts_with('>') {
                    prose.push_str(line);
                    prose.push('\n');
                }
            }
        }
        rest = &rest[end..];
    }
    prose
}

/// Returns the text after the element that a text begins with, if it begins with one.
fn after_element(text: &str) -> Option<&str> {
    let inside = text.trim_start().strip_prefix('<')?;
    let end = inside.find(|sign: char| !(sign.is_ascii_alphanumeric() || "-_".contains(sign)))?;
    let name = &inside[..end];
    if name.is_empty() || !inside[end..].starts_with(['>', ' ']) {
        return None;
    }
    let close = format!("</{name}>");
    let at = inside.find(&close)?;
    Some(&inside[at + close.len()..])
}

/// Returns the sentences of a text. A blank line ends one, too.
fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    for paragraph in text.split("\n\n") {
        let mut start = 0;
        let mut signs = paragraph.char_indices().peekable();
        while let Some((at, sign)) = signs.next() {
            let next = signs.peek().map(|(_, next)| *next);
            let ends = match sign {
                '.' | '!' | '?' | '…' => next.is_some_and(char::is_whitespace),
                '。' | '！' | '？' => true,
                // A line that ends before a list or a log does.
                ':' => next == Some('\n'),
                _ => false,
            };
            if ends {
                let end = at + sign.len_utf8();
                sentences.push(&paragraph[start..end]);
                start = end;
            }
        }
        sentences.push(&paragraph[start..]);
    }
    sentences
}

/// Returns the words of a sentence as a query in which no sign has a meaning.
fn plain(sentence: &str) -> String {
    let signs = |sign: char| "\"“”„()*:`^[]{}|".contains(sign);
    let words = sentence.split(|sign: char| sign.is_whitespace() || signs(sign));
    let words = words.map(|word| word.trim_start_matches(['-', '+', '#']));
    let words = words.filter(|word| !word.is_empty()).take(MAX_WORDS);
    let words: Vec<String> = words
        .map(|word| match word {
            "AND" | "OR" | "NOT" | "NEAR" => word.to_lowercase(),
            word => word.to_owned(),
        })
        .collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_and_the_last_sentence_are_asked() {
        for (prompt, asked) in [
            (
                "why is the staging database empty?",
                &["why is the staging database empty?"][..],
            ),
            (
                "Hi. Why is staging empty again?",
                &["Why is staging empty again?"],
            ),
            (
                "The deploy fails since Monday. I tried a lot. Is the staging database reset?",
                &[
                    "The deploy fails since Monday.",
                    "Is the staging database reset?",
                ],
            ),
            (
                "What does this error mean:\n```\nERROR one two three\n```\n",
                &["What does this error mean"],
            ),
            (
                "> an old mail that says much\nPlease answer the mail politely",
                &["Please answer the mail politely"],
            ),
            ("go on", &[]),
            ("", &[]),
            ("/compact keep the important things", &[]),
            ("/plugin:run now and then again", &[]),
            (
                "/etc/hosts is wrong on staging",
                &["/etc/hosts is wrong on staging"],
            ),
            (
                "<task-notification>the agent is done with the work</task-notification>",
                &[],
            ),
            (
                "<system-reminder>\nlong text here\n</system-reminder>\nwhy is it so slow",
                &["why is it so slow"],
            ),
            (
                "a < b is not an <element here",
                &["a < b is not an <element here"],
            ),
            ("同じ質問を二回しました。", &["同じ質問を二回しました。"]),
        ] {
            assert_eq!(questions(prompt), asked, "{prompt}");
        }
    }

    #[test]
    fn no_sign_has_a_meaning() {
        assert_eq!(
            questions("use \"exact words\" AND NOT title:this (or -that) wal*"),
            ["use exact words and not title this or that wal"]
        );
    }

    #[test]
    fn a_pasted_log_costs_little() {
        let log = "2026-01-01 ERROR something went wrong\n".repeat(5_000);
        let prompt = format!("Why does the import fail?\n\n{log}\nPlease look at the importer");
        let asked = questions(&prompt);
        assert_eq!(asked.len(), 2, "{asked:?}");
        assert_eq!(asked[0], "Why does the import fail?");
        assert!(asked[1].split(' ').count() <= MAX_WORDS);
    }

    proptest! {
        #[test]
        fn no_prompt_panics(prompt in "[a-z<>/`~ .?\\n\"-]{0,200}") {
            let asked = questions(&prompt);
            prop_assert!(asked.len() <= 2);
        }
    }
}
