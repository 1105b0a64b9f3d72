//! The tallies of the scopes in use.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::Tally;
use crate::{Filter, Reader, Scope, Snapshot};
use kodiak_base::error::Result;

/// The number of scopes whose tallies are kept. The one that was not used for the
/// longest time makes room for another.
const MAX_SCOPES: usize = 16;

/// A tally for each scope in use. All readers of an index share it.
#[derive(Default)]
pub struct Tallies {
    /// The scope that was used last comes last.
    scopes: Mutex<Vec<(Scope, Arc<Mutex<Kept>>)>>,
}

/// A tally, with the state of the index that it was taken in.
#[derive(Default)]
struct Kept {
    state: Option<Vec<u8>>,
    tally: Arc<Tally>,
}

impl Tallies {
    /// Returns the tally of a scope in the state of the index that `reader` reads.
    /// Callers that need the same one at the same time wait for the first.
    pub(super) fn get(&self, reader: &dyn Reader, scope: &Scope) -> Result<Arc<Tally>> {
        let kept = self.kept(scope);
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        let _snapshot = Snapshot::begin(reader)?;
        let state = reader.digest()?;
        if state.is_some() && state == kept.state {
            return Ok(Arc::clone(&kept.tally));
        }
        let present = reader.fingerprints(&Filter {
            scope: scope.clone(),
            ..Filter::default()
        })?;
        let tally = Tally::of(present);
        if !tally.is_same(&kept.tally) {
            tally.succeed(&kept.tally);
            kept.tally = Arc::new(tally);
        }
        kept.state = state;
        Ok(Arc::clone(&kept.tally))
    }

    fn kept(&self, scope: &Scope) -> Arc<Mutex<Kept>> {
        let mut scopes = self.scopes.lock().unwrap_or_else(PoisonError::into_inner);
        let found = match scopes.iter().position(|(known, _)| known == scope) {
            Some(at) => scopes.remove(at),
            None => (scope.clone(), Arc::default()),
        };
        let kept = Arc::clone(&found.1);
        if scopes.len() >= MAX_SCOPES {
            scopes.remove(0);
        }
        scopes.push(found);
        kept
    }
}

impl fmt::Debug for Tallies {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Tallies")
    }
}
