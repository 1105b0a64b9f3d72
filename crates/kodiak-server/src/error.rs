//! What can go wrong with a server itself. What goes wrong in a call of a tool is
//! an answer of the tool.

/// The result of serving.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure of a server. The reason of the system is its source, and not repeated in
/// its words.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The threads that serve could not be started.
    #[error("the server could not be started")]
    Start(#[source] std::io::Error),
    /// An address could not be listened at.
    #[error("could not listen at {address}")]
    Listen {
        /// The address.
        address: std::net::SocketAddr,
        /// Why it failed.
        source: std::io::Error,
    },
    /// The operating system has no random numbers.
    #[error("the operating system gave no random numbers: {0}")]
    Random(String),
}
