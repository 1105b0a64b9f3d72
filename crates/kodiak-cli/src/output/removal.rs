//! Shows the progress of removing a source from the index.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Output;
use super::escape::escaped;
use super::phrases::counted;

/// The number of files whose removal takes long enough to be announced.
const MANY: usize = 1_000;

/// The progress of a removal.
#[derive(Debug)]
pub(crate) struct Removal(Option<ProgressBar>);

impl Removal {
    /// Starts to show the removal of a source with this number of files.
    pub(crate) fn new(output: &Output, source: &str, files: usize) -> Self {
        let source = escaped(source);
        let bar = bar(output, "removing {prefix} [{wide_bar}] {pos}/{len} files");
        if let Some(bar) = &bar {
            bar.set_prefix(source.into_owned());
            bar.set_length(files as u64);
        } else if files >= MANY {
            let files = counted(files as u64, "file");
            output.notice(&format!("removing {source}: {files}"));
        }
        Self(bar)
    }

    /// Starts to show that the index is rewritten.
    pub(crate) fn compacting(output: &Output) -> Self {
        let bar = bar(output, "{spinner} giving back the space");
        if let Some(bar) = &bar {
            bar.enable_steady_tick(Duration::from_millis(120));
        }
        Self(bar)
    }

    /// Shows that this number of files is removed.
    pub(crate) fn removed(&self, files: usize) {
        if let Some(bar) = &self.0 {
            bar.set_position(files as u64);
        }
    }
}

fn bar(output: &Output, template: &str) -> Option<ProgressBar> {
    let bar = (output.beside_on_terminal && !output.is_quiet()).then(|| {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template(template);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar
    });
    // A terminal that cannot redraw a bar gets lines instead.
    bar.filter(|bar| !bar.is_hidden())
}

impl Drop for Removal {
    /// Clears the bar, so that the next message is not mixed into it.
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
