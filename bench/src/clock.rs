//! Measures CPU time and memory on Linux; elsewhere, wall time replaces CPU time.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::time::{ClockId, clock_gettime};

/// Returns the milliseconds of CPU time that this thread used while `run` ran, or
/// of wall time where CPU time is unknown.
pub(crate) fn cpu_ms<T>(run: impl FnOnce() -> T) -> (T, f64) {
    cpu_ms_by(ClockId::ThreadCPUTime, run)
}

/// Returns the milliseconds of CPU time that all threads of this process used
/// while `run` ran.
pub(crate) fn process_cpu_ms<T>(run: impl FnOnce() -> T) -> (T, f64) {
    cpu_ms_by(ClockId::ProcessCPUTime, run)
}

fn cpu_ms_by<T>(clock: ClockId, run: impl FnOnce() -> T) -> (T, f64) {
    let wall = Instant::now();
    let before = cpu_ns(clock);
    let result = run();
    let used = match (before, cpu_ns(clock)) {
        (Some(before), Some(after)) => (after - before) as f64 / 1e6,
        _ => wall.elapsed().as_secs_f64() * 1e3,
    };
    (result, used)
}

fn cpu_ns(clock: ClockId) -> Option<u64> {
    let now = clock_gettime(clock);
    let seconds = u64::try_from(now.tv_sec).ok()?;
    Some(seconds * 1_000_000_000 + u64::try_from(now.tv_nsec).ok()?)
}

/// The time and peak memory of a program that was run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ran {
    pub(crate) wall: Duration,
    /// The CPU time of all its threads to a hundredth of a second, if it is known
    /// and no other program ended in between.
    pub(crate) cpu: Option<Duration>,
    pub(crate) peak_megabytes: f64,
}

/// Runs a program to its end. Its memory is sampled while it runs, so that a very
/// short run has no peak.
pub(crate) fn run(program: &Path, arguments: &[&str], watch_memory: bool) -> Result<Ran> {
    run_command(Command::new(program).args(arguments), watch_memory)
}

/// Runs a program to its end, in the environment it was given.
pub(crate) fn run_command(command: &mut Command, watch_memory: bool) -> Result<Ran> {
    let before = children_cpu();
    let started = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("could not start {}", command.get_program().display()))?;
    let mut peak = 0.0_f64;
    let status = loop {
        if !watch_memory {
            break child.wait()?;
        }
        peak = peak.max(peak_megabytes(child.id()).unwrap_or(0.0));
        if let Some(status) = child.try_wait()? {
            break status;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let wall = started.elapsed();
    anyhow::ensure!(
        status.code().is_some_and(|code| code < 2),
        "{command:?} failed: {status}"
    );
    Ok(Ran {
        wall,
        cpu: children_cpu()
            .zip(before)
            .map(|(after, before)| after.saturating_sub(before)),
        peak_megabytes: peak,
    })
}

/// Runs a program to its end with the standard input it was given. Returns the CPU time
/// of all its threads to a hundredth of a second, and what it printed.
pub(crate) fn run_for_output(command: &mut Command) -> Result<(Duration, Vec<u8>)> {
    let before = children_cpu().context("the CPU time is not known")?;
    let done = command
        .stderr(Stdio::null())
        .output()
        .with_context(|| format!("could not start {}", command.get_program().display()))?;
    anyhow::ensure!(done.status.success(), "{command:?} failed: {}", done.status);
    let after = children_cpu().context("the CPU time is not known")?;
    Ok((after.saturating_sub(before), done.stdout))
}

/// Returns the CPU time of all processes that this one started and that have
/// ended.
pub(crate) fn children_cpu() -> Option<Duration> {
    /// The ticks per second in which Linux counts, whatever the kernel's own clock.
    const TICKS_PER_SECOND: u64 = 100;
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name before the bracket may itself contain spaces.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(13);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(Duration::from_millis(
        (user + system) * 1_000 / TICKS_PER_SECOND,
    ))
}

/// Returns the peak memory of this process, where it is known.
pub(crate) fn own_peak_megabytes() -> Option<f64> {
    peak_megabytes(std::process::id())
}

fn peak_megabytes(process: u32) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1024.0)
}
