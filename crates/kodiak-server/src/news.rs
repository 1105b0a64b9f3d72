//! Events of a server, for the clients that subscribed to them: messages about
//! its work, and which documents have changed.
//!
//! A [`Listener`] is a client that asked. It has rights, a wish, and outlets that
//! what it hears goes through. `watch` looks after the documents that clients
//! wished to hear of. How an outlet reaches a client is left to the protocol.

mod streams;
mod watch;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use kodiak::access::Guard;
use tokio::sync::mpsc;

use crate::failure::Refusal;
use crate::server::Caller;
pub(crate) use streams::{Admission, Streams};

/// The most addresses that one listener hears of.
pub(crate) const MOST_ADDRESSES: usize = 500;
/// The longest address in bytes.
const LONGEST_ADDRESS: usize = 4_096;
/// How much an outlet holds that the client has not taken yet. More is not told.
const HELD: usize = 64;
/// The most outlets of one listener. The oldest makes room.
const MOST_OUTLETS: usize = 8;
/// The most listeners at once.
const MOST_LISTENERS: usize = 2_048;

/// How serious a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    /// More serious than anything that is told.
    Silence,
}

/// What a message tells of. It decides who may hear it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About<'a> {
    /// One source.
    Source(&'a str),
    /// The index as a whole.
    Index,
}

impl About<'_> {
    fn is_for(self, guard: &Guard) -> bool {
        match self {
            // What has no project is outside one, and a source has none.
            Self::Source(source) => guard.project().is_none() && guard.admits(source),
            Self::Index => guard.sees_everything(),
        }
    }
}

/// Something that a listener is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// A message.
    Message { level: Level, text: String },
    /// The document at this address has changed, or is gone.
    Updated(String),
    /// Other documents are listed now.
    Listed,
}

/// All listeners. It does not keep a listener alive.
#[derive(Debug, Default)]
pub(crate) struct News {
    listeners: Mutex<Vec<Weak<Listener>>>,
    /// The last message that is told once in a row.
    last: Mutex<String>,
    watched: watch::Watched,
    streams: Arc<Streams>,
}

impl News {
    /// Returns the places of connections that go on.
    pub(crate) fn streams(&self) -> &Arc<Streams> {
        &self.streams
    }

    /// Adds a listener that has no wish yet.
    pub(crate) fn join(&self, caller: Caller) -> Result<Arc<Listener>, Refusal> {
        let listener = Arc::new(Listener {
            caller,
            wish: Mutex::default(),
            outlets: Mutex::default(),
        });
        let mut listeners = lock(&self.listeners);
        listeners.retain(|one| one.strong_count() > 0);
        if listeners.len() >= MOST_LISTENERS {
            return Err(Refusal::new(
                "too many clients listen already",
                "close the streams you do not need",
            ));
        }
        listeners.push(Arc::downgrade(&listener));
        Ok(listener)
    }

    fn listeners(&self) -> Vec<Arc<Listener>> {
        let listeners = lock(&self.listeners);
        listeners.iter().filter_map(Weak::upgrade).collect()
    }

    /// Sends a message to every listener that wants it and may see it.
    pub(crate) fn tell(&self, level: Level, about: About<'_>, text: &str) {
        let mut admission = Admission::default();
        for listener in self.listeners() {
            let wanted = lock(&listener.wish)
                .level
                .is_some_and(|least| level >= least);
            if wanted
                && about.is_for(&listener.caller.guard)
                && listener.is_admitted(&mut admission)
            {
                let text = text.to_owned();
                listener.send(Item::Message { level, text });
            }
        }
    }

    /// Sends what stays the same only once in a row.
    pub(crate) fn tell_once(&self, level: Level, about: About<'_>, text: &str) {
        let mut last = lock(&self.last);
        if *last == text {
            return;
        }
        text.clone_into(&mut last);
        drop(last);
        self.tell(level, about, text);
    }

    /// Ends all streams and outlets.
    pub(crate) fn close(&self) {
        self.streams.close();
        for listener in self.listeners() {
            listener.close();
        }
    }
}

/// A client that asked to hear of what happens.
#[derive(Debug)]
pub(crate) struct Listener {
    caller: Caller,
    wish: Mutex<Wish>,
    outlets: Mutex<Vec<mpsc::Sender<Item>>>,
}

/// What a listener wants to hear of.
#[derive(Debug, Default)]
struct Wish {
    /// The least serious messages; none at all if absent.
    level: Option<Level>,
    /// The addresses of documents, each with the state that is known to it.
    documents: BTreeMap<String, State>,
    /// The state of the list of documents, if it wants to hear of that.
    list: Option<State>,
}

/// The state of something: a hash, or nothing where nothing is.
type State = Option<[u8; 32]>;

impl Listener {
    /// Returns who listens.
    pub(crate) fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Sets how serious a message has to be.
    pub(crate) fn set_level(&self, least: Level) {
        lock(&self.wish).level = Some(least);
    }

    /// Adds an address, with the state that is known of what is there. An address
    /// that names nothing is taken, too: it may name something later, and the
    /// answer must not tell what exists.
    pub(crate) fn add(&self, address: &str, state: State) -> Result<(), Refusal> {
        if address.len() > LONGEST_ADDRESS {
            return Err(Refusal::new("the address is too long", ""));
        }
        let mut wish = lock(&self.wish);
        if wish.documents.len() >= MOST_ADDRESSES && !wish.documents.contains_key(address) {
            return Err(Refusal::new(
                format!("there are {MOST_ADDRESSES} subscriptions already"),
                "end the ones you do not need with resources/unsubscribe",
            ));
        }
        wish.documents.insert(address.to_owned(), state);
        Ok(())
    }

    /// Removes an address.
    pub(crate) fn remove(&self, address: &str) {
        lock(&self.wish).documents.remove(address);
    }

    /// Adds the list of documents, in this state.
    pub(crate) fn add_list(&self, state: State) {
        lock(&self.wish).list = Some(state);
    }

    /// Opens an outlet. What the listener is told goes through the newest one that
    /// is open, and never through two.
    pub(crate) fn open(&self) -> mpsc::Receiver<Item> {
        let (sender, receiver) = mpsc::channel(HELD);
        let mut outlets = lock(&self.outlets);
        outlets.retain(|outlet| !outlet.is_closed());
        if outlets.len() >= MOST_OUTLETS {
            outlets.remove(0);
        }
        outlets.push(sender);
        receiver
    }

    /// Ends all outlets.
    pub(crate) fn close(&self) {
        lock(&self.outlets).clear();
    }

    /// Reports whether something can be told.
    pub(crate) fn is_open(&self) -> bool {
        let mut outlets = lock(&self.outlets);
        outlets.retain(|outlet| !outlet.is_closed());
        !outlets.is_empty()
    }

    /// Sends an item. Returns whether an outlet took it.
    fn send(&self, item: Item) -> bool {
        let mut outlets = lock(&self.outlets);
        outlets.retain(|outlet| !outlet.is_closed());
        let newest = outlets.last();
        newest.is_some_and(|outlet| outlet.try_send(item).is_ok())
    }

    /// Reports whether the caller is still let in. If not, its outlets end.
    fn is_admitted(&self, admission: &mut Admission) -> bool {
        let admitted = admission.is_of(&self.caller);
        if !admitted {
            self.close();
        }
        admitted
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use kodiak::access::Capability;

    use super::*;

    fn reader() -> Guard {
        Guard::holding([Capability::Search, Capability::Read])
    }

    fn texts(receiver: &mut mpsc::Receiver<Item>) -> Vec<String> {
        let mut texts = Vec::new();
        while let Ok(item) = receiver.try_recv() {
            if let Item::Message { text, .. } = item {
                texts.push(text);
            }
        }
        texts
    }

    #[test]
    fn messages_are_for_those_who_want_and_may_hear_them() {
        let news = News::default();
        let join = |guard: Guard, level: Option<Level>| {
            let listener = news.join(Caller::new(guard)).unwrap();
            if let Some(level) = level {
                listener.set_level(level);
            }
            let outlet = listener.open();
            (listener, outlet)
        };
        let (_all, mut all) = join(reader(), Some(Level::Debug));
        let (_serious, mut serious) = join(reader(), Some(Level::Warning));
        let (_silent, mut silent) = join(reader(), None);
        let (_home, mut home) = join(reader().within(["home"]), Some(Level::Debug));
        let (_atlas, mut atlas) = join(reader().in_project("atlas"), Some(Level::Debug));
        news.tell(Level::Info, About::Source("home"), "one");
        news.tell(Level::Error, About::Source("work"), "two");
        news.tell(Level::Warning, About::Index, "three");
        news.tell_once(Level::Info, About::Index, "four");
        news.tell_once(Level::Info, About::Index, "four");
        assert_eq!(texts(&mut all), ["one", "two", "three", "four"]);
        assert_eq!(texts(&mut serious), ["two", "three"]);
        assert_eq!(texts(&mut home), ["one"]);
        assert!(texts(&mut silent).is_empty() && texts(&mut atlas).is_empty());
    }

    #[test]
    fn a_message_goes_through_one_outlet() {
        let news = News::default();
        let listener = news.join(Caller::new(reader())).unwrap();
        listener.set_level(Level::Debug);
        let (mut first, mut second) = (listener.open(), listener.open());
        news.tell(Level::Info, About::Index, "one");
        drop(std::mem::replace(&mut second, listener.open()));
        news.tell(Level::Info, About::Index, "two");
        drop(second);
        news.tell(Level::Info, About::Index, "three");
        assert_eq!(texts(&mut first), ["three"]);
        news.close();
        assert!(!listener.is_open() && first.try_recv().is_err());
    }

    #[test]
    fn whoever_is_no_longer_let_in_hears_nothing() {
        let news = News::default();
        let admitted = Arc::new(std::sync::atomic::AtomicBool::new(true));
        let pass = Arc::clone(&admitted);
        let pass = Arc::new(move || pass.load(std::sync::atomic::Ordering::Relaxed));
        let listener = news.join(Caller::new(reader()).with_session(pass)).unwrap();
        listener.set_level(Level::Debug);
        let mut outlet = listener.open();
        news.tell(Level::Info, About::Index, "one");
        admitted.store(false, std::sync::atomic::Ordering::Relaxed);
        news.tell(Level::Info, About::Index, "two");
        assert_eq!(texts(&mut outlet), ["one"]);
        assert!(outlet.is_closed() && !listener.is_open());
    }

    #[test]
    fn subscriptions_are_bounded() {
        let listener = News::default().join(Caller::new(reader())).unwrap();
        for number in 0..MOST_ADDRESSES {
            listener
                .add(&format!("kodiak://notes/{number}"), None)
                .unwrap();
        }
        listener.add("kodiak://notes/0", None).unwrap();
        listener.add("kodiak://notes/more", None).unwrap_err();
        listener.remove("kodiak://notes/0");
        listener.add("kodiak://notes/more", None).unwrap();
        let long = "x".repeat(LONGEST_ADDRESS + 1);
        News::default()
            .join(Caller::new(reader()))
            .unwrap()
            .add(&long, None)
            .unwrap_err();
    }
}
