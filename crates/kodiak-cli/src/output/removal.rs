//! Shows the progress of removing a source from the index.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget};

use super::Output;
use super::escape::escaped;
use super::phrases::{counted, grouped};
use super::progress::style;

/// The number of files whose removal takes long enough to be announced.
const MIN_FILES_ANNOUNCED: usize = 1_000;
/// The time between two pictures of a spinner.
const TICK: Duration = Duration::from_millis(120);

/// The progress of a removal.
#[derive(Debug)]
pub(crate) struct Removal {
    bar: Option<ProgressBar>,
    files: usize,
    is_counting: bool,
}

impl Removal {
    /// Starts to show the removal of a source with this number of files.
    pub(crate) fn new(output: &Output, source: &str, files: usize) -> Self {
        let source = escaped(source).into_owned();
        let template = "removing {prefix} [{wide_bar}] {msg} files{left}";
        let bar = bar(output, template, Some(files));
        // Unlike a setter, this does not draw the bar.
        let bar = bar.map(|bar| {
            bar.with_prefix(source.clone())
                .with_message(counted_files(0, files))
        });
        if bar.is_none() && files >= MIN_FILES_ANNOUNCED {
            let files = counted(files as u64, "file");
            output.notice(&format!("removing {source}: {files}"));
        }
        Self {
            bar,
            files,
            is_counting: true,
        }
    }

    /// Starts to show that the index is rewritten.
    pub(crate) fn compacting(output: &Output) -> Self {
        let bar = bar(output, "{spinner} giving back the space", None);
        if let Some(bar) = &bar {
            bar.enable_steady_tick(TICK);
        }
        Self {
            bar,
            files: 0,
            is_counting: false,
        }
    }

    /// Shows that this number of files is removed. After the last one, the full-text index
    /// is brought in order, which takes a while.
    pub(crate) fn removed(&mut self, files: usize) {
        let Some(bar) = self.bar.as_ref().filter(|_| self.is_counting) else {
            return;
        };
        if files < self.files {
            bar.set_position(files as u64);
            bar.set_message(counted_files(files, self.files));
        } else {
            self.is_counting = false;
            bar.set_style(style("{spinner} updating the index"));
            bar.enable_steady_tick(TICK);
        }
    }
}

fn counted_files(removed: usize, files: usize) -> String {
    format!("{}/{}", grouped(removed as u64), grouped(files as u64))
}

fn bar(output: &Output, template: &str, files: Option<usize>) -> Option<ProgressBar> {
    let bar = output.shows_progress().then(|| {
        let length = files.map(|files| files as u64);
        let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr());
        bar.set_style(style(template));
        bar
    });
    // A terminal that cannot redraw a bar gets lines instead.
    bar.filter(|bar| !bar.is_hidden())
}

impl Drop for Removal {
    /// Clears the bar, so that the next message is not mixed into it.
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
