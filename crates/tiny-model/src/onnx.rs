//! Describes the graphs. The encoder only looks up the vector of each token; the
//! cross-encoder compares the vector sums of two texts.

use onnx_writer::{Element, Graph, Size, Version};

use crate::{Output, Recipe};

/// The version of ONNX: the first in which `Unsqueeze` and `ReduceSum` take their
/// axes as an input.
const VERSION: Version = Version {
    format: 7,
    operators: 13,
};
/// The program that a file names as its writer.
const PRODUCER: &str = "tiny-model";
/// The axes of inputs that have a number for each token.
const PER_TOKEN: [Size; 2] = [Size::Named("batch"), Size::Named("sequence")];

/// Returns the bytes of `model.onnx`. `table` contains the vectors of all tokens,
/// one after the other.
pub(crate) fn model(recipe: &Recipe, table: &[f32]) -> Vec<u8> {
    let width = recipe.dimensions;
    let mut graph = Graph::new(&recipe.name);
    look_up(&mut graph);
    let mut tokens = "masked";
    if recipe.token_types {
        graph.node("Gather", &["types", "token_type_ids"], "of_types");
        graph.node("Add", &["masked", "of_types"], "with_types");
        tokens = "with_types";
    }
    let [batch, sequence] = PER_TOKEN;
    let vector = Size::Is(width);
    match recipe.output {
        Output::Tokens => {
            graph.node("Identity", &[tokens], "last_hidden_state");
            let shape = [batch, sequence, vector];
            graph.output("last_hidden_state", Element::Float, &shape);
        }
        Output::Text => {
            graph.node("ReduceSum", &[tokens, "token_axis"], "summed");
            let inputs = ["summed", "token_axis"];
            graph.node("Squeeze", &inputs, "sentence_embedding");
            graph.output("sentence_embedding", Element::Float, &[batch, vector]);
        }
    }
    weights(&mut graph, table, width);
    if recipe.output == Output::Text {
        graph.integers("token_axis", &[1]);
    }
    let mut inputs = vec!["input_ids", "attention_mask"];
    if recipe.token_types {
        // The tokens of a single text have type 0, which adds nothing.
        graph.floats("types", &[2, width], &vec![0.0; 2 * width]);
        inputs.push("token_type_ids");
    }
    for input in inputs {
        graph.input(input, Element::Int64, &PER_TOKEN);
    }
    graph.into_file(PRODUCER, VERSION)
}

/// Returns the bytes of a cross-encoder's `model.onnx`. It computes the dot
/// product of the two texts' vector sums.
pub(crate) fn cross_encoder(recipe: &Recipe, table: &[f32]) -> Vec<u8> {
    let width = recipe.dimensions;
    let mut graph = Graph::new("tiny-cross-encoder");
    look_up(&mut graph);
    // The type of a token is 0 in the first text and 1 in the second.
    graph.cast("token_type_ids", Element::Float, "is_right");
    graph.node("Unsqueeze", &["is_right", "last_axis"], "right_of_tokens");
    graph.node("Mul", &["masked", "right_of_tokens"], "right_tokens");
    graph.node("Sub", &["masked", "right_tokens"], "left_tokens");
    graph.node("ReduceSum", &["left_tokens", "token_axis"], "left");
    graph.node("ReduceSum", &["right_tokens", "token_axis"], "right");
    graph.node("Mul", &["left", "right"], "products");
    graph.node("ReduceSum", &["products", "last_axis"], "summed");
    graph.node("Squeeze", &["summed", "token_axis"], "logits");
    weights(&mut graph, table, width);
    graph.integers("token_axis", &[1]);
    for input in ["input_ids", "attention_mask", "token_type_ids"] {
        graph.input(input, Element::Int64, &PER_TOKEN);
    }
    let [batch, _] = PER_TOKEN;
    graph.output("logits", Element::Float, &[batch, Size::Is(1)]);
    let left = [batch, Size::Is(1), Size::Is(width)];
    graph.output("left", Element::Float, &left);
    graph.into_file(PRODUCER, VERSION)
}

/// Adds the nodes that look up the vector of each token, as `masked`.
fn look_up(graph: &mut Graph) {
    graph.node("Gather", &["words", "input_ids"], "looked_up");
    graph.cast("attention_mask", Element::Float, "mask");
    graph.node("Unsqueeze", &["mask", "last_axis"], "mask_of_tokens");
    graph.node("Mul", &["looked_up", "mask_of_tokens"], "masked");
}

/// Adds the vectors of all tokens and the number of their axis.
fn weights(graph: &mut Graph, table: &[f32], width: usize) {
    graph.floats("words", &[table.len() / width, width], table);
    graph.integers("last_axis", &[-1]);
}
