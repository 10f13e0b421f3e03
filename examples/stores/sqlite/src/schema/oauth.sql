-- Times are nanoseconds since 1970, hashes and bodies BLOBs. A `record` is the whole record as
-- JSON; the columns beside it are for searches and for values that change.

CREATE TABLE oauth_client (
    id     TEXT PRIMARY KEY,
    record TEXT NOT NULL
) STRICT;

-- consents of users to clients
CREATE TABLE oauth_consent (
    subject   TEXT NOT NULL,
    client_id TEXT NOT NULL,
    record    TEXT NOT NULL,
    PRIMARY KEY (subject, client_id)
) STRICT, WITHOUT ROWID;

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
    redeemed     BLOB,  -- the token family that it was redeemed for
    record       TEXT NOT NULL,
    purge_at     INTEGER NOT NULL AS (iif(redeemed IS NULL, expires_at, retain_until)),
    subject      TEXT AS (record ->> '$.grant.subject'),
    session      TEXT AS (record ->> '$.grant.session')
) STRICT;
CREATE INDEX oauth_code_purgeable ON oauth_code (purge_at);
CREATE INDEX oauth_code_of_subject ON oauth_code (subject) WHERE redeemed IS NULL;
CREATE INDEX oauth_code_of_session ON oauth_code (session) WHERE redeemed IS NULL AND session IS NOT NULL;

CREATE TABLE oauth_family (
    id           BLOB PRIMARY KEY,
    expires_at   INTEGER NOT NULL,
    retain_until INTEGER NOT NULL,
    revocation   TEXT,  -- the whole revocation as JSON
    record       TEXT NOT NULL,
    subject      TEXT AS (record ->> '$.grant.subject'),
    session      TEXT AS (record ->> '$.grant.session')
) STRICT;
CREATE INDEX oauth_family_purgeable ON oauth_family (retain_until);
CREATE INDEX oauth_family_of_subject ON oauth_family (subject) WHERE revocation IS NULL;
CREATE INDEX oauth_family_of_session ON oauth_family (session) WHERE session IS NOT NULL;

CREATE TABLE oauth_refresh_token (
    hash         BLOB PRIMARY KEY,
    family       BLOB NOT NULL REFERENCES oauth_family (id),
    expires_at   INTEGER NOT NULL,
    rotated_at   INTEGER,  -- null for the live leaf, like its successors
    successor    BLOB,
    access_token BLOB,
    salt         BLOB,
    record       TEXT NOT NULL,
    CHECK ((rotated_at IS NULL) = (successor IS NULL) AND (rotated_at IS NULL) = (access_token IS NULL))
) STRICT;
CREATE INDEX oauth_refresh_token_of_family ON oauth_refresh_token (family);
-- one live leaf per family
CREATE UNIQUE INDEX oauth_refresh_token_leaf ON oauth_refresh_token (family) WHERE rotated_at IS NULL;

CREATE TABLE oauth_access_token (
    hash       BLOB PRIMARY KEY,
    family     BLOB,
    expires_at INTEGER NOT NULL,
    revoked_at INTEGER,
    record     TEXT NOT NULL
) STRICT;
CREATE INDEX oauth_access_token_expired ON oauth_access_token (expires_at);

CREATE TABLE oauth_session (
    id           BLOB PRIMARY KEY,
    hash         BLOB NOT NULL UNIQUE,
    subject      TEXT NOT NULL,
    active_until INTEGER NOT NULL,  -- the earlier of its two expiries, or its end
    record       TEXT NOT NULL,
    renewed_from TEXT AS (record ->> '$.renewed_from')  -- secret before the last renewal
) STRICT;
CREATE INDEX oauth_session_of_subject ON oauth_session (subject);
CREATE INDEX oauth_session_over ON oauth_session (active_until);
CREATE INDEX oauth_session_renewed_from ON oauth_session (renewed_from) WHERE renewed_from IS NOT NULL;

-- back-channel logouts that clients have not accepted yet
CREATE TABLE oauth_logout (
    session       TEXT NOT NULL,
    client_id     TEXT NOT NULL,
    subject       TEXT NOT NULL,
    attempts      INTEGER NOT NULL,
    fencing_token INTEGER NOT NULL,
    due_at        INTEGER NOT NULL,  -- or the end of the lease
    expires_at    INTEGER NOT NULL,
    PRIMARY KEY (session, client_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_logout_due ON oauth_logout (due_at);
CREATE INDEX oauth_logout_expired ON oauth_logout (expires_at);

CREATE TABLE oauth_locked_subject (
    subject TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

CREATE TABLE oauth_reset_token (
    hash       BLOB PRIMARY KEY,
    subject    TEXT NOT NULL UNIQUE,  -- '' where it has none
    expires_at INTEGER NOT NULL,
    record     TEXT NOT NULL
) STRICT;
CREATE INDEX oauth_reset_token_expired ON oauth_reset_token (expires_at);

-- pushed authorization requests
CREATE TABLE oauth_pushed_request (
    hash         BLOB PRIMARY KEY,
    retain_until INTEGER NOT NULL,
    completed    INTEGER NOT NULL,
    record       TEXT NOT NULL
) STRICT;
CREATE INDEX oauth_pushed_request_purgeable ON oauth_pushed_request (retain_until);

-- single-use names that were used
CREATE TABLE oauth_replay (
    key        BLOB PRIMARY KEY,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX oauth_replay_expired ON oauth_replay (expires_at);

-- Attempts at a secret or password, by name. Each kind has its own capacity.
CREATE TABLE oauth_attempt (
    kind         TEXT NOT NULL,
    key          BLOB NOT NULL,
    attempts     INTEGER NOT NULL,
    opens_at     INTEGER NOT NULL,
    forgotten_at INTEGER NOT NULL,
    PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_attempt_forgotten ON oauth_attempt (forgotten_at);
-- evicted first: forgotten names
CREATE INDEX oauth_attempt_forgotten_of_kind ON oauth_attempt (kind, forgotten_at);
-- then the names with the fewest attempts
CREATE INDEX oauth_attempt_weight ON oauth_attempt (kind, attempts, forgotten_at);

-- Number of names of each kind, so that an attempt need not count them.
CREATE TABLE oauth_attempt_kind (
    kind  TEXT PRIMARY KEY,
    names INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER oauth_attempt_made AFTER INSERT ON oauth_attempt BEGIN
    INSERT INTO oauth_attempt_kind (kind, names) VALUES (new.kind, 1)
    ON CONFLICT (kind) DO UPDATE SET names = names + 1;
END;
CREATE TRIGGER oauth_attempt_gone AFTER DELETE ON oauth_attempt BEGIN
    UPDATE oauth_attempt_kind SET names = names - 1 WHERE kind = old.kind;
END;
