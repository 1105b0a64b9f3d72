use proptest::prelude::*;

use super::*;
use crate::document::Thread;

const POLICY: &str = "Remote work is allowed on 3 days a week. Whoever works from another \
    country asks the legal team at least four weeks before the journey. Laptops are locked \
    whenever nobody sits in front of them, and passwords stay in the vault. Expenses above the \
    limit need a receipt, the name of the customer and the signature of the head of department.";

fn document(title: &str, body: &str) -> StoredDocument {
    StoredDocument {
        row: 0,
        uid: String::new(),
        short_id: String::new(),
        source: "notes".to_owned(),
        key: title.to_owned(),
        kind: "note".to_owned(),
        title: title.to_owned(),
        category: None,
        tags: Vec::new(),
        created_at: None,
        updated_at: 0,
        markup: crate::document::Markup::default(),
        thread: None,
        author: None,
        project: None,
        hash: [0; 32],
        front: String::new(),
        body: body.to_owned(),
    }
}

/// Reports whether the second of two documents is a copy of the first.
fn collapses(one: StoredDocument, other: &StoredDocument) -> bool {
    collapses_as(one, other, false)
}

fn collapses_as(one: StoredDocument, other: &StoredDocument, memories: bool) -> bool {
    let mut originals = Originals::new(Stemming::default());
    assert_eq!(originals.find(&one, memories), None);
    originals.add(one, 0, memories);
    originals.find(other, memories) == Some(0)
}

#[test]
fn a_memory_may_be_restated_in_another_order() {
    let fact = "The staging database password rotates every Friday.";
    for (copies, other) in [
        (
            true,
            "Every Friday, the password of the staging database rotates.",
        ),
        (
            true,
            "Remember: the staging database password rotates on Fridays.",
        ),
        (
            false,
            "The production database password rotates every Friday.",
        ),
        (
            false,
            "The staging database password never rotates on Friday.",
        ),
        (
            false,
            "The staging database password rotates every 2nd Friday.",
        ),
        (
            false,
            "The first staging database password rotates every Friday.",
        ),
        (false, "The staging password."),
    ] {
        let (one, other) = (document("", fact), document("", other));
        assert_eq!(collapses_as(one, &other, true), copies, "{other:?}");
    }
}

#[track_caller]
fn assert_copies(expected: bool, one: &str, other: &str) {
    let (one, other) = (document("one", one), document("other", other));
    assert_eq!(collapses(one.clone(), &other), expected, "{other:?}");
    assert_eq!(collapses(other, &one), expected, "{one:?}");
}

#[test]
fn what_differs_in_form_alone_is_a_copy() {
    assert_copies(true, POLICY, POLICY);
    assert_copies(true, POLICY, &format!("\n{}\n", POLICY.to_uppercase()));
    assert_copies(true, POLICY, &POLICY.replace("vault", "**vault**"));
    assert_copies(
        true,
        "Cafés ouverts le dimanche",
        "cafes ouverts le Dimanche!",
    );
    let one = document("Old name", &format!("# Old name\n\n{POLICY}"));
    let other = document("New name", &format!("New name\n===\n\n{POLICY}"));
    assert!(collapses(one, &other));
}

#[test]
fn a_new_version_is_a_copy() {
    assert_copies(true, POLICY, &POLICY.replace('3', "2"));
    assert_copies(true, POLICY, &format!("{POLICY} Signed by Ann."));
    assert_copies(
        true,
        "The team deploys the billing service every Friday at noon from the release branch.",
        "Billing service: the team deploys it at noon on Fridays, from its release branch!",
    );
}

#[test]
fn other_content_in_the_same_form_is_not_a_copy() {
    assert_copies(false, "Meeting Monday", "Meeting Tuesday");
    assert_copies(
        false,
        "The lawyer wants to meet on Monday at ten.",
        "The lawyer wants to meet on Tuesday at ten.",
    );
    let daily = |date: &str, entry: &str| {
        format!("# {date}\n\n{POLICY}\n\n## Today\n\n{entry}\n\n## Gratitude\n\n## Tomorrow\n")
    };
    assert_copies(
        false,
        &daily("2026-03-01", "Called the plumber about the leaking tap."),
        &daily("2026-03-02", "Repaired the bicycle; new brakes next month."),
    );
    assert_copies(
        false,
        "Marta can eat peanuts, walnuts, almonds and hazelnuts without getting ill afterwards",
        "Marta cannot eat peanuts and walnuts; almonds are fine, hazelnuts untested afterwards",
    );
    let one = POLICY.replace("journey", "sabbatical");
    let other = POLICY.replace("journey", "wedding");
    assert_copies(true, &one, &other);
    assert!(!collapses(
        document("Leave for a sabbatical", &one),
        &document("Leave for a wedding", &other),
    ));
}

#[test]
fn a_negation_counts_among_few_words() {
    let one = "Ann likes mushrooms and olives on pizza for dinner tonight";
    assert_copies(true, one, &one.replace(" on ", " on her "));
    assert_copies(false, one, &one.replace("likes", "likes no"));
    assert_copies(false, one, &one.replace("likes", "doesn't like"));
    let long = format!("{POLICY} {POLICY}");
    assert_copies(true, &long, &long.replacen("stay", "do not stay", 1));
}

#[test]
fn what_is_said_twice_in_conversations_stays() {
    let turn = |text: &str| StoredDocument {
        thread: Some(Thread {
            name: "chat".to_owned(),
            position: None,
        }),
        ..document("chat", text)
    };
    for text in ["Yes, thanks!", "Good morning, how are you today?"] {
        assert!(!collapses(turn(text), &turn(text)), "{text}");
    }
    assert!(collapses(turn(POLICY), &turn(POLICY)));
}

#[test]
fn few_words_are_copies_only_under_one_title() {
    assert!(collapses(
        document("Todo", "* milk"),
        &document("Todo", "Milk.")
    ));
    assert!(!collapses(
        document("Todo", "milk"),
        &document("Buy", "milk")
    ));
    assert!(!collapses(document("Todo", ""), &document("Todo", "")));
    assert!(!collapses(
        document("Todo", "# Todo"),
        &document("Todo", "# Todo")
    ));
}

#[test]
fn scripts_without_spaces_are_compared_by_character() {
    let text = "远程办公每周允许三天。在其他国家工作的人至少提前四周询问法务团队。离开座位时要锁上笔记本电脑，密码放在保险库里。";
    assert_copies(true, text, &text.replace('。', " "));
    assert_copies(true, text, &text.replace("三天", "两天"));
    assert_copies(
        false,
        text,
        "明天的会议改到下午三点，请带上季度报告和预算表，并提前确认会议室的投影仪能用。离开前把白板擦干净。",
    );
}

#[test]
fn the_first_of_several_originals_counts() {
    let mut originals = Originals::new(Stemming::default());
    for (at, body) in ["Something short and different", POLICY]
        .into_iter()
        .enumerate()
    {
        let document = document(&at.to_string(), body);
        assert_eq!(originals.find(&document, false), None);
        originals.add(document, at, false);
    }
    assert_eq!(originals.find(&document("copy", POLICY), false), Some(1));
}

proptest! {
    #[test]
    fn every_text_of_some_words_is_a_copy_of_itself(text in "\\PC{0,200}") {
        let words = Sketch::of(&text).words;
        let same = collapses(document("one", &text), &document("other", &text));
        prop_assert_eq!(same, words >= EQUAL_WORDS);
    }

    #[test]
    fn being_a_copy_is_mutual(
        one in "([a-e]{5,6} ){0,60}",
        changes in prop::collection::vec((0_usize..60, "[a-e]{5,6}"), 0..8),
    ) {
        let mut words: Vec<&str> = one.split_whitespace().collect();
        for (at, word) in &changes {
            if let Some(changed) = words.get_mut(*at) {
                *changed = word;
            }
        }
        let (one, other) = (document("one", &one), document("other", &words.join(" ")));
        prop_assert_eq!(collapses(one.clone(), &other), collapses(other, &one));
    }

    /// A long memory that says the same in another order and adds a third.
    #[test]
    fn a_sketch_never_rules_out_a_restatement(
        one in "([a-e]{5,6} ){30,60}",
        added in "([a-e]{5,6} ){10,15}",
    ) {
        let words: Vec<&str> = added.split_whitespace().chain(one.split_whitespace()).collect();
        let other: Vec<&str> = words.into_iter().rev().collect();
        prop_assert!(!Sketch::of(&one).differs(&Sketch::of(&other.join(" ")), COUNTED_RESTATED));
    }

    #[test]
    fn a_sketch_never_rules_out_what_is_near(
        one in "([a-e]{5,6} ){30,80}",
        at in 0_usize..30,
        word in "[a-e]{5,6}",
    ) {
        let mut words: Vec<&str> = one.split_whitespace().collect();
        words[at] = &word;
        prop_assert!(!Sketch::of(&one).differs(&Sketch::of(&words.join(" ")), COUNTED_CHANGED));
    }
}
