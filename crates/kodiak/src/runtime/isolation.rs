//! Running other people's code so that it harms nobody.
//!
//! The runtime and the tokenizer meet files and texts nobody has tried them on.
//! A panic in them becomes an error. And the runtime hands its work to threads
//! of its own and waits: on a worker of a thread pool that wait would not be
//! idle but take up the pool's next job, which is likely another text to embed,
//! so that texts would pile up inside each other and a model that is still
//! loading would wait for itself. There the work gets a plain thread.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

/// Runs `work`, on this thread where that is safe. What it panicked with, or why
/// it could not be run, is the error.
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
        // The model and the tokenizer are never changed by a run, so that a run
        // that stopped halfway leaves nothing half done behind.
        catch_unwind(AssertUnwindSafe(work)).map_err(|panic| told(panic.as_ref()))
    }
}

/// What a panic said.
fn told(panic: &(dyn Any + Send)) -> String {
    let message = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    format!("it panicked: {}", message.unwrap_or("without a word"))
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
