//! The ranking by word: full text, or literal text where that is asked for or
//! all that is left.

use super::lexical::{self, Plan, PlannedTerm};
use super::query::Query;
use super::{Answer, Request, Router};
use crate::embed::Embedder;
use crate::error::{Error, Result};
use crate::store::{Bm25, Expression, Filter, Matches, Store};
use crate::text::words;

/// How many of a query's words `like` looks for: each is a pass over all text.
const MOST_NEEDLES: usize = 8;

/// So many words say something together.
const SAYING: usize = 3;

/// How much of a query is looked for literally, in bytes.
const LONGEST_NEEDLE: usize = 1_000;

/// Documents retrieved by word, before they are read.
pub(super) struct Retrieved {
    pub(super) matches: Matches,
    pub(super) retriever: &'static str,
    pub(super) terms: Terms,
}

/// What snippets are made from.
pub(super) enum Terms {
    Planned(Vec<PlannedTerm>),
    Literal(Vec<String>),
}

impl<S: Store, E: Embedder + ?Sized + 'static> Router<'_, S, E> {
    /// By full text; should that fail, literally.
    pub(super) fn retrieve_words(
        &self,
        request: &Request,
        query: &Query,
        filter: &Filter,
        limit: usize,
        answer: &mut Answer,
    ) -> Result<Retrieved> {
        match self.retrieve_planned(query, filter, limit) {
            // Damage is reported; anything else FTS5 refuses, LIKE answers.
            Err(Error::Database { source, .. }) => {
                answer.notices.push(format!(
                    "full-text search could not run ({source}); matched literally instead"
                ));
                self.retrieve_instead(request, query, filter, limit)
            }
            other => other,
        }
    }

    /// By full text.
    pub(super) fn retrieve_planned(
        &self,
        query: &Query,
        filter: &Filter,
        limit: usize,
    ) -> Result<Retrieved> {
        let corpus = self.store.corpus()?;
        let plan = lexical::plan(self.store, query, corpus, &self.tuning)?;
        let bm25 = self.bm25_for(&plan);
        let run = |expression| self.store.matches(expression, filter, corpus, bm25, limit);
        let Plan {
            expression,
            pruned,
            only_excluded,
            terms,
        } = &plan;
        let mut matches = match (pruned, expression) {
            (Some(pruned), _) => run(pruned)?,
            (None, Some(expression)) => run(expression)?,
            (None, None) => self.store.newest(filter, only_excluded.as_ref(), limit)?,
        };
        // The rarer words alone must not leave an answer shorter than asked for.
        if let (Some(_), Some(expression)) = (pruned, expression)
            && matches.total < limit
        {
            matches = run(expression)?;
        }
        Ok(Retrieved {
            matches,
            retriever: "fts5",
            terms: Terms::Planned(terms.clone()),
        })
    }

    /// One or two words are a name that is looked for, most likely a title: only
    /// from three on do they say something together.
    fn bm25_for(&self, plan: &Plan) -> Bm25 {
        let mut bm25 = self.tuning.bm25;
        let telling = plan.terms.iter().filter(|term| !term.common);
        if telling.count() < SAYING {
            bm25.together = 0.0;
        }
        bm25
    }

    /// What a document must match and what it must not, whoever finds it.
    pub(super) fn constraints(
        &self,
        query: &Query,
    ) -> Result<(Option<Expression>, Option<Expression>)> {
        if query.required.is_empty() && query.excluded.is_empty() {
            return Ok((None, None));
        }
        let corpus = self.store.corpus()?;
        let only = |required: &[_], excluded: &[_]| Query {
            required: required.to_vec(),
            excluded: excluded.to_vec(),
            ..Query::default()
        };
        let plan = |query: &Query| lexical::plan(self.store, query, corpus, &self.tuning);
        let required = plan(&only(&query.required, &[]))?;
        let excluded = plan(&only(&[], &query.excluded))?;
        Ok((required.expression, excluded.only_excluded))
    }

    /// A query of signs only: they may still stand somewhere literally. An empty
    /// one, or a lone star, lists what the filters leave.
    pub(super) fn retrieve_wordless(
        &self,
        request: &Request,
        filter: &Filter,
        limit: usize,
    ) -> Result<Retrieved> {
        let typed = request.query.trim();
        if !typed.is_empty() && typed != "*" {
            return self.retrieve_like(request, filter, limit);
        }
        let list = typed == "*" || !request.filter.is_empty();
        Ok(Retrieved {
            matches: if list {
                self.store.newest(filter, None, limit)?
            } else {
                Matches::default()
            },
            retriever: "fts5",
            terms: Terms::Planned(Vec::new()),
        })
    }

    /// The whole query literally, without the quotes around it.
    pub(super) fn retrieve_like(
        &self,
        request: &Request,
        filter: &Filter,
        limit: usize,
    ) -> Result<Retrieved> {
        let needles = literal(&request.query).into_iter().collect();
        self.retrieve_literal(needles, &[], filter, limit)
    }

    /// Where LIKE stands in for the full text: the whole query, or any of its
    /// words, but not what it shuts out.
    fn retrieve_instead(
        &self,
        request: &Request,
        query: &Query,
        filter: &Filter,
        limit: usize,
    ) -> Result<Retrieved> {
        let wanted = query.wanted_text(&request.query);
        let words = words(&wanted).take(MOST_NEEDLES);
        let words = words.map(|word| wanted[word.range].to_owned());
        let needles = literal(&wanted).into_iter().chain(words).collect();
        self.retrieve_literal(needles, &query.shut_out(), filter, limit)
    }

    fn retrieve_literal(
        &self,
        needles: Vec<String>,
        shut_out: &[Vec<String>],
        filter: &Filter,
        limit: usize,
    ) -> Result<Retrieved> {
        Ok(Retrieved {
            matches: self.store.containing(&needles, shut_out, filter, limit)?,
            retriever: "like",
            terms: Terms::Literal(needles),
        })
    }
}

/// What to look for literally; `None` if there is nothing.
fn literal(text: &str) -> Option<String> {
    let text = text.trim();
    let quoted = |quote| text.strip_prefix(quote)?.strip_suffix(quote);
    let literal = quoted('"').or_else(|| quoted('\'')).unwrap_or(text);
    let end = literal.floor_char_boundary(LONGEST_NEEDLE);
    (end > 0).then(|| literal[..end].to_owned())
}
