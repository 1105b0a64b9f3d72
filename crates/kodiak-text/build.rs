//! Writes lists of words in forms that take a fraction of the room in the program that
//! they take in the crates they come from: stop words as lines instead of an array of
//! slices for every language, English words as an automaton instead of text.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

/// The languages whose stop words are known. Few people write in more than one or
/// two of them. With more languages, more real misspellings would pass for stop
/// words and stay uncorrected.
const LANGUAGES: [&str; 7] = ["en", "de", "fr", "es", "it", "pt", "nl"];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = PathBuf::from(env::var_os("OUT_DIR").ok_or("there is no OUT_DIR")?);
    let mut words = BTreeSet::new();
    for language in LANGUAGES {
        words.extend(
            stop_words::lookup(language)
                .ok_or(language)?
                .iter()
                .copied(),
        );
    }
    let lines: String = words.iter().map(|word| format!("{word}\n")).collect();
    fs::write(folder.join("stop_words.txt"), lines)?;
    let english: BTreeSet<&str> = wordnik_list::word_iterator().collect();
    let automaton = fst::Set::from_iter(english)?;
    fs::write(
        folder.join("english_words.fst"),
        automaton.as_fst().as_bytes(),
    )?;
    Ok(())
}
