-- Times are nanoseconds since 1970: `to_timestamp(due_at / 1e9)` shows one. Ids compare bytewise.

-- wide rows that never change, until their body is expunged
CREATE TABLE webhook_event (
    id         TEXT COLLATE "C" PRIMARY KEY,
    event_type TEXT COLLATE "C" NOT NULL,
    audience   TEXT COLLATE "C" NOT NULL,  -- `tenant:` and its id, `operator` or `everyone`
    created_at BIGINT NOT NULL,
    body       BYTEA,                      -- null once it is expunged
    trace      TEXT COLLATE "C"            -- `traceparent` of the request that enqueued it
);
-- the order in which missing events are searched and old ones purged
CREATE INDEX webhook_event_created ON webhook_event (created_at, id);

-- Live deliveries: narrow rows that change often. The table has a row while its state is live, so
-- it is as small as the backlog. It has no foreign key: each check would write to the wide row.
CREATE TABLE webhook_ready (
    event      TEXT COLLATE "C" NOT NULL,
    endpoint   TEXT COLLATE "C" NOT NULL,
    state      TEXT COLLATE "C" NOT NULL,
    due_at     BIGINT NOT NULL,
    attempts   BIGINT NOT NULL,
    fence      BIGINT NOT NULL,
    started_at BIGINT NOT NULL,
    reason     TEXT COLLATE "C",
    crashes    BIGINT NOT NULL,
    owner      BIGINT,  -- instance that holds the lease
    PRIMARY KEY (event, endpoint)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
CREATE INDEX webhook_ready_due ON webhook_ready (endpoint, due_at, event);
CREATE INDEX webhook_ready_leased ON webhook_ready (endpoint, due_at) WHERE state = 'leased';
-- deliveries that may have crashed their worker; almost always empty
CREATE INDEX webhook_ready_suspect ON webhook_ready (endpoint, due_at, event) WHERE state = 'leased' AND crashes > 0;

-- Finished deliveries: only inserted, and removed by a replay alone.
CREATE TABLE webhook_finished (
    event      TEXT COLLATE "C" NOT NULL,
    endpoint   TEXT COLLATE "C" NOT NULL,
    state      TEXT COLLATE "C" NOT NULL,
    due_at     BIGINT NOT NULL,
    attempts   BIGINT NOT NULL,
    fence      BIGINT NOT NULL,
    started_at BIGINT NOT NULL,
    reason     TEXT COLLATE "C",
    crashes    BIGINT NOT NULL,
    owner      BIGINT,  -- always null
    PRIMARY KEY (event, endpoint)
);
CREATE INDEX webhook_finished_failed ON webhook_finished (event, endpoint)
    WHERE state IN ('permanent_failure', 'dead_letter');

CREATE VIEW webhook_delivery AS
    SELECT event, endpoint, state, due_at, attempts, fence, started_at, reason, crashes, owner FROM webhook_ready
    UNION ALL
    SELECT event, endpoint, state, due_at, attempts, fence, started_at, reason, crashes, owner FROM webhook_finished;

-- Turns, pauses and health of the endpoints. A change of a row of `webhook_ready` requires the lock
-- of its lane. No column that changes is indexed, so that an update stays in its page.
CREATE TABLE webhook_lane (
    endpoint      TEXT COLLATE "C" PRIMARY KEY,
    last_turn     BIGINT NOT NULL DEFAULT 0,
    held_until    BIGINT,
    concurrency   BIGINT,  -- null, like the rest, before the first attempt
    successes     BIGINT,
    failures      BIGINT,
    failing_since BIGINT,
    pauses        BIGINT,
    counts_from   BIGINT,
    standing      TEXT COLLATE "C",
    rate          BIGINT,
    paced_until   BIGINT
) WITH (fillfactor = 50);
CREATE SEQUENCE webhook_turn;

-- dispatchers that own leases; numbers are never reused
CREATE TABLE webhook_instance (
    id      BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    counter BIGINT NOT NULL DEFAULT 0,
    leaving BOOLEAN NOT NULL DEFAULT false  -- it gets no lease any more
) WITH (fillfactor = 50);

CREATE TABLE webhook_attempt (
    event      TEXT COLLATE "C" NOT NULL,
    endpoint   TEXT COLLATE "C" NOT NULL,
    fence      BIGINT NOT NULL,
    started_at BIGINT NOT NULL,
    duration   BIGINT NOT NULL,
    status     INTEGER,
    body       BYTEA,
    failure    TEXT COLLATE "C",
    message    BYTEA,  -- UTF-8; not TEXT, which cannot hold every character
    PRIMARY KEY (event, endpoint, fence)
);

CREATE TABLE webhook_endpoint (
    id      TEXT COLLATE "C" PRIMARY KEY,
    owner   TEXT COLLATE "C" NOT NULL,  -- `tenant:` and its id, or `operator`
    url     TEXT NOT NULL,
    events  TEXT[],         -- patterns of the subscribed types; null for all
    secrets TEXT NOT NULL,  -- signers and static headers as JSON
    state   TEXT COLLATE "C" NOT NULL,
    classification TEXT COLLATE "C" NOT NULL,
    rate    BIGINT,         -- deliveries a second; null for no limit
    content TEXT COLLATE "C" NOT NULL
);
CREATE INDEX webhook_endpoint_owner ON webhook_endpoint (owner, id);
CREATE TABLE webhook_subscription (
    pattern  TEXT COLLATE "C" NOT NULL,  -- `*` for all
    owner    TEXT COLLATE "C" NOT NULL,
    endpoint TEXT COLLATE "C" NOT NULL REFERENCES webhook_endpoint (id),
    PRIMARY KEY (pattern, owner, endpoint)
);
CREATE INDEX webhook_subscription_endpoint ON webhook_subscription (endpoint);

-- A source is text of any length, so it is indexed by its digest and stored as bytes.
CREATE TABLE webhook_claim (
    source        BYTEA NOT NULL,
    source_digest BYTEA NOT NULL GENERATED ALWAYS AS (sha256(source)) STORED,
    event         TEXT COLLATE "C" NOT NULL,
    digest        BYTEA NOT NULL,
    expires_at    BIGINT NOT NULL,
    PRIMARY KEY (source_digest, event)
);
CREATE INDEX webhook_claim_expired ON webhook_claim (expires_at);

-- events that are handled within their request; `leased_until` is NULL once they are handled
CREATE TABLE webhook_handling (
    source        BYTEA NOT NULL,
    source_digest BYTEA NOT NULL GENERATED ALWAYS AS (sha256(source)) STORED,
    event         TEXT COLLATE "C" NOT NULL,
    digest        BYTEA NOT NULL,
    leased_until  BIGINT,
    expires_at    BIGINT NOT NULL,
    PRIMARY KEY (source_digest, event)
);
CREATE INDEX webhook_handling_expired ON webhook_handling (expires_at);

-- latest position of each resource; an unsigned number less 2^63, which keeps the order
CREATE TABLE webhook_latest (
    source          BYTEA NOT NULL,
    source_digest   BYTEA NOT NULL GENERATED ALWAYS AS (sha256(source)) STORED,
    resource        BYTEA NOT NULL,
    resource_digest BYTEA NOT NULL GENERATED ALWAYS AS (sha256(resource)) STORED,
    position        BIGINT NOT NULL,
    PRIMARY KEY (source_digest, resource_digest)
) WITH (fillfactor = 70);

-- received events that are not finished, oldest first by `seq`
CREATE TABLE webhook_received (
    seq          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source       BYTEA NOT NULL,
    event        TEXT COLLATE "C" NOT NULL,
    leased_until BIGINT,
    lease        BIGINT UNIQUE,
    takes        BIGINT NOT NULL DEFAULT 0,
    body         BYTEA NOT NULL
);
-- events that no worker has taken yet, and the others by the end of their lease or pause
CREATE INDEX webhook_received_new ON webhook_received (seq) WHERE leased_until IS NULL;
CREATE INDEX webhook_received_leased ON webhook_received (leased_until) WHERE leased_until IS NOT NULL;
CREATE SEQUENCE webhook_lease;

-- received events whose work failed for good; `seq` is that of their arrival
CREATE TABLE webhook_buried (
    seq           BIGINT PRIMARY KEY,
    source        BYTEA NOT NULL,
    source_digest BYTEA NOT NULL GENERATED ALWAYS AS (sha256(source)) STORED,
    event         TEXT COLLATE "C" NOT NULL,
    takes         BIGINT NOT NULL,
    reason        BYTEA NOT NULL,  -- UTF-8; not TEXT, which cannot hold every character
    buried_at     BIGINT NOT NULL,
    body          BYTEA NOT NULL
);
CREATE INDEX webhook_buried_source ON webhook_buried (source_digest, seq);
