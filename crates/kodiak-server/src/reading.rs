//! Documents as HTML: what the links and images of a note mean for a caller, and the note
//! rendered with that.

use kodiak::Engine;
use kodiak::access::Guard;
use kodiak::analysis::links::{BodyLink, LinkTarget};
use kodiak::document::Markup;
use kodiak::store::StoredDocument;
use kodiak_notes::{Links, Pictures};
use kodiak_render::{Format, Link, Meaning, Note, Rendered};

use crate::failure::Refusal;

/// The most images of one part of a note that are looked for.
const MOST_IMAGES: usize = 500;

/// Renders the part of a document around a line of its file, counted from 1.
pub(crate) fn rendered(
    engine: &Engine,
    guard: &Guard,
    document: &StoredDocument,
    line: usize,
) -> Result<Rendered, Refusal> {
    let front = front_lines(document);
    let line = line.saturating_sub(front).max(1);
    let note = Note::read(&document.body, format(document.markup), line)
        .after_lines(front)
        .with_id(&document.short_id);
    let meanings = meanings(engine, guard, document, note.links())?;
    Ok(note.render(&meanings))
}

/// Returns the number of lines that come before the body of a document.
pub(crate) fn front_lines(document: &StoredDocument) -> usize {
    document.front.matches('\n').count()
}

/// Renders a text that is not a document of its own, such as a part of a turn. Its links
/// lead nowhere inside the source.
pub(crate) fn rendered_alone(text: &str) -> String {
    Note::read(text, Format::Markdown, 1).render(&[]).html
}

/// Renders a text as it is, line by line.
pub(crate) fn verbatim(text: &str) -> String {
    Note::read(text, Format::Plain, 1).render(&[]).html
}

fn format(markup: Markup) -> Format {
    match markup {
        Markup::Markdown => Format::Markdown,
        Markup::Org | Markup::Plain | Markup::Verbatim => Format::Plain,
    }
}

/// Returns what each link of a document means for a caller.
fn meanings(
    engine: &Engine,
    guard: &Guard,
    document: &StoredDocument,
    links: &[Link],
) -> Result<Vec<Meaning>, Refusal> {
    let read: Vec<Option<BodyLink>> = links
        .iter()
        .map(|link| BodyLink::read(&link.target, "", link.wiki))
        .collect();
    let (mut places, mut paths): (Vec<usize>, Vec<(&str, bool)>) = (Vec::new(), Vec::new());
    for (at, (link, read)) in links.iter().zip(&read).enumerate() {
        if let (true, Some(read)) = (link.shown && paths.len() < MOST_IMAGES, read) {
            places.push(at);
            paths.push((read.path.as_str(), link.wiki));
        }
    }
    let mut meanings = vec![Meaning::Nothing; links.len()];
    let found = Pictures::new(engine).near(guard, document, &paths);
    for (at, path) in places.into_iter().zip(found) {
        meanings[at] = path.map_or(Meaning::Nothing, Meaning::Image);
    }
    let (mut places, mut targets): (Vec<usize>, Vec<LinkTarget>) = (Vec::new(), Vec::new());
    for (at, read) in read.into_iter().enumerate() {
        if let (Meaning::Nothing, Some(target)) = (&meanings[at], read.and_then(|it| it.target)) {
            places.push(at);
            targets.push(target);
        }
    }
    let meant = Links::new(engine).meant(guard, document, &targets)?;
    for (at, id) in places.into_iter().zip(meant) {
        if let Some(id) = id {
            meanings[at] = Meaning::Note(id);
        }
    }
    Ok(meanings)
}
