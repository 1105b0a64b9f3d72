//! `kodiak pick`, and `kodiak` alone: searches while you type.
//!
//! The picker does the searching and the drawing. Here is what it does not know: where
//! the files are, how errors are worded, and what happens with the choice.

use std::ffi::OsString;
use std::sync::Arc;

use kodiak::access::Guard;
use kodiak::search::Request;
use kodiak::{Engine, Error, LineRange, Reference};
use kodiak_picker::{Ended, Host, Item, Problem, Searcher};

use super::{Outcome, open, search};
use crate::arguments::{Arguments, PickArguments, PickFormat};
use crate::assemble::Purpose;
use crate::config::Config;
use crate::context::{Context, explain_missing_index};
use crate::failure::{self, refusal};
use crate::places::Places;
use crate::{opened, opener, output};

pub(super) fn run(arguments: &PickArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    if !output::can_draw() {
        return Err(refusal(
            "this terminal cannot show a picker: TERM is not set, or `dumb`",
            "use `kodiak search`, which prints the hits",
        ));
    }
    let config = context.config()?;
    let purpose = Purpose::of("pick").without_model(arguments.no_semantic);
    let engine = context.engine(&config, purpose)?;
    let guard = Guard::local();
    // Only whether there is an index: counting what it has would delay the first results.
    match engine.view(&guard).read(|_| Ok(())) {
        // Who has just installed the program learns from its help how to begin.
        Err(Error::NoIndex { .. }) if arguments.is_bare && config.sources.is_empty() => {
            return Ok(print_help());
        }
        indexed => indexed.map_err(|error| explain_missing_index(error, &config))?,
    }
    engine.view(&guard).require_sources(&arguments.sources)?;
    let searcher = Searcher {
        history: opened::history(&engine, &config),
        request: Request {
            fusion: config.search.fusion,
            weights: search::weights(&config),
            ..Request::default()
        },
        host: Arc::new(Program {
            places: Places::new(&config),
            config: config.clone(),
        }),
        engine: engine.clone(),
    };
    let query = arguments.query.join(" ");
    let ended = kodiak_picker::run(&searcher, &query, arguments.sources.clone());
    let ended = ended.map_err(|error| {
        let message = format!("the terminal could not be used: {error}");
        refusal(message, "use `kodiak search`, which prints the hits")
    })?;
    match ended {
        Ended::Chosen(item) => finish(&item, arguments, context, &engine, &config),
        Ended::Left if arguments.print => Ok(Outcome::Nothing),
        Ended::Left => Ok(Outcome::Done),
        Ended::Interrupted => Ok(Outcome::Stopped),
        Ended::Signal(signal) => Ok(Outcome::Signalled(signal)),
    }
}

/// Prints or opens what was chosen.
fn finish(
    item: &Item,
    arguments: &PickArguments,
    context: &Context<'_>,
    engine: &Engine,
    config: &Config,
) -> anyhow::Result<Outcome> {
    if arguments.print {
        opened::record(engine, config, &item.source, &item.path);
        let path = Places::new(config).usable_at(&item.source, &item.path, &item.entry, &item.id);
        let path = path.unwrap_or_else(|| item.uri.clone());
        context.output.answer(&match arguments.format {
            Some(PickFormat::Line) => format!("{path}:{}\n", item.line),
            Some(PickFormat::Path) | None => format!("{path}\n"),
        })?;
        return Ok(Outcome::Done);
    }
    let reference = Reference {
        target: item.uri.clone(),
        lines: Some(LineRange {
            from: item.line,
            to: item.line,
        }),
    };
    let found = engine.get(&Guard::local(), &reference)?;
    open::open(&found, engine, config)
}

/// Prints the help, as without a terminal.
fn print_help() -> Outcome {
    if let Err(help) = Arguments::parse_line(vec![OsString::from("kodiak")]) {
        output::usage(&help);
    }
    Outcome::Incomplete
}

/// What the picker does not know.
struct Program {
    places: Places,
    config: Config,
}

impl Host for Program {
    fn place(&self, source: &str, path: &str) -> String {
        self.places.shown_at(source, path)
    }

    fn path(&self, item: &Item) -> String {
        let file = self.places.file_at(&item.source, &item.entry);
        file.map_or_else(|| item.uri.clone(), |file| file.display().to_string())
    }

    fn open_folder(&self, item: &Item) -> Result<String, String> {
        let file = self.places.file_at(&item.source, &item.entry);
        let Some(folder) = file.as_deref().and_then(std::path::Path::parent) else {
            return Err("it is not in a folder of files".to_owned());
        };
        opener::open_folder(folder).map_err(|error| failure::message(&error))?;
        Ok(format!("opened {}", folder.display()))
    }

    fn explain(&self, error: Error) -> Problem {
        let error = explain_missing_index(error, &self.config);
        Problem {
            text: failure::message(&error),
            hints: failure::hints(&error),
        }
    }
}
