//! Which proxy a request takes.

use std::fmt;

use super::{Address, Secret};

/// The proxies to use, and the hosts that need none. Their addresses may contain
/// passwords, so they are not shown.
#[derive(Clone, Default)]
pub struct Proxies {
    /// The proxy for HTTPS.
    pub https: Option<Secret>,
    /// The proxy for HTTP.
    pub http: Option<Secret>,
    /// The hosts that are reached directly, separated by commas: `example.org`
    /// includes its subdomains, `host:8080` is for one port, and `*` is for all.
    pub none_for: String,
}

impl Proxies {
    /// Returns the proxy for an address, if it needs one. This machine never does.
    pub(super) fn to(&self, address: &Address) -> Option<&Secret> {
        let proxy = if address.is_secure() {
            self.https.as_ref()
        } else {
            self.http.as_ref()
        };
        proxy.filter(|_| !address.is_loopback() && !self.is_direct(address))
    }

    fn is_direct(&self, address: &Address) -> bool {
        let mut rules = self.none_for.split([',', ' ']).map(str::trim);
        rules.any(|rule| {
            let rule = rule.to_ascii_lowercase();
            let rule = rule.trim_start_matches("*.").trim_start_matches('.');
            if rule.is_empty() {
                return false;
            }
            let (host, port) = match rule.rsplit_once(':') {
                Some((host, port)) if port.parse::<u16>().is_ok() && !host.contains(':') => {
                    (host, Some(port))
                }
                _ => (rule, None),
            };
            let authority = address.authority();
            let has_port = |port: &str| {
                let usual = if address.is_secure() { "443" } else { "80" };
                let own = authority.strip_prefix(address.host());
                own.map_or("", |own| own.trim_start_matches(':')) == port
                    || (authority == address.host() && port == usual)
            };
            let inside = address.host().strip_suffix(host);
            let named = inside.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
            rule == "*" || (named && port.is_none_or(has_port))
        })
    }
}

impl fmt::Debug for Proxies {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Proxies")
            .field("https", &self.https)
            .field("http", &self.http)
            .field("none_for", &self.none_for)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(none_for: &str, address: &str) -> Option<String> {
        let proxies = Proxies {
            https: Some(Secret::new("http://s")),
            http: Some(Secret::new("http://p")),
            none_for: none_for.to_owned(),
        };
        let address = Address::parse(address).unwrap();
        let proxy = proxies.to(&address);
        proxy.map(|proxy| proxy.expose().to_owned())
    }

    #[test]
    fn each_scheme_has_its_proxy() {
        assert_eq!(used("", "https://hub.example").as_deref(), Some("http://s"));
        assert_eq!(used("", "http://hub.example").as_deref(), Some("http://p"));
        for local in [
            "http://localhost:11434",
            "http://127.0.0.1",
            "https://[::1]:8",
        ] {
            assert_eq!(used("", local), None, "{local}");
        }
        let none = Proxies::default();
        assert!(none.to(&Address::parse("https://a").unwrap()).is_none());
    }

    #[test]
    fn some_hosts_need_none() {
        for (rules, address, direct) in [
            ("hub.example", "https://hub.example", true),
            ("example", "https://hub.example", true),
            (".example", "https://hub.example", true),
            ("*.example", "https://hub.example", true),
            ("a, Hub.Example ,b", "https://hub.example", true),
            ("ub.example", "https://hub.example", false),
            ("hub.example.org", "https://hub.example", false),
            ("*", "https://hub.example", true),
            (" , ,", "https://hub.example", false),
            ("hub.example:443", "https://hub.example", true),
            ("hub.example:8443", "https://hub.example", false),
            ("hub.example:8443", "https://hub.example:8443", true),
            ("10.0.0.1", "http://10.0.0.1:8080", true),
        ] {
            assert_eq!(used(rules, address).is_none(), direct, "{rules} {address}");
        }
    }

    #[test]
    fn a_password_is_not_shown() {
        let proxies = Proxies {
            https: Some(Secret::new("http://me:hunter2@proxy")),
            ..Proxies::default()
        };
        assert!(!format!("{proxies:?}").contains("hunter2"));
    }
}
