-- Passages of documents, cut once whatever model is used. `chunked` says by
-- which rules a document was cut; what was cut by others, or never, is cut anew.
ALTER TABLE documents ADD COLUMN chunked INTEGER NOT NULL DEFAULT 0;

-- Ids only grow, so that vectors kept elsewhere never come to stand for
-- another passage.
CREATE TABLE chunks (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    document   INTEGER NOT NULL
        REFERENCES documents (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
    ordinal    INTEGER NOT NULL,
    start_byte INTEGER NOT NULL,
    end_byte   INTEGER NOT NULL,
    start_line INTEGER NOT NULL,
    end_line   INTEGER NOT NULL,
    heading    TEXT NOT NULL,
    text_hash  BLOB NOT NULL
);
CREATE UNIQUE INDEX chunks_document ON chunks (document, ordinal);

-- The models that made vectors here. One of them answers; another may be
-- filling up to take its place.
CREATE TABLE models (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    key        TEXT NOT NULL UNIQUE,
    name       TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    serving    INTEGER NOT NULL DEFAULT 0
);

-- Vectors of length one, 32-bit floats, little-endian. Ids only grow, so that
-- a file made from them earlier knows which it lacks.
CREATE TABLE embeddings (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    chunk  INTEGER NOT NULL REFERENCES chunks (id) ON DELETE CASCADE,
    model  INTEGER NOT NULL REFERENCES models (id) ON DELETE CASCADE,
    vector BLOB NOT NULL,
    UNIQUE (chunk, model)
);

-- Passages a model could not embed; tried again by the next run.
CREATE TABLE embedding_failures (
    chunk     INTEGER NOT NULL REFERENCES chunks (id) ON DELETE CASCADE,
    model     INTEGER NOT NULL REFERENCES models (id) ON DELETE CASCADE,
    reason    TEXT NOT NULL,
    failed_at INTEGER NOT NULL,
    PRIMARY KEY (chunk, model)
) WITHOUT ROWID;

-- Which filling of the index this is: files derived from another are of no use.
INSERT OR REPLACE INTO meta (key, value) VALUES ('generation', lower(hex(randomblob(16))));
