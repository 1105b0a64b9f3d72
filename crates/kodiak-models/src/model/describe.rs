//! Reads how to use a model from the files in its folder.
//!
//! Folders come from many places. Those of sentence-transformers have small JSON
//! files beside the weights that name pooling, prefixes and the token limit; each
//! may be missing, and then the usual value holds. The number of dimensions is the
//! graph's own, found by running it.

use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::manifest::{files, is_name};
use super::{Pooling, Settings};
use crate::runtime::{Cores, Options, Runtime, RuntimeError};
use kodiak_base::error::Result;

/// The token limit where no file names one.
const USUAL_TOKENS: usize = 512;
/// The largest token limit that is believed. Some tokenizers claim to have none.
const MAX_TOKENS: usize = 1 << 17;
/// The largest description that is read.
const MAX_BYTES: u64 = 1 << 20;
/// The longest name that a model may have.
const MAX_NAME: usize = 64;

/// `1_Pooling/config.json`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PoolingFile {
    pooling_mode_cls_token: bool,
    pooling_mode_mean_tokens: bool,
}

/// `sentence_bert_config.json`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SequenceFile {
    max_seq_length: Option<usize>,
}

/// `config_sentence_transformers.json`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PromptsFile {
    prompts: std::collections::BTreeMap<String, String>,
}

/// `config.json`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct NetworkFile {
    max_position_embeddings: Option<usize>,
    /// The position ids of this family begin after the padding's, so two of the
    /// positions are not for tokens.
    model_type: String,
}

/// `tokenizer_config.json`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TokenizerFile {
    /// Some write 1e30 for "no limit".
    model_max_length: Option<f64>,
}

/// Returns the settings of the model in `folder`, whose graph and tokenizer are
/// these.
pub(super) fn settings(folder: &Path, graph: &Path, tokenizer: &Path) -> Result<Settings> {
    let pooling: Option<PoolingFile> = read(&folder.join("1_Pooling/config.json"));
    let prompts: PromptsFile =
        read(&folder.join("config_sentence_transformers.json")).unwrap_or_default();
    let prompt = |names: &[&str]| {
        let found = names.iter().find_map(|&name| prompts.prompts.get(name));
        found.cloned().unwrap_or_default()
    };
    let max_tokens = max_tokens(folder);
    let (dimensions, own) = probe(graph, tokenizer, max_tokens)?;
    Ok(Settings {
        dimensions,
        pooling: match pooling {
            _ if own == Some(Pooling::Pair) => Pooling::Pair,
            Some(file) if file.pooling_mode_cls_token && !file.pooling_mode_mean_tokens => {
                Pooling::Cls
            }
            None => own.unwrap_or(Pooling::Mean),
            _ => Pooling::Mean,
        },
        max_tokens,
        query_prefix: prompt(&["query"]),
        document_prefix: prompt(&["document", "passage"]),
        minimum_similarity: 0.0,
        shorter_dimensions: Vec::new(),
        layer_norm: false,
    })
}

/// Returns a name for the model in `folder`: the folder's own, as far as a model
/// can be named so.
pub(super) fn name(folder: &Path) -> Option<String> {
    let given = folder.file_name()?.to_str()?.to_lowercase();
    let tidy: String = given
        .chars()
        .map(|one| match one {
            'a'..='z' | '0'..='9' | '-' | '_' | '.' => one,
            _ => '-',
        })
        .take(MAX_NAME)
        .collect();
    let tidy = tidy.trim_start_matches(|one: char| !one.is_ascii_alphanumeric());
    is_name(tidy).then(|| tidy.to_owned())
}

fn max_tokens(folder: &Path) -> usize {
    let sequence: Option<SequenceFile> = read(&folder.join("sentence_bert_config.json"));
    let network: Option<NetworkFile> = read(&folder.join("config.json"));
    let tokenizer: Option<TokenizerFile> = read(&folder.join("tokenizer_config.json"));
    let positions = network.and_then(|file| {
        let spare = if file.model_type.contains("roberta") {
            2
        } else {
            0
        };
        file.max_position_embeddings?.checked_sub(spare)
    });
    let claimed = tokenizer.and_then(|file| file.model_max_length);
    let claimed = claimed.filter(|&most| most < MAX_TOKENS as f64);
    let believable = |most: &usize| (3..=MAX_TOKENS).contains(most);
    let asked = sequence.and_then(|file| file.max_seq_length);
    let asked = asked
        .or(claimed.map(|most| most as usize))
        .filter(believable);
    let possible = positions.filter(believable);
    match (asked, possible) {
        (Some(asked), Some(possible)) => asked.min(possible),
        (one, other) => one.or(other).unwrap_or(USUAL_TOKENS),
    }
}

/// Runs the graph on a word. Returns the number of dimensions, and the kind of output if it
/// is not a vector for each token: one for the text, or a score.
fn probe(graph: &Path, tokenizer: &Path, max_tokens: usize) -> Result<(usize, Option<Pooling>)> {
    let loaded = Runtime::load(Options {
        graph,
        tokenizer,
        max_tokens,
        outputs: &[
            "last_hidden_state",
            "token_embeddings",
            "sentence_embedding",
            "logits",
        ],
    });
    let ran = loaded.and_then(|runtime| {
        let tokens = runtime.encode("", "word")?;
        let scores = runtime.output_name() == "logits";
        Ok((runtime.run(&tokens, Cores::All)?, scores))
    });
    match ran {
        Ok((output, scores)) => match output.shape[..] {
            [1, 1 | 2] if scores => Ok((1, Some(Pooling::Pair))),
            [1, _, width] if width > 0 => Ok((width, None)),
            [1, width] if width > 0 => Ok((width, Some(Pooling::Own))),
            ref shape => Err(files(graph, format!("its output has the shape {shape:?}"))),
        },
        Err(RuntimeError::File { path, detail }) => Err(files(&path, detail)),
        Err(RuntimeError::Run { detail }) => Err(files(graph, detail)),
    }
}

/// Reads a description. One that is missing, too long or not understood says
/// nothing.
fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&kodiak_base::files::read(path, MAX_BYTES).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn folder(written: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        tiny_model::write(folder.path()).unwrap();
        for (name, text) in written {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    fn described(written: &[(&str, &str)]) -> Settings {
        let folder = folder(written);
        let path = folder.path();
        settings(path, &path.join("model.onnx"), &path.join("tokenizer.json")).unwrap()
    }

    #[test]
    fn without_descriptions_the_usual_holds() {
        let found = described(&[]);
        assert_eq!(found.dimensions, tiny_model::DIMENSIONS);
        assert_eq!((found.pooling, found.max_tokens), (Pooling::Mean, 512));
        assert_eq!((&*found.query_prefix, &*found.document_prefix), ("", ""));
    }

    #[test]
    fn the_files_of_sentence_transformers_are_read() {
        let found = described(&[
            (
                "1_Pooling/config.json",
                r#"{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}"#,
            ),
            ("sentence_bert_config.json", r#"{"max_seq_length": 128}"#),
            (
                "config_sentence_transformers.json",
                r#"{"prompts": {"query": "q: ", "document": "d: "}}"#,
            ),
        ]);
        assert_eq!((found.pooling, found.max_tokens), (Pooling::Cls, 128));
        assert_eq!(
            (&*found.query_prefix, &*found.document_prefix),
            ("q: ", "d: ")
        );
    }

    #[test]
    fn the_smallest_limit_holds() {
        let network = (
            "config.json",
            r#"{"max_position_embeddings": 514, "model_type": "roberta"}"#,
        );
        let endless = ("tokenizer_config.json", r#"{"model_max_length": 1e30}"#);
        let long = ("sentence_bert_config.json", r#"{"max_seq_length": 8192}"#);
        assert_eq!(described(&[network]).max_tokens, 512);
        assert_eq!(described(&[endless]).max_tokens, 512);
        assert_eq!(described(&[network, long]).max_tokens, 512);
        assert_eq!(described(&[long]).max_tokens, 8192);
        let tokenizer = ("tokenizer_config.json", r#"{"model_max_length": 256}"#);
        assert_eq!(described(&[network, tokenizer]).max_tokens, 256);
    }

    #[test]
    fn a_broken_description_says_nothing() {
        let found = described(&[
            ("config.json", "{"),
            ("sentence_bert_config.json", r#"{"max_seq_length": "many"}"#),
            ("1_Pooling/config.json", "[]"),
        ]);
        assert_eq!((found.pooling, found.max_tokens), (Pooling::Mean, 512));
    }

    #[test]
    fn a_folder_names_its_model() {
        for (folder, expected) in [
            ("/models/My-Model_v1.5", Some("my-model_v1.5")),
            ("/models/my model", Some("my-model")),
            ("/models/.hidden", Some("hidden")),
            ("/models/none", None),
            ("/models/模型", None),
            ("/", None),
        ] {
            assert_eq!(name(Path::new(folder)).as_deref(), expected, "{folder}");
        }
    }
}
