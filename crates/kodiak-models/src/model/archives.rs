//! Archives for tests, in the formats of package registries.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Returns an archive as npm packs it.
pub(super) fn tarball(files: &[(&str, &[u8])]) -> Vec<u8> {
    let gzip = GzEncoder::new(Vec::new(), Compression::fast());
    let mut builder = tar::Builder::new(gzip);
    for (path, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, path, *content).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}

/// Returns an archive as pip downloads it.
pub(super) fn wheel(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (path, content) in files {
        let options = SimpleFileOptions::default();
        writer.start_file(*path, options).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}
