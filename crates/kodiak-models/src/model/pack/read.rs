//! Reading a pack.
//!
//! A pack is 8 bytes of magic, the length of its header, a header in JSON, the
//! content of `tokenizer.json`, and the tensors one after the other. A tensor is
//! 32-bit floats, or signed bytes followed by one float for each group of them.
//! All numbers are little-endian. Nothing that the file claims is believed
//! before it is checked.

use std::collections::HashMap;

use serde::Deserialize;

const MAGIC: &[u8] = b"HMSEMB01";

/// A pack, borrowed from the bytes of its file.
#[derive(Debug)]
pub(super) struct Pack<'a> {
    pub(super) name: String,
    pub(super) sizes: Sizes,
    pub(super) tokenizer: &'a [u8],
    tensors: HashMap<String, Tensor<'a>>,
}

/// The sizes of the network.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct Sizes {
    pub(super) hidden: usize,
    pub(super) layers: usize,
    pub(super) heads: usize,
    pub(super) intermediate: usize,
    #[serde(rename = "vocab")]
    pub(super) vocabulary: usize,
    #[serde(rename = "max_positions")]
    pub(super) positions: usize,
    #[serde(rename = "type_vocab")]
    pub(super) types: usize,
    #[serde(rename = "layer_norm_eps")]
    pub(super) epsilon: f32,
    /// The position of the first token.
    #[serde(rename = "position_offset")]
    pub(super) first_position: usize,
}

/// The bytes of a tensor.
#[derive(Clone, Copy, Debug)]
enum Tensor<'a> {
    Floats(&'a [u8]),
    Groups(Groups<'a>),
}

/// Signed bytes, each of which stands for itself times the scale of its group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Groups<'a> {
    pub(super) size: usize,
    pub(super) values: &'a [u8],
    /// One float for each group, as bytes.
    scales: &'a [u8],
}

#[derive(Deserialize)]
struct Header {
    meta: Meta,
    arch: Sizes,
    tokenizer_len: usize,
    tensors: Vec<Described>,
}

#[derive(Deserialize)]
struct Meta {
    model: String,
    pooling: String,
}

#[derive(Deserialize)]
struct Described {
    name: String,
    dtype: String,
    shape: Vec<usize>,
    len: usize,
    group: usize,
}

impl<'a> Pack<'a> {
    /// Takes the bytes of a pack apart.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, String> {
        let mut rest = bytes;
        if take(&mut rest, MAGIC.len())? != MAGIC {
            return Err("it does not begin as a pack does".to_owned());
        }
        let length = take(&mut rest, 8)?;
        let length = length
            .iter()
            .rev()
            .fold(0_u64, |sum, &byte| sum << 8 | u64::from(byte));
        let length = usize::try_from(length).map_err(|_| cut_off())?;
        let header: Header = serde_json::from_slice(take(&mut rest, length)?)
            .map_err(|error| format!("its header cannot be read: {error}"))?;
        if header.meta.pooling != "cls" {
            let pooling = header.meta.pooling;
            return Err(format!("its pooling is '{pooling}', not 'cls'"));
        }
        header.arch.check()?;
        let tokenizer = take(&mut rest, header.tokenizer_len)?;
        let mut tensors = HashMap::new();
        for described in header.tensors {
            let bytes = take(&mut rest, described.len)?;
            let shape = described.shape.clone();
            let (name, tensor) = described.read(bytes)?;
            let expected = header.arch.shape_of(&name);
            if expected.as_ref() != Some(&shape) {
                return Err(format!("its tensor {name} has the shape {shape:?}"));
            }
            tensors.insert(name, tensor);
        }
        if !rest.is_empty() {
            return Err(format!("it has {} bytes too many", rest.len()));
        }
        Ok(Self {
            name: header.meta.model,
            sizes: header.arch,
            tokenizer,
            tensors,
        })
    }

    /// Returns the numbers of a tensor, whatever form it has.
    pub(super) fn numbers(&self, name: &str) -> Result<Vec<f32>, String> {
        match self.tensor(name)? {
            Tensor::Floats(bytes) => Ok(floats(bytes).collect()),
            Tensor::Groups(groups) => {
                let scales = groups.scales();
                let scaled_groups = groups.values.chunks_exact(groups.size).zip(scales);
                let numbers = scaled_groups.flat_map(|(group, scale)| {
                    let number = move |&byte: &u8| f32::from(byte.cast_signed()) * scale;
                    group.iter().map(number)
                });
                Ok(numbers.collect())
            }
        }
    }

    /// Returns the groups of a tensor that is made of signed bytes.
    pub(super) fn groups(&self, name: &str) -> Result<Groups<'a>, String> {
        match self.tensor(name)? {
            Tensor::Groups(groups) => Ok(groups),
            Tensor::Floats(_) => Err(format!("its tensor {name} is not made of bytes")),
        }
    }

    fn tensor(&self, name: &str) -> Result<Tensor<'a>, String> {
        let tensor = self.tensors.get(name).copied();
        tensor.ok_or_else(|| format!("it has no tensor {name}"))
    }
}

impl Groups<'_> {
    /// Returns the scale of each group.
    pub(super) fn scales(&self) -> impl Iterator<Item = f32> {
        floats(self.scales)
    }
}

impl Sizes {
    /// Checks that a network can have these sizes. They bound all work on the
    /// pack.
    fn check(&self) -> Result<(), String> {
        const MAX_DIMENSION: usize = 1 << 20;
        let all = [
            self.hidden,
            self.layers,
            self.heads,
            self.intermediate,
            self.vocabulary,
            self.positions,
            self.types,
        ];
        let possible = all.iter().all(|size| (1..=MAX_DIMENSION).contains(size))
            && self.hidden.is_multiple_of(self.heads)
            && self.first_position < self.positions
            && self.epsilon.is_finite()
            && self.epsilon >= 0.0;
        if possible {
            Ok(())
        } else {
            Err(format!("no network has its sizes: {self:?}"))
        }
    }

    /// Returns the shape that a tensor must have, or `None` if there is no such
    /// tensor.
    fn shape_of(&self, name: &str) -> Option<Vec<usize>> {
        let (hidden, intermediate) = (self.hidden, self.intermediate);
        let shape = match name {
            "word_emb" => vec![self.vocabulary, hidden],
            "pos_emb" => vec![self.positions, hidden],
            "type_emb" => vec![self.types, hidden],
            "emb_ln.w" | "emb_ln.b" => vec![hidden],
            _ => {
                let (layer, tensor) = name.strip_prefix('l')?.split_once('.')?;
                let layer: usize = layer.parse().ok()?;
                if layer >= self.layers {
                    return None;
                }
                match tensor {
                    "qkv.w" => vec![3 * hidden, hidden],
                    "qkv.b" => vec![3 * hidden],
                    "ao.w" => vec![hidden, hidden],
                    "f1.w" => vec![intermediate, hidden],
                    "f1.b" => vec![intermediate],
                    "f2.w" => vec![hidden, intermediate],
                    "ao.b" | "f2.b" | "aln.w" | "aln.b" | "fln.w" | "fln.b" => vec![hidden],
                    _ => return None,
                }
            }
        };
        Some(shape)
    }
}

impl Described {
    /// Returns the name and the content of a tensor whose bytes fit its
    /// description.
    fn read(self, bytes: &[u8]) -> Result<(String, Tensor<'_>), String> {
        let odd = |name: &str| format!("its tensor {name} is not what its header says");
        let count = self
            .shape
            .iter()
            .try_fold(1, |count: usize, &size| count.checked_mul(size));
        let count = count.ok_or_else(|| odd(&self.name))?;
        let tensor = match self.dtype.as_str() {
            "f32" if Some(bytes.len()) == count.checked_mul(4) => Tensor::Floats(bytes),
            "i8" if self.group > 0 && count.is_multiple_of(self.group) => {
                let groups = count / self.group;
                if bytes.len() != count + 4 * groups {
                    return Err(odd(&self.name));
                }
                let (values, scales) = bytes.split_at(count);
                Tensor::Groups(Groups {
                    size: self.group,
                    values,
                    scales,
                })
            }
            _ => return Err(odd(&self.name)),
        };
        Ok((self.name, tensor))
    }
}

/// Takes bytes from the front of `rest`.
fn take<'a>(rest: &mut &'a [u8], count: usize) -> Result<&'a [u8], String> {
    let (taken, left) = rest.split_at_checked(count).ok_or_else(cut_off)?;
    *rest = left;
    Ok(taken)
}

fn cut_off() -> String {
    "it is cut off".to_owned()
}

fn floats(bytes: &[u8]) -> impl Iterator<Item = f32> {
    let (numbers, _) = bytes.as_chunks();
    numbers.iter().map(|&number| f32::from_le_bytes(number))
}
