//! Packs: a model's weights in a format that no runtime reads, turned into an
//! ONNX file.
//!
//! Some packages carry a model as plain numbers in a custom format. `read` takes such a
//! file apart, `quantise` rounds its matrices to eight bits, and `graph` writes the network
//! that belongs to them: an encoder like BERT, whose sizes the pack gives. The result
//! depends on nothing but the pack, so the catalogue can pin its hash. `package` fetches
//! the pack out of its archive.

#[cfg(feature = "packages")]
mod graph;
#[cfg(feature = "packages")]
mod quantise;
#[cfg(feature = "packages")]
mod read;
#[cfg(feature = "packages")]
#[cfg(test)]
pub(in crate::model) mod reference;
#[cfg(feature = "packages")]
#[cfg(test)]
mod tests;

use serde::Deserialize;

use super::catalogue::Member;
#[cfg(feature = "packages")]
use read::Pack;

/// A pack inside a package, and the graph made from it.
#[derive(Clone, Debug, Deserialize)]
pub struct PackMember {
    /// The file in the package.
    #[serde(flatten)]
    pub member: Member,
    /// How the graph holds its weights.
    pub precision: Precision,
}

/// How a graph holds the weights of a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// As 32-bit floats, which is exact.
    Float,
    /// As eight-bit integers, which is faster and smaller.
    Integer,
}

/// The files of a model, made of a pack.
#[cfg(feature = "packages")]
#[derive(Debug)]
pub(super) struct Converted {
    /// The content of the ONNX file.
    pub(super) graph: Vec<u8>,
    /// The content of `tokenizer.json`.
    pub(super) tokenizer: Vec<u8>,
}

/// Converts the bytes of a pack. The error describes the fault.
#[cfg(feature = "packages")]
pub(super) fn convert(bytes: &[u8], precision: Precision) -> Result<Converted, String> {
    let pack = Pack::parse(bytes)?;
    Ok(Converted {
        graph: graph::write(&pack, precision)?,
        tokenizer: pack.tokenizer.to_vec(),
    })
}
