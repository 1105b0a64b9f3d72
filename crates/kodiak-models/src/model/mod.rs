//! The models that are known, and their installation.
//!
//! A model lives in its own folder inside a cache, whose path the caller gives.
//! `catalogue` describes the known models, `install` and `folder` install one,
//! `hub`, `download` and `package` bring its files, `pack` and `line_ends` convert
//! them where they have to be, `record` and `stamp` check that they are the right
//! ones, `cache` lists what is installed. `embed` describes and reads a model's files
//! and knows nothing of this module. The caller decides where the cache is and
//! whether anything may be downloaded.

#[cfg(feature = "packages")]
#[cfg(test)]
mod archives;
mod cache;
mod catalogue;
mod checksum;
#[cfg(feature = "packages")]
mod client;
mod describe;
#[cfg(feature = "hub")]
mod download;
#[cfg(feature = "hub")]
mod failure;
mod folder;
#[cfg(feature = "hub")]
mod hub;
#[cfg(feature = "hub")]
mod install;
#[cfg(feature = "packages")]
mod line_ends;
mod manifest;
mod pack;
#[cfg(feature = "packages")]
mod package;
#[cfg(feature = "hub")]
mod record;
mod staging;
mod stamp;

pub use cache::{bytes, damage, find, find_key, installed, remove, verify};
pub use catalogue::{
    HubFile, HubFiles, KnownModel, LineEnds, Member, Origin, Package, Wheel, catalogue, known,
};
pub use folder::install_from_folder;
#[cfg(feature = "hub")]
pub use hub::Hub;
#[cfg(feature = "hub")]
pub use install::{Plan, Progress, install};
pub use pack::{PackMember, Precision};

pub use crate::embed::{InstalledModel, Pooling, Settings};
