//! Filters and guards: they hold for lexical and semantic retrieval and for every
//! count.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use kodiak::access::{Capability, Guard};
use kodiak::analysis::links::LinkTarget;
use kodiak::rank::Corpus;
use kodiak::search::{Answer, Mode, Request, Router};
use kodiak::source::KnownEntry;
use kodiak::store::vectors::Bitmap;
use kodiak::store::{
    Answers, Contents, Coverage, Documents, EmbeddingProgress, EmbeddingStatus, Entries, EntryRow,
    EntryState, Expression, Filter, Finding, KnownDocument, Lexical, LinkMatch, Links, Maintenance,
    Matches, Meant, Name, Names, Phrase, Questions, Ranking, Revision, Row, Selection, Serving,
    SourceStatus, Sources, State, Terms, VectorIndex, Vectors, Visit, VisitOrder, Vocabulary,
    Wanted,
};
use kodiak::text::Stemming;
use kodiak::{Cancel, Error, Result, Version, date, sync};
use kodiak_notes::MarkdownFolder;
use kodiak_notes::markdown::FolderOptions;

use crate::collection::{
    Collection, EVERY_MODE, ask, ask_in, assert_sound, paths, router_over, sorted, topics,
};
use crate::embedders::{Scripted, tiny};

/// The modes that rank, lexically, semantically or both.
const RANKED: [Mode; 4] = [Mode::Auto, Mode::Lexical, Mode::Semantic, Mode::Hybrid];

#[test]
fn filters_hold_for_lexical_and_semantic_retrieval() {
    let notes = topics();
    notes.write(
        "old.md",
        "---\ncreated: 2001-02-03\nupdated: 2001-02-04\nkind: recipe\ncategory: food\n---\n# Stew\n\nNoodles and onion.\n",
    );
    notes.write("kitchen/tofu.md", "# Tofu\n\nNoodles and soy.\n");
    notes.sync_and_embed(&*tiny());
    let moment = |text| Some(date::parse(text).unwrap());
    let of = |text: &str| vec![text.to_owned()];
    let all = Filter::default();
    for (filter, by_word, by_meaning) in [
        (
            all.clone(),
            vec!["kitchen/tofu.md", "old.md", "ramen.md"],
            vec!["bread.md", "kitchen/tofu.md", "old.md", "ramen.md"],
        ),
        (
            Filter {
                tags: of("soup"),
                ..all.clone()
            },
            vec!["ramen.md"],
            vec!["ramen.md"],
        ),
        (
            Filter {
                paths: of("kitchen/"),
                ..all.clone()
            },
            vec!["kitchen/tofu.md"],
            vec!["kitchen/tofu.md"],
        ),
        (
            Filter {
                before: moment("2002-01-01"),
                ..all.clone()
            },
            vec!["old.md"],
            vec!["old.md"],
        ),
        (
            Filter {
                after: moment("2002-01-01"),
                ..all.clone()
            },
            vec!["kitchen/tofu.md", "ramen.md"],
            vec!["bread.md", "kitchen/tofu.md", "ramen.md"],
        ),
        (
            Filter {
                kinds: of("recipe"),
                ..all.clone()
            },
            vec!["old.md"],
            vec!["old.md"],
        ),
        (
            Filter {
                sources: of("elsewhere"),
                ..all.clone()
            },
            vec![],
            vec![],
        ),
    ] {
        for mode in RANKED {
            for query in ["noodles", "cook noodles dinner"] {
                let request = Request {
                    filter: filter.clone(),
                    ..ask_in(mode, query)
                };
                let answer = notes.answer_with(&tiny(), &request);
                assert_sound(&answer, &request);
                let expected = match mode {
                    Mode::Lexical => &by_word,
                    _ => &by_meaning,
                };
                assert_eq!(&sorted(paths(&answer)), expected, "{request:?}");
                assert_eq!(answer.total, expected.len(), "{request:?}");
            }
        }
    }
}

/// A filter applies before the nearest neighbours are chosen, not afterwards.
#[test]
fn a_filter_finds_what_is_far_down_the_whole_ranking() {
    let notes = Collection::new(&[("far.md", "---\ntags: [far]\n---\nnoodles, hotel, airport\n")]);
    for number in 0..400 {
        notes.write(&format!("{number}.md"), format!("noodles {number}"));
    }
    notes.sync_and_embed(&*tiny());
    let request = Request {
        filter: Filter {
            tags: vec!["far".into()],
            ..Filter::default()
        },
        ..ask_in(Mode::Semantic, "ramen")
    };
    assert_eq!(paths(&notes.answer_with(&tiny(), &request)), ["far.md"]);
}

/// Returns an index of two sources: "open", and "secret" with words of its own.
fn two_sources() -> Collection {
    let notes = Collection::new(&[
        ("open/ramen.md", "# Ramen\n\nNoodles in a broth.\n"),
        ("open/bread.md", "# Sourdough\n\nFlour and yeast.\n"),
        (
            "secret/soup.md",
            "# Zanzibar soup\n\nNoodles of zanzibar with garlic.\n",
        ),
        (
            "secret/stew.md",
            "# Zanzibar stew\n\nNoodles, onion and unembeddable butter.\n",
        ),
    ]);
    for name in ["open", "secret"] {
        let root = notes.root().join(name);
        let source = MarkdownFolder::new(name, &root, FolderOptions::default()).unwrap();
        sync::sync(&mut notes.writer(), &source, &Cancel::new(), &mut |_| {}).unwrap();
    }
    notes.embed(&*Scripted::tiny_failing_on("unembeddable"), None);
    notes
}

fn assert_tells_nothing(answer: &Answer) {
    // The caller knows the query already.
    let answer = Answer {
        query: String::new(),
        ..answer.clone()
    };
    let told = serde_json::to_string(&answer).unwrap();
    for secret in [
        "secret",
        "anzibar stew",
        "anzibar soup",
        "soup.md",
        "stew.md",
    ] {
        assert!(!told.contains(secret), "{secret} in {told}");
    }
}

#[test]
fn documents_outside_the_scope_are_neither_found_nor_counted() {
    let notes = two_sources();
    let store = notes.store();
    let router = |guard| router_over(&store, guard);
    let scoped = router(Guard::local().within(["open"]));
    for mode in EVERY_MODE {
        for query in [
            "noodles",
            "cook noodles dinner",
            "garlic",
            "butter onion garlic",
            "*",
            "-flour",
        ] {
            let request = Request {
                explain: true,
                ..ask_in(mode, query)
            };
            let answer = scoped.search(&request).unwrap();
            assert_sound(&answer, &request);
            assert_tells_nothing(&answer);
            assert!(answer.total <= 2, "{answer:?}");
            for hit in &answer.hits {
                for term in &hit.explanation.as_ref().unwrap().terms {
                    assert_eq!(term.documents, 1, "{answer:?}");
                }
            }
            if answer.retrievers.semantic.is_some() {
                assert!((answer.embedded - 1.0).abs() < f64::EPSILON, "{answer:?}");
            }
        }
    }
    // A caller who may see everything is told that some of it is not embedded.
    let answer = router(Guard::local())
        .search(&ask("cook noodles dinner"))
        .unwrap();
    assert_eq!((answer.total, answer.notices.sentences().len()), (4, 1));
    assert!((answer.embedded - 0.75).abs() < 1e-9);
}

#[test]
fn words_and_names_outside_the_scope_are_not_suggested() {
    let notes = two_sources();
    let store = notes.store();
    let router = |guard| router_over(&store, guard);
    let scoped = router(Guard::local().within(["open"]));
    let local = router(Guard::local());
    for mode in RANKED {
        for query in ["zanzibra", "zanzibar stew", "soup.md"] {
            assert_tells_nothing(&scoped.search(&ask_in(mode, query)).unwrap());
        }
        let answer = scoped.search(&ask_in(mode, "zanzibra")).unwrap();
        assert_eq!(answer.corrected, None);
    }
    assert_eq!(
        local.spelling("zanzibra").unwrap().as_deref(),
        Some("zanzibar")
    );
    assert_eq!(scoped.spelling("zanzibra").unwrap(), None);
    for reference in [
        "soup.md",
        "secret/soup.md",
        "kodiak://secret/soup.md",
        "Zanzibar soup",
    ] {
        let reference = reference.parse().unwrap();
        local.get(&reference).unwrap();
        let refusals = [
            scoped.get(&reference).unwrap_err(),
            scoped.similar(&reference, &ask("")).unwrap_err(),
        ];
        for refused in refusals {
            match refused {
                Error::NoDocument { suggestions, .. } => {
                    assert!(!suggestions.concat().contains("secret"), "{suggestions:?}");
                }
                other => panic!("{other}"),
            }
        }
    }
    let id = local.search(&ask("title:soup")).unwrap().hits[0].id.clone();
    assert!(scoped.get(&id.parse().unwrap()).is_err());
    let alike = scoped
        .similar(&"ramen.md".parse().unwrap(), &ask(""))
        .unwrap();
    assert_eq!(paths(&alike), ["bread.md"]);
    assert_tells_nothing(&alike);
}

#[test]
fn a_filter_does_not_widen_the_scope() {
    let notes = two_sources();
    let store = notes.store();
    for (scope, wish) in [(vec!["open"], "secret"), (vec![], "open"), (vec![], "")] {
        let guard = Guard::local().within(scope);
        let router = router_over(&store, guard);
        for mode in EVERY_MODE {
            for query in ["noodles", "cook noodles dinner", "*"] {
                let request = Request {
                    filter: Filter {
                        sources: Some(wish.to_owned())
                            .into_iter()
                            .filter(|wish| !wish.is_empty())
                            .collect(),
                        ..Filter::default()
                    },
                    ..ask_in(mode, query)
                };
                let answer = router.search(&request).unwrap();
                assert_eq!((answer.total, answer.hits.len()), (0, 0), "{request:?}");
                assert_tells_nothing(&answer);
            }
        }
    }
}

/// A store that must not be read.
struct Untouchable;

/// Implements methods that panic.
macro_rules! untouchable {
    ($($name:ident ( $($type:ty),* ) -> $result:ty;)*) => {
        $(fn $name(&self, $(_: $type),*) -> Result<$result> {
            panic!("{} was called", stringify!($name))
        })*
    };
}

impl State for Untouchable {
    fn stemming(&self) -> Stemming {
        panic!("stemming was asked for")
    }

    fn end_snapshot(&self) {
        panic!("end_snapshot was called")
    }

    untouchable! {
        begin_snapshot() -> ();
        revision() -> Revision;
    }
}

impl Maintenance for Untouchable {
    fn is_current(&self) -> bool {
        panic!("is_current was called")
    }

    untouchable! {
        format() -> u32;
        examine() -> Vec<Finding>;
    }
}

impl Documents for Untouchable {
    untouchable! {
        read(&Wanted) -> Contents;
    }
}

impl Selection for Untouchable {
    untouchable! {
        newest(&Filter, Option<&Expression>, usize) -> Matches;
        rows(&Filter, Option<&Expression>, Option<&Expression>) -> Bitmap;
    }
}

impl Names for Untouchable {
    untouchable! {
        with_id_prefix(&str, &Filter, usize) -> Vec<Name>;
        with_path(Option<&str>, &str, &Filter, usize) -> Vec<Name>;
        with_title(&str, &Filter, usize) -> Vec<Name>;
        each_name(&Filter, &mut dyn FnMut(Name)) -> ();
    }
}

impl Terms for Untouchable {
    untouchable! {
        corpus() -> Corpus;
    }
}

impl Vocabulary for Untouchable {
    untouchable! {
        consult(&Questions, &Filter, &mut Visit<'_>) -> Answers;
        vocabulary_size() -> u64;
    }
}

impl Lexical for Untouchable {
    untouchable! {
        ranked(&Ranking<'_>, &Filter) -> Matches;
        count(&Expression, &Filter) -> u64;
        containing(&[String], &[Vec<String>], &Filter, usize) -> Matches;
    }
}

impl Links for Untouchable {
    untouchable! {
        linked(&[Phrase], &Filter) -> Vec<LinkMatch>;
        meant(Row, &[LinkTarget], &Filter) -> Vec<Meant>;
        linking(Row, &Filter) -> Vec<Row>;
    }
}

impl Vectors for Untouchable {
    untouchable! {
        vectors() -> Option<Arc<dyn VectorIndex>>;
    }
}

impl EmbeddingProgress for Untouchable {
    untouchable! {
        serving() -> Option<Serving>;
        coverage(&Filter) -> Coverage;
        coverage_by(&str) -> Coverage;
        embedding_status() -> EmbeddingStatus;
    }
}

impl Sources for Untouchable {
    untouchable! {
        sources() -> Vec<SourceStatus>;
        locations(&Filter) -> Vec<(String, String)>;
        containers(&str) -> HashMap<String, Version>;
        documents_of_source(&str) -> u64;
    }
}

impl Entries for Untouchable {
    untouchable! {
        entry_states(&str) -> HashMap<String, EntryState>;
        entry_state(&str, &str) -> Option<EntryState>;
        each_entry_by_age(&str, VisitOrder, &mut dyn FnMut(KnownEntry<'_>) -> ControlFlow<()>) -> ();
        documents_of_entry(EntryRow) -> Vec<KnownDocument>;
    }
}

#[test]
fn a_request_is_refused_before_store_or_model_is_used() {
    let model = Scripted::tiny();
    let router = |held: &[Capability]| {
        Router::new(&Untouchable, &[], Guard::holding(held.iter().copied()))
            .with_embedder(Some(model.clone()))
    };
    let missing = |outcome: Result<()>| match outcome {
        Err(Error::NotAllowed { capability }) => capability,
        other => panic!("{other:?}"),
    };
    let reference = "note.md".parse().unwrap();
    let others = [Capability::Read, Capability::Write, Capability::Admin];
    for held in [&[][..], &others[..]] {
        for mode in EVERY_MODE {
            let refused = router(held).search(&ask_in(mode, "cook noodles dinner"));
            assert_eq!(missing(refused.map(drop)), "search");
        }
        assert_eq!(missing(router(held).spelling("nodles").map(drop)), "search");
        let refused = router(held).similar(&reference, &ask(""));
        assert_eq!(missing(refused.map(drop)), "search");
    }
    let searcher = router(&[Capability::Search]);
    assert_eq!(missing(searcher.get(&reference).map(drop)), "read");
    assert_eq!(
        missing(searcher.similar(&reference, &ask("")).map(drop)),
        "read"
    );
    assert_eq!(model.queries(), [] as [&str; 0]);
}
