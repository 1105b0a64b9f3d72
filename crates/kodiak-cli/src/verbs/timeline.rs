//! `kodiak timeline`: lists what was learned when.

use kodiak::Timestamp;
use kodiak::access::Guard;
use kodiak::engine::Ask;
use kodiak_memory::{Memories, TimelineEntry, TimelineRequest};

use super::{Outcome, get};
use crate::arguments::{ChooseArguments, TimelineArguments};
use crate::assemble::Purpose;
use crate::context::{Context, explain_missing_index};
use crate::output::escape::escaped;
use crate::output::phrases::counted;
use crate::output::table::{Step, Table};
use crate::output::{Output, When};
use crate::projects;

pub(super) fn run(arguments: &TimelineArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let config = context.config()?;
    let engine = context.engine(&config, Purpose::of("timeline").without_model(true))?;
    let missing_index = |error| explain_missing_index(error, &config);
    let mut filter = ask(&arguments.chosen).filter(engine.view(&Guard::local()))?;
    let around = |typed: &str| match get::find(&engine, &config, typed) {
        Ok(found) => found.document.uid,
        // The timeline says what is wrong with the name.
        Err(_) => get::name(typed),
    };
    let request = TimelineRequest {
        after: filter.after.take(),
        before: filter.before.take(),
        filter,
        turns: arguments.turns,
        around: arguments.around.as_deref().map(around),
        context: arguments.context as usize,
        limit: arguments.limit as usize,
        refresh: true,
    };
    let timeline = Memories::new(&engine).timeline(&Guard::local(), &request);
    let timeline = timeline.map_err(missing_index)?;
    let output = context.output;
    if arguments.json {
        output.json(&timeline)?;
    } else if timeline.entries.is_empty() {
        output.notice("nothing was remembered in that period");
    } else {
        let steps = [
            Step::Drop("tokens"),
            Step::Cut("tags", 12),
            Step::Cut("what", 40),
            Step::Drop("tags"),
            Step::Cut("what", 20),
            Step::Drop("kind"),
            Step::Cut("what", 8),
        ];
        let headings = ["id", "written", "kind", "tokens", "what", "tags"];
        let mut table = Table::new(headings, &steps);
        let now = kodiak::date::now();
        for entry in &timeline.entries {
            table.push(row(entry, now, output));
        }
        output.table(&table)?;
        if output.says_everything() {
            output.notice(&format!(
                "{}, about {}",
                match timeline.entries.len() {
                    1 => "1 entry".to_owned(),
                    many => format!("{many} entries"),
                },
                counted(timeline.tokens as u64, "token")
            ));
        }
    }
    if timeline.entries.is_empty() || output.says_everything() {
        for reason in &timeline.completeness.0 {
            output.notice(&reason.to_string());
        }
    }
    Ok(Outcome::Done)
}

/// Returns what was chosen.
pub(super) fn ask(chosen: &ChooseArguments) -> Ask {
    Ask {
        sources: chosen.sources.clone(),
        tags: chosen.tags.clone(),
        kinds: chosen.kinds.clone(),
        categories: chosen.categories.clone(),
        projects: projects::typed(&chosen.projects),
        after: chosen.after.clone(),
        before: chosen.before.clone(),
        ..Ask::default()
    }
}

fn row(entry: &TimelineEntry, now: Timestamp, output: &Output) -> Vec<String> {
    let written = entry.written_at();
    let written = match kodiak::date::parse(written) {
        Some(at) => output.when(at, now, When::Moment),
        None => written.to_owned(),
    };
    let mark = if entry.anchor { "> " } else { "" };
    let mut label = match &entry.superseded_by {
        Some(newer) => format!("  (superseded by {newer})"),
        None => String::new(),
    };
    for corrected in &entry.corrects {
        label.push_str(&format!("  ({})", escaped(&corrected.to_string())));
    }
    vec![
        entry.id.clone(),
        written,
        escaped(&entry.kind).into_owned(),
        entry.tokens.to_string(),
        format!("{mark}{}{label}", escaped(&entry.summary)),
        escaped(&entry.tags.join(", ")).into_owned(),
    ]
}
