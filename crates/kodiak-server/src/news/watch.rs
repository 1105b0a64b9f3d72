//! Watches the documents that listeners subscribed to.
//!
//! While there are subscriptions and listeners can be reached, a thread looks at the
//! documents in turns: reading a document brings it up to date, so a change is noticed
//! whichever program made it. Then the thread ends.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use kodiak::access::Guard;
use kodiak::document::Reference;
use kodiak::{Cancel, Error, Timestamp};

use super::{Admission, Item, Listener, State, Wish, lock};
use crate::server::{Caller, Server};

/// The time between two looks.
const GLANCE: Duration = Duration::from_secs(1);
/// Every so many looks, the list is looked at, too.
const LIST: u64 = 5;
/// Every so many looks, also what was not there is looked for. That takes longer:
/// it may be anywhere.
const ABSENT: u64 = 30;

/// How many documents are looked at in one turn for one caller, whatever its listeners
/// wish. The rest has its turn later.
const MOST_LOOKS: usize = super::MOST_ADDRESSES;

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
        let (mut admission, mut looks) = (Admission::default(), Looks::default());
        let mut listeners = server.news().listeners();
        // Also in the turns in which the absent is looked for, another one begins.
        turn(&mut listeners, round + round / ABSENT);
        for listener in listeners {
            if listener.is_watching() && listener.is_admitted(&mut admission) {
                anybody = true;
                glance(server, &listener, round, &mut looks);
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

/// What was looked at in one turn, for callers for whom the same exists: each document
/// once, however many listeners wish to hear of it.
#[derive(Debug, Default)]
struct Looks {
    seen: Vec<(Guard, Seen)>,
    /// How many documents were looked at for each caller.
    made: HashMap<Option<String>, usize>,
}

/// The states of addresses and of the list, as far as they are known.
#[derive(Debug, Default)]
struct Seen {
    documents: HashMap<String, Option<State>>,
    list: Option<Result<State, ()>>,
}

impl Looks {
    /// Returns what was looked at for callers with this guard.
    fn of(&mut self, guard: &Guard) -> &mut Seen {
        let known = self.seen.iter().position(|(one, _)| one.sees_like(guard));
        let at = known.unwrap_or_else(|| {
            self.seen.push((guard.clone(), Seen::default()));
            self.seen.len() - 1
        });
        &mut self.seen[at].1
    }

    /// Returns the state of a document for a caller, as `look` sees it unless that is
    /// known; `None` if it is not known now or there were too many looks for the caller.
    fn state(
        &mut self,
        caller: &Caller,
        address: &str,
        look: impl FnOnce() -> Option<State>,
    ) -> Option<State> {
        if let Some(known) = self.of(&caller.guard).documents.get(address) {
            return *known;
        }
        let made = self.made.entry(caller.holder().map(str::to_owned));
        let made = made.or_default();
        if *made >= MOST_LOOKS {
            return None;
        }
        *made += 1;
        let seen = look();
        let documents = &mut self.of(&caller.guard).documents;
        documents.insert(address.to_owned(), seen);
        seen
    }
}

/// Begins with another one in each turn, so that each has one.
fn turn<T>(things: &mut [T], round: u64) {
    if !things.is_empty() {
        let places = usize::try_from(round).unwrap_or_default() % things.len();
        things.rotate_left(places);
    }
}

/// Looks at everything that one listener wishes to hear of, and tells it.
fn glance(server: &Server, listener: &Listener, round: u64, looks: &mut Looks) {
    let caller = listener.caller();
    for (address, known) in listener.documents(round.is_multiple_of(ABSENT)) {
        let look = || server.state(caller, &address).ok();
        let Some(now) = looks.state(caller, &address, look) else {
            continue;
        };
        if now != known && listener.send(Item::Updated(address.clone())) {
            listener.know(&address, now);
        }
    }
    if !round.is_multiple_of(LIST) {
        return;
    }
    let Some(known) = lock(&listener.wish).list else {
        return;
    };
    let look = || server.list_state(caller).map_err(drop);
    let seen = looks.of(&caller.guard);
    if let Ok(now) = *seen.list.get_or_insert_with(look)
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::MOST_ADDRESSES;
    use super::*;

    #[test]
    fn what_listeners_share_is_looked_at_once() {
        let mut looks = Looks::default();
        let callers = ["ada", "bob"].map(|name| Caller::new(Guard::local().writing_as(name)));
        let mut made = 0;
        for number in 0..1_000 {
            for caller in &callers {
                let address = format!("kodiak://notes/{}", number % 100);
                let seen = looks.state(caller, &address, || {
                    made += 1;
                    Some(None)
                });
                assert_eq!(seen, Some(None));
            }
        }
        assert_eq!(made, 100);
        let narrow = Caller::new(Guard::local().within(["home"]));
        let other = || Some(Some([1; 32]));
        assert_eq!(looks.state(&narrow, "kodiak://notes/0", other), other());
    }

    #[test]
    fn one_caller_has_so_many_looks_and_all_have_their_turn() {
        let caller = Caller::new(Guard::local());
        let (listeners, mut seen) = (30, HashSet::new());
        for number in 1..=listeners {
            // Those in which the absent is looked for.
            let round = number * ABSENT;
            let mut looks = Looks::default();
            let mut wishes: Vec<u64> = (0..listeners).collect();
            turn(&mut wishes, round + round / ABSENT);
            let mut made = 0;
            for listener in wishes {
                for wish in 0..MOST_ADDRESSES {
                    let address = format!("{listener}/{wish}");
                    if looks.state(&caller, &address, || Some(None)).is_some() {
                        seen.insert(address);
                        made += 1;
                    }
                }
            }
            assert_eq!(made, MOST_LOOKS);
        }
        assert_eq!(seen.len() as u64, listeners * MOST_ADDRESSES as u64);
    }
}
