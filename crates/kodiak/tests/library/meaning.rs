//! Semantic and hybrid searches: which queries use the model, and how lexical and
//! semantic hits are combined.

use std::sync::Arc;

use kodiak::access::Guard;
use kodiak::rank::Fusion;
use kodiak::search::{Intent, Mode, Request, Router};

use crate::collection::{
    Collection, EVERY_MODE, ask, ask_in, assert_sound, paths, router_over, sorted, topics,
};
use crate::embedders::{Scripted, tiny};

fn embedded() -> Collection {
    let notes = topics();
    notes.sync_and_embed(&*tiny());
    notes
}

#[test]
fn enough_lexical_hits_need_no_model() {
    let notes = embedded();
    for number in 0..10 {
        notes.write(&format!("{number}.md"), "noodles again");
    }
    notes.sync_and_embed(&*tiny());
    let model = Scripted::tiny();
    let answer = notes.answer_with(&model, &ask("noodles"));
    assert_eq!((answer.intent, answer.total), (Intent::Keyword, 11));
    assert!(answer.hits.iter().all(|hit| hit.found_by == ["lexical"]));
    assert_eq!(answer.retrievers.semantic, None);
    assert_eq!(model.queries(), [] as [&str; 0]);
    // One more than there are lexical hits: now there is room.
    let request = Request {
        limit: 12,
        ..ask("noodles")
    };
    let answer = notes.answer_with(&model, &request);
    assert_eq!(model.queries(), ["noodles"]);
    assert_eq!(answer.hits.len(), 12);
    assert_eq!(answer.hits[11].path, "bread.md");
}

#[test]
fn too_few_lexical_hits_are_followed_by_semantic_hits_with_lower_scores() {
    let notes = embedded();
    let request = ask("noodles");
    let answer = notes.answer_with(&tiny(), &request);
    assert_sound(&answer, &request);
    assert_eq!(paths(&answer), ["ramen.md", "bread.md"]);
    assert_eq!(answer.total, 2);
    assert_eq!(answer.hits[0].found_by, ["lexical", "semantic"]);
    assert_eq!(answer.hits[1].found_by, ["semantic"]);
    assert!(answer.hits[1].score < answer.hits[0].score, "{answer:?}");
    // Also if the semantic-only hit is the nearer one.
    let notes = Collection::new(&[
        (
            "word.md",
            "noodles, taxes, mortgage, hotel, airport, guitar",
        ),
        ("meaning.md", "ramen broth soup"),
    ]);
    notes.sync_and_embed(&*tiny());
    let answer = notes.answer_with(&tiny(), &request);
    assert_eq!(paths(&answer), ["word.md", "meaning.md"]);
    assert!(answer.hits[1].similarity > answer.hits[0].similarity);
    assert!(answer.hits[1].score < answer.hits[0].score, "{answer:?}");
}

#[test]
fn required_clauses_turn_semantic_retrieval_off() {
    let notes = embedded();
    let model = Scripted::tiny();
    for (query, all) in [
        ("\"noodles\"", false),
        ("\"pork broth\"", false),
        ("noodles AND broth", false),
        ("noodles OR nothing", false),
        ("title:ramen", false),
        ("noodles", true),
        ("\"noodles in a pork broth\"", false),
    ] {
        let request = Request { all, ..ask(query) };
        let answer = notes.answer_with(&model, &request);
        assert_eq!(paths(&answer), ["ramen.md"], "{query}");
        assert_eq!(answer.hits[0].found_by, ["lexical"], "{query}");
        assert!(answer.notices.is_empty(), "{query}: {answer:?}");
    }
    assert_eq!(model.queries(), [] as [&str; 0]);
}

#[test]
fn each_mode_runs_its_retrievers() {
    let notes = embedded();
    for (mode, query, lexical, semantic, expected) in [
        (
            Mode::Lexical,
            "cook noodles dinner",
            Some("fts5"),
            false,
            vec!["ramen.md"],
        ),
        (
            Mode::Like,
            "oodles in a p",
            Some("like"),
            false,
            vec!["ramen.md"],
        ),
        (
            Mode::Hybrid,
            "noodles",
            Some("fts5"),
            true,
            vec!["ramen.md", "bread.md"],
        ),
        (
            Mode::Hybrid,
            "\"noodles\"",
            Some("fts5"),
            true,
            vec!["ramen.md"],
        ),
        (
            Mode::Semantic,
            "noodles",
            None,
            true,
            vec!["ramen.md", "bread.md"],
        ),
        (Mode::Semantic, "hike", None, true, vec!["travel/lisbon.md"]),
        (
            Mode::Auto,
            "hike abroad",
            Some("fts5"),
            true,
            vec!["travel/lisbon.md"],
        ),
    ] {
        let model = Scripted::tiny();
        let answer = notes.answer_with(&model, &ask_in(mode, query));
        assert_eq!(answer.retrievers.lexical.as_deref(), lexical, "{mode:?}");
        assert_eq!(answer.retrievers.semantic.is_some(), semantic, "{mode:?}");
        assert_eq!(!model.queries().is_empty(), semantic, "{mode:?} {query}");
        assert_eq!(
            sorted(paths(&answer)),
            sorted(owned(&expected)),
            "{mode:?} {query}"
        );
    }
}

#[test]
fn semantic_hits_are_ordered_by_similarity() {
    let notes = embedded();
    let answer = notes.answer_with(&tiny(), &ask_in(Mode::Semantic, "pork broth garlic"));
    assert_eq!(paths(&answer), ["ramen.md", "bread.md"]);
    assert!(answer.hits.iter().all(|hit| hit.found_by == ["semantic"]));
    assert!(answer.hits[0].similarity > answer.hits[1].similarity);
}

#[test]
fn required_and_excluded_words_hold_for_semantic_hits() {
    let notes = embedded();
    notes.write("soup.md", "# Soup\n\nOnion, butter and cheese.\n");
    notes.sync_and_embed(&*tiny());
    for (query, expected) in [
        (
            "cook noodles dinner",
            vec!["bread.md", "ramen.md", "soup.md"],
        ),
        ("cook noodles dinner -garlic", vec!["bread.md", "soup.md"]),
        ("cook noodles dinner -yeast -cheese", vec!["ramen.md"]),
        ("noodles -garlic", vec!["bread.md", "soup.md"]),
        ("title:sourdough cook noodles dinner", vec!["bread.md"]),
        ("tag:soup cook noodles dinner", vec!["ramen.md"]),
        ("\"warm oven\" cook dinner", vec!["bread.md"]),
        ("cook dinner NOT cheese", vec![]),
    ] {
        let answer = notes.answer_with(&tiny(), &ask(query));
        assert_eq!(sorted(paths(&answer)), expected, "{query}");
    }
    for query in ["noodles -garlic", "noodles NOT garlic"] {
        let found = notes.meant(&tiny(), query);
        assert!(
            !found.contains(&"ramen.md".to_owned()),
            "{query}: {found:?}"
        );
    }
}

#[test]
fn the_model_embeds_the_query_without_operators_and_excluded_words() {
    let notes = embedded();
    for (query, seen) in [
        ("  cook noodles dinner ", vec!["cook noodles dinner"]),
        ("cook noodles dinner -garlic", vec!["cook noodles dinner"]),
        ("title:sourdough cook dinner", vec!["sourdough cook dinner"]),
        (
            "cook nodles tonight",
            vec!["cook nodles tonight", "cook noodles tonight"],
        ),
        ("cook nodles -garlic", vec!["cook nodles", "cook noodles"]),
    ] {
        let model = Scripted::tiny();
        notes.answer_with(&model, &ask_in(Mode::Hybrid, query));
        assert_eq!(model.queries(), seen, "{query}");
    }
    let model = Scripted::tiny();
    let exact = Request {
        exact: true,
        ..ask("cook nodles tonight")
    };
    notes.answer_with(&model, &exact);
    assert_eq!(model.queries(), ["cook nodles tonight"]);
}

#[test]
fn the_corrected_query_is_embedded_too() {
    let notes = embedded();
    // "nodles" is out of the model's vocabulary; only the correction finds notes.
    let answer = notes.answer_with(&tiny(), &ask_in(Mode::Semantic, "nodles"));
    assert_eq!(answer.corrected.as_deref(), Some("noodles"));
    assert_eq!(paths(&answer), ["ramen.md", "bread.md"]);
}

#[test]
fn every_odd_query_is_answered_in_every_mode() {
    let notes = embedded();
    let pasted = "noodles and the museum ".repeat(1 << 20 >> 4);
    let store = notes.store();
    let router = router_over(&store, Guard::local());
    for query in [
        "",
        " ",
        "?!",
        "***",
        "\"",
        "\"\"",
        "-",
        "a",
        "👩‍🍳🍜",
        "🍜 🍜 🍜 🍜",
        "วันนี้กินข้าวผัดกับเพื่อน",
        "सुबह की चाय और किताब",
        "我今天想吃拉面",
        "\0\0\0",
        "noodles\0broth\0dinner",
        "%_%",
        "NEAR(",
        "title:",
        "- - -",
        "AND OR NOT",
        "xyzzy plugh qwerty",
        &pasted,
    ] {
        for mode in EVERY_MODE {
            for limit in [0, 1, 1_000, usize::MAX] {
                let request = Request {
                    mode,
                    limit,
                    explain: true,
                    query: query.to_owned(),
                    ..Request::default()
                };
                assert_sound(&router.search(&request).unwrap(), &request);
            }
        }
    }
}

#[test]
fn out_of_vocabulary_texts_are_near_nothing() {
    let notes = embedded();
    let answer = notes.answer_with(&tiny(), &ask_in(Mode::Semantic, "我今天想吃拉面"));
    assert_eq!(answer.retrievers.semantic, None);
    assert!(answer.notices.sentences()[0].contains("tiny knows none of these words"));
    assert_eq!((answer.total, answer.hits), (0, vec![]));
    // An out-of-vocabulary note is not found either.
    notes.write("zh.md", "# 拉面\n\n我今天想吃拉面\n");
    notes.sync_and_embed(&*tiny());
    assert_eq!(notes.meant(&tiny(), "noodles"), ["ramen.md", "bread.md"]);
}

#[test]
fn a_limit_bounds_the_hits() {
    let notes = Collection::new(&[]);
    for number in 0..300 {
        notes.write(&format!("{number}.md"), format!("noodles number {number}"));
    }
    notes.sync_and_embed(&*tiny());
    for mode in [Mode::Auto, Mode::Semantic, Mode::Hybrid] {
        for query in ["noodles", "cook noodles dinner"] {
            for (limit, expected) in [(1, 1), (1_000, 300)] {
                let request = Request {
                    limit,
                    ..ask_in(mode, query)
                };
                let answer = notes.answer_with(&tiny(), &request);
                assert_sound(&answer, &request);
                assert_eq!(answer.hits.len(), expected, "{mode:?} {query} {limit}");
            }
        }
    }
}

#[test]
fn an_explanation_has_lexical_and_semantic_evidence() {
    let notes = Collection::new(&[
        (
            "kitchen.md",
            "---\nkind: note\n---\n# Kitchen\n\n## Soups\n\nNoodles in a broth.\n",
        ),
        ("bread.md", "# Sourdough\n\nFlour and yeast.\n"),
        ("other.md", "# Money\n\nA dinner on the budget.\n"),
    ]);
    notes.sync_and_embed(&*tiny());
    for (fusion, name) in [(Fusion::Convex, "convex"), (Fusion::Rrf, "rrf")] {
        let request = Request {
            explain: true,
            fusion,
            ..ask("cook noodles dinner")
        };
        let answer = notes.answer_with(&tiny(), &request);
        assert_sound(&answer, &request);
        assert_eq!(answer.hits[0].path, "kitchen.md");
        let explained = answer.hits[0].explanation.clone().unwrap();
        assert_eq!(explained.lexical_rank, Some(1));
        assert!(explained.lexical_score > Some(0.0));
        assert_eq!(explained.terms.len(), 1);
        assert_eq!(explained.terms[0].documents, 1);
        assert!(explained.semantic_rank.is_some());
        assert_eq!(explained.similarity, answer.hits[0].similarity);
        // Lines of the file, frontmatter included.
        assert_eq!(explained.chunk_lines, Some([4, 8]));
        assert_eq!(explained.heading.as_deref(), Some("Kitchen"));
        assert_eq!(explained.fusion, Some(name));
        assert!(explained.fused_score.is_some());
        let bread = answer
            .hits
            .iter()
            .find(|hit| hit.path == "bread.md")
            .unwrap();
        let explained = bread.explanation.clone().unwrap();
        assert_eq!(
            (explained.lexical_rank, explained.lexical_score),
            (None, None)
        );
        assert!(explained.semantic_rank.is_some() && explained.terms.is_empty());
    }
    let alone = Request {
        explain: true,
        ..ask_in(Mode::Semantic, "noodles")
    };
    let answer = notes.answer_with(&tiny(), &alone);
    let explained = answer.hits[0].explanation.clone().unwrap();
    assert_eq!((explained.fusion, explained.fused_score), (None, None));
    assert_eq!(explained.semantic_rank, Some(1));
    assert!(
        notes.answer_with(&tiny(), &ask("noodles")).hits[0]
            .explanation
            .is_none()
    );
}

#[test]
fn similar_notes_share_a_topic() {
    let notes = embedded();
    let store = notes.store();
    let router = Router::new(&store, &[], Guard::local());
    let request = ask("");
    let answer = router
        .similar(&"ramen.md".parse().unwrap(), &request)
        .unwrap();
    assert_sound(&answer, &request);
    assert_eq!(answer.hits[0].path, "bread.md");
    assert!(!paths(&answer).contains(&"ramen.md".to_owned()));
    assert_eq!(answer.retrievers.semantic.as_deref(), Some("tiny"));
    // A note that is similar to nothing still gets a sound answer.
    let answer = router
        .similar(&"code/rust.md".parse().unwrap(), &request)
        .unwrap();
    assert_sound(&answer, &request);
    // A note without vectors is compared lexically.
    notes.write("pork.md", "# Pork\n\nPork with garlic.\n");
    notes.sync();
    let answer = router
        .similar(&"pork.md".parse().unwrap(), &request)
        .unwrap();
    assert_eq!(answer.hits[0].path, "ramen.md");
    assert_eq!(answer.retrievers.lexical.as_deref(), Some("fts5"));
}

#[test]
fn one_embedder_serves_many_searches_at_once() {
    let notes = embedded();
    let model = Scripted::tiny();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let answer = notes.answer_with(&Arc::clone(&model), &ask("cook noodles dinner"));
                assert_eq!(paths(&answer), ["ramen.md", "bread.md"], "{answer:?}");
            });
        }
    });
    assert_eq!(model.queries().len(), 8);
}

fn owned(paths: &[&str]) -> Vec<String> {
    paths.iter().map(|&path| path.to_owned()).collect()
}
