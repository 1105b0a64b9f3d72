//! An open reader itself, and whether the index is in order.

use kodiak_base::cancel::Interrupt;
use kodiak_base::error::Result;

/// The number of bytes of an example that are shown.
const MAX_EXAMPLE_LENGTH: usize = 120;

/// A problem of the index, in words for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The problem.
    pub problem: String,
    /// Up to five examples.
    pub examples: Vec<String>,
}

impl Finding {
    /// The number of examples that are shown.
    pub const MAX_EXAMPLES: usize = 5;

    /// Makes a finding that includes the number of cases.
    pub fn counted(problem: &str, count: usize, examples: Vec<String>) -> Self {
        Self::new(format!("{problem}: {count}"), examples)
    }

    /// Makes a finding. Only the first examples are kept, and only their beginnings.
    pub fn new(problem: impl Into<String>, mut examples: Vec<String>) -> Self {
        examples.truncate(Self::MAX_EXAMPLES);
        for example in &mut examples {
            if example.len() > MAX_EXAMPLE_LENGTH {
                example.truncate(example.floor_char_boundary(MAX_EXAMPLE_LENGTH));
                example.push('…');
            }
        }
        Self {
            problem: problem.into(),
            examples,
        }
    }
}

/// Checks the index, and looks after a reader that stays open.
pub trait Maintenance {
    /// Reports whether this reader still reads the index that its store opens. Another
    /// one may have replaced it.
    fn is_current(&self) -> bool;

    /// Gives back the memory that it holds only for speed. Called before a reader is
    /// kept for later.
    fn shrink_memory(&self) {}

    /// Returns a handle that interrupts a read on another thread, if that is possible. An
    /// interrupted read fails.
    fn interrupt(&self) -> Option<Interrupt> {
        None
    }

    /// Returns the format of the index.
    fn format(&self) -> Result<u32>;

    /// Checks the consistency of the index. Returns no findings if nothing is
    /// wrong.
    fn examine(&self) -> Result<Vec<Finding>>;
}
