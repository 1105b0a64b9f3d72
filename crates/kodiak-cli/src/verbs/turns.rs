//! The lines that `kodiak get` adds to a turn of a session: the turns around it, and how the
//! session is resumed.

use std::fmt::Write;

use kodiak::Engine;
use kodiak::access::Guard;
use kodiak::engine::Neighbours;
use kodiak::search::{Found, TurnDetails};
use kodiak::store::StoredDocument;
use serde::Serialize;

use crate::output::escape::{escaped, escaped_lines};
use crate::output::style::{BOLD, DIM};
use crate::output::{Output, When};

/// What JSON says beyond the note itself.
#[derive(Debug, Default, Serialize)]
pub(super) struct Around {
    #[serde(flatten)]
    details: Option<TurnDetails>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    before: Vec<Neighbour>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    after: Vec<Neighbour>,
}

#[derive(Debug, Serialize)]
struct Neighbour {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<String>,
    text: String,
}

impl Neighbour {
    fn of(document: StoredDocument) -> Self {
        Self {
            id: document.short_id,
            author: document.author,
            created_at: document.created_at.map(kodiak::date::format),
            text: document.body,
        }
    }
}

impl Around {
    /// Reads what is around a note.
    pub(super) fn read(engine: &Engine, found: &Found, context: usize) -> kodiak::Result<Self> {
        let guard = Guard::local();
        let neighbours = match context {
            0 => Neighbours::default(),
            count => engine.view(&guard).neighbours(found, count)?,
        };
        Ok(Self {
            details: engine.view(&guard).describe(found)?.turn,
            before: neighbours.before.into_iter().map(Neighbour::of).collect(),
            after: neighbours.after.into_iter().map(Neighbour::of).collect(),
        })
    }

    /// Says how the session is resumed, or that its original is gone.
    pub(super) fn tell(&self, output: &Output) {
        let Some(details) = &self.details else { return };
        if details.origin_gone {
            output.notice("the original is gone: this is the kept copy");
        }
        if let Some(command) = &details.resume {
            output.hint(&format!("to resume the session: {}", escaped(command)));
        }
    }

    /// Puts the text of a note between those of its neighbours.
    pub(super) fn surround(&self, found: &Found, text: &str, output: &Output) -> String {
        if self.before.is_empty() && self.after.is_empty() {
            return text.to_owned();
        }
        let document = &found.document;
        let own = (
            document.short_id.as_str(),
            document.author.as_deref(),
            document.created_at.map(kodiak::date::format),
        );
        let mut all = String::new();
        let now = kodiak::date::now();
        let mut one = |id: &str, author: Option<&str>, at: Option<&str>, text: &str, main: bool| {
            let at = at.map(|at| match kodiak::date::parse(at) {
                Some(at) => output.when(at, now, When::Moment),
                None => at.to_owned(),
            });
            let facts = author.into_iter().chain(at.as_deref()).chain([id]);
            let facts: Vec<&str> = facts.collect();
            let line = format!("── {} ──", escaped(&facts.join(", ")));
            let style = if main { BOLD } else { DIM };
            let _ = writeln!(all, "{}", output.painter().paint(style, &line));
            let _ = writeln!(all, "{}\n", text.trim_end());
        };
        let shown = |text: &str| {
            if output.on_terminal {
                escaped_lines(text).into_owned()
            } else {
                text.to_owned()
            }
        };
        for turn in &self.before {
            one(
                &turn.id,
                turn.author.as_deref(),
                turn.created_at.as_deref(),
                &shown(&turn.text),
                false,
            );
        }
        one(own.0, own.1, own.2.as_deref(), text, true);
        for turn in &self.after {
            one(
                &turn.id,
                turn.author.as_deref(),
                turn.created_at.as_deref(),
                &shown(&turn.text),
                false,
            );
        }
        all.truncate(all.trim_end().len());
        all.push('\n');
        all
    }
}
