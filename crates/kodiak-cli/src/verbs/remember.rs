//! `kodiak remember`: keeps what was learned, and articles with a reference to where they
//! are from.

use std::fs;
use std::io::{IsTerminal, Read};
use std::path::Path;

use anyhow::Context as _;
use kodiak::Error;
use kodiak_memory::{Article, Memories, Memory, Remembered};
use serde_json::Value;

use super::{Outcome, get, note};
use crate::arguments::{ArticleVerb, DescribeArguments, OriginArguments, RememberArguments};
use crate::config::Kind;
use crate::context::Context;
use crate::failure::refusal;
use crate::memory;
use crate::output::phrases::secrets_left_out;
use crate::pages::{Desk, finish_erasing, require_whole_names, work};
use crate::projects;

pub(super) fn run(arguments: &RememberArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let text = match (&arguments.file, arguments.text.as_slice()) {
        (Some(file), _) => file_text(file)?,
        (None, []) => piped()?,
        (None, [dash]) if dash == "-" => note::typed_text(dash)?,
        (None, words) => words.join(" "),
    };
    // Nothing is set up for a memory that will be refused.
    if text.trim().is_empty() {
        return Err(nothing_to_remember());
    }
    let described = &arguments.described;
    let title = arguments.title.clone();
    if arguments.origin.is_given() {
        let title = title
            .or_else(|| title_of(&text, arguments.file.as_deref()))
            .ok_or_else(|| refusal("the article has no title", "add one with --title"))?;
        return save_article(title, text, &arguments.origin, described, context);
    }
    let source = memory::place(context, Kind::Memory, described.source.as_deref())?;
    let desk = Desk::for_reading(context, "remember")?;
    finish_erasing(context.output, &desk.engine)?;
    let memory = Memory {
        source,
        text,
        title,
        ..described_by(described, &desk)?
    };
    let remembered = work(context.output, |job| {
        Ok(Memories::new(&desk.engine).remember(&desk.writer_of(&memory.source), &memory, job)?)
    })?;
    report(context, &remembered, described.json)
}

pub(super) fn article(verb: &ArticleVerb, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let ArticleVerb::Save(arguments) = verb;
    let text = match (&arguments.text, &arguments.file) {
        (Some(text), _) => note::typed_text(text)?,
        (None, Some(file)) => file_text(file)?,
        (None, None) => piped()?,
    };
    let title = arguments.title.join(" ");
    save_article(
        title,
        text,
        &arguments.origin,
        &arguments.described,
        context,
    )
}

fn save_article(
    title: String,
    text: String,
    origin: &OriginArguments,
    described: &DescribeArguments,
    context: &Context<'_>,
) -> anyhow::Result<Outcome> {
    let source = memory::place(context, Kind::Article, described.source.as_deref())?;
    let desk = Desk::for_reading(context, "remember")?;
    finish_erasing(context.output, &desk.engine)?;
    let article = Article {
        memory: Memory {
            source,
            text,
            title: Some(title),
            ..described_by(described, &desk)?
        },
        source_type: origin.source_type.clone(),
        source_ref: origin.source_ref.clone(),
    };
    let saved = work(context.output, |job| {
        Ok(Memories::new(&desk.engine).save_article(
            &desk.writer_of(&article.memory.source),
            &article,
            job,
        )?)
    })?;
    report(context, &saved, described.json)
}

fn file_text(file: &Path) -> anyhow::Result<String> {
    let text = fs::read_to_string(file).map_err(Error::io("read", file))?;
    Ok(text)
}

/// Returns the title of a text that has none yet: its own, such as its first heading, or
/// the name of its file.
fn title_of(text: &str, file: Option<&Path>) -> Option<String> {
    let heading = text.lines().find(|line| !line.trim().is_empty());
    let heading = heading
        .and_then(|line| line.trim().strip_prefix("# "))
        .map(|title| title.trim().to_owned());
    let name = || Some(file?.file_stem()?.to_string_lossy().into_owned());
    heading.filter(|title| !title.is_empty()).or_else(name)
}

/// Returns what another program hands over.
fn piped() -> anyhow::Result<String> {
    let mut stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Err(nothing_to_remember());
    }
    let mut text = String::new();
    let read = stdin.read_to_string(&mut text);
    read.context("could not read the text from standard input")?;
    Ok(text)
}

fn nothing_to_remember() -> anyhow::Error {
    refusal(
        "there is nothing to remember",
        "type some words, or pipe a text to this command",
    )
}

fn described_by(arguments: &DescribeArguments, desk: &Desk) -> anyhow::Result<Memory> {
    let project = match arguments.project.as_deref().map(str::trim) {
        Some("") => None,
        Some(typed) => Some(projects::resolve_one(typed, &desk.engine)?),
        None => projects::present(),
    };
    let created_at = arguments.created_at.as_deref();
    let created_at = created_at.map(kodiak::date::parse_limit).transpose()?;
    let metadata = arguments.metadata.iter();
    require_whole_names(&desk.engine, &desk.config, &arguments.supersedes)?;
    Ok(Memory {
        id: arguments.id.clone(),
        kind: arguments.kind.clone(),
        category: arguments.category.clone(),
        tags: arguments.tags.clone(),
        project,
        session: arguments.session.clone(),
        summary: arguments.summary.clone(),
        supersedes: arguments
            .supersedes
            .iter()
            .map(|name| get::name(name))
            .collect(),
        created_at,
        protected: arguments.protect,
        metadata: metadata
            .map(|(name, value)| (name.clone(), Value::from(value.as_str())))
            .collect(),
        force: arguments.force,
        ..Memory::default()
    })
}

fn report(context: &Context<'_>, remembered: &Remembered, json: bool) -> anyhow::Result<Outcome> {
    let output = context.output;
    if json {
        output.json(remembered)?;
        return Ok(Outcome::Done);
    }
    output.answer(&format!("{}\n", remembered.key))?;
    let Remembered { id, source, .. } = remembered;
    match remembered.similarity {
        Some(similarity) if similarity < 1.0 => {
            output.notice(&format!(
                "not stored: {id} in {source} says nearly the same; use --force to store it anyway"
            ));
        }
        Some(_) => output.notice(&format!("not stored: {id} in {source} says the same")),
        None => output.notice(&format!("remembered as {id} in {source}")),
    }
    if let Some(left_out) = secrets_left_out(remembered.secrets_left_out) {
        output.notice(&left_out);
    }
    if !remembered.indexed {
        output.warning("the index is not up to date yet; run `kodiak index` to update it");
    }
    Ok(Outcome::Done)
}
