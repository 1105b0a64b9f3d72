//! Network settings from the environment: proxies, the model hub, and keys.
//!
//! The library never reads the environment; the program does it here and passes the values
//! on.

use std::path::PathBuf;

use kodiak::embed::Provider;
use kodiak::http::{Network, Proxies, Secret};
use kodiak::model::Hub;

use crate::config::{Key, RemoteSettings};
use crate::paths;

/// The address of the model hub, unless `HF_ENDPOINT` names another.
const HUB: &str = "https://huggingface.co";
/// The variable with a key for any provider.
const KEY_VARIABLE: &str = "KODIAK_KEY";

/// Returns how requests leave this machine.
pub(crate) fn network(offline: bool) -> Network {
    network_of(offline, &variable)
}

/// Returns the model hub, unless the environment forbids to ask it.
pub(crate) fn hub() -> Option<Hub> {
    hub_of(&variable)
}

/// Returns the folder where other programs keep their downloads from the hub.
pub(crate) fn snapshots() -> Option<PathBuf> {
    snapshots_of(&variable, paths::hub_cache)
}

/// Returns the key for a provider; `None` if there is none and it may not need one.
/// The error names the variable that is not set.
pub(crate) fn key(settings: &RemoteSettings) -> Result<Option<Secret>, String> {
    key_of(settings, &variable)
}

/// Returns a key of the config. The error names the variable that is not set.
pub(crate) fn written_key(key: &Key) -> Result<Secret, String> {
    resolved(key, &variable)
}

/// The values of environment variables. One that is empty counts as not set.
type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

fn variable(name: &str) -> Option<String> {
    let value = std::env::var(name).ok();
    value.filter(|value| !value.trim().is_empty())
}

fn network_of(offline: bool, variable: Variables<'_>) -> Network {
    // Programs disagree about upper and lower case.
    let either = |name: &str| {
        let lower = name.to_lowercase();
        variable(name).or_else(|| variable(&lower))
    };
    let proxy = |name| {
        let value = either(name).or_else(|| either("ALL_PROXY"));
        value.map(|value| Secret::new(&value))
    };
    Network {
        offline,
        proxies: Proxies {
            https: proxy("HTTPS_PROXY"),
            http: proxy("HTTP_PROXY"),
            none_for: either("NO_PROXY").unwrap_or_default(),
        },
    }
}

fn hub_of(variable: Variables<'_>) -> Option<Hub> {
    let forbidden = variable("HF_HUB_OFFLINE").is_some_and(|value| {
        let value = value.trim().to_lowercase();
        !matches!(&*value, "0" | "off" | "no" | "false")
    });
    (!forbidden).then(|| Hub {
        endpoint: variable("HF_ENDPOINT").unwrap_or_else(|| HUB.to_owned()),
        token: variable("HF_TOKEN").map(|token| Secret::new(&token)),
        network: network_of(false, variable),
        idle: None,
    })
}

fn snapshots_of(
    variable: Variables<'_>,
    usual: impl FnOnce() -> Option<PathBuf>,
) -> Option<PathBuf> {
    let folder = variable("HF_HUB_CACHE").map(PathBuf::from);
    folder
        .or_else(|| variable("HF_HOME").map(|home| PathBuf::from(home).join("hub")))
        .or_else(usual)
}

fn resolved(key: &Key, variable: Variables<'_>) -> Result<Secret, String> {
    match key {
        Key::Written(secret) => Ok(secret.clone()),
        Key::Variable(name) => {
            let value = variable(name).map(|value| Secret::new(&value));
            value.ok_or_else(|| format!("its key is not set: set the variable {name}"))
        }
    }
}

fn key_of(settings: &RemoteSettings, variable: Variables<'_>) -> Result<Option<Secret>, String> {
    if let Some(key) = &settings.key {
        return resolved(key, variable).map(Some);
    }
    let mut names = vec![KEY_VARIABLE];
    // A key for a provider is sent to that provider only.
    if settings.url.is_none() {
        names.extend_from_slice(match settings.provider {
            Provider::Ollama => &[],
            Provider::OpenAi => &["OPENAI_API_KEY"],
            Provider::Gemini => &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        });
    }
    match names.iter().find_map(|name| variable(name)) {
        Some(value) => Ok(Some(Secret::new(&value))),
        None if settings.url.is_none() && names.len() > 1 => Err(format!(
            "its key is not set: set the variable {}, or `key` in the [model] table of the config",
            names[1]
        )),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ModelSettings;

    fn variables<'a>(set: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
        |name| {
            let found = set.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        }
    }

    fn remote(table: &str) -> RemoteSettings {
        let text = format!("model = {{ model = 'm', {table} }}");
        let parsed: std::collections::BTreeMap<String, ModelSettings> =
            toml::from_str(&text).unwrap();
        parsed["model"].remote.clone().unwrap()
    }

    #[test]
    fn the_hub_is_where_the_environment_says() {
        let hub = hub_of(&variables(&[])).unwrap();
        assert_eq!((hub.endpoint.as_str(), hub.token), (HUB, None));
        let set = [("HF_ENDPOINT", "https://mirror"), ("HF_TOKEN", "t")];
        let hub = hub_of(&variables(&set)).unwrap();
        assert_eq!(hub.endpoint, "https://mirror");
        assert_eq!(hub.token, Some(Secret::new("t")));
        for (value, forbidden) in [
            ("1", true),
            ("ON", true),
            ("true", true),
            ("0", false),
            ("no", false),
        ] {
            let set = [("HF_HUB_OFFLINE", value)];
            assert_eq!(hub_of(&variables(&set)).is_none(), forbidden, "{value}");
        }
    }

    #[test]
    fn other_programs_keep_their_files_in_known_places() {
        let usual = || Some(PathBuf::from("/usual"));
        let place = |set: &[(&str, &str)]| snapshots_of(&variables(set), usual).unwrap();
        assert_eq!(place(&[]), PathBuf::from("/usual"));
        assert_eq!(place(&[("HF_HOME", "/h")]), PathBuf::from("/h/hub"));
        assert_eq!(
            place(&[("HF_HOME", "/h"), ("HF_HUB_CACHE", "/c")]),
            PathBuf::from("/c")
        );
    }

    #[test]
    fn proxies_are_taken_in_either_case() {
        for set in [
            [("HTTPS_PROXY", "s"), ("HTTP_PROXY", "p"), ("NO_PROXY", "n")],
            [("https_proxy", "s"), ("http_proxy", "p"), ("no_proxy", "n")],
        ] {
            let proxies = network_of(false, &variables(&set)).proxies;
            assert_eq!(proxies.https, Some(Secret::new("s")));
            assert_eq!(proxies.http, Some(Secret::new("p")));
            assert_eq!(proxies.none_for, "n");
        }
        let proxies = network_of(true, &variables(&[("ALL_PROXY", "a")])).proxies;
        assert_eq!(
            (&proxies.https, &proxies.http),
            (&Some(Secret::new("a")), &Some(Secret::new("a")))
        );
    }

    #[test]
    fn a_key_goes_to_the_provider_that_it_is_for() {
        let set = [("OPENAI_API_KEY", "o"), ("MINE", "m")];
        let key = |table: &str| key_of(&remote(table), &variables(&set));
        assert_eq!(key("provider = 'openai'"), Ok(Some(Secret::new("o"))));
        assert_eq!(key("provider = 'openai', url = 'https://other'"), Ok(None));
        assert_eq!(
            key("provider = 'openai', url = 'https://other', key = '${MINE}'"),
            Ok(Some(Secret::new("m")))
        );
        assert_eq!(
            key("provider = 'openai', key = 'k'"),
            Ok(Some(Secret::new("k")))
        );
        assert_eq!(key("provider = 'ollama'"), Ok(None));
        let missing = key("provider = 'openai', key = '${NOT_SET}'").unwrap_err();
        assert!(missing.contains("set the variable NOT_SET"), "{missing}");
        let missing = key("provider = 'gemini'").unwrap_err();
        assert!(missing.contains("GEMINI_API_KEY"), "{missing}");
        let any = [(KEY_VARIABLE, "any")];
        let found = key_of(
            &remote("provider = 'openai', url = 'https://o'"),
            &variables(&any),
        );
        assert_eq!(found, Ok(Some(Secret::new("any"))));
    }
}
