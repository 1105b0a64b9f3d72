use serde_json::json;

use super::*;

/// Questions made for these tests, in the shape of LongMemEval.
fn longmemeval() -> Value {
    let sessions = json!([
        [
            {"role": "user", "content": "I baked rye bread with caraway on Sunday.", "has_answer": true},
            {"role": "assistant", "content": "Rye bread with caraway sounds good.", "has_answer": true}
        ],
        [
            {"role": "user", "content": "Which train goes to the coast?"},
            {"role": "assistant", "content": "The slow one."}
        ]
    ]);
    let question = |id: &str, text: &str, answers: Value| {
        json!({
            "question_id": id, "question_type": "single-session-user", "question": text,
            "answer": "caraway", "question_date": "2026/02/10 (Tue) 09:00",
            "haystack_session_ids": ["s_1", "s_2"],
            "haystack_dates": ["2026/02/01 (Sun) 18:30", "2026/02/03 (Tue) 07:15"],
            "haystack_sessions": sessions, "answer_session_ids": answers,
        })
    };
    json!([
        question("q1", "What did I put into the rye bread?", json!(["s_1"])),
        question("q2_abs", "What did I put into the corn bread?", json!([])),
    ])
}

/// A conversation made for these tests, in the shape of LoCoMo.
fn locomo() -> Value {
    json!([{
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ida", "speaker_b": "Otto",
            "session_2_date_time": "9:00 am on 3 February, 2026",
            "session_2": [{"speaker": "Ida", "dia_id": "D2:1", "text": "The oven is repaired."}],
            "session_1_date_time": "1:56 pm on 1 February, 2026",
            "session_1": [
                {"speaker": "Ida", "dia_id": "D1:1", "text": "My oven broke."},
                {"speaker": "Otto", "dia_id": "D1:2", "text": "Oh no!", "blip_caption": "a sad cat"}
            ],
            "session_10_date_time": "1:00 pm on 9 February, 2026",
            "session_10": [{"speaker": "Otto", "dia_id": "D10:1", "text": "We ate bread."}]
        },
        "qa": [
            {"question": "What broke and was repaired?", "answer": "the oven", "category": 1,
                "evidence": ["D1:1; D2:01", "D:10:1"]},
            {"question": "Who has a dog?", "category": 5, "evidence": ["D1:2"],
                "adversarial_answer": "Otto"},
            {"question": "Lost", "answer": 3, "category": 4, "evidence": ["D9:9"]}
        ]
    }])
}

#[test]
fn longmemeval_is_read_as_published() {
    let haystacks = parse(&longmemeval().to_string()).unwrap();
    assert_eq!(haystacks.len(), 2);
    let [first, second] = haystacks.as_slice() else {
        unreachable!()
    };
    let question = &first.questions[0];
    assert_eq!(question.kind, "single-session-user");
    // Only what the user said is a target.
    assert_eq!(
        (&question.turns, &question.sessions),
        (&vec!["s_1_1".to_owned()], &vec!["s_1".to_owned()])
    );
    assert!(!question.unanswerable && second.questions[0].unanswerable);
    assert_eq!(first.sessions[1].turns[1].id, "s_2_2");
    assert_eq!(first.sessions[0].at, date::parse("2026-02-01 18:30"));
}

#[test]
fn locomo_is_read_as_published() {
    let haystacks = parse(&locomo().to_string()).unwrap();
    let haystack = &haystacks[0];
    let ids: Vec<&str> = haystack
        .sessions
        .iter()
        .map(|session| session.id.as_str())
        .collect();
    assert_eq!(ids, ["S1", "S2", "S10"]);
    assert_eq!(
        haystack.sessions[0].title,
        "Ida and Otto, 1:56 pm on 1 February, 2026"
    );
    assert!(haystack.sessions[0].at.is_some());
    assert_eq!(
        haystack.sessions[0].turns[1].text,
        "Oh no! [shared image: a sad cat]"
    );
    let [first, adversarial, lost] = haystack.questions.as_slice() else {
        unreachable!()
    };
    assert_eq!(first.turns, ["D1:1", "D2:1", "D10:1"]);
    assert_eq!(first.sessions, ["S1", "S2", "S10"]);
    assert_eq!(
        (first.kind.as_str(), first.id.as_str()),
        ("multi-hop", "conv-1/q0")
    );
    assert!(adversarial.unanswerable && !first.unanswerable);
    assert!(lost.turns.is_empty() && lost.sessions.is_empty());
}

#[test]
fn files_of_neither_kind_say_what_is_missing() {
    let problem = |value: Value| format!("{:#}", parse(&value.to_string()).unwrap_err());
    assert!(problem(json!({})).contains("not a JSON list"));
    assert!(problem(json!([])).contains("the list is empty"));
    assert!(problem(json!([{"x": 1}])).contains("neither LongMemEval nor LoCoMo"));
    let mut file = longmemeval();
    file[1]["haystack_dates"] = json!([]);
    let said = problem(file);
    assert!(
        said.contains("item 2") && said.contains("2 sessions, 2 ids and 0 dates"),
        "{said}"
    );
    let mut file = longmemeval();
    file[0]["haystack_sessions"][1][0] = json!({"role": "user"});
    let said = problem(file);
    assert!(
        said.contains("turn 1 of the session s_2") && said.contains("no \"content\""),
        "{said}"
    );
    let mut file = locomo();
    file[0]["qa"][1]["category"] = json!("five");
    assert!(problem(file).contains("question conv-1/q1"));
}

#[test]
fn questions_are_asked_in_their_haystacks() {
    let folder = tempfile::tempdir().unwrap();
    let measure = |name: &str, file: &Value| {
        let path = folder.path().join(name);
        std::fs::write(&path, file.to_string()).unwrap();
        let options = super::super::evaluation::Options {
            scratch: folder.path().to_owned(),
            ..Default::default()
        };
        let run = MemoryRun {
            options: &options,
            embedder: None,
            listener: &|_| {},
        };
        run.measure(&BenchmarkFile { path }).unwrap()
    };
    let rows = measure("longmemeval.json", &longmemeval());
    let told: Vec<(&str, &str)> = rows.iter().map(|row| (row.unit, row.mode)).collect();
    assert_eq!(
        told,
        [
            ("turn", "auto"),
            ("turn", "lexical"),
            ("session", "auto"),
            ("session", "lexical")
        ]
    );
    for row in &rows {
        assert_eq!((row.all.questions, row.unanswerable), (1, 1), "{row:?}");
        assert_eq!(row.by_type[0].kind, "single-session-user");
        assert!(row.all.mrr > 0.4, "{row:?}");
    }
    assert!(rows[2].all.first > 0.99, "{:?}", rows[2]);
    let rows = measure("locomo.json", &locomo());
    for row in &rows {
        assert_eq!((row.all.questions, row.without_evidence), (1, 1), "{row:?}");
        assert!((row.all.at[1].recall_any - 1.0).abs() < 1e-9);
    }
    let table = table(&rows);
    assert!(
        table.contains("multi-hop") && table.contains("evidence@5"),
        "{table}"
    );
}
