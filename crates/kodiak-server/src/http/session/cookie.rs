//! The cookie of a session. Its name has the port of the server, because the servers of
//! one host see the cookies of each other.

use axum::http::header::COOKIE;
use axum::http::{HeaderMap, HeaderValue};

/// What no page can read, and no page of another site can have sent.
const ATTRIBUTES: &str = "HttpOnly; SameSite=Strict; Path=/";

/// The name of the cookie of a server.
#[derive(Debug)]
pub(super) struct Cookie {
    name: String,
}

impl Cookie {
    /// Returns the cookie of the server at a port.
    pub(super) fn new(port: u16) -> Self {
        Self {
            name: format!("kodiak-{port}"),
        }
    }

    fn all<'a>(&'a self, headers: &'a HeaderMap) -> impl Iterator<Item = &'a str> {
        let given = headers.get_all(COOKIE).into_iter();
        let given = given.filter_map(|value| value.to_str().ok());
        let pairs = given.flat_map(|value| value.split(';'));
        let pairs = pairs.filter_map(|pair| pair.trim().split_once('='));
        let named = pairs.filter(|(name, _)| *name == self.name);
        named.map(|(_, value)| value)
    }

    /// Reports whether a request brings it.
    pub(super) fn is_in(&self, headers: &HeaderMap) -> bool {
        self.all(headers).next().is_some()
    }

    /// Returns what a request brings in it, unless it brings several.
    pub(super) fn read<'a>(&'a self, headers: &'a HeaderMap) -> Option<&'a str> {
        let mut values = self.all(headers);
        let (value, None) = (values.next()?, values.next()) else {
            return None;
        };
        (!value.is_empty()).then_some(value)
    }

    /// Returns the header that has a browser keep a value until it is closed.
    pub(super) fn set(&self, value: &str, encrypted: bool) -> Option<HeaderValue> {
        self.header(&format!("{value}; {ATTRIBUTES}"), encrypted)
    }

    /// Returns the header that has a browser forget the value.
    pub(super) fn clear(&self, encrypted: bool) -> Option<HeaderValue> {
        self.header(&format!("; {ATTRIBUTES}; Max-Age=0"), encrypted)
    }

    fn header(&self, rest: &str, encrypted: bool) -> Option<HeaderValue> {
        let secure = if encrypted { "; Secure" } else { "" };
        HeaderValue::from_str(&format!("{}={rest}{secure}", self.name)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cookie_of_this_server_is_read() {
        let cookie = Cookie::new(7700);
        for (given, expected) in [
            (&["kodiak-7700=abc"][..], Some("abc")),
            (&["a=b; kodiak-7700=abc;c=d"], Some("abc")),
            (&["a=b", "kodiak-7700=abc"], Some("abc")),
            (&["kodiak-7701=abc"], None),
            (&["kodiak-770=abc; xkodiak-7700=abc"], None),
            (&["kodiak-7700"], None),
            (&["kodiak-7700="], None),
            // Another server of the host may have set one of them.
            (&["kodiak-7700=abc; kodiak-7700=abd"], None),
            (&[], None),
        ] {
            let mut headers = HeaderMap::new();
            for one in given {
                headers.append(COOKIE, HeaderValue::from_static(one));
            }
            assert_eq!(cookie.read(&headers), expected, "{given:?}");
        }
        assert_eq!(
            cookie.set("abc", false).unwrap(),
            "kodiak-7700=abc; HttpOnly; SameSite=Strict; Path=/"
        );
        assert!(
            cookie
                .set("abc", true)
                .unwrap()
                .to_str()
                .unwrap()
                .ends_with("; Secure")
        );
    }
}
