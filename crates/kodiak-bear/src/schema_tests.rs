use tiny_bear::{Bear, Generation};

use super::*;

fn database(change: impl Fn(&Connection, Generation)) -> Vec<rusqlite::Result<Discovered>> {
    Generation::ALL
        .into_iter()
        .map(|generation| {
            let folder = tempfile::tempdir().unwrap();
            let bear = Bear::create(&folder.path().join("db"), generation).unwrap();
            change(bear.connection(), generation);
            discover(bear.connection())
        })
        .collect()
}

fn tags_of(discovered: &rusqlite::Result<Discovered>) -> Option<&str> {
    let schema = discovered.as_ref().unwrap().as_ref().unwrap();
    schema.tags.as_ref().map(|tags| tags.all.as_str())
}

#[test]
fn the_tags_of_notes_are_found_in_every_generation() {
    let expected = [
        Some("SELECT Z_7NOTES, Z_14TAGS FROM Z_7TAGS"),
        Some("SELECT Z_5NOTES, Z_13TAGS FROM Z_5TAGS"),
    ];
    let found = database(|_, _| {});
    assert_eq!(found.iter().map(tags_of).collect::<Vec<_>>(), expected);
    // By their names, where the numbers are missing or lead nowhere.
    for change in [
        "DROP TABLE Z_PRIMARYKEY",
        "DELETE FROM Z_PRIMARYKEY",
        "UPDATE Z_PRIMARYKEY SET Z_ENT = Z_ENT + 100",
    ] {
        let found = database(|connection, _| connection.execute_batch(change).unwrap());
        assert_eq!(
            found.iter().map(tags_of).collect::<Vec<_>>(),
            expected,
            "{change}"
        );
    }
}

#[test]
fn notes_pinned_in_tags_are_not_the_tags_of_notes() {
    let found = database(|connection, generation| {
        let number = generation.note();
        let drop = format!("DROP TABLE Z_{number}TAGS; DROP TABLE Z_PRIMARYKEY");
        connection.execute_batch(&drop).unwrap();
    });
    assert_eq!(found.iter().map(tags_of).collect::<Vec<_>>(), [None, None]);
    assert!(!is_numbered("Z_5PINNEDINTAGS", "TAGS"));
    assert!(!is_numbered("Z_TAGS", "TAGS"));
    assert!(!is_numbered("Z_5TAGSX", "TAGS"));
    assert!(is_numbered("Z_13TAGS", "TAGS"));
}

#[test]
fn what_is_missing_is_named() {
    for (change, expected) in [
        ("DROP TABLE ZSFNOTE", "table ZSFNOTE"),
        (
            "ALTER TABLE ZSFNOTE DROP COLUMN ZTEXT",
            "column ZTEXT in the table ZSFNOTE",
        ),
        (
            "ALTER TABLE ZSFNOTE DROP COLUMN ZTRASHED",
            "column ZTRASHED in the table ZSFNOTE",
        ),
    ] {
        for found in database(|connection, _| connection.execute_batch(change).unwrap()) {
            let lacking = found.unwrap().unwrap_err();
            assert_eq!(lacking, Lacking(expected.to_owned()));
        }
    }
}

#[test]
fn columns_of_later_versions_may_be_missing() {
    let found = database(|connection, _| {
        for column in [
            "Z_OPT",
            "ZARCHIVED",
            "ZENCRYPTED",
            "ZPERMANENTLYDELETED",
            "ZPINNED",
            "ZCREATIONDATE",
        ] {
            let drop = format!("ALTER TABLE ZSFNOTE DROP COLUMN {column}");
            connection.execute_batch(&drop).unwrap();
        }
        let drop = "DROP TABLE ZSFNOTETAG; DROP TABLE ZSFNOTEFILE";
        connection.execute_batch(drop).unwrap();
    });
    for schema in found {
        let schema = schema.unwrap().unwrap();
        assert!(schema.tags.is_none() && schema.files.is_none());
        assert!(schema.notes.ends_with("WHERE COALESCE(ZTRASHED, 0) = 0"));
    }
}
