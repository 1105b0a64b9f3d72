//! Lexical retrieval: the documents of all segments that meet an expression, ranked.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tokio_postgres::Row as SqlRow;

use crate::evaluate::{Counted, evaluate};
use crate::filter::{conditions, is_by_segment};
use crate::live::LiveSegment;
use crate::lookup::{Fetched, InSegment};
use crate::plan::Plan;
use crate::reader::PostgresReader;
use crate::value::{Query, get};
use kodiak_base::error::Result;
use kodiak_rank::rules::LITERAL_TITLE_WEIGHT;
use kodiak_rank::{Field, TermMatches};
use kodiak_store::vectors::Bitmap;
use kodiak_store::{Best, Expression, Filter, Lexical, LinkMatch, Match, Matches, Ranking, Row};

/// The documents that a filter admits.
pub(crate) enum Admitted {
    /// All of some segments but these.
    Segments(Box<Filter>, HashSet<Row>),
    /// These.
    Rows(Arc<Bitmap>),
}

impl Admitted {
    /// Returns what a filter admits if that is known without asking the server, or the
    /// statement that asks.
    pub(crate) fn of(filter: &Filter) -> std::result::Result<Self, Query> {
        if let Some(members) = filter.members() {
            return Ok(Self::Rows(Arc::clone(members)));
        }
        if is_by_segment(filter) {
            let without = filter.without.iter().copied().collect();
            return Ok(Self::Segments(Box::new(filter.clone()), without));
        }
        let mut query = Query::default();
        let condition = conditions(filter, &mut query);
        query.sql = format!("SELECT d.id FROM documents AS d WHERE {condition}");
        Err(query)
    }

    /// Returns what a filter without limits admits.
    pub(crate) fn everything() -> Self {
        Self::Segments(Box::default(), HashSet::new())
    }

    /// Reads the answer to the statement of [`Admitted::of`].
    pub(crate) fn read(rows: &[SqlRow]) -> Result<Self> {
        let rows = rows.iter().map(|row| get::<Row>(row, 0));
        Ok(Self::Rows(Arc::new(rows.collect::<Result<Bitmap>>()?)))
    }

    pub(crate) fn admits_segment(&self, segment: &LiveSegment) -> bool {
        match self {
            Self::Segments(filter, _) => segment.is_admitted(filter),
            Self::Rows(_) => true,
        }
    }

    /// Reports whether a document of an admitted segment is admitted.
    pub(crate) fn admits(&self, row: Row) -> bool {
        match self {
            Self::Segments(_, without) => !without.contains(&row),
            Self::Rows(rows) => rows.contains(row),
        }
    }
}

impl Lexical for PostgresReader {
    fn ranked(&self, ranking: &Ranking<'_>, filter: &Filter) -> Result<Matches> {
        let _hold = self.hold();
        let plan = Plan::new(ranking.expression, self.stemming);
        let instead = ranking
            .instead
            .map(|(least, expression)| (least, expression, Plan::new(expression, self.stemming)));
        let mut plans = vec![&plan];
        plans.extend(instead.as_ref().map(|(.., plan)| plan));
        let links = ranking.bm25.links_weight > 0.0;
        let mut asked = Vec::new();
        let mut queries = Vec::new();
        for plan in &plans {
            let phrases: Vec<_> = plan.linkable.iter().map(|(_, it)| it.clone()).collect();
            let wanted = if links { &phrases[..] } else { &[] };
            let of_links = self.link_queries(wanted, filter);
            asked.push((phrases, of_links.len()));
            queries.extend(of_links);
        }
        let admitted = Admitted::of(filter);
        queries.extend(admitted.as_ref().err().cloned());
        let (fetched, mut answers) = self.fetch(&plans, queries)?;
        let admitted = match admitted {
            Ok(admitted) => admitted,
            Err(_) => Admitted::read(&answers.pop().unwrap_or_default())?,
        };
        let mut linked = Vec::new();
        for ((phrases, count), plan) in asked.iter().zip(&plans) {
            let answers: Vec<_> = answers.drain(..*count).collect();
            let mut found = if *count == 0 {
                Vec::new()
            } else {
                self.linked_in(phrases, &answers)?
            };
            for one in &mut found {
                one.phrase = plan.linkable[one.phrase].0;
            }
            linked.push(found);
        }
        let rank = |plan: &Plan, expression: &Expression, linked: &[LinkMatch]| {
            rank(plan, expression, linked, ranking, &fetched, &admitted)
        };
        let found = rank(&plan, ranking.expression, &linked[0]);
        Ok(match &instead {
            Some((least, expression, plan)) if found.total < *least => {
                rank(plan, expression, &linked[1])
            }
            _ => found,
        })
    }

    fn count(&self, expression: &Expression, filter: &Filter) -> Result<u64> {
        Ok(self.matching(expression, filter)?.len() as u64)
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
        let mut query = Query::default();
        let mut condition = conditions(filter, &mut query);
        let mut bound = |text: &String| {
            let name = query.bind(text.to_ascii_lowercase());
            let within = |column: &str| format!("position({name} in {column}) > 0");
            (within("t.title"), within("t.body"))
        };
        let scores = needles.iter().map(|needle| {
            let (title, body) = bound(needle);
            format!("{LITERAL_TITLE_WEIGHT} * ({title})::int + ({body})::int")
        });
        let scores: Vec<String> = scores.collect();
        for texts in excluded.iter().filter(|texts| !texts.is_empty()) {
            let has = texts.iter().map(|text| {
                let (title, body) = bound(text);
                format!("({title} OR {body})")
            });
            let has: Vec<String> = has.collect();
            condition.push_str(&format!(" AND NOT ({})", has.join(" AND ")));
        }
        let score = scores.join(" + ");
        query.sql = format!(
            "SELECT s.id, s.score::float8 FROM (SELECT d.id, {score} AS score
             FROM documents AS d JOIN bodies AS b ON b.document = d.id
             CROSS JOIN LATERAL (SELECT lower(d.title) AS title, lower(b.body) AS body OFFSET 0) AS t
             WHERE {condition}) AS s WHERE s.score > 0"
        );
        let mut best = Best::new(limit);
        for row in self.rows_of(query)? {
            best.offer(Match {
                row: get(&row, 0)?,
                score: get(&row, 1)?,
                coverage: 0.0,
            });
        }
        Ok(best.finish())
    }
}

impl PostgresReader {
    /// Returns the documents that match an expression and a filter.
    pub(crate) fn matching(&self, expression: &Expression, filter: &Filter) -> Result<Bitmap> {
        let _hold = self.hold();
        let plan = Plan::new(expression, self.stemming);
        let admitted = Admitted::of(filter);
        let queries = admitted.as_ref().err().cloned().into_iter().collect();
        let (fetched, answers) = self.fetch(&[&plan], queries)?;
        let admitted = match admitted {
            Ok(admitted) => admitted,
            Err(_) => Admitted::read(&answers[0])?,
        };
        Ok(meeting(&plan, &fetched, &admitted))
    }
}

/// Returns the admitted documents that meet an expression.
pub(crate) fn meeting(plan: &Plan, fetched: &Fetched, admitted: &Admitted) -> Bitmap {
    let mut rows = Bitmap::new();
    for (segment, here) in fetched.segments() {
        if admitted.admits_segment(segment) {
            for ordinal in evaluate(plan, &here).ordinals {
                let row = segment.members.row(ordinal);
                if !segment.deleted.contains(ordinal) && admitted.admits(row) {
                    rows.insert(row);
                }
            }
        }
    }
    rows
}

/// Returns the best documents for an expression.
fn rank(
    plan: &Plan,
    expression: &Expression,
    linked: &[LinkMatch],
    ranking: &Ranking<'_>,
    fetched: &Fetched,
    admitted: &Admitted,
) -> Matches {
    let weights: Vec<_> = plan
        .phrases
        .iter()
        .map(|phrase| (phrase.weight, phrase.word))
        .collect();
    let mut links: HashMap<Row, Vec<(usize, u32)>> = HashMap::new();
    for one in linked {
        let to = links.entry(one.row).or_default();
        to.push((one.phrase, one.documents));
    }
    let mut ranker = Ranker {
        plan,
        ranking,
        links,
        average: ranking.corpus.average_length.max(1.0),
        matches: TermMatches::default(),
        best: Best::new(ranking.limit),
        threshold: 0.0,
    };
    ranker.matches.begin(&weights);
    // What is found by links alone must not be found twice.
    let mut unseen: HashSet<Row> = expression.found_by_links(&plan.linkable, linked);
    for (segment, here) in fetched.segments() {
        if admitted.admits_segment(segment) {
            ranker.add(segment, &here, admitted, &mut unseen);
        }
    }
    let mut unseen: Vec<Row> = unseen
        .into_iter()
        .filter(|row| admitted.admits(*row))
        .collect();
    unseen.sort_unstable();
    for row in unseen {
        if let Some((segment, ordinal)) = fetched.live.place_of(row)
            && admitted.admits_segment(segment)
        {
            ranker.offer(segment, ordinal, &[], 0.0);
        }
    }
    ranker.best.finish()
}

/// Scores documents and keeps the best.
struct Ranker<'a> {
    plan: &'a Plan,
    ranking: &'a Ranking<'a>,
    /// For each document that links point to, the phrases of their texts and the number
    /// of documents that have these links.
    links: HashMap<Row, Vec<(usize, u32)>>,
    average: f64,
    matches: TermMatches,
    best: Best,
    /// The score that a document must reach to be kept.
    threshold: f64,
}

impl Ranker<'_> {
    /// Adds the documents of a segment that meet the expression.
    fn add(
        &mut self,
        segment: &LiveSegment,
        here: &InSegment<'_>,
        admitted: &Admitted,
        unseen: &mut HashSet<Row>,
    ) {
        let found = evaluate(self.plan, here);
        let mut counted = Vec::new();
        for &ordinal in &found.ordinals {
            let row = segment.members.row(ordinal);
            if !segment.deleted.contains(ordinal) && admitted.admits(row) {
                unseen.remove(&row);
                found.counted(ordinal, &mut counted);
                self.offer(segment, ordinal, &counted, self.threshold);
            }
        }
    }

    /// Scores a document in which these phrases count.
    fn offer(
        &mut self,
        segment: &LiveSegment,
        ordinal: u32,
        counted: &[Counted<'_>],
        threshold: f64,
    ) {
        let row = segment.members.row(ordinal);
        let bm25 = &self.ranking.bm25;
        let links = self.links.get(&row);
        self.matches.clear();
        let mut counted = counted.iter().peekable();
        for (number, phrase) in self.plan.phrases.iter().enumerate() {
            let places = counted.next_if(|(counted, _)| *counted == number);
            if phrase.weight == 0.0 {
                continue;
            }
            self.matches.phrase(phrase.weight, phrase.word);
            let here = links.into_iter().flatten();
            for (_, documents) in here.filter(|(linked, _)| *linked == number) {
                self.matches.linked(*documents, bm25);
            }
            for place in places.into_iter().flat_map(|(_, places)| places.iter()) {
                self.matches
                    .occurrence(place.field(), place.position(), bm25);
            }
        }
        let lengths = segment.members.lengths(ordinal);
        let length = |field: Option<Field>| {
            Some(match field {
                None => segment.members.length(ordinal) as f64,
                Some(Field::Title) => f64::from(lengths[0]),
                Some(Field::Body) => f64::from(lengths[1]),
                Some(Field::Tags) => f64::from(lengths[2]),
            })
        };
        let scored = self.matches.score(bm25, self.average, threshold, length);
        let scored = scored.unwrap_or_default();
        let worst = self.best.offer(Match {
            row,
            score: scored.score,
            coverage: scored.coverage,
        });
        if let Some(worst) = worst {
            self.threshold = worst;
        }
    }
}
