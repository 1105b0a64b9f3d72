//! `kodiak remember` and `kodiak article save`: keep what was learned.

use std::fs;
use std::io::{IsTerminal, Read};

use anyhow::Context as _;
use kodiak::Error;
use kodiak::access::Guard;
use kodiak_memory::{Article, Memories, Memory, Remembered};
use serde_json::Value;

use super::{Outcome, get, note};
use crate::arguments::{ArticleVerb, DescribeArguments, RememberArguments, SaveArticleArguments};
use crate::config::Kind;
use crate::context::Context;
use crate::failure::refusal;
use crate::memory;
use crate::output::phrases::secrets_left_out;
use crate::pages::{Desk, finish_erasing, work};
use crate::projects;

pub(super) fn run(arguments: &RememberArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let text = match arguments.text.as_slice() {
        [] => piped()?,
        [dash] if dash == "-" => note::typed_text(dash)?,
        words => words.join(" "),
    };
    let described = &arguments.described;
    let source = memory::place(context, Kind::Memory, described.source.as_deref())?;
    let desk = Desk::for_reading(context, "remember")?;
    finish_erasing(context.output, &desk.engine)?;
    let memory = Memory {
        source,
        text,
        title: arguments.title.clone(),
        ..described_by(described, &desk)?
    };
    let remembered = work(context.output, |job| {
        Ok(Memories::new(&desk.engine).remember(&Guard::local(), &memory, job)?)
    })?;
    report(context, &remembered, described.json)
}

pub(super) fn article(verb: &ArticleVerb, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let ArticleVerb::Save(arguments) = verb;
    let text = text_of(arguments)?;
    let described = &arguments.described;
    let source = memory::place(context, Kind::Article, described.source.as_deref())?;
    let desk = Desk::for_reading(context, "article save")?;
    finish_erasing(context.output, &desk.engine)?;
    let article = Article {
        memory: Memory {
            source,
            text,
            title: Some(arguments.title.join(" ")),
            ..described_by(described, &desk)?
        },
        source_type: arguments.source_type.clone(),
        source_ref: arguments.source_ref.clone(),
    };
    let saved = work(context.output, |job| {
        Ok(Memories::new(&desk.engine).save_article(&Guard::local(), &article, job)?)
    })?;
    report(context, &saved, described.json)
}

fn text_of(arguments: &SaveArticleArguments) -> anyhow::Result<String> {
    match (&arguments.text, &arguments.file) {
        (Some(text), _) => note::typed_text(text),
        (None, Some(file)) => {
            let text = fs::read_to_string(file).map_err(Error::io("read", file))?;
            Ok(text)
        }
        (None, None) => piped(),
    }
}

/// Returns what another program hands over.
fn piped() -> anyhow::Result<String> {
    let mut stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Err(refusal(
            "there is nothing to remember",
            "type some words, or pipe a text to this command",
        ));
    }
    let mut text = String::new();
    let read = stdin.read_to_string(&mut text);
    read.context("could not read the text from standard input")?;
    Ok(text)
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
                "not stored: {id} in {source} says nearly the same; --force stores it anyway"
            ));
        }
        Some(_) => output.notice(&format!("not stored: {id} in {source} says the same")),
        None => output.notice(&format!("remembered as {id} in {source}")),
    }
    if let Some(left_out) = secrets_left_out(remembered.secrets_left_out) {
        output.notice(&left_out);
    }
    if !remembered.indexed {
        output.warning("the index is not up to date yet; the next `kodiak index` sees to it");
    }
    Ok(Outcome::Done)
}
