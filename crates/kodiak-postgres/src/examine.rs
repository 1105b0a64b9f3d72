//! Checks of the index, which compare what is derived with what it is derived from.

use std::collections::{BTreeMap, HashMap};

use crate::reader::PostgresReader;
use crate::segment::Postings;
use crate::value::{Query, count, get};
use kodiak_base::error::{Error, Result};
use kodiak_store::{Finding, Row};
use kodiak_text::terms::TermIndexer;

/// The approximate number of documents that are tokenised again.
const SAMPLE: u64 = 100;

/// The number of rows of postings that are read at a time.
const PAGE: usize = 5_000;

impl PostgresReader {
    pub(crate) fn examine_snapshot(&self) -> Result<Vec<Finding>> {
        let mut findings = Vec::new();
        self.compare_rows(&mut findings)?;
        let live = match self.live() {
            Err(Error::Corrupt { detail, .. }) => {
                findings.push(Finding::new("segments are damaged", vec![detail]));
                return Ok(findings);
            }
            live => live?,
        };
        let mut present = BTreeMap::new();
        for segment in &live.segments {
            for (ordinal, row) in segment.present() {
                if present
                    .insert(row, segment.members.length(ordinal))
                    .is_some()
                {
                    let example = format!("document {row}");
                    findings.push(Finding::new("documents in two segments", vec![example]));
                }
            }
        }
        let rows = self.rows_of(Query::new("SELECT id, source || '/' || key FROM documents"))?;
        let mut names: HashMap<Row, String> = HashMap::new();
        for row in &rows {
            names.insert(get(row, 0)?, get(row, 1)?);
        }
        let missing = names.iter().filter(|(row, _)| !present.contains_key(row));
        let missing: Vec<String> = missing.map(|(_, name)| name.clone()).collect();
        let extra = present.keys().filter(|row| !names.contains_key(row));
        let extra: Vec<String> = extra.map(|row| format!("document {row}")).collect();
        for (problem, found) in [
            ("documents missing from the full text", missing),
            ("documents of the full text that are gone", extra),
        ] {
            if !found.is_empty() {
                findings.push(Finding::counted(problem, found.len(), found));
            }
        }
        let length: u64 = present.values().sum();
        if (live.documents, live.length) != (names.len() as u64, length) {
            findings.push(Finding::new(
                "the size of the collection is wrong",
                vec![format!(
                    "{} documents of {} terms, not {} of {length}",
                    live.documents,
                    live.length,
                    names.len()
                )],
            ));
        }
        self.compare_postings(&mut findings)?;
        self.compare_texts(&names, &mut findings)?;
        self.compare_vectors(&names, &mut findings)?;
        Ok(findings)
    }

    fn compare_rows(&self, findings: &mut Vec<Finding>) -> Result<()> {
        let checks = [
            (
                "documents without a body",
                "SELECT d.source || '/' || d.key FROM documents AS d
                 WHERE NOT EXISTS (SELECT 1 FROM bodies AS b WHERE b.document = d.id)",
            ),
            (
                "chunks without a document",
                "SELECT 'chunk ' || c.id FROM chunks AS c
                 WHERE NOT EXISTS (SELECT 1 FROM documents AS d WHERE d.id = c.document)",
            ),
            (
                "vectors without a chunk",
                "SELECT 'vector ' || e.id FROM embeddings AS e
                 WHERE NOT EXISTS (SELECT 1 FROM chunks AS c WHERE c.id = e.chunk)",
            ),
            (
                "postings without a segment",
                "SELECT DISTINCT 'segment ' || p.segment FROM postings AS p
                 WHERE NOT EXISTS (SELECT 1 FROM segments AS s WHERE s.id = p.segment)",
            ),
            (
                "vectors of the wrong length",
                "SELECT 'vector ' || e.id FROM embeddings AS e JOIN models AS m ON m.id = e.model
                 WHERE octet_length(e.vector) <> 4 * m.dimensions",
            ),
        ];
        let queries: Vec<Query> = checks.iter().map(|(_, sql)| Query::new(*sql)).collect();
        let answers = self.ask(&queries)?;
        for ((problem, _), rows) in checks.iter().zip(answers) {
            let found = rows.iter().map(|row| get(row, 0));
            let found: Vec<String> = found.collect::<Result<_>>()?;
            if !found.is_empty() {
                findings.push(Finding::counted(problem, found.len(), found));
            }
        }
        Ok(())
    }

    /// Checks that all postings can be read, and that terms have the right counts.
    fn compare_postings(&self, findings: &mut Vec<Finding>) -> Result<()> {
        let live = self.live()?;
        let mut damaged = Vec::new();
        let mut counts: HashMap<String, i64> = HashMap::new();
        let mut last = (String::new(), 0_i64);
        loop {
            let page = Query::new(
                "SELECT term, segment, block, positions FROM postings
                 WHERE (term, segment) > ($1, $2) ORDER BY term, segment LIMIT $3",
            );
            let rows = self.rows_of(page.with(&last.0).with(last.1).with(PAGE))?;
            for row in &rows {
                last = (get(row, 0)?, get(row, 1)?);
                let segments = &live.segments;
                let Ok(at) = segments.binary_search_by_key(&last.1, |one| one.id) else {
                    continue;
                };
                let segment = &segments[at];
                match Postings::decode(get(row, 2)?, get(row, 3)?, segment.members.len()) {
                    Ok(postings) => {
                        let ordinals = postings.ordinals().iter();
                        let there = ordinals.filter(|one| !segment.deleted.contains(**one));
                        *counts.entry(last.0.clone()).or_default() += there.count() as i64;
                    }
                    Err(damage) => {
                        damaged.push(format!("'{}' in segment {}: {}", last.0, last.1, damage.0));
                    }
                }
            }
            if rows.len() < PAGE {
                break;
            }
        }
        if !damaged.is_empty() {
            findings.push(Finding::counted("damaged postings", damaged.len(), damaged));
            return Ok(());
        }
        let rows = self.rows_of(Query::new("SELECT term, documents FROM terms"))?;
        let mut wrong = Vec::new();
        for row in &rows {
            let term: String = get(row, 0)?;
            if counts.remove(&term).unwrap_or(0) != get::<i64>(row, 1)? {
                wrong.push(term);
            }
        }
        let unknown = counts.into_iter().filter(|(_, documents)| *documents > 0);
        wrong.extend(unknown.map(|(term, _)| term));
        if !wrong.is_empty() {
            wrong.sort();
            findings.push(Finding::counted(
                "words with wrong counts",
                wrong.len(),
                wrong,
            ));
        }
        Ok(())
    }

    /// Checks that every term of a sampled document leads to it.
    fn compare_texts(
        &self,
        names: &HashMap<Row, String>,
        findings: &mut Vec<Finding>,
    ) -> Result<()> {
        let every = (names.len() as u64 / SAMPLE).max(1) as i64;
        let sampled =
            Query::new("SELECT document, titles, body, tags FROM bodies WHERE document % $1 = 0");
        let rows = self.rows_of(sampled.with(every))?;
        let live = self.live()?;
        let mut indexer = TermIndexer::new(self.stemming);
        let mut stale = Vec::new();
        for row in &rows {
            let document: Row = get(row, 0)?;
            let Some((segment, ordinal)) = live.place_of(document) else {
                continue;
            };
            let terms = indexer.index([get(row, 1)?, get(row, 2)?, get(row, 3)?]);
            let all: Vec<String> = terms.terms.iter().map(str::to_owned).collect();
            let found = Query::new(
                "SELECT block, positions FROM postings WHERE term = ANY($1) AND segment = $2",
            );
            let found = self.rows_of(found.with(&all[..]).with(segment.id))?;
            let mut leading = 0;
            for row in &found {
                let postings = Postings::decode(get(row, 0)?, get(row, 1)?, segment.members.len());
                let leads = postings.is_ok_and(|it| it.ordinals().binary_search(&ordinal).is_ok());
                leading += usize::from(leads);
            }
            if leading != all.len() {
                stale.push(names.get(&document).cloned().unwrap_or_default());
            }
        }
        if !stale.is_empty() {
            let problem = "sampled documents with a wrong full text";
            findings.push(Finding::counted(problem, stale.len(), stale));
        }
        Ok(())
    }

    fn compare_vectors(
        &self,
        names: &HashMap<Row, String>,
        findings: &mut Vec<Finding>,
    ) -> Result<()> {
        let wrong = self.wrong_in_derived()?;
        if !wrong.is_empty() {
            let found = wrong.iter().filter_map(|row| names.get(row).cloned());
            let problem = "documents with wrong vectors in the vector file";
            findings.push(Finding::counted(problem, wrong.len(), found.collect()));
        }
        let rows = self.rows_of(Query::new(
            "SELECT count(*) FROM links AS l
             WHERE NOT EXISTS (SELECT 1 FROM documents AS d WHERE d.id = l.document)",
        ))?;
        let lost = rows.first().map_or(Ok(0), |row| count(row, 0))?;
        if lost > 0 {
            let problem = "links without a document";
            findings.push(Finding::counted(problem, lost as usize, Vec::new()));
        }
        Ok(())
    }
}
