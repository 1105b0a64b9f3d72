-- What a team keeps beside its index: the files of its notes, and what is recorded about
-- erasing. Nothing here can be made anew from anywhere else: emptying the index, or setting
-- it aside, leaves all of it.

-- `version` grows with every change of a file of the source. `epoch` is another one in every
-- database, so that a version is of this one alone.
CREATE TABLE IF NOT EXISTS team_folders (
    source  text COLLATE "C" PRIMARY KEY,
    epoch   bytea NOT NULL,
    version bigint NOT NULL
) WITH (fillfactor = 50);

-- `text` is the file, frontmatter and all, and `hash` the BLAKE3 hash of it. `version` is
-- that of the source when the file was changed last. A file in the trash has the name
-- `trashed` there. `former` are the paths that it had: an index may have it under one.
CREATE TABLE IF NOT EXISTS team_files (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source     text COLLATE "C" NOT NULL,
    path       text COLLATE "C" NOT NULL,
    text       text COLLATE "C" NOT NULL,
    hash       bytea NOT NULL,
    author     text COLLATE "C",
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    deleted_at bigint,
    trashed    text COLLATE "C",
    former     text[] COLLATE "C" NOT NULL DEFAULT '{}',
    version    bigint NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS team_files_path ON team_files (source, path)
    WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX IF NOT EXISTS team_files_trashed ON team_files (source, trashed)
    WHERE deleted_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS team_files_version ON team_files (source, version);

-- What was erased and must not come back, as hashes. Numbers grow in the order of commits.
CREATE TABLE IF NOT EXISTS tombstones (
    id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    hash text COLLATE "C" NOT NULL UNIQUE
);

-- What has begun and must be finished, whichever server finishes it.
CREATE TABLE IF NOT EXISTS journals (
    name   text COLLATE "C" PRIMARY KEY,
    record bytea NOT NULL
);

-- Grows with every erasing, so that servers drop what they keep.
ALTER TABLE state ADD COLUMN erased bigint NOT NULL DEFAULT 0;
