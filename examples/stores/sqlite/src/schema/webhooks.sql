-- Times are nanoseconds since 1970, hashes and bodies BLOBs.

CREATE TABLE webhook_claim (
    source     TEXT NOT NULL,
    event      TEXT NOT NULL,
    digest     BLOB NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (source, event)
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_claim_expired ON webhook_claim (expires_at);

-- events that are handled within their request; `leased_until` is NULL once they are handled
CREATE TABLE webhook_handling (
    source       TEXT NOT NULL,
    event        TEXT NOT NULL,
    digest       BLOB NOT NULL,
    leased_until INTEGER,
    expires_at   INTEGER NOT NULL,
    PRIMARY KEY (source, event)
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_handling_expired ON webhook_handling (expires_at);

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
-- events that no worker has taken yet, and the others by the end of their lease or pause
CREATE INDEX webhook_received_new ON webhook_received (seq) WHERE leased_until IS NULL;
CREATE INDEX webhook_received_leased ON webhook_received (leased_until) WHERE leased_until IS NOT NULL;

-- received events whose work failed for good; `seq` is that of their arrival
CREATE TABLE webhook_buried (
    seq       INTEGER PRIMARY KEY,
    source    TEXT NOT NULL,
    event     TEXT NOT NULL,
    takes     INTEGER NOT NULL,
    reason    TEXT NOT NULL,
    buried_at INTEGER NOT NULL,
    body      BLOB NOT NULL
) STRICT;
CREATE INDEX webhook_buried_source ON webhook_buried (source, seq);

-- number of the latest lease; numbers are never reused
CREATE TABLE webhook_lease (
    last INTEGER NOT NULL
) STRICT;
INSERT INTO webhook_lease (last) VALUES (0);

CREATE TABLE webhook_endpoint (
    id      TEXT PRIMARY KEY,
    owner   TEXT NOT NULL,  -- `tenant:` and its id, or `operator`
    url     TEXT NOT NULL,
    events  TEXT,           -- patterns of the subscribed types as JSON; null for all
    secrets TEXT NOT NULL,  -- signers and static headers as JSON
    state   TEXT NOT NULL,
    classification TEXT NOT NULL,
    rate    INTEGER,        -- deliveries a second; null for no limit
    content TEXT NOT NULL
) STRICT;
CREATE INDEX webhook_endpoint_owner ON webhook_endpoint (owner, id);

CREATE TABLE webhook_subscription (
    pattern  TEXT NOT NULL,  -- `*` for all
    owner    TEXT NOT NULL,
    endpoint TEXT NOT NULL REFERENCES webhook_endpoint (id),
    PRIMARY KEY (pattern, owner, endpoint)
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_subscription_endpoint ON webhook_subscription (endpoint);

CREATE TABLE webhook_event (
    id         TEXT PRIMARY KEY,
    event_type TEXT NOT NULL,
    audience   TEXT NOT NULL,  -- `tenant:` and its id, `operator` or `everyone`
    created_at INTEGER NOT NULL,
    body       BLOB,           -- null once it is expunged
    trace      TEXT            -- `traceparent` of the request that enqueued it
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
    standing      TEXT NOT NULL,
    rate          INTEGER,
    paced_until   INTEGER
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
