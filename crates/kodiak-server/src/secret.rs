//! Random secrets: tokens, codes, and what a session is known by.

use std::fmt::Write;

/// Returns this many random bytes from the operating system, in hexadecimal digits.
pub(crate) fn random<const BYTES: usize>() -> Result<String, getrandom::Error> {
    let mut random = [0; BYTES];
    getrandom::fill(&mut random)?;
    let mut secret = String::with_capacity(2 * BYTES);
    for byte in random {
        let _ = write!(secret, "{byte:02x}");
    }
    Ok(secret)
}
