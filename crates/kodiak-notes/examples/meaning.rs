//! Searches a folder of notes by meaning, with a model that is already installed:
//!
//! ```console
//! $ cargo run -p kodiak-notes --example meaning -- MODELS NAME FOLDER QUERY
//! ```
//!
//! MODELS is the folder that `kodiak model list` names, NAME one of the models in it.
#![allow(clippy::print_stdout)]

use std::env::args;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use kodiak::access::Guard;
use kodiak::embed::OnnxEmbedder;
use kodiak::engine::ToSync;
use kodiak::search::Request;
use kodiak::{Engine, Job, model};
use kodiak_notes::{FolderOptions, MarkdownFolder};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = args().skip(1).collect();
    let [models, name, folder, query] = &arguments[..] else {
        return Err("give four arguments: MODELS NAME FOLDER QUERY".into());
    };
    let model = model::find(Path::new(models), name)?
        .ok_or_else(|| format!("there is no model {name} in {models}"))?;
    let notes = MarkdownFolder::new("notes", Path::new(folder), FolderOptions::default())?;
    let index = std::env::temp_dir().join(format!("kodiak-meaning-{}.db", std::process::id()));
    let engine = Engine::builder(index)
        .source(notes)
        .model(Arc::new(OnnxEmbedder::new(model)))
        .open()?;

    let (me, job) = (Guard::local(), Job::default());
    engine.sync(&me, ToSync::All, &job)?;
    engine.embed(&me, None, &job)?;
    for hit in engine.search(&me, &Request::new(query))?.hits {
        let similarity = hit.similarity.unwrap_or_default();
        println!("{similarity:.2} {}:{} {}", hit.path, hit.line, hit.title);
    }
    Ok(())
}
