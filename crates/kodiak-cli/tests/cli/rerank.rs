//! Reranking and comparing models, with a cross-encoder and embedding models small
//! enough for tests.

use serde_json::{Value, json};
use tiny_server::{Reply, Server};

use crate::desk::Desk;
use crate::http::Served;

/// A desk with two notes and the cross-encoder `cross`. Both notes have the words of
/// the query; only one is about what it asks.
fn desk() -> Desk {
    prepared(Desk::new())
}

fn prepared(desk: Desk) -> Desk {
    desk.write(
        "notes/tax.md",
        "# Monday\n\nnoodles, noodles, noodles: tax, mortgage, loan, debt, salary\n",
    );
    desk.write(
        "notes/soup.md",
        "# Tuesday\n\nnoodles with ramen, broth, soup, dashi, miso and garlic\n",
    );
    desk.write(
        "notes/other.md",
        "# Wednesday\n\nguitar, piano and noodles\n",
    );
    desk.ok(&["add", "notes"]);
    tiny_model::write_cross_encoder(&desk.path("cross")).unwrap();
    let run = desk.ok(&["model", "install", "--from", "cross"]);
    let hint = "search with `--rerank=cross` to use it";
    assert!(run.stderr.contains(hint), "{run}");
    desk
}

fn answer(desk: &Desk, arguments: &[&str]) -> Value {
    let query = ["search", "noodles ramen dinner", "--json"];
    desk.json(&[&query, arguments].concat())
}

fn places(answer: &Value) -> Vec<&str> {
    let hits = answer["hits"].as_array().unwrap().iter();
    hits.map(|hit| hit["path"].as_str().unwrap()).collect()
}

#[test]
fn a_reranker_is_used_where_somebody_asks_for_it() {
    let desk = desk();
    let plain = answer(&desk, &[]);
    assert!(plain["retrievers"].get("reranker").is_none());
    for arguments in [&["--rerank"][..], &["--rerank=cross", "--explain"]] {
        let reranked = answer(&desk, arguments);
        assert_eq!(reranked["retrievers"]["reranker"], "cross");
        assert_eq!(places(&reranked)[0], "soup.md");
        assert_eq!(places(&reranked).len(), places(&plain).len());
    }
    let explained = answer(&desk, &["--rerank", "--explain"]);
    assert!(explained["hits"][0]["explanation"]["reranked"].is_number());
    // The config asks for it everywhere, and the command line goes first.
    desk.configure("rerank", "cross");
    assert_eq!(answer(&desk, &[])["retrievers"]["reranker"], "cross");
    let without = answer(&desk, &["--no-rerank"]);
    assert_eq!(without_time(without), without_time(plain));
}

#[test]
fn a_server_reranks_where_the_config_asks_for_it() {
    let desk = desk();
    let served = Served::start(&desk, &["--no-token"]);
    let asked = json!({"query": "noodles ramen dinner"});
    let plain = served.post("/api/search", "", &asked).json();
    assert!(plain["retrievers"].get("reranker").is_none(), "{plain}");
    // The server notices that the config asks for it.
    desk.configure("rerank", "cross");
    let reranked = served.post("/api/search", "", &asked).json();
    assert_eq!(reranked["retrievers"]["reranker"], "cross", "{reranked}");
    assert_eq!(places(&reranked)[0], "soup.md");
    let found = served.call("", "search", &asked);
    let first = &found["structuredContent"]["hits"][0];
    assert_eq!(first["path"], "soup.md", "{found}");
    // One that is not there does not keep a server from serving.
    desk.configure("rerank", "nobody");
    let answer = served.post("/api/search", "", &asked).json();
    assert!(answer["retrievers"].get("reranker").is_none(), "{answer}");
    assert_eq!(
        served.logged("nothing is reranked: there is no reranker nobody"),
        1
    );
}

/// Returns an answer without the time that it took.
fn without_time(mut answer: Value) -> Value {
    answer["took_ms"] = Value::Null;
    answer
}

#[test]
fn a_reranker_that_is_not_there_is_an_error_that_helps() {
    let desk = Desk::new();
    desk.write("notes/a.md", "noodles");
    desk.ok(&["add", "notes"]);
    for (option, expected) in [
        ("--rerank", "there is no reranker\nhint: install one"),
        ("--rerank=nobody", "there is no reranker nobody"),
        (
            "--rerank=ms-marco-minilm-l6-v2",
            "run `kodiak model install ms-marco-minilm-l6-v2`",
        ),
        ("--rerank=https://host/rerank", "names no model"),
    ] {
        let run = desk.run(&["search", "noodles", option]);
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains(expected), "{run}");
    }
}

#[test]
fn a_reranker_embeds_nothing_and_an_embedding_model_reranks_nothing() {
    let desk = desk();
    let run = desk.run(&["model", "use", "cross"]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(
        run.stderr.contains("reranks hits and cannot embed"),
        "{run}"
    );
    desk.install_tiny();
    let run = desk.run(&["search", "noodles", "--rerank=tiny"]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(
        run.stderr.contains("embeds notes and cannot rerank"),
        "{run}"
    );
}

#[test]
fn an_endpoint_reranks_and_its_key_stays_secret() {
    let desk = Desk::unset();
    desk.write("config/kodiak/config.toml", "model = \"none\"\n");
    let desk = prepared(desk);
    let server = Server::start(|request, _| {
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let texts = body["documents"].as_array().unwrap().iter().enumerate();
        let results: Vec<Value> = texts
            .map(|(index, text)| {
                let guitar = text.as_str().unwrap().contains("guitar");
                serde_json::json!({ "index": index, "relevance_score": f32::from(u8::from(guitar)) })
            })
            .collect();
        Reply::new(200, serde_json::json!({ "results": results }).to_string())
    });
    desk.configure("rerank", format!("{}/v1/rerank", server.url()));
    desk.configure("rerank_model", "rerank-1");
    desk.configure("rerank_key", "very-secret");
    let reranked = answer(&desk, &[]);
    assert_eq!(reranked["retrievers"]["reranker"], "rerank-1");
    let seen = server.seen();
    assert_eq!(seen[0].header("authorization"), Some("Bearer very-secret"));
    let shown = desk.ok(&["config", "show"]);
    assert!(!shown.stdout.contains("very-secret"), "{shown}");
    // Offline, no request is made, and the answer says so.
    let offline = answer(&desk, &["--offline"]);
    let codes = offline["notice_codes"].as_array().unwrap();
    assert!(codes.contains(&Value::from("not-reranked")), "{offline}");
    assert_eq!(server.seen().len(), 1);
}

/// Writes a set with three notes and two queries.
fn write_set(desk: &Desk) {
    desk.write(
        "food/corpus.jsonl",
        "{\"_id\": \"a\", \"title\": \"Monday\", \"text\": \"noodles, noodles, tax, loan, debt\"}\n\
         {\"_id\": \"b\", \"title\": \"Tuesday\", \"text\": \"noodles, ramen, broth, soup, dashi\"}\n\
         {\"_id\": \"c\", \"title\": \"Friday\", \"text\": \"guitar and piano\"}\n",
    );
    desk.write(
        "food/queries.jsonl",
        "{\"_id\": \"q\", \"text\": \"what to eat with noodles\"}\n\
         {\"_id\": \"r\", \"text\": \"a song for the violin\"}\n",
    );
    desk.write("food/qrels.tsv", "q\tb\t1\nr\tc\t1\n");
}

fn figures(desk: &Desk, arguments: &[&str]) -> Value {
    let run = desk.ok(&[&["eval", "food", "--json"], arguments].concat());
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn eval_compares_a_search_with_and_without_a_reranker() {
    let desk = desk();
    write_set(&desk);
    let figures = figures(&desk, &["--mode", "lexical", "--rerank=cross"]);
    let tried = &figures["tries"][0];
    assert_eq!(tried["try"], "rerank=cross");
    assert_eq!(tried["sets"][0]["rerank"], "cross");
    assert!(figures["sets"][0]["rerank"].is_null());
    let change = &tried["comparison"][0];
    assert!(change["now"].as_f64() >= change["baseline"].as_f64());
    let run = desk.ok(&["eval", "food", "--mode", "lexical", "--rerank"]);
    assert!(run.stdout.contains("\nrerank=cross\n"), "{run}");
}

#[test]
fn eval_compares_models_side_by_side() {
    let desk = Desk::with_model();
    tiny_model::variant(&desk.path("second"), 2, 16).unwrap();
    desk.ok(&["model", "install", "--from", "second"]);
    write_set(&desk);
    let figures = figures(&desk, &["--models", "tiny,tiny-2", "--mode", "semantic"]);
    assert_eq!(figures["sets"][0]["model"], "tiny");
    let other = &figures["tries"][0];
    assert_eq!(other["try"], "model=tiny-2");
    assert_eq!(other["sets"][0]["model"], "tiny-2");
    let change = &other["comparison"][0];
    assert_eq!(change["queries"], 2);
    assert!(change["p"].is_number());
    // Only the modes that use a model are measured again.
    let all = self::figures(&desk, &["--models", "tiny,tiny-2"]);
    let modes = all["tries"][0]["sets"].as_array().unwrap().iter();
    assert!(
        modes
            .clone()
            .all(|row| row["mode"] != "lexical" && row["mode"] != "like")
    );
    assert!(modes.count() < all["sets"].as_array().unwrap().len());
    let run = desk.run(&["eval", "food", "--models", "tiny,nobody"]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(
        run.stderr.contains("there is no model nobody to compare"),
        "{run}"
    );
}
