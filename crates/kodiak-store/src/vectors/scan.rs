//! The exact scan for the nearest documents.
//!
//! The rows are divided into blocks, which are scanned in parallel. All threads
//! share one list of the best documents. Once it is full, the scan prefilters
//! rows by their codes and compares in full only those that may beat the worst
//! document in the list. A document whose chunks lie in more than one block is
//! set aside until all blocks are done, so that the result does not depend on
//! block borders or on threads.

use std::ops::Range;

use rayon::prelude::*;

use super::best::{Candidate, KnnHit, Shared};
use super::coarse_code::PruningBound;
use super::format::GROUP;
use super::kernel::{Kernel, PREFILTER_ROWS, fetch};
use super::{Bitmap, QuantizedQuery, VectorFile};
use kodiak_base::cancel::Stop;

/// The number of rows in a block: a tenth of a millisecond of work.
const BLOCK: usize = GROUP;
/// The number of rows that are collected before they are compared in full, so
/// that their memory is fetched together.
const WAITING: usize = 32;
/// How many runs of allowed rows ahead memory is fetched, and how many rows of
/// each.
const STRETCHES_AHEAD: usize = 8;
const FETCHED: usize = 4;
/// The number of blocks from which a scan is parallel. With fewer, waking other
/// threads takes longer than the scan.
const PARALLEL: usize = 3;

impl VectorFile {
    /// Returns the `keep` best documents, each by its best chunk, best first.
    /// Among equals the lower row comes first. With several queries the highest
    /// similarity counts. Only `allowed` documents are compared. Queries whose
    /// length differs from the file's vectors are ignored. The result is, to
    /// the bit, the same as if every vector were compared in full.
    ///
    /// Returns `None` if the scan was stopped before its end.
    pub fn nearest(
        &self,
        queries: &[QuantizedQuery],
        allowed: Option<&Bitmap>,
        keep: usize,
        stop: Option<&Stop>,
    ) -> Option<Vec<KnnHit>> {
        self.nearest_in_blocks(BLOCK, queries, allowed, keep, stop)
    }

    /// Does the work of `nearest`. Tests choose the block size.
    pub(super) fn nearest_in_blocks(
        &self,
        block: usize,
        queries: &[QuantizedQuery],
        allowed: Option<&Bitmap>,
        keep: usize,
        stop: Option<&Stop>,
    ) -> Option<Vec<KnnHit>> {
        // With fewer allowed documents, most of what is fetched ahead would not
        // be used.
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

/// One search in a file.
struct Scan<'a> {
    file: &'a VectorFile,
    found: Shared,
    kernel: Kernel,
    queries: Vec<&'a QuantizedQuery>,
    allowed: Option<&'a Bitmap>,
    stop: Option<&'a Stop>,
}

impl Scan<'_> {
    /// Returns `None` once the scan must stop.
    fn check_time(&self) -> Option<()> {
        (!self.stop.is_some_and(Stop::is_reached)).then_some(())
    }

    /// Scans a block and adds its documents to the result.
    fn block(&self, rows: Range<usize>) -> Option<()> {
        self.check_time()?;
        let stretches = self.stretches(&rows);
        let mut block = Block::new(self, rows);
        for (at, stretch) in stretches.iter().enumerate() {
            if let Some(later) = stretches.get(at + STRETCHES_AHEAD) {
                self.fetch_start(later);
            }
            block.prefilter_all(stretch);
        }
        block.finish();
        Some(())
    }

    /// Returns the allowed rows of a block as ranges that are as long as
    /// possible.
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

    /// Prefetches the first codes of a range. The processor detects the
    /// sequential read and fetches the rest by itself.
    fn fetch_start(&self, stretch: &Range<usize>) {
        let end = stretch.end.min(stretch.start + FETCHED);
        let start = stretch.start..end.min(end_of_group(stretch.start));
        fetch(self.file.codes(&start));
        fetch(self.file.error_bounds(&start).as_flattened().as_flattened());
    }

    /// Returns the highest similarity of a row with any query.
    fn similarity(&self, at: usize) -> f32 {
        let similarities = self
            .queries
            .iter()
            .map(|query| self.file.exact(self.kernel, at, query));
        similarities.fold(f32::NEG_INFINITY, f32::max)
    }
}

/// The state of scanning one block, from its first row to its last.
struct Block<'a> {
    scan: &'a Scan<'a>,
    rows: Range<usize>,
    /// The similarity that `limits` is computed for.
    least: f32,
    /// The pruning bound of each query.
    limits: Vec<PruningBound>,
    /// Rows that passed the prefilter. Their residuals are being fetched.
    near: Vec<usize>,
    /// The position, among all documents, of the document compared last, and
    /// its best chunk so far. More of its chunks may follow.
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
            near: Vec::with_capacity(WAITING + PREFILTER_ROWS),
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

    /// Prefilters rows that are all allowed, and compares those that pass.
    fn prefilter_all(&mut self, rows: &Range<usize>) {
        let mut start = rows.start;
        while start < rows.end {
            let end = rows
                .end
                .min(start + PREFILTER_ROWS)
                .min(end_of_group(start));
            let mut near = self.prefilter(&(start..end));
            while near != 0 {
                let at = start + near.trailing_zeros() as usize;
                fetch(self.scan.file.residual(at));
                fetch(&self.scan.file.scales()[at]);
                self.near.push(at);
                // Clears the lowest bit.
                near &= near - 1;
            }
            if self.near.len() >= WAITING {
                self.look();
            }
            start = end;
        }
    }

    /// Returns a bit for each row that may be among the best, judged by its
    /// code.
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
            // One prefetch is enough.
            kernel = kernel.fetching_ahead(false);
        }
        near
    }

    /// Compares the collected rows in full.
    fn look(&mut self) {
        let near = std::mem::take(&mut self.near);
        for &at in &near {
            self.look_at(at);
        }
        self.near = near;
        self.near.clear();
    }

    /// Compares one row in full.
    fn look_at(&mut self, at: usize) {
        let similarity = self.scan.similarity(at);
        // Nearly all rows that pass the prefilter fail here. A row with an
        // equal similarity may still win by its lower number.
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

    /// Adds the current document to the result once all its rows in the block
    /// were seen.
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

/// Returns the end of the group that contains a row.
fn end_of_group(at: usize) -> usize {
    (at + 1).next_multiple_of(GROUP)
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;
