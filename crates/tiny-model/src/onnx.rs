//! Writes the graphs as ONNX files. The encoder only looks up the vector of each
//! token; the cross-encoder compares the vector sums of two texts.

use crate::protobuf::Message;
use crate::{Output, Recipe};

/// ONNX's numbers for element types.
const FLOAT: i64 = 1;
const INT64: i64 = 7;
/// ONNX's number for attributes that are one integer, or several.
const INTEGER_ATTRIBUTE: i64 = 2;
/// The version of the operators: the first in which `Unsqueeze` and `ReduceSum`
/// take their axes as an input.
const OPERATOR_SET: i64 = 13;
/// The version of the file format that belongs to [`OPERATOR_SET`].
const FORMAT: i64 = 7;

/// Returns the bytes of `model.onnx`. `table` contains the vectors of all tokens,
/// one after the other.
pub(crate) fn model(recipe: &Recipe, table: &[f32]) -> Vec<u8> {
    let width = recipe.dimensions;
    let mut graph = Message::default().text(2, &recipe.name);
    let mut nodes = vec![
        node("Gather", &["words", "input_ids"], "looked_up"),
        cast_to_float("attention_mask", "mask"),
        node("Unsqueeze", &["mask", "last_axis"], "mask_of_tokens"),
        node("Mul", &["looked_up", "mask_of_tokens"], "masked"),
    ];
    let mut tokens = "masked";
    if recipe.token_types {
        nodes.push(node("Gather", &["types", "token_type_ids"], "of_types"));
        nodes.push(node("Add", &["masked", "of_types"], "with_types"));
        tokens = "with_types";
    }
    let (name, rank) = match recipe.output {
        Output::Tokens => {
            nodes.push(node("Identity", &[tokens], "last_hidden_state"));
            ("last_hidden_state", 3)
        }
        Output::Text => {
            nodes.push(node("ReduceSum", &[tokens, "token_axis"], "summed"));
            nodes.push(node(
                "Squeeze",
                &["summed", "token_axis"],
                "sentence_embedding",
            ));
            ("sentence_embedding", 2)
        }
    };
    for node in &nodes {
        graph = graph.message(1, node);
    }
    let words = (table.len() / width) as i64;
    graph = graph
        .message(5, &floats("words", &[words, width as i64], table))
        .message(5, &integers("last_axis", &[-1]));
    if recipe.output == Output::Text {
        graph = graph.message(5, &integers("token_axis", &[1]));
    }
    if recipe.token_types {
        // The tokens of a single text have type 0, which adds nothing.
        graph = graph.message(
            5,
            &floats("types", &[2, width as i64], &vec![0.0; 2 * width]),
        );
    }
    let per_token = [Size::Named("batch"), Size::Named("sequence")];
    let mut inputs = vec!["input_ids", "attention_mask"];
    if recipe.token_types {
        inputs.push("token_type_ids");
    }
    for input in inputs {
        graph = graph.message(11, &value(input, INT64, &per_token));
    }
    let output = [
        Size::Named("batch"),
        Size::Named("sequence"),
        Size::Is(width),
    ];
    let output = if rank == 3 {
        &output[..]
    } else {
        &[output[0], output[2]]
    };
    graph = graph.message(12, &value(name, FLOAT, output));
    file(&graph)
}

/// Returns the bytes of a cross-encoder's `model.onnx`. It computes the dot
/// product of the two texts' vector sums.
pub(crate) fn cross_encoder(recipe: &Recipe, table: &[f32]) -> Vec<u8> {
    let width = recipe.dimensions;
    let nodes = [
        node("Gather", &["words", "input_ids"], "looked_up"),
        cast_to_float("attention_mask", "mask"),
        node("Unsqueeze", &["mask", "last_axis"], "mask_of_tokens"),
        node("Mul", &["looked_up", "mask_of_tokens"], "masked"),
        // The type of a token is 0 in the first text and 1 in the second.
        cast_to_float("token_type_ids", "is_right"),
        node("Unsqueeze", &["is_right", "last_axis"], "right_of_tokens"),
        node("Mul", &["masked", "right_of_tokens"], "right_tokens"),
        node("Sub", &["masked", "right_tokens"], "left_tokens"),
        node("ReduceSum", &["left_tokens", "token_axis"], "left"),
        node("ReduceSum", &["right_tokens", "token_axis"], "right"),
        node("Mul", &["left", "right"], "products"),
        node("ReduceSum", &["products", "last_axis"], "summed"),
        node("Squeeze", &["summed", "token_axis"], "logits"),
    ];
    let mut graph = Message::default().text(2, "tiny-cross-encoder");
    for node in &nodes {
        graph = graph.message(1, node);
    }
    let words = (table.len() / width) as i64;
    graph = graph
        .message(5, &floats("words", &[words, width as i64], table))
        .message(5, &integers("last_axis", &[-1]))
        .message(5, &integers("token_axis", &[1]));
    let per_token = [Size::Named("batch"), Size::Named("sequence")];
    for input in ["input_ids", "attention_mask", "token_type_ids"] {
        graph = graph.message(11, &value(input, INT64, &per_token));
    }
    let logits = [Size::Named("batch"), Size::Is(1)];
    let left = [Size::Named("batch"), Size::Is(1), Size::Is(width)];
    graph = graph
        .message(12, &value("logits", FLOAT, &logits))
        .message(12, &value("left", FLOAT, &left));
    file(&graph)
}

/// Returns a whole file with a graph.
fn file(graph: &Message) -> Vec<u8> {
    Message::default()
        .number(1, FORMAT)
        .text(2, "tiny-model")
        .message(7, graph)
        .message(8, &Message::default().text(1, "").number(2, OPERATOR_SET))
        .into_bytes()
}

fn node(operator: &str, inputs: &[&str], output: &str) -> Message {
    let node = inputs
        .iter()
        .fold(Message::default(), |node, input| node.text(1, input));
    node.text(2, output).text(3, output).text(4, operator)
}

fn cast_to_float(input: &str, output: &str) -> Message {
    let to = Message::default()
        .text(1, "to")
        .number(3, FLOAT)
        .number(20, INTEGER_ATTRIBUTE);
    node("Cast", &[input], output).message(5, &to)
}

fn floats(name: &str, shape: &[i64], values: &[f32]) -> Message {
    let bytes: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    tensor(name, FLOAT, shape, &bytes)
}

fn integers(name: &str, values: &[i64]) -> Message {
    let bytes: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    tensor(name, INT64, &[values.len() as i64], &bytes)
}

fn tensor(name: &str, element: i64, shape: &[i64], bytes: &[u8]) -> Message {
    let tensor = shape
        .iter()
        .fold(Message::default(), |tensor, &size| tensor.number(1, size));
    tensor.number(2, element).text(8, name).bytes(9, bytes)
}

/// Returns one dimension of a shape.
#[derive(Clone, Copy, Debug)]
enum Size {
    Is(usize),
    Named(&'static str),
}

fn value(name: &str, element: i64, shape: &[Size]) -> Message {
    let shape = shape.iter().fold(Message::default(), |shape, size| {
        let size = match *size {
            Size::Is(size) => Message::default().number(1, size as i64),
            Size::Named(name) => Message::default().text(2, name),
        };
        shape.message(1, &size)
    });
    let tensor = Message::default().number(1, element).message(2, &shape);
    let kind = Message::default().message(1, &tensor);
    Message::default().text(1, name).message(2, &kind)
}
