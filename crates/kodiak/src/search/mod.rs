//! From a query to an answer: parse, correct, retrieve, present.
//!
//! [`Router`] is the single way in. It decides what runs; each step is a room
//! of its own and knows nothing of the others.

mod answer;
mod intent;
mod lexical;
mod lookup;
mod query;
mod snippet;
mod suggest;
mod token;
mod typo;

use std::time::Instant;

pub use answer::{Answer, ExplainedTerm, Explanation, Hit, Retrievers, Suggestion};
pub use intent::Intent;
pub use lookup::Found;

use crate::date;
use crate::document::uri;
use crate::error::{Error, Result};
use crate::source::{Presence, Source};
use crate::store::{Filter, Matches, Row, SqliteStore, StoredDocument};
use crate::text::words;
use lexical::{Plan, PlannedTerm};
use query::Query;
use snippet::Finder;

/// How many of a query's words `like` looks for: each is a pass over all text.
const MOST_NEEDLES: usize = 8;

/// How much of a query is looked for literally, in bytes.
const LONGEST_NEEDLE: usize = 1_000;

/// How to search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Whatever suits the query.
    #[default]
    Auto,
    /// Words, ranked.
    Lexical,
    /// Literal text, anywhere, even inside words.
    Like,
}

/// A search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// What to look for.
    pub query: String,
    /// How many hits at most.
    pub limit: usize,
    /// How to search.
    pub mode: Mode,
    /// What to search in.
    pub filter: Filter,
    /// Whether every word must occur.
    pub all: bool,
    /// Whether words are taken as typed, never corrected.
    pub exact: bool,
    /// Whether each hit says how it was ranked.
    pub explain: bool,
}

/// The single way into the index, for every surface.
#[derive(Debug)]
pub struct Router<'a> {
    store: &'a SqliteStore,
    sources: &'a [Box<dyn Source>],
}

impl std::fmt::Debug for dyn Source {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Source({})", self.name())
    }
}

/// Documents retrieved, before they are read.
struct Retrieved {
    matches: Matches,
    retriever: &'static str,
    finder: Terms,
}

/// What snippets are made from.
enum Terms {
    Planned(Vec<PlannedTerm>),
    Literal(Vec<String>),
}

impl<'a> Router<'a> {
    /// A router over `store`. Hits are checked against `sources`, where the
    /// source they are from is among them.
    pub fn new(store: &'a SqliteStore, sources: &'a [Box<dyn Source>]) -> Self {
        Self { store, sources }
    }

    /// Answers a search. No query, however odd, is an error.
    pub fn search(&self, request: &Request) -> Result<Answer> {
        self.store.in_snapshot(|| self.answer(request))
    }

    fn answer(&self, request: &Request) -> Result<Answer> {
        let started = Instant::now();
        let mut answer = Answer {
            query: request.query.clone(),
            corrected: None,
            intent: Intent::of(&request.query),
            retrievers: Retrievers::default(),
            embedded: 0.0,
            notices: Vec::new(),
            total: 0,
            took_ms: 0,
            hits: Vec::new(),
            suggestions: Vec::new(),
        };
        // Hits that turn out to be gone are made up for from a few more.
        let limit = request.limit.saturating_add(request.limit.min(20));
        let retrieved = self.retrieve(request, limit, &mut answer)?;
        answer.retrievers.lexical = Some(retrieved.retriever.to_owned());
        for source in self.store.incomplete_sources(&request.filter)? {
            answer
                .notices
                .push(format!("'{source}' is not completely indexed yet"));
        }
        answer.total = retrieved.matches.total;
        self.present(request, &retrieved, &mut answer)?;
        if answer.hits.is_empty() {
            answer.suggestions = self.suggestions(&request.query)?;
        }
        answer.took_ms = started.elapsed().as_millis() as u64;
        Ok(answer)
    }

    /// The word a search would look for instead of `word`; `None` where it
    /// would take it as typed.
    pub fn spelling(&self, word: &str) -> Result<Option<String>> {
        typo::suggestion(self.store, word)
    }

    fn retrieve(&self, request: &Request, limit: usize, answer: &mut Answer) -> Result<Retrieved> {
        if request.mode == Mode::Like {
            return self.retrieve_like(request, limit);
        }
        let mut query = Query::parse(&request.query, request.all);
        if query.cut_short {
            answer.notices.push(format!(
                "only the first {} words of the query were looked for",
                query::MOST_WORDS
            ));
        }
        if query.is_empty() && query.excluded.is_empty() {
            return self.retrieve_wordless(request, limit);
        }
        if !request.exact {
            let corrections = typo::correct(self.store, &mut query)?;
            if !corrections.is_empty() {
                answer.corrected = Some(typo::corrected_text(&request.query, &corrections));
            }
        }
        match self.retrieve_lexical(request, &query, limit) {
            // Damage is reported; anything else FTS5 refuses, LIKE answers.
            Err(Error::Database { source, .. }) => {
                answer.notices.push(format!(
                    "full-text search could not run ({source}); matched literally instead"
                ));
                self.retrieve_like(request, limit)
            }
            other => other,
        }
    }

    fn retrieve_lexical(
        &self,
        request: &Request,
        query: &Query,
        limit: usize,
    ) -> Result<Retrieved> {
        let corpus = self.store.corpus()?;
        let plan = lexical::plan(self.store, query, corpus)?;
        let filter = &request.filter;
        let run = |expression| self.store.matches(expression, filter, corpus, limit);
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
            finder: Terms::Planned(terms.clone()),
        })
    }

    /// A query of signs only: they may still stand somewhere literally. An empty
    /// one, or a lone star, lists what the filters leave.
    fn retrieve_wordless(&self, request: &Request, limit: usize) -> Result<Retrieved> {
        let typed = request.query.trim();
        if !typed.is_empty() && typed != "*" {
            return self.retrieve_like(request, limit);
        }
        let list = typed == "*" || !request.filter.is_empty();
        Ok(Retrieved {
            matches: if list {
                self.store.newest(&request.filter, None, limit)?
            } else {
                Matches::default()
            },
            retriever: "fts5",
            finder: Terms::Planned(Vec::new()),
        })
    }

    /// The whole query literally, without the quotes around it. Where LIKE
    /// stands in for the full text, any of its words will do.
    fn retrieve_like(&self, request: &Request, limit: usize) -> Result<Retrieved> {
        let typed = request.query.trim();
        let quoted = |quote| typed.strip_prefix(quote)?.strip_suffix(quote);
        let literal = quoted('"').or_else(|| quoted('\'')).unwrap_or(typed);
        let mut needles = Vec::new();
        if !literal.is_empty() {
            let end = literal.floor_char_boundary(LONGEST_NEEDLE);
            needles.push(literal[..end].to_owned());
        }
        if request.mode != Mode::Like {
            let words = words(typed).take(MOST_NEEDLES);
            needles.extend(words.map(|word| typed[word.range].to_owned()));
        }
        Ok(Retrieved {
            matches: self.store.containing(&needles, &request.filter, limit)?,
            retriever: "like",
            finder: Terms::Literal(needles),
        })
    }

    fn present(&self, request: &Request, retrieved: &Retrieved, answer: &mut Answer) -> Result<()> {
        let rows: Vec<Row> = retrieved.matches.best.iter().map(|&(row, _)| row).collect();
        let best = retrieved
            .matches
            .best
            .first()
            .map_or(1.0, |&(_, score)| score);
        let finder = match &retrieved.finder {
            Terms::Planned(terms) => Finder::terms(terms),
            Terms::Literal(needles) => Finder::literal(needles),
        };
        let (mut gone, mut changed, mut unknown) = (0, 0, 0);
        // Read as many as are wanted; more only where some are gone.
        let mut ranked = retrieved.matches.best.iter().enumerate();
        for chunk in rows.chunks(request.limit.max(1)) {
            for document in self.store.documents(chunk)? {
                let Some((rank, &(_, score))) = ranked.find(|(_, (row, _))| *row == document.row)
                else {
                    continue;
                };
                if answer.hits.len() >= request.limit {
                    return Ok(());
                }
                let freshness = self.freshness(&document);
                if freshness == Freshness::Gone {
                    gone += 1;
                    continue;
                }
                changed += usize::from(freshness == Freshness::Changed);
                unknown += usize::from(freshness == Freshness::Unknown);
                let mut hit = hit(&document, &finder);
                hit.score = round(if best > 0.0 { score / best } else { 0.0 });
                hit.changed = freshness == Freshness::Changed;
                if request.explain {
                    let terms = match &retrieved.finder {
                        Terms::Planned(terms) => terms.as_slice(),
                        Terms::Literal(_) => &[],
                    };
                    hit.explanation = Some(explanation(&document, rank + 1, score, terms));
                }
                answer.hits.push(hit);
            }
            if answer.hits.len() >= request.limit {
                break;
            }
        }
        answer.total -= gone;
        if gone > 0 {
            answer.notices.push(format!(
                "{} left out: {} no longer there",
                counted(gone, "document was", "documents were"),
                if gone == 1 {
                    "its file is"
                } else {
                    "their files are"
                },
            ));
        }
        if unknown > 0 {
            answer.notices.push(format!(
                "{} not be looked at and may have changed",
                counted(unknown, "file could", "files could"),
            ));
        }
        if changed > 0 {
            answer.notices.push(format!(
                "{} changed since the last index run",
                counted(changed, "document has", "documents have"),
            ));
        }
        Ok(())
    }

    fn freshness(&self, document: &StoredDocument) -> Freshness {
        let Some(source) = self
            .sources
            .iter()
            .find(|source| source.name() == document.source)
        else {
            return Freshness::Same;
        };
        match source.look(&document.key) {
            Presence::Gone => Freshness::Gone,
            Presence::Unknown => Freshness::Unknown,
            Presence::There(now) if document.stamp.differs_from(now) => Freshness::Changed,
            Presence::There(_) => Freshness::Same,
        }
    }

    fn suggestions(&self, text: &str) -> Result<Vec<Suggestion>> {
        let rows = suggest::similar_names(self.store, text, 3)?;
        let documents = self.store.documents(&rows)?;
        let suggestions = documents.into_iter().map(|document| Suggestion {
            id: format!("#{}", document.short_id),
            title: document.title,
            source: document.source,
            path: document.key,
        });
        Ok(suggestions.collect())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Freshness {
    Same,
    Changed,
    Gone,
    /// The source cannot be looked into now.
    Unknown,
}

fn hit(document: &StoredDocument, finder: &Finder<'_>) -> Hit {
    let snippet = finder.snippet(document);
    Hit {
        id: format!("#{}", document.short_id),
        uri: uri(&document.source, &document.key),
        source: document.source.clone(),
        path: document.key.clone(),
        kind: document.kind.clone(),
        title: document.title.clone(),
        category: document.category.clone(),
        tags: document.tags.clone(),
        created_at: document.created_at.map(date::format),
        updated_at: date::format(document.updated_at),
        line: snippet.line,
        snippet: snippet.text,
        marks: snippet.marks,
        score: 0.0,
        similarity: None,
        found_by: vec!["lexical"],
        changed: false,
        explanation: None,
    }
}

fn explanation(
    document: &StoredDocument,
    rank: usize,
    score: f64,
    terms: &[PlannedTerm],
) -> Explanation {
    let tags = document.tags.join(" ");
    let texts = [&document.title, &document.body, &tags];
    let explained = terms.iter().filter_map(|term| {
        let occurrences = texts.map(|text| snippet::count(text, term));
        (occurrences.iter().sum::<usize>() > 0).then(|| ExplainedTerm {
            term: format!("{}{}", term.term, if term.prefix { "…" } else { "" }),
            occurrences,
            documents: term.documents,
            weight: round(term.weight),
        })
    });
    Explanation {
        lexical_rank: rank,
        lexical_score: round(score),
        terms: explained.collect(),
    }
}

fn round(number: f64) -> f64 {
    (number * 10_000.0).round() / 10_000.0
}

fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
