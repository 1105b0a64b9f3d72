//! The plan of a search: the query, parsed and corrected, and its route through
//! the retrievers.

use super::caveat::Caveat;
use super::complete::{Completed, Completer, Completing, completed_text};
use super::limits::Limits;
use super::query::Query;
use super::surface::Surface;
use super::typo::{self, Speller};
use super::{Intent, Mode, Request};
use crate::error::{Error, Result};
use crate::rank::{KeywordRoute, Tuning};
use crate::store::Row;
use crate::text::word_count;

/// A query, ready for the retrievers.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// The query, with its misspelt words corrected.
    pub(super) query: Query,
    /// The kind of query it was taken for.
    pub(super) intent: Intent,
    /// The query's text with its corrections, if there are any.
    pub(super) corrected: Option<String>,
    /// The query's text with its last word completed, if it was.
    pub(super) completed: Option<String>,
    /// The texts to embed: the query as typed, and as corrected and completed, without
    /// operators and excluded words.
    pub(super) texts: Vec<String>,
    /// Which retrievers run.
    pub(super) route: Route,
    /// The number of documents each stage handles.
    pub(super) limits: Limits,
    /// The documents that must not be found, whatever else they match.
    pub(super) unwanted: Vec<Row>,
    pub(super) caveats: Vec<Caveat>,
}

/// Which retrievers run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// Literal matching of the whole text.
    Literal,
    /// None: the documents that pass the filter, newest first.
    Listing,
    /// Lexical only.
    Lexical,
    /// Lexical, with semantic hits below if there is room for them.
    LexicalFirst,
    /// Both, fused.
    Hybrid,
    /// Semantic, or lexical if that cannot run.
    Semantic,
}

impl Plan {
    /// Plans a search: parses and corrects the query and chooses a route.
    pub(super) fn of(speller: Speller<'_>, request: &Request, tuning: &Tuning) -> Result<Self> {
        let limits = Limits::of(request.limit, tuning);
        let intent = Intent::of(&request.query);
        let mut query = Query::parse(&request.query, request.all);
        if request.mode == Mode::Like || (query.is_empty() && query.excluded.is_empty()) {
            let wordless = request.mode != Mode::Like && is_listing(&request.query);
            return Ok(Self {
                query,
                intent,
                corrected: None,
                completed: None,
                texts: Vec::new(),
                route: if wordless {
                    Route::Listing
                } else {
                    Route::Literal
                },
                limits,
                unwanted: Vec::new(),
                caveats: if wordless && request.is_open() {
                    vec![Caveat::NothingAsked]
                } else {
                    Vec::new()
                },
            });
        }
        let mut caveats = if request.exact {
            Vec::new()
        } else {
            loosen_phrases(speller, request, &mut query)?
        };
        let typed = query.wanted_text(&request.query);
        let reading = Completer {
            speller,
            tuning,
            guesses: !request.exact,
            as_you_type: request.as_you_type,
        };
        let completing = complete(reading, &mut query)?;
        caveats.extend(completing.caveats);
        let completion = completing.completed.as_ref();
        let corrected = if request.exact {
            None
        } else {
            correct(speller, request, &mut query)?
        };
        let spelt = corrected.as_deref().unwrap_or(&request.query);
        let completed = completion.map(|completion| completed_text(spelt, completion));
        let meant = query.wanted_text(spelt);
        let meant = match completion.filter(|completion| completion.is_clear) {
            Some(completion) => completed_text(&meant, completion),
            None => meant,
        };
        let mut texts = vec![typed, meant];
        texts.dedup();
        let cut = query.cut_after;
        caveats.extend(cut.map(|words| Caveat::QueryTruncated { words }));
        let route = Route::of(request, &query, intent, tuning.keyword).beside(completion);
        let surface = Surface {
            lexicon: speller.lexicon,
            tuning,
        };
        let mut exact = query.clone();
        let (query, unwanted) = match surface.unwanted(&mut exact) {
            // What cannot be read is matched by stem.
            Err(Error::Database { .. }) => (query, Vec::new()),
            other => (exact, other?),
        };
        Ok(Self {
            query,
            intent,
            corrected,
            completed,
            texts,
            route,
            limits,
            unwanted,
            caveats,
        })
    }

    /// Returns the query's text as it is searched for: with its corrections, if there are
    /// any.
    pub(super) fn spelt<'a>(&'a self, request: &'a Request) -> &'a str {
        self.corrected.as_deref().unwrap_or(&request.query)
    }
}

/// Reports whether a query without words asks for a listing. Other signs are
/// matched literally.
fn is_listing(text: &str) -> bool {
    matches!(text.trim(), "" | "*")
}

/// Replaces each quoted phrase that no admitted document has by its words, and
/// returns a caveat for each.
fn loosen_phrases(
    speller: Speller<'_>,
    request: &Request,
    query: &mut Query,
) -> Result<Vec<Caveat>> {
    let mut caveats = Vec::new();
    for phrase in std::mem::take(&mut query.phrases) {
        let found = match speller.has_phrase(&phrase) {
            // A phrase that cannot be looked up stays required.
            Err(Error::Database { .. }) => true,
            other => other?,
        };
        if !found {
            query.loosen(&phrase, request.all);
            caveats.push(Caveat::PhraseNotFound { phrase });
        }
    }
    Ok(caveats)
}

/// Completes the query in place.
fn complete(completer: Completer<'_>, query: &mut Query) -> Result<Completing> {
    let mut changed = query.clone();
    match completer.complete(&mut changed) {
        // Words that cannot be looked up are taken as typed.
        Err(Error::Database { .. }) => Ok(Completing::default()),
        Err(error) => Err(error),
        Ok(completing) => {
            *query = changed;
            Ok(completing)
        }
    }
}

/// Corrects the query in place. Returns its text with the corrections, if there
/// are any.
fn correct(speller: Speller<'_>, request: &Request, query: &mut Query) -> Result<Option<String>> {
    let corrections = match speller.correct(query) {
        // Words that cannot be looked up are taken as typed.
        Err(Error::Database { .. }) => Vec::new(),
        other => other?,
    };
    let text = || typo::corrected_text(&request.query, &corrections);
    Ok((!corrections.is_empty()).then(text))
}

impl Route {
    /// Returns the route of a query whose last word was completed. If that is probably
    /// all of a word, documents that only mean it may be the answer, so those with a
    /// word that begins so do not come before them.
    fn beside(self, completion: Option<&Completed>) -> Self {
        match (self, completion) {
            (Self::LexicalFirst, Some(completion)) if completion.is_word => Self::Hybrid,
            _ => self,
        }
    }

    fn of(request: &Request, query: &Query, intent: Intent, keyword: KeywordRoute) -> Self {
        match (request.mode, intent) {
            (Mode::Like, _) => Self::Literal,
            (Mode::Lexical, _) => Self::Lexical,
            _ if query.is_empty() => Self::Lexical,
            (Mode::Semantic, _) => Self::Semantic,
            (Mode::Hybrid, _) | (Mode::Auto, Intent::Semantic) => Self::Hybrid,
            // A query with required clauses asks for exactly these words, so
            // similar documents are not an answer to it.
            (Mode::Auto, Intent::Keyword) if !query.required.is_empty() => Self::Lexical,
            (Mode::Auto, Intent::Keyword) => match keyword {
                KeywordRoute::Fused if word_count(&request.query) > 1 => Self::Hybrid,
                KeywordRoute::Fused | KeywordRoute::LexicalFirst => Self::LexicalFirst,
            },
        }
    }
}
