//! Priority of threads that work in the background.

/// How much nicer a background thread is than others: it gets about a tenth of a core
/// that another thread needs all the time, and all of a core that is idle.
#[cfg(target_os = "linux")]
const NICER: i32 = 10;

/// Lowers the priority of this thread and of the threads that it starts, for good. Does
/// nothing where priorities belong to processes.
pub fn lower_priority() {
    // A thread that may not be nicer does its work all the same.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::nice(NICER);
}

/// Runs `work` on a thread of low priority, or on this one if no thread can be started.
/// Threads that it starts inherit the priority.
#[cfg(feature = "onnx")]
pub(crate) fn with_low_priority<T: Send>(work: impl Fn() -> T + Send + Sync) -> T {
    std::thread::scope(|scope| {
        let started = std::thread::Builder::new().spawn_scoped(scope, || {
            lower_priority();
            work()
        });
        started.ok().and_then(|thread| thread.join().ok())
    })
    .unwrap_or_else(work)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn threads_of_a_nice_thread_are_nice_and_no_others() {
        let niceness = || rustix::process::nice(0).unwrap();
        let before = niceness();
        let inherited = with_low_priority(|| {
            let started = std::thread::spawn(niceness);
            started.join().unwrap()
        });
        assert_eq!(inherited, (before + NICER).min(19));
        assert_eq!(niceness(), before);
    }
}
