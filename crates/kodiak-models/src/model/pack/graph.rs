//! Writing the network of a pack as an ONNX graph.
//!
//! The network is BERT's: tokens look up vectors, and in each layer every token attends to
//! all others and then passes through two matrices. The vector of the first token is the
//! vector of the text, so in the last layer only that one is computed, which saves a
//! seventh of the work.
//!
//! In an integer graph, matrices are bytes (`quantise`), and their other factor is rounded
//! to bytes while the graph runs. Before the two matrices at the end of a layer, some
//! tokens are thirty times as large as others, the first one most of all: there, each token
//! is rounded by its own range. Elsewhere one range for all tokens is as good, and cheaper.

use onnx_writer::{Attribute, Element, Graph, Size, Version};

use super::Precision;
use super::quantise;
use super::read::Pack;

/// The version of ONNX: the first that has the operator `Gelu`.
const VERSION: Version = Version {
    format: 9,
    operators: 20,
};
/// The program that a file names as its writer.
const PRODUCER: &str = "kodiak";
/// The value added to the attention to a padding token.
const MASKED: f32 = -1e9;
/// The bytes on either side of zero that a rounded token uses.
const HALF: f32 = 127.0;
/// The byte that stands for zero in a rounded token.
const ZERO: u8 = 128;
/// The smallest range of a token, so that one of zeros is not divided by zero.
const SMALLEST_RANGE: f32 = 1e-6;
/// The smallest range of the values of `Gelu`, which are never below its negative.
const SMALLEST_ACTIVE: f32 = 0.17;

/// The tokens that share one range when they are rounded to bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Range {
    AllTokens,
    EachToken,
    /// Each token, where the numbers come from `Gelu`: the largest tells the range.
    EachActive,
}

/// The vectors of the tokens, ready to be multiplied with matrices.
#[derive(Clone, Debug)]
enum Factor {
    /// A tensor of floats.
    Floats(String),
    /// A tensor of bytes, the byte that stands for zero, and the value of a 1: in all
    /// tokens, or in each.
    Bytes {
        bytes: String,
        zero: String,
        scale: String,
        range: Range,
    },
}

/// A matrix and the bias added to its products.
struct Linear<'a> {
    name: &'a str,
    /// One row of this for each output, as packs have it.
    matrix: &'a [f32],
    bias: &'a [f32],
}

/// Returns the bytes of the ONNX file.
pub(super) fn write(pack: &Pack<'_>, precision: Precision) -> Result<Vec<u8>, String> {
    let mut writer = Writer {
        pack,
        precision,
        graph: Graph::new(&pack.name),
    };
    writer.constants();
    writer.mask();
    let mut hidden = writer.embeddings()?;
    for layer in 0..pack.sizes.layers {
        hidden = writer.layer(layer, &hidden)?;
    }
    let mut graph = writer.graph;
    graph.node("Squeeze", &[&hidden, "token_axis"], "sentence_embedding");
    let (batch, sequence) = (Size::Named("batch"), Size::Named("sequence"));
    for input in ["input_ids", "attention_mask"] {
        graph.input(input, Element::Int64, &[batch, sequence]);
    }
    let vector = [batch, Size::Is(pack.sizes.hidden)];
    graph.output("sentence_embedding", Element::Float, &vector);
    Ok(graph.into_file(PRODUCER, VERSION))
}

struct Writer<'a> {
    pack: &'a Pack<'a>,
    precision: Precision,
    graph: Graph,
}

impl Writer<'_> {
    /// Adds the constants that several nodes use.
    fn constants(&mut self) {
        let sizes = &self.pack.sizes;
        let heads = sizes.heads as i64;
        let hidden = sizes.hidden as i64;
        let graph = &mut self.graph;
        graph.integers("token_axis", &[1]);
        graph.integers("last_axis", &[-1]);
        graph.integers("first", &[0]);
        graph.integers("second", &[1]);
        // A 0 keeps the size of the batch or of the sequence.
        graph.integers("shape_of_heads", &[0, 0, heads, hidden / heads]);
        graph.integers("shape_of_tokens", &[0, 0, hidden]);
        graph.integers("halves", &[hidden, hidden]);
        if self.precision == Precision::Integer {
            graph.floats("unit", &[], &[1.0 / HALF]);
            graph.tensor("zero", Element::UInt8, &[], &[ZERO]);
            graph.floats("smallest_range", &[], &[SMALLEST_RANGE]);
            graph.floats("smallest_active", &[], &[SMALLEST_ACTIVE]);
        }
    }

    /// Adds the mask that keeps tokens from attending to padding.
    fn mask(&mut self) {
        let graph = &mut self.graph;
        graph.floats("one", &[], &[1.0]);
        graph.floats("masked", &[], &[MASKED]);
        graph.integers("axes_of_heads", &[1, 2]);
        graph.cast("attention_mask", Element::Float, "counts");
        graph.node("Sub", &["one", "counts"], "padding");
        graph.node("Mul", &["padding", "masked"], "mask_of_tokens");
        graph.node("Unsqueeze", &["mask_of_tokens", "axes_of_heads"], "mask");
    }

    /// Adds the vectors that the tokens start with, and returns their name.
    fn embeddings(&mut self) -> Result<String, String> {
        let sizes = &self.pack.sizes;
        let words = self.pack.groups("word_emb")?;
        if !sizes.hidden.is_multiple_of(words.size) {
            return Err("the groups of its words do not fit their vectors".to_owned());
        }
        let groups = sizes.hidden / words.size;
        let scales: Vec<f32> = words.scales().collect();
        // Tokens of a single text have the type 0.
        let types = self.pack.numbers("type_emb")?;
        let mut positions = self.pack.numbers("pos_emb")?;
        for vector in positions.chunks_exact_mut(sizes.hidden) {
            for (number, of_type) in vector.iter_mut().zip(&types) {
                *number += of_type;
            }
        }

        let graph = &mut self.graph;
        let shape = [sizes.vocabulary, sizes.hidden];
        graph.tensor("words", Element::Int8, &shape, words.values);
        graph.floats("scales_of_words", &[sizes.vocabulary, groups], &scales);
        graph.floats("positions", &[sizes.positions, sizes.hidden], &positions);
        let shape = [0, 0, groups as i64, words.size as i64];
        graph.integers("shape_of_groups", &shape);
        graph.node("Gather", &["words", "input_ids"], "word_bytes");
        graph.cast("word_bytes", Element::Float, "word_floats");
        graph.node(
            "Reshape",
            &["word_floats", "shape_of_groups"],
            "word_groups",
        );
        graph.node("Gather", &["scales_of_words", "input_ids"], "word_scales");
        graph.node("Unsqueeze", &["word_scales", "last_axis"], "group_scales");
        graph.node("Mul", &["word_groups", "group_scales"], "scaled_groups");
        graph.node("Reshape", &["scaled_groups", "shape_of_tokens"], "of_words");

        // Positions count the tokens that are not padding, which has the one
        // before the first.
        graph.integers("before_first", &[sizes.first_position as i64 - 1]);
        graph.node("CumSum", &["attention_mask", "second"], "number_of_token");
        graph.node("Mul", &["number_of_token", "attention_mask"], "from_one");
        graph.node("Add", &["from_one", "before_first"], "position");
        graph.node("Gather", &["positions", "position"], "of_positions");
        graph.node("Add", &["of_words", "of_positions"], "summed");
        self.normalised("summed", "emb_ln")
    }

    /// Adds a layer over the vectors named `hidden`, and returns the name of the
    /// new ones.
    fn layer(&mut self, layer: usize, hidden: &str) -> Result<String, String> {
        let of = |part: &str| format!("l{layer}.{part}");
        let width = self.pack.sizes.hidden;
        let everything = self.factor(hidden, Range::AllTokens);
        let (wanted, wanted_factor) = if layer + 1 == self.pack.sizes.layers {
            let first = of("first");
            let inputs = [hidden, "first", "second", "token_axis"];
            self.graph.node("Slice", &inputs, &first);
            let factor = self.factor(&first, Range::AllTokens);
            (first, factor)
        } else {
            (hidden.to_owned(), everything.clone())
        };

        // The first third of the rows are queries. Dividing them here saves
        // dividing every attention.
        let mut matrix = self.pack.numbers(&of("qkv.w"))?;
        let mut bias = self.pack.numbers(&of("qkv.b"))?;
        let divisor = ((width / self.pack.sizes.heads) as f32).sqrt();
        let queries = matrix[..width * width].iter_mut();
        for number in queries.chain(&mut bias[..width]) {
            *number /= divisor;
        }
        let queries = Linear {
            name: &of("q"),
            matrix: &matrix[..width * width],
            bias: &bias[..width],
        };
        let queries = self.linear(&queries, &wanted_factor);
        let others = Linear {
            name: &of("kv"),
            matrix: &matrix[width * width..],
            bias: &bias[width..],
        };
        let others = self.linear(&others, &everything);
        let (keys, values) = (of("k"), of("v"));
        let last = [("axis", Attribute::Integer(-1))];
        self.graph
            .node_with("Split", &[&others, "halves"], &[&keys, &values], &last);
        let attended = self.attention(&of("attention"), &queries, &keys, &values);

        let attended = self.factor(&attended, Range::AllTokens);
        let attended = self.matrix_of_pack(&of("ao"), &attended)?;
        let summed = of("attended");
        self.graph.node("Add", &[&attended, &wanted], &summed);
        let hidden = self.normalised(&summed, &of("aln"))?;

        let factor = self.factor(&hidden, Range::EachToken);
        let wide = self.matrix_of_pack(&of("f1"), &factor)?;
        let active = of("gelu");
        self.graph.node("Gelu", &[&wide], &active);
        let factor = self.factor(&active, Range::EachActive);
        let narrow = self.matrix_of_pack(&of("f2"), &factor)?;
        let summed = of("passed");
        self.graph.node("Add", &[&narrow, &hidden], &summed);
        self.normalised(&summed, &of("fln"))
    }

    /// Adds the attention of queries to keys, and returns the name of the
    /// weighted values.
    fn attention(&mut self, name: &str, queries: &str, keys: &str, values: &str) -> String {
        let of = |part: &str| format!("{name}.{part}");
        let graph = &mut self.graph;
        let mut heads = |tensor: &str, order: [i64; 4]| {
            let (parts, turned) = (format!("{tensor}.parts"), format!("{tensor}.heads"));
            graph.node("Reshape", &[tensor, "shape_of_heads"], &parts);
            let order = [("perm", Attribute::Integers(&order))];
            graph.node_with("Transpose", &[&parts], &[&turned], &order);
            turned
        };
        let queries = heads(queries, [0, 2, 1, 3]);
        let keys = heads(keys, [0, 2, 3, 1]);
        let values = heads(values, [0, 2, 1, 3]);
        graph.node("MatMul", &[&queries, &keys], &of("products"));
        graph.node("Add", &[&of("products"), "mask"], &of("unmasked"));
        let last = [("axis", Attribute::Integer(-1))];
        graph.node_with("Softmax", &[&of("unmasked")], &[&of("shares")], &last);
        graph.node("MatMul", &[&of("shares"), &values], &of("heads"));
        let order = [("perm", Attribute::Integers(&[0, 2, 1, 3]))];
        graph.node_with("Transpose", &[&of("heads")], &[&of("turned")], &order);
        graph.node("Reshape", &[&of("turned"), "shape_of_tokens"], name);
        name.to_owned()
    }

    /// Adds the product with a matrix of the pack, and returns its name.
    fn matrix_of_pack(&mut self, name: &str, factor: &Factor) -> Result<String, String> {
        let matrix = self.pack.numbers(&format!("{name}.w"))?;
        let bias = self.pack.numbers(&format!("{name}.b"))?;
        let linear = Linear {
            name,
            matrix: &matrix,
            bias: &bias,
        };
        Ok(self.linear(&linear, factor))
    }

    /// Adds the product with a matrix, and returns its name.
    fn linear(&mut self, linear: &Linear<'_>, factor: &Factor) -> String {
        let of = |part: &str| format!("{}.{part}", linear.name);
        let columns = linear.bias.len();
        let rows = linear.matrix.len() / columns;
        let matrix = turned(linear.matrix, rows);
        let graph = &mut self.graph;
        match factor {
            Factor::Floats(input) => {
                graph.floats(&of("w"), &[rows, columns], &matrix);
                graph.node("MatMul", &[input, &of("w")], &of("product"));
            }
            Factor::Bytes {
                bytes,
                zero,
                scale,
                range,
            } => {
                let quantised = quantise::by_column(&matrix, columns);
                let shape = [rows, columns];
                graph.tensor(&of("w"), Element::Int8, &shape, &quantised.values);
                graph.tensor(&of("zero"), Element::Int8, &[columns], &vec![0; columns]);
                graph.floats(&of("scale"), &[columns], &quantised.scales);
                let inputs = [bytes, &of("w"), zero, &of("zero")];
                let inputs = inputs.map(String::as_str);
                graph.node("MatMulInteger", &inputs, &of("integers"));
                graph.cast(&of("integers"), Element::Float, &of("floats"));
                match range {
                    Range::AllTokens => {
                        graph.node("Mul", &[scale, &of("scale")], &of("steps"));
                        graph.node("Mul", &[&of("floats"), &of("steps")], &of("product"));
                    }
                    Range::EachToken | Range::EachActive => {
                        graph.node("Mul", &[&of("floats"), &of("scale")], &of("units"));
                        graph.node("Mul", &[&of("units"), scale], &of("product"));
                    }
                }
            }
        }
        graph.floats(&of("b"), &[columns], linear.bias);
        graph.node("Add", &[&of("product"), &of("b")], &of("sum"));
        of("sum")
    }

    /// Adds the rounding of a tensor to bytes, if the graph multiplies bytes.
    fn factor(&mut self, input: &str, range: Range) -> Factor {
        if self.precision == Precision::Float {
            return Factor::Floats(input.to_owned());
        }
        let of = |part: &str| format!("{input}.{part}");
        let graph = &mut self.graph;
        let (bytes, scale) = (of("bytes"), of("step"));
        let zero = match range {
            Range::AllTokens => {
                let outputs = [&*bytes, &scale, &of("origin")];
                graph.node_with("DynamicQuantizeLinear", &[input], &outputs, &[]);
                of("origin")
            }
            Range::EachToken | Range::EachActive => {
                let sizes = of("sizes");
                let (sizes, smallest) = if range == Range::EachToken {
                    graph.node("Abs", &[input], &sizes);
                    (&*sizes, "smallest_range")
                } else {
                    (input, "smallest_active")
                };
                graph.node("ReduceMax", &[sizes, "last_axis"], &of("largest"));
                graph.node("Max", &[&of("largest"), smallest], &of("range"));
                graph.node("Div", &[input, &of("range")], &of("shares"));
                graph.node("QuantizeLinear", &[&of("shares"), "unit", "zero"], &bytes);
                graph.node("Mul", &[&of("range"), "unit"], &scale);
                "zero".to_owned()
            }
        };
        Factor::Bytes {
            bytes,
            zero,
            scale,
            range,
        }
    }

    /// Adds a layer normalisation with weights of the pack, and returns the name
    /// of its result.
    fn normalised(&mut self, input: &str, weights: &str) -> Result<String, String> {
        let of = |part: &str| format!("{weights}.{part}");
        for part in ["w", "b"] {
            let numbers = self.pack.numbers(&of(part))?;
            self.graph.floats(&of(part), &[numbers.len()], &numbers);
        }
        let output = of("normalised");
        let attributes = [
            ("axis", Attribute::Integer(-1)),
            ("epsilon", Attribute::Float(self.pack.sizes.epsilon)),
        ];
        self.graph.node_with(
            "LayerNormalization",
            &[input, &of("w"), &of("b")],
            &[&output],
            &attributes,
        );
        Ok(output)
    }
}

/// Returns a matrix with rows and columns exchanged. `width` is the length of
/// the rows that it has.
fn turned(matrix: &[f32], width: usize) -> Vec<f32> {
    let mut turned = Vec::with_capacity(matrix.len());
    for column in 0..width {
        turned.extend(matrix.iter().skip(column).step_by(width));
    }
    turned
}
