//! Looks up an index term as it is.
//!
//! The text of a query is folded, stemmed and cut into n-grams. A term that is already in
//! the index must not be: the stem of a stem may be another one.

use std::cell::Cell;

thread_local! {
    /// Whether queries are index terms. It is thread-local because FTS5 calls the
    /// tokenizer on the thread that runs the statement.
    static IS_ON: Cell<bool> = const { Cell::new(false) };
}

/// Runs statements on this thread whose quoted texts are each taken for one term.
pub(crate) fn during<T>(run: impl FnOnce() -> T) -> T {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            IS_ON.set(self.0);
        }
    }
    let _restore = Restore(IS_ON.replace(true));
    run()
}

/// Reports whether queries are taken for index terms.
pub(super) fn is_on() -> bool {
    IS_ON.get()
}
