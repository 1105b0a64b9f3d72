//! The settings of an index that a team shares: the `[team]` section.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::paths;

/// The settings in effect.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct TeamSettings {
    /// The address at which people reach the team's server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
    /// The file with the password of the database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) password_file: Option<PathBuf>,
}

/// The settings as written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenTeam {
    url: Option<String>,
    password_file: Option<String>,
}

impl TeamSettings {
    /// Reports whether nothing is set.
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the mistake in the settings, if there is one.
    pub(super) fn mistake(&self) -> Option<String> {
        let url = self.url.as_deref()?;
        let is_address = url.starts_with("https://") || url.starts_with("http://");
        (!is_address || url.contains(char::is_whitespace))
            .then(|| "team.url must be an address such as https://kodiak.example".to_owned())
    }
}

impl WrittenTeam {
    /// Returns the settings, with the path from the folder of the config.
    pub(super) fn within(self, folder: &Path) -> TeamSettings {
        let is_set = |text: &String| !text.trim().is_empty();
        let path = self.password_file.filter(is_set);
        TeamSettings {
            url: self.url.filter(is_set),
            password_file: path.map(|path| folder.join(paths::expanded(&path))),
        }
    }
}
