//! Failures of the origin of a model, as opposed to failures of this machine.

use kodiak_base::error::Error;

/// Why a model could not be installed from an origin.
#[derive(Debug)]
pub(super) enum Failure {
    /// The origin is to blame. Another may work.
    Origin(String),
    /// This machine is to blame. No other origin will work.
    Machine(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Machine(error)
    }
}
