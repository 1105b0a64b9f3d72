//! Both eras of the protocol, resources, completion, the prompt, cancellation and
//! the end of a server.

use std::time::Duration;

use kodiak_server::mcp::{Ended, Lifetime};
use serde_json::json;

use crate::desk::{Desk, reader, writer};
use crate::wire::{Wire, modern};

#[tokio::test]
async fn a_client_of_the_earlier_era_is_served() {
    let desk = Desk::with_examples();
    let mut wire = Wire::new(&desk.server(reader()));
    let answer = wire.initialize().await;
    let info = &answer["result"];
    assert_eq!(info["protocolVersion"], "2025-11-25");
    assert_eq!(info["serverInfo"]["name"], "kodiak");
    assert!(info["instructions"].as_str().unwrap().contains("search"));
    let listed = wire.ask("tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert!(tools.iter().any(|tool| tool["name"] == "search"));
    for tool in tools {
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{tool}");
        assert_eq!(tool["annotations"]["openWorldHint"], false, "{tool}");
    }
    assert!(wire.ask("ping", json!({})).await["result"].is_object());
    let found = wire.call("search", json!({"query": "ramen"})).await;
    assert_eq!(found["isError"], false);
    assert!(found["structuredContent"]["hits"][0]["id"].is_string());
    let refused = wire.call("get", json!({"ids": ["#00000000"]})).await;
    assert_eq!(refused["isError"], true);
    let unknown = wire.ask("tools/call", json!({"name": "fly"})).await;
    assert_eq!(unknown["error"]["code"], -32602);
    assert_eq!(wire.close().await, Ended::Closed);
}

#[tokio::test]
async fn a_client_of_the_present_era_needs_no_handshake() {
    let desk = Desk::with_examples();
    let mut wire = Wire::new(&desk.server(reader()));
    let discovered = wire.ask("server/discover", modern(json!({}))).await;
    let versions = discovered["result"]["supportedVersions"]
        .as_array()
        .unwrap();
    assert!(versions.iter().any(|version| version == "2026-07-28"));
    assert!(discovered["result"]["instructions"].is_string());
    let listed = wire.ask("tools/list", modern(json!({}))).await;
    assert!(listed["result"]["ttlMs"].is_number(), "{listed}");
    let params = modern(json!({"name": "search", "arguments": {"query": "ramen"}}));
    let found = wire.ask("tools/call", params).await;
    assert_eq!(found["result"]["resultType"], "complete");
    assert!(found["result"]["structuredContent"]["total"].as_u64() > Some(0));
    assert_eq!(wire.close().await, Ended::Closed);
}

#[tokio::test]
async fn documents_and_searches_are_resources() {
    let desk = Desk::with_examples();
    let mut wire = Wire::new(&desk.server(reader()));
    wire.initialize().await;
    let listed = wire.ask("resources/list", json!({})).await;
    let first = listed["result"]["resources"][0]["uri"].clone();
    let read = wire.ask("resources/read", json!({"uri": first})).await;
    assert!(
        !read["result"]["contents"][0]["text"]
            .as_str()
            .unwrap()
            .is_empty()
    );
    let search = json!({"uri": "kodiak://search/kartoffel%20suppe"});
    let read = wire.ask("resources/read", search).await;
    let text = read["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(text.contains("kartoffelsuppe.md"), "{text}");
    for uri in [
        "kodiak://notes/../../etc/passwd",
        "kodiak://notes/%2e%2e/%2e%2e/etc/passwd",
        "kodiak://elsewhere/a.md",
        "file:///etc/passwd",
        "",
    ] {
        let refused = wire.ask("resources/read", json!({"uri": uri})).await;
        assert_eq!(refused["error"]["code"], -32002, "{refused}");
    }
    let templates = wire.ask("resources/templates/list", json!({})).await;
    let templates = templates["result"]["resourceTemplates"].as_array().unwrap();
    assert_eq!(templates.len(), 2);
    let template = json!({"type": "ref/resource", "uri": "kodiak://{source}/{+key}"});
    let params = json!({"ref": template, "argument": {"name": "source", "value": "no"}});
    let completed = wire.ask("completion/complete", params).await;
    assert_eq!(
        completed["result"]["completion"]["values"],
        json!(["notes"])
    );
    let params = json!({
        "ref": template,
        "argument": {"name": "key", "value": "cooking/k"},
        "context": {"arguments": {"source": "notes"}},
    });
    let completed = wire.ask("completion/complete", params).await;
    let values = completed["result"]["completion"]["values"]
        .as_array()
        .unwrap();
    assert!(
        values.contains(&json!("cooking/kartoffelsuppe.md")),
        "{values:?}"
    );
}

#[tokio::test]
async fn the_prompt_leads_from_timeline_to_get() {
    let desk = Desk::with_examples();
    let mut wire = Wire::new(&desk.server(reader()));
    wire.initialize().await;
    let listed = wire.ask("prompts/list", json!({})).await;
    assert_eq!(listed["result"]["prompts"][0]["name"], "look_up");
    let params = json!({"name": "look_up", "arguments": {"topic": "bread"}});
    let prompt = wire.ask("prompts/get", params).await;
    let text = prompt["result"]["messages"][0]["content"]["text"]
        .as_str()
        .unwrap();
    let places = ["bread", "timeline", "search", "get"].map(|word| text.find(word).unwrap());
    assert!(places.is_sorted(), "{text}");
    let none = wire.ask("prompts/get", json!({"name": "other"})).await;
    assert_eq!(none["error"]["code"], -32602);
}

#[tokio::test]
async fn long_work_tells_how_far_it_is_before_it_is_answered() {
    let desk = Desk::with_examples();
    let mut wire = Wire::new(&desk.server(writer()));
    wire.initialize().await;
    let id = wire
        .begin(
            "tools/call",
            json!({
                "name": "tag_rename",
                "arguments": {"from": "coffee", "to": "drinks/coffee"},
                "_meta": {"progressToken": "how far"},
            }),
        )
        .await;
    let told = wire.receive().await;
    assert_eq!(told["method"], "notifications/progress", "{told}");
    assert_eq!(told["params"]["progressToken"], "how far");
    let mut message = wire.receive().await;
    while message["method"] == "notifications/progress" {
        message = wire.receive().await;
    }
    assert_eq!(
        (&message["id"], &message["result"]["isError"]),
        (&json!(id), &json!(false))
    );
}

#[tokio::test]
async fn a_server_ends_when_it_is_idle() {
    let desk = Desk::with_examples();
    let lifetime = Lifetime {
        idle: Some(Duration::from_millis(300)),
        with_parent: false,
    };
    let mut wire = Wire::lasting(&desk.server(reader()), lifetime);
    wire.initialize().await;
    assert_eq!(wire.end().await, Ended::Idle);
}

#[tokio::test]
async fn a_client_that_leaves_at_once_is_no_failure() {
    let desk = Desk::with_examples();
    let wire = Wire::new(&desk.server(reader()));
    assert_eq!(wire.close().await, Ended::Closed);
}
