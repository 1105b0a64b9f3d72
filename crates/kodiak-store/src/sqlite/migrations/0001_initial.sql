-- What is known about the index itself.
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- The sources that were synced, and how that went last.
CREATE TABLE sources (
    name      TEXT PRIMARY KEY,
    place     TEXT NOT NULL,
    synced_at INTEGER
) WITHOUT ROWID;

-- One row per document. The text stands apart in `bodies`, so that listing,
-- filtering and change detection read narrow rows only.
CREATE TABLE documents (
    id          INTEGER PRIMARY KEY,
    uid         TEXT NOT NULL UNIQUE,
    source      TEXT NOT NULL,
    key         TEXT NOT NULL,
    kind        TEXT NOT NULL,
    title       TEXT NOT NULL,
    category    TEXT,
    created_at  INTEGER,
    updated_at  INTEGER NOT NULL,
    deleted_at  INTEGER,
    hash        BLOB NOT NULL,
    size        INTEGER NOT NULL,
    modified_ns INTEGER NOT NULL,
    problem     TEXT,
    meta        TEXT NOT NULL DEFAULT '{}',
    UNIQUE (source, key)
);
CREATE INDEX documents_updated ON documents (updated_at);

-- `front` followed by `body` is the file as it was read.
CREATE TABLE bodies (
    document INTEGER PRIMARY KEY
        REFERENCES documents (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
    front    TEXT NOT NULL,
    body     TEXT NOT NULL
);

CREATE TABLE tags (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE COLLATE NOCASE
);

CREATE TABLE document_tags (
    document INTEGER NOT NULL
        REFERENCES documents (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
    tag      INTEGER NOT NULL REFERENCES tags (id) ON DELETE CASCADE,
    ordinal  INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (document, tag)
) WITHOUT ROWID;
CREATE INDEX document_tags_tag ON document_tags (tag);

-- Every other frontmatter field, one row per value, for filtering.
CREATE TABLE fields (
    document INTEGER NOT NULL
        REFERENCES documents (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
    name     TEXT NOT NULL COLLATE NOCASE,
    value    TEXT NOT NULL COLLATE NOCASE
);
CREATE INDEX fields_name_value ON fields (name, value);
CREATE INDEX fields_document ON fields (document);

-- What was seen and left out, so that it is not read again until it changes.
CREATE TABLE skipped (
    source      TEXT NOT NULL,
    key         TEXT NOT NULL,
    size        INTEGER NOT NULL,
    modified_ns INTEGER NOT NULL,
    reason      TEXT NOT NULL,
    PRIMARY KEY (source, key)
) WITHOUT ROWID;

-- How many documents hold each index term: the rank function's and the
-- pruning's document frequencies.
CREATE TABLE terms (
    term      TEXT PRIMARY KEY,
    documents INTEGER NOT NULL
) WITHOUT ROWID;

-- Unstemmed words, for correcting misspellings and completing prefixes. Ids
-- only grow, so that an automaton made earlier knows which words it lacks.
CREATE TABLE vocabulary (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    word      TEXT NOT NULL UNIQUE,
    documents INTEGER NOT NULL
);

-- What can be made again from the rest at any time. `upto` says how far in the
-- tables it was made from it reaches.
CREATE TABLE derived (
    name TEXT PRIMARY KEY,
    upto INTEGER NOT NULL,
    data BLOB NOT NULL
) WITHOUT ROWID;

CREATE VIEW documents_text AS
SELECT d.id, d.title, b.body,
       coalesce((SELECT group_concat(t.name, ' ')
                 FROM document_tags AS dt JOIN tags AS t ON t.id = dt.tag
                 WHERE dt.document = d.id), '') AS tags
FROM documents AS d JOIN bodies AS b ON b.document = d.id
WHERE d.deleted_at IS NULL;

CREATE VIRTUAL TABLE documents_fts USING fts5 (
    title, body, tags,
    content = '', contentless_delete = 1, tokenize = 'kodiak'
);

-- Larger pieces before they are written: fewer to merge.
INSERT INTO documents_fts (documents_fts, rank) VALUES ('hashsize', 8388608);

-- The full text follows its tables and nothing else does: each trigger takes
-- the row out and puts it in again from the view, which leaves out what is
-- incomplete or deleted. A writer that adds body and tags before the document
-- indexes it once.
CREATE TRIGGER documents_fts_insert AFTER INSERT ON documents BEGIN
    DELETE FROM documents_fts WHERE rowid = new.id;
    INSERT INTO documents_fts (rowid, title, body, tags)
    SELECT id, title, body, tags FROM documents_text WHERE id = new.id;
END;
CREATE TRIGGER documents_fts_update AFTER UPDATE OF id, title, deleted_at ON documents BEGIN
    DELETE FROM documents_fts WHERE rowid IN (old.id, new.id);
    INSERT INTO documents_fts (rowid, title, body, tags)
    SELECT id, title, body, tags FROM documents_text WHERE id = new.id;
END;
CREATE TRIGGER documents_fts_delete AFTER DELETE ON documents BEGIN
    DELETE FROM documents_fts WHERE rowid = old.id;
END;

CREATE TRIGGER bodies_fts_insert AFTER INSERT ON bodies BEGIN
    DELETE FROM documents_fts WHERE rowid = new.document;
    INSERT INTO documents_fts (rowid, title, body, tags)
    SELECT id, title, body, tags FROM documents_text WHERE id = new.document;
END;
CREATE TRIGGER bodies_fts_update AFTER UPDATE OF document, body ON bodies BEGIN
    DELETE FROM documents_fts WHERE rowid IN (old.document, new.document);
    INSERT INTO documents_fts (rowid, title, body, tags)
    SELECT id, title, body, tags FROM documents_text WHERE id = new.document;
END;
CREATE TRIGGER bodies_fts_delete AFTER DELETE ON bodies BEGIN
    DELETE FROM documents_fts WHERE rowid = old.document;
END;

CREATE TRIGGER document_tags_fts_insert AFTER INSERT ON document_tags BEGIN
    DELETE FROM documents_fts WHERE rowid = new.document;
    INSERT INTO documents_fts (rowid, title, body, tags)
    SELECT id, title, body, tags FROM documents_text WHERE id = new.document;
END;
CREATE TRIGGER document_tags_fts_delete AFTER DELETE ON document_tags BEGIN
    DELETE FROM documents_fts WHERE rowid = old.document;
    INSERT INTO documents_fts (rowid, title, body, tags)
    SELECT id, title, body, tags FROM documents_text WHERE id = old.document;
END;
CREATE TRIGGER document_tags_fts_update AFTER UPDATE OF document, tag ON document_tags BEGIN
    DELETE FROM documents_fts WHERE rowid IN (old.document, new.document);
    INSERT INTO documents_fts (rowid, title, body, tags)
    SELECT id, title, body, tags FROM documents_text WHERE id IN (old.document, new.document);
END;

CREATE TRIGGER tags_fts_rename AFTER UPDATE OF name ON tags BEGIN
    DELETE FROM documents_fts
    WHERE rowid IN (SELECT document FROM document_tags WHERE tag = new.id);
    INSERT INTO documents_fts (rowid, title, body, tags)
    SELECT id, title, body, tags FROM documents_text
    WHERE id IN (SELECT document FROM document_tags WHERE tag = new.id);
END;
