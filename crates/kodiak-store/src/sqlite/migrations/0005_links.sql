-- The links of documents, one row for each document and target. The number of a link
-- is that of its document times 4096, plus its place in it. `target` is as written and
-- resolved when it is needed; `name` is the hash of its last part. `titled` says whether
-- it may be a title.
CREATE TABLE links (
    id     INTEGER PRIMARY KEY,
    name   INTEGER NOT NULL,
    target TEXT NOT NULL,
    titled INTEGER NOT NULL
);

-- The texts of the links, by the number of the link.
CREATE VIRTUAL TABLE links_fts USING fts5 (
    texts,
    content = '', contentless_delete = 1, tokenize = 'kodiak'
);

-- The names that links may call a document by, as hashes. A name may be outdated, so
-- what it leads to is compared with the document.
CREATE TABLE names (
    name     INTEGER NOT NULL,
    document INTEGER NOT NULL,
    PRIMARY KEY (name, document)
) WITHOUT ROWID;

CREATE TRIGGER documents_links_delete AFTER DELETE ON documents BEGIN
    DELETE FROM links_fts WHERE rowid IN
        (SELECT id FROM links WHERE id BETWEEN old.id << 12 AND (old.id << 12) + 4095);
    DELETE FROM links WHERE id BETWEEN old.id << 12 AND (old.id << 12) + 4095;
END;
