//! The formats of providers: writing requests and reading answers.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::Role;
use crate::http::Address;

/// Whose format an endpoint speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    /// Ollama: `/api/embed`.
    Ollama,
    /// `OpenAI` and all that are compatible with it: `/v1/embeddings`.
    OpenAi,
    /// Gemini: `batchEmbedContents`.
    Gemini,
}

#[derive(Deserialize)]
struct OllamaAnswer {
    embeddings: Vec<Vec<Option<f32>>>,
}

#[derive(Deserialize)]
struct OpenAiAnswer {
    data: Vec<OpenAiVector>,
}

#[derive(Deserialize)]
struct OpenAiVector {
    index: Option<usize>,
    embedding: Vec<Option<f32>>,
}

#[derive(Deserialize)]
struct GeminiAnswer {
    embeddings: Vec<GeminiVector>,
}

#[derive(Deserialize)]
struct GeminiVector {
    #[serde(default)]
    values: Vec<Option<f32>>,
}

impl Provider {
    /// All providers.
    pub const ALL: [Self; 3] = [Self::Ollama, Self::OpenAi, Self::Gemini];

    /// Returns its name, as people write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ollama => "ollama",
            Self::OpenAi => "openai",
            Self::Gemini => "gemini",
        }
    }

    /// Returns its usual address.
    pub fn usual_url(self) -> &'static str {
        match self {
            Self::Ollama => "http://127.0.0.1:11434",
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Gemini => "https://generativelanguage.googleapis.com/v1beta",
        }
    }

    /// Returns the number of texts that one request may contain.
    pub(super) fn max_batch(self) -> usize {
        match self {
            Self::Ollama => 512,
            Self::OpenAi => 2_048,
            Self::Gemini => 100,
        }
    }

    pub(super) fn key_header(self) -> &'static str {
        match self {
            Self::Ollama | Self::OpenAi => "authorization",
            Self::Gemini => "x-goog-api-key",
        }
    }

    pub(super) fn key_scheme(self) -> &'static str {
        match self {
            Self::Ollama | Self::OpenAi => "Bearer ",
            Self::Gemini => "",
        }
    }

    /// Returns the address of the request.
    pub(super) fn endpoint(self, base: &Address, model: &str) -> Address {
        match self {
            Self::Ollama => base.below("api/embed"),
            // Some write the version, some do not.
            Self::OpenAi if base.has_path() => base.below("embeddings"),
            Self::OpenAi => base.below("v1/embeddings"),
            Self::Gemini => {
                let model = utf8_percent_encode(bare(model), NON_ALPHANUMERIC).to_string();
                // These stand in the names of models.
                let model = model
                    .replace("%2D", "-")
                    .replace("%2E", ".")
                    .replace("%5F", "_");
                base.below(&format!("models/{model}:batchEmbedContents"))
            }
        }
    }

    /// Returns the body of the request.
    pub(super) fn body(
        self,
        model: &str,
        texts: &[String],
        role: Role,
        dimensions: Option<usize>,
    ) -> Vec<u8> {
        let mut body = match self {
            Self::Ollama => json!({"model": model, "input": texts, "truncate": true}),
            Self::OpenAi => json!({"model": model, "input": texts, "encoding_format": "float"}),
            Self::Gemini => {
                let task = match role {
                    Role::Query => "RETRIEVAL_QUERY",
                    Role::Document => "RETRIEVAL_DOCUMENT",
                };
                let one = |text: &String| {
                    let mut one = json!({
                        "model": format!("models/{}", bare(model)),
                        "content": {"parts": [{"text": text}]},
                        "taskType": task,
                    });
                    if let Some(dimensions) = dimensions {
                        one["outputDimensionality"] = dimensions.into();
                    }
                    one
                };
                json!({"requests": texts.iter().map(one).collect::<Vec<_>>()})
            }
        };
        if let Some(dimensions) = dimensions.filter(|_| self != Self::Gemini) {
            body["dimensions"] = dimensions.into();
        }
        body.to_string().into_bytes()
    }

    /// Reads the vectors from an answer, in the order of the texts. A number that
    /// is missing becomes one that is not finite.
    pub(super) fn vectors(self, answer: &[u8]) -> Result<Vec<Vec<f32>>, String> {
        let wrong = |error: serde_json::Error| {
            // Some report failures with the status of success.
            let said = message(answer);
            if is_error(answer) && !said.is_empty() {
                return said;
            }
            format!("its answer is not understood: {error}")
        };
        let vectors = match self {
            Self::Ollama => serde_json::from_slice(answer).map(|it: OllamaAnswer| it.embeddings),
            Self::OpenAi => serde_json::from_slice(answer).map(|it: OpenAiAnswer| {
                let mut data = it.data;
                // In whatever order they come, each says whose it is.
                data.sort_by_key(|one| one.index);
                data.into_iter().map(|one| one.embedding).collect()
            }),
            Self::Gemini => serde_json::from_slice(answer)
                .map(|it: GeminiAnswer| it.embeddings.into_iter().map(|one| one.values).collect()),
        };
        let vectors: Vec<Vec<Option<f32>>> = vectors.map_err(wrong)?;
        let number = |number: Option<f32>| number.unwrap_or(f32::NAN);
        Ok(vectors
            .into_iter()
            .map(|vector| vector.into_iter().map(number).collect())
            .collect())
    }
}

/// Returns a model's name without the folder that Gemini puts before it.
fn bare(model: &str) -> &str {
    model.strip_prefix("models/").unwrap_or(model)
}

/// Returns the message in a provider's answer about a failure: `{"error": "…"}`, `{"error":
/// {"message": "…"}}`, or plain text.
pub(super) fn message(answer: &[u8]) -> String {
    let text = String::from_utf8_lossy(answer);
    let Ok(value) = serde_json::from_slice::<Value>(answer) else {
        // A page for people to look at says nothing in a line.
        let page = text.trim_start().starts_with('<');
        return if page {
            String::new()
        } else {
            text.trim().to_owned()
        };
    };
    // Some wrap it into a list.
    let value = value.get(0).unwrap_or(&value);
    let error = value.get("error").unwrap_or(value);
    let found = [
        Some(error),
        error.get("message"),
        value.get("message"),
        value.get("detail"),
    ];
    let mut found = found.into_iter().flatten();
    found
        .find_map(Value::as_str)
        .unwrap_or_default()
        .trim()
        .to_owned()
}

fn is_error(answer: &[u8]) -> bool {
    let value = serde_json::from_slice::<Value>(answer).ok();
    value.is_some_and(|value| value.get("error").is_some())
}

/// Reports whether a refusal for too many requests is one that waiting does not help.
pub(super) fn is_used_up(message: &str) -> bool {
    let message = message.to_lowercase();
    [
        "insufficient_quota",
        "exceeded your current quota",
        "billing",
    ]
    .iter()
    .any(|sign| message.contains(sign))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_provider_has_its_address() {
        for (provider, base, expected) in [
            (
                Provider::Ollama,
                "http://127.0.0.1:11434/",
                "http://127.0.0.1:11434/api/embed",
            ),
            (
                Provider::OpenAi,
                "https://api.openai.com/v1",
                "https://api.openai.com/v1/embeddings",
            ),
            (
                Provider::OpenAi,
                "http://localhost:1234",
                "http://localhost:1234/v1/embeddings",
            ),
            (
                Provider::OpenAi,
                "https://openrouter.ai/api/v1/",
                "https://openrouter.ai/api/v1/embeddings",
            ),
            (
                Provider::Gemini,
                "https://g/v1beta",
                "https://g/v1beta/models/m-1.5_x:batchEmbedContents",
            ),
        ] {
            let base = Address::parse(base).unwrap();
            let model = if provider == Provider::Gemini {
                "models/m-1.5_x"
            } else {
                "m"
            };
            assert_eq!(provider.endpoint(&base, model).to_string(), expected);
        }
    }

    #[test]
    fn failures_are_told_in_many_ways() {
        for (answer, expected) in [
            (r#"{"error": "no such model"}"#, "no such model"),
            (
                r#"{"error": {"message": " bad key ", "code": 401}}"#,
                "bad key",
            ),
            (r#"[{"error": {"message": "odd"}}]"#, "odd"),
            (r#"{"message": "not now"}"#, "not now"),
            (r#"{"detail": "not here"}"#, "not here"),
            ("plain words\n", "plain words"),
            ("<html><body>404</body></html>", ""),
            ("{}", ""),
            ("", ""),
        ] {
            assert_eq!(message(answer.as_bytes()), expected, "{answer}");
        }
    }

    #[test]
    fn vectors_come_in_the_order_of_the_texts() {
        let answer =
            br#"{"data": [{"index": 1, "embedding": [2]}, {"index": 0, "embedding": [1]}]}"#;
        assert_eq!(Provider::OpenAi.vectors(answer).unwrap(), [[1.0], [2.0]]);
        let answer = br#"{"data": [{"embedding": [1]}, {"embedding": [2]}]}"#;
        assert_eq!(Provider::OpenAi.vectors(answer).unwrap(), [[1.0], [2.0]]);
    }

    proptest! {
        #[test]
        fn odd_answers_are_refused(answer in "\\PC{0,60}", inner in "[\\[\\]0-9,.eE\"nul-]{0,20}") {
            for provider in Provider::ALL {
                let _ = provider.vectors(answer.as_bytes());
                for around in ["{\"embeddings\": [X]}", "{\"data\": [{\"embedding\": X}]}"] {
                    let _ = provider.vectors(around.replace('X', &inner).as_bytes());
                }
            }
            let _ = message(answer.as_bytes());
        }
    }
}
