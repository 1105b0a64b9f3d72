-- The tokens that let people in to a team's servers. A token itself is not kept: only its
-- hash is.
CREATE TABLE IF NOT EXISTS tokens (
    hash       text COLLATE "C" PRIMARY KEY,
    name       text COLLATE "C" NOT NULL UNIQUE,
    can_write  boolean NOT NULL,
    -- What exists for its holder; everything if absent.
    sources    text[] COLLATE "C",
    project    text COLLATE "C",
    created_at bigint NOT NULL,
    expires_at bigint,
    -- The day on which it was last used, counted from 1970.
    used_on    bigint
);
