-- Hashes and ids are BYTEA. A `record` is the whole record as JSON, in a TEXT column since JSONB
-- cannot hold every character. The columns beside it are for searches and for values that change.

CREATE TABLE oauth_client (
    id     TEXT COLLATE "C" PRIMARY KEY,
    record TEXT NOT NULL
);

-- consents of users to clients
CREATE TABLE oauth_consent (
    subject   TEXT COLLATE "C" NOT NULL,
    client_id TEXT COLLATE "C" NOT NULL,
    record    TEXT NOT NULL,
    PRIMARY KEY (subject, client_id)
);

CREATE TABLE oauth_interaction (
    id         BYTEA PRIMARY KEY,
    expires_at BIGINT NOT NULL,
    record     TEXT NOT NULL
);
CREATE INDEX oauth_interaction_expired ON oauth_interaction (expires_at);

-- pushed authorization requests
CREATE TABLE oauth_pushed_request (
    hash         BYTEA PRIMARY KEY,
    retain_until BIGINT NOT NULL,
    completed    BOOLEAN NOT NULL,
    record       TEXT NOT NULL
);
CREATE INDEX oauth_pushed_request_purgeable ON oauth_pushed_request (retain_until);

CREATE TABLE oauth_session (
    id           BYTEA PRIMARY KEY,
    hash         BYTEA NOT NULL UNIQUE,
    subject      TEXT COLLATE "C" NOT NULL,
    active_until BIGINT NOT NULL,  -- the earlier of its two expiries, or its end
    record       TEXT NOT NULL,
    renewed_from BYTEA  -- secret before the last renewal
);
CREATE INDEX oauth_session_of_subject ON oauth_session (subject, active_until);
CREATE INDEX oauth_session_over ON oauth_session (active_until);
CREATE INDEX oauth_session_renewed_from ON oauth_session (renewed_from) WHERE renewed_from IS NOT NULL;

-- back-channel logouts that clients have not accepted yet
CREATE TABLE oauth_logout (
    session       BYTEA NOT NULL,
    client_id     TEXT COLLATE "C" NOT NULL,
    subject       TEXT COLLATE "C" NOT NULL,
    attempts      BIGINT NOT NULL,
    fencing_token BIGINT NOT NULL,
    due_at        BIGINT NOT NULL,  -- or the end of the lease
    expires_at    BIGINT NOT NULL,
    PRIMARY KEY (session, client_id)
);
CREATE INDEX oauth_logout_due ON oauth_logout (due_at);
CREATE INDEX oauth_logout_expired ON oauth_logout (expires_at);

CREATE TABLE oauth_locked_subject (
    subject TEXT COLLATE "C" PRIMARY KEY
);

CREATE TABLE oauth_reset_token (
    hash       BYTEA PRIMARY KEY,
    subject    TEXT COLLATE "C" NOT NULL UNIQUE,  -- '' where it has none
    expires_at BIGINT NOT NULL,
    record     TEXT NOT NULL
);
CREATE INDEX oauth_reset_token_expired ON oauth_reset_token (expires_at);

CREATE TABLE oauth_code (
    hash         BYTEA PRIMARY KEY,
    subject      TEXT COLLATE "C" NOT NULL,
    client_id    TEXT COLLATE "C" NOT NULL,
    session      BYTEA,
    expires_at   BIGINT NOT NULL,
    retain_until BIGINT NOT NULL,
    redeemed     BYTEA,  -- the token family that it was redeemed for
    record       TEXT NOT NULL,
    purge_at     BIGINT NOT NULL GENERATED ALWAYS AS (CASE WHEN redeemed IS NULL THEN expires_at ELSE retain_until END) STORED
);
CREATE INDEX oauth_code_purgeable ON oauth_code (purge_at);
CREATE INDEX oauth_code_of_subject ON oauth_code (subject) WHERE redeemed IS NULL;
CREATE INDEX oauth_code_of_session ON oauth_code (session) WHERE redeemed IS NULL AND session IS NOT NULL;

-- A rotation or revocation in a family holds the lock of the family's row.
CREATE TABLE oauth_family (
    id           BYTEA PRIMARY KEY,
    subject      TEXT COLLATE "C" NOT NULL,
    client_id    TEXT COLLATE "C" NOT NULL,
    session      BYTEA,
    expires_at   BIGINT NOT NULL,
    retain_until BIGINT NOT NULL,
    revocation   TEXT,  -- the whole revocation as JSON
    record       TEXT NOT NULL
);
CREATE INDEX oauth_family_purgeable ON oauth_family (retain_until);
CREATE INDEX oauth_family_of_subject ON oauth_family (subject) WHERE revocation IS NULL;
CREATE INDEX oauth_family_of_session ON oauth_family (session) WHERE session IS NOT NULL;

CREATE TABLE oauth_refresh_token (
    hash         BYTEA PRIMARY KEY,
    family       BYTEA NOT NULL REFERENCES oauth_family (id),
    expires_at   BIGINT NOT NULL,
    rotated_at   BIGINT,  -- null for the live leaf, like its successors
    successor    BYTEA,
    access_token BYTEA,
    salt         BYTEA,
    record       TEXT NOT NULL,
    CHECK ((rotated_at IS NULL) = (successor IS NULL) AND (rotated_at IS NULL) = (access_token IS NULL))
);
CREATE INDEX oauth_refresh_token_of_family ON oauth_refresh_token (family);
-- one live leaf per family
CREATE UNIQUE INDEX oauth_refresh_token_leaf ON oauth_refresh_token (family) WHERE rotated_at IS NULL;

CREATE TABLE oauth_access_token (
    hash       BYTEA PRIMARY KEY,
    family     BYTEA,
    expires_at BIGINT NOT NULL,
    revoked_at BIGINT,
    record     TEXT NOT NULL
);
CREATE INDEX oauth_access_token_expired ON oauth_access_token (expires_at);

-- single-use names that were used
CREATE TABLE oauth_replay (
    key        BYTEA PRIMARY KEY,
    expires_at BIGINT NOT NULL
);
CREATE INDEX oauth_replay_expired ON oauth_replay (expires_at);

-- Attempts at a secret or password, by name. Unlogged: a crash of the server resets them.
CREATE UNLOGGED TABLE oauth_attempt (
    key          BYTEA PRIMARY KEY,
    attempts     BIGINT NOT NULL,
    opens_at     BIGINT NOT NULL,
    forgotten_at BIGINT NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX oauth_attempt_forgotten ON oauth_attempt (forgotten_at);
