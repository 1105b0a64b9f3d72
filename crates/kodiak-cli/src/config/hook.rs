//! The `[hook]` section of the config.

use serde::{Deserialize, Deserializer, Serialize};

/// The settings of `kodiak hook`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct HookSettings {
    /// The sources that are searched whatever project their notes belong to.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "names")]
    pub(crate) sources: Vec<String>,
    /// Whether memories and sessions of other projects are searched, too.
    pub(crate) other_projects: bool,
}

impl HookSettings {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Reads a list of names, or names in one text with commas between them, as
/// `kodiak config set` writes them.
fn names<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a text or a list of texts")]
    enum Names {
        One(String),
        Many(Vec<String>),
    }
    let names = match Names::deserialize(deserializer)? {
        Names::One(text) => text.split(',').map(str::to_owned).collect(),
        Names::Many(names) => names,
    };
    let names = names.iter().map(|name| name.trim());
    let names = names.filter(|name| !name.is_empty());
    Ok(names.map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_a_list_or_a_text() {
        for text in ["sources = [\"a\", \" b \"]", "sources = \"a, b,\""] {
            let read: HookSettings = toml::from_str(text).unwrap();
            assert_eq!(read.sources, ["a", "b"], "{text}");
        }
        assert!(toml::from_str::<HookSettings>("sources = 1").is_err());
    }
}
