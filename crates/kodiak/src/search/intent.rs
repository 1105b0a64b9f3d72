//! The intent of a query, by rule: keywords to look up, or a question to answer
//! by meaning.

use serde::Serialize;

use crate::rank::rules::QUESTION_WORDS;
use crate::text::word_count;

/// The kind of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Intent {
    /// Words to look up as they are.
    Keyword,
    /// A question in natural language.
    Semantic,
}

impl Intent {
    /// Returns the intent of a query. A query that is empty or quoted, that has
    /// operators or a date, or that has one or two words (a slug counts as one)
    /// is *keyword*. Three plain words or more are *semantic*. Words are counted
    /// by script, so that a Chinese or Thai question without spaces is one too.
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

/// Reports whether the text contains `YYYY-MM-DD` or `YYYY/MM/DD`.
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
    fn intents_of_queries() {
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
