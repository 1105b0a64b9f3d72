//! The library as a developer uses it: a folder, an index, searches.

#![expect(
    clippy::unwrap_used,
    reason = "a helper that cannot do its work ends the test"
)]

mod answers;
mod asking;
mod away;
mod bear;
mod brain;
mod collection;
mod completing;
mod concurrency;
mod contract;
mod degradation;
mod demanded;
mod duplicates;
mod embedders;
mod embedding;
mod embedding_order;
mod embedding_together;
mod engine;
mod erasing;
mod forgetting;
mod formats;
mod guard;
mod in_turn;
mod inspection;
mod later;
mod lines;
mod linking;
mod load;
mod meaning;
mod memory;
mod memory_store;
mod models;
mod pages;
mod project_scope;
mod pruning;
mod refresh;
mod repair;
mod reranking;
mod servers;
mod servers_alike;
mod sessions;
mod sharing;
mod sources;
mod spelling;
mod stemming;
mod store_calls;
mod store_contract;
mod strange;
mod swapping;
mod syncing;
mod threads;
mod transcripts;
mod tuning;
mod uncertainty;
mod unembedded;
mod vector_file;
