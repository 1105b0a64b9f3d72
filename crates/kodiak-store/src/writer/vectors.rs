//! Models and their vectors.

use crate::{ModelNumber, Pending};
use kodiak_base::error::Result;
use kodiak_models::embed::Identity;

/// A function that returns the vector of each text by the hash of the embedded
/// text, or `None` where the vector is not known.
pub type VectorsByHash<'a> = dyn FnMut(&[[u8; 16]]) -> Result<Vec<Option<Vec<f32>>>> + 'a;

/// Stores models and the vectors that they made.
pub trait WriteVectors {
    /// Adds a model. The first model is used for searching at once, with as
    /// many vectors as there are.
    fn put_model(&mut self, identity: &Identity) -> Result<ModelNumber>;

    /// Makes this the model used for searching and deletes the vectors of all
    /// others.
    fn serve(&mut self, model: ModelNumber) -> Result<()>;

    /// Stores the vectors of chunks. A vector whose chunk is gone or has
    /// changed is left out.
    fn put_vectors(&mut self, model: ModelNumber, vectors: &[(Pending, Vec<f32>)]) -> Result<()>;

    /// Records that chunks could not be embedded, and why.
    fn put_failures(&mut self, model: ModelNumber, failures: &[(Pending, String)]) -> Result<()>;

    /// Replaces the vectors that differ from those that `right` returns.
    /// `right` gets the hashes of the chunks' texts. Returns the number of
    /// wrong vectors.
    fn correct_vectors(&mut self, right: &mut VectorsByHash<'_>) -> Result<usize>;

    /// Brings the vector index up to date if it is out of date.
    fn refresh_vectors(&mut self) -> Result<()>;

    /// Brings the vector index up to date if it is far out of date.
    fn refresh_vectors_if_far_behind(&mut self) -> Result<()>;
}
