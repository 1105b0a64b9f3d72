-- The tables of an index. Texts are compared by their bytes, and `lower` of them changes
-- ASCII alone, as everywhere in Kodiak. Whatever may be long is found by a hash, or by
-- its beginning: an entry of an index has at most 2,700 bytes.

-- What is known about the index itself. Everything here changes in the transaction of
-- what it counts.
CREATE TABLE state (
    one           boolean PRIMARY KEY DEFAULT true CHECK (one),
    -- Which filling of the index this is: what was derived from another is of no use.
    generation    text COLLATE "C" NOT NULL,
    stemming      text COLLATE "C" NOT NULL,
    -- Grows with every change of anything, of the segments, and around the texts of
    -- documents.
    revision      bigint NOT NULL DEFAULT 0,
    changed       bigint NOT NULL DEFAULT 0,
    touched       bigint NOT NULL DEFAULT 0,
    -- The documents, and the terms in them.
    documents     bigint NOT NULL DEFAULT 0,
    length        bigint NOT NULL DEFAULT 0,
    last_document bigint NOT NULL DEFAULT 0,
    last_entry    bigint NOT NULL DEFAULT 0,
    last_chunk    bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

CREATE TABLE sources (
    name      text COLLATE "C" PRIMARY KEY,
    place     text COLLATE "C" NOT NULL,
    synced_at bigint
);

-- `uid` is the hash of source and key.
CREATE TABLE entries (
    id      bigint PRIMARY KEY,
    uid     text COLLATE "C" NOT NULL UNIQUE,
    source  text COLLATE "C" NOT NULL,
    key     text COLLATE "C" NOT NULL,
    version bytea NOT NULL,
    size    bigint NOT NULL,
    skipped text COLLATE "C"
);
CREATE INDEX entries_source ON entries (source, id);

CREATE TABLE containers (
    uid     text COLLATE "C" PRIMARY KEY,
    source  text COLLATE "C" NOT NULL,
    key     text COLLATE "C" NOT NULL,
    version bytea NOT NULL
);
CREATE INDEX containers_source ON containers (source);

CREATE TABLE documents (
    id         bigint PRIMARY KEY,
    uid        text COLLATE "C" NOT NULL UNIQUE,
    source     text COLLATE "C" NOT NULL,
    key        text COLLATE "C" NOT NULL,
    kind       text COLLATE "C" NOT NULL,
    title      text COLLATE "C" NOT NULL,
    category   text COLLATE "C",
    created_at bigint,
    updated_at bigint NOT NULL,
    hash       bytea NOT NULL,
    problem    text COLLATE "C",
    chunked    bigint NOT NULL,
    entry      bigint NOT NULL,
    markup     text COLLATE "C" NOT NULL,
    thread     text COLLATE "C",
    position   bigint,
    author     text COLLATE "C",
    project    text COLLATE "C"
);
CREATE INDEX documents_updated ON documents (updated_at, id);
CREATE INDEX documents_source ON documents (source);
CREATE INDEX documents_entry ON documents (entry);
CREATE INDEX documents_key ON documents USING hash (key);
CREATE INDEX documents_title ON documents ((left(lower(title), 200)));
CREATE INDEX documents_thread ON documents (source, (left(lower(thread), 200)))
    WHERE thread IS NOT NULL;
CREATE INDEX documents_project ON documents (project) WHERE project IS NOT NULL;

-- `front` followed by `body` is the file as it was read. `titles` and `tags` are what was
-- indexed beside the body.
CREATE TABLE bodies (
    document bigint PRIMARY KEY,
    front    text COLLATE "C" NOT NULL,
    body     text COLLATE "C" NOT NULL,
    titles   text COLLATE "C" NOT NULL,
    tags     text COLLATE "C" NOT NULL
);

-- The number of a tag is the hash of its name without regard to ASCII case.
CREATE TABLE tags (
    id   bigint PRIMARY KEY,
    name text COLLATE "C" NOT NULL
);
CREATE TABLE document_tags (
    document bigint NOT NULL,
    tag      bigint NOT NULL,
    ordinal  bigint NOT NULL,
    PRIMARY KEY (document, tag)
);
CREATE INDEX document_tags_tag ON document_tags (tag);

CREATE TABLE fields (
    document bigint NOT NULL,
    ordinal  bigint NOT NULL,
    name     text COLLATE "C" NOT NULL,
    value    text COLLATE "C" NOT NULL,
    PRIMARY KEY (document, ordinal)
);
CREATE INDEX fields_value ON fields ((left(lower(name), 200)), (left(lower(value), 200)));

-- The posting segments: the documents of each, and the marks of those that are gone.
-- Numbers are never used again, so that what a server keeps of a segment stays true.
CREATE SEQUENCE segment_ids;
CREATE TABLE segments (
    id        bigint PRIMARY KEY,
    source    text COLLATE "C" NOT NULL,
    project   text COLLATE "C",
    documents bigint NOT NULL,
    members   bytea NOT NULL,
    deleted   bytea NOT NULL,
    changed   bigint NOT NULL
) WITH (fillfactor = 80);
CREATE TABLE postings (
    term      text COLLATE "C" NOT NULL,
    segment   bigint NOT NULL,
    documents bigint NOT NULL,
    block     bytea NOT NULL,
    positions bytea NOT NULL,
    PRIMARY KEY (term, segment)
);
CREATE INDEX postings_segment ON postings (segment);
-- They are as small as they get.
ALTER TABLE postings ALTER block SET STORAGE EXTERNAL, ALTER positions SET STORAGE EXTERNAL;
ALTER TABLE segments ALTER members SET STORAGE EXTERNAL, ALTER deleted SET STORAGE EXTERNAL;

-- How many documents have each term, and each word as written.
CREATE TABLE terms (
    term      text COLLATE "C" PRIMARY KEY,
    documents bigint NOT NULL
) WITH (fillfactor = 80);
-- Numbers only grow, so that a server knows which words it lacks.
CREATE TABLE words (
    id        bigint GENERATED ALWAYS AS IDENTITY,
    word      text COLLATE "C" PRIMARY KEY,
    documents bigint NOT NULL
) WITH (fillfactor = 80);
CREATE INDEX words_id ON words (id);

-- The number of a link is that of its document times 4096, plus its place in it.
CREATE TABLE links (
    id       bigint PRIMARY KEY,
    document bigint NOT NULL,
    name     bigint NOT NULL,
    target   text COLLATE "C" NOT NULL,
    titled   boolean NOT NULL,
    texts    text COLLATE "C" NOT NULL
);
CREATE INDEX links_document ON links (document);
CREATE INDEX links_name ON links (name);
CREATE TABLE link_terms (
    term text COLLATE "C" NOT NULL,
    link bigint NOT NULL,
    PRIMARY KEY (term, link)
);
CREATE INDEX link_terms_link ON link_terms (link);
-- The names that links may call a document by, as hashes.
CREATE TABLE names (
    name     bigint NOT NULL,
    document bigint NOT NULL,
    PRIMARY KEY (name, document)
);
CREATE INDEX names_document ON names (document);

CREATE TABLE chunks (
    id         bigint PRIMARY KEY,
    document   bigint NOT NULL,
    ordinal    bigint NOT NULL,
    start_byte bigint NOT NULL,
    end_byte   bigint NOT NULL,
    start_line bigint NOT NULL,
    end_line   bigint NOT NULL,
    heading    text COLLATE "C" NOT NULL,
    text_hash  bytea NOT NULL,
    UNIQUE (document, ordinal)
);
CREATE INDEX chunks_ordinal ON chunks (ordinal);
CREATE TABLE models (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key        text COLLATE "C" NOT NULL UNIQUE,
    name       text COLLATE "C" NOT NULL,
    dimensions bigint NOT NULL,
    serving    boolean NOT NULL
);
-- Vectors of length one, 32-bit floats, little-endian. Numbers only grow, so that a server
-- knows which it lacks.
CREATE TABLE embeddings (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    chunk  bigint NOT NULL,
    model  bigint NOT NULL,
    vector bytea NOT NULL,
    UNIQUE (chunk, model)
);
ALTER TABLE embeddings ALTER vector SET STORAGE EXTERNAL;
CREATE TABLE embedding_failures (
    chunk     bigint NOT NULL,
    model     bigint NOT NULL,
    reason    text COLLATE "C" NOT NULL,
    failed_at bigint NOT NULL,
    PRIMARY KEY (chunk, model)
);
