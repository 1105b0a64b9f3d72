//! Paths of files that are kept in a database, on their way into a folder of this machine.

use std::path::{Component, Path};

/// Returns the folder of a path, which may be empty, and the name in it.
pub(crate) fn divided(path: &str) -> (&Path, &Path) {
    let path = Path::new(path);
    let name = path.file_name().map_or(path, Path::new);
    (path.parent().unwrap_or(Path::new("")), name)
}

/// Reports whether a path leads plainly downwards, to a file that is not hidden.
pub(crate) fn is_plain(path: &str) -> bool {
    let is_name = |part: Component<'_>| match part {
        Component::Normal(name) => !name.as_encoded_bytes().starts_with(b"."),
        _ => false,
    };
    !path.is_empty() && Path::new(path).components().all(is_name)
}
