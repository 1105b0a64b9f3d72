//! Every trait of a reader and a writer, for calls on a store's own types.
//!
//! Calls on `dyn Reader` and `dyn Writer` need no import. The names are left out, so
//! that a glob import clashes with nothing.

pub use crate::reader::{
    Documents as _, EmbeddingProgress as _, Entries as _, Lexical as _, Links as _,
    Maintenance as _, Names as _, Selection as _, Sources as _, State as _, Terms as _,
    Vectors as _, Vocabulary as _,
};
pub use crate::writer::{
    EmbeddingQueue as _, Erasing as _, Rechunking as _, Transactions as _, Upkeep as _,
    WriteDocuments as _, WriteEntries as _, WriteSources as _, WriteVectors as _, Writer as _,
};
