//! The names of record files: `<id>-v<version>.json`.

/// The glob that finds record files at any depth.
pub(super) const GLOB: &str = "*-v*.json";

/// The longest id, in bytes. The longest name of a file is 255.
const MAX_ID_BYTES: usize = 200;

/// Names that Windows reserves for devices, with any extension.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// The parts of the name of a record file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileName<'a> {
    /// The id of the node.
    pub(super) id: &'a str,
    /// The version of the node in this file.
    pub(super) version: u64,
}

impl<'a> FileName<'a> {
    /// Reads the name of the file at the end of a path, if it is a record's.
    pub(super) fn of(key: &'a str) -> Option<Self> {
        let name = key.rsplit('/').next()?;
        let (id, version) = name.strip_suffix(".json")?.rsplit_once("-v")?;
        let plain = !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit());
        // `01` would be a second name of version 1.
        let canonical = plain && (version == "0" || !version.starts_with('0'));
        (canonical && !id.is_empty()).then_some(())?;
        Some(Self {
            id,
            version: version.parse().ok()?,
        })
    }
}

/// Returns the name of a record's file.
pub(super) fn file_name(id: &str, version: u64) -> String {
    format!("{id}-v{version}.json")
}

/// Checks that an id can be part of a file's name on every system. The error says why it
/// cannot.
pub(super) fn check_id(id: &str) -> Result<(), &'static str> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if id.is_empty() {
        return Err("it is empty");
    }
    if id.len() > MAX_ID_BYTES {
        return Err("it is longer than 200 bytes");
    }
    if !id.chars().all(allowed) {
        return Err("only letters, digits, '-', '_' and '.' are allowed in it");
    }
    if id.starts_with(['.', '-']) {
        return Err("it begins with a dot or a dash");
    }
    let first = id.split('.').next().unwrap_or(id);
    if DEVICES
        .iter()
        .any(|device| device.eq_ignore_ascii_case(first))
    {
        return Err("it is the name of a device");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_has_an_id_and_a_version() {
        let name = |key: &'static str| FileName::of(key).map(|name| (name.id, name.version));
        assert_eq!(name("2026/01/9f2c-v2.json"), Some(("9f2c", 2)));
        assert_eq!(name("a-v1-v10.json"), Some(("a-v1", 10)));
        assert_eq!(name("a-v0.json"), Some(("a", 0)));
        for other in [
            "a.json",
            "a-v.json",
            "a-v-1.json",
            "a-v01.json",
            "-v1.json",
            "a-v1.jsonl",
            "a-v1x.json",
            "a-v99999999999999999999.json",
        ] {
            assert_eq!(name(other), None, "{other}");
        }
    }

    #[test]
    fn ids_that_are_no_safe_names_are_refused() {
        for id in [
            "", "..", ".", "../x", "a/b", "a\\b", "-x", ".x", "a b", "ü", "nul", "CON.1", "a\0b",
            "a:b",
        ] {
            assert!(check_id(id).is_err(), "{id}");
        }
        check_id(&"x".repeat(201)).unwrap_err();
        for id in ["9f2c4e1ab0d37756", "node_1.2", "v1", "null"] {
            check_id(id).unwrap();
        }
    }

    proptest! {
        #[test]
        fn a_safe_id_leads_back_from_its_file(id in "[a-zA-Z0-9_.-]{1,40}", version: u64) {
            prop_assume!(check_id(&id).is_ok());
            let name = file_name(&id, version);
            prop_assert_eq!(FileName::of(&name), Some(FileName { id: &id, version }));
        }

        #[test]
        fn any_text_is_a_name_or_none(text in "\\PC*") {
            let _ = FileName::of(&text);
            let _ = check_id(&text);
        }
    }
}
