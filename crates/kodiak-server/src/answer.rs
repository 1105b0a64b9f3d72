//! Hits in words and as objects, within a budget.

use kodiak::Error;
use kodiak::search::{Answer, Card, Caveat, Completeness, Corrected, Hit};
use serde_json::{Map, Value, json};

use crate::budget::{Budget, clipped, tokens};
use crate::failure::Refusal;
use crate::frame::{self, INDENT, one_line};
use crate::news::{About, Level};
use crate::scope;
use crate::tool::{Call, ToolAnswer};

/// The most hits of one answer.
pub(crate) const MOST_HITS: usize = 100;
/// The tokens that are kept for what is said about the hits.
const KEPT: usize = 60;

/// Returns the schema of an answer with hits.
pub(crate) fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "hits": {"type": "array", "items": {"type": "object"}},
            "total": {"type": "integer"},
            "complete": {"type": "boolean"},
            "remarks": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["hits", "total", "complete", "remarks"],
    })
}

/// Something that a list has: a text of a few lines, and an object.
pub(crate) trait Listed {
    /// Returns it as a text, with its number. Without the whole, it only says which
    /// it is.
    fn text(&self, number: usize, whole: bool) -> String;
    /// Returns it as an object.
    fn object(&self, whole: bool) -> Value;
}

/// Words an answer within the budget of its call, the best hits first.
pub(crate) fn hits(call: &Call<'_>, answer: &Answer) -> ToolAnswer {
    let remarks = remarks(call, answer);
    list(
        call,
        &answer.hits,
        answer.total,
        answer.is_complete(),
        remarks,
    )
}

/// Words what was found. If there is no index yet but something to index, nothing
/// was found and that is said: no search fails for want of an index.
pub(crate) fn unless_unindexed<T>(
    call: &Call<'_>,
    found: kodiak::Result<T>,
    worded: impl FnOnce(T) -> ToolAnswer,
) -> Result<ToolAnswer, Refusal> {
    match found {
        Ok(found) => Ok(worded(found)),
        Err(error @ Error::NoIndex { .. }) => match unindexed(call) {
            Some(remark) => Ok(list::<Hit>(call, &[], 0, false, vec![remark])),
            None => Err(error.into()),
        },
        Err(error) => Err(error.into()),
    }
}

/// Returns what to say where there is no index yet, if there is something to
/// index. It is indexed in the background.
pub(crate) fn unindexed(call: &Call<'_>) -> Option<String> {
    let status = call.engine.status(call.guard()).ok()?;
    let working = !status.sources.is_empty() && call.server.work().ask();
    working.then(|| {
        let doing = call.server.work().doing().filter(|_| call.sees_work());
        let doing = doing.map_or(String::new(), |doing| format!(" ({doing})"));
        format!("incomplete: nothing is indexed yet; indexing goes on, search again soon{doing}")
    })
}

/// Words a list within the budget of its call. `total` counts also what was not
/// asked for.
pub(crate) fn list<T: Listed>(
    call: &Call<'_>,
    items: &[T],
    total: usize,
    complete: bool,
    mut remarks: Vec<String>,
) -> ToolAnswer {
    let mut budget = call.budget();
    let most = budget.left();
    budget.spend(
        KEPT + remarks
            .iter()
            .map(|remark| tokens(remark) + 4)
            .sum::<usize>(),
    );
    let (texts, objects) = fitting(items, &mut budget);
    let cut = items.len() - objects.len();
    if cut > 0 {
        remarks.push(format!(
            "{cut} of {} hits were cut to stay within {most} tokens: raise max_tokens or narrow the search",
            items.len()
        ));
    }
    let mut text = texts.concat();
    if items.is_empty() {
        text.push_str("No hits.\n");
    } else if total > items.len() {
        text.push_str(&format!(
            "{} of {total} matches; raise limit for more. get reads one by its id.\n",
            objects.len()
        ));
    }
    for remark in &remarks {
        text.push_str(&format!("Note: {remark}\n"));
    }
    let structured = json!({
        "hits": objects,
        "total": total,
        "complete": complete,
        "remarks": remarks,
    });
    ToolAnswer::structured(text.trim_end(), structured)
}

/// Returns the texts and objects of the first items that can be afforded. The last
/// ones may be shorter.
fn fitting<T: Listed>(items: &[T], budget: &mut Budget) -> (Vec<String>, Vec<Value>) {
    let (mut texts, mut objects) = (Vec::new(), Vec::new());
    for (number, item) in items.iter().enumerate() {
        let forms = |whole: bool| {
            let (text, object) = (item.text(number + 1, whole), item.object(whole));
            let cost = tokens(&text).max(tokens(&object.to_string()));
            (text, object, cost)
        };
        let mut form = forms(true);
        if !budget.afford(form.2) {
            form = forms(false);
            if !budget.afford(form.2) {
                break;
            }
        }
        texts.push(form.0);
        objects.push(form.1);
    }
    (texts, objects)
}

impl Listed for Hit {
    fn text(&self, number: usize, whole: bool) -> String {
        let mut text = format!(
            "{number}. {} {} {} {}",
            self.id,
            frame::title(&self.title),
            frame::place(&self.source, &self.path, Some(self.line)),
            date(self)
        );
        if let Some(alias) = &self.alias {
            text.push_str(&format!(" (alias {})", frame::title(alias)));
        }
        text.push_str(&by(self));
        text.push_str(&frame::tags(self.tags.iter().take(MOST_TAGS)));
        if self.elsewhere {
            text.push_str(" (another project)");
        }
        if !self.also_in.is_empty() {
            text.push_str(&format!(" (also in {})", copies(self).join(", ")));
        }
        if let Some(newer) = &self.superseded_by {
            text.push_str(&format!(" (superseded by {newer})"));
        }
        text.push_str(&corrections(&self.corrects));
        text.push('\n');
        if whole && !self.snippet.is_empty() {
            text.push_str(&format!("{INDENT}{}\n", one_line(&self.snippet)));
        }
        text
    }

    fn object(&self, whole: bool) -> Value {
        let mut object = Map::new();
        let mut add = |name: &str, value: Value| object.insert(name.to_owned(), value);
        add("id", self.id.as_str().into());
        add("title", title(&self.title).into());
        if let Some(alias) = &self.alias {
            add("alias", title(alias).into());
        }
        add("source", harmless(&self.source));
        add("path", harmless(&self.path));
        add("line", self.line.into());
        add("date", date(self).into());
        if let Some(author) = author(self) {
            add("author", harmless(author));
        }
        if self.kind != "note" {
            add("kind", harmless(&self.kind));
        }
        if !self.tags.is_empty() {
            add("tags", tags(&self.tags));
        }
        add("score", hundredths(self.score));
        if let Some(relevance) = self.relevance {
            add("relevance", hundredths(relevance));
        }
        if !self.also_in.is_empty() {
            add("also_in", copies(self).into());
        }
        if let Some(newer) = &self.superseded_by {
            add("superseded_by", newer.as_str().into());
        }
        if !self.corrects.is_empty() {
            add("corrects", corrected(&self.corrects));
        }
        if whole && !self.snippet.is_empty() {
            add("snippet", one_line(&self.snippet).into());
        }
        object.into()
    }
}

/// Returns what a document corrects, in words.
pub(crate) fn corrections(corrected: &[Corrected]) -> String {
    let corrected = corrected.iter();
    corrected
        .map(|older| format!(" (corrects {}: {})", older.id, frame::title(&older.text)))
        .collect()
}

/// Returns what a document corrects, as values.
pub(crate) fn corrected(corrected: &[Corrected]) -> Value {
    let corrected = corrected.iter();
    corrected
        .map(|older| json!({"id": older.id, "text": harmless(&older.text)}))
        .collect()
}

/// The copies that are named; more are counted.
const COPIES: usize = 3;

fn copies(hit: &Hit) -> Vec<String> {
    let mut ids: Vec<String> = hit.also_in.iter().map(|copy| copy.id.clone()).collect();
    let more = ids.len().saturating_sub(COPIES);
    ids.truncate(COPIES);
    if more > 0 {
        ids.push(format!("{more} more"));
    }
    ids
}

/// Returns the day on which a hit was written, or changed if that is not known.
fn date(hit: &Hit) -> &str {
    let moment = hit.written_at();
    moment.get(..10).unwrap_or(moment)
}

/// Returns who wrote a document, as lines about it say it. Nothing is said of a turn of a
/// session, which says so itself.
pub(crate) fn by(card: &Card) -> String {
    let author = author(card).map(|author| format!(" by {}", frame::title(author)));
    author.unwrap_or_default()
}

/// Returns the name of who wrote a document, unless it is a turn of a session.
pub(crate) fn author(card: &Card) -> Option<&str> {
    card.author.as_deref().filter(|_| card.kind != "turn")
}

pub(crate) fn hundredths(number: f64) -> Value {
    ((number * 100.0).round() / 100.0).into()
}

/// The most tags that are shown of a document.
pub(crate) const MOST_TAGS: usize = 12;

/// Returns a title as objects have it: on one line of bearable length.
pub(crate) fn title(title: &str) -> String {
    clipped(&one_line(title), frame::LONGEST_TITLE)
}

/// Returns a value of a document as objects have it.
pub(crate) fn harmless(text: &str) -> Value {
    kodiak::escape::line(text).into()
}

/// Returns the tags of a document as objects have them.
pub(crate) fn tags(tags: &[String]) -> Value {
    let tags = tags.iter().take(MOST_TAGS);
    tags.map(|tag| harmless(tag)).collect()
}

/// Returns what an agent should know about an answer, each in one line.
pub(crate) fn remarks(call: &Call<'_>, answer: &Answer) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(corrected) = &answer.corrected {
        remarks.push(format!("searched for {} instead", frame::quoted(corrected)));
    }
    if let Some(completed) = &answer.completed {
        let completed = frame::quoted(completed);
        remarks.push(format!("the last word was completed: {completed}"));
    }
    let told = notices(call, &answer.notices);
    let found = !answer.hits.is_empty() && answer.notices.uncertainty().is_none();
    let lexical_only = told.iter().any(|remark| remark.starts_with(LEXICAL));
    if !found && !lexical_only && answer.retrievers.semantic.is_none() {
        remarks.push(format!("{LEXICAL}; {NO_PROOF}"));
    }
    remarks.extend(told);
    remarks.extend(lacking(call, &answer.completeness));
    let suggestions: Vec<String> = answer
        .suggestions
        .iter()
        .map(|one| format!("{} ({})", frame::quoted(&clipped(&one.title, 60)), one.id))
        .collect();
    if !suggestions.is_empty() {
        remarks.push(format!("did you mean {}?", suggestions.join(", or ")));
    }
    let remarks = remarks.iter();
    remarks
        .map(|remark| clipped(&one_line(remark), LONGEST))
        .collect()
}

/// The longest remark in characters. Some repeat what was searched for.
const LONGEST: usize = 300;

const LEXICAL: &str = "lexical only";
const NO_PROOF: &str = "a miss is not proof of absence";

/// Words the notices of an answer, apart from what [`lacking`] says.
pub(crate) fn notices(call: &Call<'_>, notices: &[Caveat]) -> Vec<String> {
    let mut remarks = Vec::new();
    for notice in scope::told_to(call.guard(), notices) {
        match notice {
            Caveat::SemanticUnavailable(absence) => {
                let text = format!("{LEXICAL}: {absence}");
                let news = call.server.news();
                news.tell_once(Level::Warning, About::Index, &text);
                remarks.push(format!("{text}; {NO_PROOF}"));
            }
            Caveat::RelevanceUnknown { .. } => {}
            notice if notice.is_incomplete() => {}
            notice => remarks.push(notice.to_string()),
        }
    }
    remarks
}

/// Returns why an answer is not complete, in one line. What an index lacks is
/// added in the background.
pub(crate) fn lacking(call: &Call<'_>, completeness: &Completeness) -> Option<String> {
    let mut reasons: Vec<String> = Vec::new();
    for reason in scope::told_to(call.guard(), &completeness.0) {
        // What the user would do about it is done in the background.
        let fact = reason.fact();
        let said = matches!(reason, Caveat::SemanticUnavailable(_)) || reasons.contains(&fact);
        if !said {
            reasons.push(fact);
        }
    }
    if reasons.is_empty() {
        return None;
    }
    let mut line = format!("incomplete: {}", reasons.join("; "));
    let behind = completeness.0.iter().any(Caveat::is_behind);
    if behind && call.server.work().ask() {
        line.push_str("; indexing goes on, search again soon");
        if let Some(doing) = call.server.work().doing().filter(|_| call.sees_work()) {
            line.push_str(&format!(" ({doing})"));
        }
    }
    Some(line)
}
