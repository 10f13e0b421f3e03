-- Times are nanoseconds since 1970, hashes and bodies BLOBs.

CREATE TABLE webhook_claim (
    source     TEXT NOT NULL,
    event      TEXT NOT NULL,
    digest     BLOB NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (source, event)
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_claim_expired ON webhook_claim (expires_at);

-- received events that are not finished, oldest first by `seq`
CREATE TABLE webhook_received (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    source       TEXT NOT NULL,
    event        TEXT NOT NULL,
    leased_until INTEGER,
    lease        INTEGER UNIQUE,
    takes        INTEGER NOT NULL DEFAULT 0,
    body         BLOB NOT NULL
) STRICT;

-- number of the latest lease; numbers are never reused
CREATE TABLE webhook_lease (
    last INTEGER NOT NULL
) STRICT;
INSERT INTO webhook_lease (last) VALUES (0);

CREATE TABLE webhook_endpoint (
    id      TEXT PRIMARY KEY,
    url     TEXT NOT NULL,
    events  TEXT,           -- subscribed types as JSON; null for all
    signers TEXT NOT NULL,  -- schemes and secrets as JSON
    state   TEXT NOT NULL,
    classification TEXT NOT NULL
) STRICT;

CREATE TABLE webhook_subscription (
    event_type TEXT NOT NULL,  -- `*` for all
    endpoint   TEXT NOT NULL REFERENCES webhook_endpoint (id),
    PRIMARY KEY (event_type, endpoint)
) STRICT, WITHOUT ROWID;

CREATE TABLE webhook_event (
    id         TEXT PRIMARY KEY,
    event_type TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    body       BLOB NOT NULL
) STRICT;
-- the order in which missing events are searched and old ones purged
CREATE INDEX webhook_event_created ON webhook_event (created_at, id);

CREATE TABLE webhook_delivery (
    event      TEXT NOT NULL REFERENCES webhook_event (id),
    endpoint   TEXT NOT NULL,
    state      TEXT NOT NULL,
    due_at     INTEGER NOT NULL,
    attempts   INTEGER NOT NULL,
    fence      INTEGER NOT NULL,
    owner      INTEGER,  -- instance that holds the lease
    started_at INTEGER NOT NULL,
    reason     TEXT,
    crashes    INTEGER NOT NULL,
    PRIMARY KEY (event, endpoint)
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_delivery_live ON webhook_delivery (endpoint, due_at, event)
    WHERE state IN ('ready', 'retry_scheduled', 'leased');
CREATE INDEX webhook_delivery_leased ON webhook_delivery (endpoint, due_at) WHERE state = 'leased';
-- deliveries that may have crashed their worker; almost always empty
CREATE INDEX webhook_delivery_suspect ON webhook_delivery (endpoint, due_at, event) WHERE state = 'leased' AND crashes > 0;
CREATE INDEX webhook_delivery_failed ON webhook_delivery (event, endpoint)
    WHERE state IN ('permanent_failure', 'dead_letter');

-- turns, pauses and health of the endpoints
CREATE TABLE webhook_lane (
    endpoint      TEXT PRIMARY KEY,
    last_turn     INTEGER NOT NULL DEFAULT 0,
    held_until    INTEGER,
    concurrency   INTEGER NOT NULL,
    successes     INTEGER NOT NULL,
    failures      INTEGER NOT NULL,
    failing_since INTEGER,
    pauses        INTEGER NOT NULL,
    counts_from   INTEGER,
    standing      TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_lane_turn ON webhook_lane (last_turn, endpoint);

-- dispatchers that own leases; numbers are never reused
CREATE TABLE webhook_instance (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    counter INTEGER NOT NULL DEFAULT 0
) STRICT;

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

-- latest position of each resource: 8 bytes, big-endian, which compare as unsigned
CREATE TABLE webhook_latest (
    source   TEXT NOT NULL,
    resource TEXT NOT NULL,
    position BLOB NOT NULL,
    PRIMARY KEY (source, resource)
) STRICT, WITHOUT ROWID;
