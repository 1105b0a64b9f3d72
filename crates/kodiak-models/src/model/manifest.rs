//! `model.json`: the description of a model in its folder.
//!
//! People write the first half for their own models. For an installed model it also records
//! the size and hash of each file. It is written last, so a folder without one is not a
//! model.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::checksum::Content;
use super::{InstalledModel, Settings};
use crate::embed::Identity;
use kodiak_base::error::{Error, Result};
use kodiak_base::hex;

pub(super) const MANIFEST: &str = "model.json";
pub(super) const WEIGHTS: &str = "model.onnx";
pub(super) const TOKENIZER: &str = "tokenizer.json";

/// The number of hexadecimal digits of the weights' SHA-256 that identify a
/// revision.
pub(super) const REVISION_LENGTH: usize = 12;
/// The largest manifest that is read. Real ones have a few hundred bytes.
const MAX_BYTES: u64 = 1 << 16;

/// The content of an installed model's `model.json`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(super) struct Manifest {
    pub(super) name: String,
    pub(super) revision: String,
    #[serde(flatten)]
    pub(super) settings: Settings,
    #[serde(flatten)]
    pub(super) files: Files,
    /// The weights, where they are not in the graph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) data: Option<DataFile>,
    /// Where it came from, for people.
    pub(super) origin: String,
}

/// A file of weights beside the graph, which knows it by its name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct DataFile {
    pub(super) name: String,
    pub(super) sha256: String,
    pub(super) bytes: u64,
}

/// The hashes and sizes of a model's files.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct Files {
    pub(super) weights_sha256: String,
    pub(super) weights_bytes: u64,
    pub(super) tokenizer_sha256: String,
    pub(super) tokenizer_bytes: u64,
}

/// The content of a `model.json` that a person writes. The `model.json` of an installed
/// model is valid too, so its folder can be moved to another machine.
#[derive(Debug, Deserialize)]
pub(super) struct Description {
    pub(super) name: String,
    #[serde(flatten)]
    pub(super) settings: Settings,
    pub(super) weights_sha256: Option<String>,
    pub(super) data: Option<DataFile>,
}

impl Manifest {
    pub(super) fn new(
        name: &str,
        settings: &Settings,
        weights: Content,
        tokenizer: Content,
        origin: String,
    ) -> Self {
        Self {
            name: name.to_owned(),
            revision: revision(&weights.sha256),
            settings: settings.clone(),
            files: Files {
                weights_sha256: weights.sha256,
                weights_bytes: weights.bytes,
                tokenizer_sha256: tokenizer.sha256,
                tokenizer_bytes: tokenizer.bytes,
            },
            data: None,
            origin,
        }
    }

    /// Adds the file with the weights. They belong to the revision as much as the
    /// graph does.
    pub(super) fn add_data(&mut self, name: &str, content: Content) {
        let both = format!("{}{}", self.files.weights_sha256, content.sha256);
        self.revision = revision(&hex(&Sha256::digest(both)));
        self.data = Some(DataFile {
            name: name.to_owned(),
            sha256: content.sha256,
            bytes: content.bytes,
        });
    }

    /// Returns all files, each with its hash and its size.
    pub(super) fn expected(&self) -> impl Iterator<Item = (&str, &str, u64)> {
        let files = &self.files;
        [
            (WEIGHTS, &*files.weights_sha256, files.weights_bytes),
            (TOKENIZER, &*files.tokenizer_sha256, files.tokenizer_bytes),
        ]
        .into_iter()
        .chain(
            self.data
                .iter()
                .map(|data| (&*data.name, &*data.sha256, data.bytes)),
        )
    }

    /// Reads the manifest in `folder`.
    pub(super) fn read(folder: &Path) -> Result<Self> {
        match read::<Self>(folder)? {
            Some(manifest)
                if manifest
                    .data
                    .as_ref()
                    .is_some_and(|data| !is_plain(&data.name)) =>
            {
                Err(files(folder, "its weights are in another folder"))
            }
            Some(manifest) => Ok(manifest),
            None => Err(files(folder, format!("it has no {MANIFEST}"))),
        }
    }

    /// Writes it into `folder` and syncs it to disk.
    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(MANIFEST);
        let mut text = serde_json::to_vec_pretty(self)
            .map_err(|error| Error::io("write", &path)(error.into()))?;
        text.push(b'\n');
        kodiak_base::files::replace(&path, &text).map_err(Error::io("write", &path))
    }

    /// Returns the name of the model's folder.
    pub(super) fn folder_name(&self) -> String {
        format!("{}-{}", self.name, self.revision)
    }

    /// Returns the model that lies in `folder`.
    pub(super) fn installed(self, folder: &Path) -> InstalledModel {
        InstalledModel {
            identity: Identity {
                name: self.name,
                revision: self.revision,
                dimensions: self.settings.dimensions,
            },
            settings: self.settings,
            folder: folder.to_owned(),
        }
    }
}

impl Description {
    /// Reads the description that a person wrote in `folder`, if there is one.
    pub(super) fn read(folder: &Path) -> Result<Option<Self>> {
        let Some(description) = read::<Self>(folder)? else {
            return Ok(None);
        };
        let path = folder.join(MANIFEST);
        if !is_name(&description.name) {
            let detail = format!(
                "the name '{}' must consist of letters a-z, digits, '-', '_' and '.', \
                 begin with a letter or digit, and not be 'none'",
                description.name
            );
            return Err(files(&path, detail));
        }
        match description.settings.check() {
            Ok(()) => Ok(Some(description)),
            Err(detail) => Err(files(&path, detail)),
        }
    }
}

impl Settings {
    /// Checks that a model can have these settings. Returns the reason if not.
    pub(super) fn check(&self) -> std::result::Result<(), String> {
        // Far more than any model has, but not more than can be stored.
        if !(1..=1 << 16).contains(&self.dimensions) {
            return Err(format!("dimensions cannot be {}", self.dimensions));
        }
        // Two special tokens and one of text.
        if !(3..=1 << 20).contains(&self.max_tokens) {
            return Err(format!("max_tokens cannot be {}", self.max_tokens));
        }
        if !(-1.0..=1.0).contains(&self.minimum_similarity) {
            let given = self.minimum_similarity;
            return Err(format!("minimum_similarity cannot be {given}"));
        }
        let shorter = self.shorter_dimensions.iter();
        if let Some(odd) = shorter
            .copied()
            .find(|&one| one == 0 || one >= self.dimensions)
        {
            return Err(format!("shorter_dimensions cannot contain {odd}"));
        }
        Ok(())
    }
}

/// Reports whether a model may have this name. It becomes the name of a folder on
/// any file system, and stands before `@` in a key. It is in lower case because
/// some file systems ignore case.
pub(super) fn is_name(name: &str) -> bool {
    let fine = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.');
    name != "none"
        && name.len() <= 64
        && name.bytes().all(fine)
        && name.starts_with(|first: char| first.is_ascii_alphanumeric())
}

/// Reports whether a name means a file in the same folder.
pub(super) fn is_plain(name: &str) -> bool {
    let parts: Vec<_> = Path::new(name).components().collect();
    matches!(parts[..], [std::path::Component::Normal(part)] if part == name)
        && !name.contains(['/', '\\', ':'])
}

/// Returns the revision of weights with this SHA-256.
pub(super) fn revision(weights_sha256: &str) -> String {
    weights_sha256.chars().take(REVISION_LENGTH).collect()
}

/// Makes an [`Error::ModelFiles`].
pub(super) fn files(path: &Path, detail: impl Into<String>) -> Error {
    Error::ModelFiles {
        path: path.to_owned(),
        detail: detail.into(),
    }
}

fn read<T: serde::de::DeserializeOwned>(folder: &Path) -> Result<Option<T>> {
    let path = folder.join(MANIFEST);
    match fs::metadata(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io("read", &path)(error)),
        Ok(metadata) if !metadata.is_file() => return Err(files(&path, "it is not a file")),
        Ok(metadata) if metadata.len() > MAX_BYTES => {
            let detail = format!("it is longer than {MAX_BYTES} bytes");
            return Err(files(&path, detail));
        }
        Ok(_) => {}
    }
    let text = kodiak_base::files::read(&path, MAX_BYTES).map_err(Error::io("read", &path))?;
    serde_json::from_slice(&text)
        .map(Some)
        .map_err(|error| files(&path, error.to_string()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DESCRIBED: &str = r#"{"name": "tiny", "dimensions": 16, "pooling": "mean",
        "max_tokens": 64, "query_prefix": "q: ", "minimum_similarity": 0.2}"#;

    fn described(text: &str) -> Result<Option<Description>> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(MANIFEST), text).unwrap();
        Description::read(folder.path())
    }

    #[test]
    fn what_people_write() {
        let found = described(DESCRIBED).unwrap().unwrap();
        assert_eq!(found.name, "tiny");
        assert_eq!(found.settings.query_prefix, "q: ");
        assert_eq!(found.settings.document_prefix, "");
        assert_eq!(found.weights_sha256, None);
        let empty = tempfile::tempdir().unwrap();
        assert!(Description::read(empty.path()).unwrap().is_none());
    }

    #[test]
    fn mistakes_are_named() {
        for (from, to, expected) in [
            ("\"name\": \"tiny\",", "", "missing field `name`"),
            ("tiny", "../tiny", "the name '../tiny' must consist of"),
            ("tiny", "none", "the name 'none' must"),
            ("mean", "max", "unknown variant `max`"),
            ("\"dimensions\": 16,", "", "missing field `dimensions`"),
            ("16", "0", "dimensions cannot be 0"),
            ("16", "-1", "invalid value"),
            ("64", "1", "max_tokens cannot be 1"),
            ("0.2", "1.5", "minimum_similarity cannot be 1.5"),
            (
                "0.2",
                "0.2, \"shorter_dimensions\": [8, 16]",
                "shorter_dimensions cannot contain 16",
            ),
            ("}", "", "EOF while parsing"),
        ] {
            let error = described(&DESCRIBED.replacen(from, to, 1)).unwrap_err();
            let said = error.to_string();
            assert!(said.contains(expected), "{to}: {said}");
            assert!(said.contains(MANIFEST), "{said}");
        }
        let long = format!("{DESCRIBED}{}", " ".repeat(1 << 17));
        assert!(described(&long).is_err());
    }

    #[test]
    fn a_manifest_is_read_as_it_was_written_and_as_a_description() {
        let folder = tempfile::tempdir().unwrap();
        let described = described(DESCRIBED).unwrap().unwrap();
        let content = |sha256: &str| Content {
            bytes: 3,
            sha256: sha256.repeat(64),
        };
        let manifest = Manifest::new(
            "tiny",
            &described.settings,
            content("a"),
            content("b"),
            "npm x@1".into(),
        );
        manifest.write(folder.path()).unwrap();
        assert_eq!(Manifest::read(folder.path()).unwrap(), manifest);
        assert_eq!(manifest.folder_name(), "tiny-aaaaaaaaaaaa");
        let again = Description::read(folder.path()).unwrap().unwrap();
        assert_eq!(again.settings, described.settings);
        assert_eq!(again.weights_sha256, Some("a".repeat(64)));
    }

    proptest! {
        #[test]
        fn a_name_is_one_component_of_a_path(name in "\\PC{0,80}") {
            if is_name(&name) {
                let path = Path::new(&name);
                prop_assert_eq!(path.components().count(), 1);
                prop_assert_eq!(path.file_name().unwrap().to_str(), Some(name.as_str()));
                prop_assert!(!name.contains('@') && !name.starts_with('.'));
            }
        }

        /// A description with some parts replaced is either valid or refused
        /// with the file's name.
        #[test]
        fn an_odd_description_is_refused_or_makes_sense(
            from in 0..DESCRIBED.len(),
            length in 0_usize..12,
            text in prop_oneof!["[-0-9.e\"{}:, ]{0,6}", "\\PC{0,12}"],
        ) {
            let mut odd = DESCRIBED.to_owned();
            odd.replace_range(from..(from + length).min(DESCRIBED.len()), &text);
            match described(&odd) {
                Ok(found) => {
                    let Some(Description { name, settings, .. }) = found else {
                        panic!("the file is there: {odd}");
                    };
                    prop_assert!(is_name(&name), "{odd}");
                    prop_assert!(settings.dimensions > 0 && settings.max_tokens > 1, "{odd}");
                    prop_assert!((-1.0..=1.0).contains(&settings.minimum_similarity), "{odd}");
                }
                Err(error) => prop_assert!(error.to_string().contains(MANIFEST), "{error}"),
            }
        }
    }
}
