//! Sources, their containers and their entries, as they were when they were indexed.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use tokio_postgres::Row as SqlRow;

use crate::reader::PostgresReader;
use crate::value::{Query, count, fixed, get};
use kodiak_base::error::Result;
use kodiak_store::{
    Entries, EntryRow, EntryState, Filter, KnownDocument, KnownEntry, SourceStatus, Sources,
    VisitOrder,
};
use kodiak_text::document::{DocumentId, Version};

/// The number of entries that are fetched at once for a visit, which may end early.
const PAGE: usize = 5_000;

impl Sources for PostgresReader {
    fn sources(&self) -> Result<Vec<SourceStatus>> {
        let _hold = self.hold();
        let answers = self.ask(&[
            Query::new(
                "SELECT s.name, s.place, s.synced_at,
                        (SELECT count(*) FROM documents AS d WHERE d.source = s.name)
                 FROM sources AS s ORDER BY s.name",
            ),
            Query::new(
                "SELECT source, key, skipped FROM entries WHERE skipped IS NOT NULL
                 ORDER BY source, key",
            ),
            Query::new(
                "SELECT source, key, problem FROM documents WHERE problem IS NOT NULL
                 ORDER BY source, key",
            ),
        ])?;
        let mut all = Vec::new();
        for row in &answers[0] {
            all.push(SourceStatus {
                name: get(row, 0)?,
                location: get(row, 1)?,
                synced_at: get(row, 2)?,
                documents: count(row, 3)?,
                ..SourceStatus::default()
            });
        }
        let mut places: HashMap<String, usize> = HashMap::new();
        for (at, source) in all.iter().enumerate() {
            places.insert(source.name.clone(), at);
        }
        for (rows, is_problem) in [(&answers[1], false), (&answers[2], true)] {
            for row in rows {
                if let Some(&at) = places.get(get::<&str>(row, 0)?) {
                    let source: &mut SourceStatus = &mut all[at];
                    let list = if is_problem {
                        &mut source.problems
                    } else {
                        &mut source.skipped
                    };
                    list.push((get(row, 1)?, get(row, 2)?));
                }
            }
        }
        Ok(all)
    }

    fn locations(&self, filter: &Filter) -> Result<Vec<(String, String)>> {
        let rows = self.rows_of(Query::new("SELECT name, place FROM sources ORDER BY name"))?;
        let places = rows.iter().map(|row| Ok((get(row, 0)?, get(row, 1)?)));
        let mut places: Vec<(String, String)> = places.collect::<Result<_>>()?;
        places.retain(|(name, _)| filter.admits_source(name));
        Ok(places)
    }

    fn containers(&self, source: &str) -> Result<HashMap<String, Version>> {
        let query = Query::new("SELECT key, version FROM containers WHERE source = $1");
        let rows = self.rows_of(query.with(source))?;
        let versions = rows
            .iter()
            .map(|row| Ok((get(row, 0)?, Version(fixed(row, 1)?))));
        versions.collect()
    }

    fn documents_of_source(&self, source: &str) -> Result<u64> {
        let query = Query::new("SELECT count(*) FROM documents WHERE source = $1");
        let rows = self.rows_of(query.with(source))?;
        rows.first().map_or(Ok(0), |row| count(row, 0))
    }
}

/// Reads the state of an entry from the columns `id, version, size, skipped IS NOT NULL`.
fn state(row: &SqlRow) -> Result<EntryState> {
    Ok(EntryState {
        row: Some(get(row, 0)?),
        version: Version(fixed(row, 1)?),
        size: count(row, 2)?,
        skipped: get(row, 3)?,
    })
}

impl Entries for PostgresReader {
    fn entry_states(&self, source: &str) -> Result<HashMap<String, EntryState>> {
        let query = Query::new(
            "SELECT id, version, size, skipped IS NOT NULL, key FROM entries WHERE source = $1",
        );
        let rows = self.rows_of(query.with(source))?;
        let states = rows.iter().map(|row| Ok((get(row, 4)?, state(row)?)));
        states.collect()
    }

    fn entry_state(&self, source: &str, key: &str) -> Result<Option<EntryState>> {
        let query =
            Query::new("SELECT id, version, size, skipped IS NOT NULL FROM entries WHERE uid = $1");
        let rows = self.rows_of(query.with(DocumentId::new(source, key).hex()))?;
        rows.first().map(state).transpose()
    }

    fn each_entry_by_age(
        &self,
        source: &str,
        order: VisitOrder,
        visit: &mut dyn FnMut(KnownEntry<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        let _hold = self.hold();
        let answers = self.ask(&[
            Query::new(
                "SELECT e.id, e.key, e.version, e.skipped IS NOT NULL
                 FROM (SELECT d.entry, d.updated_at, d.id FROM documents AS d WHERE d.source = $1
                       ORDER BY d.updated_at DESC, d.id DESC LIMIT $2) AS d
                 JOIN entries AS e ON e.id = d.entry ORDER BY d.updated_at DESC, d.id DESC",
            )
            .with(source)
            .with(order.newest),
            Query::new("SELECT coalesce(max(id), 0) FROM entries"),
        ])?;
        let mut visited: HashSet<EntryRow> = HashSet::new();
        for row in &answers[0] {
            if visited.insert(get(row, 0)?) && visit(known(row, None)?).is_break() {
                return Ok(());
            }
        }
        let last: EntryRow = answers[1].first().map_or(Ok(0), |row| get(row, 0))?;
        let places = last.saturating_add(1);
        let below = order.below.rem_euclid(places);
        for (first, end) in [(0, below), (below, places)] {
            let mut end = end;
            loop {
                let page = Query::new(
                    "SELECT id, key, version, skipped IS NOT NULL FROM entries
                     WHERE source = $1 AND id >= $2 AND id < $3 ORDER BY id DESC LIMIT $4",
                );
                let page = page.with(source).with(first).with(end).with(PAGE);
                let rows = self.rows_of(page)?;
                for row in &rows {
                    let place: EntryRow = get(row, 0)?;
                    end = place;
                    if !visited.contains(&place) && visit(known(row, Some(place))?).is_break() {
                        return Ok(());
                    }
                }
                if rows.len() < PAGE {
                    break;
                }
            }
        }
        Ok(())
    }

    fn documents_of_entry(&self, entry: EntryRow) -> Result<Vec<KnownDocument>> {
        let query = Query::new("SELECT key, hash FROM documents WHERE entry = $1 ORDER BY id");
        let rows = self.rows_of(query.with(entry))?;
        let documents = rows.iter().map(|row| {
            Ok(KnownDocument {
                key: get(row, 0)?,
                hash: fixed(row, 1)?,
            })
        });
        documents.collect()
    }
}

fn known(row: &SqlRow, turn: Option<EntryRow>) -> Result<KnownEntry<'_>> {
    Ok(KnownEntry {
        key: get(row, 1)?,
        version: Version(fixed(row, 2)?),
        skipped: get(row, 3)?,
        turn,
    })
}
