//! Translates a [`Filter`] into SQL over `documents AS d`, with bound values.

use rusqlite::types::Value;

use crate::Filter;
use kodiak_text::date;

/// When a document was written, as far as is known.
pub(super) const WRITTEN: &str = "coalesce(d.created_at, d.updated_at)";

/// Returns conditions joined by AND (at least `d.deleted_at IS NULL`), and
/// their values.
pub(super) fn conditions(filter: &Filter) -> (String, Vec<Value>) {
    let mut sql = String::from("d.deleted_at IS NULL");
    let mut values = Vec::new();
    let any_of = |column: &str, names: &[String], sql: &mut String, values: &mut Vec<Value>| {
        if names.is_empty() {
            return;
        }
        let places = vec!["?"; names.len()].join(", ");
        sql.push_str(&format!(" AND {column} IN ({places})"));
        values.extend(names.iter().cloned().map(Value::from));
    };
    any_of("d.source", &filter.sources, &mut sql, &mut values);
    match filter.scope.sources() {
        None => {}
        Some([]) => sql.push_str(" AND 0"),
        Some(scope) => any_of("d.source", scope, &mut sql, &mut values),
    }
    any_of("d.project", &filter.projects, &mut sql, &mut values);
    for project in &filter.not_projects {
        sql.push_str(" AND d.project IS NOT ?");
        values.push(project.clone().into());
    }
    if let Some(project) = filter.scope.project() {
        sql.push_str(" AND d.project = ?");
        values.push(project.to_owned().into());
    }
    any_of(
        "d.kind COLLATE NOCASE",
        &filter.kinds,
        &mut sql,
        &mut values,
    );
    for kind in &filter.not_kinds {
        sql.push_str(" AND d.kind COLLATE NOCASE <> ?");
        values.push(kind.clone().into());
    }
    any_of(
        "d.category COLLATE NOCASE",
        &filter.categories,
        &mut sql,
        &mut values,
    );
    for tag in &filter.tags {
        let tag = tag.trim().trim_matches('#');
        sql.push_str(
            " AND d.id IN (SELECT dt.document FROM document_tags AS dt JOIN tags AS t
               ON t.id = dt.tag WHERE t.name = ? OR t.name LIKE ? ESCAPE '\\')",
        );
        values.push(tag.to_owned().into());
        values.push(format!("{}/%", escape_like(tag)).into());
    }
    if filter.after.is_some() || filter.before.is_some() {
        // People may remember either date.
        let within = |column: &str| format!("({column} >= ? AND {column} < ?)");
        sql.push_str(&format!(
            " AND ({} OR {})",
            within("d.created_at"),
            within("d.updated_at")
        ));
        for _ in 0..2 {
            values.push(filter.after.unwrap_or(i64::MIN).into());
            values.push(filter.before.unwrap_or(i64::MAX).into());
        }
    }
    if let Some(moment) = filter.as_of {
        sql.push_str(&format!(" AND {WRITTEN} <= ?"));
        values.push(moment.into());
    }
    if !filter.paths.is_empty() {
        let either = vec!["substr(d.key, 1, length(?)) = ?"; filter.paths.len()].join(" OR ");
        sql.push_str(&format!(" AND ({either})"));
        for path in &filter.paths {
            values.push(path.clone().into());
            values.push(path.clone().into());
        }
    }
    for (source, path) in &filter.not_paths {
        sql.push_str(" AND NOT (substr(d.key, 1, length(?)) = ?");
        values.extend([path.clone().into(), path.clone().into()]);
        if let Some(source) = source {
            sql.push_str(" AND d.source = ?");
            values.push(source.clone().into());
        }
        sql.push(')');
    }
    for (name, value) in &filter.fields {
        field(name, value, &mut sql, &mut values);
    }
    if !filter.without.is_empty() {
        sql.push_str(" AND d.id NOT IN (SELECT value FROM json_each(?))");
        let rows: Vec<String> = filter.without.iter().map(i64::to_string).collect();
        values.push(format!("[{}]", rows.join(",")).into());
    }
    (sql, values)
}

/// Adds the condition for a frontmatter field. Fields that have a column in
/// `documents`, under any of their names, are also looked up there. A date
/// stands for the whole day.
fn field(name: &str, value: &str, sql: &mut String, values: &mut Vec<Value>) {
    const DAY: i64 = 24 * 60 * 60;
    let name = name.to_ascii_lowercase();
    let named = "d.id IN (SELECT document FROM fields WHERE name = ? AND value = ?)";
    let column = match name.as_str() {
        "title" => "d.title",
        "kind" | "type" | "memory_kind" => "d.kind",
        "category" | "auto_category" => "d.category",
        "created" | "created_at" | "date" => "d.created_at",
        "updated" | "updated_at" | "modified" => "d.updated_at",
        "tag" | "tags" | "keywords" => {
            sql.push_str(&format!(
                " AND ({named} OR d.id IN (SELECT dt.document FROM document_tags AS dt
                   JOIN tags AS t ON t.id = dt.tag WHERE t.name = ?))"
            ));
            let tag = value.trim_start_matches('#').to_owned();
            values.extend([name.into(), value.to_owned().into(), tag.into()]);
            return;
        }
        _ => {
            sql.push_str(&format!(" AND {named}"));
            values.extend([name.into(), value.to_owned().into()]);
            return;
        }
    };
    let day = column
        .ends_with("_at")
        .then(|| date::parse(value))
        .flatten();
    let known: [Value; 2] = match day {
        Some(day) => [day.into(), (day + DAY).into()],
        None => [value.to_owned().into(), Value::Null],
    };
    sql.push_str(&format!(
        " AND ({named} OR {column} = ? COLLATE NOCASE OR ({column} >= ? AND {column} < ?))"
    ));
    let [from, to] = known;
    values.extend([name.into(), value.to_owned().into(), from.clone(), from, to]);
}

/// Escapes a text so that LIKE takes it literally, with `\` as the escape.
pub(super) fn escape_like(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '%' | '_' | '\\') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}
