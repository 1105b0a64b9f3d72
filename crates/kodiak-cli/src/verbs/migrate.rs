//! `kodiak migrate`: moves the index of this machine, and the data beside it, to a server,
//! or back.

use kodiak::store::Store;
use kodiak::tombstones::Tombstones;
use kodiak_memory::{ARTICLE_SOURCE, MEMORY_SOURCE};
use kodiak_notes::{NoteFiles, PAGES_SOURCE};
use kodiak_postgres::PostgresIndex;
use kodiak_server::token::Tokens;
use kodiak_team::migrate::{
    FolderRecords, Group, Migration, MigrationReport, Records, Remaining, RowRecords, Shelf, Step,
    TokenRecords, TombstoneRecords,
};
use serde::Serialize;

use super::{Outcome, token};
use crate::arguments::MigrateArguments;
use crate::assemble::{self, Purpose, holder};
use crate::config::{Kind, RegisteredSource};
use crate::context::Context;
use crate::failure::refusal;
use crate::index_place::IndexPlace;
use crate::interrupt::Working;
use crate::output::Output;
use crate::output::escape::escaped;
use crate::output::phrases::grouped;
use crate::output::progress::Steps;
use crate::output::table::{Step as Narrower, Table};
use crate::team::this_machine;
use crate::{memory, pages};

/// The number of digits of a checksum that a table shows.
const MAX_SHOWN: usize = 12;

/// A group as `--json` prints it.
#[derive(Debug, Serialize)]
struct Listed<'a> {
    name: &'a str,
    from: u64,
    from_sum: &'a str,
    to: u64,
    to_sum: &'a str,
    others: u64,
    complete: bool,
    different: &'a [String],
}

impl<'a> Listed<'a> {
    fn of(group: &'a Group) -> Self {
        Self {
            name: group.name,
            from: group.from.count,
            from_sum: &group.from.sum,
            to: group.to.count,
            to_sum: &group.to.sum,
            others: group.others,
            complete: group.is_complete(),
            different: &group.different,
        }
    }
}

/// The report as `--json` prints it.
#[derive(Debug, Serialize)]
struct Report<'a> {
    from: &'a str,
    to: &'a str,
    changed: usize,
    complete: bool,
    groups: Vec<Listed<'a>>,
}

pub(super) fn run(arguments: &MigrateArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let is_leaving = arguments.to.is_some();
    let address = arguments.to.as_ref().or(arguments.back_from.as_ref());
    let place = IndexPlace::find(address, &context.config_path)?;
    let (IndexPlace::Server(server), IndexPlace::File(near)) = (&place, &context.index) else {
        return Err(refusal(
            "one index must be on a server and the other on this machine",
            "give an address such as postgres://user@host/database, and with --index the file of this machine",
        ));
    };
    let near: Box<dyn Store> = assemble::file_store(near);
    let far = server.index()?;
    finish_erasing(context)?;
    let folders = folders(context, far, is_leaving)?;
    let (from, to): (&dyn Store, &dyn Store) = if is_leaving {
        (&*near, far)
    } else {
        (far, &*near)
    };
    let holder = holder("migrate");
    let (file, database) = (token::file()?, server.tokens()?);
    let [file, database] =
        [&file as &dyn Tokens, &*database].map(|tokens| TokenRecords::new(tokens, &holder));
    let here = Tombstones::at(context.config()?.forgotten());
    let there = far.tombstones().map(Tombstones::kept).unwrap_or_default();
    let [stones_near, stones_far] = [&here, &there].map(TombstoneRecords::new);
    // Tombstones come first: what they hold stays behind.
    let mut records: Vec<(&str, &dyn Records, &dyn Records)> = vec![
        ("tombstones", &stones_near, &stones_far),
        ("tokens", &file, &database),
    ];
    let held = if is_leaving { &there } else { &here };
    let shelves: Vec<_> = folders
        .iter()
        .flat_map(|folder| folder.shelves(far).map(|shelf| (folder, shelf)))
        .collect();
    let remaining: Vec<_> = shelves
        .iter()
        .map(|(folder, (_, shelf, near, far))| {
            let files: [&dyn Records; 2] = [near, far];
            files.map(|files| Remaining::new(files, &folder.source.name, *shelf, held))
        })
        .collect();
    for ((_, (name, ..)), [near, far]) in shelves.iter().zip(&remaining) {
        records.push((name, near, far));
    }
    let forgotten = |source: &str, key: &str, thread: Option<&str>| held.hold(source, key, thread);
    let machine = this_machine()?;
    let place = |name: &str, location: &str| {
        let kept = folders.iter().find(|folder| folder.source.name == name);
        match (kept, is_leaving) {
            (Some(folder), true) => far.files(&folder.source.name).location().to_owned(),
            (Some(folder), false) => folder.source.path.display().to_string(),
            (None, true) => machine.place(name, location),
            (None, false) => machine.location(location).unwrap_or(location).to_owned(),
        }
    };
    let working = Working::begin()?;
    let mut migration = Migration::new(from, to, &holder)
        .placed(&place)
        .forgotten(&forgotten)
        .cancelled_by(working.cancel());
    for (name, near, far) in records {
        migration = if is_leaving {
            migration.records(name, near, far)
        } else {
            migration.records(name, far, near)
        };
    }
    for folder in &folders {
        migration = migration.kept(&folder.source.name);
    }
    let mut shown: Option<(Step, Steps)> = None;
    let report = migration.run(&mut |step, done, total| {
        if shown.as_ref().is_none_or(|(known, _)| *known != step) {
            shown = Some((step, Steps::new(context.output, label(step), Some(total))));
        }
        if let Some((_, steps)) = &shown {
            steps.done(done);
        }
    });
    drop(shown);
    let report = report?;
    let places = [from, to].map(|store| store.place().display().to_string());
    print(arguments, context.output, &report, [&places[0], &places[1]])?;
    Ok(if report.is_complete() {
        Outcome::Done
    } else {
        Outcome::Incomplete
    })
}

/// Finishes what an interrupted purge has left on this machine, so that nothing of it is
/// moved.
fn finish_erasing(context: &Context<'_>) -> anyhow::Result<()> {
    let config = context.config()?;
    let purpose = Purpose::of("migrate").without_model(true);
    let engine = context.engine(&config, purpose)?;
    pages::finish_erasing(context.output, &engine)
}

/// The name of a group of files, and the files on both sides.
type Shelved<'a> = (&'static str, Shelf, FolderRecords<'a>, RowRecords);

/// A folder of this machine whose files are rows on a server.
struct Kept {
    source: RegisteredSource,
    files: Box<dyn NoteFiles>,
    /// The names of the groups with its files and its trash.
    groups: [&'static str; 2],
}

impl Kept {
    /// Returns the files and the trash on both sides.
    fn shelves(&self, far: &PostgresIndex) -> [Shelved<'_>; 2] {
        let [listed, trash] = self.groups;
        [(listed, Shelf::Listed), (trash, Shelf::Trash)].map(|(group, shelf)| {
            let near = FolderRecords::new(&*self.files, &self.source.path, shelf);
            let far = RowRecords::new(far.files(&self.source.name), shelf);
            (group, shelf, near, far)
        })
    }
}

/// Returns the folders of memories, articles and pages. Makes those that are missing here if
/// the server has files for them.
fn folders(
    context: &Context<'_>,
    far: &PostgresIndex,
    is_leaving: bool,
) -> anyhow::Result<Vec<Kept>> {
    let mut kept = Vec::new();
    for (name, kind, groups) in [
        (
            MEMORY_SOURCE,
            Kind::Memory,
            ["memories", "memories in the trash"],
        ),
        (
            ARTICLE_SOURCE,
            Kind::Article,
            ["articles", "articles in the trash"],
        ),
        (
            PAGES_SOURCE,
            Kind::Markdown,
            ["pages", "pages in the trash"],
        ),
    ] {
        if context.config()?.source(name).is_none() {
            let rows = |shelf| RowRecords::new(far.files(name), shelf).list();
            if is_leaving || (rows(Shelf::Listed)?.is_empty() && rows(Shelf::Trash)?.is_empty()) {
                continue;
            }
            match kind {
                Kind::Markdown => pages::place(context, None)?,
                kind => memory::place(context, kind, None)?,
            };
        }
        let config = context.config()?;
        let Some(source) = config.source(name).filter(|source| source.kind == kind) else {
            return Err(refusal(
                format!(
                    "there is no source '{name}' on this machine for what the server keeps there"
                ),
                format!(
                    "rename the source that takes its place to '{name}' in the config, or remove it"
                ),
            ));
        };
        kept.push(Kept {
            files: assemble::note_files(&config, source)?,
            source: source.clone(),
            groups,
        });
    }
    Ok(kept)
}

fn label(step: Step) -> &'static str {
    match step {
        Step::Records => "moving memories, tombstones and tokens",
        Step::Documents => "moving documents",
        Step::Vectors => "moving vectors",
        _ => "comparing",
    }
}

fn print(
    arguments: &MigrateArguments,
    output: &Output,
    report: &MigrationReport,
    [from, to]: [&str; 2],
) -> anyhow::Result<()> {
    if arguments.json {
        return output.json(&Report {
            from,
            to,
            changed: report.changed,
            complete: report.is_complete(),
            groups: report.groups.iter().map(Listed::of).collect(),
        });
    }
    let mut table = Table::new(
        ["", "FROM", "TO", "CHECKSUM", "OTHERS"],
        &[Narrower::Drop("OTHERS"), Narrower::Drop("CHECKSUM")],
    );
    for group in &report.groups {
        let sum: String = group.to.sum.chars().take(MAX_SHOWN).collect();
        table.push(vec![
            group.name.to_owned(),
            grouped(group.from.count),
            grouped(group.to.count),
            if group.is_complete() {
                sum
            } else {
                "differs".to_owned()
            },
            grouped(group.others),
        ]);
    }
    output.table(&table)?;
    for group in report.groups.iter().filter(|group| !group.is_complete()) {
        let names: Vec<_> = group.different.iter().map(|name| escaped(name)).collect();
        output.warning(&format!(
            "{} are missing in {to} or differ there, such as: {}",
            group.name,
            names.join(", ")
        ));
    }
    if report.changed == 0 {
        output.notice(&format!("{to} was already complete."));
    }
    Ok(())
}
