//! The program as people and programs meet it: exit code, standard output and
//! standard error of the real binary, in a home of its own.

#![expect(
    clippy::unwrap_used,
    reason = "a helper that cannot do its work ends the test"
)]

mod aliases;
mod arguments;
mod away;
mod bear;
mod broken;
mod codes;
mod completions;
mod config;
mod coverage;
mod crowd;
mod denied;
mod desk;
mod dialect;
mod documented;
mod encodings;
mod eval;
mod figures;
mod filters;
mod formats;
mod former_names;
mod get;
mod honest;
mod hook;
mod http;
mod hub;
mod index;
mod install;
mod interrupt;
mod judged;
mod kill;
mod kill_erasing;
mod kill_pages;
#[cfg(unix)]
mod large;
mod length;
mod links;
mod mcp;
mod meaning;
mod memories;
mod memory;
mod model;
mod names;
mod names_on_screen;
mod open;
mod opened;
mod pages;
#[cfg(target_os = "linux")]
mod picker;
mod privacy;
mod projects;
mod provider;
mod queries;
mod real_model;
mod refresh;
mod relevance;
mod repair;
mod rerank;
#[cfg(unix)]
mod screen;
#[cfg(unix)]
mod screens;
mod screens_of_notes;
mod search;
mod secrets;
mod servers;
mod sessions;
mod shells;
#[cfg(target_os = "linux")]
mod silent;
mod similar;
mod sources;
mod strange;
mod terminal;
mod token;
mod transcripts;
mod tries;
mod typing;
mod uncertain;
mod untouched;
mod vectors;
mod visits;
mod walls;
mod watch;
#[cfg(not(feature = "team"))]
mod without_servers;
mod zone;
