//! Answers the questions of a search about words before it retrieves.
//!
//! Similar words come from automata that each process makes of all words, and from the words
//! that were added since. Their counts are asked for with everything else.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_postgres::Row as SqlRow;

use crate::batch::{Answered, Asked, Batch};
use crate::lexical::{Admitted, meeting};
use crate::live::Live;
use crate::lookup::after_all;
use crate::plan::Plan;
use crate::reader::PostgresReader;
use crate::turn::Turns;
use crate::value::{Query, Value, count, get};
use kodiak_base::error::Result;
use kodiak_rank::Corpus;
use kodiak_store::prelude::*;
use kodiak_store::similar::{Similar, automaton};
use kodiak_store::vectors::Bitmap;
use kodiak_store::{
    Answers, Filter, Looked, Next, Questions, Revision, SimilarWord, Visit, Vocabulary,
};

/// The number of words beside the automata above which they get one of their own.
const MAX_LATE: usize = 2_000;

/// The number of automata above which one is made anew of all words.
const MAX_AUTOMATA: usize = 32;

/// The words of an index, as far as a process knows them. A word that is known here may be
/// gone from the index.
#[derive(Debug, Default)]
pub(crate) struct Known {
    words: Mutex<Arc<Words>>,
    /// The right to read all words.
    turns: Turns,
    /// How often they were read.
    #[cfg(test)]
    pub(crate) read: std::sync::atomic::AtomicUsize,
}

#[derive(Clone, Debug, Default)]
struct Words {
    /// The past of the index that they are of.
    past: u64,
    /// The number of the newest word.
    upto: i64,
    automata: Vec<Arc<Vec<u8>>>,
    /// Words that the automata lack.
    late: Vec<String>,
}

impl Known {
    fn words(&self) -> MutexGuard<'_, Arc<Words>> {
        self.words.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the words of a past; none if those of another are known.
    fn of(&self, past: Option<u64>) -> Arc<Words> {
        let known = Arc::clone(&self.words());
        if past == Some(known.past) {
            known
        } else {
            Arc::default()
        }
    }

    /// Forgets all words.
    pub(crate) fn clear(&self) {
        *self.words() = Arc::default();
    }

    /// Adds words that were read after those up to a number; all words after 0.
    fn add(&self, past: u64, from: i64, upto: i64, mut words: Vec<String>) {
        if from == 0 {
            #[cfg(test)]
            self.read.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            words.sort_unstable();
            let all = Words {
                past,
                upto,
                automata: vec![Arc::new(automaton(words))],
                late: Vec::new(),
            };
            *self.words() = Arc::new(all);
            return;
        }
        let mut known = self.words();
        if known.past != past || known.upto != from {
            return;
        }
        let mut grown = Words::clone(&known);
        grown.late.extend(words);
        grown.upto = upto;
        if grown.late.len() > MAX_LATE {
            grown.late.sort_unstable();
            let late = std::mem::take(&mut grown.late);
            grown.automata.push(Arc::new(automaton(late)));
        }
        // The next question reads all words again.
        let is_due = grown.automata.len() > MAX_AUTOMATA;
        *known = Arc::new(if is_due { Words::default() } else { grown });
    }
}

impl Words {
    /// Returns the known words similar to another.
    fn similar(&self, word: &Similar) -> Vec<String> {
        let among = |automaton: &Arc<Vec<u8>>| word.among(automaton).unwrap_or_default();
        let mut near: Vec<String> = self.automata.iter().flat_map(among).collect();
        let late = self.late.iter();
        near.extend(late.filter(|one| word.distance_of(one).is_some()).cloned());
        near
    }
}

/// The statements of a consultation that were sent.
struct Sent {
    words: Asked,
    beginnings: Vec<Asked>,
    begun: Asked,
    near: Asked,
    late: Asked,
    terms: Asked,
    term_beginnings: Vec<Asked>,
    incomplete: Asked,
    coverage: [Asked; 2],
    admitted: Asked,
}

impl Vocabulary for PostgresReader {
    fn consult(
        &self,
        questions: &Questions,
        filter: &Filter,
        visit: &mut Visit<'_>,
    ) -> Result<Answers> {
        let _hold = self.hold();
        let similar: Vec<Similar> = questions
            .similar
            .iter()
            .map(|asked| Similar::to(&asked.word, asked.distance))
            .collect();
        let past = || self.likely().map(|live| live.past);
        let mut known = self.shared.known.of(past());
        // One reads all words, and the others wait for them.
        let mut turn = None;
        if !similar.is_empty() && known.upto == 0 {
            turn = Some(self.shared.known.turns.take());
            known = self.shared.known.of(past());
        }
        let looks = questions.looks.iter().map(|look| &look.expression);
        let plans: Vec<Plan> = questions
            .expressions
            .iter()
            .chain(looks)
            .map(|expression| Plan::new(expression, self.stemming))
            .collect();
        let needs_rows =
            !plans.is_empty() || questions.rows || (questions.admitted && !self.is_within(filter));
        let admitted = Admitted::of(filter);
        let mut batch = Batch::default();
        let sent = self.send_questions(
            questions,
            filter,
            (&known, &similar),
            admitted.as_ref().err().filter(|_| needs_rows),
            &mut batch,
        );
        let (live, fetched, answered) = if plans.is_empty() {
            let (live, answers) = self.ask_live(batch.into_queries())?;
            (live, None, Answered(answers))
        } else {
            let plans: Vec<&Plan> = plans.iter().collect();
            let (fetched, answers) = self.fetch(&plans, batch.into_queries())?;
            (Arc::clone(&fetched.live), Some(fetched), Answered(answers))
        };
        let admitted = match admitted {
            Ok(admitted) => admitted,
            Err(_) => Admitted::read(answered.rows(sent.admitted))?,
        };
        let mut answers = self.read_answers(questions, &sent, &answered, &live)?;
        answers.incomplete.retain(|name| filter.admits_source(name));
        if questions.rows || (questions.admitted && !self.is_within(filter)) {
            let rows = all_admitted(&live, &admitted);
            answers.admitted = questions.admitted.then_some(rows.len() as u64);
            answers.rows = questions.rows.then_some(rows);
        } else if questions.admitted {
            answers.admitted = Some(live.documents);
        }
        if questions.coverage {
            answers.coverage = self.read_coverage(filter, &live, &answered, sent.coverage)?;
        }
        if !similar.is_empty() {
            let mut late = answered.rows(sent.late).to_vec();
            // The index is of another past than it was likely of.
            if known.upto > 0 && known.past != live.past {
                known = Arc::default();
                late = self.rows_of(late_words(0))?;
            }
            let words = (&*known, &late[..]);
            answers.similar =
                self.read_similar(questions, &similar, words, &live, (&sent, &answered))?;
        }
        drop(turn);
        if let Some(fetched) = fetched {
            let matching = |plan| meeting(plan, &fetched, &admitted);
            let (expressions, looks) = plans.split_at(questions.expressions.len());
            let met = expressions.iter().map(|plan| !matching(plan).is_empty());
            answers.expressions = met.collect();
            let looks: Vec<Bitmap> = looks.iter().map(matching).collect();
            self.take_looks(questions, &looks, visit)?;
        }
        Ok(answers)
    }

    fn vocabulary_size(&self) -> Result<u64> {
        let counted = Query::new("SELECT count(*) FROM words WHERE documents > 0");
        let rows = self.rows_of(counted)?;
        rows.first().map_or(Ok(0), |row| count(row, 0))
    }
}

impl PostgresReader {
    fn send_questions(
        &self,
        questions: &Questions,
        filter: &Filter,
        (known, similar): (&Words, &[Similar]),
        admitted: Option<&Query>,
        batch: &mut Batch,
    ) -> Sent {
        let unless_words = questions.beginnings.iter().filter(|one| one.unless_word);
        let unless_similar = questions.similar.iter().filter(|one| one.unless_word);
        let words: Value = questions
            .words
            .iter()
            .chain(&questions.frequencies)
            .chain(unless_words.map(|one| &one.prefix))
            .chain(unless_similar.map(|one| &one.word))
            .map(String::as_str)
            .collect();
        let any_words = matches!(&words, Value::Texts(words) if !words.is_empty());
        let begun = questions.similar.iter().filter(|one| one.unless_beginning);
        let begun: Vec<&str> = begun.map(|one| one.word.as_str()).collect();
        let near = similar.iter().flat_map(|word| known.similar(word));
        let near: Vec<String> = near.collect();
        Sent {
            words: batch.add_if(any_words, || {
                Query::new("SELECT word, documents FROM words WHERE word = ANY($1)").with(words)
            }),
            beginnings: questions
                .beginnings
                .iter()
                .map(|asked| {
                    batch.add(beginning(
                        "word",
                        "words",
                        &asked.prefix,
                        i64::MAX,
                        asked.limit,
                    ))
                })
                .collect(),
            begun: batch.add_if(!begun.is_empty(), || {
                Query::new(
                    "SELECT a.word FROM unnest($1, $2) AS a(word, after) WHERE EXISTS
                     (SELECT 1 FROM words AS w WHERE w.word >= a.word AND w.word < a.after
                      AND w.documents > 0)",
                )
                .with(begun.iter().copied().collect::<Value>())
                .with(
                    begun
                        .iter()
                        .map(|word| after_all(word))
                        .collect::<Vec<String>>()
                        .as_slice(),
                )
            }),
            near: batch.add_if(!near.is_empty(), || {
                Query::new(
                    "SELECT word, documents FROM words WHERE word = ANY($1) AND documents > 0",
                )
                .with(&near[..])
            }),
            late: batch.add_if(!similar.is_empty(), || {
                // All of them, if none are known.
                late_words(known.upto)
            }),
            terms: batch.add_if(!questions.terms.is_empty(), || {
                Query::new("SELECT term, documents FROM terms WHERE term = ANY($1)")
                    .with(&questions.terms[..])
            }),
            term_beginnings: questions
                .term_beginnings
                .iter()
                .map(|asked| {
                    let most = i64::try_from(asked.most).unwrap_or(i64::MAX);
                    batch.add(beginning("term", "terms", &asked.prefix, most, asked.limit))
                })
                .collect(),
            incomplete: batch.add_if(questions.incomplete, || {
                Query::new("SELECT name FROM sources WHERE synced_at IS NULL ORDER BY name")
            }),
            coverage: if questions.coverage {
                self.ask_coverage(filter, batch)
            } else {
                [batch.add_if(false, Query::default); 2]
            },
            admitted: batch.add_if(admitted.is_some(), || admitted.cloned().unwrap_or_default()),
        }
    }

    fn read_answers(
        &self,
        questions: &Questions,
        sent: &Sent,
        answered: &Answered,
        live: &Live,
    ) -> Result<Answers> {
        let counts = |asked| -> Result<HashMap<String, u64>> {
            let rows = answered.rows(asked).iter();
            rows.map(|row| Ok((get(row, 0)?, count(row, 1)?))).collect()
        };
        let pairs = |asked: &Asked| -> Result<Vec<(String, u64)>> {
            let rows = answered.rows(*asked).iter();
            rows.map(|row| Ok((get(row, 0)?, count(row, 1)?))).collect()
        };
        let words = counts(sent.words)?;
        let terms = counts(sent.terms)?;
        let frequency = |word: &String| words.get(word).copied().unwrap_or(0);
        let beginnings = questions.beginnings.iter().zip(&sent.beginnings);
        let beginnings = beginnings.map(|(asked, sent)| {
            if asked.unless_word && frequency(&asked.prefix) > 0 {
                return Ok(Vec::new());
            }
            pairs(sent)
        });
        let incomplete = answered.rows(sent.incomplete).iter().map(|row| get(row, 0));
        Ok(Answers {
            revision: questions.revision.then(|| self.revision_of(live)),
            corpus: questions.corpus.then(|| corpus_of(live)),
            words: questions
                .words
                .iter()
                .map(|word| frequency(word) > 0)
                .collect(),
            frequencies: questions.frequencies.iter().map(frequency).collect(),
            beginnings: beginnings.collect::<Result<_>>()?,
            terms: questions
                .terms
                .iter()
                .map(|term| terms.get(term).copied().unwrap_or(0))
                .collect(),
            term_beginnings: sent
                .term_beginnings
                .iter()
                .map(pairs)
                .collect::<Result<_>>()?,
            incomplete: incomplete.collect::<Result<_>>()?,
            ..Answers::default()
        })
    }

    fn read_similar(
        &self,
        questions: &Questions,
        similar: &[Similar],
        (known, newer): (&Words, &[SqlRow]),
        live: &Live,
        (sent, answered): (&Sent, &Answered),
    ) -> Result<Vec<Vec<SimilarWord>>> {
        let mut counts: HashMap<String, u64> = HashMap::new();
        for row in answered.rows(sent.near) {
            counts.insert(get(row, 0)?, count(row, 1)?);
        }
        let mut upto = known.upto;
        let mut late = Vec::new();
        for row in newer {
            upto = get(row, 0)?;
            late.push(get::<String>(row, 1)?);
            counts.insert(get(row, 1)?, count(row, 2)?);
        }
        // What a transaction has added may never be committed.
        if !self.writing.get() && self.shared.is_followed(live.past, live.erased) {
            self.shared.known.add(live.past, known.upto, upto, late);
        }
        let begun = answered.rows(sent.begun).iter().map(|row| get(row, 0));
        let begun: Vec<&str> = begun.collect::<Result<_>>()?;
        let is_word = |word: &str| -> Result<bool> {
            for row in answered.rows(sent.words) {
                if get::<&str>(row, 0)? == word {
                    return Ok(count(row, 1)? > 0);
                }
            }
            Ok(false)
        };
        let mut all = Vec::new();
        for (asked, similar) in questions.similar.iter().zip(similar) {
            let is_right = (asked.unless_word && is_word(&asked.word)?)
                || (asked.unless_beginning && begun.contains(&asked.word.as_str()));
            let near = counts
                .iter()
                .filter(|(_, documents)| !is_right && **documents > 0);
            let near = near.filter_map(|(word, &documents)| {
                Some(SimilarWord {
                    word: word.clone(),
                    distance: similar.distance_of(word)?,
                    documents,
                })
            });
            all.push(near.collect());
        }
        Ok(all)
    }

    /// Fetches the documents of all looks at once and takes their steps.
    fn take_looks(
        &self,
        questions: &Questions,
        matching: &[Bitmap],
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let mut wanted: Vec<i64> = Vec::new();
        for (look, rows) in questions.looks.iter().zip(matching) {
            wanted.extend(rows.iter().take(look.most));
        }
        wanted.sort_unstable();
        wanted.dedup();
        let mut documents = HashMap::new();
        if !wanted.is_empty() {
            let found = self.documents(&wanted)?;
            documents.extend(found.into_iter().map(|document| (document.row, document)));
        }
        for (number, (look, rows)) in questions.looks.iter().zip(matching).enumerate() {
            if visit(number, Looked::Begins) == Next::Enough
                || visit(number, Looked::Matching(rows)) == Next::Enough
            {
                continue;
            }
            let documents = rows
                .iter()
                .take(look.most)
                .filter_map(|row| documents.get(&row));
            for document in documents {
                if visit(number, Looked::Document(document)) == Next::Enough {
                    break;
                }
            }
        }
        Ok(())
    }
}

/// Returns the size of the collection.
pub(crate) fn corpus_of(live: &Live) -> Corpus {
    Corpus {
        documents: live.documents,
        average_length: live.length as f64 / live.documents.max(1) as f64,
    }
}

/// Returns all documents that are admitted.
pub(crate) fn all_admitted(live: &Live, admitted: &Admitted) -> Bitmap {
    if let Admitted::Rows(rows) = admitted {
        return Bitmap::clone(rows);
    }
    let segments = live.segments.iter();
    let segments = segments.filter(|segment| admitted.admits_segment(segment));
    segments
        .flat_map(|segment| segment.present().map(|(_, row)| row))
        .filter(|row| admitted.admits(*row))
        .collect()
}

/// Asks for the words after one of them, by their numbers.
fn late_words(after: i64) -> Query {
    Query::new("SELECT id, word, documents FROM words WHERE id > $1 ORDER BY id").with(after)
}

/// Asks for the names in a table that begin so, the most common first.
fn beginning(column: &str, table: &str, prefix: &str, most: i64, limit: usize) -> Query {
    Query::new(format!(
        "SELECT {column}, documents FROM {table}
         WHERE {column} >= $1 AND {column} < $2 AND documents BETWEEN 1 AND $3
         ORDER BY documents DESC, {column} LIMIT $4"
    ))
    .with(prefix)
    .with(after_all(prefix))
    .with(most)
    .with(limit)
}

impl PostgresReader {
    /// Returns the revision of a state of the index.
    pub(crate) fn revision_of(&self, live: &Live) -> Revision {
        Revision {
            // The revision of a state may be that of another one in another past.
            foreign: live.stamp.unwrap_or(live.revision),
            own: self.changes.get(),
        }
    }
}
