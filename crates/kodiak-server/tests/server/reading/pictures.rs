//! Pictures of notes: those inside the source, and no others.

use kodiak_server::Server;
use kodiak_server::token::{Grant, TokenFile};

use super::Served;
use crate::desk::{Desk, reader};
use crate::web::token;

const PNG: &str = "\u{89}PNG";

/// Writes a picture, whose first byte is no text.
fn picture(desk: &Desk, name: &str) {
    desk.write(name, PNG);
    std::fs::write(desk.path(name), b"\x89PNG\r\n\x1a\nrest").unwrap();
}

#[test]
fn pictures_of_the_source_are_shown_and_no_others() {
    let desk = Desk::new();
    desk.write("notes/a/note.md", "![x](b.png) ![y](../c.svg)\n");
    picture(&desk, "notes/a/b.png");
    picture(&desk, "notes/a/.hidden.png");
    picture(&desk, "notes/.obsidian/d.png");
    picture(&desk, "secret.png");
    desk.write(
        "notes/c.svg",
        "<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
    );
    desk.write("notes/fake.png", "<html><script>alert(1)</script>");
    desk.write("notes/a/page.html", "<html>");
    desk.write(
        "notes/large.svg",
        &format!("<svg>{}</svg>", " ".repeat(21 << 20)),
    );
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(desk.path("secret.png"), desk.path("notes/link.png")).unwrap();
        std::os::unix::fs::symlink(desk.path(""), desk.path("notes/up")).unwrap();
    }
    let reached = Served::start(&desk.server(reader()));
    let png = reached.get("/api/documents/note/files/a/b.png");
    assert_eq!(
        (png.status, png.body.as_slice()),
        (200, &b"\x89PNG\r\n\x1a\nrest"[..])
    );
    for header in [
        "content-type: image/png",
        "x-content-type-options: nosniff",
        "content-security-policy: sandbox; default-src 'none'; style-src 'unsafe-inline'",
        "cross-origin-resource-policy: same-origin",
    ] {
        assert!(png.head.contains(header), "{}", png.head);
    }
    let svg = reached.get("/api/documents/note/files/c.svg");
    assert!(svg.head.contains("content-type: image/svg+xml") && svg.head.contains("sandbox"));
    for path in [
        "../secret.png",
        "%2e%2e/secret.png",
        "..%2fsecret.png",
        "a/..%2f..%2fsecret.png",
        "a/../c.svg",
        "%2fetc%2fpasswd",
        "a%00.png",
        "a/.hidden.png",
        ".obsidian/d.png",
        "fake.png",
        "a/page.html",
        "a/note.md",
        "large.svg",
        "link.png",
        "up/secret.png",
        "nowhere.png",
        "a",
    ] {
        let answer = reached.get(&format!("/api/documents/note/files/{path}"));
        assert_eq!(answer.status, 404, "{path} {}", answer.head);
    }
    assert_eq!(
        reached.get("/api/documents/nowhere/files/a/b.png").status,
        404
    );
}

/// A caller that is held to a source sees the pictures that its notes show, and one that
/// is held to a project sees none, whether there are any or not.
#[test]
fn pictures_keep_to_the_scope() {
    let desk = Desk::new();
    desk.write(
        "notes/note.md",
        "---\nproject: atlas\n---\n![x](shown.png) ![y](private/z.png) ![n](none.png)\n",
    );
    desk.write("notes/private/own.md", "text\n");
    for name in ["shown.png", "unnamed.png", "private/z.png"] {
        picture(&desk, &format!("notes/{name}"));
    }
    let engine = desk.indexed(&["notes", "notes/private"]);
    let server = Server::new(engine, desk.options(reader()));
    let source = token(
        &desk,
        "source",
        Grant {
            sources: vec!["notes".to_owned()],
            ..Grant::default()
        },
    );
    let project = token(
        &desk,
        "project",
        Grant {
            project: Some("atlas".to_owned()),
            ..Grant::default()
        },
    );
    let all = token(&desk, "all", Grant::default());
    let tokens = TokenFile::new(desk.path("tokens.json"));
    let reached = Served::with_tokens(&server, Some(tokens));
    for (name, to_all, to_source) in [
        ("shown.png", 200, 200),
        ("unnamed.png", 200, 404),
        ("private/z.png", 200, 404),
        ("none.png", 404, 404),
    ] {
        let status = |token: &str| {
            let path = format!("/api/documents/notes%2Fnote.md/files/{name}");
            reached.send("GET", &path, token, "").status
        };
        assert_eq!(status(&all), to_all, "{name}");
        assert_eq!(status(&source), to_source, "{name}");
        assert_eq!(status(&project), 404, "{name}");
    }
    let html = |token: &str| {
        let path = "/api/documents/notes%2Fnote.md/rendered";
        let answer = reached.send("GET", path, token, "").json();
        answer["html"].as_str().unwrap().matches("<img").count()
    };
    assert_eq!((html(&all), html(&source), html(&project)), (2, 1, 0));
}

/// A picture that is only named is looked for in the folders that exist for the caller.
#[test]
fn names_of_pictures_keep_to_the_scope() {
    let desk = Desk::new();
    desk.write("notes/note.md", "![[pic.png]] ![[two.png]]\n");
    desk.write("notes/private/own.md", "text\n");
    for name in [
        "sub/pic.png",
        "private/pic.png",
        "private/two.png",
        "a/two.png",
        "b/two.png",
    ] {
        picture(&desk, &format!("notes/{name}"));
    }
    let engine = desk.indexed(&["notes", "notes/private"]);
    let server = Server::new(engine, desk.options(reader()));
    let narrow = Grant {
        sources: vec!["notes".to_owned()],
        ..Grant::default()
    };
    let (narrow, all) = (
        token(&desk, "narrow", narrow),
        token(&desk, "all", Grant::default()),
    );
    let tokens = TokenFile::new(desk.path("tokens.json"));
    let reached = Served::with_tokens(&server, Some(tokens));
    let html = |token: &str| {
        let answer = reached.send("GET", "/api/documents/notes%2Fnote.md/rendered", token, "");
        answer.json()["html"].as_str().unwrap().to_owned()
    };
    // For a caller that sees both of a name, it leads to neither.
    assert_eq!(html(&all).matches("<img").count(), 0);
    let before = html(&narrow);
    assert_eq!(before.matches("<img").count(), 1, "{before}");
    std::fs::remove_dir_all(desk.path("notes/private")).unwrap();
    assert_eq!(html(&narrow), before);
    assert_eq!(html(&all).matches("<img").count(), 1);
}
