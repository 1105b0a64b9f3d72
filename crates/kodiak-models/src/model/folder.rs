//! Installing a model from a folder that the user names.
//!
//! The files are copied, so that the model survives when the folder is removed
//! or changed.

use std::path::{Path, PathBuf};

use super::catalogue::{known, known_by_weights};
use super::checksum::{self, Content, CopyError};
use super::manifest::{
    Description, MANIFEST, Manifest, TOKENIZER, WEIGHTS, files, is_name, is_plain,
};
use super::staging::Staging;
use super::{InstalledModel, Settings, describe};
use kodiak_base::error::{Error, Result};

/// The usual paths of weights in a model's folder, best first.
const WEIGHTS_FILES: [&str; 4] = [
    "model.onnx",
    "model_quantized.onnx",
    "onnx/model_quantized.onnx",
    "onnx/model.onnx",
];

/// Copies the model in `folder` into the cache, if it can be loaded. Its `model.json`
/// describes it. Without one, the description comes from the catalogue, found by `name` or
/// by the weights, or else from its other files.
pub fn install_from_folder(
    folder: &Path,
    name: Option<&str>,
    cache: &Path,
) -> Result<InstalledModel> {
    if !folder.is_dir() {
        let path = folder.to_owned();
        return Err(if folder.exists() {
            Error::NotAFolder { path }
        } else {
            Error::FolderMissing { path }
        });
    }
    let weights = weights_in(folder)?;
    let tokenizer = folder.join(TOKENIZER);
    if !tokenizer.is_file() {
        return Err(files(folder, format!("it has no {TOKENIZER}")));
    }
    let description = Description::read(folder)?;
    if let (Some(described), Some(name)) = (&description, name)
        && described.name != name
    {
        let detail = format!("it is named '{}', not '{name}'", described.name);
        return Err(files(&folder.join(MANIFEST), detail));
    }

    let staging = Staging::begin(cache)?;
    let copied = copy(&weights, &staging.model().join(WEIGHTS))?;
    let expected = description
        .as_ref()
        .and_then(|it| it.weights_sha256.as_ref());
    if expected.is_some_and(|expected| *expected != copied.sha256) {
        let detail = format!("it is not the file that {MANIFEST} is about");
        return Err(files(&weights, detail));
    }
    let described = description.as_ref().and_then(|it| it.data.as_ref());
    let described = described.filter(|data| is_plain(&data.name));
    let data = match described.map(|data| folder.join(&data.name)) {
        Some(path) => Some(path),
        None => data_of(&weights),
    };
    let data = match data {
        Some(path) => {
            let name = file_name(&path);
            let content = copy(&path, &staging.model().join(&name))?;
            Some((name, content))
        }
        None => None,
    };
    let (name, settings) = match description {
        Some(description) => (description.name, description.settings),
        None => match from_catalogue(name, &copied) {
            Some(known) => known,
            None => (
                named(folder, name)?,
                describe::settings(folder, &weights, &tokenizer)?,
            ),
        },
    };
    let words = copy(&tokenizer, &staging.model().join(TOKENIZER))?;
    let from = format!("folder {}", folder.display());
    let mut manifest = Manifest::new(&name, &settings, copied, words, from);
    if let Some((name, content)) = data {
        manifest.add_data(&name, content);
    }
    staging
        .publish(manifest)
        .map_err(|error| about_original(error, folder, &weights, &tokenizer))
}

/// Changes an error about a copied file into one about the original, which
/// people can look at.
fn about_original(error: Error, folder: &Path, weights: &Path, tokenizer: &Path) -> Error {
    match error {
        Error::ModelFiles { path, detail } if path.ends_with(WEIGHTS) => files(weights, detail),
        Error::ModelFiles { path, detail } if path.ends_with(TOKENIZER) => files(tokenizer, detail),
        Error::ModelFiles { detail, .. } => files(folder, detail),
        other => other,
    }
}

/// Returns the name and the settings from the catalogue, for a folder without a
/// description.
fn from_catalogue(name: Option<&str>, weights: &Content) -> Option<(String, Settings)> {
    let model = match name {
        Some(name) => known(name),
        None => known_by_weights(&weights.sha256),
    }?;
    Some((model.name.clone(), model.settings.clone()))
}

/// Returns the name for a model that is not known.
fn named(folder: &Path, name: Option<&str>) -> Result<String> {
    match name {
        Some(name) if is_name(name) => Ok(name.to_owned()),
        Some(name) => Err(files(folder, format!("no model can be named '{name}'"))),
        None => describe::name(folder).ok_or_else(|| {
            let detail = format!("it has no {MANIFEST} with a name, and its own name is not one");
            files(folder, detail)
        }),
    }
}

fn weights_in(folder: &Path) -> Result<PathBuf> {
    let Some(weights) = WEIGHTS_FILES
        .iter()
        .map(|name| folder.join(name))
        .find(|path| path.is_file())
    else {
        let expected = WEIGHTS_FILES.join(", ");
        let detail = format!("it has no weights: none of {expected}");
        return Err(files(folder, detail));
    };
    Ok(weights)
}

/// Returns the file with the weights of a graph, if they are not in it.
fn data_of(graph: &Path) -> Option<PathBuf> {
    let mut files = ["_data", ".data"].into_iter().map(|ending| {
        let mut path = graph.to_owned().into_os_string();
        path.push(ending);
        PathBuf::from(path)
    });
    files.find(|path| path.is_file())
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn copy(from: &Path, to: &Path) -> Result<Content> {
    let mut file = kodiak_base::files::open(from).map_err(Error::io("read", from))?;
    match checksum::copy(&mut file, to, u64::MAX) {
        Ok(content) if content.bytes == 0 => Err(files(from, "it is empty")),
        Ok(content) => Ok(content),
        Err(CopyError::Reading(error)) => Err(Error::io("read", from)(error)),
        Err(CopyError::Writing(error)) => Err(Error::io("write", to)(error)),
        Err(CopyError::TooLarge) => Err(files(from, "it is too large")),
    }
}

#[cfg(test)]
#[path = "folder_tests.rs"]
mod tests;
