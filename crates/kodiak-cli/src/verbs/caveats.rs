//! Chooses the caveats of an answer that are printed. Programs and `--verbose` get all of
//! them; on a terminal only the caveats are printed that may change the next step of a
//! person.

use kodiak::search::{Caveat, Notices, SemanticAbsence};

use crate::output::Output;

/// Returns the sentences to print beside an answer. `sure` says whether it has hits that
/// are probably relevant.
pub(super) fn sentences(notices: &Notices, sure: bool, output: &Output) -> Vec<String> {
    if output.says_everything() {
        return notices.sentences();
    }
    let told = notices.iter().filter(|notice| matters(notice, sure));
    Notices(told.cloned().collect()).sentences()
}

/// Reports whether a caveat may change the next step of a person.
fn matters(caveat: &Caveat, sure: bool) -> bool {
    match caveat {
        // These explain why something was not found.
        Caveat::PartlyEmbedded { .. }
        | Caveat::DocumentsGone { .. }
        | Caveat::SemanticUnavailable(SemanticAbsence::UnknownWords { .. }) => !sure,
        // It is what was asked for.
        Caveat::ComparedByWords { reason } => reason.is_some(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_matters_if_nothing_good_was_found() {
        let embedding = Caveat::PartlyEmbedded { percent: 40 };
        assert!(!matters(&embedding, true));
        assert!(matters(&embedding, false));
        let busy = Caveat::SemanticUnavailable(SemanticAbsence::Busy);
        assert!(matters(&busy, true));
    }
}
