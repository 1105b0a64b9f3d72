//! The settings of memories: a path, or the `[memory]` section.

use std::fmt;
use std::path::{Path, PathBuf};

use kodiak::Timestamp;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::age;
use crate::paths;

/// The settings of memories in effect.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct MemorySettings {
    /// The folder of memories, unless it is the usual one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<PathBuf>,
    /// The age at which memories are moved to the trash, such as `365d`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) retention: Option<String>,
}

impl MemorySettings {
    /// Reports whether nothing is set.
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the moment before which memories are moved to the trash.
    pub(crate) fn cutoff(&self) -> Option<Timestamp> {
        age::cutoff(self.retention.as_deref()?)
    }

    /// Returns the mistake in the settings, if there is one.
    pub(super) fn mistake(&self) -> Option<String> {
        age::mistake("memory.retention", self.retention.as_deref()?)
    }
}

/// The settings as written.
#[derive(Debug, Default)]
pub(super) struct WrittenMemory(Section);

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    path: Option<String>,
    retention: Option<String>,
}

impl WrittenMemory {
    /// Returns the settings, with the path from the folder of the config.
    pub(super) fn within(self, folder: &Path) -> MemorySettings {
        let path = self.0.path.filter(|path| !path.trim().is_empty());
        MemorySettings {
            path: path.map(|path| folder.join(paths::expanded(&path))),
            retention: self.0.retention,
        }
    }
}

impl<'de> Deserialize<'de> for WrittenMemory {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = WrittenMemory;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a folder, or a section with path and retention")
    }

    fn visit_str<E>(self, path: &str) -> Result<WrittenMemory, E> {
        Ok(WrittenMemory(Section {
            path: Some(path.to_owned()),
            retention: None,
        }))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<WrittenMemory, A::Error> {
        Section::deserialize(MapAccessDeserializer::new(map)).map(WrittenMemory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn parse(text: &str) -> anyhow::Result<MemorySettings> {
        let config = Config::parse(text, Path::new("/config/config.toml"))?;
        Ok(config.memory)
    }

    #[test]
    fn a_path_or_a_section() {
        let path = Some(PathBuf::from("/config/mine"));
        assert_eq!(parse("memory = \"mine\"").unwrap().path, path);
        let section = parse("[memory]\npath = \"mine\"\nretention = \"90d\"").unwrap();
        assert_eq!(section.path, path);
        assert!(section.cutoff().unwrap() < kodiak::date::now() - 89 * 86_400);
        assert!(parse("").unwrap().is_default());
    }

    #[test]
    fn an_age_is_a_number_with_a_unit() {
        for wrong in ["0d", "d", "2026-01-01", "today", "-3d", "3 parsecs"] {
            let error = parse(&format!("[memory]\nretention = \"{wrong}\"")).unwrap_err();
            assert!(error.to_string().contains(wrong), "{error}");
        }
        parse("[memory]\nkeep = 3").unwrap_err();
        parse("memory = 3").unwrap_err();
    }
}
