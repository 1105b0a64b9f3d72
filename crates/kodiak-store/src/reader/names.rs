//! Documents by name.

use crate::{Filter, Row};
use kodiak_base::error::Result;

/// The number, source, key and title of a document: enough to name it.
pub type Name = (Row, String, String, String);

/// Finds documents by id, path or title.
pub trait Names {
    /// Returns the documents whose id begins with `prefix` (lower-case
    /// hexadecimal), sorted by source and key.
    fn with_id_prefix(&self, prefix: &str, filter: &Filter, limit: usize) -> Result<Vec<Name>>;

    /// Returns the documents at this path, sorted by source and key: those with
    /// this key or, if `source` is not given and no document has it, those
    /// whose key ends with it after a `/`.
    fn with_path(
        &self,
        source: Option<&str>,
        key: &str,
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Name>>;

    /// Returns the documents with this title, ignoring ASCII case, sorted by
    /// source and key.
    fn with_title(&self, title: &str, filter: &Filter, limit: usize) -> Result<Vec<Name>>;

    /// Calls `visit` with the name of every document that meets `filter`.
    fn each_name(&self, filter: &Filter, visit: &mut dyn FnMut(Name)) -> Result<()>;

    /// Returns the documents that `filter` admits and that have these names, in one
    /// query: keys, or beginnings of ids after `#`. Each row comes with the number of
    /// its name.
    fn named(&self, names: &[String], filter: &Filter) -> Result<Vec<(usize, Row)>> {
        let mut found = Vec::new();
        for (number, name) in names.iter().enumerate() {
            let named = match name.strip_prefix('#') {
                Some("") => continue,
                Some(digits) => self.with_id_prefix(&digits.to_ascii_lowercase(), filter, 2)?,
                None => self.with_path(None, name, filter, 2)?,
            };
            let exact = |(_, _, key, _): &Name| name.starts_with('#') || key == name;
            let named = named.into_iter().filter(exact);
            found.extend(named.map(|(row, ..)| (number, row)));
        }
        Ok(found)
    }
}
