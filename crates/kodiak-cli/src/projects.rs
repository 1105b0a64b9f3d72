//! Finds the project that somebody names: by its folder, or by the name of that
//! folder.

use kodiak::access::Guard;
use kodiak::store::Filter;
use kodiak::{Engine, project};

use crate::failure::refusal;

/// Returns the project of the current folder: the repository that it is in.
pub(crate) fn present() -> Option<String> {
    let root = project::root(&std::env::current_dir().ok()?)?;
    Some(root.to_string_lossy().into_owned())
}

/// Returns the projects that somebody typed, as the index names them. A path of a
/// folder means the repository that it is in. What the index does not know stays
/// as it is.
pub(crate) fn resolve(typed: &[String], engine: &Engine) -> anyhow::Result<Vec<String>> {
    typed.iter().map(|name| resolve_one(name, engine)).collect()
}

/// Returns the project that somebody typed, as the index names it.
pub(crate) fn resolve_one(typed: &str, engine: &Engine) -> anyhow::Result<String> {
    let path = crate::paths::expanded(typed);
    let is_path = path.is_absolute() || typed.starts_with('.');
    if is_path && path.exists() {
        return Ok(project::of(&path));
    }
    let known = match engine.projects(&Guard::local(), &Filter::default()) {
        Ok(known) => known,
        Err(kodiak::Error::NoIndex { .. }) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    let names = known.iter().map(|(name, _)| name.as_str());
    match project::meant(typed, names).as_slice() {
        [] => Ok(typed.to_owned()),
        [only] => Ok((*only).to_owned()),
        several => Err(refusal(
            format!("there are several projects called '{typed}'"),
            format!("name the folder of one: {}", several.join(", ")),
        )),
    }
}
