use super::*;
use crate::access::Capability;

#[test]
fn sentences_count() {
    let changed = |count, reason| Caveat::ChangesNotIndexed { count, reason }.to_string();
    assert_eq!(
        changed(1, NotIndexed::TooMuch),
        "1 note changed and is not indexed yet; index again"
    );
    assert_eq!(
        changed(3, NotIndexed::Failed("the disk is full".to_owned())),
        "3 notes changed and are not indexed yet: the disk is full"
    );
}

#[test]
fn a_replica_says_how_far_it_is_behind() {
    let replica = |at_most: Option<u64>| Caveat::ReadFromReplica {
        at_most: at_most.map(Duration::from_millis),
    };
    for (at_most, said) in [
        (Some(0), "which is 0 s behind what has reached it"),
        (Some(1), "up to 1 s behind"),
        (Some(119_001), "up to 2 minutes behind"),
        (Some(10_800_000), "up to 3 hours behind"),
        (None, "may be behind"),
    ] {
        let caveat = replica(at_most);
        assert!(caveat.to_string().ends_with(said), "{caveat}");
        assert_eq!(caveat.is_incomplete(), at_most != Some(0));
    }
    // What others write does not show in a scope.
    let scoped = Guard::holding([Capability::Search]).in_project("atlas");
    assert_eq!(replica(Some(0)).told_to(&scoped), replica(None));
    assert_eq!(replica(Some(7)).told_to(&scoped), replica(None));
}

#[test]
fn a_scope_bounds_what_is_told() {
    let path = || "could not read /home/ada/notes".to_owned();
    let source = || "work".to_owned();
    let caveats = [
        Caveat::SourceNotSynced {
            source: source(),
            reason: path(),
        },
        Caveat::SourceMissing { source: source() },
        Caveat::SourceNeverSynced { source: source() },
        Caveat::SourceUnreadable { source: source() },
        Caveat::EntriesUnreadable {
            source: source(),
            count: 2,
        },
        Caveat::FullTextFailed {
            detail: path(),
            matched_literally: true,
        },
        Caveat::SemanticUnavailable(SemanticAbsence::NoModel(path())),
        Caveat::SemanticUnavailable(SemanticAbsence::Failed(path())),
        Caveat::ChangesNotLookedFor(NotLookedFor::Failed(path())),
        Caveat::ChangesNotLookedFor(NotLookedFor::Unsupported(source())),
        Caveat::ChangesNotIndexed {
            count: 2,
            reason: NotIndexed::Failed(path()),
        },
        Caveat::QueryTruncated { words: 3 },
    ];
    let said = |guard: &Guard| {
        let told = caveats.iter().map(|one| one.clone().told_to(guard));
        told.map(|one| one.to_string())
            .collect::<Vec<_>>()
            .join("\n")
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
