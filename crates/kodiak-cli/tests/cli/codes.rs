//! The codes that programs compare: of caveats, and of what the server refuses.

use std::fs;
use std::path::Path;

/// The files whose type has codes, below the folder of all crates.
const FILES: [&str; 2] = [
    "kodiak/src/search/caveat.rs",
    "kodiak-server/src/http/refusal.rs",
];

/// Returns the codes in the source of a type. The source has all of them, also those of a
/// variant that is new.
fn codes(source: &str) -> Vec<&str> {
    source
        .split("fn code(&self) -> &'static str {")
        .skip(1)
        .filter_map(|rest| rest.split("\n    }\n").next())
        .flat_map(|body| body.split('"').skip(1).step_by(2))
        .collect()
}

#[test]
fn codes_are_spelt_alike_and_there_once() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for file in FILES {
        let source = fs::read_to_string(crates.join(file)).unwrap();
        let codes = codes(&source);
        assert!(codes.len() > 20, "{file}: {codes:?}");
        for (at, code) in codes.iter().enumerate() {
            let is_word =
                |word: &str| !word.is_empty() && word.bytes().all(|sign| sign.is_ascii_lowercase());
            assert!(code.split('-').all(is_word), "{file}: {code}");
            assert!(!codes[..at].contains(code), "{file}: {code}");
        }
    }
}
