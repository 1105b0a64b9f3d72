//! Reads LoCoMo: a list of long conversations, each with its questions.

use std::collections::HashSet;

use anyhow::{Context, Result};
use serde_json::{Map, Value};

use super::{Haystack, Question, Session, Turn, list, moment, text};

/// The names of the categories of questions, from the first.
const CATEGORIES: [&str; 5] = [
    "multi-hop",
    "temporal",
    "open-domain",
    "single-hop",
    "adversarial",
];

/// Reads a conversation with its questions.
pub(super) fn haystack(item: &Value) -> Result<Haystack> {
    let name = text(item, "sample_id")?;
    let conversation = item.get("conversation").and_then(Value::as_object);
    let conversation = conversation.context("no \"conversation\"")?;
    let speaker = |field: &str| conversation.get(field).and_then(Value::as_str);
    let speakers: Vec<&str> = ["speaker_a", "speaker_b"]
        .into_iter()
        .filter_map(speaker)
        .collect();
    let mut sessions = Vec::new();
    for number in numbers(conversation) {
        sessions.push(session(conversation, number, &speakers.join(" and "))?);
    }
    let known: HashSet<&str> = sessions
        .iter()
        .flat_map(|session: &Session| &session.turns)
        .map(|turn| turn.id.as_str())
        .collect();
    let questions = list(item, "qa")?.iter().enumerate();
    let questions = questions
        .map(|(at, item)| {
            let id = format!("{name}/q{at}");
            question(id.clone(), item, &known).with_context(|| format!("question {id}"))
        })
        .collect::<Result<Vec<Question>>>()?;
    Ok(Haystack {
        name,
        sessions,
        questions,
    })
}

/// Returns the numbers of the sessions, in order.
fn numbers(conversation: &Map<String, Value>) -> Vec<u32> {
    let number = |name: &String| name.strip_prefix("session_")?.parse().ok();
    let mut numbers: Vec<u32> = conversation.keys().filter_map(number).collect();
    numbers.sort_unstable();
    numbers
}

fn session(conversation: &Map<String, Value>, number: u32, speakers: &str) -> Result<Session> {
    let name = format!("session_{number}");
    let date = conversation.get(&format!("{name}_date_time"));
    let date = date.and_then(Value::as_str).unwrap_or_default();
    let turns = conversation.get(&name).and_then(Value::as_array);
    let turns = turns.with_context(|| format!("\"{name}\" is not a list"))?;
    let turn = |turn: &Value| -> Result<Turn> {
        let mut said = text(turn, "text")?;
        if let Some(caption) = turn.get("blip_caption").and_then(Value::as_str) {
            said.push_str(&format!(" [shared image: {caption}]"));
        }
        Ok(Turn {
            id: text(turn, "dia_id")?,
            speaker: text(turn, "speaker")?,
            text: said,
        })
    };
    let turns: Result<Vec<Turn>> = turns.iter().map(turn).collect();
    Ok(Session {
        id: format!("S{number}"),
        title: format!("{speakers}, {date}"),
        at: moment(date),
        turns: turns.with_context(|| format!("\"{name}\""))?,
    })
}

fn question(id: String, item: &Value, known: &HashSet<&str>) -> Result<Question> {
    let category = item.get("category").and_then(Value::as_u64);
    let category = category.context("no \"category\"")?;
    let kind = usize::try_from(category)
        .ok()
        .and_then(|at| at.checked_sub(1));
    let kind = kind.and_then(|at| CATEGORIES.get(at)).copied();
    let evidence = item.get("evidence").and_then(Value::as_array);
    let written = evidence.into_iter().flatten().filter_map(Value::as_str);
    let mut turns: Vec<String> = Vec::new();
    for turn in written.flat_map(turn_ids) {
        if known.contains(turn.as_str()) && !turns.contains(&turn) {
            turns.push(turn);
        }
    }
    let mut sessions: Vec<String> = Vec::new();
    for turn in &turns {
        let number = turn.trim_start_matches('D').split(':').next();
        let session = format!("S{}", number.unwrap_or_default());
        if !sessions.contains(&session) {
            sessions.push(session);
        }
    }
    Ok(Question {
        id,
        kind: kind.map_or_else(|| format!("category {category}"), str::to_owned),
        text: text(item, "question")?,
        turns,
        sessions,
        unanswerable: kind == Some("adversarial"),
    })
}

/// Returns the ids of the turns in a piece of evidence. Some pieces name several,
/// and some are misspelt: `D8:6; D9:17`, `D30:05`, `D:11:26`.
fn turn_ids(written: &str) -> Vec<String> {
    let pieces = written.split(|c: char| c == ';' || c == ',' || c.is_whitespace());
    pieces
        .filter_map(|piece| {
            let rest = piece.trim().strip_prefix('D')?.trim_start_matches(':');
            let (session, turn) = rest.split_once(':')?;
            let (session, turn): (u32, u32) = (session.parse().ok()?, turn.parse().ok()?);
            Some(format!("D{session}:{turn}"))
        })
        .collect()
}
