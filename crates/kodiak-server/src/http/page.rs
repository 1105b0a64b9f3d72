//! `GET /` and `GET /page/FILE`: the page to search and read in. Its files are part of
//! the program and say nothing of the notes, so that they need no rights. What the page
//! may do in a browser is bounded by a strict policy.

mod files;

use std::io::Write;
use std::sync::{LazyLock, OnceLock};

use axum::Router;
use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
    IF_NONE_MATCH, REFERRER_POLICY, VARY,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::refusal::Refused;

/// What the page may load, run and be part of. No code and no style is inline, and text
/// becomes markup only through the policy `kodiak`.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; \
     connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
     require-trusted-types-for 'script'; trusted-types kodiak",
);
/// Files are asked for again each time, and sent if they have changed.
const ASK_AGAIN: HeaderValue = HeaderValue::from_static("no-cache");
/// What an answer depends on.
const DEPENDS: HeaderValue = HeaderValue::from_static("Accept-Encoding, Origin");
const GZIP: HeaderValue = HeaderValue::from_static("gzip");

/// Returns the routes.
pub(super) fn router() -> Router {
    Router::new()
        .route("/", get(first))
        .route("/page/{file}", get(named))
}

/// A file as it is served.
#[derive(Debug)]
struct File {
    name: &'static str,
    content: &'static [u8],
    kind: HeaderValue,
    /// What tells this content from any other.
    tag: HeaderValue,
    /// The content, compressed once; nothing if that would not make it smaller.
    packed: OnceLock<Option<Vec<u8>>>,
}

static FILES: LazyLock<Vec<File>> = LazyLock::new(|| {
    let files = files::FILES.iter();
    files
        .map(|(name, content)| File::new(name, content))
        .collect()
});

async fn first(headers: HeaderMap) -> Response {
    answer(files::FIRST, &headers)
}

async fn named(name: Result<Path<String>, PathRejection>, headers: HeaderMap) -> Response {
    match name {
        Ok(Path(name)) => answer(&name, &headers),
        Err(_) => Refused::NoRoute.into_response(),
    }
}

fn answer(name: &str, headers: &HeaderMap) -> Response {
    match FILES.iter().find(|file| file.name == name) {
        Some(file) => file.answer(headers),
        None => Refused::NoRoute.into_response(),
    }
}

impl File {
    fn new(name: &'static str, content: &'static [u8]) -> Self {
        let hash = blake3::hash(content).to_hex();
        // Packed or not, it says the same: the tag is a weak one.
        let tag = HeaderValue::from_str(&format!("W/\"{}\"", &hash[..32]));
        Self {
            name,
            content,
            kind: HeaderValue::from_static(kind(name)),
            tag: tag.unwrap_or_else(|_| HeaderValue::from_static("")),
            packed: OnceLock::new(),
        }
    }

    /// Returns the content, compressed, if that makes it smaller.
    fn packed(&self) -> Option<&[u8]> {
        let packed = self.packed.get_or_init(|| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(self.content).ok()?;
            let packed = encoder.finish().ok()?;
            (packed.len() < self.content.len()).then_some(packed)
        });
        packed.as_deref()
    }

    fn answer(&self, asked: &HeaderMap) -> Response {
        let known = is_known(asked, &self.tag);
        let packed = self.packed().filter(|_| takes_gzip(asked));
        let mut response = match (known, packed) {
            (true, _) => StatusCode::NOT_MODIFIED.into_response(),
            (false, Some(packed)) => packed.to_vec().into_response(),
            (false, None) => self.content.into_response(),
        };
        let headers = response.headers_mut();
        if !known {
            headers.insert(CONTENT_TYPE, self.kind.clone());
            if packed.is_some() {
                headers.insert(CONTENT_ENCODING, GZIP);
            }
        }
        headers.insert(ETAG, self.tag.clone());
        headers.insert(CACHE_CONTROL, ASK_AGAIN);
        headers.insert(VARY, DEPENDS);
        headers.insert(CONTENT_SECURITY_POLICY, POLICY);
        headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        let opener = HeaderName::from_static("cross-origin-opener-policy");
        headers.insert(opener, HeaderValue::from_static("same-origin"));
        response
    }
}

/// Returns the type of a file by its name.
fn kind(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/vnd.microsoft.icon",
        "json" => "application/json",
        "webmanifest" => "application/manifest+json",
        "woff2" => "font/woff2",
        _ => "application/octet-stream",
    }
}

/// Returns the values of a header, which commas divide.
fn values(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &str> {
    let given = headers.get_all(name).into_iter();
    let given = given.filter_map(|value| value.to_str().ok());
    given.flat_map(|value| value.split(',')).map(str::trim)
}

/// Reports whether a client has the content with this tag.
fn is_known(headers: &HeaderMap, tag: &HeaderValue) -> bool {
    let tag = tag.to_str().unwrap_or_default().trim_start_matches("W/");
    let mut known = values(headers, IF_NONE_MATCH);
    known.any(|known| known == "*" || known.trim_start_matches("W/") == tag)
}

/// Reports whether a client takes what is compressed.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let mut taken = values(headers, ACCEPT_ENCODING);
    taken.any(|taken| {
        let mut parts = taken.split(';').map(str::trim);
        let gzip = parts
            .next()
            .is_some_and(|coding| coding.eq_ignore_ascii_case("gzip"));
        let weight = parts.find_map(|part| part.strip_prefix("q="));
        let refused = weight.is_some_and(|weight| weight.parse::<f32>().is_ok_and(|it| it <= 0.0));
        gzip && !refused
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compressed_is_for_those_who_take_it() {
        for (given, expected) in [
            ("gzip", true),
            ("gzip, deflate, br", true),
            ("br;q=1.0, GZIP;q=0.5", true),
            ("gzip;q=0", false),
            ("gzip; q=0.0, br", false),
            ("br", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(given));
            assert_eq!(takes_gzip(&headers), expected, "{given}");
        }
        assert!(!takes_gzip(&HeaderMap::new()));
    }

    #[test]
    fn every_file_has_a_type_and_a_tag() {
        for file in FILES.iter() {
            assert_ne!(file.kind, "application/octet-stream", "{}", file.name);
            assert!(file.tag.len() > 30, "{}", file.name);
            let mut headers = HeaderMap::new();
            assert!(!is_known(&headers, &file.tag));
            headers.insert(IF_NONE_MATCH, file.tag.clone());
            assert!(is_known(&headers, &file.tag));
            assert_eq!(file.answer(&headers).status(), StatusCode::NOT_MODIFIED);
        }
    }
}
