//! Text from notes, harmless on a terminal: the library's escaping by the names
//! that the output has for it.

pub(crate) use kodiak::escape::{line as escaped, lines as escaped_lines};
