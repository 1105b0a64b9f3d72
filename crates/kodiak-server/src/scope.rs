//! What a caller with a scope is told about an answer: nothing about what is outside,
//! and no reasons that name places on the server's machine.

use kodiak::access::Guard;
use kodiak::search::{Answer, Caveat};

/// Removes from an answer what is not for a caller with these rights: what a caveat names,
/// and the command that resumes a session, which names a folder of the server's machine.
pub(crate) fn limit(guard: &Guard, answer: &mut Answer) {
    if guard.sees_everything() {
        return;
    }
    for list in [&mut answer.notices.0, &mut answer.completeness.0] {
        *list = told_to(guard, list).collect();
    }
    for turn in answer.hits.iter_mut().filter_map(|hit| hit.turn.as_mut()) {
        turn.resume = None;
    }
}

/// Returns caveats as a caller with these rights may learn of them.
pub(crate) fn told_to(guard: &Guard, caveats: &[Caveat]) -> impl Iterator<Item = Caveat> {
    caveats.iter().map(|caveat| caveat.clone().told_to(guard))
}
