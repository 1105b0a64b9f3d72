//! The modes of a search, by name. `plan` decides which retrievers a mode runs.

use std::fmt;
use std::str::FromStr;

use crate::error::UnknownName;

/// How to search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// As suits the query.
    #[default]
    Auto,
    /// Lexically only: by words.
    Lexical,
    /// Semantically: by meaning.
    Semantic,
    /// Both lexically and semantically, whatever the query looks like.
    Hybrid,
    /// For literal text, anywhere, even inside words.
    Like,
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 5] = [
        Self::Auto,
        Self::Lexical,
        Self::Semantic,
        Self::Hybrid,
        Self::Like,
    ];

    /// Returns its name, as in settings and evaluations.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Lexical => "lexical",
            Self::Semantic => "semantic",
            Self::Hybrid => "hybrid",
            Self::Like => "like",
        }
    }

    /// Reports whether a search in this mode may need a model.
    pub fn may_compare_meanings(self) -> bool {
        !matches!(self, Self::Lexical | Self::Like)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for Mode {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let mut all = Self::ALL.into_iter();
        all.find(|mode| mode.name() == name)
            .ok_or_else(|| UnknownName::new("mode", name, &Self::ALL.map(Self::name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_is_read_as_it_is_written() {
        for mode in Mode::ALL {
            assert_eq!(mode.to_string().parse(), Ok(mode));
        }
        let unknown = "vector".parse::<Mode>().unwrap_err().to_string();
        assert_eq!(
            unknown,
            "there is no mode 'vector'; choose one of auto, lexical, semantic, hybrid, like"
        );
    }
}
