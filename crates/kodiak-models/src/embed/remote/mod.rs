//! An embedder that asks a provider over HTTP.
//!
//! `wire` speaks each provider's format; `http` makes the requests. This module prepares
//! texts, checks vectors, and words the remedy when a provider fails. It waits and retries
//! nothing itself: its caller does. It never asks another provider instead, because the
//! vectors of two cannot be compared.

mod wire;

use std::fmt;
use std::time::Duration;

use sha2::{Digest, Sha256};

pub use wire::Provider;

use super::normalise::normalise;
use super::{EmbedError, Embedder, Identity, Limits, Role, fitting};
use crate::http::{Address, Client, Credential, HttpError, Network, Request, Secret};
use kodiak_base::hex;

/// The longest answer that is read.
const MAX_ANSWER: u64 = 64 << 20;
/// The longest message of a provider that is passed on, in characters.
const MAX_MESSAGE: usize = 200;
/// The number of hexadecimal digits of a revision.
const REVISION_LENGTH: usize = 12;
/// A text that every model can embed.
const PROBE: &str = "word";

/// How to use a provider's model.
#[derive(Clone, Debug)]
pub struct RemoteOptions {
    /// Whose format it speaks.
    pub provider: Provider,
    /// The address that the provider's paths are below.
    pub url: String,
    /// The model's name, as the provider knows it.
    pub model: String,
    /// The key, if it needs one.
    pub key: Option<Secret>,
    /// The number of dimensions to ask for, if not the model's own.
    pub dimensions: Option<usize>,
    /// The text put before a query.
    pub query_prefix: String,
    /// The text put before a document.
    pub document_prefix: String,
    /// The number of texts in one request.
    pub batch: usize,
    /// The number of requests at the same time.
    pub concurrency: usize,
    /// How long a request may take.
    pub timeout: Duration,
    /// The number of tokens of a text that are seen.
    pub max_tokens: usize,
    /// The cosine below which two texts are unrelated; 0 if it is not known.
    pub minimum_similarity: f32,
    /// How requests leave this machine.
    pub network: Network,
}

impl RemoteOptions {
    /// Returns the model's name with its provider's, as people see it.
    pub fn name(&self) -> String {
        format!("{}/{}", self.provider.name(), self.model)
    }

    /// Returns the identity that the model has with so many dimensions. All that
    /// changes vectors is part of it; the key is not.
    pub fn identity(&self, dimensions: usize) -> Identity {
        let asked = self.dimensions.map_or(String::new(), |one| one.to_string());
        let parts = [
            self.provider.name(),
            self.url.trim_end_matches('/'),
            &self.model,
            &asked,
            &self.query_prefix,
            &self.document_prefix,
        ];
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        let mut revision = hex(&hasher.finalize());
        revision.truncate(REVISION_LENGTH);
        Identity {
            name: self.name(),
            revision,
            dimensions,
        }
    }
}

/// A model that a provider runs.
pub struct RemoteEmbedder {
    options: RemoteOptions,
    identity: Identity,
    endpoint: Address,
    credential: Option<Credential>,
    client: Client,
}

/// Why a request brought no vectors.
enum Failure {
    Http(HttpError),
    /// The provider answered with this status and message.
    Status {
        status: u16,
        message: String,
        retry_after: Option<Duration>,
    },
    /// The answer does not have the expected form.
    Answer(String),
}

impl RemoteEmbedder {
    /// Makes an embedder whose vectors have so many dimensions. Nothing is asked
    /// yet.
    pub fn new(options: RemoteOptions, dimensions: usize) -> Result<Self, EmbedError> {
        let identity = options.identity(dimensions);
        let endpoint = Address::parse(&options.url).map_err(|error| EmbedError::Refused {
            model: identity.name.clone(),
            detail: error.to_string(),
        })?;
        let credential = options.key.clone().map(|secret| Credential {
            header: options.provider.key_header(),
            scheme: options.provider.key_scheme(),
            secret,
            required: true,
        });
        Ok(Self {
            client: Client::new(options.network.clone(), options.timeout),
            endpoint: options.provider.endpoint(&endpoint, &options.model),
            identity,
            credential,
            options,
        })
    }

    /// Asks the provider how many dimensions the model's vectors have.
    pub fn probe(options: &RemoteOptions) -> Result<usize, EmbedError> {
        let embedder = Self::new(options.clone(), options.dimensions.unwrap_or(0))?;
        let asked = embedder.ask(&[PROBE], Role::Document);
        let vectors = asked.map_err(|failure| embedder.error(failure))?;
        let found = vectors.first().map_or(0, Vec::len);
        match options.dimensions {
            Some(asked) if asked != found => Err(embedder.broken(other_length(found, asked))),
            _ if found == 0 => Err(embedder.broken("its vector is empty".to_owned())),
            _ => Ok(found),
        }
    }

    /// Sends texts in one request and returns the vectors as they come.
    fn ask(&self, texts: &[&str], role: Role) -> Result<Vec<Vec<f32>>, Failure> {
        let prefix = match role {
            Role::Query => &self.options.query_prefix,
            Role::Document => &self.options.document_prefix,
        };
        let texts: Vec<String> = texts.iter().map(|text| format!("{prefix}{text}")).collect();
        let options = &self.options;
        let body = options
            .provider
            .body(&options.model, &texts, role, options.dimensions);
        let response = self
            .client
            .send(&Request {
                address: self.endpoint.clone(),
                headers: vec![("content-type", "application/json".to_owned())],
                credential: self.credential.as_ref(),
                body: Some(&body),
                follow: false,
                total: Some(options.timeout),
            })
            .map_err(Failure::Http)?;
        let (status, retry_after) = (response.status, response.retry_after());
        let answer = response.read(MAX_ANSWER).map_err(Failure::Http)?;
        if status != 200 {
            return Err(Failure::Status {
                status,
                message: self.quoted(&wire::message(&answer)),
                retry_after,
            });
        }
        let vectors = options.provider.vectors(&answer);
        let vectors = vectors.map_err(|detail| Failure::Answer(self.quoted(&detail)))?;
        if vectors.len() != texts.len() {
            let (made, asked) = (vectors.len(), texts.len());
            let detail = format!("it made {made} vectors where {asked} were asked for");
            return Err(Failure::Answer(detail));
        }
        Ok(vectors)
    }

    /// Embeds texts that have something in them.
    fn embed_texts(&self, texts: &[&str], role: Role) -> Result<Vec<Vec<f32>>, EmbedError> {
        let vectors = match self.ask(texts, role) {
            Ok(vectors) => vectors,
            // One of the texts is too long, or otherwise more than it can take.
            Err(Failure::Status {
                status: 400 | 413 | 422,
                message,
                ..
            }) => {
                return self.embed_apart(texts, role, &message);
            }
            Err(failure) => return Err(self.error(failure)),
        };
        // What is wrong with every vector is not a text's fault.
        let faults: Vec<Option<String>> = vectors.iter().map(|one| fault(one)).collect();
        if let Some(detail) = faults.iter().flatten().next()
            && faults.iter().all(Option::is_some)
            && texts.len() > 1
        {
            return Err(self.broken(detail.clone()));
        }
        vectors
            .into_iter()
            .zip(faults)
            .enumerate()
            .map(|(index, (vector, fault))| match fault {
                Some(detail) => Err(self.text_failure(index, detail)),
                None => self.normalised(vector, index),
            })
            .collect()
    }

    /// Embeds texts one by one, to find out which of them the provider refuses.
    fn embed_apart(
        &self,
        texts: &[&str],
        role: Role,
        message: &str,
    ) -> Result<Vec<Vec<f32>>, EmbedError> {
        if let [_] = texts {
            // Is it the text, or is it everything?
            return match self.ask(&[PROBE], role) {
                Ok(_) => Err(self.text_failure(0, message.to_owned())),
                Err(Failure::Status {
                    status: 400 | 413 | 422,
                    message,
                    ..
                }) => Err(EmbedError::Refused {
                    model: self.identity.name.clone(),
                    detail: message,
                }),
                Err(failure) => Err(self.error(failure)),
            };
        }
        let embed = |(index, text): (usize, &&str)| {
            let one = self
                .embed_texts(&[text], role)
                .map_err(|error| match error {
                    EmbedError::Text { model, detail, .. } => EmbedError::Text {
                        model,
                        index,
                        detail,
                    },
                    other => other,
                })?;
            Ok(one.into_iter().next().unwrap_or_default())
        };
        texts.iter().enumerate().map(embed).collect()
    }

    fn normalised(&self, mut vector: Vec<f32>, index: usize) -> Result<Vec<f32>, EmbedError> {
        let (found, expected) = (vector.len(), self.identity.dimensions);
        if found != expected {
            return Err(self.broken(other_length(found, expected)));
        }
        match normalise(&mut vector) {
            Ok(()) => Ok(vector),
            Err(_) => Err(self.text_failure(index, "its vector has no length".to_owned())),
        }
    }

    fn text_failure(&self, index: usize, detail: String) -> EmbedError {
        EmbedError::Text {
            model: self.identity.name.clone(),
            index,
            detail,
        }
    }

    fn broken(&self, detail: String) -> EmbedError {
        EmbedError::Broken {
            model: self.identity.name.clone(),
            path: None,
            detail,
        }
    }

    fn error(&self, failure: Failure) -> EmbedError {
        let model = self.identity.name.clone();
        let busy = |retry_after, detail| EmbedError::Busy {
            model: model.clone(),
            retry_after,
            detail,
        };
        let refused = |detail| EmbedError::Refused {
            model: model.clone(),
            detail,
        };
        match failure {
            Failure::Http(error @ (HttpError::Timeout { .. } | HttpError::Broken { .. })) => {
                busy(None, error.to_string())
            }
            Failure::Http(error @ HttpError::Connect { .. }) => EmbedError::Unreachable {
                model,
                detail: error.to_string(),
            },
            Failure::Http(error) => refused(error.to_string()),
            Failure::Answer(detail) => self.broken(detail),
            Failure::Status {
                status: 401 | 403,
                message,
                ..
            } => {
                let what = if self.credential.is_some() {
                    "the key is not accepted"
                } else {
                    "it asks for a key: set `key` in the [model] table of the config"
                };
                refused(format!("{what}{}", after(&message)))
            }
            Failure::Status {
                status: 402,
                message,
                ..
            } => refused(format!("it is not paid for{}", after(&message))),
            Failure::Status {
                status: 429,
                message,
                ..
            } if wire::is_used_up(&message) => refused(message),
            Failure::Status {
                status: 404,
                message,
                ..
            } => {
                let name = &self.options.model;
                let host = self.endpoint.authority();
                refused(format!("{host} has no model {name}{}", after(&message)))
            }
            Failure::Status {
                status: status @ (408 | 429 | 500..=599),
                message,
                retry_after,
            } => busy(retry_after, format!("status {status}{}", after(&message))),
            Failure::Status {
                status, message, ..
            } => refused(format!("status {status}{}", after(&message))),
        }
    }

    /// Returns the message of a provider on one line, shortened and without the key.
    fn quoted(&self, said: &str) -> String {
        let hidden = match &self.options.key {
            Some(key) => key.hidden_in(said),
            None => said.to_owned(),
        };
        let line = hidden.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut short: String = line
            .chars()
            .filter(|one| !one.is_control())
            .take(MAX_MESSAGE)
            .collect();
        if line.chars().nth(MAX_MESSAGE).is_some() {
            short.push('…');
        }
        short
    }
}

/// Returns the fault of a vector, whatever its length.
fn fault(vector: &[f32]) -> Option<String> {
    if vector.is_empty() || vector.iter().all(|&number| number == 0.0) {
        return Some("its vector is empty".to_owned());
    }
    let finite = vector.iter().all(|number| number.is_finite());
    (!finite).then(|| "its vector has a component that is not a number".to_owned())
}

/// Returns a message as the end of a sentence.
fn after(message: &str) -> String {
    if message.is_empty() {
        return String::new();
    }
    format!(": {message}")
}

fn other_length(found: usize, expected: usize) -> String {
    format!(
        "its vector has {found} numbers instead of {expected}: it is another model than before, \
         or cannot be shortened"
    )
}

impl Embedder for RemoteEmbedder {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn minimum_similarity(&self) -> f32 {
        self.options.minimum_similarity
    }

    fn limits(&self) -> Limits {
        Limits {
            max_tokens: self.options.max_tokens,
            max_batch: self
                .options
                .batch
                .clamp(1, self.options.provider.max_batch()),
            concurrency: self.options.concurrency.max(1),
        }
    }

    fn embed(&self, texts: &[&str], role: Role) -> Result<Vec<Vec<f32>>, EmbedError> {
        // Providers refuse a text without anything in it.
        let is_full = |text: &str| text.chars().any(char::is_alphanumeric);
        let full: Vec<usize> = (0..texts.len()).filter(|&at| is_full(texts[at])).collect();
        let mut vectors = vec![vec![0.0; self.identity.dimensions]; texts.len()];
        if full.is_empty() {
            return Ok(vectors);
        }
        let asked: Vec<&str> = full.iter().map(|&at| texts[at]).collect();
        let made = self
            .embed_texts(&asked, role)
            .map_err(|error| match error {
                EmbedError::Text {
                    model,
                    index,
                    detail,
                } => EmbedError::Text {
                    model,
                    index: full.get(index).copied().unwrap_or(index),
                    detail,
                },
                other => other,
            })?;
        for (at, vector) in full.into_iter().zip(made) {
            vectors[at] = vector;
        }
        fitting(vectors, texts.len(), &self.identity)
    }
}

impl fmt::Debug for RemoteEmbedder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RemoteEmbedder")
            .field("options", &self.options)
            .field("identity", &self.identity)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "../remote_tests.rs"]
mod tests;
