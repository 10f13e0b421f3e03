-- the versions of the tables that the host keeps beside the suite's
CREATE TABLE store_component (
    name    TEXT PRIMARY KEY,
    version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Times are nanoseconds since 1970, hashes and bodies BLOBs, `record` is the whole record as JSON; the columns beside
-- it are what is searched by, and what changes.

CREATE TABLE oauth_client (
    id     TEXT PRIMARY KEY,
    record TEXT NOT NULL
) STRICT;

CREATE TABLE oauth_interaction (
    id         BLOB PRIMARY KEY,
    expires_at INTEGER NOT NULL,
    record     TEXT NOT NULL
) STRICT;
CREATE INDEX oauth_interaction_expired ON oauth_interaction (expires_at);

CREATE TABLE oauth_code (
    hash         BLOB PRIMARY KEY,
    expires_at   INTEGER NOT NULL,
    retain_until INTEGER NOT NULL,
    redeemed     BLOB,  -- the family it bought
    record       TEXT NOT NULL,
    purge_at     INTEGER NOT NULL AS (iif(redeemed IS NULL, expires_at, retain_until))
) STRICT;
CREATE INDEX oauth_code_purgeable ON oauth_code (purge_at);

CREATE TABLE oauth_family (
    id           BLOB PRIMARY KEY,
    expires_at   INTEGER NOT NULL,
    retain_until INTEGER NOT NULL,
    revocation   TEXT,  -- the whole revocation as JSON
    record       TEXT NOT NULL
) STRICT;
CREATE INDEX oauth_family_purgeable ON oauth_family (retain_until);

CREATE TABLE oauth_refresh_token (
    hash       BLOB PRIMARY KEY,
    family     BLOB NOT NULL REFERENCES oauth_family (id),
    expires_at INTEGER NOT NULL,
    rotated_at INTEGER,
    record     TEXT NOT NULL
) STRICT;
CREATE INDEX oauth_refresh_token_of_family ON oauth_refresh_token (family);
-- one live leaf per family, whoever writes
CREATE UNIQUE INDEX oauth_refresh_token_leaf ON oauth_refresh_token (family) WHERE rotated_at IS NULL;

CREATE TABLE oauth_access_token (
    hash       BLOB PRIMARY KEY,
    family     BLOB,
    expires_at INTEGER NOT NULL,
    revoked_at INTEGER,
    record     TEXT NOT NULL
) STRICT;
CREATE INDEX oauth_access_token_expired ON oauth_access_token (expires_at);
