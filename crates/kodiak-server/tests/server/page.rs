//! The files of the page as browsers get them.

use std::io::Read;

use crate::desk::{Desk, reader};
use crate::web::{Reply, Web};

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' \
                      blob: data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'; require-trusted-types-for 'script'; \
                      trusted-types kodiak";

/// Returns the names of the files, as they are in the folder.
fn names() -> Vec<String> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("page");
    let names = std::fs::read_dir(folder).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name != "README.md").collect()
}

fn is_guarded(what: &str, reply: &Reply) {
    for (name, value) in [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cache-control", "no-cache"),
    ] {
        assert_eq!(reply.header(name), Some(value), "{what} {name}");
    }
    assert_eq!(reply.header("set-cookie"), None, "{what}");
}

#[test]
fn every_file_of_the_page_has_a_strict_policy() {
    let desk = Desk::with_examples();
    let web = Web::start(&desk, &desk.server(reader()));
    let mut paths: Vec<String> = names().iter().map(|name| format!("/page/{name}")).collect();
    assert!(paths.len() >= 3, "{paths:?}");
    paths.push("/".to_owned());
    for path in &paths {
        let plain = web.send("GET", path, &[], "");
        assert_eq!(plain.status, 200, "{path}");
        is_guarded(path, &plain);
        let kind = plain.header("content-type").unwrap();
        let expected = match path.rsplit('.').next().unwrap() {
            "js" => "text/javascript; charset=utf-8",
            "css" => "text/css; charset=utf-8",
            "svg" => "image/svg+xml",
            _ if path == "/" => "text/html; charset=utf-8",
            _ => kind,
        };
        assert_eq!(kind, expected, "{path}");
        let tag = plain.header("etag").unwrap().to_owned();
        // Compressed, it is the same.
        let packed = web.send("GET", path, &[("Accept-Encoding", "gzip, br")], "");
        is_guarded(path, &packed);
        assert_eq!(packed.header("vary"), Some("accept-encoding, origin"));
        if packed.header("content-encoding") == Some("gzip") {
            let mut whole = Vec::new();
            let mut decoder = flate2::read::GzDecoder::new(packed.body.as_slice());
            decoder.read_to_end(&mut whole).unwrap();
            assert!(packed.body.len() < whole.len(), "{path}");
            assert_eq!(whole, plain.body, "{path}");
        } else {
            assert_eq!(packed.body, plain.body, "{path}");
        }
        // Known, it is not sent again.
        let upper = tag.replace("w/", "W/");
        for known in [upper.clone(), format!("\"other\", {upper}"), "*".to_owned()] {
            let same = web.send("GET", path, &[("If-None-Match", &known)], "");
            assert_eq!((same.status, same.body.len()), (304, 0), "{path} {known}");
            assert_eq!(same.header("etag"), Some(tag.as_str()));
            is_guarded(path, &same);
        }
        let other = web.send("GET", path, &[("If-None-Match", "\"other\"")], "");
        assert_eq!(other.status, 200, "{path}");
        // Without a body.
        let head = web.send("HEAD", path, &[], "");
        assert_eq!((head.status, head.body.len()), (200, 0), "{path}");
        assert_eq!(head.header("etag"), Some(tag.as_str()));
        assert_eq!(
            head.header("content-length"),
            Some(plain.body.len().to_string().as_str())
        );
        for method in ["POST", "PUT", "DELETE"] {
            let wrong = web.send(method, path, &[], "");
            assert_eq!(
                (wrong.status, wrong.code().as_str()),
                (405, "method-not-allowed"),
                "{method} {path}"
            );
            assert!(wrong.header("allow").unwrap().contains("get"));
        }
        for headers in [
            [("Host", "evil.example")],
            [("Origin", "http://evil.example")],
        ] {
            assert_eq!(web.send("GET", path, &headers, "").status, 403, "{path}");
        }
    }
    let first = web.send("GET", "/", &[], "").body;
    assert_eq!(first, web.send("GET", "/page/index.html", &[], "").body);
}

#[test]
fn nothing_else_is_served() {
    let desk = Desk::with_examples();
    let web = Web::start(&desk, &desk.server(reader()));
    for path in [
        "/page/README.md",
        "/page/nowhere.js",
        "/page/..%2Findex.html",
        "/page/%FF",
    ] {
        let reply = web.send("GET", path, &[], "");
        assert_eq!(
            (reply.status, reply.code().as_str()),
            (404, "no-route"),
            "{path}"
        );
    }
    // Others need rights to learn that there is nothing.
    for path in [
        "/page/",
        "/page/a/b",
        "/page/%2e%2e/Cargo.toml",
        "/page",
        "/index.html",
    ] {
        assert_eq!(web.send("GET", path, &[], "").status, 401, "{path}");
    }
}

/// Scripts and styles are files, so that the policy lets none in.
#[test]
fn the_page_has_nothing_inline() {
    let desk = Desk::with_examples();
    let web = Web::start(&desk, &desk.server(reader()));
    let first = String::from_utf8(web.send("GET", "/", &[], "").body).unwrap();
    let lower = first.to_lowercase();
    assert!(
        !lower.contains("<style") && !lower.contains(" style="),
        "{first}"
    );
    for script in lower.split("<script").skip(1) {
        let (attributes, rest) = script.split_once('>').unwrap();
        assert!(attributes.contains("src=\"/page/"), "{attributes}");
        assert!(rest.trim_start().starts_with("</script"), "{rest}");
    }
    for elsewhere in [
        "src=\"http",
        "href=\"http",
        "url(http",
        "javascript:",
        " onload=",
    ] {
        assert!(!lower.contains(elsewhere), "{elsewhere}");
    }
}
