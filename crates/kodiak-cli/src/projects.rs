//! Finds the project that a person names: by its folder, or by the end of its path.

use kodiak::access::Guard;
use kodiak::{Engine, project};

use crate::failure::refusal;

/// Returns the project of the current folder: the repository that it is in.
pub(crate) fn present() -> Option<String> {
    let root = project::root(&std::env::current_dir().ok()?)?;
    Some(root.to_string_lossy().into_owned())
}

/// Returns the projects that were typed, a path of a folder as the repository that it is in.
pub(crate) fn typed(projects: &[String]) -> Vec<String> {
    let projects = projects.iter();
    let place = |typed: &String| place(typed).unwrap_or_else(|| typed.clone());
    projects.map(place).collect()
}

/// Returns every spelling that the index has of a project that was typed.
pub(crate) fn resolve_all(typed: &str, engine: &Engine) -> anyhow::Result<Vec<String>> {
    let place = place(typed);
    let wanted = place.as_deref().unwrap_or(typed);
    let mut known = engine.view(&Guard::local()).projects_meant(wanted)?;
    match (known.len(), place) {
        (0, place) => Ok(vec![place.unwrap_or_else(|| typed.to_owned())]),
        (1, _) => Ok(known),
        (_, Some(place)) => {
            // The one that new memories get comes first.
            known.sort_by_key(|name| *name != place);
            Ok(known)
        }
        (_, None) => Err(refusal(
            format!("there are several projects called '{typed}'"),
            format!("name the folder of one: {}", known.join(", ")),
        )),
    }
}

/// Returns the project that was typed, as the index names it.
pub(crate) fn resolve_one(typed: &str, engine: &Engine) -> anyhow::Result<String> {
    let mut all = resolve_all(typed, engine)?;
    Ok(all.swap_remove(0))
}

/// Returns the project at a path that was typed, if it is one.
fn place(typed: &str) -> Option<String> {
    let path = crate::paths::expanded(typed);
    let path = if typed.starts_with('.') {
        std::path::absolute(&path).ok()?
    } else {
        path
    };
    path.is_absolute().then(|| project::of(&path))
}
