//! Shows the progress of long work: a bar on a terminal, a line elsewhere.

use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use kodiak::sync::{EmbeddingProgress, Progress as Event};

use super::Output;
use super::escape::escaped;
use super::estimate::Estimate;
use super::phrases::{counted, grouped};

/// The progress of one source's indexing.
#[derive(Debug)]
pub(crate) struct Progress<'a> {
    output: &'a Output,
    name: String,
    bar: Option<ProgressBar>,
}

impl<'a> Progress<'a> {
    /// Starts to show the progress of the source `name`.
    pub(crate) fn new(output: &'a Output, name: &str) -> Self {
        let name = escaped(name).into_owned();
        let bar = output.shows_progress().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.set_style(style("{spinner} looking for changes in {prefix}"));
            bar.set_prefix(name.clone());
            // Listing a large folder takes a while in which nothing is counted.
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        // A terminal that cannot redraw a bar gets lines instead.
        let bar = bar.filter(|bar| !bar.is_hidden());
        Self { output, name, bar }
    }

    /// Shows the progress that the sync reports.
    pub(crate) fn event(&mut self, event: Event) {
        match (event, &self.bar) {
            (Event::Found(0), _) => {}
            (Event::Found(files), Some(bar)) => {
                bar.disable_steady_tick();
                bar.set_style(style(
                    "indexing {prefix} [{wide_bar}] {pos}/{len} files{left}",
                ));
                bar.set_length(files as u64);
            }
            (Event::Found(files), None) => {
                let files = counted(files as u64, "file");
                self.output
                    .notice(&format!("indexing {}: {files} to read", self.name));
            }
            (Event::Done(files), Some(bar)) => bar.set_position(files as u64),
            (Event::Done(_), None) => {}
        }
    }
}

impl Drop for Progress<'_> {
    /// Clears the bar, so that the next message, or an error, is not mixed into it.
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// The progress of embedding. The bar measures the amount of text, which makes
/// the estimate of the time left accurate; the numbers shown count chunks, with those
/// that were embedded earlier.
#[derive(Debug)]
pub(crate) struct Embedding<'a> {
    output: &'a Output,
    model: String,
    bar: Option<ProgressBar>,
    extent: Extent,
    estimate: Arc<Mutex<Estimate>>,
}

/// So many chunks take long enough for the user to wonder whether to wait.
const MANY_CHUNKS: usize = 500;

/// The amount of text to embed, with the part that was embedded earlier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Extent {
    chunks: usize,
    bytes: u64,
    earlier: usize,
    /// An estimate of the bytes that were embedded earlier.
    earlier_bytes: u64,
}

impl Extent {
    fn new(chunks: usize, bytes: u64, earlier: usize) -> Self {
        let each = bytes / (chunks as u64).max(1);
        Self {
            chunks: chunks + earlier,
            bytes: bytes + each * earlier as u64,
            earlier,
            earlier_bytes: each * earlier as u64,
        }
    }

    fn counted(&self, done: usize) -> String {
        let (done, all) = ((self.earlier + done) as u64, self.chunks as u64);
        format!("{}/{}", grouped(done), grouped(all))
    }
}

impl<'a> Embedding<'a> {
    /// Creates a progress that shows nothing until there is something to embed.
    pub(crate) fn new(output: &'a Output, model: &str) -> Self {
        Self {
            output,
            model: escaped(model).into_owned(),
            bar: None,
            extent: Extent::default(),
            estimate: Arc::default(),
        }
    }

    /// Shows the progress that the backfill reports.
    pub(crate) fn event(&mut self, event: EmbeddingProgress) {
        match event {
            EmbeddingProgress::Found {
                chunks,
                bytes,
                earlier,
            } => {
                let extent = Extent::new(chunks, bytes, earlier);
                self.extent = extent;
                let estimate = Arc::new(Mutex::new(Estimate::new(Instant::now(), bytes)));
                self.estimate = Arc::clone(&estimate);
                let bar = self.output.shows_progress().then(|| {
                    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
                    let style =
                        style("embedding with {prefix} [{wide_bar}] {msg} chunks{estimate}");
                    let style = style.with_key(
                        "estimate",
                        move |_: &ProgressState, text: &mut dyn Write| {
                            let estimate = lock(&estimate);
                            let left = estimate.left(Instant::now());
                            let left = left.filter(|_| has_room_for_estimate());
                            let _ = text.write_str(&time_left(left));
                        },
                    );
                    bar.set_style(style);
                    bar.set_prefix(self.model.clone());
                    bar.set_length(extent.bytes);
                    bar.set_position(extent.earlier_bytes);
                    bar.set_message(extent.counted(0));
                    bar.enable_steady_tick(Duration::from_millis(500));
                    bar
                });
                self.bar = bar.filter(|bar| !bar.is_hidden());
                if let Some(bar) = &self.bar
                    && chunks > MANY_CHUNKS
                {
                    bar.println(
                        "you can already search by words; Ctrl-C keeps everything embedded so far",
                    );
                }
                if self.bar.is_none() {
                    let chunks = counted(chunks as u64, "chunk");
                    self.output
                        .notice(&format!("embedding {chunks} with {}", self.model));
                }
            }
            EmbeddingProgress::Done { chunks, bytes } => {
                if let Some(bar) = &self.bar {
                    lock(&self.estimate).update(Instant::now(), bytes);
                    bar.set_position(self.extent.earlier_bytes + bytes);
                    bar.set_message(self.extent.counted(chunks));
                }
            }
        }
    }
}

fn lock(estimate: &Mutex<Estimate>) -> MutexGuard<'_, Estimate> {
    estimate.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Embedding<'_> {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// The progress of steps that are counted. It is shown only on a terminal.
#[derive(Debug)]
pub(crate) struct Steps {
    bar: Option<ProgressBar>,
}

impl Steps {
    /// Starts to show `label` and a count, with the total where it is known.
    pub(crate) fn new(output: &Output, label: &str, total: Option<usize>) -> Self {
        let bar = output.shows_progress().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.set_style(style(if total.is_some() {
                "{msg} [{wide_bar}] {pos}/{len}{left}"
            } else {
                "{spinner} {msg}: {pos}"
            }));
            bar.set_message(label.to_owned());
            if let Some(total) = total {
                bar.set_length(total as u64);
            }
            bar
        });
        Self { bar }
    }

    /// Sets the number of steps that are done.
    pub(crate) fn done(&self, done: usize) {
        if let Some(bar) = &self.bar {
            bar.set_position(done as u64);
        }
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// The progress of a download. It is shown only on a terminal.
#[derive(Debug)]
pub(crate) struct Download {
    bar: Option<ProgressBar>,
}

impl Download {
    /// Starts to show how much of a file is there.
    pub(crate) fn new(output: &Output, file: &str) -> Self {
        let bar = output.shows_progress().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.set_style(style("{spinner} {msg}: {bytes}"));
            bar.set_message(escaped(file).into_owned());
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Self { bar }
    }

    /// Sets the number of bytes that are there, and in all if that is known.
    pub(crate) fn done(&self, done: u64, total: Option<u64>) {
        let Some(bar) = &self.bar else { return };
        if let Some(total) = total
            && bar.length() != Some(total)
        {
            bar.set_style(style("{msg} [{wide_bar}] {bytes}/{total_bytes}{left}"));
            bar.set_length(total);
        }
        bar.set_position(done);
    }
}

impl Drop for Download {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A wait whose length is unknown. It is shown only on a terminal.
#[derive(Debug)]
pub(crate) struct Waiting {
    bar: Option<ProgressBar>,
}

impl Waiting {
    /// Starts to show the time that has passed.
    pub(crate) fn new(output: &Output) -> Self {
        let bar = output.shows_progress().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.set_style(style("{spinner} {msg} {elapsed}"));
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Self { bar }
    }

    /// Sets the text that names the awaited event.
    pub(crate) fn set_message(&self, what: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(escaped(what).into_owned());
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

pub(super) fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key("left", |state: &ProgressState, text: &mut dyn Write| {
            let known = Some(state.eta()).filter(|_| state.pos() > 0 && has_room_for_estimate());
            let _ = text.write_str(&time_left(known));
        })
        .progress_chars("=> ")
}

/// Reports whether an estimate fits beside a count: on a narrow terminal the line would be
/// broken, and a broken line cannot always be cleared.
fn has_room_for_estimate() -> bool {
    const MIN_COLUMNS: u16 = 60;
    let size = terminal_size::terminal_size_of(std::io::stderr());
    size.is_none_or(|(width, _)| width.0 >= MIN_COLUMNS)
}

/// Renders an estimate of the time left. There is none before the first step is
/// done, and one of less than a second says nothing.
fn time_left(estimate: Option<Duration>) -> String {
    match estimate {
        Some(estimate) if estimate >= Duration::from_secs(1) => {
            format!(", {} left", HumanDuration(estimate))
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_told_once_it_is_known() {
        let left = |seconds| time_left(Some(Duration::from_secs(seconds)));
        assert_eq!(time_left(None), "");
        assert_eq!(left(0), "");
        assert_eq!(left(9), ", 9 seconds left");
        assert_eq!(left(600), ", 10 minutes left");
    }

    #[test]
    fn work_that_goes_on_starts_where_it_stopped() {
        let extent = Extent::new(300, 30_000, 1_000);
        assert_eq!(extent.counted(0), "1,000/1,300");
        assert_eq!(extent.counted(300), "1,300/1,300");
        assert_eq!((extent.earlier_bytes, extent.bytes), (100_000, 130_000));
        let new = Extent::new(0, 0, 0);
        assert_eq!((new.counted(0).as_str(), new.bytes), ("0/0", 0));
    }
}
