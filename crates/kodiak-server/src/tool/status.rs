//! `status`: what is indexed, how fresh it is, and what is being done.

use kodiak::engine::{MeaningState, Status};
use serde_json::{Map, Value, json};

use super::{Call, Effect, Tool, ToolAnswer, ToolSet};
use crate::failure::Refusal;

pub(super) const STATUS: Tool = Tool {
    name: "status",
    sets: &[ToolSet::Default],
    description: "What is indexed: sources, documents, freshness, and whether search by meaning \
                  works.",
    effect: Effect::Reads,
    parameters: &[],
    output: Some(schema),
    run,
};

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "documents": {"type": "integer"},
            "meaning": {"type": "string"},
            "sources": {"type": "array", "items": {"type": "object"}},
            "remarks": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["documents", "meaning", "sources", "remarks"],
    })
}

fn run(call: &Call<'_>) -> Result<ToolAnswer, Refusal> {
    let status = call.engine.status(call.guard())?;
    let mut remarks = Vec::new();
    if status.format.is_none() {
        remarks.push("nothing is indexed yet".to_owned());
    }
    if let Some(doing) = call.server.work().doing().filter(|_| call.sees_work()) {
        remarks.push(format!("in the background: {doing}"));
    }
    let meaning = meaning(&status);
    let mut text = format!(
        "{}. Search by meaning: {meaning}.\n",
        documents(status.documents)
    );
    let mut sources = Vec::new();
    // A source without documents of the project is outside it.
    let in_project = call.guard().project().is_some();
    let listed = status.sources.iter();
    for source in listed.filter(|source| !in_project || source.documents > 0) {
        let mut object = Map::new();
        object.insert("name".to_owned(), source.name.as_str().into());
        object.insert("documents".to_owned(), source.documents.into());
        let mut line = format!("{}: {}", source.name, documents(source.documents));
        match source.synced_at {
            Some(at) => {
                let at = kodiak::date::format(at);
                line.push_str(&format!(", indexed {at}"));
                object.insert("indexed_at".to_owned(), at.into());
            }
            None => line.push_str(", not indexed completely yet"),
        }
        match &source.changes {
            Some(Ok(changes)) if !changes.is_empty() => {
                let pending = changes.len();
                line.push_str(&format!(", changes not indexed yet: {pending}"));
                object.insert("pending".to_owned(), pending.into());
            }
            Some(Err(error)) => {
                let error = crate::failure::message(error);
                line.push_str(&format!(", cannot be read: {error}"));
                object.insert("error".to_owned(), error.into());
            }
            _ => {}
        }
        if !source.skipped.is_empty() {
            line.push_str(&format!(", {} skipped", source.skipped.len()));
            object.insert("skipped".to_owned(), source.skipped.len().into());
        }
        if source.secrets_left_out > 0 {
            let secrets = source.secrets_left_out;
            line.push_str(&format!(", secrets left out: {secrets}"));
            object.insert("secrets_left_out".to_owned(), secrets.into());
        }
        text.push_str(&line);
        text.push('\n');
        sources.push(Value::Object(object));
    }
    for remark in &remarks {
        text.push_str(&format!("Note: {remark}\n"));
    }
    let structured = json!({
        "documents": status.documents,
        "meaning": meaning,
        "sources": sources,
        "remarks": remarks,
    });
    Ok(ToolAnswer::structured(text.trim_end(), structured))
}

fn documents(number: u64) -> String {
    match number {
        1 => "1 document".to_owned(),
        _ => format!("{number} documents"),
    }
}

/// Returns how far search by meaning works, in words.
fn meaning(status: &Status) -> String {
    let serving = match (&status.meaning, &status.serving) {
        (MeaningState::Off, Some(_)) => return "off in the settings".to_owned(),
        (_, None) => return "off, nothing is embedded".to_owned(),
        (MeaningState::Absent(absence), Some(_)) => {
            return format!("off, the model {} cannot be used", absence.name);
        }
        (MeaningState::On, Some(serving)) => serving,
    };
    let sources = status.embeddings.sources.iter();
    let (chunks, embedded) = sources.fold((0, 0), |(chunks, embedded), (_, coverage)| {
        (chunks + coverage.chunks, embedded + coverage.embedded)
    });
    if embedded >= chunks {
        return serving.name.clone();
    }
    // Rounded down, so that 100 % always means all.
    format!("{}, {} % embedded", serving.name, embedded * 100 / chunks)
}
