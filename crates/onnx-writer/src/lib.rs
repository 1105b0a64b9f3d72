//! Writes ONNX files.
//!
//! Owns the file format: nodes, weights, inputs and outputs, and the protobuf
//! messages that they are encoded as. What a graph computes is the caller's
//! business. Equal graphs are written as equal bytes.

mod graph;
mod protobuf;

pub use graph::{Attribute, Element, Graph, Size, Version};
