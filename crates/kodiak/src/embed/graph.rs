//! A model's graph: loaded by `rten`, fed with tokens, read out again.
//!
//! Each text runs alone and on one thread: sharing a run among threads costs
//! more CPU than it saves where there are other texts to run. Only a query,
//! which somebody waits for, gets all cores.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rten::{Dimension, Model, ModelOptions, NodeId, RunOptions, ThreadPool, Value, ValueOrView};
use rten_tensor::Layout;
use tokenizers::Encoding;

use super::pooling::Output;
use super::{Role, wire};

/// The outputs taken, the first there is: those with a vector for each token
/// come before what the model made of them, because how to pool is a setting.
const OUTPUTS: [&str; 3] = [
    "last_hidden_state",
    "token_embeddings",
    "sentence_embedding",
];

/// What a graph can be fed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Input {
    TokenIds,
    AttentionMask,
    TokenTypes,
}

/// A graph that is ready to run, from any number of threads at once.
pub(super) struct Graph {
    model: Model,
    inputs: Vec<(NodeId, Input)>,
    output: NodeId,
    /// Pools of one thread that no run uses at the moment.
    idle: Mutex<Vec<Arc<ThreadPool>>>,
}

impl Graph {
    /// Loads an ONNX file whose vectors are `dimensions` long.
    pub(super) fn load(file: &Path, dimensions: usize) -> Result<Self, String> {
        wire::check(file)?;
        // Packing the weights makes loading some milliseconds longer, of which the
        // first run gives about half back, and every later one as much again.
        let model = ModelOptions::with_all_ops()
            .prepack_weights(true)
            .load_file(file)
            .map_err(|error| error.to_string())?;
        let name = |node: NodeId| {
            let name = model.node_info(node).and_then(|info| info.name());
            name.unwrap_or("without a name")
        };
        let mut inputs = Vec::new();
        for &node in model.input_ids() {
            let input = match name(node) {
                "input_ids" => Input::TokenIds,
                "attention_mask" => Input::AttentionMask,
                "token_type_ids" => Input::TokenTypes,
                other => return Err(format!("it asks for an input '{other}', which is unknown")),
            };
            inputs.push((node, input));
        }
        if !inputs.iter().any(|&(_, input)| input == Input::TokenIds) {
            return Err("it has no input 'input_ids'".to_owned());
        }
        let outputs = model.output_ids();
        let output = OUTPUTS
            .iter()
            .find_map(|&known| outputs.iter().find(|&&node| name(node) == known))
            .or(outputs.first())
            .copied()
            .ok_or_else(|| "it has no output".to_owned())?;
        let shape = model.node_info(output).and_then(|info| info.shape());
        if let Some(Dimension::Fixed(found)) = shape.as_ref().and_then(|shape| shape.last())
            && *found != dimensions
        {
            return Err(format!(
                "its vectors have {found} numbers instead of {dimensions}"
            ));
        }
        Ok(Self {
            model,
            inputs,
            output,
            idle: Mutex::default(),
        })
    }

    /// Runs the graph on the tokens of one text.
    pub(super) fn run(&self, tokens: &Encoding, role: Role) -> Result<Output, String> {
        let mut inputs: Vec<(NodeId, ValueOrView<'_>)> = Vec::with_capacity(self.inputs.len());
        for &(node, input) in &self.inputs {
            let numbers = match input {
                Input::TokenIds => tokens.get_ids(),
                Input::AttentionMask => tokens.get_attention_mask(),
                Input::TokenTypes => tokens.get_type_ids(),
            };
            let numbers: Vec<i32> = numbers.iter().map(|&number| number as i32).collect();
            let value = Value::from_shape([1, numbers.len()], numbers)
                .map_err(|error| error.to_string())?;
            inputs.push((node, value.into()));
        }
        let [value] = match role {
            Role::Query => self.model.run_n(inputs, [self.output], None),
            Role::Document => {
                let pool = self.take_pool();
                let options = RunOptions::default().with_thread_pool(Some(Arc::clone(&pool)));
                let result = self.model.run_n(inputs, [self.output], Some(options));
                self.idle
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(pool);
                result
            }
        }
        .map_err(|error| error.to_string())?;
        read(value)
    }

    /// A pool for one run: runs that shared one would wait for each other.
    fn take_pool(&self) -> Arc<ThreadPool> {
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop()
            .unwrap_or_else(|| Arc::new(ThreadPool::with_num_threads(1)))
    }

    /// How many runs there have been at once, as long as none is under way.
    #[cfg(test)]
    pub(super) fn most_runs_at_once(&self) -> usize {
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .len()
    }
}

/// The numbers of an output with one text in it.
fn read(value: Value) -> Result<Output, String> {
    let Value::FloatTensor(tensor) = value else {
        return Err("its output is not of floating point".to_owned());
    };
    let shape: Vec<usize> = tensor.shape().to_vec();
    let values = tensor.into_data();
    match shape[..] {
        [1, _, width] => Ok(Output::Tokens { values, width }),
        [1, _] => Ok(Output::Text(values)),
        _ => Err(format!("its output has the shape {shape:?}")),
    }
}
