//! Reads LongMemEval: a list of questions, each with its haystack.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{Haystack, Question, Session, Turn, list, moment, text};

/// The end of the id of a question that nothing answers.
const ABSTENTION: &str = "_abs";

/// Reads a question with its haystack.
pub(super) fn haystack(item: &Value) -> Result<Haystack> {
    let id = text(item, "question_id")?;
    let ids = list(item, "haystack_session_ids")?;
    let dates = list(item, "haystack_dates")?;
    let sessions = list(item, "haystack_sessions")?;
    ensure!(
        ids.len() == sessions.len() && dates.len() == sessions.len(),
        "question {id} has {} sessions, {} ids and {} dates",
        sessions.len(),
        ids.len(),
        dates.len()
    );
    let answering = |value: &Value| value.as_str().map(str::to_owned);
    let answering: Vec<String> = list(item, "answer_session_ids")?
        .iter()
        .filter_map(answering)
        .collect();
    let mut haystack = Haystack {
        name: id.clone(),
        ..Haystack::default()
    };
    let mut evidence = Vec::new();
    for ((session, name), date) in sessions.iter().zip(ids).zip(dates) {
        let name = name.as_str().context("a session's id is not a text")?;
        let date = date.as_str().unwrap_or_default();
        let turns = session.as_array();
        let turns = turns.with_context(|| format!("the session {name} is not a list"))?;
        let mut read = Session {
            id: name.to_owned(),
            title: date.to_owned(),
            at: moment(date),
            turns: Vec::new(),
        };
        for (at, turn) in turns.iter().enumerate() {
            let turn_id = format!("{name}_{}", at + 1);
            let in_session = || format!("turn {} of the session {name}", at + 1);
            let speaker = text(turn, "role").with_context(in_session)?;
            // As the benchmark's own script counts: only what the user said is a
            // target, in sessions that hold the answer.
            let holds = turn.get("has_answer").and_then(Value::as_bool) == Some(true);
            if holds && speaker == "user" && answering.iter().any(|it| it == name) {
                evidence.push(turn_id.clone());
            }
            read.turns.push(Turn {
                id: turn_id,
                speaker,
                text: text(turn, "content").with_context(in_session)?,
            });
        }
        haystack.sessions.push(read);
    }
    haystack.questions.push(Question {
        unanswerable: id.ends_with(ABSTENTION),
        kind: text(item, "question_type")?,
        text: text(item, "question")?,
        turns: evidence,
        sessions: answering,
        id,
    });
    Ok(haystack)
}
