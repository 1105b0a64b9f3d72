//! Editing keeps what people wrote.

use super::*;
use crate::config::Kind;

const WRITTEN: &str = "\
# My notes.

# How much to show.
max_file_size = \"1 MiB\" # small ones

# the important ones
[[source]]
name = 'notes'
path = '/notes' # on the other disk

[search]
limit = 3
";

fn source(name: &str, path: &str) -> RegisteredSource {
    RegisteredSource {
        name: name.into(),
        kind: Kind::Markdown,
        path: path.into(),
        globs: Vec::new(),
        writable: false,
        transcripts: None,
        server: None,
    }
}

fn file() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sub/config.toml");
    (folder, path)
}

#[test]
fn a_file_is_made_where_none_is() {
    let (_folder, path) = file();
    add_source(&path, &source("notes", "/notes")).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    insta::assert_snapshot!(text, @r#"
    [[source]]
    name = "notes"
    kind = "markdown"
    path = "/notes"
    "#);
    remove_source(&path, "notes").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "");
}

#[test]
fn comments_order_and_spacing_survive() {
    let (_folder, path) = file();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, WRITTEN).unwrap();
    let mut globbed = source("other", "/o'ther \"x\"");
    globbed.globs = vec!["*.md".into(), "!drafts/".into()];
    add_source(&path, &globbed).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    for kept in [
        "# My notes.\n",
        "# small ones\n",
        "# on the other disk\n",
        "limit = 3\n",
    ] {
        assert!(text.contains(kept), "{text}");
    }
    let config = Config::parse(&text, &path).unwrap();
    assert_eq!(config.names(), ["notes", "other"]);
    assert_eq!(
        config.source("other").unwrap().path,
        Path::new("/o'ther \"x\"")
    );
    assert_eq!(config.search.limit, 3);

    remove_source(&path, "other").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), WRITTEN);
    set_globs(&path, "notes", &["*.txt".into()]).unwrap();
    let config = Config::load(&path).unwrap();
    assert_eq!(config.source("notes").unwrap().globs, ["*.txt"]);
}

#[test]
fn only_the_comment_of_the_removed_source_goes() {
    let (_folder, path) = file();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let two = "# all my notes\n\n# one\n[[source]]\nname = 'one'\npath = '/1'\n\n# two\n[[source]]\nname = 'two'\npath = '/2'\n";
    fs::write(&path, two).unwrap();
    remove_source(&path, "one").unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(
        text,
        "# all my notes\n\n# two\n[[source]]\nname = 'two'\npath = '/2'\n"
    );
    remove_source(&path, "two").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "# all my notes\n");
}

#[test]
fn sources_written_inline_can_be_edited() {
    let (_folder, path) = file();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "source = [{ name = 'one', path = '/1' }]\n").unwrap();
    add_source(&path, &source("two", "/2")).unwrap();
    assert_eq!(Config::load(&path).unwrap().names(), ["one", "two"]);
}

#[test]
fn nothing_is_written_to_a_file_that_cannot_be_read() {
    let (_folder, path) = file();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    for broken in ["x = [", "source = 3\n", "unknown = 1\n"] {
        fs::write(&path, broken).unwrap();
        add_source(&path, &source("notes", "/notes")).unwrap_err();
        assert_eq!(fs::read_to_string(&path).unwrap(), broken);
    }
}

#[test]
fn the_model_is_written_where_it_belongs() {
    let (_folder, path) = file();
    let after = |text: &str, name: &str| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        set_model(&path, name).unwrap();
        assert_eq!(&Config::load(&path).unwrap().model, name);
        fs::read_to_string(&path).unwrap()
    };
    // Where nothing is.
    assert_eq!(after("", "none"), "model = \"none\"\n");
    // In the place of another.
    assert_eq!(
        after(
            "# top\nmodel = 'old' # mine\noffline = true\n[search]\nlimit = 3\n",
            "new"
        ),
        "# top\nmodel = \"new\" # mine\noffline = true\n[search]\nlimit = 3\n"
    );
    // With other settings.
    let text = after(WRITTEN, "new");
    assert_eq!(
        text,
        WRITTEN.replace("# small ones\n", "# small ones\nmodel = \"new\"\n")
    );
    // Above tables, and below what stands at the top.
    let tables = "# notes about it\n[[source]]\nname = 'a'\npath = '/a'\n";
    assert_eq!(after(tables, "new"), format!("model = \"new\"\n\n{tables}"));
    assert_eq!(
        after(&format!("# My config.\n\n{tables}"), "new"),
        format!("# My config.\n\nmodel = \"new\"\n\n{tables}")
    );
    assert_eq!(
        after("# [nothing]", "new"),
        "# [nothing]\nmodel = \"new\"\n"
    );
}

#[test]
fn choosing_a_model_twice_is_choosing_it_once() {
    let (_folder, path) = file();
    set_model(&path, "one").unwrap();
    add_source(&path, &source("notes", "/notes")).unwrap();
    set_model(&path, "two").unwrap();
    let two = fs::read_to_string(&path).unwrap();
    set_model(&path, "two").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), two);
    assert_eq!(two.matches("model").count(), 1, "{two}");
}

#[test]
fn a_model_in_a_table_stays_in_it() {
    let (_folder, path) = file();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let before = "[model] # mine\nprovider = \"ollama\" # at home\nmodel = \"m\"\ndimensions = 64\nurl = \"http://h\"\n";
    fs::write(&path, before).unwrap();
    set_model(&path, "new").unwrap();
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "[model] # mine\nprovider = \"local\" # at home\nmodel = \"new\"\nurl = \"http://h\"\n"
    );
    assert_eq!(&Config::load(&path).unwrap().model, "new");
}

#[test]
fn settings_are_set_one_by_one() {
    let (_folder, path) = file();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let after = |text: &str, key: &str, value: &str| {
        fs::write(&path, text).unwrap();
        set(&path, key, value).unwrap();
        fs::read_to_string(&path).unwrap()
    };
    assert_eq!(after("", "offline", "true"), "offline = true\n");
    assert_eq!(
        after("", "max_file_size", "2 MiB"),
        "max_file_size = \"2 MiB\"\n"
    );
    assert_eq!(after("", "pages", "2024"), "pages = \"2024\"\n");
    assert_eq!(after("", "search.limit", "5"), "[search]\nlimit = 5\n");
    assert_eq!(
        after(
            "# a\n[search] # b\nlimit = 3 # c\n# d\n",
            "search.limit",
            "5"
        ),
        "# a\n[search] # b\nlimit = 5 # c\n# d\n"
    );
    assert_eq!(
        after("[search]\nlimit = 3\n", "search.fusion", "rrf"),
        "[search]\nlimit = 3\nfusion = \"rrf\"\n"
    );
    let table = after(
        "model = \"m\"\noffline = true\n",
        "model.provider",
        "ollama",
    );
    let model = Config::load(&path).unwrap().model;
    assert_eq!(model.name, "ollama/m", "{table}");
    after("memory = \"mine\"\n", "memory.retention", "90d");
    let memory = Config::load(&path).unwrap().memory;
    assert_eq!(memory.retention.as_deref(), Some("90d"));
    assert!(memory.path.unwrap().ends_with("mine"));
    // What is not valid is not written.
    fs::write(&path, "# mine\n").unwrap();
    for (key, value) in [
        ("search.limit", "many"),
        ("search.limit", "0"),
        ("offline", "perhaps"),
        ("search.fusion", "sum"),
        ("model.provider", "ollama"),
    ] {
        set(&path, key, value).unwrap_err();
        assert_eq!(fs::read_to_string(&path).unwrap(), "# mine\n");
    }
}

#[cfg(unix)]
#[test]
fn a_linked_config_stays_linked_and_keeps_its_permissions() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().join("dotfiles.toml");
    let link = folder.path().join("config.toml");
    fs::write(&real, "").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).unwrap();
    symlink("dotfiles.toml", &link).unwrap();
    add_source(&link, &source("notes", "/notes")).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("notes"));
    let mode = fs::metadata(&real).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let leftovers = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(leftovers, 2);
}
