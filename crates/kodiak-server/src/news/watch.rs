//! Watches the documents that listeners subscribed to.
//!
//! While there are subscriptions and listeners can be reached, a thread looks at the
//! documents in turns: reading a document brings it up to date, so a change is noticed
//! whichever program made it. Then the thread ends.

use std::sync::Mutex;
use std::time::Duration;

use kodiak::document::Reference;
use kodiak::{Cancel, Error, Timestamp};

use super::{Item, Listener, State, Wish, lock};
use crate::server::{Caller, Server};

/// The time between two looks.
const GLANCE: Duration = Duration::from_secs(1);
/// Every so many looks, the list is looked at, too.
const LIST: u64 = 5;
/// Every so many looks, also what was not there is looked for. That takes longer:
/// it may be anywhere.
const ABSENT: u64 = 30;

/// Whether the thread runs.
#[derive(Debug, Default)]
pub(super) struct Watched(Mutex<bool>);

impl Server {
    /// Begins to look after what listeners wish to hear of, unless the thread
    /// runs already.
    pub(crate) fn watch(&self) {
        let mut watched = lock(&self.news().watched.0);
        if *watched {
            return;
        }
        let server = self.clone();
        let begun = std::thread::Builder::new()
            .name("watch".to_owned())
            .spawn(move || run(&server));
        match begun {
            Ok(_) => *watched = true,
            Err(error) => (self.options().log)(&format!("changes are not looked for: {error}")),
        }
    }

    /// Returns the state of the document at an address. Fails if that is not
    /// known now.
    pub(crate) fn state(&self, caller: &Caller, address: &str) -> kodiak::Result<State> {
        self.state_before(caller, address, Timestamp::MAX)
    }

    /// Returns the state of the document at an address before this moment. If it
    /// has changed since, that is a state that no document has.
    pub(crate) fn state_before(
        &self,
        caller: &Caller,
        address: &str,
        moment: Timestamp,
    ) -> kodiak::Result<State> {
        if !address.starts_with("kodiak://") {
            return Ok(None);
        }
        let reference = Reference {
            target: address.to_owned(),
            lines: None,
        };
        match self.engine().get(&caller.guard, &reference) {
            Ok(found) if found.document.updated_at >= moment => Ok(Some([0; 32])),
            Ok(found) => Ok(Some(found.document.hash)),
            Err(Error::NoDocument { .. } | Error::NoIndex { .. } | Error::Ambiguous { .. }) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the state of the list of documents. Fails if that is not known now.
    pub(crate) fn list_state(&self, caller: &Caller) -> Result<State, crate::Refusal> {
        let listed = self.resources(caller, &Cancel::new())?;
        let mut hasher = blake3::Hasher::new();
        for resource in listed {
            for text in [&resource.uri, &resource.title] {
                hasher.update(&(text.len() as u64).to_le_bytes());
                hasher.update(text.as_bytes());
            }
        }
        Ok(Some(*hasher.finalize().as_bytes()))
    }
}

fn run(server: &Server) {
    for round in 0_u64.. {
        std::thread::sleep(GLANCE);
        let mut anybody = false;
        for listener in server.news().listeners() {
            if listener.is_watching() && listener.is_admitted() {
                anybody = true;
                glance(server, &listener, round);
            }
        }
        let mut watched = lock(&server.news().watched.0);
        // A listener that came since then has found the thread running.
        let others = server.news().listeners();
        if !anybody && !others.iter().any(|one| one.is_watching()) {
            *watched = false;
            return;
        }
    }
}

/// Looks at everything that one listener wishes to hear of, and tells it.
fn glance(server: &Server, listener: &Listener, round: u64) {
    for (address, known) in listener.documents(round.is_multiple_of(ABSENT)) {
        let Ok(now) = server.state(listener.caller(), &address) else {
            continue;
        };
        if now != known && listener.send(Item::Updated(address.clone())) {
            listener.know(&address, now);
        }
    }
    if !round.is_multiple_of(LIST) {
        return;
    }
    let known = lock(&listener.wish).list;
    if let (Some(known), Ok(now)) = (known, server.list_state(listener.caller()))
        && now != known
        && listener.send(Item::Listed)
    {
        listener.add_list(now);
    }
}

impl Listener {
    /// Reports whether there is something to look at for it, and a way to tell it.
    fn is_watching(&self) -> bool {
        let Wish {
            documents, list, ..
        } = &*lock(&self.wish);
        (!documents.is_empty() || list.is_some()) && self.is_open()
    }

    /// Returns the documents to look at, each in its known state.
    fn documents(&self, absent: bool) -> Vec<(String, State)> {
        let wish = lock(&self.wish);
        let documents = wish.documents.iter();
        documents
            .filter(|(_, state)| absent || state.is_some())
            .map(|(address, state)| (address.clone(), *state))
            .collect()
    }

    /// Takes note of the state that the listener was told of, unless it has ended
    /// its subscription.
    fn know(&self, address: &str, now: State) {
        if let Some(known) = lock(&self.wish).documents.get_mut(address) {
            *known = now;
        }
    }
}
