-- Tables of the desk, in the same file as the suite's, so that a change and its event are one
-- transaction.
-- `position` orders the pages; times are nanoseconds since 1970.
CREATE TABLE user (
    subject TEXT PRIMARY KEY,
    email TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    password_hash TEXT NOT NULL
) STRICT;

CREATE TABLE customer (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    created INTEGER NOT NULL
) STRICT;

CREATE TABLE charge (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    customer TEXT REFERENCES customer (id),
    amount INTEGER NOT NULL,
    currency TEXT NOT NULL,
    description TEXT,
    amount_refunded INTEGER NOT NULL,
    status TEXT NOT NULL,
    version INTEGER NOT NULL,
    created INTEGER NOT NULL
) STRICT;
CREATE INDEX charge_by_status ON charge (status, position);
CREATE INDEX charge_by_customer ON charge (customer, position);

CREATE TABLE refund (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    charge TEXT NOT NULL REFERENCES charge (id),
    amount INTEGER NOT NULL,
    status TEXT NOT NULL,
    created INTEGER NOT NULL,
    trace TEXT -- `traceparent` of the request that queued it
) STRICT;
CREATE INDEX refund_by_charge ON refund (charge, position);
CREATE INDEX refund_by_status ON refund (status, position);
CREATE INDEX refund_pending ON refund (position) WHERE status = 'pending';

-- the health of an endpoint counts its attempts of a day
CREATE INDEX desk_attempt_by_endpoint ON webhook_attempt (endpoint, started_at, status);

-- Secrets that survive a restart: keys of cursors and nonces. A production host keeps them in a vault.
CREATE TABLE host_secret (
    name TEXT PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- One row: the database belongs to services with the demo, or to those without it.
CREATE TABLE desk_claim (
    the_only INTEGER PRIMARY KEY CHECK (the_only = 1),
    has_demo INTEGER NOT NULL CHECK (has_demo IN (0, 1))
) STRICT;

-- Private keys in PEM. The key of a purpose that signs is the last one whose time has come.
CREATE TABLE signing_key (
    purpose TEXT NOT NULL,
    number INTEGER NOT NULL,
    signs_from INTEGER NOT NULL,
    pem TEXT NOT NULL,
    PRIMARY KEY (purpose, number)
) STRICT, WITHOUT ROWID;
