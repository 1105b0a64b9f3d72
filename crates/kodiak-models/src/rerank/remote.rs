//! A reranker behind an HTTP endpoint, in the format that Cohere and Jina share.
//!
//! The request has `model`, `query`, `documents` and `top_n`; the answer has
//! `results`, each with the `index` of a document and its `relevance_score`. A
//! search waits for it, so nothing is tried twice.

use std::fmt;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::json;

use super::{RerankError, Reranker, fitting};
use crate::http::{Address, Client, Credential, HttpError, Network, Request, Secret};
use kodiak_base::cancel::Stop;

/// The longest answer that is read.
const MAX_ANSWER: u64 = 4 << 20;
/// The longest message of an endpoint that is passed on, in characters.
const MAX_MESSAGE: usize = 200;

/// An endpoint that reranks.
#[derive(Clone, Debug)]
pub struct RerankEndpoint {
    /// The address that requests are sent to, or that `/rerank` is below.
    pub url: String,
    /// The model's name, as the endpoint knows it.
    pub model: String,
    /// The key, if it needs one.
    pub key: Option<Secret>,
    /// How long a request may take.
    pub timeout: Duration,
    /// How requests leave this machine.
    pub network: Network,
}

/// A reranker behind an endpoint.
pub struct RemoteReranker {
    endpoint: RerankEndpoint,
    address: Address,
    credential: Option<Credential>,
    client: Client,
}

#[derive(Deserialize)]
struct Ranking {
    // Jina and Cohere say `results`; some servers in their format say `data`.
    #[serde(alias = "data")]
    results: Vec<Ranked>,
}

#[derive(Deserialize)]
struct Ranked {
    index: usize,
    #[serde(alias = "score")]
    relevance_score: f32,
}

impl RemoteReranker {
    /// Makes a reranker over an endpoint. Nothing is asked yet.
    pub fn new(endpoint: RerankEndpoint) -> Result<Self, RerankError> {
        let failed = |error: HttpError| RerankError::Failed(error.to_string());
        let address = Address::parse(&endpoint.url).map_err(failed)?;
        let whole = endpoint.url.trim_end_matches('/').ends_with("/rerank");
        let credential = endpoint.key.clone().map(|secret| Credential {
            header: "authorization",
            scheme: "Bearer ",
            secret,
            required: true,
        });
        Ok(Self {
            client: Client::new(endpoint.network.clone(), endpoint.timeout),
            address: if whole {
                address
            } else {
                address.below("rerank")
            },
            credential,
            endpoint,
        })
    }

    /// Returns the message of an endpoint on one line, shortened and without the key.
    fn quoted(&self, answer: &[u8]) -> String {
        let said = String::from_utf8_lossy(answer);
        let hidden = match &self.endpoint.key {
            Some(key) => key.hidden_in(&said),
            None => said.into_owned(),
        };
        let line = hidden.split_whitespace().collect::<Vec<_>>().join(" ");
        let visible = line.chars().filter(|one| !one.is_control());
        visible.take(MAX_MESSAGE).collect()
    }
}

impl Reranker for RemoteReranker {
    fn name(&self) -> &str {
        &self.endpoint.model
    }

    fn scores(&self, query: &str, texts: &[&str], stop: &Stop) -> Result<Vec<f32>, RerankError> {
        if stop.is_reached() {
            return Err(RerankError::Stopped);
        }
        let left = stop
            .deadline
            .map(|end| end.saturating_duration_since(Instant::now()));
        let total = left.map_or(self.endpoint.timeout, |left| {
            left.min(self.endpoint.timeout)
        });
        let body = json!({
            "model": self.endpoint.model, "query": query, "documents": texts,
            "top_n": texts.len(), "return_documents": false
        });
        let body = body.to_string();
        let failed = |error: HttpError| match error {
            HttpError::Timeout { .. } => RerankError::Stopped,
            other => RerankError::Failed(other.to_string()),
        };
        let response = self
            .client
            .send(&Request {
                address: self.address.clone(),
                headers: vec![("content-type", "application/json".to_owned())],
                credential: self.credential.as_ref(),
                body: Some(body.as_bytes()),
                follow: false,
                total: Some(total),
            })
            .map_err(failed)?;
        let status = response.status;
        let answer = response.read(MAX_ANSWER).map_err(failed)?;
        let host = self.address.authority();
        match status {
            200 => {}
            401 | 403 => {
                let what = if self.credential.is_some() {
                    "does not accept the key"
                } else {
                    "asks for a key"
                };
                return Err(RerankError::Failed(format!("{host} {what}")));
            }
            _ => {
                let said = self.quoted(&answer);
                let detail = format!("{host} answered with status {status}: {said}");
                return Err(RerankError::Failed(detail));
            }
        }
        let ranking: Ranking = serde_json::from_slice(&answer).map_err(|error| {
            RerankError::Failed(format!("the answer of {host} is not understood: {error}"))
        })?;
        let mut scores = vec![f32::NAN; texts.len()];
        for Ranked {
            index,
            relevance_score,
        } in ranking.results
        {
            let Some(score) = scores.get_mut(index) else {
                let detail = format!("{host} scored a text that it was not given");
                return Err(RerankError::Failed(detail));
            };
            *score = relevance_score;
        }
        fitting(scores, texts.len())
    }
}

impl fmt::Debug for RemoteReranker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RemoteReranker")
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use tiny_server::{Reply, Request as Asked, Server};

    use super::*;

    fn reranker(url: &str, key: Option<&str>) -> RemoteReranker {
        RemoteReranker::new(RerankEndpoint {
            url: url.to_owned(),
            model: "rerank-1".to_owned(),
            key: key.map(Secret::new),
            timeout: Duration::from_secs(20),
            network: Network::default(),
        })
        .unwrap()
    }

    /// Scores each document by its length, the longest first.
    fn by_length(request: &Asked) -> Reply {
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let documents = body["documents"].as_array().unwrap().iter().enumerate();
        let mut results: Vec<(usize, usize)> = documents
            .map(|(index, text)| (text.as_str().unwrap().len(), index))
            .collect();
        results.sort_unstable_by(|one, other| other.cmp(one));
        let result = |(length, index): &(usize, usize)| json!({ "index": index, "relevance_score": *length as f32 / 10.0 });
        let results: Vec<Value> = results.iter().map(result).collect();
        let answer = json!({ "id": "1", "results": results, "meta": {} });
        Reply::new(200, answer.to_string())
    }

    #[test]
    fn scores_come_back_in_the_order_of_the_texts() {
        let server = Server::start(|request, _| by_length(request));
        for url in [server.url(), format!("{}/v1/rerank", server.url())] {
            let scores = reranker(&url, Some("secret-key")).scores(
                "soup",
                &["ab", "abcd", "a"],
                &Stop::default(),
            );
            assert_eq!(scores, Ok(vec![0.2, 0.4, 0.1]));
        }
        let seen = server.seen();
        assert_eq!([&*seen[0].path, &*seen[1].path], ["/rerank", "/v1/rerank"]);
        assert_eq!(seen[0].header("authorization"), Some("Bearer secret-key"));
        let body: Value = serde_json::from_slice(&seen[0].body).unwrap();
        assert_eq!(
            (&body["query"], &body["top_n"]),
            (&json!("soup"), &json!(3))
        );
        assert_eq!(body["model"], "rerank-1");
    }

    #[test]
    fn every_failure_says_what_happened_and_not_the_key() {
        let result = |results: Value| json!({ "results": results }).to_string();
        let one = |index: usize| json!({ "index": index, "relevance_score": 0.5 });
        let cases = [
            (Reply::new(401, "no"), "does not accept the key"),
            (
                Reply::new(429, "slow down, secret-key"),
                "status 429: slow down",
            ),
            (Reply::new(500, ""), "status 500"),
            (Reply::new(200, "<html>"), "is not understood"),
            (Reply::new(200, result(json!([one(0)]))), "is not a number"),
            (
                Reply::new(200, result(json!([one(0), one(7)]))),
                "was not given",
            ),
            (Reply::drop_connection(), "broke"),
            (Reply::redirect("https://other.example/"), "other.example"),
        ];
        for (reply, expected) in cases {
            let server = Server::start(move |_, _| reply.clone());
            let reranker = reranker(&server.url(), Some("secret-key"));
            let error = reranker.scores("soup", &["a", "b"], &Stop::default());
            let said = error.unwrap_err().to_string();
            assert!(said.contains(expected), "{expected}: {said}");
            assert!(!said.contains("secret-key"), "{said}");
            assert!(!format!("{reranker:?}").contains("secret-key"));
        }
    }

    #[test]
    fn a_slow_endpoint_is_not_waited_for() {
        let server =
            Server::start(|request, _| by_length(request).stall_after(3, Duration::from_mins(1)));
        let soon = Instant::now().checked_add(Duration::from_millis(200));
        let scores = reranker(&server.url(), None).scores("soup", &["a"], &Stop::at(soon));
        assert_eq!(scores, Err(RerankError::Stopped));
        let past = Stop::at(Some(Instant::now()));
        let scores = reranker(&server.url(), None).scores("soup", &["a"], &past);
        assert_eq!(scores, Err(RerankError::Stopped));
    }

    #[test]
    fn offline_nobody_is_asked() {
        let server = Server::start(|request, _| by_length(request));
        let offline = RemoteReranker::new(RerankEndpoint {
            network: Network {
                offline: true,
                ..Network::default()
            },
            ..reranker(&server.url(), None).endpoint
        })
        .unwrap();
        let said = offline.scores("soup", &["a"], &Stop::default());
        assert_eq!(
            said,
            Err(RerankError::Failed("Kodiak is offline".to_owned()))
        );
        assert!(server.seen().is_empty());
    }
}
