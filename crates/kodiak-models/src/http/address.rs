//! Addresses of HTTP, as far as a request depends on them.

use std::fmt;
use std::net::IpAddr;

use ureq::http::Uri;

use super::HttpError;

/// An absolute address of HTTP or HTTPS. It is shown without a user name and a
/// password.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    text: String,
    secure: bool,
    host: String,
    port: u16,
}

impl Address {
    /// Parses an address, such as `https://host/path`.
    pub fn parse(text: &str) -> Result<Self, HttpError> {
        let text = text.trim();
        // Not quoted where it may contain a password.
        let shown = text.rsplit('@').next().unwrap_or_default();
        let wrong = || HttpError::Address(shown.to_owned());
        let uri: Uri = text.parse().map_err(|_| wrong())?;
        let secure = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(wrong()),
        };
        let host = uri.host().filter(|host| !host.is_empty());
        let host = host.ok_or_else(wrong)?.to_ascii_lowercase();
        let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
        Ok(Self {
            text: text.to_owned(),
            secure,
            host,
            port,
        })
    }

    /// Returns the address of a path below this one. The path is percent-encoded
    /// already.
    #[must_use]
    pub fn below(&self, path: &str) -> Self {
        let text = format!("{}/{path}", self.text.trim_end_matches('/'));
        Self {
            text,
            ..self.clone()
        }
    }

    /// Returns the address that a redirect from here leads to.
    pub(super) fn join(&self, location: &str) -> Option<Self> {
        let scheme = if self.secure { "https" } else { "http" };
        let text = if location.contains("://") {
            location.to_owned()
        } else if let Some(rest) = location.strip_prefix("//") {
            format!("{scheme}://{rest}")
        } else {
            let after = self.text.find("://").map_or(0, |at| at + 3);
            let path = self.text[after..].find('/').map(|at| after + at);
            let root = path.unwrap_or(self.text.len());
            if location.starts_with('/') {
                format!("{}{location}", &self.text[..root])
            } else {
                let query = self.text.find(['?', '#']).unwrap_or(self.text.len());
                let folder = self.text[root.min(query)..query].rfind('/');
                let folder = folder.map_or(query, |at| root.min(query) + at);
                format!("{}/{location}", &self.text[..folder])
            }
        };
        Self::parse(&text).ok()
    }

    /// Returns the whole address.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the host in lower case.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the host, with the port if it is not the usual one.
    pub fn authority(&self) -> String {
        match (self.secure, self.port) {
            (true, 443) | (false, 80) => self.host.clone(),
            _ => format!("{}:{}", self.host, self.port),
        }
    }

    /// Reports whether it names more than a host.
    pub fn has_path(&self) -> bool {
        let after = self.text.find("://").map_or(0, |at| at + 3);
        let path = self.text[after..]
            .find('/')
            .map(|at| &self.text[after + at..]);
        path.is_some_and(|path| !path.trim_matches('/').is_empty())
    }

    /// Reports whether requests are encrypted.
    pub fn is_secure(&self) -> bool {
        self.secure
    }

    /// Reports whether it is on this machine.
    pub fn is_loopback(&self) -> bool {
        let host = self.host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost"
            || host.ends_with(".localhost")
            || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
    }

    /// Reports whether the other one is served by the same program.
    pub(super) fn is_same_host(&self, other: &Self) -> bool {
        (self.secure, &self.host, self.port) == (other.secure, &other.host, other.port)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.secure { "https" } else { "http" };
        let after = self.text.find("://").map_or(0, |at| at + 3);
        let path = self.text[after..]
            .find('/')
            .map_or("", |at| &self.text[after + at..]);
        write!(formatter, "{scheme}://{}{path}", self.authority())
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.secure { "https" } else { "http" };
        write!(formatter, "{scheme}://{}/…", self.authority())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn address(text: &str) -> Address {
        Address::parse(text).unwrap()
    }

    #[test]
    fn what_matters_of_an_address() {
        let one = address("https://Hub.example/a/b");
        assert_eq!(
            (one.host(), one.authority().as_str()),
            ("hub.example", "hub.example")
        );
        assert!(one.is_secure() && !one.is_loopback());
        let local = address("http://127.0.0.1:11434");
        assert_eq!(local.authority(), "127.0.0.1:11434");
        for text in [
            "http://localhost",
            "http://a.localhost:1",
            "http://[::1]:80",
            "http://127.9.9.9",
        ] {
            assert!(address(text).is_loopback(), "{text}");
        }
        for text in [
            "http://localhost.example",
            "http://10.0.0.1",
            "https://127.0.0.1.example",
        ] {
            assert!(!address(text).is_loopback(), "{text}");
        }
        assert_eq!(
            local.below("api/embed").as_str(),
            "http://127.0.0.1:11434/api/embed"
        );
        assert_eq!(address("http://a/").below("b").as_str(), "http://a/b");
    }

    #[test]
    fn what_is_no_address() {
        for text in [
            "",
            "hub.example",
            "ftp://hub.example",
            "https://",
            "file:///etc/passwd",
            "http://a b",
        ] {
            assert!(Address::parse(text).is_err(), "{text}");
        }
        let error = Address::parse("ftp://me:hunter2@host").unwrap_err();
        assert!(!error.to_string().contains("hunter2"), "{error}");
        let shown = format!("{:?}", address("https://me:hunter2@host/p?key=hunter2"));
        assert_eq!(shown, "https://host/…");
    }

    #[test]
    fn a_redirect_leads_where_it_says() {
        let from = address("https://hub.example/a/b?c=/d");
        for (location, expected) in [
            ("http://other/x", "http://other/x"),
            ("//other/x", "https://other/x"),
            ("/x", "https://hub.example/x"),
            ("x", "https://hub.example/a/x"),
        ] {
            assert_eq!(from.join(location).unwrap().as_str(), expected);
        }
        assert_eq!(
            address("http://a").join("x").unwrap().as_str(),
            "http://a/x"
        );
        assert!(from.join("ftp://other/x").is_none());
    }

    #[test]
    fn another_port_is_another_host() {
        let one = address("https://a/x");
        assert!(one.is_same_host(&address("https://A:443/y")));
        for other in ["http://a/x", "https://a:444/x", "https://b/x"] {
            assert!(!one.is_same_host(&address(other)), "{other}");
        }
    }

    proptest! {
        #[test]
        fn odd_text_is_refused_or_makes_sense(text in "\\PC{0,40}", location in "\\PC{0,40}") {
            for text in [text.clone(), format!("http://{text}")] {
                if let Ok(found) = Address::parse(&text) {
                    prop_assert!(!found.host().is_empty());
                    let _ = found.join(&location);
                }
            }
        }
    }
}
