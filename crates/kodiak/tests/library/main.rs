//! The library as a developer uses it: a folder, an index, searches.

mod answers;
mod collection;
mod pruning;
mod syncing;
