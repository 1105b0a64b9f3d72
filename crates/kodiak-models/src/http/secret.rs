//! Keys and tokens, which are sent and never shown.

use std::fmt;

/// A text that must not be printed, logged or stored.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Makes a secret of a text. White space around it does not belong to it, nor
    /// do control characters, which would end a header.
    pub fn new(text: &str) -> Self {
        let kept = text.trim().chars().filter(|one| !one.is_control());
        Self(kept.collect())
    }

    /// Reports whether it is empty, and so none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the text, to be sent.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// Returns a text without the secret in it.
    pub fn hidden_in(&self, said: &str) -> String {
        if self.0.is_empty() {
            return said.to_owned();
        }
        said.replace(&self.0, "[key]")
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_not_shown() {
        let secret = Secret::new(" hunter2\n");
        assert_eq!(secret.expose(), "hunter2");
        assert!(!format!("{secret:?} {:?}", Some(&secret)).contains("hunter2"));
        assert_eq!(secret.hidden_in("bad key hunter2!"), "bad key [key]!");
        assert_eq!(Secret::new("").hidden_in("abc"), "abc");
        assert_eq!(Secret::new("a\r\nb: c").expose(), "ab: c");
        assert!(Secret::new("  ").is_empty());
    }
}
