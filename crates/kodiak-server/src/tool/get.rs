//! `get`: reads documents, whole or some lines of them.

use kodiak::search::{Found, Freshness};

use super::parameter::{Kind, Parameter};
use super::search::MAX_TOKENS;
use super::{Call, Effect, Tool, ToolAnswer, ToolSet};
use crate::answer::title;
use crate::budget::{Budget, beginning, tokens};
use crate::failure::Refusal;

/// The most documents of one answer.
const MOST: usize = 50;
/// The tokens that are kept for saying what was cut.
const KEPT: usize = 40;

pub(super) const GET: Tool = Tool {
    name: "get",
    sets: &[ToolSet::Default],
    description: "Read documents by id, as search returns it, or by path. Append lines: \
                  \"#a1b2c3:10-40\", \"notes/gtd.md:7-\".",
    effect: Effect::Reads,
    parameters: &[
        Parameter::new("ids", Kind::Texts, "Ids or paths, most wanted first").required(),
        MAX_TOKENS,
    ],
    // Its answer is prose: an object would only wrap it.
    output: None,
    run,
};

fn run(call: &Call<'_>) -> Result<ToolAnswer, Refusal> {
    let ids = call.arguments.texts("ids");
    if ids.is_empty() || ids.len() > MOST {
        return Err(Refusal::new(
            format!("'ids' has {} ids; it must have 1 to {MOST}", ids.len()),
            "name the ones you need; search finds ids",
        ));
    }
    let mut budget = call.budget();
    let (mut blocks, mut refusals, mut left) = (Vec::new(), Vec::new(), Vec::new());
    for id in &ids {
        if budget.left() <= KEPT {
            left.push(id.as_str());
            continue;
        }
        match find(call, id) {
            Ok(found) => blocks.push(block(&found, &mut budget)),
            Err(refusal) => {
                budget.spend(tokens(&refusal.text()));
                refusals.push(refusal);
            }
        }
    }
    if let (true, Some(first)) = (blocks.is_empty(), refusals.first()) {
        return match refusals.len() {
            1 => Err(first.clone()),
            more => Err(Refusal::new(
                format!("none of the {more} was found; the first: {}", first.message),
                first.step.clone(),
            )),
        };
    }
    blocks.extend(
        refusals
            .iter()
            .map(|refusal| format!("{}\n", refusal.text())),
    );
    if !left.is_empty() {
        blocks.push(format!(
            "{} not read to stay within the tokens: call get with {}\n",
            left.len(),
            shown(&left)
        ));
    }
    Ok(ToolAnswer::text(blocks.join("\n").trim_end()))
}

fn find(call: &Call<'_>, id: &str) -> Result<Found, Refusal> {
    Ok(call.engine.find(call.guard(), id)?)
}

/// Returns a document under a line that says which it is, as far as it fits.
fn block(found: &Found, budget: &mut Budget) -> String {
    let document = &found.document;
    let mut head = format!(
        "#{} {} [{}/{}] ",
        document.short_id,
        title(&document.title),
        document.source,
        document.key
    );
    let day = kodiak::date::format(document.created_at.unwrap_or(document.updated_at));
    head.push_str(day.get(..10).unwrap_or_default());
    let changed = match found.freshness {
        Freshness::Same => "",
        _ => " (may have changed since it was indexed)",
    };
    budget.spend(tokens(&head) + KEPT);
    let (text, lines) = beginning(&found.text, budget.left());
    budget.spend(tokens(text));
    let (from, last) = (found.lines.from, found.lines.to);
    let to = (from + lines).saturating_sub(1).min(last);
    let whole = text.len() == found.text.len();
    let mut block = format!(
        "{head}, lines {from}-{to} of {}{changed}\n{text}",
        found.line_count
    );
    if !block.ends_with('\n') {
        block.push('\n');
    }
    if !whole {
        let next = if to < last { to + 1 } else { to };
        block.push_str(&format!(
            "[cut: get #{}:{next}-{last} for the rest, or raise max_tokens]\n",
            document.short_id
        ));
    }
    block
}

/// The ids that are named; more are counted.
fn shown(ids: &[&str]) -> String {
    const SHOWN: usize = 5;
    let named: Vec<String> = ids
        .iter()
        .take(SHOWN)
        .map(|id| id.chars().take(80).collect())
        .collect();
    match ids.len().saturating_sub(SHOWN) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}
