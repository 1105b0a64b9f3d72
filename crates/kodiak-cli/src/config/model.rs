//! The model in the config: its name, or a `[model]` table with more about it.
//!
//! `model = "name"` is short for a table with nothing but the name. A table can also
//! cut vectors, or name a provider to ask instead of a model on this machine.

use std::fmt;
use std::time::Duration;

use kodiak::embed::Provider;
use kodiak::http::Secret;
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::NO_MODEL;

/// The provider that is this machine.
const LOCAL: &str = "local";
/// The number of texts in one request, unless the config says otherwise.
pub(crate) const BATCH: usize = 32;
/// The number of requests at the same time, unless the config says otherwise.
pub(crate) const CONCURRENCY: usize = 2;
/// How many seconds a request may take, unless the config says otherwise.
pub(crate) const TIMEOUT: u64 = 30;

/// The model in use.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ModelSettings {
    /// Its name, as people see it, or [`NO_MODEL`]. The name of a provider precedes the
    /// name of its model.
    pub(crate) name: String,
    /// Whether the user named it, rather than taking the default.
    pub(crate) is_named: bool,
    /// The number of dimensions that vectors are cut to.
    pub(crate) dimensions: Option<usize>,
    /// The provider to ask, if it is not a model on this machine.
    pub(crate) remote: Option<RemoteSettings>,
}

/// A provider's model.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RemoteSettings {
    pub(crate) provider: Provider,
    /// The model's name, as the provider knows it.
    pub(crate) model: String,
    /// Where the provider is, if not in the usual place.
    pub(crate) url: Option<String>,
    pub(crate) key: Option<Key>,
    pub(crate) query_prefix: String,
    pub(crate) document_prefix: String,
    pub(crate) batch: usize,
    pub(crate) concurrency: usize,
    pub(crate) timeout: Duration,
}

/// A key, as the config has it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Key {
    /// The name of the environment variable that has it: `"${NAME}"`.
    Variable(String),
    /// The key itself.
    Written(Secret),
}

impl ModelSettings {
    /// Returns the settings of the default model.
    pub(crate) fn usual(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            is_named: false,
            dimensions: None,
            remote: None,
        }
    }

    /// Returns the mistake in the settings, if there is one.
    pub(super) fn mistake(&self) -> Option<String> {
        if self.name.trim().is_empty() {
            return Some(format!("model must be a name, or \"{NO_MODEL}\""));
        }
        if self.dimensions == Some(0) {
            return Some("model.dimensions must be at least 1".to_owned());
        }
        let remote = self.remote.as_ref()?;
        if remote.model.trim().is_empty() {
            let name = remote.provider.name();
            return Some(format!("model.model must name a model of {name}"));
        }
        if remote.batch == 0 || remote.concurrency == 0 || remote.timeout.is_zero() {
            return Some(
                "model.batch, model.concurrency and model.timeout must be at least 1".to_owned(),
            );
        }
        None
    }
}

impl From<&str> for ModelSettings {
    fn from(name: &str) -> Self {
        Self {
            is_named: true,
            ..Self::usual(name)
        }
    }
}

impl PartialEq<str> for ModelSettings {
    fn eq(&self, name: &str) -> bool {
        self.name == name
    }
}

impl Serialize for ModelSettings {
    /// Writes the shortest form. A key that stands in the config is not shown.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.remote.is_none() && self.dimensions.is_none() {
            return serializer.serialize_str(&self.name);
        }
        let mut table = serializer.serialize_map(None)?;
        if let Some(remote) = &self.remote {
            table.serialize_entry("provider", remote.provider.name())?;
            table.serialize_entry("model", &remote.model)?;
            let url = remote.url.as_deref();
            table.serialize_entry("url", url.unwrap_or(remote.provider.usual_url()))?;
            if let Some(key) = &remote.key {
                table.serialize_entry("key", key)?;
            }
            table.serialize_entry("query_prefix", &remote.query_prefix)?;
            table.serialize_entry("document_prefix", &remote.document_prefix)?;
            table.serialize_entry("batch", &remote.batch)?;
            table.serialize_entry("concurrency", &remote.concurrency)?;
            table.serialize_entry("timeout", &remote.timeout.as_secs())?;
        } else {
            table.serialize_entry("model", &self.name)?;
        }
        if let Some(dimensions) = self.dimensions {
            table.serialize_entry("dimensions", &dimensions)?;
        }
        table.end()
    }
}

/// The table, before defaults are filled in.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    provider: Option<String>,
    model: Option<String>,
    url: Option<String>,
    dimensions: Option<usize>,
    query_prefix: Option<String>,
    document_prefix: Option<String>,
    key: Option<String>,
    batch: Option<usize>,
    concurrency: Option<usize>,
    timeout: Option<u64>,
}

impl Table {
    fn settings(self) -> Result<ModelSettings, String> {
        let provider = self.provider.as_deref().unwrap_or(LOCAL);
        if provider == LOCAL {
            let name = self.model.as_deref();
            let settings = name.map_or_else(|| super::default_model().into(), ModelSettings::from);
            return Ok(ModelSettings {
                is_named: name.is_some(),
                dimensions: self.dimensions,
                ..settings
            });
        }
        let named = |one: &Provider| one.name() == provider;
        let Some(provider) = Provider::ALL.into_iter().find(named) else {
            let known = Provider::ALL.map(Provider::name).join(", ");
            return Err(format!(
                "'{provider}' is not a provider; known: {LOCAL}, {known}"
            ));
        };
        let model = self.model.unwrap_or_default();
        Ok(ModelSettings {
            name: format!("{}/{model}", provider.name()),
            is_named: true,
            dimensions: self.dimensions,
            remote: Some(RemoteSettings {
                provider,
                model,
                url: self.url.filter(|url| !url.trim().is_empty()),
                key: self.key.as_deref().and_then(Key::parse),
                query_prefix: self.query_prefix.unwrap_or_default(),
                document_prefix: self.document_prefix.unwrap_or_default(),
                batch: self.batch.unwrap_or(BATCH),
                concurrency: self.concurrency.unwrap_or(CONCURRENCY),
                timeout: Duration::from_secs(self.timeout.unwrap_or(TIMEOUT)),
            }),
        })
    }
}

impl Key {
    /// Returns the key that a text stands for; an empty one is none.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let name = text
            .strip_prefix("${")
            .and_then(|rest| rest.strip_suffix('}'));
        match name {
            Some(name) => Some(Self::Variable(name.trim().to_owned())),
            None if text.is_empty() => None,
            None => Some(Self::Written(Secret::new(text))),
        }
    }
}

impl Serialize for Key {
    /// Writes the name of the variable. A key that stands in the config is not shown.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Variable(name) => serializer.serialize_str(&format!("${{{name}}}")),
            Self::Written(_) => serializer.serialize_str("(hidden)"),
        }
    }
}

impl<'de> Deserialize<'de> for ModelSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameOrTable;
        impl<'de> Visitor<'de> for NameOrTable {
            type Value = ModelSettings;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("the name of a model, or a table")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<ModelSettings, E> {
                Ok(name.into())
            }

            fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<ModelSettings, M::Error> {
                let table = Table::deserialize(de::value::MapAccessDeserializer::new(map))?;
                table.settings().map_err(de::Error::custom)
            }
        }
        deserializer.deserialize_any(NameOrTable)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::Config;
    use super::*;
    use crate::failure::message;

    fn parse(text: &str) -> anyhow::Result<Config> {
        Config::parse(text, Path::new("/config.toml"))
    }

    #[test]
    fn a_name_or_a_table() {
        let short = parse("model = \"mine\"").unwrap().model;
        assert_eq!(short, ModelSettings::from("mine"));
        assert_eq!(parse("[model]\nmodel = \"mine\"").unwrap().model, short);
        let cut = parse("[model]\nmodel = \"mine\"\ndimensions = 256").unwrap();
        assert_eq!(cut.model.dimensions, Some(256));
        assert_eq!(cut.model(), Some("mine"));
        assert!(!parse("").unwrap().model.is_named);
        assert!(!parse("[model]\ndimensions = 64").unwrap().model.is_named);
    }

    #[test]
    fn a_provider_and_its_defaults() {
        let text = "[model]\nprovider = \"openai\"\nmodel = \"m\"\nkey = \"${MY_KEY}\"";
        let config = parse(text).unwrap();
        assert_eq!(config.model(), Some("openai/m"));
        let remote = config.model.remote.clone().unwrap();
        assert_eq!(remote.key, Some(Key::Variable("MY_KEY".into())));
        assert_eq!((remote.batch, remote.concurrency), (BATCH, CONCURRENCY));
        assert_eq!(remote.timeout, Duration::from_secs(TIMEOUT));
        assert_eq!((remote.url, &*remote.query_prefix), (None, ""));
    }

    #[test]
    fn a_key_in_the_config_is_not_shown() {
        let text = "[model]\nprovider = \"gemini\"\nmodel = \"m\"\nkey = \"hunter2\"";
        let config = parse(text).unwrap();
        let shown = format!("{config:?} {}", toml::to_string(&config).unwrap());
        assert!(!shown.contains("hunter2"), "{shown}");
        let shown = toml::to_string(&parse(&text.replace("hunter2", "${K}")).unwrap()).unwrap();
        assert!(shown.contains("key = \"${K}\""), "{shown}");
    }

    #[test]
    fn what_is_shown_can_be_read() {
        for text in [
            "model = \"mine\"",
            "[model]\nmodel = \"mine\"\ndimensions = 64",
            "[model]\nprovider = \"ollama\"\nmodel = \"m\"\nurl = \"http://localhost:1\"\n\
             query_prefix = \"q: \"\ndocument_prefix = \"d: \"\nbatch = 3\nconcurrency = 1\ntimeout = 9",
        ] {
            let config = parse(text).unwrap();
            let shown = toml::to_string(&config).unwrap();
            assert_eq!(parse(&shown).unwrap(), config, "{shown}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (text, expected) in [
            (
                "[model]\nprovider = \"olama\"",
                "'olama' is not a provider; known: local, ollama",
            ),
            (
                "[model]\nprovider = \"ollama\"",
                "model.model must name a model of ollama",
            ),
            (
                "[model]\nmodell = \"x\"",
                "unknown key `modell`, did you mean `model`?",
            ),
            (
                "[model]\nprovider = \"ollama\"\nmodel = \"m\"\nbatch = 0",
                "must be at least 1",
            ),
            (
                "[model]\nmodel = \"m\"\ndimensions = 0",
                "model.dimensions must be at least 1",
            ),
            ("model = 3", "expected the name of a model, or a table"),
        ] {
            let said = message(&parse(text).unwrap_err());
            assert!(said.contains(expected), "{text}: {said}");
        }
    }
}
