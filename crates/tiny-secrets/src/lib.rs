//! Generates secrets, the texts in which they occur, and texts that only look as if
//! they had one, for tests and measurements.
//!
//! `kinds` has the kinds of secrets and how each is written, `carriers` the texts
//! around them, and `harmless` the texts in which nothing is secret. Everything
//! follows from a seed. No secret here was ever issued.

mod carriers;
mod harmless;
mod keys;
mod kinds;
mod random;
mod tokens;

pub use harmless::harmless;
pub use random::Random;

/// A text with a secret in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planted {
    /// The kind of the secret.
    pub kind: &'static str,
    /// What must be gone from the text, each piece on its own.
    pub secrets: Vec<String>,
    /// The text.
    pub text: String,
}

/// Returns the names of all kinds of secrets.
pub fn kinds() -> Vec<&'static str> {
    kinds::KINDS.iter().map(|kind| kind.name).collect()
}

/// Returns half of the kinds, chosen at random. Rules are written from these; the
/// other half shows what they do about kinds that they were not written for.
pub fn looked_at() -> Vec<&'static str> {
    let mut names = kinds();
    let mut random = Random::new(20_261_117);
    for last in (1..names.len()).rev() {
        names.swap(last, random.below(last + 1));
    }
    names.truncate(names.len() / 2);
    names
}

/// Returns a secret of the kind with this name, in a text.
///
/// # Panics
///
/// If there is no such kind.
pub fn planted(kind: &str, random: &mut Random) -> Planted {
    let kind = kinds::KINDS.iter().find(|known| known.name == kind);
    let kind = kind.expect("a kind that is known");
    let (secrets, text) = match kind.form {
        kinds::Form::Token(make) => {
            let token = make(random);
            let text = carriers::around_token(&token, random);
            (vec![token], text)
        }
        kinds::Form::Snippet(make) => make(random),
    };
    Planted {
        kind: kind.name,
        text: carriers::wrapped(&text, random),
        secrets,
    }
}
