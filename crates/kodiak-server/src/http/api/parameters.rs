//! The parameters of a request in its address.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use kodiak::document::LineRange;

use super::super::refusal::Refused;

/// The most values of one parameter.
const MOST: usize = 10;
/// The longest value, in characters.
const LONGEST: usize = 100;

/// The names and values after the question mark, in order.
pub(super) struct Parameters(Vec<(String, String)>);

impl<S: Send + Sync> FromRequestParts<S> for Parameters {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refused> {
        let query = parts.uri.query().unwrap_or_default();
        let pairs = form_urlencoded::parse(query.as_bytes());
        Ok(Self(pairs.into_owned().collect()))
    }
}

impl Parameters {
    /// Fails unless all parameters are among these.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), Refused> {
        let unknown = |(name, _): &&(String, String)| !known.contains(&name.as_str());
        match self.0.iter().find(unknown) {
            None => Ok(()),
            Some((name, _)) => {
                let shown: String = name.chars().take(40).collect();
                Err(Refused::Malformed {
                    message: format!("there is no parameter '{}'", shown.escape_debug()),
                    step: match known {
                        [] => "this path takes none".to_owned(),
                        known => format!("it takes {}", known.join(", ")),
                    },
                })
            }
        }
    }

    /// Returns the value of a parameter that is given at most once.
    pub(super) fn one(&self, name: &str) -> Result<Option<&str>, Refused> {
        let mut values = self.all(name);
        match (values.next(), values.next()) {
            (value, None) => Ok(value),
            (_, Some(_)) => Err(malformed(name, "given once")),
        }
    }

    /// Returns the values of a parameter that may be given several times.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<String>, Refused> {
        let texts: Vec<String> = self.all(name).map(str::to_owned).collect();
        let long = |text: &String| text.chars().count() > LONGEST;
        if texts.len() > MOST || texts.iter().any(long) {
            let wanted = format!("given at most {MOST} times, with at most {LONGEST} characters");
            return Err(malformed(name, &wanted));
        }
        Ok(texts)
    }

    /// Returns all values of a parameter.
    fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        let name = name.to_owned();
        let named = self.0.iter().filter(move |(known, _)| *known == name);
        named.map(|(_, value)| value.as_str())
    }

    /// Returns the lines of a document that are asked for.
    pub(super) fn lines(&self) -> Result<Option<LineRange>, Refused> {
        Ok(self.one("lines")?.map(str::parse).transpose()?)
    }

    /// Returns a number from 1 to `most`.
    pub(super) fn number(&self, name: &str, most: usize) -> Result<Option<usize>, Refused> {
        let Some(text) = self.one(name)? else {
            return Ok(None);
        };
        // `parse` would take a plus sign.
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse().ok().filter(|_| digits);
        match number.filter(|number| (1..=most).contains(number)) {
            Some(number) => Ok(Some(number)),
            None => Err(malformed(name, &format!("a whole number from 1 to {most}"))),
        }
    }
}

/// Returns the refusal of a parameter or field that should be otherwise.
pub(super) fn malformed(name: &str, wanted: &str) -> Refused {
    Refused::Malformed {
        message: format!("'{name}' must be {wanted}"),
        step: "docs/openapi.json describes it".to_owned(),
    }
}
