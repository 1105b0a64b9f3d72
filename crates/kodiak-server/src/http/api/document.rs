//! `GET /api/documents/{id}`: the same answer as `kodiak get --json`, without
//! the place of the file on the server's machine.

use axum::Extension;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use kodiak::document::Reference;
use kodiak::search::{Card, Corrected, Found, Freshness};
use kodiak_memory::Memories;
use serde::Serialize;

use super::parameters::{Parameters, malformed};
use super::{Answered, From, Refused, work};
use crate::server::Server;

/// The longest reference, in characters.
pub(super) const LONGEST: usize = 1_000;

/// A document, or some lines of it.
#[derive(Debug, Serialize)]
pub(super) struct Document {
    #[serde(flatten)]
    card: Card,
    lines: [usize; 2],
    line_count: usize,
    /// That some of the lines asked for are beyond the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
    text: String,
    /// Whether its file has changed since it was indexed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    changed: bool,
    /// What it corrects.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    corrects: Vec<Corrected>,
}

pub(super) async fn document(
    State(server): State<Server>,
    Extension(caller): From,
    path: Result<Path<String>, PathRejection>,
    parameters: Parameters,
) -> Answered<Document> {
    let id = checked(path)?;
    parameters.only(&["lines"])?;
    let lines = parameters.lines()?;
    work(&server, move |engine| {
        let found = match lines {
            Some(_) => engine.get(&caller.guard, &Reference { target: id, lines })?,
            None => engine.view(&caller.guard).find(&id)?,
        };
        match found.asked {
            Some(lines) if lines.from > found.line_count => Err(malformed(
                "lines",
                &format!("within the {} lines that there are", found.line_count),
            )),
            _ => {
                let corrects = Memories::new(engine).corrected(&caller.guard, &found.document)?;
                Ok(Document::of(found, corrects))
            }
        }
    })
    .await
}

/// Returns the name of a document in the path of a request, if it can be one.
pub(super) fn checked(path: Result<Path<String>, PathRejection>) -> Result<String, Refused> {
    let Ok(Path(id)) = path else {
        return Err(malformed("id", "UTF-8"));
    };
    if id.chars().count() > LONGEST {
        let wanted = format!("at most {LONGEST} characters long");
        return Err(malformed("id", &wanted));
    }
    Ok(id)
}

impl Document {
    fn of(found: Found, corrects: Vec<Corrected>) -> Self {
        let notice = found.lines_beyond_end();
        Self {
            card: Card::from(&found.document),
            lines: [found.lines.from, found.lines.to],
            line_count: found.line_count,
            notice: notice.map(|notice| notice.to_string()),
            text: found.text,
            changed: matches!(found.freshness, Freshness::Changed | Freshness::Gone),
            corrects,
        }
    }
}
