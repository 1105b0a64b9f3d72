-- Which states the index has had: a random number for each. Numbers that only grow go back
-- when a backup is restored, and when a replica takes over that lacks the last commits; the
-- number of a state does not come again. A server that finds the state that it has seen among
-- these knows that what it keeps is of the same past.
CREATE TABLE states (
    revision bigint PRIMARY KEY,
    stamp    bigint NOT NULL
        DEFAULT ('x' || right(replace(gen_random_uuid()::text, '-', ''), 16))::bit(64)::bigint
);
INSERT INTO states (revision) SELECT revision FROM state;

-- What the server knows about the values of a column would keep texts that were erased. A
-- column that is given its type once more loses what is known about it so far.
ALTER TABLE sources
    ALTER place TYPE text COLLATE "C", ALTER place SET STATISTICS 0;
ALTER TABLE entries
    ALTER key TYPE text COLLATE "C", ALTER key SET STATISTICS 0,
    ALTER skipped TYPE text COLLATE "C", ALTER skipped SET STATISTICS 0;
ALTER TABLE containers
    ALTER key TYPE text COLLATE "C", ALTER key SET STATISTICS 0;
ALTER TABLE documents
    ALTER key TYPE text COLLATE "C", ALTER key SET STATISTICS 0,
    ALTER title TYPE text COLLATE "C", ALTER title SET STATISTICS 0,
    ALTER category TYPE text COLLATE "C", ALTER category SET STATISTICS 0,
    ALTER problem TYPE text COLLATE "C", ALTER problem SET STATISTICS 0,
    ALTER thread TYPE text COLLATE "C", ALTER thread SET STATISTICS 0,
    ALTER author TYPE text COLLATE "C", ALTER author SET STATISTICS 0,
    ALTER project TYPE text COLLATE "C", ALTER project SET STATISTICS 0;
ALTER TABLE bodies
    ALTER front TYPE text COLLATE "C", ALTER front SET STATISTICS 0,
    ALTER body TYPE text COLLATE "C", ALTER body SET STATISTICS 0,
    ALTER titles TYPE text COLLATE "C", ALTER titles SET STATISTICS 0,
    ALTER tags TYPE text COLLATE "C", ALTER tags SET STATISTICS 0;
ALTER TABLE tags
    ALTER name TYPE text COLLATE "C", ALTER name SET STATISTICS 0;
ALTER TABLE fields
    ALTER name TYPE text COLLATE "C", ALTER name SET STATISTICS 0,
    ALTER value TYPE text COLLATE "C", ALTER value SET STATISTICS 0;
ALTER TABLE segments
    ALTER project TYPE text COLLATE "C", ALTER project SET STATISTICS 0;
ALTER TABLE postings
    ALTER term TYPE text COLLATE "C", ALTER term SET STATISTICS 0;
ALTER TABLE terms
    ALTER term TYPE text COLLATE "C", ALTER term SET STATISTICS 0;
ALTER TABLE words
    ALTER word TYPE text COLLATE "C", ALTER word SET STATISTICS 0;
ALTER TABLE links
    ALTER target TYPE text COLLATE "C", ALTER target SET STATISTICS 0,
    ALTER texts TYPE text COLLATE "C", ALTER texts SET STATISTICS 0;
ALTER TABLE link_terms
    ALTER term TYPE text COLLATE "C", ALTER term SET STATISTICS 0;
ALTER TABLE chunks
    ALTER heading TYPE text COLLATE "C", ALTER heading SET STATISTICS 0;
ALTER TABLE embedding_failures
    ALTER reason TYPE text COLLATE "C", ALTER reason SET STATISTICS 0;
ALTER TABLE team_files
    ALTER path TYPE text COLLATE "C", ALTER path SET STATISTICS 0,
    ALTER text TYPE text COLLATE "C", ALTER text SET STATISTICS 0,
    ALTER author TYPE text COLLATE "C", ALTER author SET STATISTICS 0,
    ALTER trashed TYPE text COLLATE "C", ALTER trashed SET STATISTICS 0;
ALTER TABLE team_files
    ALTER former TYPE text[] COLLATE "C", ALTER former SET STATISTICS 0;
ALTER TABLE segments ALTER members SET STATISTICS 0, ALTER deleted SET STATISTICS 0;
ALTER TABLE postings ALTER block SET STATISTICS 0, ALTER positions SET STATISTICS 0;
ALTER TABLE embeddings ALTER vector SET STATISTICS 0;
ALTER TABLE journals ALTER record SET STATISTICS 0;
ALTER INDEX documents_title ALTER COLUMN 1 SET STATISTICS 0;
ALTER INDEX documents_thread ALTER COLUMN 2 SET STATISTICS 0;
ALTER INDEX fields_value ALTER COLUMN 1 SET STATISTICS 0;
ALTER INDEX fields_value ALTER COLUMN 2 SET STATISTICS 0;

-- The version of the analysis that made terms of texts.
ALTER TABLE state ADD COLUMN analysis bigint NOT NULL DEFAULT 1;
