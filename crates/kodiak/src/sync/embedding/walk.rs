//! Walks over the pending chunks in the order of the store, a page at a time.
//!
//! Between two groups it asks for chunks that were stored since, by this process or
//! another. A few are the work of a person or an agent: they come next, whole. More than a
//! group are an import: the walk ends with its page, and the next one has them in their
//! places.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

use super::{Backfill, PAGE};
use crate::error::Result;
use crate::store::{Pending, Place};
use crate::sync::access::{WriteAccess, writing};

/// A walk over the pending chunks.
pub(super) struct Walk {
    /// The most texts of a group.
    group: usize,
    /// The chunks of the page that were not returned yet, by text.
    ahead: VecDeque<Vec<Pending>>,
    /// The last place of the page.
    after: Option<Place>,
    /// Whether no page follows.
    ends: bool,
    /// Whether much was stored, or all removed, since the walk began.
    outdated: bool,
    /// The newest chunk when chunks were last read; `None` before that.
    newest: Option<i64>,
}

/// The chunks to embed next.
pub(super) enum Next {
    /// Chunks in their order, those with the same text next to each other.
    Group(Vec<Pending>),
    /// Chunks that were stored since the walk began.
    Urgent(Vec<Pending>),
    /// Nothing, as far as this walk goes.
    End,
}

impl Walk {
    /// Begins a walk that returns groups of this many texts.
    pub(super) fn new(group: usize) -> Self {
        Self {
            group,
            ahead: VecDeque::new(),
            after: None,
            ends: false,
            outdated: false,
            newest: None,
        }
    }

    /// Reports whether no page follows the one that is being returned.
    pub(super) fn is_last_page(&self) -> bool {
        self.ends
    }

    /// Reports whether the order has changed so much that another walk is due.
    pub(super) fn is_outdated(&self) -> bool {
        self.outdated
    }

    /// Returns the chunks of the page that were not returned yet, by text.
    pub(super) fn ahead(&self) -> &VecDeque<Vec<Pending>> {
        &self.ahead
    }

    /// Returns the chunks to embed next. Chunks whose vectors are cached get them, and
    /// those that failed in this run are left out.
    pub(super) fn next(
        &mut self,
        backfill: &mut Backfill<'_>,
        access: &dyn WriteAccess,
    ) -> Result<Next> {
        let urgent = self.stored_since(backfill, access)?;
        if !urgent.is_empty() {
            return Ok(Next::Urgent(by_text(&urgent).concat()));
        }
        while self.ahead.is_empty() && !self.ends && !self.outdated {
            let (page, newest) = backfill.in_model(access, |writer, model| {
                let page = writer.pending(model, self.after, PAGE)?;
                Ok((page, writer.newest_chunk()?))
            })?;
            self.newest = Some(newest);
            self.ends = page.len() < PAGE;
            self.after = page.last().map(|last| last.place);
            let page = backfill.without_failed(page);
            let page = backfill.take_cached(access, page)?;
            self.ahead = by_text(&page).into();
        }
        let most = self.group.min(self.ahead.len());
        let group: Vec<Vec<Pending>> = self.ahead.drain(..most).collect();
        if group.is_empty() {
            return Ok(Next::End);
        }
        Ok(Next::Group(group.concat()))
    }

    /// Returns the few chunks that were stored since chunks were last read. If there
    /// are many, or the index was emptied, the walk ends with this page.
    fn stored_since(
        &mut self,
        backfill: &mut Backfill<'_>,
        access: &dyn WriteAccess,
    ) -> Result<Vec<Pending>> {
        let Some(known) = self.newest else {
            return Ok(Vec::new());
        };
        let newest = writing(access, |writer| writer.newest_chunk())?;
        self.newest = Some(newest);
        self.outdated |= newest < known;
        if newest <= known {
            return Ok(Vec::new());
        }
        let stored = backfill.in_model(access, |writer, model| {
            writer.pending_since(model, known, self.group + 1)
        })?;
        if stored.len() > self.group {
            self.outdated = true;
            return Ok(Vec::new());
        }
        let stored = backfill.without_failed(stored);
        backfill.take_cached(access, stored)
    }
}

/// Groups chunks by their text, in the order in which each text first occurs,
/// so that each text is embedded once.
pub(super) fn by_text(pending: &[Pending]) -> Vec<Vec<Pending>> {
    let mut groups: Vec<Vec<Pending>> = Vec::new();
    let mut known = HashMap::new();
    for one in pending {
        match known.entry(one.hash) {
            Entry::Occupied(group) => {
                let group: &mut Vec<Pending> = &mut groups[*group.get()];
                group.push(*one);
            }
            Entry::Vacant(new) => {
                new.insert(groups.len());
                groups.push(vec![*one]);
            }
        }
    }
    groups
}
