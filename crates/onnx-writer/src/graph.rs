//! A graph under construction, and the file that it becomes.

use crate::protobuf::Message;

/// A version of ONNX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// The version of the file format.
    pub format: i64,
    /// The version of the operators.
    pub operators: i64,
}

/// The type of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// A 32-bit float.
    Float,
    /// An unsigned byte.
    UInt8,
    /// A signed byte.
    Int8,
    /// A signed 64-bit integer.
    Int64,
}

/// The size of one axis of an input or output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// It is always this.
    Is(usize),
    /// It is known when the graph runs. Axes of one name have the same size.
    Named(&'static str),
}

/// A constant that belongs to a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Attribute<'a> {
    /// A number.
    Integer(i64),
    /// Several numbers.
    Integers(&'a [i64]),
    /// A fraction.
    Float(f32),
}

/// A graph under construction. Every value has a name, unique in the graph.
#[derive(Clone, Debug)]
pub struct Graph {
    name: String,
    nodes: Vec<Message>,
    weights: Vec<Message>,
    inputs: Vec<Message>,
    outputs: Vec<Message>,
}

impl Element {
    /// Returns ONNX's number for this type.
    pub fn number(self) -> i64 {
        match self {
            Self::Float => 1,
            Self::UInt8 => 2,
            Self::Int8 => 3,
            Self::Int64 => 7,
        }
    }
}

impl Graph {
    /// Starts a graph without nodes.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            nodes: Vec::new(),
            weights: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
        }
    }

    /// Adds a node with one output. Nodes run in the order in which they are
    /// added.
    pub fn node(&mut self, operator: &str, inputs: &[&str], output: &str) {
        self.node_with(operator, inputs, &[output], &[]);
    }

    /// Adds a node with several outputs or with attributes.
    pub fn node_with(
        &mut self,
        operator: &str,
        inputs: &[&str],
        outputs: &[&str],
        attributes: &[(&str, Attribute<'_>)],
    ) {
        let texts = |message: Message, field, texts: &[&str]| {
            let add = |message: Message, text: &&str| message.text(field, text);
            texts.iter().fold(message, add)
        };
        let mut node = texts(Message::default(), 1, inputs);
        node = texts(node, 2, outputs);
        node = node.text(3, outputs.first().unwrap_or(&operator));
        node = node.text(4, operator);
        for (name, value) in attributes {
            node = node.message(5, &attribute(name, *value));
        }
        self.nodes.push(node);
    }

    /// Adds a node that changes the type of a tensor's elements.
    pub fn cast(&mut self, input: &str, to: Element, output: &str) {
        let to = [("to", Attribute::Integer(to.number()))];
        self.node_with("Cast", &[input], &[output], &to);
    }

    /// Adds weights. A tensor without axes holds one number.
    pub fn floats(&mut self, name: &str, shape: &[usize], values: &[f32]) {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes());
        self.tensor(name, Element::Float, shape, &bytes.collect::<Vec<u8>>());
    }

    /// Adds a list of numbers, such as axes or a shape.
    pub fn integers(&mut self, name: &str, values: &[i64]) {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes());
        let bytes: Vec<u8> = bytes.collect();
        self.tensor(name, Element::Int64, &[values.len()], &bytes);
    }

    /// Adds a tensor whose elements are given as little-endian bytes.
    pub fn tensor(&mut self, name: &str, element: Element, shape: &[usize], bytes: &[u8]) {
        let add = |tensor: Message, &size: &usize| tensor.number(1, size as i64);
        let tensor = shape.iter().fold(Message::default(), add);
        let tensor = tensor.number(2, element.number());
        self.weights.push(tensor.text(8, name).bytes(9, bytes));
    }

    /// Adds an input.
    pub fn input(&mut self, name: &str, element: Element, shape: &[Size]) {
        self.inputs.push(value(name, element, shape));
    }

    /// Adds an output.
    pub fn output(&mut self, name: &str, element: Element, shape: &[Size]) {
        self.outputs.push(value(name, element, shape));
    }

    /// Returns the bytes of the file. `producer` names the program that wrote it.
    pub fn into_file(self, producer: &str, version: Version) -> Vec<u8> {
        let mut graph = Message::default().text(2, &self.name);
        let parts = [
            (1, self.nodes),
            (5, self.weights),
            (11, self.inputs),
            (12, self.outputs),
        ];
        for (field, messages) in parts {
            for message in messages {
                graph = graph.message(field, &message);
            }
        }
        let operators = Message::default().text(1, "").number(2, version.operators);
        Message::default()
            .number(1, version.format)
            .text(2, producer)
            .message(7, &graph)
            .message(8, &operators)
            .into_bytes()
    }
}

fn attribute(name: &str, value: Attribute<'_>) -> Message {
    /// ONNX's numbers for the types of attributes.
    const FLOAT: i64 = 1;
    const INTEGER: i64 = 2;
    const INTEGERS: i64 = 7;
    let message = Message::default().text(1, name);
    match value {
        Attribute::Float(value) => message.float(2, value).number(20, FLOAT),
        Attribute::Integer(value) => message.number(3, value).number(20, INTEGER),
        Attribute::Integers(values) => {
            let add = |message: Message, &value: &i64| message.number(8, value);
            values.iter().fold(message, add).number(20, INTEGERS)
        }
    }
}

fn value(name: &str, element: Element, shape: &[Size]) -> Message {
    let shape = shape.iter().fold(Message::default(), |shape, size| {
        let size = match *size {
            Size::Is(size) => Message::default().number(1, size as i64),
            Size::Named(name) => Message::default().text(2, name),
        };
        shape.message(1, &size)
    });
    let tensor = Message::default()
        .number(1, element.number())
        .message(2, &shape);
    let kind = Message::default().message(1, &tensor);
    Message::default().text(1, name).message(2, &kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERSION: Version = Version {
        format: 7,
        operators: 13,
    };

    fn graph() -> Graph {
        let mut graph = Graph::new("doubled");
        graph.node("Add", &["number", "number"], "sum");
        graph.floats("unused", &[1], &[1.0]);
        graph.input("number", Element::Float, &[Size::Named("count")]);
        graph.output("sum", Element::Float, &[Size::Is(3)]);
        graph
    }

    #[test]
    fn equal_graphs_are_equal_bytes() {
        let bytes = graph().into_file("test", VERSION);
        assert_eq!(bytes, graph().into_file("test", VERSION));
        // The format's version, the producer, then the graph.
        assert_eq!(bytes[..9], [8, 7, 0x12, 4, b't', b'e', b's', b't', 0x3a]);
        let mut other = graph();
        other.integers("axes", &[-1]);
        assert_ne!(bytes, other.into_file("test", VERSION));
    }

    #[test]
    fn attributes_are_written_with_their_types() {
        let float = attribute("epsilon", Attribute::Float(1.0)).into_bytes();
        assert_eq!(float[9..], [0x15, 0, 0, 0x80, 0x3f, 0xa0, 1, 1]);
        let several = attribute("perm", Attribute::Integers(&[0, 2])).into_bytes();
        assert_eq!(several[6..], [0x40, 0, 0x40, 2, 0xa0, 1, 7]);
    }
}
