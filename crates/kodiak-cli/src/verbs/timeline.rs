//! `kodiak timeline`: lists what was learned when.

use kodiak::access::Guard;
use kodiak::store::Filter;
use kodiak_memory::{Memories, TimelineEntry, TimelineRequest};

use super::{Outcome, search};
use crate::arguments::{ChooseArguments, TimelineArguments};
use crate::assemble::Purpose;
use crate::context::{Context, explain_missing_index};
use crate::output::escape::escaped;
use crate::output::phrases::counted;
use crate::projects;

pub(super) fn run(arguments: &TimelineArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let config = context.config()?;
    let engine = context.engine(&config, Purpose::of("timeline").without_model(true))?;
    let missing_index = |error| explain_missing_index(error, &config);
    let chosen = &arguments.chosen;
    search::require_known(&chosen.sources, &config, &engine).map_err(missing_index)?;
    let (after, before) = search::limits(chosen.after.as_ref(), chosen.before.as_ref())?;
    let mut filter = filter(chosen);
    filter.projects = projects::resolve(&chosen.projects, &engine)?;
    let request = TimelineRequest {
        filter,
        after,
        before,
        around: arguments.around.clone(),
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
        output.notice("nothing was remembered then");
    } else {
        let mut rows = vec![
            ["id", "written", "kind", "tokens", "what", "tags"]
                .map(str::to_owned)
                .to_vec(),
        ];
        rows.extend(timeline.entries.iter().map(row));
        output.table(&rows)?;
        output.notice(&format!(
            "{}, about {}",
            match timeline.entries.len() {
                1 => "1 entry".to_owned(),
                many => format!("{many} entries"),
            },
            counted(timeline.tokens as u64, "token")
        ));
    }
    for reason in &timeline.completeness.0 {
        output.notice(&reason.to_string());
    }
    Ok(Outcome::of_finding(!timeline.entries.is_empty()))
}

/// Returns the filter for what was chosen, without dates and projects.
pub(super) fn filter(chosen: &ChooseArguments) -> Filter {
    let tags = chosen.tags.iter();
    Filter {
        sources: chosen.sources.clone(),
        tags: tags
            .map(|tag| tag.trim_start_matches('#').to_owned())
            .collect(),
        kinds: chosen.kinds.clone(),
        categories: chosen.categories.clone(),
        ..Filter::default()
    }
}

fn row(entry: &TimelineEntry) -> Vec<String> {
    let mark = if entry.anchor { "> " } else { "" };
    let label = match &entry.superseded_by {
        Some(newer) => format!("  (superseded by {newer})"),
        None => String::new(),
    };
    vec![
        entry.id.clone(),
        entry.created_at.clone(),
        escaped(&entry.kind).into_owned(),
        entry.tokens.to_string(),
        format!("{mark}{}{label}", escaped(&entry.summary)),
        escaped(&entry.tags.join(", ")).into_owned(),
    ]
}
