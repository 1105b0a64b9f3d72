//! Which documents meet an expression or a filter, and what they score.
//!
//! Owns looking through the terms of a document. What the positions found are
//! worth is [`kodiak::rank`]'s to say.

use std::ops::ControlFlow;

use kodiak::date;
use kodiak::rank::evidence::QueryWord;
use kodiak::rank::{Bm25, Corpus, Field, LexicalScore, TermMatches};
use kodiak::store::{Column, Expression, Filter, Phrase};
use kodiak::text::{Purpose, Tokenizer};
use serde_json::{Map, Value};

use super::{Indexed, Terms};

const FIELDS: [Field; super::FIELDS] = [Field::Title, Field::Body, Field::Tags];

/// A phrase that counts in a document, and each place where it stands as a field and a
/// position.
type Counted = (Phrase, Vec<(usize, usize)>);

/// Returns a score that no words were ranked for.
pub(super) fn unranked(score: f64) -> LexicalScore {
    LexicalScore {
        score,
        coverage: 0.0,
    }
}

/// Collects the weights and words of the phrases that an expression looks for.
fn weights(expression: &Expression, found: &mut Vec<(f64, Option<QueryWord>)>) {
    match expression {
        Expression::Phrase(phrase) => found.push((phrase.weight, phrase.word)),
        Expression::Near(phrases, _) => {
            let phrases = phrases.iter().filter(|phrase| !pattern(phrase).is_empty());
            found.extend(phrases.map(|phrase| (phrase.weight, phrase.word)));
        }
        Expression::All(parts) | Expression::Any(parts) => {
            for part in parts {
                weights(part, found);
            }
        }
        Expression::Except(wanted, _) => weights(wanted, found),
    }
}

impl Indexed {
    /// Returns whether the document meets an expression.
    pub(super) fn meets(&self, expression: &Expression) -> bool {
        self.evaluate(expression).is_some()
    }

    /// Returns what the document scores; `None` if it does not meet the
    /// expression.
    pub(super) fn score(
        &self,
        expression: &Expression,
        links: &[(Phrase, u32)],
        corpus: Corpus,
        bm25: &Bm25,
    ) -> Option<LexicalScore> {
        let mut matches = TermMatches::default();
        let mut wanted = Vec::new();
        weights(expression, &mut wanted);
        matches.begin(&wanted);
        let in_links = |phrase: &Phrase| {
            let mut links = links.iter();
            links.find(|(linked, _)| is_same(linked, phrase))
        };
        let counted = match self.evaluate(expression) {
            Some(counted) => counted,
            None => expression
                .is_met_where(&|phrase| phrase.column.is_none() && in_links(phrase).is_some())
                .then(Vec::new)?,
        };
        for (phrase, places) in &counted {
            if phrase.weight != 0.0 {
                matches.phrase(phrase.weight, phrase.word);
                for &(field, position) in places {
                    matches.occurrence(FIELDS[field], position as u32, bm25);
                }
                if let Some((_, documents)) = in_links(phrase) {
                    matches.linked(*documents, bm25);
                }
            }
        }
        let counts = |phrase: &Phrase| {
            let mut counted = counted.iter().filter(|(one, _)| one.weight != 0.0);
            counted.any(|(one, _)| is_same(one, phrase))
        };
        for (phrase, documents) in links.iter().filter(|(phrase, _)| !counts(phrase)) {
            matches.phrase(phrase.weight, phrase.word);
            matches.linked(*documents, bm25);
        }
        let length = |field: Option<Field>| {
            let wanted = |at: &usize| field.is_none_or(|field| FIELDS[*at] == field);
            let lengths = (0..FIELDS.len())
                .filter(wanted)
                .map(|at| self.terms[at].len());
            Some(lengths.sum::<usize>() as f64)
        };
        matches.score(bm25, corpus.average_length.max(1.0), 0.0, length)
    }

    /// Returns the phrases that count, in order; `None` if the document does not
    /// meet the expression. Parts that are not met, and what must not be met,
    /// count nothing.
    fn evaluate(&self, expression: &Expression) -> Option<Vec<Counted>> {
        match expression {
            Expression::Phrase(phrase) => {
                let places = self.locations(phrase, phrase.column, &pattern(phrase));
                (!places.is_empty()).then(|| vec![(phrase.clone(), places)])
            }
            Expression::Near(phrases, distance) => self.near(phrases, *distance),
            Expression::All(parts) => {
                let parts: Option<Vec<_>> = parts.iter().map(|part| self.evaluate(part)).collect();
                parts
                    .filter(|parts| !parts.is_empty())
                    .map(|it| it.concat())
            }
            Expression::Any(parts) => {
                let met: Vec<_> = parts
                    .iter()
                    .filter_map(|part| self.evaluate(part))
                    .collect();
                (!met.is_empty()).then(|| met.concat())
            }
            Expression::Except(wanted, unwanted) => {
                let met = self.evaluate(wanted)?;
                (!self.meets(unwanted)).then_some(met)
            }
        }
    }

    /// Returns each place where a phrase stands.
    fn locations(
        &self,
        phrase: &Phrase,
        column: Option<Column>,
        pattern: &[String],
    ) -> Vec<(usize, usize)> {
        let mut places = Vec::new();
        for (field, terms) in self.terms.iter().enumerate() {
            let searched = match column {
                None => true,
                Some(Column::Title) => FIELDS[field] == Field::Title,
                Some(Column::Tags) => FIELDS[field] == Field::Tags,
            };
            if searched && !pattern.is_empty() {
                let starts =
                    (0..terms.len()).filter(|&at| stands(terms, at, pattern, phrase.prefix));
                places.extend(starts.map(|at| (field, at)));
            }
        }
        places
    }

    /// Returns the places of phrases that stand near each other: between the end
    /// of each and the beginning of the last there are no more than so many words.
    /// The first phrase says in which column.
    fn near(&self, phrases: &[Phrase], distance: usize) -> Option<Vec<Counted>> {
        let column = phrases.first().and_then(|phrase| phrase.column);
        let patterns = phrases.iter().map(|phrase| (phrase, pattern(phrase)));
        let patterns: Vec<_> = patterns.filter(|(_, terms)| !terms.is_empty()).collect();
        let all: Vec<_> = patterns
            .iter()
            .map(|(phrase, terms)| self.locations(phrase, column, terms))
            .collect();
        let mut near = vec![Vec::new(); all.len()];
        for &(field, last) in all.iter().flatten() {
            let reaches = |number: usize, (at, start): (usize, usize)| {
                let end = start + patterns[number].1.len();
                at == field && start <= last && end + distance >= last
            };
            let within = |number: usize| {
                let places = all[number].iter().copied();
                places.filter(move |&place| reaches(number, place))
            };
            if (0..all.len()).all(|number| within(number).next().is_some()) {
                for (number, near) in near.iter_mut().enumerate() {
                    near.extend(within(number));
                }
            }
        }
        let counted = patterns.iter().zip(near).map(|((phrase, _), mut places)| {
            places.sort_unstable();
            places.dedup();
            ((*phrase).clone(), places)
        });
        let counted: Vec<Counted> = counted.collect();
        counted
            .iter()
            .any(|(_, places)| !places.is_empty())
            .then_some(counted)
    }

    /// Returns whether the title or the body contains a text, ASCII case aside.
    pub(super) fn contains(&self, text: &str) -> bool {
        contains(&self.document.title, text) || contains(&self.document.body, text)
    }

    /// Returns how well the title and the body contain texts literally.
    pub(super) fn literal_score(&self, needles: &[String]) -> f64 {
        let score = |needle: &String| {
            let (title, body) = (&self.document.title, &self.document.body);
            10 * u32::from(contains(title, needle)) + u32::from(contains(body, needle))
        };
        f64::from(needles.iter().map(score).sum::<u32>())
    }

    /// Returns whether a filter admits the document.
    pub(super) fn is_admitted(&self, filter: &Filter) -> bool {
        let document = &self.document;
        let among = |names: &[String], name: Option<&str>| {
            let equal =
                |wanted: &String| name.is_some_and(|name| name.eq_ignore_ascii_case(wanted));
            names.is_empty() || names.iter().any(equal)
        };
        let within = |moment: i64| {
            filter.after.is_none_or(|after| moment >= after)
                && filter.before.is_none_or(|before| moment < before)
        };
        let path = |path: &String| document.key.starts_with(path.as_str());
        filter.admits_source(&document.source)
            && among(&filter.kinds, Some(&document.kind))
            && (filter.projects.is_empty()
                || document
                    .project
                    .as_ref()
                    .is_some_and(|one| filter.projects.contains(one)))
            && filter
                .scope
                .project()
                .is_none_or(|project| document.project.as_deref() == Some(project))
            && among(&filter.categories, document.category.as_deref())
            && filter.tags.iter().all(|tag| self.has_tag(tag))
            && (document.created_at.is_some_and(within) || within(document.updated_at))
            && filter
                .as_of
                .is_none_or(|moment| document.created_at.unwrap_or(document.updated_at) <= moment)
            && !document
                .project
                .as_ref()
                .is_some_and(|project| filter.not_projects.contains(project))
            && (filter.not_kinds.is_empty() || !among(&filter.not_kinds, Some(&document.kind)))
            && !filter.not_paths.iter().any(|(source, path)| {
                let within = source.as_ref().is_none_or(|it| *it == document.source);
                within && document.key.starts_with(path.as_str())
            })
            && (filter.paths.is_empty() || filter.paths.iter().any(path))
            && filter
                .fields
                .iter()
                .all(|(name, value)| self.has_field(name, value))
    }

    /// Returns whether the document has a tag or one below it.
    fn has_tag(&self, tag: &str) -> bool {
        let wanted = tag.trim().trim_matches('#').to_ascii_lowercase();
        self.document.tags.iter().any(|tag| {
            let tag = tag.to_ascii_lowercase();
            let rest = tag.strip_prefix(&wanted);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }

    /// Returns whether a field of the frontmatter has a value. Those that are
    /// part of every document go by several names.
    fn has_field(&self, name: &str, value: &str) -> bool {
        const DAY: i64 = 24 * 60 * 60;
        let document = &self.document;
        let same = |text: &str| text.eq_ignore_ascii_case(value);
        let on_day = |moment: Option<i64>| match (moment, date::parse(value)) {
            (Some(moment), Some(day)) => (day..day + DAY).contains(&moment),
            _ => false,
        };
        let known = match name.to_ascii_lowercase().as_str() {
            "title" => same(&document.title),
            "kind" | "type" | "memory_kind" => same(&document.kind),
            "category" | "auto_category" => document.category.as_deref().is_some_and(same),
            "created" | "created_at" | "date" => on_day(document.created_at),
            "updated" | "updated_at" | "modified" => on_day(Some(document.updated_at)),
            "tag" | "tags" | "keywords" => {
                let wanted = value.trim_start_matches('#');
                document
                    .tags
                    .iter()
                    .any(|tag| tag.eq_ignore_ascii_case(wanted))
            }
            _ => false,
        };
        let mut fields = flat_fields(&document.fields).into_iter();
        known || fields.any(|(known, text)| known.eq_ignore_ascii_case(name) && same(&text))
    }
}

fn is_same(one: &Phrase, other: &Phrase) -> bool {
    one.text == other.text && one.prefix == other.prefix
}

/// Returns the terms of a phrase.
pub(super) fn pattern(phrase: &Phrase) -> Vec<String> {
    let purpose = if phrase.prefix {
        Purpose::Prefix
    } else {
        Purpose::Query
    };
    let mut terms = Vec::new();
    let _ = Tokenizer::default().each_term(&phrase.text, purpose, |term| {
        terms.push(term.text.to_owned());
        ControlFlow::<()>::Continue(())
    });
    terms
}

/// Returns whether a phrase begins at a position; its last term may go on if it
/// is a prefix.
pub(super) fn stands(terms: &Terms, at: usize, pattern: &[String], prefix: bool) -> bool {
    let Some(terms) = terms.get(at..at + pattern.len()) else {
        return false;
    };
    let pairs = terms.iter().zip(pattern).enumerate();
    let mut fit = pairs.map(|(number, (here, wanted))| {
        let open = prefix && number + 1 == pattern.len();
        here.iter()
            .any(|term| term == wanted || (open && term.starts_with(wanted.as_str())))
    });
    fit.all(|fits| fits)
}

fn contains(text: &str, needle: &str) -> bool {
    text.to_ascii_lowercase()
        .contains(&needle.to_ascii_lowercase())
}

/// Returns fields as names and plain values: a list gives one pair for each
/// element, names inside a mapping are joined with a dot.
pub(super) fn flat_fields(fields: &Map<String, Value>) -> Vec<(String, String)> {
    fn flat(name: &str, value: &Value) -> Vec<(String, String)> {
        match value {
            Value::Null => Vec::new(),
            Value::Array(values) => values.iter().flat_map(|value| flat(name, value)).collect(),
            Value::Object(fields) => {
                let inner = fields.iter();
                inner
                    .flat_map(|(inner, value)| flat(&format!("{name}.{inner}"), value))
                    .collect()
            }
            Value::String(text) => vec![(name.to_owned(), text.clone())],
            other => vec![(name.to_owned(), other.to_string())],
        }
    }
    let fields = fields.iter();
    fields.flat_map(|(name, value)| flat(name, value)).collect()
}

/// Returns the optimal string alignment distance: insertions, deletions,
/// replacements and swaps of neighbours, none of which is edited again.
pub(super) fn edit_distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut costs = vec![vec![0; other.len() + 1]; one.len() + 1];
    for row in 0..=one.len() {
        for column in 0..=other.len() {
            if row == 0 || column == 0 {
                costs[row][column] = row + column;
                continue;
            }
            let differs = usize::from(one[row - 1] != other[column - 1]);
            let mut least = (costs[row - 1][column] + 1)
                .min(costs[row][column - 1] + 1)
                .min(costs[row - 1][column - 1] + differs);
            let swapped = row > 1
                && column > 1
                && one[row - 1] == other[column - 2]
                && one[row - 2] == other[column - 1];
            if swapped {
                least = least.min(costs[row - 2][column - 2] + 1);
            }
            costs[row][column] = least;
        }
    }
    costs[one.len()][other.len()]
}
