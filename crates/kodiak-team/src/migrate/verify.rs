//! Comparing both sides, group by group, after everything was moved.
//!
//! Both are read again, as a whole. What the destination has beside that is counted and
//! not compared: it may hold what other machines have indexed.

use std::collections::HashMap;

use kodiak_base::error::Result;
use kodiak_store::{EntryState, Row, SourceStatus};
use kodiak_text::document::Version;

use super::documents::Page;
use super::report::{Group, Side};
use super::sources::known;
use super::sums::{Item, Sum};
use super::vectors::{self, Missing};
use super::{Moving, PAGE, Pair, Progress, Step};

/// Both sides of a group while it is counted.
#[derive(Default)]
struct Sums {
    group: Group,
    from: Sum,
    to: Sum,
}

impl Sums {
    fn new(name: &'static str) -> Self {
        let group = Group {
            name,
            ..Group::default()
        };
        Self {
            group,
            ..Self::default()
        }
    }

    /// Counts an item of the origin, and the item of the destination with its name.
    fn add(&mut self, name: &dyn Fn() -> String, from: Item, to: Option<Item>) {
        let (from, to) = (from.hash(), to.map(Item::hash));
        if to != Some(from) {
            self.group.differs(name);
        }
        self.from.add(&from);
        if let Some(to) = &to {
            self.to.add(to);
        }
    }

    fn finish(mut self, all: u64) -> Group {
        let side = |sum: &Sum| Side {
            count: sum.count,
            sum: sum.digits(),
        };
        self.group.from = side(&self.from);
        self.group.to = side(&self.to);
        self.group.others = all.saturating_sub(self.to.count);
        self.group
    }
}

/// Compares records.
pub(super) fn records(pair: &Pair<'_>) -> Result<Group> {
    let (from, to) = (pair.from.list()?, pair.to.list()?);
    let mut sums = Sums::new(pair.name);
    for (name, hash) in &from {
        let item = |hash: &[u8; 32]| Item::new(name).with(hash);
        sums.add(&|| name.clone(), item(hash), to.get(name).map(item));
    }
    Ok(sums.finish(to.len() as u64))
}

/// Compares sources, entries, documents, chunks and vectors. `rows` are the documents that
/// were to be moved.
pub(super) fn compare(
    moving: &mut Moving<'_>,
    rows: &[Row],
    missing: &Missing,
    progress: &mut Progress<'_>,
) -> Result<Vec<Group>> {
    let mut groups = sources(moving)?;
    let without = moving.write(vectors::missing)?;
    let [mut documents, mut chunks, mut embedded] =
        ["documents", "chunks", "vectors"].map(Sums::new);
    let total = rows.len();
    for (number, rows) in rows.chunks(PAGE).enumerate() {
        moving.migration.check()?;
        progress(Step::Verifying, number * PAGE, total);
        let from = Page::read(moving.from.reader(), rows)?;
        let uids: Vec<String> = from.documents.iter().map(|one| one.uid.clone()).collect();
        let there = moving.rows_there(&uids)?;
        let found: Vec<Row> = there.iter().flatten().copied().collect();
        let to = Page::read(moving.to.reader(), &found)?;
        let by_row: HashMap<Row, usize> =
            (to.documents.iter().map(|one| one.row)).zip(0..).collect();
        let vectors_from = vectors::read(moving.from.reader(), rows, missing)?;
        let vectors_to = vectors::read(moving.to.reader(), &found, &without)?;
        for (one, row) in from.documents.iter().zip(there) {
            let name = || format!("{}/{}", one.source, one.key);
            let other = row
                .and_then(|row| by_row.get(&row))
                .map(|&at| &to.documents[at]);
            documents.add(&name, from.item(one), other.map(|other| to.item(other)));
            let chunk = |ordinal: usize, hash: &[u8; 16]| {
                Item::new(&one.uid).number(ordinal as i64).with(hash)
            };
            let hashes = other.map_or(&[][..], |other| to.hashes(other.row));
            for (ordinal, hash) in from.hashes(one.row).iter().enumerate() {
                let there = hashes.get(ordinal).map(|hash| chunk(ordinal, hash));
                chunks.add(&name, chunk(ordinal, hash), there);
            }
            let none = Vec::new();
            let theirs = row.and_then(|row| vectors_to.get(&row)).unwrap_or(&none);
            let ours = vectors_from.get(&one.row).unwrap_or(&none);
            for (ordinal, (hash, vector)) in ours.iter().enumerate() {
                let item = |vector: &Vec<f32>| {
                    let numbers = vector.iter().flat_map(|number| number.to_le_bytes());
                    chunk(ordinal, hash).with(numbers.collect::<Vec<u8>>())
                };
                if let Some(vector) = vector {
                    let there = theirs.get(ordinal).and_then(|(_, there)| there.as_ref());
                    embedded.add(&name, item(vector), there.map(item));
                }
            }
        }
    }
    let reader = moving.to.reader();
    let all = reader.corpus()?.documents;
    let status = reader.embedding_status()?;
    let all_chunks: u64 = status.sources.iter().map(|(_, one)| one.chunks).sum();
    let all_vectors: u64 = status.sources.iter().map(|(_, one)| one.embedded).sum();
    groups.push(documents.finish(all));
    groups.push(chunks.finish(all_chunks));
    groups.push(embedded.finish(all_vectors));
    Ok(groups)
}

/// Compares sources, containers and entries. Versions are compared where both sides have
/// them of one sync: a later one says what the origin cannot know.
fn sources(moving: &Moving<'_>) -> Result<Vec<Group>> {
    let [mut sources, mut containers, mut entries] =
        ["sources", "containers", "entries"].map(Sums::new);
    let there = known(moving.to.reader().sources()?);
    let all = there.len() as u64;
    let (mut all_containers, mut all_entries) = (0, 0);
    for (name, source) in known(moving.from.reader().sources()?) {
        let item = |one: &SourceStatus| Item::new(&one.name);
        let other = there.get(&name);
        sources.add(&|| name.clone(), item(&source), other.map(item));
        let is_kept = moving.migration.is_kept(&name);
        let is_same = !is_kept && other.is_some_and(|other| other.synced_at == source.synced_at);
        let seen = |item: Item, from: Version, to: Version| {
            // A version that could not be trusted is not compared.
            let is_known = ![from, to].contains(&Version::UNKNOWN);
            item.option((is_same && is_known).then_some(from.0))
        };
        if is_same {
            let from = moving.from.reader().containers(&name)?;
            let to = moving.to.reader().containers(&name)?;
            all_containers += to.len() as u64;
            for (key, &version) in &from {
                let item = |one, other| seen(Item::new(&name).with(key), one, other);
                let there = to.get(key).copied();
                let here = item(version, there.unwrap_or(version));
                let there = there.map(|there| item(there, version));
                containers.add(&|| format!("{name}/{key}"), here, there);
            }
        }
        let from = moving.from.reader().entry_states(&name)?;
        let to = moving.to.reader().entry_states(&name)?;
        all_entries += to.len() as u64;
        for (key, state) in &from {
            let entry = |one: &EntryState, other: &EntryState| {
                let item = Item::new(&name).with(key).number(i64::from(one.skipped));
                let item = item.option(is_same.then_some(one.size.to_le_bytes()));
                seen(item, one.version, other.version)
            };
            let there = to.get(key);
            let here = entry(state, there.unwrap_or(state));
            let name = || format!("{name}/{key}");
            entries.add(&name, here, there.map(|there| entry(there, state)));
        }
    }
    Ok(vec![
        sources.finish(all),
        containers.finish(all_containers),
        entries.finish(all_entries),
    ])
}
