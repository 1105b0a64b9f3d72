//! The link that the program prints and opens, and what it leads to.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Response, Served, token};
use crate::desk::Desk;

/// Returns the link that a server printed.
fn link(served: &Served) -> String {
    let of_line = |line: &str| line.strip_prefix("sign in: ").map(str::to_owned);
    served.said("a link", of_line)
}

/// Returns the code of a link to this server.
fn code(served: &Served, link: &str) -> String {
    let page = format!("http://{}/#code=", served.address);
    let code = link.strip_prefix(&page);
    code.unwrap_or_else(|| panic!("{link} is not on {page}"))
        .to_owned()
}

fn sign_in(served: &Served, body: &Value) -> Response {
    let headers = [("Content-Type", "application/json")];
    served.send("POST", "/session", &headers, &body.to_string())
}

/// Returns what a request of the page answers, after signing in.
fn asked(served: &Served, signed_in: &Response, path: &str) -> Response {
    assert_eq!(signed_in.status, 200, "{signed_in:?}");
    let mut lines = signed_in.head.lines();
    let cookie = lines.find_map(|line| line.strip_prefix("set-cookie: "));
    let cookie = cookie.unwrap().split(';').next().unwrap();
    let json = signed_in.json();
    let secret = json["secret"].as_str().unwrap();
    let headers = [("Cookie", cookie), ("Kodiak-Secret", secret)];
    served.send("GET", path, &headers, "")
}

#[test]
fn the_printed_link_lets_its_owner_in_without_a_token() {
    let desk = Desk::indexed();
    let served = Served::start(&desk, &[]);
    let code = code(&served, &link(&served));
    assert!(served.send("GET", "/", &[], "").body.contains("<html"));
    let first = sign_in(&served, &json!({"code": code}));
    let session = asked(&served, &first, "/api/session").json();
    assert_eq!(
        (&session["local"], &session["write"]),
        (&json!(true), &json!(false))
    );
    let status = asked(&served, &first, "/api/status").json();
    assert_eq!(status["sources"][0]["name"], "notes");
    let again = sign_in(&served, &json!({"code": code}));
    assert_eq!((again.status, again.code().as_str()), (401, "code-invalid"));
    // No code was logged but the one in the link.
    assert_eq!(served.logged(&code), 1);
}

#[test]
fn a_session_of_the_owner_writes_if_the_server_does() {
    let desk = Desk::indexed();
    let served = Served::start(&desk, &["--allow-write"]);
    let code = code(&served, &link(&served));
    let signed_in = sign_in(&served, &json!({"code": code}));
    let session = asked(&served, &signed_in, "/api/session").json();
    assert_eq!(session["write"], true);
}

#[test]
fn a_revoked_token_ends_its_sessions() {
    let desk = Desk::indexed();
    let served = Served::start(&desk, &[]);
    let laptop = token(&desk, &["laptop"]);
    let signed_in = sign_in(&served, &json!({"token": laptop}));
    let session = asked(&served, &signed_in, "/api/session").json();
    assert_eq!(
        (&session["local"], &session["name"]),
        (&json!(false), &json!("laptop"))
    );
    desk.ok(&["token", "revoke", "laptop"]);
    assert_eq!(
        asked(&served, &signed_in, "/api/session").code(),
        "session-ended"
    );
}

#[test]
fn without_tokens_no_link_is_needed() {
    let desk = Desk::indexed();
    let served = Served::start(&desk, &["--no-token"]);
    assert_eq!(served.send("GET", "/api/session", &[], "").status, 200);
    assert_eq!((served.logged("sign in"), served.logged("link")), (0, 0));
}

/// Waits until the desktop was asked to open something, and returns what.
fn opened(desk: &Desk) -> String {
    let started = Instant::now();
    while started.elapsed() < Duration::from_mins(1) {
        let told = fs::read_to_string(desk.path("clients/opened")).unwrap_or_default();
        if told.ends_with('\n') {
            return told.trim_end().to_owned();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("nothing was opened");
}

#[cfg(target_os = "linux")]
#[test]
fn the_browser_is_opened_with_a_link_of_its_own() {
    let desk = Desk::indexed();
    let folder = desk.path("clients");
    let keep = format!(
        "echo \"$1\" > {0}/new && mv {0}/new {0}/opened",
        folder.display()
    );
    desk.client("xdg-open", &keep);
    let mut command = desk.command(&["serve", "127.0.0.1:0", "--open"]);
    let served = Served::of(command.env("PATH", &folder));
    let (printed, opened) = (link(&served), opened(&desk));
    assert_ne!(printed, opened);
    for link in [&opened, &printed] {
        let signed_in = sign_in(&served, &json!({"code": code(&served, link)}));
        assert_eq!(asked(&served, &signed_in, "/api/session").status, 200);
    }
    // Where there is no browser, the server serves all the same.
    let mut command = desk.command(&["serve", "127.0.0.1:0", "--open"]);
    let served = Served::of(command.env("PATH", "/nowhere"));
    let said = served.said("a hint", |line| {
        line.contains("open the link above")
            .then(|| line.to_owned())
    });
    assert!(said.starts_with("hint: "), "{said}");
    served.is_alive();
}

#[cfg(target_os = "linux")]
#[test]
fn on_a_terminal_enter_prints_another_link() {
    use tiny_terminal::Session;

    let desk = Desk::indexed();
    let mut command = desk.command(&["serve", "127.0.0.1:0"]);
    command.env("TERM", "xterm-256color");
    let mut session = Session::start(&command, 160, 20, None);
    let links = |text: &str| {
        let printed = text.lines();
        let printed = printed.filter_map(|line| Some(line.split_once("sign in: ")?.1));
        printed
            .map(|link| link.trim().to_owned())
            .collect::<Vec<_>>()
    };
    session.wait_for_text("press Enter for another one");
    for count in [2, 3] {
        session.type_in("\r");
        session.wait_for(|screen| links(&screen.to_string()).len() == count);
    }
    let mut links = links(&session.screen().to_string());
    assert!(
        links.iter().all(|link| link.contains("/#code=")),
        "{links:?}"
    );
    links.sort();
    links.dedup();
    assert_eq!(links.len(), 3);
    session.signal("INT");
    assert_eq!(session.end(), 0);
}

/// Asks for a note to be opened, after signing in.
#[cfg(target_os = "linux")]
fn open_gtd(served: &Served) -> Response {
    let code = code(served, &link(served));
    let signed_in = sign_in(served, &json!({"code": code}));
    let mut lines = signed_in.head.lines();
    let cookie = lines.find_map(|line| line.strip_prefix("set-cookie: "));
    let json = signed_in.json();
    let headers = [
        ("Cookie", cookie.unwrap().split(';').next().unwrap()),
        ("Kodiak-Secret", json["secret"].as_str().unwrap()),
        ("Content-Type", "application/json"),
    ];
    let path = "/api/documents/notes%2Fproductivity%2Fgtd.md/open";
    served.send("POST", path, &headers, r#"{"line": 7}"#)
}

#[cfg(target_os = "linux")]
#[test]
fn the_owner_opens_a_note_in_an_editor_with_a_window() {
    let desk = Desk::indexed();
    let folder = desk.path("clients");
    let keep = format!(
        "echo \"$@\" > {0}/new && mv {0}/new {0}/opened",
        folder.display()
    );
    desk.client("code", &keep);
    desk.client("xdg-open", &keep);
    let gtd = desk.path("notes/productivity/gtd.md");
    for (editor, expected) in [
        ("code", format!("-g {}:7", gtd.display())),
        // It would take the terminal of the server.
        ("vim", gtd.display().to_string()),
    ] {
        let _ = fs::remove_file(desk.path("clients/opened"));
        let mut command = desk.command(&["serve", "127.0.0.1:0", "--allow-write"]);
        let served = Served::of(command.env("PATH", &folder).env("EDITOR", editor));
        let answer = open_gtd(&served);
        assert_eq!(answer.status, 204, "{answer:?}");
        assert_eq!(opened(&desk), expected);
    }
    // A server that only reads starts nothing.
    let served = Served::start(&desk, &[]);
    assert_eq!(open_gtd(&served).status, 403);
    // Nor does one that other machines reach.
    token(&desk, &["laptop"]);
    let mut command = desk.command(&["serve", "0.0.0.0:0", "--allow-write"]);
    let mut served = Served::of(command.env("PATH", &folder).env("EDITOR", "code"));
    served.address = served.address.replace("0.0.0.0", "127.0.0.1");
    assert_eq!(open_gtd(&served).status, 403);
}
