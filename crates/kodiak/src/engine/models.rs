//! The models of an engine, loaded when needed.

use std::fmt;
use std::sync::Arc;

use crate::embed::{Embedder, Role};
use crate::store::Serving;

/// A model, `None` if none is configured, or why the configured one cannot be used.
pub type ModelResult = Result<Option<Arc<dyn Embedder>>, ModelAbsence>;

/// A model that is configured and cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelAbsence {
    /// The name of the model.
    pub name: String,
    /// Why it cannot be used, in words for people.
    pub reason: String,
}

impl fmt::Display for ModelAbsence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.reason)
    }
}

impl From<ModelAbsence> for crate::Error {
    fn from(absence: ModelAbsence) -> Self {
        Self::ModelAbsent {
            name: absence.name,
            reason: absence.reason,
        }
    }
}

/// The models of an engine. It never downloads one: it uses only installed models.
pub trait Models: Send + Sync {
    /// Returns the model that embeds documents; `None` if none is configured.
    fn for_documents(&self) -> ModelResult;

    /// Returns the model that made the vectors in use; `None` if none is
    /// configured. `serving` is `None` if nothing is embedded yet.
    fn for_queries(&self, serving: Option<&Serving>) -> ModelResult;

    /// Checks that the model for documents works.
    fn examine(&self, embedder: &dyn Embedder) -> crate::Result<()> {
        embedder.embed_one("word", Role::Document)?;
        Ok(())
    }
}

impl fmt::Debug for dyn Models {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Models")
    }
}

/// No model: search is lexical only, without a notice about it.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoModel;

impl Models for NoModel {
    fn for_documents(&self) -> ModelResult {
        Ok(None)
    }

    fn for_queries(&self, _: Option<&Serving>) -> ModelResult {
        Ok(None)
    }
}

/// One model for everything.
#[derive(Clone)]
pub struct OneModel(pub Arc<dyn Embedder>);

impl Models for OneModel {
    fn for_documents(&self) -> ModelResult {
        Ok(Some(Arc::clone(&self.0)))
    }

    fn for_queries(&self, _: Option<&Serving>) -> ModelResult {
        Ok(Some(Arc::clone(&self.0)))
    }
}

impl fmt::Debug for OneModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "OneModel({})", self.0.identity().key())
    }
}
