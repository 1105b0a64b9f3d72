//! Which state of the index is read, the size of it, and the care of a reader.

use std::sync::Arc;

use crate::lexical::{Admitted, meeting};
use crate::live::Live;
use crate::plan::Plan;
use crate::reader::PostgresReader;
use crate::schema;
use crate::value::{Query, get};
use crate::vocabulary::corpus_of;
use kodiak_base::cancel::Interrupt;
use kodiak_base::error::Result;
use kodiak_rank::Corpus;
use kodiak_store::vectors::Bitmap;
use kodiak_store::{Behind, Filter, Finding, Maintenance, Revision, Row, Selection, State, Terms};
use kodiak_text::text::Stemming;

impl State for PostgresReader {
    fn begin_snapshot(&self) -> Result<()> {
        self.open();
        Ok(())
    }

    fn end_snapshot(&self) {
        self.release();
    }

    fn revision(&self) -> Result<Revision> {
        let _hold = self.hold();
        if self.writing.get() {
            self.forget_live();
        }
        Ok(self.revision_of(&*self.live()?))
    }

    fn behind(&self) -> Option<Behind> {
        self.is_behind()
    }

    fn digest(&self) -> Result<Option<Vec<u8>>> {
        let _hold = self.hold();
        let live = self.live()?;
        let Live {
            generation,
            past,
            changed,
            touched,
            ..
        } = &*live;
        let digest = format!("{generation} {past} {changed} {touched}");
        Ok(Some(digest.into_bytes()))
    }

    fn stemming(&self) -> Stemming {
        self.stemming
    }
}

impl Maintenance for PostgresReader {
    fn is_current(&self) -> bool {
        self.shared.is_current(&self.generation())
    }

    fn interrupt(&self) -> Option<Interrupt> {
        Some(self.interruption())
    }

    fn format(&self) -> Result<u32> {
        let rows = self.rows_of(Query::new("SELECT max(number) FROM migrations"))?;
        let number: i64 = rows.first().map_or(Ok(0), |row| get(row, 0))?;
        Ok(u32::try_from(number).unwrap_or(schema::NEWEST))
    }

    fn examine(&self) -> Result<Vec<Finding>> {
        // A replica has no damage that its server does not have, but may lack some.
        self.at_the_server_that_writes(|| {
            let _hold = self.hold();
            self.examine_snapshot()
        })
    }
}

impl Terms for PostgresReader {
    fn corpus(&self) -> Result<Corpus> {
        let _hold = self.hold();
        Ok(corpus_of(&*self.live()?))
    }

    fn total_length(&self, filter: &Filter) -> Result<u64> {
        let _hold = self.hold();
        let live = self.live()?;
        let admitted = match Admitted::of(filter) {
            Ok(admitted) => admitted,
            Err(_) => Admitted::Rows(Arc::new(self.rows(filter, None, None)?)),
        };
        let mut length = 0;
        for segment in &live.segments {
            if admitted.admits_segment(segment) {
                for (ordinal, row) in segment.present() {
                    if admitted.admits(row) {
                        length += segment.members.length(ordinal);
                    }
                }
            }
        }
        Ok(length)
    }

    fn rows_with_term(&self, term: &str, among: &Bitmap) -> Result<Vec<Row>> {
        let _hold = self.hold();
        let plan = Plan::of_term(term);
        let (fetched, _) = self.fetch(&[&plan], Vec::new())?;
        let among = Admitted::Rows(Arc::new(among.clone()));
        Ok(meeting(&plan, &fetched, &among).iter().collect())
    }
}
