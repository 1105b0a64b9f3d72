//! Lexical retrieval: translates an expression into FTS5's syntax and ranks the
//! matches with the rank function in `fts5`.

use std::ops::ControlFlow;

use rusqlite::types::{FromSql, Value};
use rusqlite::{Connection, params_from_iter};

use super::SqliteStore;
use super::filter::{conditions, escape_like};
use super::fts5::{RankChannel, RankParameters};
use crate::expression::MAX_LINKABLE;
use crate::{
    Best, Column, Expression, Filter, Lexical, LinkMatch, Links, Match, Matches, Phrase, Ranking,
    Row, Terms,
};
use kodiak_base::error::Result;
use kodiak_rank::evidence::QueryWord;
use kodiak_rank::rules::LITERAL_TITLE_WEIGHT;
use kodiak_rank::{LexicalScore, TermMatches};
use kodiak_text::text::{Purpose, Tokenizer};

impl Lexical for SqliteStore {
    fn ranked(&self, ranking: &Ranking<'_>, filter: &Filter) -> Result<Matches> {
        let found = self.rank(ranking.expression, ranking, filter)?;
        match ranking.instead {
            Some((least, expression)) if found.total < least => {
                self.rank(expression, ranking, filter)
            }
            _ => Ok(found),
        }
    }

    fn count(&self, expression: &Expression, filter: &Filter) -> Result<u64> {
        if let Some(members) = filter.members() {
            let mut count = 0;
            self.each_match(expression, |row| {
                count += u64::from(members.contains(row));
                ControlFlow::Continue(())
            })?;
            return Ok(count);
        }
        let (from, values) = self.matching(expression, filter)?;
        self.value(&format!("SELECT count(*) {from}"), values)
    }

    fn containing(
        &self,
        needles: &[String],
        excluded: &[Vec<String>],
        filter: &Filter,
        limit: usize,
    ) -> Result<Matches> {
        if needles.is_empty() {
            return Ok(Matches::default());
        }
        let (mut condition, filter_values) = conditions(filter);
        let one = format!(
            "{LITERAL_TITLE_WEIGHT} * (d.title LIKE ? ESCAPE '\\') + (b.body LIKE ? ESCAPE '\\')"
        );
        let score = vec![one; needles.len()].join(" + ");
        let mut values = Vec::new();
        for needle in needles {
            values.extend(twice_within(needle));
        }
        values.extend(filter_values);
        for texts in excluded.iter().filter(|texts| !texts.is_empty()) {
            let has = "(d.title LIKE ? ESCAPE '\\' OR b.body LIKE ? ESCAPE '\\')";
            let has_all = vec![has; texts.len()].join(" AND ");
            condition.push_str(&format!(" AND NOT ({has_all})"));
            values.extend(texts.iter().flat_map(|text| twice_within(text)));
        }
        let sql = format!(
            "SELECT id, CAST(score AS REAL) FROM (SELECT d.id AS id, {score} AS score
             FROM documents AS d JOIN bodies AS b ON b.document = d.id WHERE {condition})
             WHERE score > 0"
        );
        self.unranked(&sql, values, limit)
    }
}

impl SqliteStore {
    /// Returns the best documents that match `expression`, whatever the ranking is of.
    fn rank(
        &self,
        expression: &Expression,
        ranking: &Ranking<'_>,
        filter: &Filter,
    ) -> Result<Matches> {
        let &Ranking {
            corpus,
            bm25,
            limit,
            ..
        } = ranking;
        let mut rendered = Rendered::default();
        rendered.render(expression);
        let linked = if bm25.links_weight > 0.0 {
            self.linked_in(&rendered, filter)?
        } else {
            Vec::new()
        };
        let parameters = RankParameters {
            bm25,
            average_length: corpus.average_length,
            phrases: rendered.phrases,
            linked,
        };
        let mut values: Vec<Value> = vec![parameters.to_blob().into(), rendered.sql.into()];
        let mut sql = String::from(
            "SELECT rowid, kodiak_rank(documents_fts, ?1) FROM documents_fts WHERE documents_fts MATCH ?2",
        );
        let members = filter.members().cloned();
        if members.is_none() && !filter.is_empty() {
            let (condition, more) = conditions(filter);
            // The plus keeps FTS5 from running the whole match once per id.
            sql.push_str(&format!(
                " AND +rowid IN (SELECT d.id FROM documents AS d WHERE {condition})"
            ));
            values.extend(more);
        }
        self.ranking.lower();
        // What is found by links alone must not be found twice.
        let mut unseen = expression.found_by_links(&rendered.linkable, &parameters.linked);
        let mut best = Best::new(limit);
        self.ranking.admit(members);
        let ranked = self.with(|connection| {
            let ranking = Some(&self.ranking);
            best_of(connection, &sql, values, &mut best, ranking, |row| {
                unseen.remove(&row);
            })
        });
        self.ranking.admit(None);
        ranked?;
        if !unseen.is_empty() {
            let rows: Vec<Row> = unseen.into_iter().collect();
            for row in self.admitted(&rows, filter)? {
                best.offer(self.linked_score(row, &parameters)?);
            }
        }
        Ok(best.finish())
    }

    /// Reports whether any document matches `expression` and `filter`, which takes less
    /// than to count them.
    pub(super) fn is_matched(&self, expression: &Expression, filter: &Filter) -> Result<bool> {
        if let Some(members) = filter.members() {
            let mut any = false;
            self.each_match(expression, |row| {
                any = members.contains(row);
                if any {
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
            })?;
            return Ok(any);
        }
        let (from, values) = self.matching(expression, filter)?;
        self.value(&format!("SELECT EXISTS (SELECT 1 {from})"), values)
    }

    /// Returns the phrases of an expression in the texts of links, with their numbers in
    /// the expression.
    fn linked_in(&self, rendered: &Rendered, filter: &Filter) -> Result<Vec<LinkMatch>> {
        let phrases: Vec<Phrase> = rendered.linkable.iter().map(|(_, it)| it.clone()).collect();
        let mut linked = self.linked(&phrases, filter)?;
        for one in &mut linked {
            one.phrase = rendered.linkable[one.phrase].0;
        }
        Ok(linked)
    }

    /// Returns the score of a document that only links lead to.
    fn linked_score(&self, row: Row, parameters: &RankParameters) -> Result<Match> {
        let mut matches = TermMatches::default();
        matches.begin(&parameters.phrases);
        for one in parameters.linked.iter().filter(|one| one.row == row) {
            let (weight, word) = parameters.phrases[one.phrase];
            matches.phrase(weight, word);
            matches.linked(one.documents, &parameters.bm25);
        }
        let length = self.indexed_length(row)?.unwrap_or(0) as f64;
        let average = parameters.average_length.max(1.0);
        let scored = matches.score(&parameters.bm25, average, 0.0, |_| Some(length));
        let LexicalScore { score, coverage } = scored.unwrap_or_default();
        Ok(Match {
            row,
            score,
            coverage,
        })
    }

    /// Calls `visit` with every document that matches `expression` until it breaks
    /// off.
    pub(super) fn each_match(
        &self,
        expression: &Expression,
        mut visit: impl FnMut(Row) -> ControlFlow<()>,
    ) -> Result<()> {
        let (from, values) = self.matching(expression, &Filter::default())?;
        self.with(|connection| {
            let mut statement = connection.prepare_cached(&format!("SELECT rowid {from}"))?;
            let mut rows = statement.query(params_from_iter(values))?;
            while let Some(row) = rows.next()? {
                if visit(row.get(0)?).is_break() {
                    break;
                }
            }
            Ok(())
        })
    }

    /// Returns the clauses that select the documents that match `expression` and
    /// `filter`, with their parameters.
    fn matching(&self, expression: &Expression, filter: &Filter) -> Result<(String, Vec<Value>)> {
        // Fails if the full text's own tables are missing. Without this check
        // FTS5 would report the whole file as damaged.
        self.corpus()?;
        let mut values: Vec<Value> = vec![rendered(expression).into()];
        let mut from = String::from("FROM documents_fts WHERE documents_fts MATCH ?1");
        if !filter.is_empty() {
            let (condition, more) = conditions(filter);
            // The plus keeps FTS5 from running the whole match once per id.
            from.push_str(&format!(
                " AND +rowid IN (SELECT d.id FROM documents AS d WHERE {condition})"
            ));
            values.extend(more);
        }
        Ok((from, values))
    }

    /// Returns the best of the rows and scores that a statement yields.
    pub(super) fn unranked(&self, sql: &str, values: Vec<Value>, limit: usize) -> Result<Matches> {
        let mut best = Best::new(limit);
        self.with(|connection| best_of(connection, sql, values, &mut best, None, |_| ()))?;
        Ok(best.finish())
    }

    /// Returns the only value that a query selects.
    fn value<T: FromSql>(&self, sql: &str, values: Vec<Value>) -> Result<T> {
        self.with(|connection| {
            connection
                .prepare_cached(sql)?
                .query_row(params_from_iter(values), |row| row.get(0))
        })
    }
}

/// Returns the LIKE pattern for a text that contains `text`, once for the title
/// and once for the body.
fn twice_within(text: &str) -> [Value; 2] {
    let pattern = format!("%{}%", escape_like(text));
    [Value::from(pattern.clone()), Value::from(pattern)]
}

/// Offers the rows and scores that a statement yields, and calls `seen` with each row.
/// Tells the rank function, if it gives the scores, which score a row must reach to be
/// kept.
fn best_of(
    connection: &Connection,
    sql: &str,
    values: Vec<Value>,
    best: &mut Best,
    ranking: Option<&RankChannel>,
    mut seen: impl FnMut(Row),
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params_from_iter(values))?;
    while let Some(row) = rows.next()? {
        // A document that is not admitted has no score.
        let Some(score) = row.get(1)? else {
            continue;
        };
        let found = Match {
            row: row.get(0)?,
            score,
            coverage: ranking.map_or(0.0, RankChannel::coverage),
        };
        seen(found.row);
        if let (Some(worst), Some(ranking)) = (best.offer(found), ranking) {
            ranking.set(worst);
        }
    }
    Ok(())
}

/// Translates an expression into FTS5's syntax.
pub(super) fn rendered(expression: &Expression) -> String {
    let mut rendered = Rendered::default();
    rendered.render(expression);
    rendered.sql
}

/// An expression in FTS5's syntax. Every text is a quoted string, so that
/// nothing in it can act as an operator.
#[derive(Default)]
struct Rendered {
    sql: String,
    /// The weights and words of the phrases, in the order in which FTS5 numbers them.
    phrases: Vec<(f64, Option<QueryWord>)>,
    /// Those that count in the texts of links, with their numbers.
    linkable: Vec<(usize, Phrase)>,
}

impl Rendered {
    fn render(&mut self, expression: &Expression) {
        match expression {
            Expression::Phrase(phrase) => {
                if phrase.counts_in_links() && self.linkable.len() < MAX_LINKABLE {
                    self.linkable.push((self.phrases.len(), phrase.clone()));
                }
                self.column(phrase.column);
                self.phrase(phrase);
            }
            Expression::Near(phrases, distance) => self.near(phrases, *distance),
            Expression::All(parts) => self.join(parts, " AND "),
            Expression::Any(parts) => self.join(parts, " OR "),
            Expression::Except(wanted, unwanted) => {
                self.sql.push('(');
                self.render(wanted);
                self.sql.push_str(" NOT ");
                let wanted = self.phrases.len();
                let linkable = self.linkable.len();
                self.render(unwanted);
                self.linkable.truncate(linkable);
                // If no document at all has the wanted phrases, FTS5 still
                // reports the positions of the unwanted ones in a document that
                // another part of the expression finds.
                self.phrases[wanted..].fill((0.0, None));
                self.sql.push(')');
            }
        }
    }

    fn near(&mut self, phrases: &[Phrase], distance: usize) {
        let column = phrases.first().and_then(|phrase| phrase.column);
        // FTS5 drops phrases without terms from a NEAR group and numbers the
        // others as if those did not exist.
        let phrases: Vec<&Phrase> = phrases
            .iter()
            .filter(|phrase| has_terms(&phrase.text))
            .collect();
        let Some((first, others)) = phrases.split_first() else {
            self.nothing();
            return;
        };
        self.sql.push('(');
        self.column(column);
        self.sql.push_str("NEAR(");
        for phrase in &phrases {
            self.phrase(phrase);
            self.sql.push(' ');
        }
        self.sql.push_str(&format!(", {distance})"));
        if !others.is_empty() {
            // If a group does not match a row that another part of the
            // expression finds, FTS5 still reports positions of some of its
            // phrases, possibly those of an earlier row. Only under AND does it
            // discard them.
            self.sql.push_str(" AND ");
            self.column(column);
            self.phrase(&Phrase {
                weight: 0.0,
                word: None,
                ..(*first).clone()
            });
        }
        self.sql.push(')');
    }

    /// Renders a phrase that no document contains.
    fn nothing(&mut self) {
        self.sql.push_str("\"\"");
        self.phrases.push((0.0, None));
    }

    fn join(&mut self, parts: &[Expression], operator: &str) {
        self.sql.push('(');
        for (at, part) in parts.iter().enumerate() {
            if at > 0 {
                self.sql.push_str(operator);
            }
            self.render(part);
        }
        if parts.is_empty() {
            self.nothing();
        }
        self.sql.push(')');
    }

    fn column(&mut self, column: Option<Column>) {
        match column {
            Some(Column::Title) => self.sql.push_str("title : "),
            Some(Column::Tags) => self.sql.push_str("tags : "),
            None => {}
        }
    }

    fn phrase(&mut self, phrase: &Phrase) {
        self.sql.push('"');
        for character in phrase.text.chars() {
            match character {
                '"' => self.sql.push_str("\"\""),
                // A NUL would end the expression.
                '\0' => self.sql.push(' '),
                other => self.sql.push(other),
            }
        }
        self.sql.push('"');
        if phrase.prefix {
            self.sql.push_str(" *");
        }
        self.phrases.push((phrase.weight, phrase.word));
    }
}

/// Reports whether the tokenizer finds any term in a text.
fn has_terms(text: &str) -> bool {
    Tokenizer::default()
        .each_term(text, Purpose::Query, |_| ControlFlow::Break(()))
        .is_break()
}

#[cfg(test)]
#[path = "lexical_tests.rs"]
mod tests;
