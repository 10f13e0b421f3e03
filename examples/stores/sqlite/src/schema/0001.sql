-- the versions of the tables that the host keeps beside the suite's
CREATE TABLE store_component (
    name    TEXT PRIMARY KEY,
    version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Times are nanoseconds since 1970, hashes and bodies BLOBs. Where there is a `record` it is the whole record as JSON,
-- and the columns beside it are what is searched by and what changes.

CREATE TABLE idempotency_record (
    key         BLOB PRIMARY KEY,
    fingerprint BLOB NOT NULL,
    fence       BLOB,           -- null once it is settled
    state       TEXT NOT NULL,  -- as JSON, without the body
    body        BLOB,
    expires_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX idempotency_record_expired ON idempotency_record (expires_at);

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

CREATE TABLE webhook_claim (
    source     TEXT NOT NULL,
    event      TEXT NOT NULL,
    digest     BLOB NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (source, event)
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_claim_expired ON webhook_claim (expires_at);

-- what was received and is not finished, oldest first by `seq`
CREATE TABLE webhook_received (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    source       TEXT NOT NULL,
    event        TEXT NOT NULL,
    leased_until INTEGER,
    lease        INTEGER UNIQUE,
    takes        INTEGER NOT NULL DEFAULT 0,
    body         BLOB NOT NULL
) STRICT;
-- the number of the latest lease, of which no two are equal
CREATE TABLE webhook_lease (
    last INTEGER NOT NULL
) STRICT;
INSERT INTO webhook_lease (last) VALUES (0);

CREATE TABLE webhook_endpoint (
    id      TEXT PRIMARY KEY,
    url     TEXT NOT NULL,
    events  TEXT,           -- the types it asked for as JSON; null for every one
    signers TEXT NOT NULL,  -- schemes and secrets as JSON
    state   TEXT NOT NULL
) STRICT;
CREATE TABLE webhook_subscription (
    event_type TEXT NOT NULL,  -- `*` for every one
    endpoint   TEXT NOT NULL REFERENCES webhook_endpoint (id),
    PRIMARY KEY (event_type, endpoint)
) STRICT, WITHOUT ROWID;

CREATE TABLE webhook_event (
    id         TEXT PRIMARY KEY,
    event_type TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    body       BLOB NOT NULL
) STRICT;
CREATE INDEX webhook_event_created ON webhook_event (created_at);

CREATE TABLE webhook_delivery (
    event      TEXT NOT NULL REFERENCES webhook_event (id),
    endpoint   TEXT NOT NULL,
    state      TEXT NOT NULL,
    due_at     INTEGER NOT NULL,
    attempts   INTEGER NOT NULL,
    fence      INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    reason     TEXT,
    crashes    INTEGER NOT NULL,
    PRIMARY KEY (event, endpoint)
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_delivery_live ON webhook_delivery (endpoint, due_at, event)
    WHERE state IN ('ready', 'retry_scheduled', 'leased');
CREATE INDEX webhook_delivery_leased ON webhook_delivery (endpoint, due_at) WHERE state = 'leased';
CREATE INDEX webhook_delivery_failed ON webhook_delivery (event, endpoint)
    WHERE state IN ('permanent_failure', 'dead_letter');

-- whose turn it is, until when it is left alone, and how the endpoint does
CREATE TABLE webhook_lane (
    endpoint      TEXT PRIMARY KEY,
    last_turn     INTEGER NOT NULL DEFAULT 0,
    held_until    INTEGER,
    concurrency   INTEGER NOT NULL,
    successes     INTEGER NOT NULL,
    failures      INTEGER NOT NULL,
    failing_since INTEGER,
    pauses        INTEGER NOT NULL,
    counts_from   INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_lane_turn ON webhook_lane (last_turn, endpoint);

CREATE TABLE webhook_attempt (
    event      TEXT NOT NULL,
    endpoint   TEXT NOT NULL,
    fence      INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    duration   INTEGER NOT NULL,  -- nanoseconds
    status     INTEGER,
    body       BLOB,
    failure    TEXT,
    message    TEXT,
    PRIMARY KEY (event, endpoint, fence)
) STRICT, WITHOUT ROWID;
