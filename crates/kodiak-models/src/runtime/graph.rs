//! The graph of a model: loading it with `rten`, feeding it tokens and reading
//! its output.
//!
//! Each text runs alone. Running one text on several threads costs more CPU
//! than it saves if there are other texts to run, so the caller says whether it
//! waits for this one.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rten::{
    Dimension, Model, ModelOptions, NodeId, RunError, RunOptions, ThreadPool, Value, ValueOrView,
};
use rten_tensor::Layout;

use super::{Cores, Tokens, wire};
use crate::priority::with_low_priority;

/// The output of a model for one text or pair.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// The size of each axis. The first is the batch, which is one.
    pub shape: Vec<usize>,
    /// All numbers, with the last axis varying fastest.
    pub values: Vec<f32>,
}

/// An input of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Input {
    TokenIds,
    AttentionMask,
    TokenTypes,
}

/// Thread pools of one thread each.
type Pools = Mutex<Vec<Arc<ThreadPool>>>;

/// A graph that is ready to run, from any number of threads at once.
pub(super) struct Graph {
    model: Model,
    inputs: Vec<(NodeId, Input)>,
    output: NodeId,
    /// Idle thread pools of one thread each.
    idle: Pools,
    /// Those whose threads have a low priority.
    idle_spare: Pools,
}

impl Graph {
    /// Loads an ONNX file and picks the first of `wanted` among its outputs.
    pub(super) fn load(file: &Path, wanted: &[&str]) -> Result<Self, String> {
        wire::check(file)?;
        // Packing the weights makes loading a few milliseconds slower. The
        // first run gains back about half of that, and every later run as much
        // again.
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
        let output = wanted
            .iter()
            .find_map(|&wanted| outputs.iter().find(|&&node| name(node) == wanted))
            .or(outputs.first())
            .copied()
            .ok_or_else(|| "it has no output".to_owned())?;
        Ok(Self {
            model,
            inputs,
            output,
            idle: Mutex::default(),
            idle_spare: Mutex::default(),
        })
    }

    /// Returns the name of the output.
    pub(super) fn output_name(&self) -> &str {
        let info = self.model.node_info(self.output);
        info.and_then(|info| info.name()).unwrap_or_default()
    }

    /// Returns the size of the output's last axis, if the graph declares it.
    pub(super) fn output_width(&self) -> Option<usize> {
        let shape = self.model.node_info(self.output)?.shape()?;
        match shape.last() {
            Some(Dimension::Fixed(width)) => Some(*width),
            _ => None,
        }
    }

    /// Runs the graph on the tokens of one text or pair.
    pub(super) fn run(&self, tokens: &Tokens, cores: Cores) -> Result<Output, String> {
        let mut inputs: Vec<(NodeId, ValueOrView<'_>)> = Vec::with_capacity(self.inputs.len());
        for &(node, input) in &self.inputs {
            let numbers = match input {
                Input::TokenIds => tokens.ids(),
                Input::AttentionMask => tokens.attention_mask(),
                Input::TokenTypes => tokens.type_ids(),
            };
            let numbers: Vec<i32> = numbers.iter().map(|&number| number as i32).collect();
            let value = Value::from_shape([1, numbers.len()], numbers)
                .map_err(|error| error.to_string())?;
            inputs.push((node, value.into()));
        }
        let [value] = match cores {
            Cores::All => self.model.run_n(inputs, [self.output], None),
            Cores::One => self.run_alone(inputs, &self.idle, one_thread),
            Cores::Spare => {
                self.run_alone(inputs, &self.idle_spare, || with_low_priority(one_thread))
            }
        }
        .map_err(|error| error.to_string())?;
        read(value)
    }

    /// Runs the graph on an idle pool or a new one. Runs that shared a pool would wait
    /// for each other.
    fn run_alone(
        &self,
        inputs: Vec<(NodeId, ValueOrView<'_>)>,
        idle: &Pools,
        new: impl FnOnce() -> ThreadPool,
    ) -> Result<[Value; 1], RunError> {
        let taken = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let pool = taken.unwrap_or_else(|| Arc::new(new()));
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(&pool)));
        let result = self.model.run_n(inputs, [self.output], Some(options));
        idle.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(pool);
        result
    }

    /// Returns the largest number of simultaneous runs so far. Only valid while
    /// none is running.
    #[cfg(test)]
    pub(super) fn most_runs_at_once(&self) -> usize {
        self.idle_spare
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .len()
    }
}

fn one_thread() -> ThreadPool {
    ThreadPool::with_num_threads(1)
}

/// Takes the numbers out of an output.
fn read(value: Value) -> Result<Output, String> {
    let Value::FloatTensor(tensor) = value else {
        return Err("its output is not of floating point".to_owned());
    };
    Ok(Output {
        shape: tensor.shape().to_vec(),
        values: tensor.into_data(),
    })
}
