//! Prefetching: asking for memory before it is needed. It is only a hint, and
//! only on processors for which the standard library offers it.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

/// The distance of prefetching in bytes. Processors prefetch by themselves, but
/// not across a page border.
#[cfg(target_arch = "x86_64")]
const BEHIND: usize = 4096;
/// The length of a cache line, the unit of fetching.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Prefetches some bytes.
#[inline]
pub(in super::super) fn fetch(bytes: &[u8]) {
    lines(bytes.as_ptr(), bytes.len());
}

/// Prefetches as many bytes at a distance behind these.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(super) fn fetch_behind(bytes: &[u8]) {
    lines(bytes.as_ptr().wrapping_add(BEHIND), bytes.len());
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn lines(start: *const u8, length: usize) {
    for line in (0..length).step_by(LINE) {
        #[expect(unsafe_code, reason = "the intrinsic takes a pointer")]
        // SAFETY: a prefetch is a hint. It reads nothing that the program
        // could see and does not fault, whatever the address.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(line).cast());
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn lines(_start: *const u8, _length: usize) {}
