//! Indexes a folder of notes and searches it.
#![allow(clippy::print_stdout)]

use std::path::Path;

use kodiak::access::Guard;
use kodiak::engine::ToSync;
use kodiak::search::Request;
use kodiak::{Engine, Job};
use kodiak_notes::{FolderOptions, MarkdownFolder};

fn main() -> kodiak::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/notes");
    let index = std::env::temp_dir().join(format!("kodiak-{}.db", std::process::id()));
    let notes = MarkdownFolder::new("notes", &folder, FolderOptions::default())?;
    let engine = Engine::builder(index).source(notes).open()?;
    let me = Guard::local();
    engine.sync(&me, ToSync::All, &Job::default())?;
    let answer = engine.search(&me, &Request::new("how do I plan my week"))?;
    for hit in answer.hits {
        println!("{:.2} {}:{} {}", hit.score, hit.path, hit.line, hit.title);
    }
    Ok(())
}
