//! Translates a [`Filter`] into SQL over `documents AS d`, with bound values.

use crate::value::Query;
use kodiak_store::Filter;
use kodiak_text::date;

/// When a document was written, as far as is known.
pub(crate) const WRITTEN: &str = "coalesce(d.created_at, d.updated_at)";

/// The number of characters by which long texts are found.
const BEGINNING: usize = 200;

/// Reports whether a filter depends on nothing but what the documents of a segment have in
/// common, and on which document it is.
pub(crate) fn is_by_segment(filter: &Filter) -> bool {
    *filter
        == Filter {
            sources: filter.sources.clone(),
            projects: filter.projects.clone(),
            not_projects: filter.not_projects.clone(),
            without: filter.without.clone(),
            ..filter.scope_only()
        }
}

/// Adds values to a statement and returns the conditions on them, joined by AND.
pub(crate) fn conditions(filter: &Filter, query: &mut Query) -> String {
    let mut all: Vec<String> = Vec::new();
    if !filter.sources.is_empty() {
        let sources = query.bind(&filter.sources[..]);
        all.push(format!("d.source = ANY({sources})"));
    }
    if let Some(scope) = filter.scope.sources() {
        let sources = query.bind(scope);
        all.push(format!("d.source = ANY({sources})"));
    }
    if !filter.projects.is_empty() {
        let projects = query.bind(&filter.projects[..]);
        all.push(format!("d.project = ANY({projects})"));
    }
    if !filter.not_projects.is_empty() {
        let projects = query.bind(&filter.not_projects[..]);
        all.push(format!("(d.project = ANY({projects})) IS NOT TRUE"));
    }
    if let Some(project) = filter.scope.project() {
        let project = query.bind(project);
        all.push(format!("d.project = {project}"));
    }
    for (column, names) in [("kind", &filter.kinds), ("category", &filter.categories)] {
        if !names.is_empty() {
            let lower: Vec<String> = names.iter().map(|name| name.to_ascii_lowercase()).collect();
            let names = query.bind(&lower[..]);
            all.push(format!("lower(d.{column}) = ANY({names})"));
        }
    }
    if !filter.not_kinds.is_empty() {
        let kinds = filter.not_kinds.iter();
        let lower: Vec<String> = kinds.map(|kind| kind.to_ascii_lowercase()).collect();
        let kinds = query.bind(&lower[..]);
        all.push(format!("lower(d.kind) <> ALL({kinds})"));
    }
    for tag in &filter.tags {
        let tag = tag.trim().trim_matches('#').to_ascii_lowercase();
        let below = query.bind(format!("{tag}/"));
        let tag = query.bind(tag);
        all.push(format!(
            "d.id IN (SELECT dt.document FROM document_tags AS dt JOIN tags AS t ON t.id = dt.tag
              WHERE lower(t.name) = {tag} OR starts_with(lower(t.name), {below}))"
        ));
    }
    if filter.after.is_some() || filter.before.is_some() {
        // People may remember either date.
        let after = query.bind(filter.after.unwrap_or(i64::MIN));
        let before = query.bind(filter.before.unwrap_or(i64::MAX));
        all.push(format!(
            "(d.created_at >= {after} AND d.created_at < {before}
              OR d.updated_at >= {after} AND d.updated_at < {before})"
        ));
    }
    if let Some(moment) = filter.as_of {
        let moment = query.bind(moment);
        all.push(format!("{WRITTEN} <= {moment}"));
    }
    if !filter.paths.is_empty() {
        let paths = query.bind(&filter.paths[..]);
        all.push(format!(
            "EXISTS (SELECT 1 FROM unnest({paths}) AS p(path) WHERE starts_with(d.key, p.path))"
        ));
    }
    for (source, path) in &filter.not_paths {
        let path = query.bind(path);
        let mut excluded = format!("starts_with(d.key, {path})");
        if let Some(source) = source {
            let source = query.bind(source);
            excluded.push_str(&format!(" AND d.source = {source}"));
        }
        all.push(format!("NOT ({excluded})"));
    }
    for (name, value) in &filter.fields {
        all.push(field(name, value, query));
    }
    if !filter.without.is_empty() {
        let rows = query.bind(&filter.without[..]);
        all.push(format!("d.id <> ALL({rows})"));
    }
    if all.is_empty() {
        return "true".to_owned();
    }
    all.join(" AND ")
}

/// Returns the condition that a text is equal to a value without regard to ASCII case,
/// which an index on its beginning answers.
pub(crate) fn is_text(column: &str, value: &str, query: &mut Query) -> String {
    let value = value.to_ascii_lowercase();
    let beginning: String = value.chars().take(BEGINNING).collect();
    let beginning = query.bind(beginning);
    let value = query.bind(value);
    format!("left(lower({column}), {BEGINNING}) = {beginning} AND lower({column}) = {value}")
}

/// Returns the condition for a frontmatter field. Fields that have a column in `documents`,
/// under any of their names, are also looked up there. A date stands for the whole day.
fn field(name: &str, value: &str, query: &mut Query) -> String {
    const DAY: i64 = 24 * 60 * 60;
    let name = name.to_ascii_lowercase();
    let is_named = is_text("f.name", &name, query);
    let has_value = is_text("f.value", value, query);
    let named =
        format!("d.id IN (SELECT f.document FROM fields AS f WHERE {is_named} AND {has_value})");
    let column = match name.as_str() {
        "title" => "title",
        "kind" | "type" | "memory_kind" => "kind",
        "category" | "auto_category" => "category",
        "created" | "created_at" | "date" => "created_at",
        "updated" | "updated_at" | "modified" => "updated_at",
        "tag" | "tags" | "keywords" => {
            let tag = query.bind(value.trim_start_matches('#').to_ascii_lowercase());
            return format!(
                "({named} OR d.id IN (SELECT dt.document FROM document_tags AS dt
                  JOIN tags AS t ON t.id = dt.tag WHERE lower(t.name) = {tag}))"
            );
        }
        _ => return named,
    };
    if column.ends_with("_at") {
        let Some(day) = date::parse(value) else {
            return named;
        };
        let (from, to) = (query.bind(day), query.bind(day + DAY));
        return format!("({named} OR (d.{column} >= {from} AND d.{column} < {to}))");
    }
    let value = query.bind(value.to_ascii_lowercase());
    format!("({named} OR lower(d.{column}) = {value})")
}
