-- The folders, or whatever else entries appear in and vanish from, with the
-- versions they had before they were last listed. All zero where a version
-- cannot be trusted.
CREATE TABLE containers (
    source  TEXT NOT NULL,
    key     TEXT NOT NULL,
    version BLOB NOT NULL,
    PRIMARY KEY (source, key)
) WITHOUT ROWID;
