//! Notes that are not UTF-8, in their text or in their names.

use std::fs;

use insta::assert_snapshot;

use crate::desk::Desk;

fn utf16(text: &str) -> Vec<u8> {
    let units = text.encode_utf16().flat_map(u16::to_le_bytes);
    [0xff, 0xfe].into_iter().chain(units).collect()
}

#[test]
fn every_encoding_is_found_at_its_line() {
    let desk = Desk::new();
    desk.write(
        "notes/latin.md",
        b"# Caf\xe9 list\n\nfirst\n\nA gr\xfcn zebra\n",
    );
    desk.write(
        "notes/wide.md",
        utf16("# Wide\r\n\r\nfirst\r\n\r\nan okapi 🦓\r\n"),
    );
    // Without a byte order mark.
    desk.write(
        "notes/bare.md",
        &utf16("# Bare\n\nfirst\n\na tapir, grün\n")[2..],
    );
    desk.write(
        "notes/mixed.md",
        ["# Grün\n\nfirst\n\nan ".as_bytes(), b"ibis\x92s nest\n"].concat(),
    );
    desk.write(
        "notes/binary.md",
        b"\x1f\x8b\x08\x08\xe9\x01\x02\x03\x04\xff quagga",
    );
    desk.ok(&["add", "notes"]);
    for (word, path) in [
        ("zebra", "latin.md"),
        ("café", "latin.md"),
        ("okapi", "wide.md"),
        ("tapir grün", "bare.md"),
        ("ibis", "mixed.md"),
        ("grün nest", "mixed.md"),
    ] {
        assert_eq!(desk.found(&[word])[0], path, "{word}");
    }
    for word in ["zebra", "okapi", "tapir", "ibis"] {
        let answer = desk.json(&["search", word, "--json"]);
        assert_eq!(answer["hits"][0]["line"], 5, "{word}");
    }
    assert_eq!(desk.run(&["search", "quagga"]).code, Some(1));
    assert_eq!(desk.ok(&["get", "latin.md:5"]).stdout, "A grün zebra\n");
    assert_eq!(desk.ok(&["get", "mixed.md:5"]).stdout, "an ibis’s nest\n");
    let status = desk.ok(&["status", "-v"]).stdout;
    assert!(
        status.contains("skipped: 1 file, binary\n    binary.md"),
        "{status}"
    );
    for read in [
        "2 files, not UTF-8; read as UTF-16\n    bare.md\n    wide.md",
        "2 files, not UTF-8; read as Windows-1252\n    latin.md\n    mixed.md",
    ] {
        assert!(status.contains(read), "{status}");
    }
    // Nothing that changes is missed.
    desk.configure("refresh_ms", 60_000);
    desk.write("notes/latin.md", b"# Caf\xe9\n\nno gnu\xdf here\n");
    assert_eq!(desk.found(&["gnuß"]), ["latin.md"]);
    assert_eq!(desk.run(&["search", "zebra"]).code, Some(1));
}

#[test]
fn a_file_that_is_not_utf_8_is_never_rewritten() {
    let desk = Desk::new();
    let latin = b"---\ntags: [soup]\n---\n# Caf\xe9\n\n#soup\n";
    let wide = utf16("# Wide\n\n#soup\n");
    desk.write("notes/latin.md", latin);
    desk.write("notes/wide.md", &wide);
    desk.write("notes/bare.md", &utf16("# Bare\n\nA text.\n")[2..]);
    desk.write("notes/plain.md", "# Plain\n\n#soup\n");
    desk.ok(&["add", "notes", "--writable"]);
    assert_snapshot!(desk.run(&["page", "edit", "latin.md", "--append", "more"]), @"
    exit: 2
    --- stderr
    error: a note cannot be saved as 'latin.md': its file is not UTF-8 and would be rewritten in another encoding; convert it to UTF-8 first
    ");
    assert_snapshot!(desk.run(&["tag", "add", "wide.md", "broth"]), @"
    exit: 2
    --- stderr
    error: a note cannot be saved as 'wide.md': its file is not UTF-8 and would be rewritten in another encoding; convert it to UTF-8 first
    ");
    assert_snapshot!(desk.run(&["tag", "rename", "soup", "broth"]), @"
    exit: 2
    --- stderr
    renamed #soup to #broth in 1 note
    warning: notes/latin.md still has #soup: its file is not UTF-8 and would be rewritten in another encoding; convert it to UTF-8 first
    warning: notes/wide.md still has #soup: its file is not UTF-8 and would be rewritten in another encoding; convert it to UTF-8 first
    ");
    assert_eq!(
        desk.run(&["page", "rename", "latin.md", "Other"]).code,
        Some(2)
    );
    assert_eq!(fs::read(desk.path("notes/latin.md")).unwrap(), latin);
    assert_eq!(fs::read(desk.path("notes/wide.md")).unwrap(), wide);
    let run = desk.run(&["page", "edit", "bare.md", "--append", "more"]);
    assert!(
        run.code == Some(2) && run.stderr.contains("is not UTF-8"),
        "{run}"
    );
    // Moving it changes nothing in it.
    desk.ok(&["page", "delete", "latin.md"]);
    desk.ok(&["page", "restore", "latin.md"]);
    assert_eq!(fs::read(desk.path("notes/latin.md")).unwrap(), latin);
}

#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_not_utf_8_has_a_key_that_leads_back() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let desk = Desk::new();
    desk.write("notes/plain.md", "plain zebra\n");
    let folder = desk.path("notes").join(OsStr::from_bytes(b"gr\xfcn"));
    fs::create_dir(&folder).unwrap();
    let file = folder.join(OsStr::from_bytes(b"caf\xe9.md"));
    fs::write(&file, "a zebra\n").unwrap();
    desk.ok(&["add", "notes", "--writable"]);
    let key = "gr\u{fffd}FCn/caf\u{fffd}E9.md";
    let mut found = desk.found(&["zebra"]);
    found.sort();
    assert_eq!(found, [key, "plain.md"]);
    assert_eq!(
        desk.found(&["café"]),
        [key],
        "by its name as people read it"
    );
    let answer = desk.json(&["get", "--json", key]);
    assert_eq!(
        (&answer["text"], &answer["title"]),
        (&"a zebra\n".into(), &"café".into())
    );
    for name in [
        key,
        &format!("notes/{key}"),
        answer["uri"].as_str().unwrap(),
        "café",
    ] {
        assert_eq!(desk.ok(&["get", name]).stdout, "a zebra\n", "{name}");
    }
    let mut open = desk.command(&["open", key]);
    let opened = desk.finish(open.env("EDITOR", "cat").env("PATH", "/usr/bin:/bin"));
    assert_eq!(opened.stdout, "a zebra\n", "{opened}");
    // Nothing changed, and what changes is noticed.
    desk.configure("refresh_ms", 60_000);
    std::thread::sleep(std::time::Duration::from_millis(50));
    desk.ok(&["index"]);
    let run = desk.ok(&["index"]);
    assert!(run.stderr.contains("nothing changed"), "{run}");
    fs::write(&file, "an okapi, and more\n").unwrap();
    assert_eq!(desk.found(&["okapi"]), [key]);
    desk.ok(&["page", "edit", key, "--append", "a gnu"]);
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        "an okapi, and more\na gnu\n"
    );
    assert_eq!(desk.found(&["gnu"]), [key]);
    desk.ok(&["page", "delete", key]);
    assert!(!file.exists() && desk.run(&["search", "gnu"]).code == Some(1));
    desk.ok(&["page", "restore", key]);
    assert!(file.exists());
    assert_eq!(desk.found(&["gnu"]), [key]);
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(desk.run(&["search", "gnu"]).code, Some(1));
}

#[cfg(target_os = "linux")]
#[test]
fn two_names_that_read_alike_stay_apart() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let desk = Desk::new();
    desk.write("notes/café.md", "one numbat\n");
    let latin = desk.path("notes").join(OsStr::from_bytes(b"caf\xe9.md"));
    fs::write(&latin, "another numbat\n").unwrap();
    desk.ok(&["add", "notes"]);
    let answer = desk.json(&["search", "numbat", "--all-copies", "--json"]);
    let hits = answer["hits"].as_array().unwrap();
    assert_eq!(hits.len(), 2);
    for field in ["id", "uri", "path"] {
        assert_ne!(hits[0][field], hits[1][field], "{field}");
    }
    for hit in hits {
        let uri = hit["uri"].as_str().unwrap();
        assert!(uri.is_ascii() && uri.contains('%'), "{uri}");
        let text = desk.ok(&["get", uri]).stdout;
        let by_id = desk.ok(&["get", hit["id"].as_str().unwrap()]).stdout;
        assert_eq!(text, by_id);
    }
    // The title alone does not say which is meant.
    assert_eq!(desk.run(&["get", "café"]).code, Some(2));
}
