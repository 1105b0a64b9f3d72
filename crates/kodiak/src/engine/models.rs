//! Where an engine gets its models from.

use std::fmt;
use std::sync::Arc;

use crate::embed::{Embedder, Role};
use crate::store::Serving;

/// The models an engine works with. Downloading is not its business: it asks for
/// what is there.
pub trait Models: Send + Sync {
    /// Returns the model that documents are embedded with; `None` where none is
    /// wanted, or the reason why there is none.
    fn for_documents(&self) -> Result<Option<Arc<dyn Embedder>>, String>;

    /// Returns the model that made the vectors which answer; `None` where none is
    /// wanted, or the reason why there is none. `serving` is `None` where nothing
    /// is embedded yet.
    fn for_queries(&self, serving: Option<&Serving>) -> Result<Option<Arc<dyn Embedder>>, String>;

    /// Examines whether the model for documents can be used as it is.
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

/// No model: documents are found by their words only, and nothing is said of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoModel;

impl Models for NoModel {
    fn for_documents(&self) -> Result<Option<Arc<dyn Embedder>>, String> {
        Ok(None)
    }

    fn for_queries(&self, _: Option<&Serving>) -> Result<Option<Arc<dyn Embedder>>, String> {
        Ok(None)
    }
}

/// One model for everything.
#[derive(Clone)]
pub struct OneModel(pub Arc<dyn Embedder>);

impl Models for OneModel {
    fn for_documents(&self) -> Result<Option<Arc<dyn Embedder>>, String> {
        Ok(Some(Arc::clone(&self.0)))
    }

    fn for_queries(&self, _: Option<&Serving>) -> Result<Option<Arc<dyn Embedder>>, String> {
        Ok(Some(Arc::clone(&self.0)))
    }
}

impl fmt::Debug for OneModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "OneModel({})", self.0.identity().key())
    }
}
