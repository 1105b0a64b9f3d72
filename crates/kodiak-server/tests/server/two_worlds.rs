//! Two worlds that differ only outside a scope give the same answers, to the
//! byte, whatever a caller of that scope asks and by whatever way.
//!
//! The notes are generated. What is outside has words that begin like those inside,
//! share their stems or are a letter away, the same tags in other spellings, the same
//! titles and threads.

mod changes;
mod dice;
mod kinds;
mod routes;
mod servers;
mod tools;
mod words;

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use kodiak::access::Guard;
use kodiak::embed::{Embedder, OnnxEmbedder};
use kodiak::engine::ToSync;
use kodiak::model::install_from_folder;
use kodiak::search::{Mode, Request};
use kodiak::source::Draft;
use kodiak::store::Filter;
use kodiak::{DocumentId, Engine, Job, Reference};
use kodiak_memory::{Memories, Memory, TimelineRequest};
use kodiak_notes::{Links, Notes};
use kodiak_postgres::{Address, PostgresIndex};
use kodiak_server::http::{HttpOptions, Limits, listen};
use kodiak_server::{Server, Settled};
use tempfile::TempDir;

use dice::{Dice, note};
use words::{INSIDE, OUTSIDE};

use crate::desk::{Desk, reader, timeless, writer};

/// Writes the same inside, and an outside that the seed decides about.
fn world(outside: Option<u64>) -> Desk {
    let desk = Desk::new();
    let mut dice = Dice(7);
    for number in 0..16 {
        let mut text = note(&mut dice, &INSIDE, "/work/atlas", false);
        // Links to what is inside, to what may be outside, and to nothing.
        if number < 3 {
            text.push_str(
                "\nSee [[0]], [one](1.md), [[0-hidden]], [two](2-hidden.md), [[copy3]],
                 [three](../secrets/0.md), [four](9-hidden.pdf), [[3]] and [[nowhere]].\n\
                 ![a](pic.svg) ![b](hidden.svg) ![c](../secrets/pic.svg) ![[0-hidden]]\n\
                 ![[deep.svg]] ![d](inner/deep.svg) [[inner/0]] [[B0]]\n",
            );
        }
        desk.write(&format!("work/{number}.md"), &text);
    }
    for number in 0..4 {
        let text = dice.words(&INSIDE, 8);
        let memory = format!("---\nid: own{number}\nproject: /work/atlas\n---\n{text}.\n");
        desk.write(&format!("memory/own{number}.md"), &memory);
    }
    desk.write("work/pic.svg", "<svg/>");
    kinds::write(&desk, outside);
    let Some(seed) = outside else {
        return desk;
    };
    for name in ["work/hidden.svg", "secrets/pic.svg"] {
        desk.write(name, "<svg/>");
    }
    let mut dice = Dice(seed);
    let both: Vec<&str> = INSIDE.into_iter().chain(OUTSIDE).collect();
    for number in 0..10 + dice.roll(30) {
        let text = note(&mut dice, &both, "/work/hidden", true);
        let text = format!("{text}\nSee [[0|quokka walrus]] and [a violence](1.md).\n");
        desk.write(&format!("secrets/{number}.md"), &text);
        // Before, between and after those inside.
        desk.write(&format!("work/{number}-hidden.md"), &text);
    }
    // Copies of what is inside.
    for number in [3, 4] {
        let text = std::fs::read_to_string(desk.path(&format!("work/{number}.md"))).unwrap();
        let text = text.replace("/work/atlas", "/work/hidden");
        desk.write(&format!("secrets/copy{number}.md"), &text);
        desk.write(&format!("work/0-hidden{number}.md"), &text);
    }
    for number in 0..dice.roll(6) {
        let text = dice.words(&both, 8);
        let memory = format!(
            "---\nid: other{number}\nproject: /work/hidden\nsupersedes: [own{number}]\n---\n{text}.\n"
        );
        desk.write(&format!("memory/other{number}.md"), &memory);
    }
    desk
}

pub(crate) fn tiny() -> Arc<dyn Embedder> {
    static TINY: LazyLock<(TempDir, Arc<OnnxEmbedder>)> = LazyLock::new(|| {
        let place = tempfile::tempdir().unwrap();
        let written = place.path().join("written");
        tiny_model::write(&written).unwrap();
        let installed = install_from_folder(&written, None, &place.path().join("models"));
        (place, Arc::new(OnnxEmbedder::new(installed.unwrap())))
    });
    TINY.1.clone()
}

/// A world, with everything that a caller may ask.
struct Asked {
    desk: Desk,
    engine: Engine,
    guard: Guard,
    outside: Option<u64>,
    /// The memories and articles that were there before anything was asked.
    before: HashSet<String>,
    /// The ids of those that were written since, which are random.
    written: Vec<[String; 2]>,
    said: Vec<(String, String)>,
}

/// Whether a world has an outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Worlds {
    Alone,
    Both,
}

impl Asked {
    fn new(desk: Desk, engine: Engine, guard: Guard, outside: Option<u64>) -> Self {
        let mut asked = Self {
            desk,
            engine,
            guard,
            outside,
            before: HashSet::new(),
            written: Vec::new(),
            said: Vec::new(),
        };
        asked.before = asked.memories().collect();
        asked
    }

    /// Returns the sources and ids of memories and articles.
    fn memories(&self) -> impl Iterator<Item = String> {
        let sources = ["memory", "articles"].into_iter();
        sources.flat_map(|source| {
            let entries = std::fs::read_dir(self.desk.path(source)).unwrap();
            let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            names.filter_map(move |name| Some(format!("{source}/{}", name.strip_suffix(".md")?)))
        })
    }

    /// Takes note of the ids of what was written.
    fn look_for_written(&mut self) {
        let new: Vec<String> = self
            .memories()
            .filter(|one| !self.before.contains(one))
            .collect();
        for name in new {
            let (source, id) = name.split_once('/').unwrap();
            let short = DocumentId::new(source, id).hex()[..6].to_owned();
            self.written.push([id.to_owned(), short]);
            self.before.insert(name);
        }
    }

    fn note(&mut self, asked: String, said: &str) {
        let home = self.desk.path("").display().to_string();
        assert!(
            !said.contains(home.trim_end_matches('/')),
            "{asked}: {said}"
        );
        self.look_for_written();
        let mut said = timeless(said);
        for (number, ids) in self.written.iter().enumerate() {
            for id in ids {
                said = said.replace(id, &format!("NEW{number}"));
            }
        }
        self.said.push((asked, said));
    }

    fn search(&mut self, request: &Request) {
        let found = self.engine.search(&self.guard, request).unwrap();
        let said = serde_json::to_string(&found).unwrap();
        self.note(format!("search {request:?}"), &said);
    }

    /// Searches for words and parts of words, in every mode.
    fn searches(&mut self, modes: &[Mode]) {
        let mut dice = Dice(3);
        let words: Vec<&str> = INSIDE.into_iter().chain(OUTSIDE).collect();
        let unknown = [
            "zzyzx",
            "*",
            "",
            "\"bread rising\"",
            "tag:food",
            // Phrases across two tags.
            "\"food work\"",
            "\"work food\"",
            "\"home sea\"",
            "\"sea home\"",
            "title:bread -kettle",
        ];
        let mut queries: Vec<String> = unknown.map(str::to_owned).to_vec();
        for word in &words {
            let mut swapped: Vec<char> = word.chars().collect();
            let at = 1 + dice.roll(swapped.len() - 2);
            swapped.swap(at, at + 1);
            queries.push((*word).to_owned());
            queries.push(swapped.into_iter().collect());
            queries.push(word[..=dice.roll(word.len() - 1)].to_owned());
            queries.push(format!("{}*", &word[..2]));
            let count = 2 + dice.roll(4);
            queries.push(dice.words(&words, count));
        }
        for (number, query) in queries.into_iter().enumerate() {
            self.search(&Request {
                mode: modes[number % modes.len()],
                explain: true,
                as_you_type: number % 3 == 1,
                limit: 1 + dice.roll(30),
                ..Request::new(query.clone())
            });
            let spelt = self.engine.view(&self.guard).spelling(&query).unwrap();
            self.note(format!("spelling {query}"), &format!("{spelt:?}"));
        }
    }

    /// Walks over the beginnings of ids and of names.
    fn names(&mut self) {
        let beginnings = (0..256_u32).map(|number| format!("{number:02x}00"));
        let ids = (0..16).map(|digit: u32| format!("#{digit:x}{digit:x}{digit:x}{digit:x}"));
        let files = [
            "0.md",
            "0-hidden.md",
            "own1",
            "other1",
            "inner1rec",
            "outer1rec",
            "talks/inner1s",
            "outer0s",
            "inner/0.md",
            "articles/outer0",
            "bear/B0",
            "B0",
            "secrets/0.md",
            "work/1.md",
        ];
        let files = files.into_iter().map(str::to_owned);
        let listed = self
            .engine
            .view(&self.guard)
            .list(&Filter::default(), 100)
            .unwrap();
        let own: Vec<String> = listed.iter().map(|one| one.id.clone()).collect();
        self.note("list".to_owned(), &format!("{listed:?}"));
        for name in beginnings.step_by(16).chain(ids).chain(files).chain(own) {
            let reference = Reference {
                target: name.clone(),
                lines: None,
            };
            let found = self.engine.get(&self.guard, &reference);
            let found = found.map(|found| {
                let id = found.document.short_id;
                (id, found.text, found.fields, found.document.tags)
            });
            self.note(format!("get {name}"), &worded(found));
            let similar = self
                .engine
                .similar(&self.guard, &reference, &Request::new(""));
            let similar = match similar {
                Ok(found) => serde_json::to_string(&found).unwrap(),
                failed => worded(failed),
            };
            self.note(format!("similar {name}"), &similar);
            let links = Links::new(&self.engine).of(&self.guard, &name, 30);
            self.note(format!("links {name}"), &worded(links));
            let request = TimelineRequest {
                around: Some(name.clone()),
                context: 4,
                limit: 5,
                ..TimelineRequest::default()
            };
            let timeline = Memories::new(&self.engine).timeline(&self.guard, &request);
            self.note(format!("timeline {name}"), &worded(timeline));
            let named =
                Memories::new(&self.engine).observations(&self.guard, std::slice::from_ref(&name));
            self.note(format!("observations {name}"), &worded(named));
        }
        let status = self.engine.status(&self.guard).unwrap();
        let documents = (status.documents, status.words, status.bytes, status.serving);
        self.note("status".to_owned(), &format!("{documents:?}"));
        let tags = Notes::new(&self.engine)
            .tags(&self.guard, &Filter::default())
            .unwrap();
        self.note("tags".to_owned(), &format!("{tags:?}"));
    }

    fn server(&self, guard: Guard) -> Server {
        let mut options = self.desk.options(guard);
        options.memory_source = Some("memory".to_owned());
        options.article_source = Some("articles".to_owned());
        options.note_creator = Some(Arc::new(|_| Ok(())));
        let mut settled = Settled::new(self.engine.clone());
        settled.history = self.engine.history();
        Server::of(settled, options)
    }

    /// Records the same openings inside, and others outside between them.
    fn open(&self) {
        let Some(history) = self.engine.history() else {
            return;
        };
        // However long it takes, the times between them are the same.
        let now = kodiak::date::now();
        for (ago, key) in [(400, "1.md"), (300, "3.md"), (200, "1.md"), (100, "0.md")] {
            let opened = |source: &str, key: &str| {
                history.record(source, key, now - ago).unwrap();
            };
            opened("work", key);
            for number in 0..self.outside.unwrap_or_default().min(4) {
                opened("secrets", &format!("{number}.md"));
                opened("work", &format!("{number}-hidden.md"));
            }
        }
    }

    /// Asks for names that are taken outside.
    fn wishes(&mut self) {
        let job = Job::default();
        for _ in 0..2 {
            for id in ["other0", "own0", "0-hidden"] {
                let memory = Memory {
                    source: "memory".to_owned(),
                    id: Some(id.to_owned()),
                    text: format!("{id} and the letter {}", self.said.len()),
                    ..Memory::default()
                };
                let remembered = Memories::new(&self.engine).remember(&self.guard, &memory, &job);
                self.note(format!("remember {id}"), &worded(remembered));
            }
            for key in ["0-hidden.md", "sub/new.md", "0-hidden.md/a.md"] {
                let draft = Draft {
                    key: Some(key.to_owned()),
                    body: "b".to_owned(),
                    ..Draft::default()
                };
                let saved = Notes::new(&self.engine).create(&self.guard, "work", &draft, &job);
                self.note(format!("create {key}"), &worded(saved));
            }
        }
    }

    /// Calls every route.
    fn routes(&mut self) {
        self.open();
        let server = self.server(self.guard.clone());
        let options = HttpOptions {
            address: ([127, 0, 0, 1], 0).into(),
            tokens: None,
            hosts: Vec::new(),
            origins: Vec::new(),
            limits: Limits::default(),
        };
        let listening = listen(&server, options).unwrap();
        let address = listening.address();
        let (end, ended) = tokio::sync::oneshot::channel::<()>();
        let serving = std::thread::spawn(move || {
            listening.serve_until(async {
                let _ = ended.await;
            })
        });
        for (route, body) in routes::asked() {
            let body = if body.is_null() {
                String::new()
            } else {
                body.to_string()
            };
            let request = format!(
                "{route} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
                 Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            let (head, said) = answer.split_once("\r\n\r\n").unwrap();
            let status = head.lines().next().unwrap_or_default();
            self.note(format!("{route} {body}"), &format!("{status} {said}"));
        }
        self.events(address);
        drop(end);
        serving.join().unwrap().unwrap();
    }
}

impl Asked {
    /// Notes what a stream says, first and after changes: outside, and then inside.
    fn events(&mut self, address: SocketAddr) {
        let mut stream = TcpStream::connect(address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_mins(1)))
            .unwrap();
        let request = format!("GET /api/events HTTP/1.1\r\nHost: {address}\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
        let mut next = |name: &str| {
            let lines = lines.by_ref();
            let event: Vec<String> = lines
                .skip_while(|line| !line.starts_with("event: "))
                .take_while(|line| !line.is_empty())
                .collect();
            assert!(!event.is_empty(), "{name}");
            (name.to_owned(), event.join("\n"))
        };
        let (name, said) = next("the first event");
        self.note(name, &said);
        if self.outside.is_some() {
            for name in ["secrets/event.md", "work/inner/event.md"] {
                let text = "---\nproject: /work/hidden\n---\n# Event\n\nOutside.\n";
                self.desk.write(name, text);
            }
            self.sync();
        }
        let text = "---\nproject: /work/atlas\n---\n# Event\n\nInside.\n";
        self.desk.write("work/event.md", text);
        self.sync();
        for name in ["the second event", "the third event"] {
            let (name, said) = next(name);
            self.note(name, &said);
        }
    }

    fn sync(&self) {
        self.engine
            .sync(&Guard::local(), ToSync::All, &Job::default())
            .unwrap();
    }
}

fn worded<T: std::fmt::Debug>(found: kodiak::Result<T>) -> String {
    match found {
        Ok(found) => format!("{found:?}"),
        // What is suggested is said as well.
        Err(error) => format!("{error:?}"),
    }
}

/// Changes the inside a world in one way, and its outside in another.
fn change(desk: &Desk, outside: Option<u64>) {
    let mut dice = Dice(11);
    let text = note(&mut dice, &INSIDE, "/work/atlas", false);
    desk.write("work/2.md", &text.replace("kettle", "teapot"));
    std::fs::remove_file(desk.path("work/5.md")).unwrap();
    if let Some(seed) = outside {
        let text = note(&mut Dice(seed), &OUTSIDE, "/work/hidden", true);
        desk.write("secrets/2.md", &text.replace("quokka", "teaspoon"));
        desk.write("secrets/new.md", &text);
        std::fs::remove_file(desk.path("secrets/3.md")).unwrap();
    }
}

/// Asks three worlds the same and compares the answers.
fn compare(model: bool, ask: impl Fn(&mut Asked), guard: impl Fn() -> Guard) {
    compare_on(None, model, ask, guard);
}

/// Does the same with indexes at an address, one after the other.
fn compare_on(
    address: Option<&Address>,
    model: bool,
    ask: impl Fn(&mut Asked),
    guard: impl Fn() -> Guard,
) {
    let answers = [Some(20), Some(1), None].map(|outside| {
        let server = address.map(|address| PostgresIndex::new(address.clone()));
        let desk = world(outside).on(server);
        let (folders, worlds): (&[&str], _) = match outside {
            Some(_) => (&["work", "secrets"], Worlds::Both),
            None => (&["work"], Worlds::Alone),
        };
        // Of what is in the same source, a caller of that source sees everything.
        let sees_source = guard().project().is_none();
        if sees_source {
            let entries = std::fs::read_dir(desk.path("work")).unwrap();
            for entry in entries.map(Result::unwrap) {
                if entry.file_name().to_string_lossy().contains("hidden") {
                    std::fs::remove_file(entry.path()).unwrap();
                }
            }
        }
        let engine = desk.with_more(folders, model.then(tiny), |builder| {
            kinds::add(&desk, worlds, builder)
        });
        let mut asked = Asked::new(desk, engine, guard(), outside);
        ask(&mut asked);
        change(&asked.desk, outside);
        asked.sync();
        for query in ["kettle", "teapot", "tea", "teapto", "bread rising"] {
            asked.search(&Request {
                explain: true,
                as_you_type: query == "tea",
                ..Request::new(query)
            });
        }
        drop(asked.engine);
        asked.desk.delete_index();
        asked.said
    });
    let [one, other, alone] = answers;
    assert!(one.len() > 10);
    for other in [&other, &alone] {
        assert_eq!(one.len(), other.len());
        for ((asked, one), (_, other)) in one.iter().zip(other) {
            let pairs = one.bytes().zip(other.bytes());
            let same = pairs.take_while(|(one, other)| one == other).count();
            let from = one.floor_char_boundary(same.saturating_sub(200));
            assert!(
                one == other,
                "the worlds differ: {asked}\n{}\n{}",
                &one[from..one.floor_char_boundary(same + 200)],
                &other[from..other.floor_char_boundary(same + 200)]
            );
        }
    }
}

fn of_source() -> Guard {
    writer().within(["work"])
}

fn of_project() -> Guard {
    writer().in_project("/work/atlas")
}

fn of_both() -> Guard {
    reader()
        .within(["work", "memory", "articles", "records", "talks"])
        .in_project("/work/atlas")
}

#[test]
fn words_are_counted_inside() {
    let modes = [Mode::Auto, Mode::Lexical, Mode::Like];
    compare(false, |asked| asked.searches(&modes), of_source);
    compare(false, |asked| asked.searches(&modes), of_project);
}

#[test]
fn meanings_are_compared_inside() {
    let modes = [Mode::Hybrid, Mode::Semantic, Mode::Auto];
    compare(true, |asked| asked.searches(&modes), of_source);
    compare(true, |asked| asked.searches(&modes), of_project);
}

#[test]
fn names_lead_nowhere_outside() {
    for guard in [of_source, of_project, of_both] {
        compare(true, Asked::names, guard);
    }
}

#[test]
fn tools_and_routes_answer_as_if_there_were_no_outside() {
    for guard in [of_source, of_project, of_both] {
        compare(true, Asked::tools, guard);
        compare(true, Asked::routes, guard);
        compare(true, Asked::changes, guard);
    }
}

#[test]
fn names_that_are_taken_outside_are_not_taken() {
    for guard in [of_project, of_both] {
        compare(false, Asked::wishes, guard);
    }
}

/// Otherwise the tests above would prove nothing.
#[test]
#[should_panic(expected = "the worlds differ")]
fn without_a_scope_the_worlds_differ() {
    let search = |asked: &mut Asked| {
        for query in INSIDE {
            asked.search(&Request::new(query));
        }
    };
    compare(false, search, || reader().within(["work", "secrets"]));
}
