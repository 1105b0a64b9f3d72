//! Clients hear what they asked for: messages of the server's work, and changes of
//! documents.

use std::fs;
use std::time::Duration;

use kodiak::access::Guard;
use kodiak_server::{Server, Upkeep};
use serde_json::{Value, json};

use crate::desk::{Desk, reader};
use crate::wire::{Wire, modern};

const GTD: &str = "kodiak://notes/gtd.md";

/// Returns the next notification of a method, whatever comes before.
async fn heard(wire: &mut Wire, method: &str) -> Value {
    loop {
        let message = wire.receive().await;
        if message["method"] == method {
            return message["params"].clone();
        }
    }
}

/// Returns the next message of the log that contains a text.
async fn said(wire: &mut Wire, text: &str) -> Value {
    loop {
        let message = heard(wire, "notifications/message").await;
        if message["data"].as_str().unwrap().contains(text) {
            return message;
        }
    }
}

fn small() -> Desk {
    let desk = Desk::new();
    desk.write("notes/gtd.md", "# Getting things done\n\nWrite it down.\n");
    desk.write("notes/tea.md", "# Tea\n\nThree minutes.\n");
    desk.write("secret/plan.md", "# Plan\n\nNobody knows.\n");
    desk
}

#[tokio::test]
async fn a_client_hears_how_serious_it_wants() {
    let desk = small();
    let server = Server::new(desk.indexed(&["notes"]), desk.options(reader()));
    let mut wire = Wire::new(&server);
    let begun = wire.initialize().await;
    assert!(
        begun["result"]["capabilities"]["logging"].is_object(),
        "{begun}"
    );
    let level = wire
        .ask("logging/setLevel", json!({"level": "debug"}))
        .await;
    assert_eq!(level["result"], json!({}), "{level}");
    let wrong = wire.ask("logging/setLevel", json!({"level": "loud"})).await;
    assert!(wrong["error"].is_object(), "{wrong}");
    desk.write("notes/new.md", "# New\n");
    let upkeep = Upkeep::begin(&server, Guard::local(), Duration::from_millis(10)).unwrap();
    let message = said(&mut wire, "'notes': 1 added").await;
    assert_eq!(
        (&message["level"], &message["logger"]),
        (&json!("info"), &json!("kodiak"))
    );
    assert_eq!(said(&mut wire, "up to date").await["level"], "debug");
    // Less serious ones are no longer told, and what fails is.
    wire.ask("logging/setLevel", json!({"level": "warning"}))
        .await;
    fs::remove_dir_all(desk.path("notes")).unwrap();
    let failed = said(&mut wire, "could not be indexed").await;
    assert_eq!(failed["level"], "warning");
    drop(upkeep);
}

#[tokio::test]
async fn nobody_hears_of_what_is_outside_of_its_scope() {
    let desk = small();
    let narrow = reader().within(["notes"]);
    let server = Server::new(desk.indexed(&["notes", "secret"]), desk.options(narrow));
    let mut wire = Wire::new(&server);
    wire.initialize().await;
    wire.ask("logging/setLevel", json!({"level": "debug"}))
        .await;
    let plan = "kodiak://secret/plan.md";
    for address in [GTD, plan, "kodiak://secret/none.md"] {
        let answer = wire
            .ask("resources/subscribe", json!({"uri": address}))
            .await;
        assert_eq!(answer["result"], json!({}), "{answer}");
    }
    fs::write(desk.path("secret/plan.md"), "# Plan\n\nNow you know.\n").unwrap();
    desk.write("secret/more.md", "# More\n");
    let _upkeep = Upkeep::begin(&server, Guard::local(), Duration::from_millis(10)).unwrap();
    said(&mut wire, "'notes' is up to date").await;
    fs::write(
        desk.path("notes/gtd.md"),
        "# Getting things done\n\nDo it.\n",
    )
    .unwrap();
    loop {
        let message = wire.receive().await;
        assert!(!message.to_string().contains("secret"), "{message}");
        if message["method"] == "notifications/resources/updated" {
            assert_eq!(message["params"]["uri"], GTD);
            break;
        }
    }
}

#[tokio::test]
async fn a_client_hears_of_documents_that_change() {
    let desk = small();
    let server = Server::new(desk.indexed(&["notes"]), desk.options(reader()));
    let mut wire = Wire::new(&server);
    let begun = wire.initialize().await;
    let resources = &begun["result"]["capabilities"]["resources"];
    assert_eq!(resources, &json!({"subscribe": true, "listChanged": true}));
    for address in [GTD, "kodiak://notes/tea.md"] {
        wire.ask("resources/subscribe", json!({"uri": address}))
            .await;
    }
    let gone = json!({"uri": "kodiak://notes/tea.md"});
    assert_eq!(
        wire.ask("resources/unsubscribe", gone).await["result"],
        json!({})
    );
    // There is no search and no sync: subscribers are notified all the same.
    fs::write(desk.path("notes/tea.md"), "# Tea\n\nFive minutes.\n").unwrap();
    fs::write(
        desk.path("notes/gtd.md"),
        "# Getting things done\n\nDo it.\n",
    )
    .unwrap();
    let updated = heard(&mut wire, "notifications/resources/updated").await;
    assert_eq!(updated, json!({"uri": GTD}));
    let read = wire.ask("resources/read", json!({"uri": GTD})).await;
    assert!(
        read["result"]["contents"][0]["text"]
            .as_str()
            .unwrap()
            .contains("Do it.")
    );
    fs::write(
        desk.path("notes/gtd.md"),
        "# Getting things done\n\nDone.\n",
    )
    .unwrap();
    let updated = heard(&mut wire, "notifications/resources/updated").await;
    assert_eq!(updated, json!({"uri": GTD}));
}

#[tokio::test]
async fn a_client_that_has_the_list_hears_of_another() {
    let desk = small();
    let server = Server::new(desk.indexed(&["notes"]), desk.options(reader()));
    let mut wire = Wire::new(&server);
    wire.initialize().await;
    wire.ask("resources/list", json!({})).await;
    desk.write("notes/new.md", "# Zebrafish\n");
    let found = wire.call("search", json!({"query": "zebrafish"})).await;
    assert_eq!(found["structuredContent"]["total"], 1, "{found}");
    heard(&mut wire, "notifications/resources/list_changed").await;
}

#[tokio::test]
async fn a_client_of_the_present_era_listens_with_one_request() {
    let desk = small();
    let server = Server::new(desk.indexed(&["notes"]), desk.options(reader()));
    let mut wire = Wire::new(&server);
    let found = wire.ask("server/discover", modern(json!({}))).await;
    let capabilities = &found["result"]["capabilities"];
    assert_eq!(capabilities["resources"]["subscribe"], true, "{found}");
    assert!(capabilities["logging"].is_null(), "{found}");
    let level = wire
        .ask("logging/setLevel", modern(json!({"level": "debug"})))
        .await;
    assert_eq!(level["error"]["code"], -32601);
    wire.ask("resources/list", modern(json!({}))).await;
    let wish = json!({"notifications": {
        "resourceSubscriptions": [GTD],
        "toolsListChanged": true,
        "resourcesListChanged": false,
    }});
    let id = wire.begin("subscriptions/listen", modern(wish)).await;
    let tag = "io.modelcontextprotocol/subscriptionId";
    let taken = wire.receive().await;
    assert_eq!(taken["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(taken["params"]["_meta"][tag], id, "{taken}");
    fs::write(
        desk.path("notes/gtd.md"),
        "# Getting things done\n\nDo it.\n",
    )
    .unwrap();
    let told = wire.receive().await;
    assert_eq!(told["method"], "notifications/resources/updated", "{told}");
    assert_eq!(told["params"]["uri"], GTD);
    assert_eq!(told["params"]["_meta"][tag], id, "{told}");
    // Other requests are answered at the same time, and the subscription can end.
    wire.tell("notifications/cancelled", json!({"requestId": id}))
        .await;
    let found = wire.ask("tools/list", modern(json!({}))).await;
    assert!(found["result"]["tools"].is_array());
}
