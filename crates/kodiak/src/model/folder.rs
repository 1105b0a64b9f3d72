//! Installing a model from a folder that the user names.
//!
//! The files are copied, so that the model survives when the folder is removed
//! or changed.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::catalogue::{known, known_by_weights};
use super::checksum::{self, Content, CopyError};
use super::manifest::{Description, MANIFEST, Manifest, TOKENIZER, WEIGHTS, files, is_name};
use super::staging::Staging;
use super::{InstalledModel, Settings};
use crate::error::{Error, Result};

/// The usual paths of weights in a model's folder, best first.
const WEIGHTS_FILES: [&str; 4] = [
    "model.onnx",
    "model_quantized.onnx",
    "onnx/model_quantized.onnx",
    "onnx/model.onnx",
];

/// Copies the model in `folder` into the cache, if it can be loaded. Its
/// `model.json` says what it is and how it is used. Without one, the catalogue
/// says so, found by `name` or by the weights.
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
    let (name, settings) = match description {
        Some(description) => (description.name, description.settings),
        None => from_catalogue(folder, name, &copied)?,
    };
    let words = copy(&tokenizer, &staging.model().join(TOKENIZER))?;
    let from = format!("folder {}", folder.display());
    staging
        .publish(Manifest::new(&name, &settings, copied, words, from))
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
fn from_catalogue(
    folder: &Path,
    name: Option<&str>,
    weights: &Content,
) -> Result<(String, Settings)> {
    let found = match name {
        Some(name) => known(name),
        None => known_by_weights(&weights.sha256),
    };
    if let Some(model) = found {
        return Ok((model.name.to_owned(), model.settings.clone()));
    }
    let detail = match name {
        Some(name) if is_name(name) => {
            format!("it has no {MANIFEST}, and no model named '{name}' is known")
        }
        Some(name) => format!("no model can be named '{name}'"),
        None => format!("it has no {MANIFEST} that says what it is, and its weights are not known"),
    };
    Err(files(folder, detail))
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
    for ending in ["_data", ".data"] {
        let mut more = weights.clone().into_os_string();
        more.push(ending);
        if Path::new(&more).exists() {
            let detail = "some of its weights are in a file of their own, which is not supported";
            return Err(files(Path::new(&more), detail));
        }
    }
    Ok(weights)
}

fn copy(from: &Path, to: &Path) -> Result<Content> {
    let mut file = File::open(from).map_err(Error::io("read", from))?;
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
