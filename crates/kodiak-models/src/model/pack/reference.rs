//! A second implementation of the network, for tests: plain loops over plain
//! numbers, written without a look at the graph. It also makes packs with random
//! weights.

use std::collections::BTreeMap;
use std::f64::consts::SQRT_2;

use serde_json::{Value, json};

/// A network with random weights.
pub(in crate::model) struct Network {
    pub(in crate::model) hidden: usize,
    pub(in crate::model) layers: usize,
    pub(in crate::model) heads: usize,
    pub(in crate::model) intermediate: usize,
    pub(in crate::model) vocabulary: usize,
    pub(in crate::model) positions: usize,
    pub(in crate::model) group: usize,
}

/// A pack in parts, which tests can change before they put it together.
pub(in crate::model) struct Parts {
    pub(in crate::model) header: Value,
    pub(in crate::model) tokenizer: Vec<u8>,
    pub(in crate::model) tensors: Vec<u8>,
    /// The numbers that the tensors stand for.
    numbers: BTreeMap<String, Vec<f64>>,
}

impl Parts {
    /// Returns the bytes of the pack.
    pub(in crate::model) fn bytes(&self) -> Vec<u8> {
        let header = self.header.to_string();
        let mut bytes = b"HMSEMB01".to_vec();
        bytes.extend((header.len() as u64).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(&self.tokenizer);
        bytes.extend(&self.tensors);
        bytes
    }
}

impl Network {
    /// Makes a pack with random weights.
    pub(in crate::model) fn pack(&self, tokenizer: Vec<u8>) -> Parts {
        let mut random = Random(1);
        let mut described = Vec::new();
        let mut tensors = Vec::new();
        let mut numbers = BTreeMap::new();
        let mut add = |name: String, shape: &[usize], in_bytes: bool, around: f32| {
            let count = shape.iter().product();
            let start = tensors.len();
            let mut own: Vec<f64> = Vec::with_capacity(count);
            if in_bytes {
                let values: Vec<i8> = (0..count).map(|_| (random.next() * 127.0) as i8).collect();
                let groups = values.chunks(self.group);
                let scales: Vec<f32> = groups.map(|_| 0.002 + 0.001 * random.next()).collect();
                for (at, &value) in values.iter().enumerate() {
                    own.push(f64::from(f32::from(value) * scales[at / self.group]));
                }
                tensors.extend(values.iter().map(|value| value.cast_unsigned()));
                tensors.extend(scales.iter().flat_map(|scale| scale.to_le_bytes()));
            } else {
                let values: Vec<f32> = (0..count).map(|_| around + 0.3 * random.next()).collect();
                own.extend(values.iter().map(|&value| f64::from(value)));
                tensors.extend(values.iter().flat_map(|value| value.to_le_bytes()));
            }
            described.push(json!({
                "name": name, "dtype": if in_bytes { "i8" } else { "f32" }, "shape": shape,
                "len": tensors.len() - start, "group": if in_bytes { self.group } else { 0 }
            }));
            numbers.insert(name, own);
        };
        let (hidden, wide) = (self.hidden, self.intermediate);
        add("word_emb".into(), &[self.vocabulary, hidden], true, 0.0);
        add("pos_emb".into(), &[self.positions, hidden], false, 0.0);
        add("type_emb".into(), &[2, hidden], false, 0.0);
        add("emb_ln.w".into(), &[hidden], false, 1.0);
        add("emb_ln.b".into(), &[hidden], false, 0.0);
        for layer in 0..self.layers {
            let sizes = [
                ("qkv", 3 * hidden, hidden),
                ("ao", hidden, hidden),
                ("f1", wide, hidden),
                ("f2", hidden, wide),
            ];
            for (name, outputs, inputs) in sizes {
                add(format!("l{layer}.{name}.w"), &[outputs, inputs], true, 0.0);
                add(format!("l{layer}.{name}.b"), &[outputs], false, 0.0);
            }
            for name in ["aln", "fln"] {
                add(format!("l{layer}.{name}.w"), &[hidden], false, 1.0);
                add(format!("l{layer}.{name}.b"), &[hidden], false, 0.0);
            }
        }
        let header = json!({
            "format": 1,
            "meta": { "model": "random", "pooling": "cls", "max_length": self.positions - 2 },
            "arch": {
                "hidden": hidden, "layers": self.layers, "heads": self.heads,
                "intermediate": wide, "vocab": self.vocabulary, "max_positions": self.positions,
                "type_vocab": 2, "layer_norm_eps": 1e-12, "position_offset": 2
            },
            "quantization": "int8", "tokenizer_len": tokenizer.len(), "tensors": described
        });
        Parts {
            header,
            tokenizer,
            tensors,
            numbers,
        }
    }

    /// Returns the vector of a text with these tokens.
    pub(in crate::model) fn vector(&self, pack: &Parts, tokens: &[u32]) -> Vec<f64> {
        let of = |name: &str| &pack.numbers[name];
        let width = self.hidden;
        let mut hidden: Vec<Vec<f64>> = Vec::new();
        for (at, &token) in tokens.iter().enumerate() {
            let row = |name: &str, row: usize| of(name)[row * width..][..width].to_vec();
            let word = row("word_emb", token as usize);
            let position = row("pos_emb", at + 2);
            let kind = row("type_emb", 0);
            let summed = (0..width).map(|at| word[at] + position[at] + kind[at]);
            hidden.push(normalised(
                &summed.collect::<Vec<_>>(),
                of("emb_ln.w"),
                of("emb_ln.b"),
            ));
        }
        for layer in 0..self.layers {
            let of = |name: &str| &pack.numbers[&format!("l{layer}.{name}")];
            let apply = |name: &str, vector: &[f64]| {
                linear(vector, of(&format!("{name}.w")), of(&format!("{name}.b")))
            };
            let projected: Vec<Vec<f64>> = hidden.iter().map(|it| apply("qkv", it)).collect();
            let size = width / self.heads;
            let mut next = Vec::new();
            for (at, vector) in hidden.iter().enumerate() {
                let mut attended = vec![0.0; width];
                for head in 0..self.heads {
                    let part = |token: usize, third: usize| {
                        &projected[token][third * width + head * size..][..size]
                    };
                    let weights: Vec<f64> = (0..hidden.len())
                        .map(|other| {
                            (dot(part(at, 0), part(other, 1)) / (size as f64).sqrt()).exp()
                        })
                        .collect();
                    let total: f64 = weights.iter().sum();
                    for (other, weight) in weights.iter().enumerate() {
                        for (component, value) in part(other, 2).iter().enumerate() {
                            attended[head * size + component] += weight / total * value;
                        }
                    }
                }
                let attended = sum(&apply("ao", &attended), vector);
                let attended = normalised(&attended, of("aln.w"), of("aln.b"));
                let wide = apply("f1", &attended);
                let active: Vec<f64> = wide.iter().map(|&number| gelu(number)).collect();
                let passed = sum(&apply("f2", &active), &attended);
                next.push(normalised(&passed, of("fln.w"), of("fln.b")));
            }
            hidden = next;
        }
        hidden.swap_remove(0)
    }
}

fn linear(vector: &[f64], matrix: &[f64], bias: &[f64]) -> Vec<f64> {
    let rows = matrix.chunks(vector.len()).zip(bias);
    rows.map(|(row, bias)| dot(row, vector) + bias).collect()
}

fn normalised(vector: &[f64], weights: &[f64], bias: &[f64]) -> Vec<f64> {
    let count = vector.len() as f64;
    let mean = vector.iter().sum::<f64>() / count;
    let variance = vector.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / count;
    let scaled = vector
        .iter()
        .map(|it| (it - mean) / (variance + 1e-12).sqrt());
    let weighted = scaled.zip(weights).zip(bias);
    weighted
        .map(|((it, weight), bias)| it * weight + bias)
        .collect()
}

fn gelu(number: f64) -> f64 {
    0.5 * number * (1.0 + error_function(number / SQRT_2))
}

/// Returns the error function by its series, which converges for the numbers
/// that occur here.
fn error_function(number: f64) -> f64 {
    if number.abs() > 4.0 {
        return number.signum();
    }
    let (mut term, mut total) = (number, number);
    for step in 1..120 {
        term *= -number * number / f64::from(step);
        total += term / f64::from(2 * step + 1);
    }
    total * std::f64::consts::FRAC_2_SQRT_PI
}

fn sum(left: &[f64], right: &[f64]) -> Vec<f64> {
    left.iter()
        .zip(right)
        .map(|(left, right)| left + right)
        .collect()
}

pub(in crate::model) fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter()
        .zip(right)
        .map(|(left, right)| left * right)
        .sum()
}

/// Generates random numbers between -1 and 1, the same every time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1 << 23) as f32 - 1.0
    }
}
