//! What a caller with a scope is told about an answer: nothing about what is outside,
//! and no reasons that name places on the server's machine.

use kodiak::access::Guard;
use kodiak::search::{Hit, Incomplete, NotIndexed, NotLookedFor, Notice, SemanticAbsence};

/// Removes from notices what is not for a caller with these rights.
pub(crate) fn limit(guard: &Guard, notices: &mut Vec<Notice>) {
    if guard.sees_everything() {
        return;
    }
    // These name sources, which are outside of a project.
    let names_sources = |notice: &Notice| {
        matches!(
            notice,
            Notice::SourceMissing { .. }
                | Notice::SourceNotSynced { .. }
                | Notice::SourceIncomplete { .. }
        )
    };
    notices.retain(|notice| guard.project().is_none() || !names_sources(notice));
    for notice in notices {
        match notice {
            Notice::SourceNotSynced { reason, .. } => *reason = "it cannot be read".to_owned(),
            Notice::FullTextFailed { detail, .. } => *detail = "the index refused it".to_owned(),
            Notice::SemanticUnavailable(
                SemanticAbsence::NoModel(reason) | SemanticAbsence::Failed(reason),
            ) => *reason = "the model cannot be used".to_owned(),
            _ => {}
        }
    }
}

/// Removes from hits what is not for a caller with these rights: the command that resumes
/// a session names a folder of the server's machine.
pub(crate) fn limit_hits(guard: &Guard, hits: &mut [Hit]) {
    if guard.sees_everything() {
        return;
    }
    for turn in hits.iter_mut().filter_map(|hit| hit.turn.as_mut()) {
        turn.resume = None;
    }
}

/// Words why an answer is incomplete, for a caller with these rights.
pub(crate) fn worded(guard: &Guard, reason: &Incomplete) -> String {
    let failed = matches!(
        reason,
        Incomplete::ChangesNotLookedFor(NotLookedFor::Failed(_))
            | Incomplete::ChangesNotIndexed {
                reason: NotIndexed::Failed(_),
                ..
            }
    );
    if guard.project().is_some() || (failed && !guard.sees_everything()) {
        return without_names(reason).to_owned();
    }
    reason.to_string()
}

/// Words a reason without what it is about.
fn without_names(reason: &Incomplete) -> &'static str {
    match reason {
        Incomplete::ChangesNotLookedFor(_) => "not all changes were looked for",
        Incomplete::ChangesNotIndexed { .. } => "not all changes are indexed yet",
        Incomplete::SourceUnreadable { .. } | Incomplete::EntriesUnreadable { .. } => {
            "not everything could be read"
        }
        Incomplete::SourceNeverSynced { .. } => "not everything is indexed yet",
        Incomplete::QueryTruncated => "the query is too long",
        Incomplete::PrefixTooShort => "a prefix is too short",
        Incomplete::FullTextFailed => "full-text search failed",
        Incomplete::Deadline => "semantic search took too long",
        Incomplete::Busy => "too many other searches are running",
        _ => "something is missing",
    }
}

#[cfg(test)]
mod tests {
    use kodiak::access::Capability;

    use super::*;

    fn notices() -> Vec<Notice> {
        let path = || "could not read /home/ada/notes".to_owned();
        vec![
            Notice::SourceNotSynced {
                source: "work".into(),
                reason: path(),
            },
            Notice::SourceMissing {
                source: "work".into(),
            },
            Notice::FullTextFailed {
                detail: path(),
                matched_literally: true,
            },
            Notice::SemanticUnavailable(SemanticAbsence::NoModel(path())),
            Notice::SemanticUnavailable(SemanticAbsence::Failed(path())),
            Notice::QueryTruncated { words: 3 },
        ]
    }

    #[test]
    fn a_scope_bounds_what_is_told() {
        let said = |guard: &Guard| {
            let mut notices = notices();
            limit(guard, &mut notices);
            let said: Vec<String> = notices.iter().map(ToString::to_string).collect();
            said.join("\n")
        };
        let reader = Guard::holding([Capability::Search, Capability::Read]);
        assert!(said(&reader).contains("/home/ada"));
        let within = said(&reader.clone().within(["work"]));
        assert!(
            within.contains("'work'") && !within.contains("/home"),
            "{within}"
        );
        let project = said(&reader.in_project("atlas"));
        assert!(
            !project.contains("work'") && !project.contains("/home"),
            "{project}"
        );
        assert!(project.contains("3 words"), "{project}");
    }

    #[test]
    fn a_failure_is_told_without_its_place() {
        let failed = Incomplete::ChangesNotLookedFor(NotLookedFor::Failed("at /home".into()));
        let all = Guard::holding([Capability::Search]);
        assert!(worded(&all, &failed).contains("/home"));
        assert!(!worded(&all.within(["work"]), &failed).contains("/home"));
    }
}
