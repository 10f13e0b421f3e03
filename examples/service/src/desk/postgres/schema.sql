-- Tables of the desk, in the same schema as the suite's, so that a change and its event are one
-- transaction.
-- `position` orders the pages; times are nanoseconds since 1970.
CREATE TABLE desk_user (
    subject       TEXT COLLATE "C" PRIMARY KEY,
    email         TEXT COLLATE "C" NOT NULL UNIQUE,
    name          TEXT NOT NULL,
    password_hash TEXT NOT NULL
);

CREATE TABLE customer (
    position BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id       TEXT COLLATE "C" NOT NULL UNIQUE,
    name     TEXT NOT NULL,
    created  BIGINT NOT NULL
);

CREATE TABLE charge (
    position        BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id              TEXT COLLATE "C" NOT NULL UNIQUE,
    customer        TEXT COLLATE "C" REFERENCES customer (id),
    amount          BIGINT NOT NULL,
    currency        TEXT NOT NULL,
    description     TEXT,
    amount_refunded BIGINT NOT NULL,
    status          TEXT COLLATE "C" NOT NULL,
    version         BIGINT NOT NULL,
    created         BIGINT NOT NULL
);
CREATE INDEX charge_by_status ON charge (status, position);
CREATE INDEX charge_by_customer ON charge (customer, position);

CREATE TABLE refund (
    position BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id       TEXT COLLATE "C" NOT NULL UNIQUE,
    charge   TEXT COLLATE "C" NOT NULL REFERENCES charge (id),
    amount   BIGINT NOT NULL,
    status   TEXT COLLATE "C" NOT NULL,
    created  BIGINT NOT NULL,
    trace    TEXT COLLATE "C" -- `traceparent` of the request that queued it
);
CREATE INDEX refund_by_charge ON refund (charge, position);
CREATE INDEX refund_by_status ON refund (status, position);
CREATE INDEX refund_pending ON refund (position) WHERE status = 'pending';

-- the health of an endpoint counts its attempts of a day
CREATE INDEX desk_attempt_by_endpoint ON webhook_attempt (endpoint, started_at) INCLUDE (status);

-- Secrets that survive a restart: keys of cursors and nonces. A production host keeps them in a vault.
CREATE TABLE host_secret (
    name  TEXT COLLATE "C" PRIMARY KEY,
    value BYTEA NOT NULL
);

-- One row: the database belongs to services with the demo, or to those without it.
CREATE TABLE desk_claim (
    the_only BOOLEAN PRIMARY KEY CHECK (the_only),
    has_demo BOOLEAN NOT NULL
);

-- Private keys in PEM. The key of a purpose that signs is the last one whose time has come.
CREATE TABLE signing_key (
    purpose    TEXT COLLATE "C" NOT NULL,
    number     BIGINT NOT NULL,
    signs_from BIGINT NOT NULL,
    pem        TEXT NOT NULL,
    PRIMARY KEY (purpose, number)
);
