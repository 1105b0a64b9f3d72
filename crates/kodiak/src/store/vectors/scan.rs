//! Finding the nearest documents by looking at every vector.
//!
//! The rows are cut into blocks, which are scanned in parallel; all threads
//! together keep the best documents. Once these are as many as are asked for,
//! codes are prefiltered for rows that may be better than the worst of them, and
//! only those are looked at in full. A document whose chunks lie in more than
//! one block is set aside until all its blocks are known, so that the answer
//! does not depend on where blocks end or which thread had them.

use std::ops::Range;

use rayon::prelude::*;

use super::best::{Candidate, KnnHit, Shared};
use super::coarse_code::PruningBound;
use super::format::GROUP;
use super::kernel::{Kernel, SIFTED, fetch};
use super::{Bitmap, QuantizedQuery, VectorFile};
use crate::cancel::Stop;

/// Places in a block: a tenth of a millisecond of work.
const BLOCK: usize = GROUP;
/// Rows that wait to be looked at together, so that none waits for memory alone.
const WAITING: usize = 32;
/// How far ahead the stretches of allowed rows are fetched, and how much of
/// each.
const STRETCHES_AHEAD: usize = 8;
const FETCHED: usize = 4;
/// Fewer blocks are scanned at once by the thread that asks: waking others
/// takes longer.
const PARALLEL: usize = 3;

impl VectorFile {
    /// The `keep` best documents, each by its best chunk, best first; of equals
    /// the one with the lower row. With several queries the highest similarity
    /// counts. Only `allowed` documents are looked at; queries of another
    /// length than the file's vectors are not. The answer is always the same as
    /// if every vector were looked at in full, to the bit.
    ///
    /// `None` if it was stopped before the end.
    pub fn nearest(
        &self,
        queries: &[QuantizedQuery],
        allowed: Option<&Bitmap>,
        keep: usize,
        stop: Option<&Stop>,
    ) -> Option<Vec<KnnHit>> {
        self.nearest_in_blocks(BLOCK, queries, allowed, keep, stop)
    }

    /// `nearest`, with the size of blocks for tests to choose.
    pub(super) fn nearest_in_blocks(
        &self,
        block: usize,
        queries: &[QuantizedQuery],
        allowed: Option<&Bitmap>,
        keep: usize,
        stop: Option<&Stop>,
    ) -> Option<Vec<KnnHit>> {
        // With fewer, most of what is fetched ahead would not be looked at.
        let most = allowed.is_none_or(|allowed| allowed.len() >= self.documents().len() / 2);
        let scan = Scan {
            file: self,
            found: Shared::new(keep),
            kernel: Kernel::detect().fetching_ahead(most),
            queries: queries
                .iter()
                .filter(|query| query.dimensions() == self.dimensions)
                .collect(),
            allowed,
            stop,
        };
        scan.check_time()?;
        if scan.queries.is_empty() || keep == 0 || allowed.is_some_and(Bitmap::is_empty) {
            return Some(Vec::new());
        }
        let count = self.len().div_ceil(block);
        let rows = |number: usize| number * block..self.len().min((number + 1) * block);
        if count < PARALLEL {
            (0..count).try_for_each(|number| scan.block(rows(number)))?;
        } else {
            (0..count)
                .into_par_iter()
                .try_for_each(|number| scan.block(rows(number)))?;
        }
        Some(scan.found.into_best(self))
    }
}

/// One question to a file.
struct Scan<'a> {
    file: &'a VectorFile,
    found: Shared,
    kernel: Kernel,
    queries: Vec<&'a QuantizedQuery>,
    allowed: Option<&'a Bitmap>,
    stop: Option<&'a Stop>,
}

impl Scan<'_> {
    /// `None` once it is to stop.
    fn check_time(&self) -> Option<()> {
        (!self.stop.is_some_and(Stop::is_reached)).then_some(())
    }

    /// Adds the documents of a block to what was found.
    fn block(&self, rows: Range<usize>) -> Option<()> {
        self.check_time()?;
        let stretches = self.stretches(&rows);
        let mut block = Block::new(self, rows);
        for (at, stretch) in stretches.iter().enumerate() {
            if let Some(later) = stretches.get(at + STRETCHES_AHEAD) {
                self.fetch_start(later);
            }
            block.sift_all(stretch);
        }
        block.finish();
        Some(())
    }

    /// The parts of a block that are allowed, as long as they can be.
    fn stretches(&self, rows: &Range<usize>) -> Vec<Range<usize>> {
        let Some(allowed) = self.allowed else {
            return vec![rows.clone()];
        };
        let mut stretches: Vec<Range<usize>> = Vec::new();
        let mut start = rows.start;
        let mut run = self.file.run_at(start);
        while start < rows.end {
            let end = self.file.run(run).end.min(rows.end);
            if allowed.contains(self.file.document(run)) {
                match stretches.last_mut() {
                    Some(last) if last.end == start => last.end = end,
                    _ => stretches.push(start..end),
                }
            }
            start = end;
            run += 1;
        }
        stretches
    }

    /// Asks for the first codes of a stretch; the processor sees what comes
    /// after them by itself.
    fn fetch_start(&self, stretch: &Range<usize>) {
        let end = stretch.end.min(stretch.start + FETCHED);
        let start = stretch.start..end.min(end_of_group(stretch.start));
        fetch(self.file.codes(&start));
        fetch(self.file.error_bounds(&start).as_flattened().as_flattened());
    }

    /// The highest similarity of a row with any query.
    fn similarity(&self, at: usize) -> f32 {
        let similarities = self
            .queries
            .iter()
            .map(|query| self.file.exact(self.kernel, at, query));
        similarities.fold(f32::NEG_INFINITY, f32::max)
    }
}

/// A block while it is scanned, from its first row to its last.
struct Block<'a> {
    scan: &'a Scan<'a>,
    rows: Range<usize>,
    /// The similarity that the limits are for, one for each query.
    least: f32,
    limits: Vec<PruningBound>,
    /// Places whose rows are to be looked at: their residuals are on their way.
    near: Vec<usize>,
    /// The document that was last looked at, by its position among all, and
    /// its best chunk. It may have more chunks that are good enough.
    run: usize,
    best: Option<Candidate>,
}

impl<'a> Block<'a> {
    fn new(scan: &'a Scan<'a>, rows: Range<usize>) -> Self {
        let mut block = Self {
            scan,
            run: scan.file.run_at(rows.start),
            rows,
            least: scan.found.least(),
            limits: Vec::with_capacity(scan.queries.len()),
            near: Vec::with_capacity(WAITING + SIFTED),
            best: None,
        };
        block.set_limits();
        block
    }

    fn set_limits(&mut self) {
        let queries = self.scan.queries.iter();
        self.limits.clear();
        self.limits
            .extend(queries.map(|query| PruningBound::new(query, self.least)));
    }

    /// Sifts rows that are all allowed.
    fn sift_all(&mut self, rows: &Range<usize>) {
        let mut start = rows.start;
        while start < rows.end {
            let end = rows.end.min(start + SIFTED).min(end_of_group(start));
            let mut near = self.prefilter(&(start..end));
            while near != 0 {
                let at = start + near.trailing_zeros() as usize;
                fetch(self.scan.file.residual(at));
                fetch(&self.scan.file.scales()[at]);
                self.near.push(at);
                // Without the lowest bit.
                near &= near - 1;
            }
            if self.near.len() >= WAITING {
                self.look();
            }
            start = end;
        }
    }

    /// Which of some rows may have one of the best, by their codes.
    fn prefilter(&mut self, rows: &Range<usize>) -> u64 {
        let least = self.scan.found.least();
        if least > self.least {
            self.least = least;
            self.set_limits();
        }
        let file = self.scan.file;
        let (codes, error_bounds) = (file.codes(rows), file.error_bounds(rows));
        let mut kernel = self.scan.kernel;
        let mut near = 0;
        for (query, &limit) in self.scan.queries.iter().zip(&self.limits) {
            near |= kernel.prefilter(codes, error_bounds, query, limit);
            // Once is enough.
            kernel = kernel.fetching_ahead(false);
        }
        near
    }

    /// Looks at the rows that are waiting.
    fn look(&mut self) {
        let near = std::mem::take(&mut self.near);
        for &at in &near {
            self.look_at(at);
        }
        self.near = near;
        self.near.clear();
    }

    /// Looks at a whole row.
    fn look_at(&mut self, at: usize) {
        let similarity = self.scan.similarity(at);
        // Nearly all codes promise too much. Among equals the lower row may
        // still be this one.
        if similarity < self.scan.found.least() {
            return;
        }
        let file = self.scan.file;
        let run = file.run_after(self.run, at);
        if run != self.run {
            self.flush();
            self.run = run;
        }
        let candidate = Candidate {
            document: file.document(run),
            at,
            similarity,
        };
        self.best = Some(self.best.map_or(candidate, |best| best.min(candidate)));
    }

    /// Adds the last document, of which all was seen.
    fn flush(&mut self) {
        if let Some(candidate) = self.best.take() {
            let all = self.scan.file.run(self.run);
            let whole = self.rows.start <= all.start && all.end <= self.rows.end;
            self.scan.found.offer(candidate, whole);
        }
    }

    fn finish(mut self) {
        self.look();
        self.flush();
    }
}

/// The end of the group that has a row.
fn end_of_group(at: usize) -> usize {
    (at + 1).next_multiple_of(GROUP)
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;
