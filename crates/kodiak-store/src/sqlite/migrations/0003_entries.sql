-- What a source has, whatever was made of it: one entry, any number of
-- documents. `version` is that of what was read, all zero where it must be read
-- again; `skipped` says why nothing could be read.
CREATE TABLE entries (
    id      INTEGER PRIMARY KEY,
    source  TEXT NOT NULL,
    key     TEXT NOT NULL,
    version BLOB NOT NULL,
    size    INTEGER NOT NULL,
    skipped TEXT,
    UNIQUE (source, key)
);

-- Until now every document was an entry of its own.
INSERT INTO entries (id, source, key, version, size)
SELECT id, source, key, zeroblob(16), size FROM documents;
INSERT OR IGNORE INTO entries (source, key, version, size, skipped)
SELECT source, key, zeroblob(16), size, reason FROM skipped;
DROP TABLE skipped;

ALTER TABLE documents ADD COLUMN entry INTEGER REFERENCES entries (id);
ALTER TABLE documents ADD COLUMN markup TEXT NOT NULL DEFAULT 'markdown';
ALTER TABLE documents ADD COLUMN thread TEXT COLLATE NOCASE;
ALTER TABLE documents ADD COLUMN position INTEGER;
ALTER TABLE documents ADD COLUMN author TEXT;
ALTER TABLE documents ADD COLUMN project TEXT;

UPDATE documents SET
    entry = id,
    markup = CASE
        WHEN key LIKE '%_.org' THEN 'org'
        WHEN key LIKE '%_.txt' THEN 'plain'
        ELSE 'markdown' END,
    thread = coalesce(
        (SELECT value FROM fields WHERE document = documents.id AND name = 'thread' AND value <> ''),
        (SELECT value FROM fields WHERE document = documents.id AND name = 'session' AND value <> '')),
    author = coalesce(
        (SELECT value FROM fields WHERE document = documents.id AND name = 'author' AND value <> ''),
        (SELECT value FROM fields WHERE document = documents.id AND name = 'speaker' AND value <> '')),
    project =
        (SELECT value FROM fields WHERE document = documents.id AND name = 'project' AND value <> '');

CREATE INDEX documents_entry ON documents (entry);
CREATE INDEX documents_thread ON documents (source, thread) WHERE thread IS NOT NULL;

ALTER TABLE documents DROP COLUMN meta;
ALTER TABLE documents DROP COLUMN size;
ALTER TABLE documents DROP COLUMN modified_ns;
