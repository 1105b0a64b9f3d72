//! Term planning: turns a query into an expression that the store can rank.
//!
//! Owns the weight of each term, its idf, and pruning: which terms select the
//! documents and which only rank them.

use std::ops::{ControlFlow, Range};

use super::lexicon::Lexicon;
use super::query::{Clause, Condition, Form, Query};
use crate::error::Result;
use crate::rank::evidence::{QueryWord, surprise};
use crate::rank::spelling::{COMPLETED_WEIGHT, CORRECTED_WEIGHT};
use crate::rank::{Corpus, Tuning, idf};
use crate::store::{Expression, Phrase};
use crate::text::{Class, Purpose, Tokenizer, fold_into, is_stop_word, words};

/// The number of completions of a prefix that are looked for.
const COMPLETIONS: usize = 64;

/// A query, ready for the store.
#[derive(Clone, Debug, Default)]
pub(super) struct TermPlan {
    /// The expression to match and rank; `None` if the query looks for nothing.
    pub(super) expression: Option<Expression>,
    /// The expression with pruned terms: only the rarer ones select documents, and
    /// all rank them. `None` if pruning does not pay.
    pub(super) pruned: Option<Expression>,
    /// The expression that must not match, if the query looks for nothing and only
    /// excludes.
    pub(super) only_excluded: Option<Expression>,
    /// The terms the query looks for, for snippets and explanations.
    pub(super) terms: Vec<PlannedTerm>,
    /// The summed surprise of the words that count towards passage coverage.
    pub(super) whole: f64,
}

/// A term that the query looks for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PlannedTerm {
    /// The index term, or the beginning of one.
    pub(super) term: String,
    /// Whether `term` is only the beginning of a term.
    pub(super) prefix: bool,
    /// The word as typed, folded, if the term stands for a whole word; also if it
    /// stands for the words that begin so as well.
    pub(super) typed: Option<String>,
    /// Its document frequency.
    pub(super) documents: u64,
    /// Its idf, capped for stop words and lower for corrections.
    pub(super) weight: f64,
    /// Whether it is a stop word; the others are informative.
    pub(super) common: bool,
    /// Whether it is a stop word and as frequent here as one.
    pub(super) frequent: bool,
}

/// Plans the terms of `query`.
pub(super) fn plan(
    lexicon: &Lexicon<'_>,
    query: &Query,
    corpus: Corpus,
    tuning: &Tuning,
) -> Result<TermPlan> {
    let mut planner = Planner {
        lexicon,
        corpus,
        tuning,
        tokenizer: Tokenizer::new(lexicon.stemming()),
        terms: Vec::new(),
        words: Vec::new(),
        counts_common: !has_informative(query),
    };
    let excluded = planner.conditions(&query.excluded)?;
    // Excluded words are neither in snippets nor in explanations.
    planner.terms.clear();
    planner.words.clear();
    let required = planner.conditions(&query.required)?;
    let mut optional = Vec::new();
    for clause in &query.optional {
        optional.push(planner.clause(clause)?);
    }
    let wanted = combine(
        required.clone(),
        optional.iter().map(|(part, _)| part.clone()).collect(),
    );
    let pruned = if required.is_empty() {
        prune(&optional, corpus, tuning)
    } else {
        None
    };
    let excluded = any(excluded);
    let without = |wanted: Expression| match excluded.clone() {
        None => wanted,
        Some(excluded) => Expression::Except(Box::new(wanted), Box::new(excluded)),
    };
    Ok(TermPlan {
        only_excluded: if wanted.is_none() {
            excluded.clone()
        } else {
            None
        },
        expression: wanted.map(without),
        pruned: pruned.map(without),
        terms: planner.terms,
        whole: planner.words.iter().map(|(_, surprise)| surprise).sum(),
    })
}

/// Returns the expression a document must match and the one it must not match,
/// whichever retriever finds it.
pub(super) fn constraints(
    lexicon: &Lexicon<'_>,
    query: &Query,
    tuning: &Tuning,
) -> Result<(Option<Expression>, Option<Expression>)> {
    if query.required.is_empty() && query.excluded.is_empty() {
        return Ok((None, None));
    }
    let corpus = lexicon.corpus()?;
    let only = |required: &[_], excluded: &[_]| Query {
        required: required.to_vec(),
        excluded: excluded.to_vec(),
        ..Query::default()
    };
    let plan = |query: &Query| plan(lexicon, query, corpus, tuning);
    let required = plan(&only(&query.required, &[]))?;
    let excluded = plan(&only(&[], &query.excluded))?;
    Ok((required.expression, excluded.only_excluded))
}

/// Returns the expression that matches a clause.
pub(super) fn clause_expression(
    lexicon: &Lexicon<'_>,
    clause: &Clause,
    tuning: &Tuning,
) -> Result<Expression> {
    let mut planner = Planner {
        lexicon,
        corpus: lexicon.corpus()?,
        tuning,
        tokenizer: Tokenizer::new(lexicon.stemming()),
        terms: Vec::new(),
        words: Vec::new(),
        counts_common: true,
    };
    Ok(planner.clause(clause)?.0)
}

/// Reports whether a query has a word that is not a stop word.
fn has_informative(query: &Query) -> bool {
    fn condition(one: &Condition) -> bool {
        match one {
            Condition::Clause(clause) => informative(&clause.text),
            Condition::All(parts) | Condition::Any(parts) => parts.iter().any(condition),
            Condition::Except(wanted, _) => condition(wanted),
            Condition::Near(words, _) => words.iter().any(|word| informative(word)),
        }
    }
    fn informative(text: &str) -> bool {
        let mut folded = String::new();
        fold_into(text, &mut folded);
        !is_stop_word(&folded)
    }
    let mut optional = query.optional.iter();
    optional.any(|clause| informative(&clause.text)) || query.required.iter().any(condition)
}

struct Planner<'a> {
    lexicon: &'a Lexicon<'a>,
    corpus: Corpus,
    tuning: &'a Tuning,
    tokenizer: Tokenizer,
    terms: Vec<PlannedTerm>,
    /// The words of the query that count towards passage coverage, folded, with
    /// their surprise.
    words: Vec<(String, f64)>,
    /// Whether stop words count, too: in a query of nothing else.
    counts_common: bool,
}

/// The rarest term of a text.
#[derive(Clone, Copy, Debug)]
struct Weighed {
    /// Its idf, capped if the text is a stop word, times a factor.
    weight: f64,
    /// Its surprise, capped alike and times the same factor.
    surprise: f64,
    /// Its document frequency.
    documents: u64,
}

impl Planner<'_> {
    fn conditions(&mut self, conditions: &[Condition]) -> Result<Vec<Expression>> {
        conditions.iter().map(|part| self.condition(part)).collect()
    }

    fn condition(&mut self, condition: &Condition) -> Result<Expression> {
        Ok(match condition {
            Condition::Clause(clause) => self.clause(clause)?.0,
            Condition::All(parts) => Expression::All(self.conditions(parts)?),
            Condition::Any(parts) => Expression::Any(self.conditions(parts)?),
            Condition::Except(wanted, unwanted) => {
                let wanted = self.condition(wanted)?;
                let known = self.terms.len();
                let unwanted = self.condition(unwanted)?;
                self.terms.truncate(known);
                Expression::Except(Box::new(wanted), Box::new(unwanted))
            }
            Condition::Near(texts, distance) => {
                let mut phrases = Vec::new();
                for text in texts {
                    let weighed = self.weigh(text, 1.0)?;
                    phrases.push(Phrase {
                        text: text.clone(),
                        weight: weighed.weight,
                        word: self.word(text, weighed.surprise),
                        ..Phrase::default()
                    });
                }
                Expression::Near(phrases, *distance)
            }
        })
    }

    /// Returns the expression of a clause and an estimate of its document
    /// frequency.
    fn clause(&mut self, clause: &Clause) -> Result<(Expression, u64)> {
        if matches!(clause.form, Form::Prefix | Form::Unfinished) {
            return self.beginning(clause);
        }
        let factor = if clause.corrected {
            CORRECTED_WEIGHT
        } else {
            1.0
        };
        let weighed = self.weigh(&clause.text, factor)?;
        let phrase = Phrase {
            text: clause.text.clone(),
            column: clause.column,
            weight: weighed.weight,
            word: self.word(&clause.text, weighed.surprise),
            ..Phrase::default()
        };
        Ok((Expression::Phrase(phrase), weighed.documents))
    }

    /// Returns the expression of the beginning of a word and an estimate of its
    /// document frequency. An unfinished word is also looked for as it is, and then
    /// its completions count less.
    fn beginning(&mut self, clause: &Clause) -> Result<(Expression, u64)> {
        let mut folded = String::new();
        fold_into(&clause.text, &mut folded);
        let (completions, completed) = match &clause.among {
            Some(among) => {
                let texts = among.iter().map(|one| (one.term.clone(), false));
                let documents = among.iter().map(|one| one.documents).sum();
                (texts.collect(), documents)
            }
            None => self.completions(&folded)?,
        };
        let all = self.corpus.documents;
        let completed: u64 = all.min(completed);
        let mut planned = PlannedTerm {
            term: folded.clone(),
            prefix: true,
            typed: None,
            documents: completed,
            weight: idf(completed, self.corpus),
            common: false,
            frequent: false,
        };
        let mut factor = 1.0;
        let mut phrases: Vec<(String, bool, f64)> = Vec::with_capacity(completions.len() + 1);
        let weight_of_completions = planned.weight;
        let mut surprise = surprise(completed, all);
        if clause.form == Form::Unfinished {
            let known = self.terms.len();
            let whole = self.weigh(&clause.text, 1.0)?;
            self.terms.truncate(known);
            phrases.push((clause.text.clone(), false, whole.weight));
            factor = COMPLETED_WEIGHT;
            surprise = whole.surprise.max(factor * surprise);
            planned.common = is_stop_word(&folded);
            planned.typed = Some(folded);
            planned.documents = all.min(completed + whole.documents);
            planned.weight = whole.weight;
        }
        let completions = completions.into_iter();
        let each = factor * weight_of_completions;
        phrases.extend(completions.map(|(text, prefix)| (text, prefix, each)));
        let documents = planned.documents;
        self.terms.push(planned);
        let word = self.word(&clause.text, surprise);
        let phrases = phrases.into_iter().map(|(text, prefix, weight)| {
            Expression::Phrase(Phrase {
                text,
                prefix,
                column: clause.column,
                weight,
                word,
            })
        });
        Ok((Expression::Any(phrases.collect()), documents))
    }

    /// Returns the texts that match every word with this beginning, each with whether
    /// it is a prefix, and the number of documents that have these words. The index
    /// may hold stems that no longer begin with the prefix, so the words it completes
    /// to are looked for as well.
    fn completions(&mut self, folded: &str) -> Result<(Vec<(String, bool)>, u64)> {
        let completions = self.lexicon.words_beginning(folded, COMPLETIONS)?;
        let documents = completions.iter().map(|(_, documents)| documents).sum();
        let mut texts: Vec<(String, bool)> = vec![(folded.to_owned(), true)];
        let mut seen = std::collections::HashSet::new();
        for (word, _) in completions {
            for (term, _) in self.terms_of(&word) {
                if !term.starts_with(folded) && seen.insert(term) {
                    texts.push((word.clone(), false));
                }
            }
        }
        Ok((texts, documents))
    }

    /// Returns the word that a text is, which has this surprise, or `None` for a stop
    /// word that does not count.
    fn word(&mut self, text: &str, surprise: f64) -> Option<QueryWord> {
        let mut folded = String::new();
        fold_into(text, &mut folded);
        if !self.counts_common && is_stop_word(&folded) {
            return None;
        }
        let known = self.words.iter().position(|(word, _)| *word == folded);
        let number = known.unwrap_or_else(|| {
            self.words.push((folded, surprise));
            self.words.len() - 1
        });
        let number = u32::try_from(number).ok()?;
        Some(QueryWord { number, surprise })
    }

    /// Plans the terms of a text, whose weights count this much, and returns the rarest.
    fn weigh(&mut self, text: &str, factor: f64) -> Result<Weighed> {
        let terms = self.terms_of(text);
        let names = terms.iter().map(|(term, _)| term.as_str());
        let counts = self.lexicon.document_frequencies(names)?;
        let mut folded = String::new();
        fold_into(text, &mut folded);
        let common = is_stop_word(&folded);
        let most = if common {
            self.tuning.stop_word_idf
        } else {
            f64::MAX
        };
        let mut fewest = u64::MAX;
        for ((term, typed), documents) in terms.into_iter().zip(counts) {
            fewest = fewest.min(documents);
            let idf = idf(documents, self.corpus);
            let weight = factor * idf.min(most);
            self.terms.push(PlannedTerm {
                term,
                prefix: false,
                typed,
                documents,
                weight,
                common,
                frequent: common && idf < most,
            });
        }
        if fewest == u64::MAX {
            fewest = 0;
        }
        Ok(Weighed {
            weight: factor * idf(fewest, self.corpus).min(most),
            surprise: factor * surprise(fewest, self.corpus.documents).min(most),
            documents: fewest,
        })
    }

    /// Returns the terms of a text, each with the word it stands for, if it stands
    /// for a whole word.
    fn terms_of(&mut self, text: &str) -> Vec<(String, Option<String>)> {
        let spaced: Vec<Range<usize>> = words(text)
            .filter(|word| word.class == Class::Spaced)
            .map(|word| word.range)
            .collect();
        let mut terms = Vec::new();
        let _ = self.tokenizer.each_term(text, Purpose::Query, |term| {
            let typed = spaced.contains(&term.range).then(|| {
                let mut folded = String::new();
                fold_into(&text[term.range.clone()], &mut folded);
                folded
            });
            terms.push((term.text.to_owned(), typed));
            ControlFlow::<()>::Continue(())
        });
        terms
    }
}

/// Combines required and optional parts into an expression that matches all of
/// `required` and ranks by everything. FTS5 has no optional terms, but in
/// `r AND (r OR o)` o is optional: the second r has no weight and keeps o from
/// being required.
fn combine(mut required: Vec<Expression>, optional: Vec<Expression>) -> Option<Expression> {
    if required.is_empty() {
        return any(optional);
    }
    if !optional.is_empty() {
        let mut ranked = vec![weightless(&required[0])];
        ranked.extend(optional);
        required.push(Expression::Any(ranked));
    }
    if required.len() == 1 {
        return required.pop();
    }
    Some(Expression::All(required))
}

/// Returns the expression with high-frequency terms pruned: `(r) AND (r OR f)`,
/// where the rarer terms r select the documents and the frequent terms f only rank
/// them. Returns `None` if there are not both kinds, or too few documents for
/// pruning to matter.
fn prune(optional: &[(Expression, u64)], corpus: Corpus, tuning: &Tuning) -> Option<Expression> {
    if corpus.documents <= tuning.prune_min_documents {
        return None;
    }
    let limit = (corpus.documents as f64 * tuning.prune_max_frequency) as u64;
    let rare: Vec<Expression> = optional
        .iter()
        .filter(|(_, documents)| (1..=limit).contains(documents))
        .map(|(part, _)| weightless(part))
        .collect();
    if rare.is_empty() || rare.len() == optional.len() {
        return None;
    }
    let all = optional.iter().map(|(part, _)| part.clone()).collect();
    Some(Expression::All(vec![
        Expression::Any(rare),
        Expression::Any(all),
    ]))
}

/// Returns an expression that matches if any part does; `None` without parts.
fn any(mut parts: Vec<Expression>) -> Option<Expression> {
    match parts.len() {
        0 | 1 => parts.pop(),
        _ => Some(Expression::Any(parts)),
    }
}

/// Returns an expression that matches the same documents and adds nothing to their
/// scores.
fn weightless(expression: &Expression) -> Expression {
    let plain = |phrase: &Phrase| Phrase {
        weight: 0.0,
        word: None,
        ..phrase.clone()
    };
    let each = |parts: &[Expression]| parts.iter().map(weightless).collect();
    match expression {
        Expression::Phrase(phrase) => Expression::Phrase(plain(phrase)),
        Expression::Near(phrases, distance) => {
            Expression::Near(phrases.iter().map(plain).collect(), *distance)
        }
        Expression::All(parts) => Expression::All(each(parts)),
        Expression::Any(parts) => Expression::Any(each(parts)),
        Expression::Except(wanted, unwanted) => {
            Expression::Except(Box::new(weightless(wanted)), Box::new(weightless(unwanted)))
        }
    }
}
