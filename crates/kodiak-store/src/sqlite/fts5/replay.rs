//! Replay: terms that analysis has already found are handed to FTS5, so that
//! the same text is not tokenised twice.
//!
//! This module decides when that is correct: only while the analysed document
//! is being inserted, and only for a text that is, byte for byte, one of its
//! columns, in an index with the same stemming. Every other text is tokenised.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::ptr::NonNull;

use kodiak_text::terms::{COLUMNS, DocumentTerms};
use kodiak_text::text::Stemming;

/// A document about to be inserted: its columns and the terms in them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Replay<'a> {
    /// How its words were stemmed.
    pub(crate) stemming: Stemming,
    /// The text of each column.
    pub(crate) texts: [&'a str; COLUMNS],
    /// The terms of each column.
    pub(crate) terms: &'a DocumentTerms,
}

thread_local! {
    /// The document being inserted. It is thread-local because FTS5 calls the
    /// tokenizer on the thread that runs the statement.
    static PRESENT: Cell<Option<NonNull<Replay<'static>>>> = const { Cell::new(None) };
}

impl Replay<'_> {
    /// Runs statements on this thread with replay enabled for the texts of this
    /// document.
    pub(crate) fn during<T>(&self, run: impl FnOnce() -> T) -> T {
        struct Restore(Option<NonNull<Replay<'static>>>);
        impl Drop for Restore {
            fn drop(&mut self) {
                PRESENT.set(self.0);
            }
        }
        let _restore = Restore(PRESENT.replace(Some(NonNull::from(self).cast())));
        run()
    }

    fn column_of(&self, text: &[u8]) -> Option<usize> {
        let mut texts = self.texts.iter();
        texts.position(|column| column.as_bytes() == text)
    }
}

/// Calls `visit` with every term of a text and whether it is an edge gram, if
/// the terms are known. Returns `None` if the text must be tokenised.
pub(super) fn replay<B>(
    stemming: Stemming,
    text: &[u8],
    mut visit: impl FnMut(&str, bool) -> ControlFlow<B>,
) -> Option<ControlFlow<B>> {
    let present = PRESENT.get()?;
    // SAFETY: while the pointer is set, `Replay::during` keeps its target
    // borrowed on this thread, and it resets the pointer however `run` ends.
    let present: &Replay<'_> = unsafe { present.as_ref() };
    if present.stemming != stemming {
        return None;
    }
    let column = present.column_of(text)?;
    for (term, edge_gram) in present.terms.column(column) {
        if let ControlFlow::Break(value) = visit(term, edge_gram) {
            return Some(ControlFlow::Break(value));
        }
    }
    Some(ControlFlow::Continue(()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use kodiak_text::terms::TermIndexer;

    fn replayed(stemming: Stemming, text: &str) -> Option<Vec<(String, bool)>> {
        let mut terms = Vec::new();
        let outcome = replay(stemming, text.as_bytes(), |term, edge_gram| {
            terms.push((term.to_owned(), edge_gram));
            ControlFlow::<()>::Continue(())
        });
        outcome.map(|_| terms)
    }

    fn during<T>(stemming: Stemming, texts: [&str; COLUMNS], run: impl FnOnce() -> T) -> T {
        let terms = TermIndexer::new(stemming).index(texts);
        let replay = Replay {
            stemming,
            texts,
            terms: &terms,
        };
        replay.during(run)
    }

    #[test]
    fn only_the_columns_of_the_present_document_are_replayed() {
        let english = Stemming::English;
        let texts = ["Title", "the body runs", "a tag"];
        during(english, texts, || {
            assert!(texts.iter().all(|text| replayed(english, text).is_some()));
            for other in ["", "title", "the body ran", "the body runs ", "the body"] {
                assert_eq!(replayed(english, other), None, "{other}");
            }
            assert_eq!(replayed(Stemming::None, "the body runs"), None);
            // Nested, and the outer one again afterwards.
            during(english, ["", "inner", ""], || {
                assert_eq!(replayed(english, "the body runs"), None);
                assert_eq!(replayed(english, "inner").unwrap().len(), 1);
            });
            assert_eq!(replayed(english, "the body runs").unwrap().len(), 3);
            let elsewhere = std::thread::spawn(move || replayed(english, "Title").is_some());
            assert!(!elsewhere.join().unwrap());
        });
        assert_eq!(replayed(english, "Title"), None);
        let panicked = std::panic::catch_unwind(|| during(english, texts, || panic!("inside")));
        assert!(panicked.is_err());
        assert_eq!(replayed(english, "Title"), None);
    }

    proptest! {
        #[test]
        fn a_text_is_replayed_only_if_it_is_the_same(
            texts in ["[ab ]{0,3}", "[ab ]{0,3}", "[ab ]{0,3}"], text in "[ab ]{0,3}"
        ) {
            let texts = texts.each_ref().map(String::as_str);
            let found = during(Stemming::English, texts, || replayed(Stemming::English, &text));
            prop_assert_eq!(found.is_some(), texts.contains(&text.as_str()));
        }
    }
}
