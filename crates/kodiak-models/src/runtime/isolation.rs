//! Isolation of third-party code, so that its failures do no harm.
//!
//! The runtime and the tokenizer read files and texts that they were never tested with. A
//! panic in them becomes an error. The runtime also passes its work to its own threads and
//! waits. On a worker of a rayon pool, that wait would not be idle but run the pool's next
//! job, which is likely another text to embed. Texts would then pile up inside each other,
//! and a model that is still loading would wait for itself. There the work gets a plain
//! thread.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

/// Runs `work`, on this thread if that is safe. Returns the message of a panic,
/// or why the work could not be run, as the error.
pub(super) fn isolated<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, String> {
    if rayon::current_thread_index().is_some() {
        thread::scope(|scope| {
            thread::Builder::new()
                .spawn_scoped(scope, work)
                .map_err(|error| format!("no thread could be started: {error}"))?
                .join()
                .map_err(|panic| told(panic.as_ref()))
        })
    } else {
        // A run never changes the model or the tokenizer, so a run that stopped
        // halfway leaves nothing half done.
        catch_unwind(AssertUnwindSafe(work)).map_err(|panic| told(panic.as_ref()))
    }
}

/// Returns the message of a panic.
fn told(panic: &(dyn Any + Send)) -> String {
    let message = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    format!("it panicked: {}", message.unwrap_or("without a message"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error_on_any_thread() {
        let fails = || isolated(|| -> usize { panic!("index {} is out of bounds", 7) });
        let expected = Err("it panicked: index 7 is out of bounds".to_owned());
        assert_eq!(fails(), expected);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .unwrap();
        assert_eq!(pool.install(fails), expected);
    }

    #[test]
    fn a_pools_worker_is_left_for_a_plain_thread() {
        let inside = || isolated(rayon::current_thread_index);
        assert_eq!(inside(), Ok(None));
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .unwrap();
        assert_eq!(pool.install(inside), Ok(None));
    }
}
