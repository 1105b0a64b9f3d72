//! The routes of the page while the drive with the notes is not there.

use std::fs;

use serde_json::json;

use crate::desk::{Desk, writer};
use crate::web::Web;

#[test]
fn nothing_is_lost_or_written_in_the_place_of_a_drive_that_is_away() {
    let desk = Desk::new();
    desk.write(
        "notes/gtd.md",
        "# Getting things done\n\nA #habit of mine.\n",
    );
    desk.write("notes/ramen.md", "# Ramen\n\nBroth and noodles.\n");
    let server = desk.server(writer());
    let web = Web::start(&desk, &server);
    let owner = web.owner();
    let document = "/api/documents/notes%2Fgtd.md";
    let tags = |name: &str| {
        let change = json!({"add": [name]});
        web.ask(&owner, "POST", &format!("{document}/tags"), Some(&change))
    };
    let get = |path: &str| web.ask(&owner, "GET", path, None);
    let changed = tags("before");
    assert_eq!(changed.status, 200, "{changed:?}");
    let undo = json!({"undo": changed.json()["undo"]});
    let (drive, away) = (desk.path("notes"), desk.path("away"));
    for (leave_folder, name) in [(true, "one"), (false, "two")] {
        fs::rename(&drive, &away).unwrap();
        if leave_folder {
            fs::create_dir(&drive).unwrap();
        }
        // What is indexed can be read.
        for route in ["", "/rendered"] {
            let reply = get(&format!("{document}{route}"));
            assert_eq!(reply.status, 200, "{route} {reply:?}");
            let text = String::from_utf8_lossy(&reply.body).into_owned();
            assert!(text.contains("habit"), "{route} {text}");
        }
        assert!(get(&format!("{document}/files/a.png")).status >= 400);
        // What is written is refused.
        let refused = [
            tags(name),
            web.ask(&owner, "POST", "/api/undo", Some(&undo)),
            web.ask(&owner, "DELETE", document, None),
        ];
        for reply in refused {
            assert!(reply.status >= 400, "{leave_folder}: {reply:?}");
        }
        let status = get("/api/status").json();
        assert_eq!(status["documents"], 2, "{status}");
        // A new page would be hidden by the drive.
        let there = fs::read_dir(&drive).map(|entries| entries.flatten().count());
        assert_eq!(there.unwrap_or_default(), 0, "{leave_folder}");
        let _ = fs::remove_dir_all(&drive);
        fs::rename(&away, &drive).unwrap();
        assert_eq!(tags(name).status, 200, "{leave_folder}");
    }
    let text = fs::read_to_string(desk.path("notes/gtd.md")).unwrap();
    for name in ["before", "one", "two", "#habit"] {
        assert!(text.contains(name), "{text}");
    }
}
