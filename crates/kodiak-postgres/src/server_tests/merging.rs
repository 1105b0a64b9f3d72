//! Merging beside writers: they do not wait for it, it replaces only what has not changed, and
//! one that is killed leaves nothing.

use std::time::{Duration, Instant};

use super::erased::alone;
use super::{Own, documents, save, segments, servers, try_save};
use crate::PostgresIndex;
use crate::live::LiveSegment;
use crate::merging::{Merged, Which, due};
use kodiak_store::Store;
use kodiak_store::prelude::*;
use std::sync::Arc;

/// The number of segments that are merged.
const FAN: usize = 8;

/// Writes a document for each segment, without merging.
fn fill(own: &Own) {
    for number in 0..FAN {
        // Each has a page of words that only it has.
        let own_words: Vec<String> = (0..700).map(|word| format!("w{number}x{word}")).collect();
        let text = format!("bear and honey {}", own_words.join(" "));
        // One that ends merges what is due.
        let index = PostgresIndex::new(own.address.clone());
        if number + 1 < FAN {
            save(&index, &format!("{number}.md"), &text);
        } else {
            // The last one is written to the index of the test, whose thread is kept from it.
            own.index.shared.merger.stop();
            save(&own.index, &format!("{number}.md"), &text);
        }
    }
    assert_eq!(segments(&own.index), FAN);
}

fn group(own: &Own) -> Vec<Arc<LiveSegment>> {
    let reader = own.index.open().unwrap();
    let _hold = reader.hold();
    due(&reader.live().unwrap(), Which::Due).pop().unwrap()
}

/// Checks that the index has these documents with the word, and is sound.
fn assert_whole(own: &Own, count: u64, with_bear: u64) {
    // A server that has seen nothing yet.
    let index = PostgresIndex::new(own.address.clone());
    assert_eq!(documents(&index), count);
    let reader = index.open().unwrap();
    assert_eq!(reader.document_frequencies(&["bear"]).unwrap(), [with_bear]);
    assert_eq!(reader.examine().unwrap(), []);
    drop(reader);
    // And the one that has seen all of it.
    assert_eq!(documents(&own.index), count);
    let reader = own.index.open().unwrap();
    assert_eq!(reader.document_frequencies(&["bear"]).unwrap(), [with_bear]);
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn writers_do_not_wait_for_a_merge() {
    for own in servers() {
        fill(&own);
        let group = group(&own);
        let (mut pages, mut longest) = (0, Duration::ZERO);
        let merged = own.index.shared.merge_group(&group, &mut || {
            pages += 1;
            let begun = Instant::now();
            // Another server, and this one.
            save(
                &PostgresIndex::new(own.address.clone()),
                &format!("other{pages}.md"),
                "bear",
            );
            save(&own.index, &format!("own{pages}.md"), "bear");
            longest = longest.max(begun.elapsed());
        });
        assert_eq!(merged.unwrap(), Merged::Replaced);
        assert!(pages > 1, "{pages}");
        // Those who wait for a lock fail after ten seconds.
        assert!(longest < Duration::from_secs(10), "{longest:?}");
        assert_eq!(segments(&own.index), 1 + 2 * pages);
        let all = (FAN + 2 * pages) as u64;
        assert_whole(&own, all, all);
        // Documents written during the merge can be changed, and so can merged ones.
        save(&own.index, "0.md", "honey");
        save(&own.index, "own1.md", "honey");
        assert_whole(&own, all, all - 2);
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn a_merge_of_segments_that_change_is_dropped() {
    for own in servers() {
        fill(&own);
        let before = group(&own);
        let mut is_first = true;
        let merged = own.index.shared.merge_group(&before, &mut || {
            if std::mem::take(&mut is_first) {
                save(&own.index, "3.md", "no longer here");
            }
        });
        assert_eq!(merged.unwrap(), Merged::Dropped);
        assert_eq!(segments(&own.index), FAN + 1);
        let all = FAN as u64;
        assert_whole(&own, all, all - 1);
        // The segments as they are now.
        let merged = own.index.shared.merge_group(&group(&own), &mut || {});
        assert_eq!(merged.unwrap(), Merged::Replaced);
        assert!(segments(&own.index) <= 2);
        assert_whole(&own, all, all - 1);
        // What is not there any more.
        let merged = own.index.shared.merge_group(&before, &mut || {});
        assert_eq!(merged.unwrap(), Merged::Dropped);
        assert_whole(&own, all, all - 1);
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn a_merge_that_is_killed_leaves_nothing() {
    for own in servers() {
        fill(&own);
        let before = group(&own);
        let killed = own.index.shared.merge_group(&before, &mut || {
            own.end_locks("merging");
        });
        killed.unwrap_err();
        assert_eq!(segments(&own.index), FAN);
        assert_whole(&own, FAN as u64, FAN as u64);
        let merged = own.index.shared.merge_group(&before, &mut || {});
        assert_eq!(merged.unwrap(), Merged::Replaced);
        assert_eq!(segments(&own.index), 1);
        assert_whole(&own, FAN as u64, FAN as u64);
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn one_process_merges_and_a_purge_ends_it() {
    // A snapshot in another database keeps nothing of this one.
    for alone in alone("merging") {
        let own = &alone.own;
        fill(own);
        let before = group(own);
        let other = PostgresIndex::new(own.address.clone());
        let mut pages = 0;
        let merged = own.index.shared.merge_group(&before, &mut || {
            pages += 1;
            if pages == 1 {
                let again = other.shared.merge_group(&before, &mut || {});
                assert_eq!(again.unwrap(), Merged::Elsewhere);
                try_save(&other, "secret.md", "zanzibar").unwrap();
                let mut writer = other.writer("test").unwrap();
                let secret = [("notes".to_owned(), "secret.md".to_owned())];
                assert_eq!(writer.erase(&secret, &mut |_| {}).unwrap(), 1);
            }
        });
        // It does not go on to its end: the server would keep what was erased for it.
        assert_eq!((merged.unwrap(), pages), (Merged::Dropped, 1));
        other.writer("test").unwrap().empty_log().unwrap();
        assert_whole(own, FAN as u64, FAN as u64);
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn segments_stay_few_even_if_nothing_merges_beside_writers() {
    for own in servers() {
        own.index.shared.merger.stop();
        let mut most = 0;
        for number in 0..40 {
            save(&own.index, &format!("{number}.md"), "bear and honey");
            most = most.max(segments(&own.index));
        }
        assert!((4 * FAN..4 * FAN + 2).contains(&most), "{most}");
        assert!(segments(&own.index) < 2 * FAN);
        assert_whole(&own, 40, 40);
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn a_process_that_ends_has_merged() {
    for own in servers() {
        for number in 0..2 * FAN {
            let index = PostgresIndex::new(own.address.clone());
            save(&index, &format!("{number}.md"), "bear and honey");
            drop(index);
            assert!(segments(&own.index) <= FAN);
        }
        let all = 2 * FAN as u64;
        assert_whole(&own, all, all);
    }
}
