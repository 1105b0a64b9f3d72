//! `GET /api/documents/{id}/rendered`: a document, or the part of a long one around a
//! line, as HTML that is safe to show, with what belongs beside it.

use axum::Extension;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use kodiak::Engine;
use kodiak::access::Guard;
use kodiak::search::{Card, Corrected, Found, Freshness};
use kodiak_memory::Memories;
use kodiak_render::Rendered;
use serde::Serialize;

use super::document::checked;
use super::parameters::Parameters;
use super::{Answered, From, Refused, work};
use crate::reading::{front_lines, rendered};
use crate::server::Server;
use crate::writing::is_editable;

/// The highest line that can be asked for.
const MOST_LINES: usize = 1 << 30;
/// The most fields of frontmatter, and the most characters of one.
const MOST_FIELDS: usize = 100;
const LONGEST_FIELD: usize = 1_000;

/// A rendered document.
#[derive(Debug, Serialize)]
pub(super) struct RenderedDocument {
    #[serde(flatten)]
    card: Card,
    html: String,
    from: usize,
    to: usize,
    line_count: usize,
    fields: Vec<(String, String)>,
    headings: Vec<Heading>,
    /// Whether its file has changed since it was indexed.
    changed: bool,
    /// Whether the caller may change its tags, and move it to the trash.
    editable: bool,
    /// Whether the server opens it in an editor for the caller.
    opens: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    corrects: Vec<Corrected>,
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded_by: Option<Card>,
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<Record>,
}

#[derive(Debug, Serialize)]
struct Heading {
    level: u8,
    text: String,
    line: usize,
}

/// What a session record says was decided and learned.
#[derive(Debug, Serialize)]
struct Record {
    decisions: Vec<Decision>,
    lessons: Vec<Lesson>,
}

#[derive(Debug, Serialize)]
struct Decision {
    what: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    why: String,
}

#[derive(Debug, Serialize)]
struct Lesson {
    summary: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    level: String,
}

pub(super) async fn rendered_document(
    State(server): State<Server>,
    Extension(caller): From,
    path: Result<Path<String>, PathRejection>,
    parameters: Parameters,
) -> Answered<RenderedDocument> {
    let id = checked(path)?;
    parameters.only(&["line"])?;
    let line = parameters.number("line", MOST_LINES)?.unwrap_or(1);
    let locating = server.clone();
    work(&server, move |engine| {
        let found = engine.view(&caller.guard).find(&id)?;
        let mut document = of(engine, &caller.guard, &found, line)?;
        let location = locating.location(&caller, &found);
        // A turn is part of a file that is written for programs, and what has an address is
        // opened by it.
        document.opens = locating.opener(&caller).is_some()
            && location.file.is_some()
            && location.url.is_none()
            && document.card.kind != "turn";
        (document.card.file, document.card.url) = (location.file, location.url);
        Ok(document)
    })
    .await
}

fn of(
    engine: &Engine,
    guard: &Guard,
    found: &Found,
    line: usize,
) -> Result<RenderedDocument, Refused> {
    let document = &found.document;
    let memories = Memories::new(engine);
    let line = line.min(found.line_count.max(1));
    let Rendered {
        html,
        from,
        to,
        headings,
    } = rendered(engine, guard, document, line).map_err(Refused::Failed)?;
    // Frontmatter is shown as fields, so that a part which begins the body begins the note.
    let from = if from <= front_lines(document) + 1 {
        1
    } else {
        from
    };
    let headings = headings.into_iter().map(|one| Heading {
        level: one.level,
        text: one.text,
        line: one.line,
    });
    let record = record(found);
    Ok(RenderedDocument {
        html,
        from,
        to: to.min(found.line_count.max(1)),
        line_count: found.line_count,
        headings: headings.collect(),
        changed: matches!(found.freshness, Freshness::Changed | Freshness::Gone),
        editable: is_editable(engine, guard, &document.source),
        opens: false,
        corrects: memories.corrected(guard, document)?,
        superseded_by: memories.superseding(guard, document)?,
        // They are shown as what they are.
        fields: if record.is_some() {
            Vec::new()
        } else {
            shown_fields(&found.fields)
        },
        record,
        card: Card::from(document),
    })
}

/// Returns the fields of frontmatter, bounded.
fn shown_fields(fields: &[(String, String)]) -> Vec<(String, String)> {
    let cut = |text: &str| text.chars().take(LONGEST_FIELD).collect::<String>();
    let fields = fields.iter().take(MOST_FIELDS);
    fields
        .map(|(name, value)| (cut(name), cut(value)))
        .collect()
}

#[cfg(feature = "sessions")]
fn record(found: &Found) -> Option<Record> {
    use kodiak_sessions::records::{KIND, parts_of};
    if found.document.kind != KIND {
        return None;
    }
    let (decisions, lessons, _) = parts_of(&found.fields);
    let decisions = decisions.into_iter().map(|one| Decision {
        what: one.what,
        why: one.why,
    });
    let lessons = lessons.into_iter().map(|one| Lesson {
        summary: one.summary,
        level: one.level,
    });
    Some(Record {
        decisions: decisions.collect(),
        lessons: lessons.collect(),
    })
}

#[cfg(not(feature = "sessions"))]
fn record(_: &Found) -> Option<Record> {
    None
}
