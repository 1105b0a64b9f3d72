//! `kodiak page new --source bear`: creates a note in Bear.
//!
//! Bear's database is never written to. Bear itself creates the note, through the
//! address that it opens.

use std::io::Read;

use anyhow::Context as _;

use super::Outcome;
use crate::arguments::NewNoteArguments;
use crate::assemble;
use crate::failure::refusal;
use crate::opener;
use crate::output::Output;

/// Returns a text as typed; `-` stands for what standard input has.
pub(super) fn typed_text(typed: &str) -> anyhow::Result<String> {
    if typed != "-" {
        return Ok(typed.to_owned());
    }
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text);
    read.context("could not read the text from standard input")?;
    Ok(text)
}

/// `kodiak note new`.
pub(super) fn run(arguments: &NewNoteArguments, output: &Output) -> anyhow::Result<Outcome> {
    create(&arguments.title, &arguments.tags, &arguments.text, output)
}

/// Has Bear create a note.
pub(super) fn create(
    title: &[String],
    tags: &[String],
    text: &str,
    output: &Output,
) -> anyhow::Result<Outcome> {
    let words: Vec<&str> = title
        .iter()
        .flat_map(|word| word.split_whitespace())
        .collect();
    let title = words.join(" ");
    if title.is_empty() {
        return Err(refusal("the note has no title", "type some words"));
    }
    let text = typed_text(text)?;
    let address = assemble::url_to_create(&title, tags, &text);
    opener::open(
        &address,
        "`kodiak page new` writes a page as a file anywhere",
    )?;
    output.notice(&format!("Bear has been asked to create \"{title}\""));
    Ok(Outcome::Done)
}
