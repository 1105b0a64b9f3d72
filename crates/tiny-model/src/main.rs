//! Writes the model `tiny` into a folder: `cargo run -p tiny-model -- FOLDER`.

use std::io;
use std::path::Path;

fn main() -> io::Result<()> {
    match &std::env::args_os().collect::<Vec<_>>()[..] {
        [_, folder] => tiny_model::write(Path::new(folder)),
        _ => Err(io::Error::other("usage: tiny-model FOLDER")),
    }
}
