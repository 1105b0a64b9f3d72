//! Writes an embedding model that is small enough for tests.
//!
//! It knows some three hundred words in eight topics. Vectors of one topic point
//! in almost the same direction, those of different topics are orthogonal, and
//! all other words have no meaning. The files have the format of a real model,
//! so that tests exercise the tokenizer and the runtime without a network and
//! without a binary in the repository. They are byte for byte the same every
//! time.

mod onnx;
mod tokenizer;
mod words;

use std::io;
use std::path::Path;

use serde_json::json;

/// The name of the model that [`write()`] writes.
pub const NAME: &str = "tiny";
/// The number of dimensions of its vectors.
pub const DIMENSIONS: usize = 16;
/// The maximum number of tokens, including the special ones.
pub const MAX_TOKENS: usize = 64;

/// The output of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// A vector for each token, as `last_hidden_state`.
    Tokens,
    /// A vector for the whole text, as `sentence_embedding`.
    Text,
}

/// The properties of a model to write.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// The name of the model.
    pub name: String,
    /// The seed of the vectors.
    pub seed: u64,
    /// The number of dimensions, at least one for each of the eight topics.
    pub dimensions: usize,
    /// Whether the graph has the input `token_type_ids`.
    pub token_types: bool,
    /// Whether the tokenizer puts a text between `[CLS]` and `[SEP]`.
    pub marks: bool,
    /// The output of the graph.
    pub output: Output,
    /// The pooling in `model.json`.
    pub pooling: &'static str,
}

impl Default for Recipe {
    fn default() -> Self {
        Self {
            name: NAME.to_owned(),
            seed: 1,
            dimensions: DIMENSIONS,
            token_types: true,
            marks: true,
            output: Output::Tokens,
            pooling: "mean",
        }
    }
}

/// Writes the model `tiny` into a folder, which is created if it is missing.
pub fn write(folder: &Path) -> io::Result<()> {
    Recipe::default().write(folder)
}

/// Writes a model with the same words and other vectors. Its name contains the
/// seed: `tiny-2`.
pub fn variant(folder: &Path, seed: u64, dimensions: usize) -> io::Result<()> {
    Recipe {
        name: format!("{NAME}-{seed}"),
        seed,
        dimensions,
        ..Recipe::default()
    }
    .write(folder)
}

/// Writes a cross-encoder with the words and vectors of `tiny` into a folder. It
/// takes two texts and returns `logits` of shape `[1, 1]`, which grow with the
/// topics that the texts share. A second output, `left`, is the sum of the first
/// text's vectors.
pub fn write_cross_encoder(folder: &Path) -> io::Result<()> {
    let recipe = Recipe::default();
    std::fs::create_dir_all(folder)?;
    let (tokens, table) = recipe.vocabulary();
    let graph = onnx::cross_encoder(&recipe, &table);
    std::fs::write(folder.join("model.onnx"), graph)?;
    let tokenizer = tokenizer::file(&recipe, &tokens).to_string();
    std::fs::write(folder.join("tokenizer.json"), tokenizer)
}

impl Recipe {
    /// Writes `model.onnx`, `tokenizer.json` and `model.json` into a folder,
    /// which is created if it is missing.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let topics = words::TOPICS.len();
        if self.dimensions < topics {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!(
                    "{topics} topics do not fit into {} dimensions",
                    self.dimensions
                ),
            ));
        }
        let (tokens, table) = self.vocabulary();
        std::fs::create_dir_all(folder)?;
        std::fs::write(folder.join("model.onnx"), onnx::model(self, &table))?;
        let tokenizer = tokenizer::file(self, &tokens).to_string();
        std::fs::write(folder.join("tokenizer.json"), tokenizer)?;
        let settings = json!({
            "name": self.name, "dimensions": self.dimensions, "pooling": self.pooling,
            "max_tokens": MAX_TOKENS, "query_prefix": "", "document_prefix": "",
            "minimum_similarity": 0.2
        });
        std::fs::write(folder.join("model.json"), settings.to_string())
    }

    /// Returns all tokens in the order of their ids, and their vectors one after
    /// the other.
    fn vocabulary(&self) -> (Vec<&'static str>, Vec<f32>) {
        let silent = tokenizer::MARKS.iter().chain(&words::ENDINGS).copied();
        let tokens = silent
            .clone()
            .chain(words::all().map(|(word, _)| word))
            .collect();
        let mut table = vec![0.0; silent.count() * self.dimensions];
        table.extend(self.vectors());
        (tokens, table)
    }

    /// Returns the vectors of all words: the direction of the topic plus a small
    /// part of their own, which uses the dimensions without a topic if there are
    /// any.
    fn vectors(&self) -> Vec<f32> {
        let mut random = Random(self.seed);
        let topics = words::TOPICS.len();
        let mut axes: Vec<usize> = (0..self.dimensions).collect();
        for last in (1..axes.len()).rev() {
            axes.swap(last, random.below(last + 1));
        }
        let signs: Vec<f32> = (0..topics)
            .map(|_| if random.below(2) == 0 { 1.0 } else { -1.0 })
            .collect();
        let (own_axes, own_size) = match &axes[topics..] {
            [] => (&axes[..], 0.05),
            rest => (rest, 0.15),
        };
        let mut vectors = Vec::new();
        for (_, topic) in words::all() {
            let mut vector = vec![0.0; self.dimensions];
            vector[axes[topic]] = signs[topic];
            for &axis in own_axes {
                vector[axis] += own_size * random.around_zero();
            }
            vectors.extend(vector);
        }
        vectors
    }
}

/// Generates random numbers with `splitmix64`. It does not come from a crate,
/// because a dependency may change its sequence with any release: the model's
/// revision is a hash of its weights, and tests name it.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// Returns a number between -1 and 1.
    fn around_zero(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1 << 23) as f32 - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&Path) -> io::Result<()>) -> [Vec<u8>; 3] {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path()).unwrap();
        ["model.onnx", "tokenizer.json", "model.json"]
            .map(|name| std::fs::read(folder.path().join(name)).unwrap())
    }

    #[test]
    fn the_files_are_small_and_the_same_every_time() {
        let files = written(write);
        assert_eq!(files, written(write));
        assert!(files[0].len() < 100_000, "{}", files[0].len());
    }

    #[test]
    fn a_cross_encoder_has_another_graph_for_the_same_tokens() {
        let (encoder, cross) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        write(encoder.path()).unwrap();
        write_cross_encoder(cross.path()).unwrap();
        let same = |name: &str| {
            let read = |folder: &Path| std::fs::read(folder.join(name)).unwrap();
            read(encoder.path()) == read(cross.path())
        };
        assert!(same("tokenizer.json"));
        assert!(!same("model.onnx"));
    }

    #[test]
    fn a_variant_has_other_vectors_for_the_same_words() {
        let (first, second) = (written(write), written(|folder| variant(folder, 2, 16)));
        assert_ne!(first[0], second[0]);
        assert_eq!(first[1], second[1]);
        let settings: serde_json::Value = serde_json::from_slice(&second[2]).unwrap();
        assert_eq!(settings["name"], "tiny-2");
    }

    #[test]
    fn too_few_dimensions_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert!(variant(folder.path(), 2, 8).is_ok());
        assert!(variant(folder.path(), 2, 7).is_err());
    }
}
