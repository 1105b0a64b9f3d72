//! The file that vectors are scanned from: whatever is wrong with it, answers
//! are right, and it is made again.

use std::sync::Arc;

use kodiak::access::Guard;
use kodiak::embed::{Embedder, Role};
use kodiak::search::{Mode, Request};
use kodiak::store::prelude::*;
use kodiak::store::{Filter, SqliteStore};
use kodiak::vector::{centroid, dot};

use crate::collection::{Collection, ask, ask_in, paths, router_over, topics};
use crate::embedders::tiny;

fn embedded() -> Collection {
    let notes = topics();
    notes.sync_and_embed(&*tiny());
    notes
}

#[test]
fn a_file_that_cannot_be_used_is_made_again() {
    let notes = embedded();
    let path = notes.vector_path();
    let sound = std::fs::read(&path).unwrap();
    let another = Collection::new(&[("a.md", "budget"), ("b.md", "guitar"), ("c.md", "ramen")]);
    another.sync_and_embed(&*tiny());
    let foreign = std::fs::read(another.vector_path()).unwrap();
    let mut changed = sound.clone();
    let last = changed.len() - 1;
    changed[last] ^= 0x55;
    for (damage, content) in [
        ("missing", None),
        ("empty", Some(vec![])),
        ("header only", Some(sound[..128].to_vec())),
        ("truncated", Some(sound[..sound.len() / 2].to_vec())),
        ("longer", Some([&sound[..], b"more"].concat())),
        ("garbage", Some(vec![0xa5; sound.len()])),
        ("changed", Some(changed)),
        ("foreign", Some(foreign)),
    ] {
        std::fs::remove_file(&path).unwrap();
        if let Some(content) = content {
            std::fs::write(&path, content).unwrap();
        }
        assert_eq!(
            notes.meant(&tiny(), "noodles"),
            ["ramen.md", "bread.md"],
            "{damage}"
        );
        assert_eq!(std::fs::read(&path).unwrap(), sound, "{damage}");
    }
}

#[test]
fn a_run_ends_with_a_file_that_lacks_little() {
    let notes = embedded();
    let size = || std::fs::metadata(notes.vector_path()).unwrap().len();
    let before = size();
    notes.write("one.md", "one more guitar");
    notes.sync_and_embed(&*tiny());
    assert_eq!(
        size(),
        before,
        "one vector is no reason to write all of them"
    );
    for number in 0..80 {
        notes.write(&format!("{number}.md"), format!("guitar number {number}"));
    }
    notes.sync_and_embed(&*tiny());
    assert!(size() > before);
}

#[test]
fn an_open_index_notices_what_others_embed() {
    let notes = embedded();
    let store = notes.store();
    let share = || store.coverage(&Filter::default()).unwrap().share();
    assert!((share() - 1.0).abs() < f64::EPSILON);
    notes.write("more.md", "one more guitar");
    notes.sync();
    assert!(share() < 1.0);
    notes.sync_and_embed(&*tiny());
    assert!((share() - 1.0).abs() < f64::EPSILON);
}

#[test]
fn what_a_document_says_overall_follows_its_changes() {
    let section = |words: &str| format!("## Part\n\n{}\n\n", words.repeat(120));
    let long = |parts: [&str; 3]| parts.map(section).concat();
    let notes = topics();
    notes.write(
        "long.md",
        long(["noodles broth ", "hotel ferry ", "inbox review "]),
    );
    notes.sync_and_embed(&*tiny());
    let query = tiny().embed_one("noodles", Role::Query).unwrap();
    let centroid_similarity = |store: &SqliteStore| {
        let found = store.with_path(None, "long.md", &Filter::default(), 2);
        let row = found.unwrap()[0].0;
        let vectors = store.vectors_of(row).unwrap();
        assert!(vectors.len() > 2, "{}", vectors.len());
        let request = Request {
            explain: true,
            ..ask_in(Mode::Semantic, "noodles")
        };
        let answer = router_over(store, Guard::local()).search(&request).unwrap();
        let hit = answer.hits.iter().find(|hit| hit.path == "long.md");
        let explained = hit.unwrap().explanation.as_ref().unwrap();
        let (centroid_similarity, nearest) = (
            explained.centroid_similarity.unwrap(),
            explained.similarity.unwrap(),
        );
        let expected = f64::from(dot(&centroid(&vectors).unwrap(), &query));
        assert!(
            (centroid_similarity - expected).abs() < 0.01,
            "{centroid_similarity} {expected}"
        );
        assert!(centroid_similarity < nearest, "{explained:?}");
        centroid_similarity
    };
    let before = centroid_similarity(&notes.store());
    // So little is new that the file is left as it is.
    notes.write(
        "long.md",
        long(["noodles broth ", "garlic pork ", "inbox review "]),
    );
    let file = std::fs::read(notes.vector_path()).unwrap();
    notes.sync_and_embed(&*tiny());
    assert_eq!(std::fs::read(notes.vector_path()).unwrap(), file);
    let after = centroid_similarity(&notes.store());
    assert!(after > before, "{after} {before}");
}

#[test]
fn a_file_that_breaks_under_an_open_store_is_made_again() {
    let notes = embedded();
    let store = notes.store();
    let router = router_over(&store, Guard::local());
    let meant = || paths(&router.search(&ask_in(Mode::Semantic, "noodles")).unwrap());
    assert_eq!(meant(), ["ramen.md", "bread.md"]);
    std::fs::remove_file(notes.vector_path()).unwrap();
    assert_eq!(meant(), ["ramen.md", "bread.md"]);
    std::fs::remove_file(notes.vector_path()).unwrap();
    std::fs::write(notes.vector_path(), "garbage").unwrap();
    assert_eq!(meant(), ["ramen.md", "bread.md"]);
    assert!(std::fs::metadata(notes.vector_path()).unwrap().len() > 100);
}

#[test]
fn what_cannot_be_written_is_kept_in_memory() {
    let notes = embedded();
    std::fs::remove_file(notes.vector_path()).unwrap();
    std::fs::create_dir(notes.vector_path()).unwrap();
    std::fs::write(notes.vector_path().join("in the way"), "").unwrap();
    assert_eq!(notes.meant(&tiny(), "noodles"), ["ramen.md", "bread.md"]);
    notes.write("soup.md", "# Soup\n\nOnion and butter.\n");
    assert_eq!(notes.sync_and_embed(&*tiny()).embedded, 1);
    assert_eq!(notes.meant(&tiny(), "noodles").len(), 3);
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_to_is_searched() {
    use std::os::unix::fs::PermissionsExt;
    let notes = embedded();
    std::fs::remove_file(notes.vector_path()).unwrap();
    let folder = notes.index_path().parent().unwrap().to_path_buf();
    let mode = |mode| std::fs::set_permissions(&folder, PermissionsExt::from_mode(mode)).unwrap();
    mode(0o500);
    // The superuser writes everywhere, and there is nothing to see.
    let superuser = std::fs::write(folder.join("probe"), "").is_ok();
    let answer = notes.answer_with(&tiny(), &ask("cook noodles dinner"));
    let written = notes.vector_path().exists();
    mode(0o700);
    assert_eq!(paths(&answer), ["ramen.md", "bread.md"]);
    assert_eq!(written, superuser);
}

#[test]
fn what_was_removed_or_changed_later_is_not_found_as_it_was() {
    let notes = embedded();
    let file = std::fs::read(notes.vector_path()).unwrap();
    notes.remove("bread.md");
    notes.write("ramen.md", "# Budget\n\nSavings, taxes and a pension.\n");
    notes.sync();
    // No longer what it was, and not embedded as what it is.
    for query in ["noodles", "pension"] {
        let answer = notes.answer_with(&tiny(), &ask_in(Mode::Semantic, query));
        assert_eq!((answer.total, answer.hits), (0, vec![]), "{query}");
    }
    assert_eq!(notes.embed(&*tiny(), None).embedded, 1);
    assert_eq!(notes.meant(&tiny(), "noodles"), [] as [&str; 0]);
    assert_eq!(notes.meant(&tiny(), "pension"), ["ramen.md"]);
    // So few changes are not a reason to write the file again.
    assert_eq!(std::fs::read(notes.vector_path()).unwrap(), file);
}

#[test]
fn what_was_embedded_later_is_found() {
    let notes = embedded();
    let file = std::fs::read(notes.vector_path()).unwrap();
    notes.write("soup.md", "# Soup\n\nNoodles, noodles, noodles.\n");
    notes.sync_and_embed(&*tiny());
    assert_eq!(std::fs::read(notes.vector_path()).unwrap(), file);
    assert_eq!(notes.meant(&tiny(), "noodles")[0], "soup.md");
    // A filter holds for it as well.
    let mut request = ask_in(Mode::Semantic, "noodles");
    request.filter.tags = vec!["baking".into()];
    assert_eq!(paths(&notes.answer_with(&tiny(), &request)), ["bread.md"]);
    // A note found by word has its similarity from there too.
    let answer = notes.answer_with(&tiny(), &ask_in(Mode::Hybrid, "onion noodles"));
    let soup = answer
        .hits
        .iter()
        .find(|hit| hit.path == "soup.md")
        .unwrap();
    assert!(soup.similarity > Some(0.5), "{soup:?}");
}

#[test]
fn what_is_gone_takes_no_places_from_what_is_there() {
    let notes = embedded();
    for number in 0..500 {
        notes.write(&format!("many/{number}.md"), "noodles noodles");
    }
    notes.sync_and_embed(&*tiny());
    std::fs::remove_file(notes.vector_path()).unwrap();
    assert_eq!(notes.meant(&tiny(), "noodles").len(), 10);
    std::fs::remove_dir_all(notes.root().join("many")).unwrap();
    assert_eq!(notes.sync().removed, 500);
    for limit in [1, 10] {
        for query in ["noodles", "cook noodles dinner"] {
            let request = Request {
                limit,
                ..ask_in(Mode::Semantic, query)
            };
            let found = paths(&notes.answer_with(&tiny(), &request));
            assert_eq!(found, ["ramen.md", "bread.md"][..limit.min(2)], "{query}");
        }
    }
    assert_eq!(paths(&notes.answer_with(&tiny(), &ask("dinner"))).len(), 2);
}

#[test]
fn a_store_that_holds_the_old_file_answers_from_the_index_as_it_is() {
    let notes = embedded();
    let store = notes.store();
    let router = router_over(&store, Guard::local());
    let meant = |query| paths(&router.search(&ask_in(Mode::Semantic, query)).unwrap());
    assert_eq!(meant("noodles"), ["ramen.md", "bread.md"]);
    // Replaced while a search is on its way, several times.
    let replacing = Arc::new(std::sync::atomic::AtomicBool::new(true));
    std::thread::scope(|scope| {
        let running = Arc::clone(&replacing);
        let notes = &notes;
        scope.spawn(move || {
            while running.load(std::sync::atomic::Ordering::Relaxed) {
                let _ = std::fs::remove_file(notes.vector_path());
                assert_eq!(notes.meant(&tiny(), "hotel"), ["travel/lisbon.md"]);
            }
        });
        for _ in 0..100 {
            assert_eq!(meant("noodles"), ["ramen.md", "bread.md"]);
        }
        replacing.store(false, std::sync::atomic::Ordering::Relaxed);
    });
    notes.remove("ramen.md");
    notes.sync();
    std::fs::remove_file(notes.vector_path()).unwrap();
    assert_eq!(notes.meant(&tiny(), "noodles"), ["bread.md"]);
    assert_eq!(meant("noodles"), ["bread.md"]);
    // No half-made file is left lying about.
    let folder = std::fs::read_dir(notes.index_path().parent().unwrap()).unwrap();
    let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let unfinished: Vec<String> = names.filter(|name| name.starts_with(".kodiak-")).collect();
    assert_eq!(unfinished, [] as [&str; 0]);
}

/// Returns the text of a section of a long note, of words that a number decides about.
fn section(number: usize) -> String {
    let words = [
        "noodles", "broth", "garlic", "pork", "dinner", "hotel", "ferry", "inbox", "review",
        "guitar", "budget", "onion",
    ];
    let chosen = (0..150).map(|at| words[(at * at * (number + 3) + at * number) % words.len()]);
    let chosen: Vec<&str> = chosen.collect();
    format!("## Part {number}\n\n{}\n\n", chosen.join(" "))
}

#[test]
fn answers_do_not_depend_on_what_the_file_lacks() {
    let notes = embedded();
    for number in 0..12 {
        let sections: Vec<String> = (0..5).map(|part| section(number * 5 + part)).collect();
        notes.write(&format!("long/{number}.md"), sections.concat());
    }
    notes.sync_and_embed(&*tiny());
    std::fs::remove_file(notes.vector_path()).unwrap();
    assert_eq!(notes.meant(&tiny(), "noodles").len(), 10);
    // Some are changed, some are new, and some are gone, too few to write the file again.
    let written = std::fs::read(notes.vector_path()).unwrap();
    for number in [1, 4, 7, 20, 21] {
        let sections: Vec<String> = (0..5).map(|part| section(number * 5 + part + 1)).collect();
        notes.write(&format!("long/{number}.md"), sections.concat());
    }
    notes.remove("long/2.md");
    notes.sync_and_embed(&*tiny());
    assert_eq!(std::fs::read(notes.vector_path()).unwrap(), written);
    let answers = || {
        let mut answers = Vec::new();
        for query in [
            "noodles broth",
            "guitar budget",
            "hotel",
            "onion review dinner",
        ] {
            for mode in [Mode::Semantic, Mode::Hybrid] {
                for limit in [2, 30] {
                    let request = Request {
                        explain: true,
                        limit,
                        ..ask_in(mode, query)
                    };
                    let answer = notes.answer_with(&tiny(), &request);
                    let hits = answer.hits.iter().map(|hit| {
                        (
                            hit.path.clone(),
                            hit.score,
                            hit.similarity,
                            hit.explanation.clone(),
                        )
                    });
                    answers.push((
                        query,
                        answer.total,
                        format!("{:#?}", hits.collect::<Vec<_>>()),
                    ));
                }
            }
        }
        answers
    };
    let beside = answers();
    std::fs::remove_file(notes.vector_path()).unwrap();
    let inside = answers();
    assert_ne!(std::fs::read(notes.vector_path()).unwrap(), written);
    for (one, other) in beside.iter().zip(&inside) {
        assert_eq!(one, other);
    }
}
