//! Tests of each provider's format against a server on this machine that speaks it,
//! well and badly.

use serde_json::{Value, json};
use tiny_server::{Reply, Request as Asked, Server};

use super::*;
use kodiak_rank::vector::dot;

/// Returns the texts of a request in any of the formats.
fn texts(request: &Asked) -> Vec<String> {
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    match body.get("requests") {
        Some(requests) => {
            let requests = requests.as_array().unwrap().iter();
            requests
                .map(|one| text(&one["content"]["parts"][0]["text"]))
                .collect()
        }
        None => body["input"].as_array().unwrap().iter().map(text).collect(),
    }
}

/// Returns an answer with these vectors, in the format of the request.
fn answer(request: &Asked, vectors: &[Value]) -> Reply {
    let body = if request.path.ends_with("/api/embed") {
        json!({"model": "m", "embeddings": vectors, "total_duration": 1})
    } else if request.path.ends_with(":batchEmbedContents") {
        let values = |vector: &Value| json!({"values": vector});
        json!({"embeddings": vectors.iter().map(values).collect::<Vec<_>>()})
    } else {
        let one = |(index, vector): (usize, &Value)| json!({"object": "embedding", "index": index, "embedding": vector});
        let data: Vec<Value> = vectors.iter().enumerate().map(one).collect();
        json!({"object": "list", "data": data, "model": "m", "usage": {"total_tokens": 3}})
    };
    Reply::new(200, body.to_string()).header("content-type", "application/json")
}

/// Answers with a vector for each text: its length, and 3.
fn embed(request: &Asked) -> Reply {
    let vector = |text: &String| json!([text.len(), 3]);
    let vectors: Vec<Value> = texts(request).iter().map(vector).collect();
    answer(request, &vectors)
}

fn options(provider: Provider, url: &str) -> RemoteOptions {
    RemoteOptions {
        provider,
        url: url.to_owned(),
        model: "m".to_owned(),
        key: None,
        dimensions: None,
        query_prefix: "query: ".to_owned(),
        document_prefix: String::new(),
        batch: 32,
        concurrency: 2,
        timeout: Duration::from_secs(20),
        max_tokens: 512,
        minimum_similarity: 0.0,
        network: Network::default(),
    }
}

fn embedder(provider: Provider, server: &Server) -> RemoteEmbedder {
    RemoteEmbedder::new(options(provider, &server.url()), 2).unwrap()
}

/// Returns the failure of embedding one text, with every provider.
fn failures(respond: impl Fn(&Asked) -> Reply + Send + Sync + Clone + 'static) -> Vec<EmbedError> {
    Provider::ALL
        .into_iter()
        .map(|provider| {
            let respond = respond.clone();
            let server = Server::start(move |request, _| respond(request));
            embedder(provider, &server)
                .embed_one("abc", Role::Document)
                .unwrap_err()
        })
        .collect()
}

#[test]
fn each_provider_is_asked_in_its_own_way() {
    for (provider, path) in [
        (Provider::Ollama, "/api/embed"),
        (Provider::OpenAi, "/v1/embeddings"),
        (Provider::Gemini, "/models/m:batchEmbedContents"),
    ] {
        let server = Server::start(|request, _| embed(request));
        let embedder = embedder(provider, &server);
        let made = embedder.embed(&["abcd", "", "a"], Role::Document).unwrap();
        assert_eq!(made.len(), 3);
        assert!((made[0][0] - 0.8).abs() < 1e-6 && (made[0][1] - 0.6).abs() < 1e-6);
        assert!((dot(&made[2], &made[2]) - 1.0).abs() < 1e-6);
        // What has nothing in it is not sent, and similar to nothing.
        assert_eq!(made[1], [0.0, 0.0]);
        let query = embedder.embed_one("abc", Role::Query).unwrap();
        assert_eq!(query.len(), 2);
        let seen = server.seen();
        assert!(
            seen.iter()
                .all(|request| request.path == path && request.method == "POST")
        );
        assert_eq!(texts(&seen[0]), ["abcd", "a"]);
        assert_eq!(texts(&seen[1]), ["query: abc"]);
        assert!(
            seen.iter()
                .all(|request| request.header("authorization").is_none())
        );
        let body: Value = serde_json::from_slice(&seen[1].body).unwrap();
        match provider {
            Provider::Gemini => {
                assert_eq!(body["requests"][0]["taskType"], "RETRIEVAL_QUERY");
                assert_eq!(body["requests"][0]["model"], "models/m");
            }
            _ => assert_eq!(body["model"], "m"),
        }
    }
}

#[test]
fn dimensions_are_asked_for_and_learned() {
    for provider in Provider::ALL {
        let server = Server::start(|request, _| embed(request));
        let mut options = options(provider, &server.url());
        assert_eq!(RemoteEmbedder::probe(&options).unwrap(), 2);
        options.dimensions = Some(2);
        assert_eq!(RemoteEmbedder::probe(&options).unwrap(), 2);
        let body = server.seen()[1].text();
        let name = if provider == Provider::Gemini {
            "outputDimensionality"
        } else {
            "dimensions"
        };
        assert!(body.contains(&format!("\"{name}\":2")), "{body}");
        options.dimensions = Some(1);
        let error = RemoteEmbedder::probe(&options).unwrap_err();
        assert!(
            error.to_string().contains("2 numbers instead of 1"),
            "{error}"
        );
    }
}

#[test]
fn a_key_goes_where_it_is_for_and_is_never_shown() {
    for (provider, header, value) in [
        (Provider::OpenAi, "authorization", "Bearer hunter2"),
        (Provider::Gemini, "x-goog-api-key", "hunter2"),
    ] {
        let server = Server::start(|_, _| {
            Reply::new(
                401,
                r#"{"error": {"message": "Incorrect API key provided: hunter2."}}"#,
            )
        });
        let mut options = options(provider, &server.url());
        options.key = Some(Secret::new("hunter2"));
        let embedder = RemoteEmbedder::new(options.clone(), 2).unwrap();
        let error = embedder.embed_one("abc", Role::Document).unwrap_err();
        assert!(matches!(error, EmbedError::Refused { .. }), "{error:?}");
        let said = format!("{error} {error:?} {embedder:?}");
        assert!(
            said.contains("the key is not accepted") && said.contains("[key]"),
            "{said}"
        );
        assert!(!said.contains("hunter2"), "{said}");
        assert_eq!(server.seen()[0].header(header), Some(value));
        assert!(!server.seen()[0].path.contains("hunter2"));
        // Nor is it part of the identity.
        let keyless = RemoteOptions {
            key: None,
            ..options.clone()
        };
        assert_eq!(keyless.identity(2), options.identity(2));

        // Beyond this machine it does not go in the clear.
        options.url = "http://embeddings.invalid".to_owned();
        let embedder = RemoteEmbedder::new(options, 2).unwrap();
        let error = embedder.embed_one("abc", Role::Document).unwrap_err();
        assert!(
            error.to_string().contains("without encryption: use https"),
            "{error}"
        );

        // Nor to where the provider redirects.
        let other = Server::start(|request, _| embed(request));
        let to = other.url();
        let server = Server::start(move |_, _| Reply::redirect(&to));
        let error = self::embedder(provider, &server)
            .embed_one("abc", Role::Query)
            .unwrap_err();
        assert!(matches!(error, EmbedError::Refused { .. }), "{error:?}");
        assert!(
            error.to_string().contains("redirects to 127.0.0.1"),
            "{error}"
        );
        assert!(other.seen().is_empty());
    }
}

#[test]
fn what_changes_vectors_changes_the_identity() {
    let one = options(Provider::Ollama, "http://localhost:1/");
    let identity = one.identity(2);
    assert_eq!(identity.name, "ollama/m");
    assert_eq!(identity.revision.len(), 12);
    let same = RemoteOptions {
        url: "http://localhost:1".to_owned(),
        batch: 1,
        ..one.clone()
    };
    assert_eq!(same.identity(2), identity);
    for other in [
        RemoteOptions {
            provider: Provider::OpenAi,
            ..one.clone()
        },
        RemoteOptions {
            url: "http://localhost:2".to_owned(),
            ..one.clone()
        },
        RemoteOptions {
            model: "n".to_owned(),
            ..one.clone()
        },
        RemoteOptions {
            dimensions: Some(2),
            ..one.clone()
        },
        RemoteOptions {
            query_prefix: String::new(),
            ..one.clone()
        },
        RemoteOptions {
            document_prefix: "query: ".to_owned(),
            ..one.clone()
        },
    ] {
        assert_ne!(other.identity(2).key(), identity.key(), "{other:?}");
    }
}

#[test]
fn another_dimension_is_the_models_fault() {
    for error in failures(|request| answer(request, &[json!([1, 2, 3])])) {
        assert!(matches!(error, EmbedError::Broken { .. }), "{error:?}");
        assert!(
            error.to_string().contains("3 numbers instead of 2"),
            "{error}"
        );
    }
}

#[test]
fn vectors_without_meaning_are_refused() {
    for (vector, expected) in [
        (json!([]), "is empty"),
        (json!([0, 0.0]), "is empty"),
        (json!([null, 1]), "is not a number"),
        (json!([1e39, 1]), "is not a number"),
    ] {
        for error in failures(move |request| answer(request, std::slice::from_ref(&vector))) {
            assert!(
                matches!(error, EmbedError::Text { index: 0, .. }),
                "{error:?}"
            );
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
    // One of several is that text's fault; all of them are the provider's.
    for provider in Provider::ALL {
        let server = Server::start(|request, _| {
            answer(request, &[json!([1, 2]), json!([null, 2]), json!([1, 2])])
        });
        let error = embedder(provider, &server).embed(&["a", "b", "c"], Role::Document);
        assert!(
            matches!(error, Err(EmbedError::Text { index: 1, .. })),
            "{error:?}"
        );
        let server = Server::start(|request, _| answer(request, &[json!([]), json!([])]));
        let error = embedder(provider, &server).embed(&["a", "b"], Role::Document);
        assert!(matches!(error, Err(EmbedError::Broken { .. })), "{error:?}");
    }
}

#[test]
fn an_answer_that_is_not_understood_is_the_providers_fault() {
    for body in [
        "{\"embeddings\": [[NaN, 1]]}",
        "{",
        "<html>",
        "[]",
        "{\"data\": 1}",
        "\u{fffd}",
    ] {
        for error in failures(move |_| Reply::new(200, body)) {
            assert!(matches!(error, EmbedError::Broken { .. }), "{error:?}");
            assert!(error.to_string().contains("is not understood"), "{error}");
        }
    }
    for error in failures(|request| answer(request, &[json!([1, 2]), json!([1, 2])])) {
        let expected = "it made 2 vectors where 1 were asked for";
        assert!(error.to_string().contains(expected), "{error}");
    }
    for error in failures(|_| Reply::new(200, r#"{"error": {"message": "no credits left"}}"#)) {
        assert!(error.to_string().contains("no credits left"), "{error}");
    }
}

#[test]
fn every_status_says_what_helps() {
    for error in failures(|_| Reply::new(401, "")) {
        assert!(matches!(error, EmbedError::Refused { .. }), "{error:?}");
        assert!(
            error.to_string().contains("it asks for a key: set `key`"),
            "{error}"
        );
    }
    for error in failures(|_| {
        Reply::new(
            404,
            r#"{"error": "model \"m\" not found, try pulling it first"}"#,
        )
    }) {
        assert!(matches!(error, EmbedError::Refused { .. }), "{error:?}");
        assert!(
            error
                .to_string()
                .contains("has no model m: model \"m\" not found"),
            "{error}"
        );
    }
    for error in failures(|_| Reply::new(429, "slow down").header("retry-after", 7)) {
        let seven = Some(Duration::from_secs(7));
        assert!(
            matches!(&error, EmbedError::Busy { retry_after, .. } if *retry_after == seven),
            "{error:?}"
        );
    }
    let used_up =
        r#"{"error": {"message": "You exceeded your current quota, check your plan and billing"}}"#;
    for error in failures(move |_| Reply::new(429, used_up)) {
        assert!(matches!(error, EmbedError::Refused { .. }), "{error:?}");
    }
    for status in [500, 502, 503] {
        for error in failures(move |_| Reply::new(status, "<html>oops</html>")) {
            assert!(
                matches!(
                    error,
                    EmbedError::Busy {
                        retry_after: None,
                        ..
                    }
                ),
                "{error:?}"
            );
            assert!(!error.to_string().contains("html"), "{error}");
        }
    }
    for error in failures(|_| Reply::drop_connection()) {
        assert!(matches!(error, EmbedError::Busy { .. }), "{error:?}");
    }
}

#[test]
fn a_text_that_is_too_long_is_found_among_others() {
    for provider in Provider::ALL {
        let server = Server::start(|request, _| {
            if texts(request).iter().any(|text| text.len() > 10) {
                return Reply::new(400, r#"{"error": {"message": "input is too long"}}"#);
            }
            embed(request)
        });
        let embedder = embedder(provider, &server);
        match embedder.embed(&["a", "b", "a very long text", "c"], Role::Document) {
            Err(EmbedError::Text {
                index: 2, detail, ..
            }) => assert_eq!(detail, "input is too long"),
            other => panic!("{other:?}"),
        }
    }
    // A provider that refuses every text is not at odds with the texts.
    for error in failures(|_| Reply::new(400, r#"{"error": {"message": "API key not valid"}}"#)) {
        assert!(matches!(error, EmbedError::Refused { .. }), "{error:?}");
    }
}

#[test]
fn a_silent_provider_is_not_waited_for() {
    for provider in Provider::ALL {
        let server =
            Server::start(|request, _| embed(request).stall_after(0, Duration::from_secs(20)));
        let mut options = options(provider, &server.url());
        options.timeout = Duration::from_millis(200);
        let embedder = RemoteEmbedder::new(options, 2).unwrap();
        let error = embedder.embed_one("abc", Role::Query).unwrap_err();
        assert!(matches!(error, EmbedError::Busy { .. }), "{error:?}");
        assert!(
            error.to_string().contains("took too long to answer"),
            "{error}"
        );
    }
}

#[test]
fn a_provider_that_is_not_there_is_named() {
    let gone = Server::start(|_, _| Reply::new(200, "")).url();
    std::thread::sleep(Duration::from_millis(100));
    for provider in Provider::ALL {
        let embedder = RemoteEmbedder::new(options(provider, &gone), 2).unwrap();
        let error = embedder.embed_one("abc", Role::Query).unwrap_err();
        assert!(matches!(error, EmbedError::Unreachable { .. }), "{error:?}");
        assert!(
            error.to_string().contains("could not connect to 127.0.0.1"),
            "{error}"
        );
    }
    let odd = RemoteEmbedder::new(options(Provider::Ollama, "localhost"), 2).unwrap_err();
    assert!(
        odd.to_string().contains("'localhost' is not an address"),
        "{odd}"
    );
}

#[test]
fn offline_nobody_is_asked() {
    let server = Server::start(|request, _| embed(request));
    let mut options = options(Provider::Ollama, &server.url());
    options.network.offline = true;
    let embedder = RemoteEmbedder::new(options, 2).unwrap();
    let error = embedder.embed_one("abc", Role::Query).unwrap_err();
    assert!(error.to_string().contains("Kodiak is offline"), "{error}");
    assert!(server.seen().is_empty());
}

#[test]
fn batches_keep_to_what_the_provider_takes() {
    let most = |provider| {
        let mut options = options(provider, "http://localhost");
        options.batch = 1_000;
        RemoteEmbedder::new(options, 2).unwrap().limits().max_batch
    };
    assert_eq!(Provider::ALL.map(most), [512, 1_000, 100]);
}
