//! Indexes the texts of a custom source and searches them.
#![allow(clippy::print_stdout)]

use std::path::PathBuf;

use kodiak::engine::ToSync;
use kodiak::source::{Entry, Listing, Presence, Reading};
use kodiak::{Document, Engine, Guard, Job, Request, Result, Source, Version};

/// Texts of the program itself, each with a name.
struct Texts(Vec<(&'static str, &'static str)>);

impl Texts {
    fn find(&self, name: &str) -> Option<&'static str> {
        let mut texts = self.0.iter();
        texts.find(|(own, _)| *own == name).map(|(_, text)| *text)
    }
}

impl Source for Texts {
    fn name(&self) -> &'static str {
        "texts"
    }

    fn kind(&self) -> &'static str {
        "texts"
    }

    fn location(&self) -> String {
        "the example".to_owned()
    }

    fn watch_paths(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    fn list(&self) -> Result<Listing> {
        let entry = |(name, text): &(&str, &str)| Entry {
            key: (*name).to_owned(),
            version: Version::of(text.as_bytes()),
            size_hint: text.len() as u64,
        };
        Ok(Listing {
            entries: self.0.iter().map(entry).collect(),
            ..Listing::default()
        })
    }

    fn read(&self, entry: &Entry, emit: &mut dyn FnMut(Document)) -> Result<Reading> {
        let Some(text) = self.find(&entry.key) else {
            return Ok(Reading::Gone);
        };
        emit(Document {
            source: self.name().to_owned(),
            key: entry.key.clone(),
            title: entry.key.clone(),
            body: text.to_owned(),
            ..Document::default()
        });
        Ok(Reading::Read {
            version: Version::of(text.as_bytes()),
        })
    }

    fn presence(&self, entry_key: &str) -> Presence {
        let there = |text: &str| Presence::There(Version::of(text.as_bytes()));
        self.find(entry_key).map_or(Presence::Gone, there)
    }
}

fn main() -> Result<()> {
    let texts = Texts(vec![
        ("Bread", "Knead the dough for ten minutes."),
        (
            "Week",
            "On Sunday I plan the week: three things that matter.",
        ),
    ]);
    let index = std::env::temp_dir().join(format!("kodiak-{}.db", std::process::id()));
    let engine = Engine::builder(index).source(texts).open()?;
    let me = Guard::local();
    engine.sync(&me, ToSync::All, &Job::default())?;
    let answer = engine.search(&me, &Request::new("how do I plan my week"))?;
    for hit in answer.hits {
        println!("{:.2} {}:{} {}", hit.score, hit.path, hit.line, hit.title);
    }
    Ok(())
}
