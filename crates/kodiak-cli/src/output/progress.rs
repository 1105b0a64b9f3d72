//! How far a long run has come: a bar on a terminal, a line elsewhere.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use kodiak::sync::{EmbeddingProgress, Progress as Event};

use super::Output;
use super::escape::escaped;
use super::phrases::counted;

/// The progress of one source's indexing.
#[derive(Debug)]
pub(crate) struct Progress<'a> {
    output: &'a Output,
    name: String,
    bar: Option<ProgressBar>,
}

impl<'a> Progress<'a> {
    /// Begins to show the progress of the source `name`.
    pub(crate) fn new(output: &'a Output, name: &str) -> Self {
        let name = escaped(name).into_owned();
        let bar = (output.beside_on_terminal && !output.is_quiet()).then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.set_style(style("{spinner} looking for changes in {prefix}"));
            bar.set_prefix(name.clone());
            // Listing a large folder takes a while in which nothing is counted.
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        // A terminal that cannot move a bar gets lines like everything else.
        let bar = bar.filter(|bar| !bar.is_hidden());
        Self { output, name, bar }
    }

    /// Takes note of what the sync reports.
    pub(crate) fn event(&mut self, event: Event) {
        match (event, &self.bar) {
            (Event::Found(0), _) => {}
            (Event::Found(files), Some(bar)) => {
                bar.disable_steady_tick();
                bar.set_style(style(
                    "indexing {prefix} [{wide_bar}] {pos}/{len}, {eta} left",
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
    /// The bar makes way for what is said next, also for an error.
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// The progress of embedding. The bar moves by the amount of text, so that the
/// time left is told truly; what is counted for people is chunks.
#[derive(Debug)]
pub(crate) struct Embedding<'a> {
    output: &'a Output,
    model: String,
    bar: Option<ProgressBar>,
}

impl<'a> Embedding<'a> {
    /// Shows nothing until there is something to embed.
    pub(crate) fn new(output: &'a Output, model: &str) -> Self {
        Self {
            output,
            model: escaped(model).into_owned(),
            bar: None,
        }
    }

    /// Takes note of what the backfill reports.
    pub(crate) fn event(&mut self, event: EmbeddingProgress) {
        match event {
            EmbeddingProgress::Found { chunks, bytes } => {
                let bar = (self.output.beside_on_terminal && !self.output.is_quiet()).then(|| {
                    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
                    bar.set_style(style(
                        "embedding with {prefix} [{wide_bar}] {msg}, {eta} left",
                    ));
                    bar.set_prefix(self.model.clone());
                    bar.set_length(bytes);
                    bar.set_message(format!("0/{chunks}"));
                    bar.enable_steady_tick(Duration::from_millis(500));
                    bar
                });
                self.bar = bar.filter(|bar| !bar.is_hidden());
                if self.bar.is_none() {
                    let chunks = counted(chunks as u64, "chunk");
                    self.output
                        .notice(&format!("embedding {chunks} with {}", self.model));
                }
            }
            EmbeddingProgress::Done { chunks, bytes } => {
                if let Some(bar) = &self.bar {
                    bar.set_position(bytes);
                    let message = bar.message();
                    let all = message.rsplit('/').next().unwrap_or_default();
                    bar.set_message(format!("{chunks}/{all}"));
                }
            }
        }
    }
}

impl Drop for Embedding<'_> {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// The progress of steps that are counted but need not be announced.
#[derive(Debug)]
pub(crate) struct Steps {
    bar: Option<ProgressBar>,
}

impl Steps {
    /// Begins to show `label` and a count, against `total` where it is known.
    /// Only a terminal sees anything.
    pub(crate) fn new(output: &Output, label: &str, total: Option<usize>) -> Self {
        let bar = (output.beside_on_terminal && !output.is_quiet()).then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.set_style(style(if total.is_some() {
                "{msg} [{wide_bar}] {pos}/{len}, {eta} left"
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

    /// Notes that so many are done.
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

/// A wait for something that cannot be counted.
#[derive(Debug)]
pub(crate) struct Waiting {
    bar: Option<ProgressBar>,
}

impl Waiting {
    /// Begins to show that time passes. Only a terminal sees anything.
    pub(crate) fn new(output: &Output) -> Self {
        let bar = (output.beside_on_terminal && !output.is_quiet()).then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.set_style(style("{spinner} {msg} {elapsed}"));
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Self { bar }
    }

    /// Says what is being waited for.
    pub(crate) fn say(&self, what: &str) {
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

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
}
