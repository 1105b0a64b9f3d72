//! Presentation: reads the ranked documents, checks them against their sources
//! and makes hits of them, with snippets and explanations.

use std::collections::HashSet;
use std::rc::Rc;

use super::candidate::{Candidate, Ranked};
use super::caveat::{Caveat, NotIndexed};
use super::desk::Desk;
use super::duplicates::Originals;
use super::freshness::{Freshener, Freshness};
use super::lexical::Terms;
use super::relevance::{Judge, Judgement};
use super::snippet::{self, Contained, Finder};
use super::terms::PlannedTerm;
use super::{ExplainedTerm, Explanation, Hit, Request};
use crate::document::ALIASES;
use crate::document::newlines;
use crate::error::{Error, Result};
use crate::source::{Described, Details, Source};
use crate::store::{ChunkSpan, Filter, LinkMatch, Phrase, Reader, Row, StoredDocument, Wanted};
use crate::text::Stemming;

/// Turns ranked documents into hits.
pub(super) struct Presenter<'a> {
    pub(super) store: &'a dyn Reader,
    pub(super) desk: &'a Desk<'a>,
    pub(super) sources: &'a [Box<dyn Source>],
    pub(super) request: &'a Request,
    /// Whether copies of a hit become part of it.
    pub(super) collapse: bool,
}

/// The hits, and the number of documents that turned out to be gone.
pub(super) struct Presented {
    pub(super) hits: Vec<Hit>,
    pub(super) gone: usize,
    /// The number of documents that became part of a hit.
    pub(super) collapsed: usize,
    /// The number of hits that the candidates did not suffice for.
    pub(super) missing: usize,
    /// The judgement of the hits, where there is one.
    pub(super) judgement: Option<Judgement>,
    /// The number of hits that were less relevant than asked for.
    pub(super) left_out: usize,
    pub(super) caveats: Vec<Caveat>,
}

impl Presented {
    /// Reports whether there are fewer hits than wanted because of copies.
    pub(super) fn lacks_hits(&self) -> bool {
        self.missing > 0 && self.collapsed > 0
    }

    /// Reports whether there was no hit, not even one of too little relevance.
    pub(super) fn found_nothing(&self) -> bool {
        self.hits.is_empty() && self.left_out == 0
    }
}

impl Presenter<'_> {
    /// Returns hits for the best documents that still exist.
    pub(super) fn present(
        &self,
        ranked: &Ranked,
        mut judge: Option<Judge<'_>>,
    ) -> Result<Presented> {
        let request = self.request;
        let rows: Vec<Row> = ranked.candidates.iter().map(|one| one.row).collect();
        let stemming = self.store.stemming();
        let finder = match &ranked.terms {
            Terms::Planned(terms) => Finder::terms(terms, stemming),
            Terms::Literal(needles) => Finder::literal(needles),
        };
        let shares_terms = judge.as_ref().is_some_and(|judge| judge.judges_by(&finder));
        let terms: &[PlannedTerm] = match &ranked.terms {
            Terms::Planned(terms) => terms,
            Terms::Literal(_) => &[],
        };
        let explained = if request.explain && !rows.is_empty() {
            terms
        } else {
            &[]
        };
        let linked = self.explained_links(explained)?;
        let mut hits: Vec<Hit> = Vec::new();
        let mut originals = Originals::new(stemming);
        let (mut gone, mut changed, mut unknown) = (0, 0, 0);
        let freshener = Freshener::new(self.sources, self.store);
        // Reads as many as the limit, and more only if some are gone.
        let mut candidates = ranked.candidates.iter();
        let step = request.limit.max(1);
        for (number, chunk) in rows.chunks(step).enumerate() {
            // What was not read before is read at once.
            let is_read = number == 0 || self.desk.has_all(chunk);
            let wanted = if is_read {
                chunk
            } else {
                &rows[number * step..]
            };
            self.desk.fetch(self.wanted(ranked, wanted))?;
            let documents = self.desk.documents(chunk)?;
            self.ask_sources(&freshener, &documents)?;
            for document in documents {
                let Some(candidate) = candidates.find(|one| one.row == document.row) else {
                    continue;
                };
                if hits.len() >= request.limit {
                    break;
                }
                let entry = self.desk.entry(document.row)?;
                let freshness = freshener.of(&document, entry.as_ref())?;
                if freshness == Freshness::Gone {
                    gone += 1;
                    continue;
                }
                let newer = ranked.superseded.get(&document.row);
                let source = self.source_of(&document);
                let statement = source.is_some_and(|source| source.traits().statements);
                if self.collapse
                    && newer.is_none()
                    && let Some(original) = originals.find(&document, statement)
                {
                    hits[original].also_in.push((&*document).into());
                    continue;
                }
                changed += usize::from(freshness == Freshness::Changed);
                unknown += usize::from(freshness == Freshness::Unknown);
                let span = self.span(candidate)?;
                let (mut hit, in_body) = hit(&document, candidate, span.as_ref(), &finder);
                hit.changed = freshness == Freshness::Changed;
                hit.superseded_by = self.short_id(newer)?;
                let key = entry.map(|(key, _)| key);
                let details = self.describe(&document, key.as_deref())?;
                hit.archived = details.archived;
                if !terms.is_empty() && !request.query.is_empty() {
                    let fields = self.desk.fields(document.row)?;
                    hit.alias = matching_alias(&fields, &document.title, terms, stemming);
                }
                hit.turn = details.turn;
                if let Some(key) = key {
                    hit.entry = key;
                }
                let in_body = in_body.filter(|_| shares_terms);
                let judged = judge
                    .as_mut()
                    .map(|judge| judge.read(&document, candidate, in_body));
                if request.explain {
                    let mut explained = explanation(
                        request,
                        &document,
                        candidate,
                        span.as_ref(),
                        terms,
                        &linked,
                        stemming,
                    );
                    explained.coverage = judged.map(|judged| round(judged.coverage));
                    explained.by_words = judged.map(|judged| round(judged.words));
                    explained.by_meaning = judged.and_then(|judged| judged.meaning).map(round);
                    hit.explanation = Some(explained);
                }
                hits.push(hit);
                if self.collapse && newer.is_none() {
                    originals.add((*document).clone(), hits.len() - 1, statement);
                }
            }
            if hits.len() >= request.limit {
                break;
            }
        }
        let collapsed = hits.iter().map(|hit| hit.also_in.len()).sum();
        let missing = request.limit.saturating_sub(hits.len());
        let mut judgement = judge.and_then(|judge| judge.judge(&mut hits));
        let left_out = leave_out(&mut hits, request.min_relevance);
        if let Some(judgement) = &mut judgement {
            judgement.relevant = hits.iter().filter(|hit| hit.probable).count();
        }
        let all_left_out = left_out.filter(|_| hits.is_empty()).map(|(count, best)| {
            let least = request.min_relevance;
            Caveat::BelowMinRelevance { count, best, least }
        });
        let told = [
            (gone, Caveat::DocumentsGone { count: gone }),
            (unknown, Caveat::DocumentsUnchecked { count: unknown }),
            (
                changed,
                Caveat::ChangesNotIndexed {
                    count: changed,
                    reason: NotIndexed::Unnoticed,
                },
            ),
        ];
        let told = told.into_iter().filter(|(count, _)| *count > 0);
        Ok(Presented {
            hits,
            gone,
            collapsed,
            missing,
            judgement,
            left_out: left_out.map_or(0, |(count, _)| count),
            caveats: told.map(|(_, caveat)| caveat).chain(all_left_out).collect(),
        })
    }

    /// Asks the sources about the entries of documents, each once.
    fn ask_sources(
        &self,
        freshener: &Freshener<'_>,
        documents: &[Rc<StoredDocument>],
    ) -> Result<()> {
        let mut entries: Vec<(&str, String)> = Vec::with_capacity(documents.len());
        for document in documents {
            let entry = self.desk.entry(document.row)?;
            entries.extend(entry.map(|(key, _)| (document.source.as_str(), key)));
        }
        freshener.ask(entries.iter().map(|(source, key)| (*source, key.as_str())));
        Ok(())
    }

    /// Returns the id of a document as hits show it.
    fn short_id(&self, row: Option<&Row>) -> Result<Option<String>> {
        let Some(row) = row else {
            return Ok(None);
        };
        let found = self.desk.documents(&[*row])?.pop();
        Ok(found.map(|document| document.short_id.clone()))
    }

    /// Returns the source of a document, if it is registered.
    fn source_of(&self, document: &StoredDocument) -> Option<&dyn Source> {
        let mut sources = self.sources.iter();
        let found = sources.find(|source| source.name() == document.source);
        found.map(|source| &**source)
    }

    /// Returns the details that the source of a document knows. Its fields alone have
    /// fewer.
    fn describe(&self, document: &StoredDocument, entry: Option<&str>) -> Result<Details> {
        let described = Described {
            document,
            entry,
            fields: &|| self.desk.fields(document.row),
        };
        match self.source_of(document) {
            Some(source) => source.describe(&described),
            None => described.by_fields(),
        }
    }

    /// Returns the span of the chunk nearest to the query, if the snippet or the
    /// explanation needs it.
    fn span(&self, candidate: &Candidate) -> Result<Option<ChunkSpan>> {
        match shown_chunk(self.request, candidate) {
            Some(chunk) => self.desk.span(chunk),
            None => Ok(None),
        }
    }

    /// Returns the reads that presenting these candidates needs.
    fn wanted(&self, ranked: &Ranked, rows: &[Row]) -> Wanted {
        let newer = rows.iter().filter_map(|row| ranked.superseded.get(row));
        let shown: HashSet<Row> = rows.iter().copied().collect();
        let candidates = ranked.candidates.iter();
        let candidates = candidates.filter(|one| shown.contains(&one.row));
        let spans = candidates.filter_map(|one| shown_chunk(self.request, one));
        Wanted {
            documents: rows.iter().chain(newer).copied().collect(),
            fields: rows.to_vec(),
            entries: rows.to_vec(),
            spans: spans.collect(),
            ..Wanted::default()
        }
    }

    /// Returns where the links with these terms lead to, for explanations.
    fn explained_links(&self, terms: &[PlannedTerm]) -> Result<Vec<LinkMatch>> {
        if terms.is_empty() {
            return Ok(Vec::new());
        }
        let phrases = terms.iter().map(|term| Phrase {
            text: term.term.clone(),
            prefix: term.prefix,
            ..Phrase::default()
        });
        let phrases: Vec<Phrase> = phrases.collect();
        match self.store.linked(&phrases, &Filter::default()) {
            Err(Error::Database { .. }) => Ok(Vec::new()),
            other => other,
        }
    }
}

/// Returns the chunk of a candidate nearest to the query, if the snippet or the
/// explanation needs it.
pub(super) fn shown_chunk(request: &Request, candidate: &Candidate) -> Option<i64> {
    let shown = request.explain || candidate.evidence.lexical_rank.is_none();
    let chunk = candidate.chunk.as_ref().filter(|_| shown);
    chunk.map(|chunk| chunk.chunk)
}

/// Removes the hits that are less relevant than `least`. Returns how many there
/// were, and the highest relevance of them.
fn leave_out(hits: &mut Vec<Hit>, least: f64) -> Option<(usize, f64)> {
    let too_low = |hit: &Hit| hit.relevance.filter(|&relevance| relevance < least);
    let count = hits.iter().filter_map(too_low).count();
    let best = hits.iter().filter_map(too_low).reduce(f64::max)?;
    hits.retain(|hit| too_low(hit).is_none());
    Some((count, best))
}

/// Makes a hit of a document. Returns the terms of its body as well, if all of the
/// body was read for the snippet.
fn hit(
    document: &StoredDocument,
    candidate: &Candidate,
    span: Option<&ChunkSpan>,
    finder: &Finder<'_>,
) -> (Hit, Option<Contained>) {
    // A semantic-only hit shows its nearest chunk.
    let (snippet, in_body) = match (span, candidate.evidence.lexical_rank) {
        (Some(span), None) => (finder.snippet_within(document, span.range.clone()), None),
        _ => finder.snippet(document),
    };
    let evidence = &candidate.evidence;
    let found_by = [
        (evidence.lexical_rank, "lexical"),
        (evidence.semantic_rank, "semantic"),
    ];
    let found_by = found_by.into_iter().filter(|(rank, _)| rank.is_some());
    let hit = Hit {
        card: document.into(),
        entry: document.key.clone(),
        row: document.row,
        line: snippet.line,
        lines: snippet.lines,
        snippet: snippet.text,
        marks: snippet.marks,
        score: round(candidate.score),
        similarity: evidence.similarity.map(round),
        found_by: found_by.map(|(_, name)| name).collect(),
        changed: false,
        archived: false,
        superseded_by: None,
        alias: None,
        corrects: Vec::new(),
        elsewhere: false,
        turn: None,
        relevance: None,
        probable: true,
        also_in: Vec::new(),
        explanation: None,
    };
    (hit, in_body)
}

/// Returns the alias that has more of the informative terms of a query than the title.
fn matching_alias(
    fields: &[(String, String)],
    title: &str,
    terms: &[PlannedTerm],
    stemming: Stemming,
) -> Option<String> {
    let weight = |text: &str| -> f64 {
        let informative = terms.iter().filter(|term| !term.common);
        informative
            .filter(|term| snippet::count(text, term, stemming) > 0)
            .map(|term| term.weight)
            .sum()
    };
    let is_alias = |name: &str| ALIASES.iter().any(|known| known.eq_ignore_ascii_case(name));
    let aliases = fields.iter().filter(|(name, _)| is_alias(name));
    let (_, alias) = aliases
        .map(|(_, alias)| (weight(alias), alias))
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .filter(|(found, _)| *found > weight(title))?;
    Some(alias.clone())
}

fn explanation(
    request: &Request,
    document: &StoredDocument,
    candidate: &Candidate,
    span: Option<&ChunkSpan>,
    terms: &[PlannedTerm],
    linked: &[LinkMatch],
    stemming: Stemming,
) -> Explanation {
    let tags = document.tags.join(" ");
    let texts = [&document.title, &document.body, &tags];
    let explained = terms.iter().enumerate().filter_map(|(number, term)| {
        let occurrences = texts.map(|text| snippet::count(text, term, stemming));
        let mut linked = linked.iter();
        let links = linked.find(|one| one.row == document.row && one.phrase == number);
        let links = links.map(|one| one.documents);
        let occurs = links.is_some() || occurrences.iter().sum::<usize>() > 0;
        occurs.then(|| ExplainedTerm {
            term: format!("{}{}", term.term, if term.prefix { "…" } else { "" }),
            occurrences,
            links,
            documents: term.documents,
            weight: round(term.weight),
        })
    });
    let evidence = &candidate.evidence;
    let front = newlines(&document.front);
    Explanation {
        lexical_rank: evidence.lexical_rank,
        lexical_score: evidence.lexical_rank.map(|_| round(evidence.lexical_score)),
        terms: explained.collect(),
        semantic_rank: evidence.semantic_rank,
        similarity: evidence.similarity.map(round),
        centroid_similarity: evidence.centroid_similarity.map(round),
        chunk_lines: span.map(|span| [span.lines.0 + front, span.lines.1 + front]),
        heading: span
            .map(|span| span.heading.clone())
            .filter(|heading| !heading.is_empty()),
        fusion: candidate.fused.map(|_| request.fusion.name()),
        lexical_weight: candidate.fused.map(|fused| round(fused.lexical_weight)),
        rescoring: candidate.fused.map(|fused| round(fused.rescoring)),
        fused_score: candidate.fused.map(|fused| round(fused.score)),
        reranked: candidate.reranked.map(round),
        coverage: None,
        passage_coverage: evidence.lexical_rank.map(|_| round(evidence.coverage)),
        by_words: None,
        by_meaning: None,
    }
}

/// Rounds a number of an answer to four decimal places.
pub(super) fn round(number: f64) -> f64 {
    (number * 10_000.0).round() / 10_000.0
}
