//! What kind of question a query is, by rule: words to look up, or a sentence
//! whose meaning counts.

use serde::Serialize;

use crate::rank::rules::QUESTION_WORDS;
use crate::text::word_count;

/// What a query asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Intent {
    /// Words to be looked up as they are.
    Keyword,
    /// A question in natural language.
    Semantic,
}

impl Intent {
    /// Reads the intent off the text: empty, quoted, with operators or a date,
    /// a slug, or one or two words are *keyword*; three plain words or more are
    /// *semantic*. Words are counted by script: a Chinese or Thai question is one
    /// though it has no spaces.
    pub fn of(text: &str) -> Self {
        let text = text.trim();
        let words: Vec<&str> = text.split_whitespace().collect();
        let quoted = ['"', '\'']
            .iter()
            .any(|&quote| text.len() > 1 && text.starts_with(quote) && text.ends_with(quote));
        let operator = |word: &&str| {
            matches!(*word, "AND" | "OR" | "NOT" | "NEAR")
                || word.starts_with("NEAR/")
                || word.starts_with("NEAR(")
        };
        let few = word_count(text) < QUESTION_WORDS;
        if few || quoted || words.iter().any(operator) || has_date(text) {
            return Self::Keyword;
        }
        Self::Semantic
    }
}

/// Whether the text holds `YYYY-MM-DD` or `YYYY/MM/DD`.
fn has_date(text: &str) -> bool {
    text.as_bytes().windows(10).any(|window| {
        let separator = window[4];
        matches!(separator, b'-' | b'/')
            && window[7] == separator
            && [0, 1, 2, 3, 5, 6, 8, 9]
                .iter()
                .all(|&at| window[at].is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table() {
        for (text, expected) in [
            ("", Intent::Keyword),
            ("   ", Intent::Keyword),
            ("\"an exact longer phrase\"", Intent::Keyword),
            ("'an exact longer phrase'", Intent::Keyword),
            ("pros AND cons of rust", Intent::Keyword),
            ("rust OR go or zig", Intent::Keyword),
            ("notes NOT about work", Intent::Keyword),
            ("one NEAR two three", Intent::Keyword),
            ("standup notes for 2026-01-31", Intent::Keyword),
            ("standup notes for 2026/01/31", Intent::Keyword),
            ("productivity", Intent::Keyword),
            ("productivity systems", Intent::Keyword),
            ("my-page-slug", Intent::Keyword),
            ("how do I plan my week", Intent::Semantic),
            ("pros and cons", Intent::Semantic),
            ("数据库", Intent::Keyword),
            ("机器学习", Intent::Keyword),
            ("\"如何安排一周的工作\"", Intent::Keyword),
            ("如何安排一周的工作", Intent::Semantic),
            ("データベース", Intent::Keyword),
            ("一週間の計画を立てるには", Intent::Semantic),
            ("데이터베이스", Intent::Keyword),
            ("한 주를 계획하는 방법", Intent::Semantic),
            ("ฐานข้อมูล", Intent::Keyword),
            ("ฉันจะวางแผนสัปดาห์อย่างไร", Intent::Semantic),
            ("SQLite 数据库", Intent::Keyword),
            ("हफ़्ते की योजना कैसे बनाएँ", Intent::Semantic),
        ] {
            assert_eq!(Intent::of(text), expected, "{text}");
        }
    }
}
