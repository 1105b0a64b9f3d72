//! The models that are known, and their installation.
//!
//! A model lives in its own folder inside a cache, whose path the caller gives.
//! `catalogue` describes the known models, `install` and `folder` install one,
//! `hub`, `download` and `package` bring its files, `pack` and `line_ends` convert
//! them where they have to be, `record` and `stamp` check that they are the right ones, `cache` lists what is installed. `embed` describes and reads a model's files
//! and knows nothing of this module. The caller decides where the cache is and
//! whether anything may be downloaded.

#[cfg(test)]
mod archives;
mod cache;
mod catalogue;
mod checksum;
mod client;
mod describe;
mod download;
mod folder;
mod hub;
mod install;
mod line_ends;
mod manifest;
mod pack;
mod package;
mod record;
mod staging;
mod stamp;

pub use cache::{bytes, damage, find, find_key, installed, remove, verify};
pub use catalogue::{
    HubFile, HubFiles, KnownModel, Member, Origin, Package, Wheel, catalogue, known,
};
pub use folder::install_from_folder;
pub use hub::Hub;
pub use install::{Plan, Progress, install};
pub use line_ends::LineEnds;
pub use pack::{PackMember, Precision};

pub use crate::embed::{InstalledModel, Pooling, Settings};
